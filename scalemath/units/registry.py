"""Our registry of units: own definitions, own Quantity and Unit, safe to pickle.

This file and `adopt.py` are the only ones that touch private attributes of pint
(`_units`, `_magnitude`, `_REGISTRY`, `_add_sub`, `_mul_div`); a test exercises each of them.
"""

from __future__ import annotations

import functools
import html
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

import pint
from pint.util import UnitsContainer

from scalemath.core.errors import SpellingError, UnitsError
from scalemath.units.explain import DirectionError, mismatch, spelling
from scalemath.units.text import split

_INFORMATION = frozenset({"bit", "byte", "flop", "operation", "token", "direction", "bidirection"})
_BELOW_ONE = frozenset({"atto", "femto", "pico", "nano", "micro", "milli", "centi"})


def _rebuild_quantity(magnitude: Any, units: Mapping[str, Any]) -> _Quantity:
    """Make a quantity of our registry out of its parts (used by pickle and copy)."""
    return ureg.Quantity(magnitude, ureg.Unit(UnitsContainer(units)))


def _rebuild_unit(units: Mapping[str, Any]) -> _Unit:
    """Make a unit of our registry out of its parts (used by pickle and copy)."""
    return ureg.Unit(UnitsContainer(units))


class _Unit(pint.UnitRegistry.Unit):
    """A unit of our registry; pickles and copies as ours."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _rebuild_unit, (dict(self._units),)


class _Quantity(pint.UnitRegistry.Quantity):  # type: ignore[type-arg]
    """A number with a unit of our registry.

    Ratios of like dimensions are reduced when they are formed, so that
    ``7.2 TB/s/bidir`` over ``0.4 TB/s/dir`` has magnitude 9, and ``ceil`` of
    ``3 GiB / 1 GB`` is 4. A bare rate is never added to, nor compared with, a directed one.
    """

    def __new__(cls, value: Any, units: Any = None) -> _Quantity:
        """Make a quantity of a number and a unit, or of a text that holds both."""
        if isinstance(value, str):
            value, own = split(value)
            if units is None:
                units = own
            elif own:
                raise UnitsError(f"a unit is given twice: {own!r} and {str(units)!r}")
        elif value is None or isinstance(value, bool):
            raise UnitsError(f"{value!r} is no number: write for example Q_('400 Gb/s')")
        if isinstance(units, str):
            units = _unit(units)
        made: Any = super().__new__(cls, value, units)
        return cast(_Quantity, made)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:  # type: ignore[override]
        return _rebuild_quantity, (self._magnitude, dict(self._units))

    def __format__(self, spec: str) -> str:
        if not any(mark in spec for mark in "0123456789.efgEFG") and "H" not in spec:
            magnitude = self._magnitude
            if isinstance(magnitude, float) and magnitude.is_integer() and abs(magnitude) < 1e16:
                whole = type(self)(int(magnitude), self._units)
                return super(_Quantity, whole).__format__(spec)
        return super().__format__(spec)

    def __str__(self) -> str:
        return format(self)

    def _mul_div(self, other: Any, magnitude_op: Any, units_op: Any = None) -> Any:
        return _reduced(super()._mul_div(other, magnitude_op, units_op))

    def _imul_div(self, other: Any, magnitude_op: Any, units_op: Any = None) -> Any:
        return _reduced(super()._imul_div(other, magnitude_op, units_op))

    def _add_sub(self, other: Any, op: Any) -> Any:
        try:
            return super()._add_sub(other, op)
        except pint.DimensionalityError as error:
            raise mismatch(_verb(op), self, other, error) from None

    def _iadd_sub(self, other: Any, op: Any) -> Any:
        try:
            return super()._iadd_sub(other, op)
        except pint.DimensionalityError as error:
            raise mismatch(_verb(op), self, other, error) from None

    def compare(self, other: Any, op: Any) -> Any:
        """Compare in common units; a bare rate against a directed one raises."""
        if _both_scalar(self, other):
            return op(_base_value(self), _base_value(other))
        try:
            return super().compare(other, op)
        except pint.DimensionalityError as error:
            raise mismatch("compare", self, other, error) from None
        except ValueError as error:
            if "Cannot compare" not in str(error):
                raise
            raise mismatch("compare", self, other, error) from None

    def __lt__(self, other: Any) -> Any:
        return self.compare(other, op=operator.lt)

    def __le__(self, other: Any) -> Any:
        return self.compare(other, op=operator.le)

    def __ge__(self, other: Any) -> Any:
        return self.compare(other, op=operator.ge)

    def __gt__(self, other: Any) -> Any:
        return self.compare(other, op=operator.gt)

    def __eq__(self, other: object) -> Any:
        if _both_scalar(self, other):
            return _base_value(self) == _base_value(other)
        if isinstance(other, _Quantity) and self._units != other._units:
            error = direction_clash(self, other)
            if error is not None:
                raise error
        return super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return ~equal if hasattr(equal, "dtype") else not equal

    def __hash__(self) -> int:
        if _is_scalar(self) and self._is_multiplicative:
            if self.dimensionless:
                return hash(_base_value(self))
            return hash((_base_value(self), tuple(sorted(self.dimensionality.items()))))
        return super().__hash__()

    def to(self, other: Any = None, *contexts: Any, **kwargs: Any) -> Any:
        """Convert to another unit, exactly or to 15 digits; a failure says what is missing."""
        try:
            if not contexts and not kwargs and other is not None and _is_scalar(self):
                target = ureg.Unit(other)._units
                if (
                    self.dimensionality == ureg.get_dimensionality(target)
                    and self._is_multiplicative
                    and self.__class__(1, target)._is_multiplicative
                ):
                    scale = factor(self._units) / factor(target)
                    return self.__class__(scaled(self._magnitude, scale), target)
            return super().to(other, *contexts, **kwargs)
        except pint.DimensionalityError as error:
            raise mismatch("convert", self, other, error) from None

    def m_as(self, units: Any) -> Any:
        """Magnitude in another unit."""
        return self.to(units)._magnitude

    def _repr_html_(self) -> str:
        return html.escape(str(self))


class Registry(pint.UnitRegistry):  # type: ignore[type-arg]
    """A pint registry with our definitions, our classes and our error messages."""

    Quantity = _Quantity
    Unit = _Unit

    def parse_unit_name(
        self, unit_name: str, case_sensitive: bool | None = None
    ) -> tuple[tuple[str, str, str], ...]:
        """Find prefix and unit in a name; refuse what could mean two things."""
        found = tuple(
            candidate
            for candidate in super().parse_unit_name(unit_name, case_sensitive)
            if not candidate[2] or unit_name.endswith(candidate[1] + candidate[2])
        )
        for prefix, unit, _ in found:
            if prefix in _BELOW_ONE and unit in _INFORMATION:
                raise SpellingError(spelling(unit_name, f"{prefix}{unit}"))
        if not found or unit_name in ("flops", "FLOPs"):
            raise SpellingError(spelling(unit_name))
        return found


@functools.lru_cache(maxsize=4096)
def _unit(text: str) -> Any:
    """Parse the text of a unit once."""
    return ureg.Unit(text)


def _load() -> Registry:
    registry = Registry(
        str(files("scalemath.units") / "definitions.txt"),
        autoconvert_offset_to_baseunit=True,
    )
    registry.formatter.default_format = "~P"
    registry.formatter.default_sort_func = None
    return registry


ureg = _load()
if TYPE_CHECKING:
    Quantity = _Quantity
    Unit = _Unit
else:  # the classes bound to our registry
    Quantity = ureg.Quantity
    Unit = ureg.Unit
Q_ = Quantity


_factors: dict[str, Fraction] = {}
_dimensions: dict[str, str] = {}
_reductions: dict[UnitsContainer, tuple[Fraction, UnitsContainer] | None] = {}


def factor(units: Mapping[str, Any]) -> Fraction:
    """Exact factor from a product of units to our base units (bit, s, J, FLOP, m ...)."""
    result = Fraction(1)
    for name, power in units.items():
        known = _factors.get(name)
        if known is None:
            scale: Any = ureg.get_base_units(name)[0]
            known = _factors[name] = exact(scale)
        result *= known ** int(power)
    return result


def exact(number: float) -> Fraction:
    """Return the decimal number that a float stands for, as an exact fraction."""
    if isinstance(number, int) or float(number).is_integer():
        return Fraction(int(number))
    return Fraction(f"{number:.15g}")


def scaled(magnitude: Any, scale: Fraction) -> Any:
    """Multiply a number by an exact factor: exactly where possible, else to 15 digits.

    Integers are multiplied as such. A float is scaled without loss by a power of two;
    by any other factor it stands for the decimal it prints as, to 15 digits.
    """
    if isinstance(magnitude, int):
        value = magnitude * scale
        return int(value) if value.denominator == 1 else float(value)
    if lossless(scale):
        return float(magnitude) * float(scale)
    raw = float(magnitude) * scale.numerator / scale.denominator
    return raw if raw.is_integer() or raw - raw != 0 else float(f"{raw:.15g}")


def lossless(scale: Fraction) -> bool:
    """Whether a float can be multiplied by this factor without rounding: a power of two."""
    return scale > 0 and (scale.numerator & (scale.numerator - 1)) == 0 == (
        scale.denominator & (scale.denominator - 1)
    )


def _is_scalar(quantity: Any) -> bool:
    return isinstance(quantity._magnitude, (int, float))


def _both_scalar(left: Any, right: Any) -> bool:
    """Whether both are single numbers of one dimension with multiplicative units."""
    return (
        isinstance(right, _Quantity)
        and _is_scalar(left)
        and _is_scalar(right)
        and left.dimensionality == right.dimensionality
        and left._is_multiplicative
        and right._is_multiplicative
    )


def _base_value(quantity: Any) -> float:
    """Value in base units to 14 digits: what equality, order and hash are decided on.

    Conversions keep 15 digits, so one digit less makes equality independent of the unit.
    """
    value = (
        float(quantity._magnitude * factor(quantity._units))
        if isinstance(quantity._magnitude, int)
        else quantity._magnitude * float(factor(quantity._units))
    )
    return float(f"{value:.14g}")


def _dimension(name: str) -> str:
    found = _dimensions.get(name)
    if found is None:
        found = _dimensions[name] = str(ureg.get_dimensionality(UnitsContainer({name: 1})))
    return found


def _reduced(quantity: Any) -> Any:
    """Merge units of like dimension in a product or ratio."""
    units = getattr(quantity, "_units", None)
    if units is None or len(units) < 2:
        return quantity
    if units not in _reductions:
        _reductions[units] = _reduction(units)
    plan = _reductions[units]
    if plan is None:
        return quantity
    scale, merged = plan
    magnitude = quantity._magnitude
    if isinstance(magnitude, (int, float)):
        return quantity.__class__(scaled(magnitude, scale), merged)
    return quantity.__class__(magnitude * (scale.numerator / scale.denominator), merged)


def _reduction(units: UnitsContainer) -> tuple[Fraction, UnitsContainer] | None:
    """Plan which units merge into which, and by what exact factor."""
    kept: dict[str, Any] = {}
    by_dimension: dict[str, str] = {}
    scale = Fraction(1)
    powers: dict[str, Any] = dict(units)
    for name, power in powers.items():
        dimension = _dimension(name)
        first = by_dimension.setdefault(dimension, name)
        if first == name or power != int(power) or dimension == "dimensionless":
            kept[name] = kept.get(name, 0) + power
        else:
            scale *= (factor({name: 1}) / factor({first: 1})) ** int(power)
            kept[first] += power
    if len(kept) == len(units):
        return None
    return scale, UnitsContainer({name: power for name, power in kept.items() if power})


def direction_clash(left: Any, right: Any) -> UnitsError | None:
    """Return the error when one side is per direction and the other is bare, else None."""
    ours, theirs = left.dimensionality, right.dimensionality
    if ours == theirs:
        return None
    bare = [
        UnitsContainer({k: v for k, v in side.items() if k != "[direction]"})
        for side in (ours, theirs)
    ]
    if bare[0] != bare[1]:
        return None
    return DirectionError(mismatch("compare", left, right, None).message)


def _verb(op: Any) -> str:
    return "subtract" if op in (operator.sub, operator.isub) else "add"
