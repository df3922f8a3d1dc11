"""From a quantity, its text or an array to SI floats, and back."""

from __future__ import annotations

import functools
import numbers
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, RangeError, ScalemathError, UnitsError
from scalemath.units.adopt import adopt
from scalemath.units.digits import fifteen_digits
from scalemath.units.explain import DirectionError
from scalemath.units.registry import Quantity, Unit, factor, lossless, scaled, ureg

QuantityLike = Any
"""A `Quantity` of any registry, text such as "400 Gb/s", a `Datum`, a `Range`, or an array."""

EXAMPLES = {
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
ARRAYS = (np.ndarray, list, tuple, range)


@frozen
class Conversion:
    """How a magnitude in some unit becomes an SI float."""

    scale: Fraction
    numerator: int
    denominator: int
    multiplier: float
    exact: bool
    bare_rate: bool

    def value(self, magnitude: Any) -> float:
        """Convert one number, exactly where that is possible, else to 15 digits."""
        if magnitude.__class__ is float:
            if self.exact:
                return float(magnitude * self.multiplier)
            raw = magnitude * self.numerator / self.denominator
            return float(raw if raw.is_integer() or raw - raw != 0 else f"{raw:.15g}")
        if magnitude.__class__ is int:  # integers divide exactly, however large
            return float(magnitude * self.numerator / self.denominator)
        return float(scaled(magnitude, self.scale))

    def array(self, magnitudes: Any) -> np.ndarray[Any, Any]:
        """Convert an array, element by element as `value` does."""
        given = np.asarray(magnitudes)
        if self.exact:
            return given.astype(float) * self.multiplier
        raw = given.astype(float) * self.scale.numerator / self.scale.denominator
        with np.errstate(invalid="ignore"):
            odd = raw != np.floor(raw)
        if odd.all():  # also nan, which stays nan
            return fifteen_digits(raw)
        if odd.any():
            raw[odd] = fifteen_digits(raw[odd])
        return raw


class Target:
    """A target unit with a cache of conversions from every unit met so far."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.rate = unit == "byte/s/dir"
        self.plain = "byte/s" if self.rate else unit
        self._unit = ureg.Unit("" if unit in ("1", "count", "number") else self.plain)
        self._dimension = self._unit.dimensionality
        self._directed = ureg.Unit("byte/s/dir").dimensionality
        self._base = factor(self._unit._units)
        self.known: dict[Any, Conversion] = {}

    def conversion(self, units: Any) -> Conversion:
        """Conversion from a pint UnitsContainer of our registry."""
        known = self.known.get(units)
        if known is None:
            known = self.known[units] = self._make(units)
        return known

    def _make(self, units: Any) -> Conversion:
        given = ureg.get_dimensionality(units)
        if given != self._dimension and not (self.rate and given == self._directed):
            raise self._wrong(units, given)
        scale = factor(units) / self._base
        return Conversion(
            scale=scale,
            numerator=scale.numerator,
            denominator=scale.denominator,
            multiplier=float(scale),
            exact=lossless(scale),
            bare_rate=self.rate and given == self._dimension,
        )

    def _wrong(self, units: Any, given: Any) -> UnitsError:
        shown = f"{ureg.Unit(units):~P}" or "a plain number"
        example = EXAMPLES.get(self.plain, f"a value in {self.plain}")
        wanted = "a plain number" if self.unit == "1" else f"{self.unit} {self._dimension}"
        text = f"is in {shown} {given}, wanted {wanted}; write for example {example}"
        without = {k: v for k, v in given.items() if k != "[direction]"}
        if dict(self._dimension.items()) == without:
            return DirectionError(text + " without a direction")
        return UnitsError(text)


@functools.cache
def target(unit: str) -> Target:
    """Return the shared target of a unit."""
    return Target(unit)


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> Quantity:
    return adopt(text)


def quantity_of(value: Any) -> Quantity:
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
        return raw_si(value, unit)
    except ScalemathError as error:
        raise type(error)(f"{name} {error}") from None


def raw_si(value: QuantityLike, unit: str) -> Any:
    """Convert as `to_si` does; messages leave out the name."""
    if isinstance(value, Datum):
        value = value.quantity
    plain = unit in ("1", "number", "count")
    if isinstance(value, numbers.Real) or (isinstance(value, ARRAYS) and plain):
        if plain:
            return np.asarray(value, dtype=float) if isinstance(value, ARRAYS) else float(value)
        raise UnitsError(bare(value, unit))
    if isinstance(value, (list, tuple)):
        numbers_ = [raw_si(item, unit) for item in value]
        if len({np.shape(number) for number in numbers_}) > 1:
            raise ArgumentError(
                "is ragged; give one value after the other, or one array with a unit"
            )
        return np.array(numbers_, dtype=float)
    if isinstance(value, np.ndarray):
        raise UnitsError(bare(value, unit))
    given = quantity_of(value)
    conversion = target(unit).conversion(given._units)
    magnitude = given._magnitude
    if isinstance(magnitude, np.ndarray):
        converted = conversion.array(magnitude)
        return converted if converted.ndim else float(converted)
    try:
        return conversion.value(magnitude)
    except OverflowError:
        raise RangeError(f"is {given}, too large for a float; use a larger unit") from None


def bare(value: Any, unit: str) -> str:
    """Sentence for a number that came without a unit."""
    shown = np.array2string(value, threshold=4) if isinstance(value, np.ndarray) else repr(value)
    base = unit.removesuffix("/dir")
    example = EXAMPLES.get(base, f"'1 {unit}'")
    return f"is {shown} without a unit, wanted {unit}; write for example {example}"


_units: dict[str, Unit] = {}


def quantity(value: Any, unit: str) -> Quantity:
    """Make a quantity from an SI value and the name of its unit."""
    known = _units.get(unit)
    if known is None:
        known = _units[unit] = ureg.Unit("" if unit == "1" else unit)
    return Quantity(value, known)
