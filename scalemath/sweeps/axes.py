"""Axes: what a sweep runs over, converted by the very function that converts scalar arguments."""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from scalemath.core.errors import ArgumentError, RangeError, ScalemathError
from scalemath.core.model import Parameter
from scalemath.units import Q_, Quantity, Unit, convert, to_si
from scalemath.units.digits import fifteen_digits
from scalemath.units.values import quantity_of

Array = np.ndarray[Any, Any]


LONGEST = 10**8
"""Values of one axis; a longer one would fill the memory before any point is computed."""


def is_whole(value: Any, least: int) -> bool:
    """Whether a value is an integer of at least so much."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and bool(value >= least)


@frozen(eq=False)
class Coordinate:
    """Values of one parameter along one or more axes of a grid.

    Attributes
    ----------
    name : str
        Name of the parameter, or of the axis.
    axes : tuple of str
        Axes along which it varies.
    values : numpy.ndarray
        SI floats, or names.
    unit : str
        SI unit of the values; "1" for numbers, empty for names.
    shown : str
        Unit in which the user gave it.
    scale : float
        SI value of one shown unit.
    inner : bool
        Whether it only feeds kernels, lowered from what the user gave, and is not shown.
    """

    name: str
    axes: tuple[str, ...]
    values: Array
    unit: str = "1"
    shown: str = ""
    scale: float = 1.0
    inner: bool = False

    @property
    def is_names(self) -> bool:
        """Whether the values are names rather than numbers."""
        return self.values.dtype.kind in "OUT"

    @property
    def magnitudes(self) -> Array:
        """Values in the unit in which they were given; whole numbers as integers."""
        if self.is_names:
            return self.values
        if self.unit == "1" or self.scale == 1.0:
            whole = np.all(self.values == np.floor(self.values))
            small = np.all(np.abs(self.values) < 2**53)
            return self.values.astype(np.int64) if whole and small else self.values
        return fifteen_digits(self.values / self.scale)

    @property
    def quantity(self) -> Any:
        """Values as a Quantity; names and plain numbers as they are."""
        if self.is_names or not self.shown:
            return self.magnitudes
        return Q_(self.magnitudes, self.shown)

    def take(self, index: Any) -> Coordinate:
        """Return the part picked by a numpy index."""
        values = np.asarray(self.values[index], dtype=self.values.dtype)
        return evolve(self, values=values)

    def place(self, value: Any, nearest: bool = False) -> int:
        """Position of a value along the axis.

        Raises
        ------
        ArgumentError
            If the value is not on the axis.
        """
        if self.is_names:
            name = str(value) if isinstance(value, (bool, np.bool_)) else value
            found = np.flatnonzero(self.values == name)
            if found.size:
                return int(found[0])
            raise ArgumentError(f"{self.name}={value!r} is not on the axis: {self.summary()}")
        wanted = as_si(value, self.unit, self.name)
        distance = np.abs(self.values - wanted)
        best = int(np.argmin(distance))
        if not nearest and distance[best] > 1e-12 * abs(wanted):
            raise ArgumentError(
                f"{self.name}={value} is not on the axis: {self.summary()}; the nearest value is "
                f"{self.label(best)}, take it with nearest=True"
            )
        return best

    def between(self, ends: slice) -> Any:
        """Positions of values between two ends, both included."""
        if ends.step is not None:
            raise ArgumentError("sel: a slice takes two ends, no step")
        if self.is_names:
            first = 0 if ends.start is None else self.place(ends.start)
            last = self.values.size - 1 if ends.stop is None else self.place(ends.stop)
            return slice(first, last + 1)
        low = -math.inf if ends.start is None else as_si(ends.start, self.unit, self.name)
        high = math.inf if ends.stop is None else as_si(ends.stop, self.unit, self.name)
        slack = 1e-12
        inside = (self.values >= low - slack * abs(low)) if math.isfinite(low) else True
        below = (self.values <= high + slack * abs(high)) if math.isfinite(high) else True
        found = np.flatnonzero(np.broadcast_to(np.logical_and(inside, below), self.values.shape))
        if not found.size:
            raise ArgumentError(f"sel: no value of {self.name} lies between the two ends")
        return found.tolist()

    def label(self, index: Any) -> str:
        """One value as text."""
        value = self.magnitudes[index]
        text = f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
        return f"{text} {self.shown}".strip()

    def summary(self) -> str:
        """Ends and length, or the names."""
        n = self.values.size
        if self.values.ndim > 1:
            return f"{self.values.shape} values"
        if n <= 4 or (self.is_names and n <= 12):
            shown = ", ".join(
                str(m) if not isinstance(m, float) else f"{m:.6g}" for m in self.magnitudes.tolist()
            )
            return f"{shown} {self.shown}".strip()
        return f"{self.label(0)} ... {self.label(n - 1)} ({n} values)"


def visible(coordinates: Mapping[str, Coordinate]) -> dict[str, Coordinate]:
    """Coordinates that are shown to users."""
    return {name: c for name, c in coordinates.items() if not c.inner}


@frozen(eq=False)
class Axis:
    """One dimension of a sweep: one parameter, or several that move together.

    Attributes
    ----------
    name : str
        Name of the dimension.
    length : int
        Number of values.
    coordinates : tuple of Coordinate
        What varies along it.
    """

    name: str
    length: int
    coordinates: tuple[Coordinate, ...]


@frozen(eq=False)
class Zipped:
    """Parameters that move together along one axis; made by `zipped`."""

    members: Mapping[str, Any]
    labels: Sequence[str] | None = None


@frozen(eq=False)
class Dependent:
    """A parameter computed from others at every point; made by `dependent`."""

    formula: str
    own: Mapping[str, Any] = field(factory=dict)


def zipped(labels: Sequence[str] | None = None, /, **members: Any) -> Zipped:
    """Let several parameters move together along one axis.

    Parameters
    ----------
    labels : sequence of str, optional
        Name of each place along the axis, such as the systems compared.
    **members
        Values of each parameter, all of one length; a dotted name goes in as ``**{"a.b": ...}``.

    Returns
    -------
    Zipped
        To be given to `sweep` under the name that the axis shall bear.

    Examples
    --------
    >>> system = zipped(["NVLink", "NIC"], bandwidth=["900 GB/s/dir", "100 GB/s/dir"],
    ...                 latency=["1 us", "5 us"])
    >>> sorted(system.members)
    ['bandwidth', 'latency']
    """
    if not members:
        raise ArgumentError("zipped() needs parameters, as in zipped(ranks=[8, 16], latency=[...])")
    return Zipped(members, labels)


def dependent(formula: str, **own: Any) -> Dependent:
    """Compute a parameter from others at every point.

    Parameters
    ----------
    formula : str
        Expression over parameters and the names in `own`, such as ``"ranks / tensor"``.
    **own
        Plain numbers over which the expression is run in addition; each becomes an axis.

    Returns
    -------
    Dependent
        To be given to `sweep` in place of values. A value out of the parameter's
        range, or a count that does not come out whole, makes the point invalid (nan).

    Examples
    --------
    >>> dependent("share * ranks", share=[0.25, 0.5]).formula
    'share * ranks'
    """
    return Dependent(formula, own)


def make_coordinate(
    parameter: Parameter, given: Any, axis: str, together: bool = False
) -> Coordinate:
    """Convert what the user gave for one parameter into a coordinate along an axis.

    Parameters
    ----------
    parameter : Parameter
        What the model wants.
    given : object
        Quantity with an array, list of texts or quantities, integers, or names.
    axis : str
        Axis along which it lies.
    together : bool
        Whether it moves together with others, so that names may come again.

    Returns
    -------
    Coordinate
        SI values, and the unit to show them in.
    """
    values = _as_list(given)
    shape = _shape(values)
    if len(shape) != 1:
        raise ArgumentError(
            f"axis {parameter.name} has {len(shape)} dimensions; an axis is a flat list of values"
        )
    if shape[0] == 0:
        raise ArgumentError(f"axis {parameter.name} is empty; give at least one value")
    try:
        converted = convert(parameter, values)
    except ScalemathError as error:
        raise type(error)(f"axis {parameter.name} {error}") from None
    if parameter.kind == "choice":
        names = list(converted)
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice and not together:
            raise ArgumentError(f"axis {parameter.name} names {', '.join(twice)} twice")
        return Coordinate(parameter.name, (axis,), np.array(names, dtype=object), "")
    shown, scale = shown_unit(parameter, values)
    return Coordinate(parameter.name, (axis,), converted, parameter.unit, shown, scale)


def shown_unit(parameter: Parameter, given: Any) -> tuple[str, float]:
    """Unit in which a user gave values, as text, and its SI value."""
    if parameter.kind in ("count", "number", "choice"):
        return "", 1.0
    first = given if isinstance(given, Quantity) else quantity_of(next(iter(given)))
    return _spelled(first.units, "byte/s/dir" if parameter.kind == "rate" else parameter.unit)


@functools.lru_cache(maxsize=1024)
def _spelled(unit: Unit, target: str) -> tuple[str, float]:
    """Text of a unit and its value in a target unit."""
    return f"{unit:~P}", float(to_si(Quantity(1.0, unit), target))


def as_si(value: Any, unit: str, name: str) -> float:
    """Convert a value that a user compares with SI floats of a unit.

    Parameters
    ----------
    value : Quantity, str or float
        What the user wrote; a plain number only where the unit is "1".
    unit : str
        SI unit, "byte/s" taken with or without a direction.
    name : str
        For messages.

    Returns
    -------
    float
        SI value.
    """
    target = "byte/s/dir" if unit == "byte/s" else unit
    return float(to_si(value, target, name))


def _as_list(given: Any) -> Any:
    """Turn iterables and single values into what the boundary converts as an array."""
    if isinstance(given, (str, bytes, numbers.Number)) or given is None:
        return [given]
    if isinstance(given, Quantity) and np.ndim(given.magnitude) == 0:
        return [given]
    if isinstance(given, range) and len(given) > LONGEST:
        raise RangeError(f"holds {len(given)} values; an axis may have {LONGEST} at the most")
    if isinstance(given, (range, set, frozenset)):
        return sorted(given) if not isinstance(given, range) else list(given)
    if hasattr(given, "_magnitude") or isinstance(given, (np.ndarray, list, tuple)):
        return given
    if hasattr(given, "__array__"):  # a Series, an Index, a DataArray
        return np.asarray(given)
    try:
        return list(given)
    except TypeError:
        return [given]


def _shape(values: Any) -> tuple[int, ...]:
    """Shape of what was given; quantities and texts in a list count as one each."""
    if hasattr(values, "_magnitude"):
        shape: tuple[int, ...] = np.shape(values.magnitude)
        return shape
    if isinstance(values, np.ndarray):
        flat: tuple[int, ...] = values.shape
        return flat
    nested = (list, tuple, np.ndarray)
    inner = {_shape(v) if isinstance(v, nested) or _holds_array(v) else () for v in values}
    return (len(values), *(inner.pop() if len(inner) == 1 else ()))


def _holds_array(value: Any) -> bool:
    return np.ndim(getattr(value, "_magnitude", 0.0)) > 0


def is_axis(given: Any) -> bool:
    """Whether a value is a list of values rather than a single one."""
    if isinstance(given, (str, bytes, Mapping)):
        return False
    if hasattr(given, "_magnitude"):
        return np.ndim(given.magnitude) > 0
    if isinstance(given, np.ndarray) or hasattr(given, "__array__"):
        return np.ndim(given) > 0
    return isinstance(given, (list, tuple, range, set, frozenset))
