"""Positions of picked values along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.sweeps.axes import Coordinate, as_si


def positions(coordinate: Coordinate, value: Any, nearest: bool) -> Any:
    """Where a value, a list of values or what lies between two is found.

    Parameters
    ----------
    coordinate : Coordinate
        Values along one axis.
    value : object
        A value, a list, or a slice with both ends included.
    nearest : bool
        Whether the nearest value does where the exact one is not there.

    Returns
    -------
    int, list of int or slice
        As numpy takes it.

    Raises
    ------
    ArgumentError
        If a value is not on the axis.
    RangeError
        If nothing is asked for.
    """
    if isinstance(value, slice):
        for end in (value.start, value.stop):
            if end is not None:
                _number(coordinate, end)
        return coordinate.between(value)
    if not isinstance(value, (list, tuple, np.ndarray, range)):
        return _position(coordinate, value, nearest)
    if not len(value):
        raise RangeError(f"sel: {coordinate.name} is empty; give at least one value")
    return [_position(coordinate, each, nearest) for each in value]


def _position(coordinate: Coordinate, value: Any, nearest: bool) -> int:
    number = _number(coordinate, value)
    if not math.isinf(number):
        return coordinate.place(value, nearest)
    equal = np.flatnonzero(coordinate.values == number)
    if not equal.size:
        raise ArgumentError(
            f"sel: {coordinate.name}={value} is not on the axis: {coordinate.summary()}"
        )
    return int(equal[0])


def _number(coordinate: Coordinate, value: Any) -> float:
    """SI value; 0 for a name. What is near to no number is refused."""
    if coordinate.is_names:
        return 0.0
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"sel: {coordinate.name}={value} is a truth value, wanted a number")
    number = as_si(value, coordinate.unit, coordinate.name)
    if math.isnan(number):
        raise ArgumentError(f"sel: {coordinate.name}={value} is no number, and is on no axis")
    return number
