"""Evenly spaced values between two ends, with units."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from scalemath.core.errors import ArgumentError, RangeError, UnitsError
from scalemath.sweeps.axes import LONGEST, is_whole
from scalemath.units import Quantity, QuantityLike
from scalemath.units.digits import fifteen_digits
from scalemath.units.values import quantity_of


def geomspace(start: QuantityLike, stop: QuantityLike, num: int = 50) -> Any:
    """Values in equal ratios between two ends, both included.

    Parameters
    ----------
    start, stop : Quantity, str or float
        Ends, positive; the result is in the unit of `start`. Two integers give whole numbers,
        rounded, each once.
    num : int
        How many values.

    Returns
    -------
    Quantity or numpy.ndarray
        Axis for `sweep`.

    Examples
    --------
    >>> print(f"{geomspace('1 MB', '1 GB', 4):.0f~P}")
    [1 10 100 1000] MB
    >>> geomspace(2, 1024, 10).tolist()
    [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    """
    return _space(start, stop, num, np.geomspace, "geomspace", positive=True)


def linspace(start: QuantityLike, stop: QuantityLike, num: int = 50) -> Any:
    """Values at equal distances between two ends, both included.

    Parameters
    ----------
    start, stop : Quantity, str or float
        Ends; the result is in the unit of `start`. Two integers give whole numbers, rounded,
        each once.
    num : int
        How many values.

    Returns
    -------
    Quantity or numpy.ndarray
        Axis for `sweep`.

    Examples
    --------
    >>> print(f"{linspace('1 us', '5 us', 3):.0f~P}")
    [1 3 5] µs
    """
    return _space(start, stop, num, np.linspace, "linspace", positive=False)


def _space(start: Any, stop: Any, num: int, space: Any, name: str, positive: bool) -> Any:
    if not is_whole(num, 1):
        raise ArgumentError(f"{name}: num is {num!r}, wanted a whole number of at least 1")
    if num > LONGEST:
        raise RangeError(f"{name}: num is {num}; an axis may have {LONGEST} values at the most")
    plain = [isinstance(end, numbers.Real) and not isinstance(end, bool) for end in (start, stop)]
    if all(plain):
        _check_ends(name, float(start), float(stop), positive)
        values = space(float(start), float(stop), int(num))
        if isinstance(start, numbers.Integral) and isinstance(stop, numbers.Integral):
            return np.unique(np.rint(values).astype(np.int64))[:: 1 if start <= stop else -1]
        return values
    if any(plain):
        raise UnitsError(f"{name}: {start!r} and {stop!r} do not have the same dimension")
    first, last = quantity_of(start), quantity_of(stop)
    if first.dimensionality != last.dimensionality:
        raise UnitsError(
            f"{name}: {first} {first.dimensionality} and {last} {last.dimensionality} do not have "
            "the same dimension"
        )
    low, high = float(first.magnitude), float(last.m_as(first.units))
    _check_ends(name, low, high, positive)
    return Quantity(fifteen_digits(space(low, high, int(num))), first.units)


def _check_ends(name: str, low: float, high: float, positive: bool) -> None:
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ArgumentError(f"{name}: the ends {low} and {high} must be finite")
    if positive and not (low > 0 and high > 0):
        raise ArgumentError(f"{name}: the ends {low} and {high} must be positive")
