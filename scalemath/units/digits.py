"""Rounding of whole arrays to 15 significant digits, each number as its text would be rounded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]
PIECE = 4096
"""Numbers rounded at once; what belongs to them fits the second-level cache."""

_SPLIT = 134217729.0  # 2**27 + 1 cuts a float into two halves whose products are exact
_POWERS = 10.0 ** np.arange(23)  # all exact in binary
_CUT = _POWERS * _SPLIT
_UPPER = _CUT - (_CUT - _POWERS)
_LOWER = _POWERS - _UPPER
_EXPONENTS = np.arange(2048) - 1023
_DECADE = np.floor(_EXPONENTS * math.log10(2.0)).astype(np.int64)  # of the power of two below
_NEXT = np.array([float(f"1e{min(k + 1, 308)}") for k in _DECADE.tolist()])


def fifteen_digits(values: Floats) -> Floats:
    """Round to 15 significant digits, just as ``float(f"{x:.15g}")`` does.

    Parameters
    ----------
    values : numpy.ndarray
        Floats of any shape; inf and nan stay what they are.

    Returns
    -------
    numpy.ndarray
        Array of that shape.

    Notes
    -----
    Scaled to 15 digits before the point, rounded, and divided by an exact power of ten, a number
    comes out correctly rounded; the rounding error of the scaling itself is computed and taken
    into account. Where that power is not exact, or the digit to be rounded is followed
    by exactly a half, the number goes through its text.
    """
    flat = np.ascontiguousarray(values, dtype=float).reshape(-1)
    result = np.empty_like(flat)
    with np.errstate(all="ignore"):
        for first in range(0, flat.size, PIECE):
            part = slice(first, first + PIECE)
            result[part] = _piece(flat[part])
    return result.reshape(np.shape(values))


def _piece(values: Floats) -> Floats:
    """Round a stretch of numbers."""
    sizes = np.abs(values)
    exponents = sizes.view(np.int64) >> 52
    power = 14 - _DECADE[exponents] - (sizes >= _NEXT[exponents])
    sure = (power >= 0) & (power < _POWERS.size)
    power = np.where(sure, power, 0)
    scale = _POWERS[power]
    scaled = sizes * scale
    cut = sizes * _SPLIT
    upper = cut - (cut - sizes)
    lower = sizes - upper
    upper_scale, lower_scale = _UPPER[power], _LOWER[power]
    lost = upper * upper_scale - scaled
    lost += upper * lower_scale
    lost += lower * upper_scale
    lost += lower * lower_scale
    whole = np.rint(scaled)
    beyond = (scaled - whole) + lost
    whole += beyond > 0.5
    whole -= beyond < -0.5
    sure &= (np.abs(beyond) != 0.5) & (whole < 1e15) & (whole >= 1e14)
    result: Floats = np.copysign(whole / scale, values)
    if not sure.all():
        rest = ~sure
        result[rest] = [float(f"{x:.15g}") for x in values[rest].tolist()]
    return result
