"""What a sweep knows of a public function: parameters, steps of kernels, outputs.

A `Model` is a little program. Its parameters are SI floats, counts or names; each step calls
a kernel with arguments looked up by name among the parameters and the outputs of earlier
steps. The scalar call, the array call and the compiled sweep all run this program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import Kernel, KernelFunction, total

ParameterKind = Literal["quantity", "rate", "count", "number", "choice"]


@frozen
class Parameter:
    """One parameter of a public function.

    Attributes
    ----------
    name : str
        Name as the user writes it.
    kind : str
        "quantity" (a unit is required), "rate" (byte/s per direction), "count" (an integer),
        "number" (dimensionless) or "choice" (a name).
    unit : str
        SI unit in which kernels receive it; "1" for counts and numbers.
    low, high : float
        Allowed range; `low_open` and `high_open` exclude the ends.
    required : bool
        Whether the user must give it.
    default : float or str
        SI value used when it is left out (may be infinite).
    unless : str
        Name of a parameter in whose presence this one may be left out.
    choices : tuple of str
        Allowed names for a "choice".
    candidates : tuple of str
        Names among which "best" chooses when nothing else is said; empty means all.
    conventions : mapping
        Convention fields of a `Datum` that must hold, such as latency_kind="one-way".
    """

    name: str
    kind: ParameterKind = "quantity"
    unit: str = "1"
    low: float = 0.0
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    required: bool = True
    default: float | str = math.nan
    unless: str = ""
    choices: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    conventions: Mapping[str, str] = field(factory=dict)


@frozen
class Step:
    """One kernel call inside a model.

    Attributes
    ----------
    output : str
        Name of the total; terms are available as ``output.term``.
    kernels : mapping of str to Kernel
        One kernel under the name "" for a plain step; several under the names of a
        choice.
    choice : str
        Name of the choice parameter that selects the kernel; empty for a plain step.
    unit : str
        SI unit of the output.
    rename : mapping of str to str
        Kernel parameter name to model name, where they differ.
    """

    output: str
    kernels: Mapping[str, Kernel]
    unit: str
    choice: str = ""
    rename: Mapping[str, str] = field(factory=dict)

    def arguments(self, kernel: Kernel) -> tuple[str, ...]:
        """Model names that feed the kernel, in its order."""
        return tuple(self.rename.get(p, p) for p in kernel.parameters)


@frozen
class Model:
    """A public function as a program over kernels.

    Attributes
    ----------
    name : str
        Public name.
    parameters : tuple of Parameter
        What a caller, or an axis of a sweep, may give.
    steps : tuple of Step
        In order of evaluation; a later step may use outputs of earlier ones.
    default_output : str
        The output a sweep returns when none is asked for.
    """

    name: str
    parameters: tuple[Parameter, ...]
    steps: tuple[Step, ...]
    default_output: str
    _calls: dict[tuple[int, str], Any] = field(init=False, factory=dict, repr=False, eq=False)

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise ArgumentError(f"{self.name} has no parameter {name!r}")

    def outputs(self) -> dict[str, str]:
        """Every output and term with its SI unit."""
        return dict(self._outputs)

    @cached_property
    def _outputs(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for step in self.steps:
            found[step.output] = step.unit
            for kernel in step.kernels.values():
                for term in kernel.terms:
                    found[f"{step.output}.{term}"] = step.unit
        return found

    def direction(self, name: str, values: Mapping[str, Any]) -> int:
        """Return +1 or -1 when the default output only rises or falls with a parameter, else 0.

        The declared directions of the kernels are followed through the steps; where two ways
        disagree, or one has no declared direction, the answer is 0.

        Parameters
        ----------
        name : str
            Parameter in question.
        values : mapping
            Arguments of the call, which say the algorithm where there is a choice.
        """
        signs: dict[str, set[int]] = {name: {1}}
        for step in self.steps:
            kernel = step.kernels.get(str(values.get(step.choice, "")))
            if kernel is None:
                continue
            found: set[int] = set()
            for own in kernel.parameters:
                way = 1 if own in kernel.rises else -1 if own in kernel.falls else 0
                found.update(way * sign for sign in signs.get(step.rename.get(own, own), ()))
            if found:
                signs[step.output] = found
                signs.update({f"{step.output}.{term}": {0} for term in kernel.terms})
        ends = signs.get(self.default_output or self.steps[-1].output, set())
        return ends.pop() if len(ends) == 1 else 0

    def evaluate(self, values: Mapping[str, float | str]) -> dict[str, Any]:
        """Run the program in plain Python on SI floats; the oracle of the compiled sweep.

        Parameters
        ----------
        values : mapping
            SI floats and choice names by parameter; parameters left out take their default.

        Returns
        -------
        dict
            Every output and term by name.
        """
        known: dict[str, Any] = {p.name: p.default for p in self.parameters}
        known.update(values)
        results: dict[str, Any] = {}
        for index, step in enumerate(self.steps):
            chosen = str(known[step.choice]) if step.choice else ""
            call = self._calls.get((index, chosen))
            if call is None:
                call = self._calls[index, chosen] = _call(step, step.kernels[chosen])
            terms = call.function(*map(known.__getitem__, call.arguments))
            known[step.output] = results[step.output] = total(terms)
            if call.terms:
                named = dict(zip(call.terms, terms, strict=True))
                known.update(named)
                results.update(named)
            if call.absent:
                known.update(call.absent)
                results.update(call.absent)
        return results


class _Call(NamedTuple):
    """A step with everything looked up."""

    function: KernelFunction
    arguments: tuple[str, ...]
    terms: tuple[str, ...]
    absent: dict[str, float]


def _call(step: Step, kernel: Kernel) -> _Call:
    """Look up what one kernel of a step needs; a term that it lacks is zero."""
    others = {name for other in step.kernels.values() for name in other.terms}
    return _Call(
        kernel.function,
        step.arguments(kernel),
        tuple(f"{step.output}.{name}" for name in kernel.terms),
        {f"{step.output}.{name}": 0.0 for name in sorted(others - set(kernel.terms))},
    )
