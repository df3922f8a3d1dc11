"""Showing an SI float with a unit a person would choose."""

from __future__ import annotations

import math

_STEPS = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"), (1e-15, "f"))
_SHORT = {
    "byte": "B",
    "byte/s": "B/s",
    "byte/s/dir": "B/s/dir",
    "bit": "bit",
    "bit/s": "bit/s",
    "flop": "FLOP",
    "flop/s": "FLOP/s",
    "s": "s",
    "W": "W",
    "J": "J",
    "J/bit": "J/bit",
    "Hz": "Hz",
    "m": "m",
}


def display(value: float, unit: str, digits: int = 6) -> str:
    """Write an SI value with a prefix and six significant digits.

    Parameters
    ----------
    value : float
        Value in `unit`.
    unit : str
        SI unit as kernels use it, "1" for a plain number.
    digits : int
        Significant digits.

    Returns
    -------
    str
        For example "4.70591 ms" or "900 GB/s".
    """
    if unit in ("1", ""):
        return number(value, digits)
    short = _SHORT.get(unit)
    if short is None or value == 0 or not math.isfinite(value):
        return f"{number(value, digits)} {short or unit}"
    if unit == "s" and abs(value) >= 600:
        for length, name in ((86400.0, "day"), (3600.0, "h"), (60.0, "min")):
            if abs(value) >= 2 * length:
                return f"{number(value / length, digits)} {name}"
    below_one = unit in ("s", "W", "J", "J/bit", "m")
    size = abs(value)
    steps = _SMALL if below_one and size < 1 else _STEPS
    scale, prefix = next(
        (step for step in steps if float(f"{size / step[0]:.{digits}g}") >= 1), steps[-1]
    )
    if unit == "s" and scale > 1:
        scale, prefix = 1.0, ""
    return f"{number(value / scale, digits)} {prefix}{short}"


def number(value: float, digits: int = 6) -> str:
    """Write a number with significant digits; whole numbers in full."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{digits}g}"
