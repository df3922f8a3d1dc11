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

import difflib
import functools
import inspect
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
import pint
from attrs import field, frozen

from scalemath.core.datum import Datum
from scalemath.core.errors import (
    ArgumentError,
    ConventionError,
    RangeError,
    ScalemathError,
    UnitsError,
)
from scalemath.core.hooks import hook
from scalemath.core.kernel import KernelFunction
from scalemath.core.model import Model, Parameter, Step
from scalemath.core.value_range import Range
from scalemath.units.adopt import adopt
from scalemath.units.explain import DirectionError
from scalemath.units.registry import Quantity, Unit, factor, scaled, ureg

QuantityLike = Any
"""A `Quantity` of any registry, text such as "400 Gb/s", a `Datum`, a `Range`, or an array."""

R = TypeVar("R")
_MISSING = object()
_EXAMPLES = {
    "byte": "'2 GiB'",
    "byte/s": "'900 GB/s/dir'",
    "s": "'2 us'",
    "flop": "'140 TFLOP'",
    "flop/s": "'2.25 PFLOP/s'",
    "W": "'12 W'",
    "J": "'1 kWh'",
    "J/bit": "'15 pJ/bit'",
    "m": "'3 m'",
    "Hz": "'1 GHz'",
    "byte/flop": "'0.5 byte/FLOP'",
}
_ARRAYS = (np.ndarray, list, tuple, range)


# --- one value ---------------------------------------------------------------------------


@frozen
class _Conversion:
    """How a magnitude in some unit becomes an SI float."""

    scale: Fraction
    multiplier: float
    exact: bool
    bare_rate: bool

    def value(self, magnitude: Any) -> float:
        """Convert one number, exactly where that is possible, else to 15 digits."""
        if self.exact and magnitude.__class__ is float:
            return magnitude * self.multiplier  # type: ignore[no-any-return]
        return float(scaled(magnitude, self.scale))

    def array(self, magnitudes: Any) -> np.ndarray[Any, Any]:
        """Convert an array, element by element as `value` does."""
        given = np.asarray(magnitudes)
        if self.exact:
            return given.astype(float) * self.multiplier
        raw = given.astype(float) * self.scale.numerator / self.scale.denominator
        odd = np.isfinite(raw) & (raw != np.floor(raw))
        if odd.any():
            raw[odd] = [float(f"{x:.15g}") for x in raw[odd]]
        return raw


class _Target:
    """A target unit with a cache of conversions from every unit met so far."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.rate = unit == "byte/s/dir"
        self.plain = "byte/s" if self.rate else unit
        self._unit = ureg.Unit("" if unit in ("1", "count", "number") else self.plain)
        self._dimension = self._unit.dimensionality
        self._directed = ureg.Unit("byte/s/dir").dimensionality
        self._base = factor(self._unit._units)
        self._known: dict[Any, _Conversion] = {}

    def conversion(self, units: Any) -> _Conversion:
        """Conversion from a pint UnitsContainer of our registry."""
        known = self._known.get(units)
        if known is None:
            known = self._known[units] = self._make(units)
        return known

    def _make(self, units: Any) -> _Conversion:
        given = ureg.get_dimensionality(units)
        if given != self._dimension and not (self.rate and given == self._directed):
            raise self._wrong(units, given)
        scale = factor(units) / self._base
        return _Conversion(
            scale=scale,
            multiplier=float(scale),
            exact=Fraction(float(scale)) == scale,
            bare_rate=self.rate and given == self._dimension,
        )

    def _wrong(self, units: Any, given: Any) -> UnitsError:
        shown = f"{ureg.Unit(units):~P}" or "a plain number"
        example = _EXAMPLES.get(self.plain, f"a value in {self.plain}")
        wanted = "a plain number" if self.unit == "1" else f"{self.unit} {self._dimension}"
        text = f"is in {shown} {given}, wanted {wanted}; write for example {example}"
        without = {k: v for k, v in given.items() if k != "[direction]"}
        if dict(self._dimension.items()) == without:
            return DirectionError(text + " without a direction")
        return UnitsError(text)


@functools.cache
def _target(unit: str) -> _Target:
    return _Target(unit)


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> Quantity:
    return adopt(text)


def _quantity_of(value: Any) -> Quantity:
    """Return the quantity behind text, a foreign quantity or a Datum."""
    if isinstance(value, Quantity):
        return value
    if isinstance(value, str):
        try:
            return _parsed(value)
        except ScalemathError:
            raise
        except Exception as error:
            raise UnitsError(
                f"{value!r} cannot be read as a number with a unit ({error}); "
                "write for example '400 Gb/s'"
            ) from None
    return adopt(value)


def to_si(value: QuantityLike, unit: str, name: str = "value") -> Any:
    """Convert a quantity, its text, or an array with a unit to SI floats.

    Parameters
    ----------
    value : Quantity, str or Datum
        What to convert; arrays inside a Quantity are converted element by element.
    unit : str
        SI unit wanted; "byte/s/dir" takes rates per direction (bare, /dir or /bidir).
    name : str
        What the value is called in an error.

    Returns
    -------
    float or numpy.ndarray
        Value in that unit, rounded to 15 significant digits where the factor is not exact.

    Raises
    ------
    UnitsError
        If the dimension is wrong, or the value has no unit where one is needed.
    """
    try:
        return _to_si(value, unit)
    except ScalemathError as error:
        raise type(error)(f"{name} {error}") from None


def _to_si(value: QuantityLike, unit: str) -> Any:
    """Convert as `to_si` does; messages leave out the name."""
    if isinstance(value, Datum):
        value = value.quantity
    plain = unit in ("1", "number", "count")
    if isinstance(value, numbers.Real) or (isinstance(value, _ARRAYS) and plain):
        if plain:
            return np.asarray(value, dtype=float) if isinstance(value, _ARRAYS) else float(value)
        raise UnitsError(_bare(value, unit))
    if isinstance(value, (list, tuple)):
        return np.array([_to_si(item, unit) for item in value], dtype=float)
    if isinstance(value, np.ndarray):
        raise UnitsError(_bare(value, unit))
    given = _quantity_of(value)
    conversion = _target(unit).conversion(given._units)
    magnitude = given._magnitude
    if isinstance(magnitude, np.ndarray):
        converted = conversion.array(magnitude)
        return converted if converted.ndim else float(converted)
    try:
        return conversion.value(magnitude)
    except OverflowError:
        raise RangeError(f"is {given}, too large for a float; use a larger unit") from None


def _bare(value: Any, unit: str) -> str:
    shown = np.array2string(value, threshold=4) if isinstance(value, np.ndarray) else repr(value)
    base = unit.removesuffix("/dir")
    example = _EXAMPLES.get(base, f"'1 {unit}'")
    return f"is {shown} without a unit, wanted {unit}; write for example {example}"


_units: dict[str, Unit] = {}


def quantity(value: Any, unit: str) -> Quantity:
    """Make a quantity from an SI value and the name of its unit."""
    known = _units.get(unit)
    if known is None:
        known = _units[unit] = ureg.Unit("" if unit == "1" else unit)
    return Quantity(value, known)


# --- one parameter -----------------------------------------------------------------------


def parse(name: str, text: str) -> Parameter:
    """Parse one declaration of the grammar above.

    Raises
    ------
    ValueError
        If the text is not in the grammar or names a unit that does not exist.
    """
    words = text.split()
    if not words:
        raise ValueError(f"{name}: empty declaration")
    unit, rest = words[0], words[1:]
    found: dict[str, Any] = {"low": 0.0, "high": math.inf, "required": True}
    choices: list[str] = []
    conventions: dict[str, str] = {}
    if unit == "choice":
        while rest and rest[0] not in ("optional", "unless"):
            choices.append(rest.pop(0))
    while rest:
        word = rest.pop(0)
        if word in (">", ">="):
            found["low"], found["low_open"] = float(rest.pop(0)), word == ">"
        elif word in ("<", "<="):
            found["high"], found["high_open"] = float(rest.pop(0)), word == "<"
        elif word == "any":
            found["low"] = -math.inf
        elif word == "optional":
            found["required"] = False
        elif word == "unless":
            found["unless"] = rest.pop(0)
        elif word.endswith(":"):
            conventions[word[:-1]] = rest.pop(0)
        else:
            raise ValueError(f"{name}: cannot read {word!r} in {text!r}")
    if unit == "choice":
        return Parameter(name, "choice", "1", choices=tuple(choices), **found)
    if unit == "count":
        return Parameter(name, "count", "1", **found)
    if unit in ("number", "1"):
        return Parameter(name, "number", "1", conventions=conventions, **found)
    _target(unit)
    if unit == "byte/s/dir":
        return Parameter(name, "rate", "byte/s", conventions=conventions, **found)
    if unit == "s" and not conventions:
        conventions = {"latency_kind": "one-way"} if "latency" in name else {}
    return Parameter(name, "quantity", unit, conventions=conventions, **found)


def _spelling(parameter: Parameter) -> str:
    """Unit text of the boundary for a parameter."""
    return "byte/s/dir" if parameter.kind == "rate" else parameter.unit


def convert(parameter: Parameter, value: Any) -> Any:
    """Convert and check a scalar or an array for one parameter.

    Parameters
    ----------
    parameter : Parameter
        What is wanted.
    value : object
        Quantity, text, number, `Datum`, or an array or list of these.

    Returns
    -------
    float, str or numpy.ndarray
        SI float, the name of a choice, or an array of floats.

    Raises
    ------
    ScalemathError
        The matching subclass; the message begins with what was given, without the name.
    """
    if isinstance(value, _ARRAYS) or isinstance(getattr(value, "_magnitude", None), np.ndarray):
        return _convert_array(parameter, value)
    return _convert_scalar(parameter, value)[0]


def _convert_scalar(parameter: Parameter, value: Any) -> tuple[Any, bool]:
    """Return the checked SI value, and whether it was a rate without a direction."""
    kind = parameter.kind
    bare = False
    if kind == "choice":
        return _choice(parameter, value), False
    if kind == "count":
        return _count(parameter, value), False
    if isinstance(value, Datum):
        _check_conventions(parameter, value)
        value = value.quantity
    if kind == "number":
        result = _number(parameter, value)
    else:
        if value.__class__ is not Quantity:
            if isinstance(value, (numbers.Number, bool)) or value is None:
                raise UnitsError(_bare(value, _spelling(parameter)))
            value = _quantity_of(value)
        conversion = _target(_spelling(parameter)).conversion(value._units)
        bare = conversion.bare_rate
        try:
            result = conversion.value(value._magnitude)
        except OverflowError:
            raise RangeError(f"is {value}, too large for a float") from None
        except TypeError:
            raise UnitsError(f"is {value!r}, wanted one number with a unit") from None
    if not parameter.low <= result <= parameter.high or result - result != 0:
        raise RangeError(_outside(parameter, value))
    if (parameter.low_open and result == parameter.low) or (
        parameter.high_open and result == parameter.high
    ):
        raise RangeError(_outside(parameter, value))
    return result, bare


def _choice(parameter: Parameter, value: Any) -> str:
    if isinstance(value, str) and value in parameter.choices:
        return value
    near = difflib.get_close_matches(str(value), parameter.choices, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise ArgumentError(f"is {value!r}, wanted one of {', '.join(parameter.choices)}{hint}")


def _count(parameter: Parameter, value: Any) -> float:
    if isinstance(value, (bool, np.bool_, str)) or not isinstance(value, numbers.Real):
        if isinstance(value, pint.Quantity):
            raise UnitsError(f"is {value}, a quantity; a count is a plain integer, as in 72")
        raise ArgumentError(f"is {value!r}; a count is a plain integer, as in 72")
    if isinstance(value, numbers.Integral) and abs(value) > 2**53:
        raise RangeError(f"is {value}; counts go up to 2**53, beyond which floats skip integers")
    number = float(value)
    if number != number or number in (math.inf, -math.inf) or not number.is_integer():
        raise RangeError(f"is {value!r}; a count is a whole number, as in 72")
    if not parameter.low <= number <= parameter.high:
        raise RangeError(_outside(parameter, value))
    return number


def _number(parameter: Parameter, value: Any) -> float:
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"is {value!r}; wanted a plain number")
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, (str, pint.Quantity)):
        return float(_to_si(value, "1"))
    raise ArgumentError(f"is {value!r}; wanted a plain number")


def _outside(parameter: Parameter, value: Any) -> str:
    unit = "" if parameter.unit == "1" else f" {parameter.unit}"
    low = f"{'above' if parameter.low_open else 'at least'} {parameter.low:g}{unit}"
    if math.isinf(parameter.low):
        low = "finite"
    high = f"{'below' if parameter.high_open else 'at most'} {parameter.high:g}{unit}"
    wanted = low if math.isinf(parameter.high) else f"{low} and {high}"
    if parameter.kind != "count" and math.isinf(parameter.high) and low != "finite":
        wanted += " and finite"
    return f"is {value}; wanted {wanted}"


def _check_conventions(parameter: Parameter, value: Datum) -> None:
    for name, wanted in parameter.conventions.items():
        given = getattr(value, name, "")
        if given and given != wanted:
            raise ConventionError(
                f"is {value.as_printed or value.value} with {name} {given!r}, wanted {wanted!r}: "
                + _CURES.get((name, given), f"give the {wanted} figure")
            )
    if parameter.kind == "rate" and value.scope and value.scope not in _PORT_SCOPES:
        raise ConventionError(
            f"is {value.as_printed or value.value} per {value.scope}, wanted the rate of one "
            "rank's port: divide by the number of ports it sums, or take the entry per GPU"
        )
    if value.sparsity == "sparse" and "sparsity" not in parameter.conventions:
        raise ConventionError(
            f"is {value.as_printed or value.value} with sparsity, wanted the dense figure: "
            "give the dense peak"
        )


_PORT_SCOPES = ("GPU", "port", "rank", "link", "NIC", "accelerator")
_CURES = {
    ("latency_kind", "round-trip"): "a round trip is two one-way times: give half of it",
}


def _convert_array(parameter: Parameter, value: Any) -> np.ndarray[Any, Any]:
    if parameter.kind == "choice":
        return np.array([_choice(parameter, item) for item in value], dtype=object)
    if parameter.kind == "count":
        result = _count_array(value)
    else:
        result = np.asarray(_to_si(_listed(value), _spelling(parameter)), dtype=float)
    bad = ~np.isfinite(result) | (result < parameter.low) | (result > parameter.high)
    if parameter.low_open:
        bad |= result == parameter.low
    if parameter.high_open:
        bad |= result == parameter.high
    if bad.any():
        first = int(np.argmax(bad.ravel()))
        shown = f"{result.ravel()[first]:g} at position {first}"
        raise RangeError(_outside(parameter, shown).replace("is ", "holds ", 1))
    return result


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, range) else value


def _count_array(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, pint.Quantity):
        raise UnitsError("is a quantity; counts are plain integers, as in [2, 8, 72]")
    given = np.asarray(_listed(value))
    if given.dtype.kind not in "iuf":
        raise ArgumentError(f"holds {given.dtype} values; counts are plain integers")
    result = given.astype(float)
    if (result != np.floor(result)).any() or (np.abs(result) > 2**53).any():
        raise RangeError("holds values that are not whole numbers up to 2**53")
    return result


# --- one function ------------------------------------------------------------------------


class PublicFunction(Protocol, Generic[R]):
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

    def __call__(self, *args: Any, **kwargs: Any) -> R:
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
    fields: dict[str, Any] = field(factory=dict)


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
            values, assumed, ranges, arrays = binder.bind(args, kwargs)
            if arrays:
                return hook("array_call")(public.model, values)  # type: ignore[attr-defined]
            if wants_assumed:
                values["assumed"] = assumed
            if ranges:
                return _both_ends(function, public.model, values, ranges)  # type: ignore[attr-defined]
            return function(**values)

        parameters = tuple(slot.parameter for slot in slots)
        kept = [p for n, p in signature.parameters.items() if n != "assumed"]
        result = cast(Any, public)
        result.__signature__ = signature.replace(
            parameters=[p.replace(annotation="QuantityLike") if p.name in parsed else p for p in kept]
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
    full = Parameter(
        **{
            **{a: getattr(parameter, a) for a in Parameter.__slots__ if a != "__weakref__"},
            "required": required,
            "default": value,
        }
    )
    shown = ""
    if default == 0 and parameter.kind == "quantity":
        shown = f"{name} taken as 0 (not given)"
    return _Slot(
        parameter=full,
        name=name,
        default=value,
        assumed=shown,
        bare=f"{name} taken per direction (given without a direction)",
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
            n
            for n in names
            if signature.parameters[n].kind is not inspect.Parameter.KEYWORD_ONLY
        )
        declared = {slot.name for slot in slots}
        self.passed = tuple(n for n in names if n not in declared)
        self.required_passed = tuple(
            n for n in self.passed if signature.parameters[n].default is inspect.Parameter.empty
        )
        self.unless = frozenset(s.parameter.unless for s in slots if s.parameter.unless)

    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], tuple[str, ...], dict[str, tuple[float, float]], bool]:
        """Return SI values, assumptions, ranges by name, and whether an array was given."""
        if args:
            kwargs = self._merge(args, kwargs)
        values: dict[str, Any] = {}
        assumed: tuple[str, ...] = ()
        ranges: dict[str, tuple[float, float]] = {}
        problems: list[tuple[str, ScalemathError]] = []
        arrays = False
        used = 0
        for slot in self.slots:
            name = slot.name
            given = kwargs.get(name, _MISSING)
            if given is _MISSING:
                values[name] = slot.default
                if slot.parameter.required:
                    problems.append((name, ArgumentError("is missing" + _how(slot.parameter))))
                elif slot.parameter.unless:
                    if kwargs.get(slot.parameter.unless) is None and slot.default != slot.default:
                        text = f"is missing{_how(slot.parameter)}, or give {slot.parameter.unless}="
                        problems.append((name, ArgumentError(text)))
                elif slot.assumed:
                    assumed += (slot.assumed,)
                continue
            used += 1
            if given is None and not slot.parameter.required:
                values[name] = slot.default
                continue
            try:
                if given.__class__ is Range:
                    ends = [_convert_scalar(slot.parameter, end) for end in given]
                    given.check(ends[0][0], ends[1][0], name)
                    ranges[name] = (ends[0][0], ends[1][0])
                    values[name], bare = ends[0]
                elif isinstance(given, _ARRAYS) or isinstance(
                    getattr(given, "_magnitude", None), np.ndarray
                ):
                    values[name] = convert(slot.parameter, given)
                    arrays, bare = True, False
                else:
                    values[name], bare = _convert_scalar(slot.parameter, given)
                if bare:
                    assumed += (slot.bare,)
            except ScalemathError as error:
                problems.append((name, error))
        for name in self.passed:
            if name in kwargs:
                values[name] = kwargs[name]
                used += 1
        if used != len(kwargs) or self.required_passed:
            problems += self._unknown(kwargs)
        if self.unless:
            problems += self._twice(kwargs)
        if problems:
            raise _combined(self.function, problems)
        return values, assumed, ranges, arrays

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
                near = difflib.get_close_matches(name, self.names, n=2, cutoff=0.4)
                hint = f"; did you mean {' or '.join(near)}?" if near else ""
                text = f"is no parameter; there are {', '.join(self.names)}{hint}"
                found.append((name, ArgumentError(text)))
        for name in self.required_passed:
            if name not in kwargs:
                found.append((name, ArgumentError("is missing")))
        return found

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
    return f"; write {parameter.name}={_EXAMPLES.get(parameter.unit, parameter.unit)}"


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
