"""Reading the fields of a fat tree that can be written in more than one way."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any

from scalemath.core.errors import ArgumentError, ConventionError, RangeError


def down_up_ratios(value: Any) -> tuple[float, float]:
    """Read an oversubscription: a number, "2:1", or one for the leaf and one for the spine."""
    parts = value if isinstance(value, (tuple, list)) else (value, 1)
    if len(parts) != 2:
        raise ArgumentError(
            f"oversubscription is {value!r}; wanted one ratio, or two for leaf and spine"
        )
    ratios = []
    for part in parts:
        if isinstance(part, str):
            down, _, up = part.partition(":")
            try:
                found = float(Fraction(down.strip()) / Fraction(up.strip() or "1"))
            except (ValueError, ZeroDivisionError):
                raise ArgumentError(
                    f"oversubscription is {part!r}; write down:up, as in '2:1'"
                ) from None
            if found < 1.0:
                raise ConventionError(
                    f"oversubscription is {part!r}, which is printed in both senses; write "
                    f"down:up, '{up.strip()}:{down.strip()}' for twice the capacity below, "
                    f"or the number {found:g} for more capacity above"
                )
        elif isinstance(part, bool) or not isinstance(part, (int, float, Fraction)):
            raise ArgumentError(f"oversubscription is {part!r}; wanted a number, as in 2 for 2:1")
        else:
            found = float(part)
        if not 0.0 < found < math.inf:
            raise RangeError(f"oversubscription is {part}; wanted above 0 and finite")
        ratios.append(found)
    return (ratios[0], ratios[1])


def tier_count(value: Any) -> int:
    """Read a number of tiers; 0 stands for the fewest that fit."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return 0
    if isinstance(value, bool) or not isinstance(value, Real) or value not in (1, 2, 3):
        raise RangeError(f"tiers is {repr(value)[:80]}; wanted 'auto', 1, 2 or 3")
    return int(float(value))
