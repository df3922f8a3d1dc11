"""Writes a model, with the choices a sweep makes, as one scalar function over floats.

The text made here calls the kernels by name and does nothing else than wire them: it is what
`Model.evaluate` does step by step, spelt out for the compiler.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

from attrs import define, field, frozen

from scalemath.core.kernel import Kernel
from scalemath.core.model import Model, Parameter, Step
from scalemath.sweeps.expressions import Formula, literal

Mode = Literal["axis", "best"]
STEP = 1e-4
"""Relative step of the central difference behind an elasticity."""


@frozen
class Selection:
    """How a sweep treats a parameter that chooses among kernels.

    Attributes
    ----------
    parameter : str
        Name of the choice.
    names : tuple of str
        Names in play, in the order of their codes.
    mode : str
        "axis": the code comes with each point; "best": the least value wins.
    """

    parameter: str
    names: tuple[str, ...]
    mode: Mode = "axis"


@frozen
class Output:
    """One number per point that a driver computes.

    Attributes
    ----------
    name : str
        Output or term of the model, a choice (its code), or a parameter.
    along : str
        Parameter for the elasticity d ln(output) / d ln(parameter); empty for the value.
    """

    name: str
    along: str = ""

    @property
    def label(self) -> str:
        """Name under which it is shown."""
        return f"elasticity({self.name}, {self.along})" if self.along else self.name


@frozen
class Wiring:
    """Everything that decides what the scalar function computes.

    Attributes
    ----------
    model : Model
        Steps of kernels.
    inputs : tuple of str
        Numeric parameters in order of arguments.
    selections : tuple of Selection
        One for every choice of the model.
    outputs : tuple of Output
        What is returned.
    derived : tuple of (str, Formula, bool)
        Parameters computed from others, and whether they are checked: a value out of range, or
        a count that is not whole, then makes the point nan, else it is moved into the range.
    where : Formula, optional
        Points that do not satisfy it become nan.
    """

    model: Model
    inputs: tuple[str, ...]
    selections: tuple[Selection, ...]
    outputs: tuple[Output, ...]
    derived: tuple[tuple[str, Formula, bool], ...] = ()
    where: Formula | None = None

    def key(self) -> tuple[Any, ...]:
        """Hashable identity while the model is alive."""
        return (
            id(self.model),
            self.inputs,
            self.selections,
            self.outputs,
            tuple((name, formula.text, whole) for name, formula, whole in self.derived),
            self.where.text if self.where else "",
        )

    def combinations(self) -> list[dict[str, str]]:
        """Names of the choices that are axes, one mapping per driver loop."""
        axes = [s for s in self.selections if s.mode == "axis"]
        return [
            {s.parameter: name for s, name in zip(axes, names, strict=True)}
            for names in itertools.product(*(s.names for s in axes))
        ]

    def kernels(self) -> Iterator[Kernel]:
        """Kernels that some point may call."""
        for step in self.needed:
            for name in self._names(step):
                yield step.kernels[name]

    @cached_property
    def needed(self) -> list[Step]:
        """Steps that the outputs and the constraint depend on, in order."""
        return _needed(self)

    def _names(self, step: Step) -> tuple[str, ...]:
        for selection in self.selections:
            if selection.parameter == step.choice:
                return selection.names
        return ("",)


def _needed(wiring: Wiring) -> list[Step]:
    wanted = {output.name for output in wiring.outputs}
    wanted.update(wiring.where.names if wiring.where else ())
    wanted = {name.partition(".")[0] for name in wanted} | wanted
    best = {s.parameter for s in wiring.selections if s.mode == "best"}
    first_of_choice: dict[str, str] = {}
    for step in wiring.model.steps:
        if step.choice in best:
            first_of_choice.setdefault(step.choice, step.output)
    kept: list[Step] = []
    for step in reversed(wiring.model.steps):
        decides = step.choice in wanted and first_of_choice.get(step.choice) == step.output
        if step.output not in wanted and not decides:
            continue
        kept.insert(0, step)
        if step.choice:
            wanted.add(step.choice)
        for kernel in step.kernels.values():
            for name in step.arguments(kernel):
                wanted.update((name, name.partition(".")[0]))
    return kept


def scalar_text(wiring: Wiring, names: Mapping[Callable[..., Any], str], prefix: str = "") -> str:
    """Write one function ``point_I`` for every combination of choices on axes.

    Parameters
    ----------
    wiring : Wiring
        What to compute.
    names : mapping
        Name in the text of every kernel function.
    prefix : str
        Put before the names of the functions.

    Returns
    -------
    str
        Source; each function takes the inputs in order and returns a tuple of outputs.
    """
    parts = []
    for number, chosen in enumerate(wiring.combinations()):
        parts.append(_Writer(wiring, names, chosen).function(f"{prefix}values_{number}"))
        parts.append(_point(wiring, number, prefix))
    return "\n\n".join(parts)


def plain_outputs(wiring: Wiring) -> tuple[str, ...]:
    """Names that the inner function returns, each once."""
    return tuple(dict.fromkeys(output.name for output in wiring.outputs))


def _point(wiring: Wiring, number: int, prefix: str) -> str:
    """Outer function: values, and elasticities by a central difference of the same values."""
    arguments = [f"a{i}" for i in range(len(wiring.inputs))]
    inner = plain_outputs(wiring)
    lines = [f"@scalar\ndef {prefix}point_{number}({', '.join(arguments)}):"]
    lines.append(f"    here = {prefix}values_{number}({', '.join(arguments)})")
    for along in dict.fromkeys(o.along for o in wiring.outputs if o.along):
        place = wiring.inputs.index(along)
        for word, factor in (("above", 1.0 + STEP), ("below", 1.0 - STEP)):
            moved = list(arguments)
            moved[place] = f"{moved[place]} * {factor!r}"
            lines.append(f"    {word}_{place} = {prefix}values_{number}({', '.join(moved)})")
    results = []
    for output in wiring.outputs:
        item = f"[{inner.index(output.name)}]"
        if output.along:
            place = wiring.inputs.index(output.along)
            difference = f"(above_{place}{item} - below_{place}{item})"
            results.append(f"{difference} / ({2.0 * STEP!r} * here{item})")
        else:
            results.append(f"here{item}")
    lines.append(f"    return ({', '.join(results)},)")
    return "\n".join(lines)


@define
class _Writer:
    """Writes the inner function for one combination of choices."""

    wiring: Wiring
    names: Mapping[Callable[..., Any], str]
    chosen: Mapping[str, str]
    variables: dict[str, str] = field(factory=dict)
    lines: list[str] = field(factory=list)
    taken: set[str] = field(factory=set)
    tables: dict[str, Step] = field(factory=dict)

    def function(self, name: str) -> str:
        """Write the whole function."""
        arguments = [self.variable(p) for p in self.wiring.inputs]
        for parameter, formula, checked in self.wiring.derived:
            text = formula.python(self.variables)
            variable = self.variable(parameter)
            self.lines.append(f"{variable} = {text}")
            own = self.wiring.model.parameter(parameter)
            if checked:
                self.lines.append(
                    f"{variable} = pick({_valid(own, variable)}, {variable}, math.nan)"
                )
            else:  # within its range a corner bounds its box
                self.lines.append(f"{variable} = {_within(own, variable)}")
        for step in self.wiring.needed:
            self.step(step)
        results = [self.variables[o] for o in plain_outputs(self.wiring)]
        conditions = [f"({self.variables[p]} == {self.variables[p]})" for p in self.checked()]
        if self.wiring.where is not None:
            conditions.append(self.wiring.where.python(self.variables))
        if conditions:
            self.lines.append(f"allowed = {' & '.join(conditions)}")
            best = self.best()
            results = [
                f"pick(allowed, {r}, {'255.0' if o in best else 'math.nan'})"
                for o, r in zip(plain_outputs(self.wiring), results, strict=True)
            ]
        self.lines.append(f"return ({', '.join(results)},)")
        body = "\n".join(f"    {line}" for line in self.lines)
        told = self.wiring.derived or self.wiring.where  # expressions of the user
        word = "exact" if told else "scalar"
        return f"@{word}\ndef {name}({', '.join(arguments)}):\n{body}"

    def checked(self) -> list[str]:
        """Derived parameters that must be valid."""
        return [name for name, _, checked in self.wiring.derived if checked]

    def best(self) -> dict[str, Selection]:
        """Choices decided at each point."""
        return {s.parameter: s for s in self.wiring.selections if s.mode == "best"}

    def variable(self, name: str) -> str:
        """Give a model name a variable of its own."""
        wanted = "v_" + "".join(c if c.isalnum() else "_" for c in name)
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        self.variables[name] = wanted
        return wanted

    def step(self, step: Step) -> None:
        """Write one step: a call, or one call per name with the least kept."""
        if step.choice in self.best():
            self.best_step(step, self.best()[step.choice])
            return
        kernel = step.kernels[self.chosen[step.choice] if step.choice else ""]
        total, terms = self.call(step, kernel, "")
        self.lines.append(f"{self.variable(step.output)} = {total}")
        for name in _terms(step.kernels.values()):
            value = terms.get(name, "0.0")
            self.lines.append(f"{self.variable(f'{step.output}.{name}')} = {value}")

    def best_step(self, step: Step, selection: Selection) -> None:
        """Write a step whose kernel is chosen at each point.

        The first step of a choice decides the winner. A later step over the same kernels (the
        same collective on other arguments) has its own winner; any other step follows the first.
        """
        first = selection.parameter not in self.variables
        if first:
            self.tables[selection.parameter] = step
        decides = first or self.tables[selection.parameter].kernels == step.kernels
        code = self.variable(selection.parameter if first else f"{step.output} winner")
        if not decides:
            code = self.variables[selection.parameter]
        total = self.variable(step.output)
        kept = {n: self.variable(f"{step.output}.{n}") for n in _terms(step.kernels.values())}
        for number, name in enumerate(selection.names):
            text, terms = self.call(step, step.kernels[name], f"_{number}")
            given = f"t_{total}_{number}"
            self.lines.append(f"{given} = {text}")
            assigned = [(total, given)] + [(v, terms.get(n, "0.0")) for n, v in kept.items()]
            if decides:
                assigned.insert(0, (code, f"{number}.0"))
            if number == 0:
                self.lines += [f"{variable} = {value}" for variable, value in assigned]
                continue
            test = f"{given} < {total}" if decides else f"{code} == {number}.0"
            better = f"b_{total}_{number}"
            self.lines.append(f"{better} = {test}")
            self.lines += [f"{v} = pick({better}, {value}, {v})" for v, value in assigned]

    def call(self, step: Step, kernel: Kernel, suffix: str) -> tuple[str, dict[str, str]]:
        """Write a kernel call; return the text of its total and of its terms."""
        arguments = ", ".join(self.variables[name] for name in step.arguments(kernel))
        result = f"r_{step.output.replace('.', '_')}{suffix}"
        self.lines.append(f"{result} = {self.names[kernel.function]}({arguments})")
        if not kernel.terms:
            return f"float({result})", {}
        terms = {name: f"{result}[{i}]" for i, name in enumerate(kernel.terms)}
        return " + ".join(terms.values()), terms


def _valid(parameter: Parameter, variable: str) -> str:
    """Condition that a computed value is one that a parameter may have."""
    tests = [
        f"({variable} {'>' if parameter.low_open else '>='} {literal(parameter.low)})",
        f"({variable} {'<' if parameter.high_open else '<='} {literal(parameter.high)})",
        f"({variable} - {variable} == 0.0)",  # finite
    ]
    if parameter.kind == "count":
        tests.append(f"({variable} == math.floor({variable}))")
        tests.append(f"({variable} <= {2.0**53})")
    return " & ".join(tests)


def _within(parameter: Parameter, variable: str) -> str:
    """Value moved into the range of a parameter."""
    return f"min(max({variable}, {literal(parameter.low)}), {literal(parameter.high)})"


def _terms(kernels: Iterable[Kernel]) -> tuple[str, ...]:
    """Names of the terms of several kernels, each once, in order."""
    return tuple(dict.fromkeys(term for kernel in kernels for term in kernel.terms))
