"""The one boundary: text and quantities in, checked SI floats out.

`quantities` turns a function on SI floats into a public function. Each parameter's unit,
range and convention is declared in one short text, parsed when the module loads::

    @quantities(size="byte", ranks="count >= 1", bandwidth="byte/s/dir > 0", latency="s")

Grammar of a declaration: ``UNIT [>= LOW | > LOW] [<= HIGH | < HIGH] [optional]
[unless NAME] [FIELD: VALUE ...]``, where UNIT is an SI unit, ``count``, ``number`` or
``choice A B C``; ``byte/s/dir`` takes a rate per direction (``/dir``, ``/bidir``, or bare,
which is then noted as an assumption); ``latency_kind: one-way`` checks a `Datum`.
Without a bound a value must be finite and not negative.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from attrs import evolve, frozen

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.hooks import hook
from scalemath.core.kernel import KernelFunction
from scalemath.core.model import Model, Parameter, Step
from scalemath.core.value_range import Range
from scalemath.core.wording import offered
from scalemath.units.checks import (
    convert,
    convert_scalar,
    fast_path,
    is_array,
    taken_as_zero,
    taken_per_direction,
    undirected,
)
from scalemath.units.declaration import parse
from scalemath.units.values import EXAMPLES

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class PublicFunction(Protocol, Generic[R_co]):
    """A function behind the boundary.

    Calling it takes quantities and returns a result. `kernel` is the bare function on SI
    floats, `kernels` the table by algorithm, `parameters` the declared parameters, `model`
    the program that sweeps run.
    """

    __name__: str
    kernel: KernelFunction
    kernels: Mapping[str, KernelFunction]
    parameters: tuple[Parameter, ...]
    model: Model

    def __call__(self, *args: Any, **kwargs: Any) -> R_co:
        """Check the arguments and answer."""
        ...


@frozen(eq=False)
class _Slot:
    """One declared parameter, ready for the fast path."""

    parameter: Parameter
    name: str
    default: Any
    assumed: str
    bare: str
    fast: Callable[[Any], float | None]


class _Bound:
    """What came out of binding the arguments of one call."""

    __slots__ = ("arrays", "assumed", "problems", "ranges", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.assumed: tuple[str, ...] = ()
        self.ranges: dict[str, tuple[float, float]] = {}
        self.problems: list[tuple[str, ScalemathError]] = []
        self.arrays = False


def quantities(
    *steps: Step, output: str = "", **declared: str
) -> Callable[[Callable[..., R]], PublicFunction[R]]:
    """Put a function on SI floats behind the boundary.

    Parameters
    ----------
    *steps : Step
        The model: which kernels the function runs, in order; what sweeps compile.
    output : str
        Name of the model's output that a sweep returns by default (default: last step).
    **declared : str
        Declaration of every parameter that carries a unit, a count, a number or a choice;
        parameters not named here pass through untouched.

    Returns
    -------
    callable
        A decorator giving a `PublicFunction`. If the function has a parameter ``assumed`` it
        receives the tuple of assumptions made at the boundary (rates taken per direction,
        values left out).

    Raises
    ------
    TypeError, ValueError
        At import, if a declaration names no parameter or is not in the grammar.
    """
    parsed = {name: parse(name, text) for name, text in declared.items()}

    def decorate(function: Callable[..., R]) -> PublicFunction[R]:
        signature = inspect.signature(function)
        names = tuple(n for n in signature.parameters if n != "assumed")
        unknown = sorted(set(parsed) - set(names))
        if unknown:
            raise TypeError(f"{function.__name__} has no parameter {', '.join(unknown)}")
        slots = [_slot(parsed[n], signature.parameters[n].default) for n in names if n in parsed]
        wants_assumed = "assumed" in signature.parameters
        binder = _Binder(function.__name__, names, slots, signature)

        @functools.wraps(function)
        def public(*args: Any, **kwargs: Any) -> Any:
            bound = binder.bind(args, kwargs)
            values = bound.values
            if bound.arrays and bound.ranges:
                names = ", ".join(bound.ranges)
                raise ArgumentError(
                    f"{function.__name__}: {names} is a Range beside an array; ask for the low and "
                    "the high end in two calls"
                )
            if bound.arrays:
                return hook("array_call")(result.model, values, bound.assumed)
            if wants_assumed:
                values["assumed"] = bound.assumed
            if bound.ranges:
                return _both_ends(function, result.model, values, bound.ranges)
            return function(**values)

        parameters = tuple(slot.parameter for slot in slots)
        kept = [p for n, p in signature.parameters.items() if n != "assumed"]
        result = cast(Any, public)
        result.__signature__ = signature.replace(
            parameters=[
                p.replace(annotation="QuantityLike") if p.name in parsed else p for p in kept
            ]
        )
        result.parameters = parameters
        result.model = Model(
            name=function.__name__,
            parameters=parameters,
            steps=tuple(steps),
            default_output=output or (steps[-1].output if steps else ""),
        )
        if steps:
            result.kernels = {name: k.function for name, k in steps[0].kernels.items()}
            result.kernel = next(iter(result.kernels.values()))
        return cast("PublicFunction[R]", result)

    return decorate


def _slot(parameter: Parameter, default: Any) -> _Slot:
    """Join a declaration with the default value of the signature."""
    name = parameter.name
    required = default is inspect.Parameter.empty and parameter.required and not parameter.unless
    value = math.nan if default is inspect.Parameter.empty else default
    full = evolve(parameter, required=required, default=value)
    shown = ""
    if default == 0 and parameter.kind == "quantity":
        shown = taken_as_zero(name)
    return _Slot(
        parameter=full,
        name=name,
        default=value,
        assumed=shown,
        bare=taken_per_direction(name),
        fast=fast_path(full),
    )


class _Binder:
    """Binds arguments to parameters, converts them, and collects everything that is wrong."""

    def __init__(
        self, function: str, names: Sequence[str], slots: list[_Slot], signature: inspect.Signature
    ) -> None:
        self.function = function
        self.names = tuple(names)
        self.slots = tuple(slots)
        self.known = frozenset(names)
        self.positional = tuple(
            n for n in names if signature.parameters[n].kind is not inspect.Parameter.KEYWORD_ONLY
        )
        declared = {slot.name for slot in slots}
        self.passed = tuple(n for n in names if n not in declared)
        self.required_passed = tuple(
            n for n in self.passed if signature.parameters[n].default is inspect.Parameter.empty
        )
        self.by_name = {slot.name: slot for slot in slots}
        self.defaults = {slot.name: slot.default for slot in slots}
        self.alternatives = tuple(slot for slot in slots if slot.parameter.unless)
        self.watched = tuple(
            s for s in slots if s.parameter.required or s.parameter.unless or s.assumed
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Bound:
        """Return SI values, assumptions and ranges, or raise one error that names all faults."""
        if args:
            kwargs = self._merge(args, kwargs)
        bound = _Bound()
        values = bound.values = self.defaults.copy()
        for slot in self.watched:
            if slot.name not in kwargs:
                self._left_out(slot, kwargs, bound)
        odd = self.required_passed
        for name, given in kwargs.items():
            declared = self.by_name.get(name)
            if declared is None:
                if name in self.passed:
                    values[name] = given
                else:
                    odd = (name,)
                continue
            fast = declared.fast(given)
            if fast is not None:
                values[name] = fast
            else:
                self._given(declared, given, kwargs, bound)
        if odd:
            bound.problems += self._unknown(kwargs)
        for slot in self.alternatives:
            if slot.parameter.unless in kwargs:
                bound.problems += self._twice(kwargs)
                break
        if bound.problems:
            raise _combined(self.function, bound.problems)
        return bound

    def _left_out(self, slot: _Slot, kwargs: Mapping[str, Any], bound: _Bound) -> None:
        """Take the default of a parameter, or note that it is missing."""
        parameter = slot.parameter
        bound.values[slot.name] = slot.default
        if parameter.required:
            bound.problems.append((slot.name, ArgumentError("is missing" + _how(parameter))))
        elif parameter.unless:
            if kwargs.get(parameter.unless) is None and slot.default != slot.default:
                text = f"is missing{_how(parameter)}, or give {parameter.unless}="
                bound.problems.append((slot.name, ArgumentError(text)))
        elif slot.assumed:
            bound.assumed += (slot.assumed,)

    def _given(self, slot: _Slot, given: Any, kwargs: Mapping[str, Any], bound: _Bound) -> None:
        """Convert and check one argument that is not the plain case."""
        name, parameter = slot.name, slot.parameter
        bare = False
        if given is None and not parameter.required:
            self._left_out(slot, kwargs, bound)
            return
        try:
            if given.__class__ is Range:
                ends = [convert_scalar(parameter, end) for end in given]
                given.check(ends[0][0], ends[1][0])
                bound.ranges[name] = (ends[0][0], ends[1][0])
                bound.values[name], bare = ends[0]
            elif is_array(given):
                bound.values[name] = convert(parameter, given)
                bound.arrays = True
                bare = undirected(parameter, given)
            else:
                bound.values[name], bare = convert_scalar(parameter, given)
        except ScalemathError as error:
            bound.problems.append((name, error))
        if bare:
            bound.assumed += (slot.bare,)
        if isinstance(given, Datum):
            bound.assumed += (f"{name} is {given}, from {given.cite()}",)

    def _merge(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if len(args) > len(self.positional):
            raise ArgumentError(
                f"{self.function} takes {len(self.positional)} positional arguments "
                f"({', '.join(self.positional)}), {len(args)} were given; name the others"
            )
        merged = dict(zip(self.positional, args, strict=False))
        twice = merged.keys() & kwargs.keys()
        if twice:
            raise ArgumentError(f"{self.function}: {', '.join(sorted(twice))} given twice")
        return {**merged, **kwargs}

    def _unknown(self, kwargs: dict[str, Any]) -> list[tuple[str, ScalemathError]]:
        found: list[tuple[str, ScalemathError]] = []
        for name in kwargs:
            if name not in self.known:
                text = f"is no parameter; there are {offered(name, self.names)}"
                found.append((name, ArgumentError(text)))
        missing = [name for name in self.required_passed if name not in kwargs]
        return found + [(name, ArgumentError("is missing")) for name in missing]

    def _twice(self, kwargs: dict[str, Any]) -> list[tuple[str, ScalemathError]]:
        found: list[tuple[str, ScalemathError]] = []
        for slot in self.slots:
            other = slot.parameter.unless
            if other and kwargs.get(other) is not None and kwargs.get(slot.name) is not None:
                text = f"is given together with {other}, which states it already; give one of them"
                found.append((slot.name, ArgumentError(text)))
        return found


def _how(parameter: Parameter) -> str:
    if parameter.kind == "count":
        return f"; write {parameter.name}=72"
    if parameter.kind == "choice":
        return f"; choose one of {', '.join(parameter.choices)}"
    if parameter.kind == "number":
        return f"; write {parameter.name}=0.5"
    return f"; write {parameter.name}={EXAMPLES.get(parameter.unit, parameter.unit)}"


def _combined(function: str, problems: list[tuple[str, ScalemathError]]) -> ScalemathError:
    """One error that names every bad argument; its class is that of the first."""
    lines = [f"{name} {error}" for name, error in problems]
    head = f"{function}: " if len(lines) == 1 else f"{function}: {len(lines)} arguments are wrong: "
    return type(problems[0][1])(head + "; ".join(lines))


def _both_ends(
    function: Callable[..., Any],
    model: Model,
    values: dict[str, Any],
    ranges: dict[str, tuple[float, float]],
) -> Range:
    """Run the function at the corner that gives the least and the one that gives the most."""
    low, high = dict(values), dict(values)
    for name, ends in ranges.items():
        direction = model.direction(name, values)
        if direction == 0:
            raise ArgumentError(
                f"{model.name}: {name} has no declared direction, so a Range cannot travel "
                "through it; sweep over its values instead"
            )
        low[name], high[name] = ends if direction > 0 else ends[::-1]
    return Range(function(**low), function(**high))
