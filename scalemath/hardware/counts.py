"""Products of counts that must equal a printed total, and figures without rounding dust."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from scalemath.core.errors import ContradictionError
from scalemath.units import Q_, quantity, to_si


def counts_close(stated: int, **factors: int) -> int:
    """Return a product of counts after comparing it with the stated total.

    Parameters
    ----------
    stated : int
        Total as printed.
    **factors : int
        The counts that multiply to it, by name.

    Returns
    -------
    int
        The product.

    Raises
    ------
    ContradictionError
        If the product is another number.

    Examples
    --------
    >>> counts_close(5184, gpus=72, links=18, pairs=4)
    5184
    """
    product = math.prod(factors.values())
    if product != stated:
        text = " x ".join(f"{value} {name}" for name, value in factors.items())
        raise ContradictionError(
            f"{text} = {product:,} != {stated:,} as stated; one of the counts is of another scope"
        )
    return product


def figure(value: float, unit: str, shown: str) -> Any:
    """Make a quantity of an SI float in the unit it is read in, rounded to 15 digits.

    Parameters
    ----------
    value : float
        SI value.
    unit : str
        Its SI unit.
    shown : str
        Unit wanted.

    Returns
    -------
    Quantity
        The same amount.
    """
    return quantity(float(f"{value / _scale(unit, shown):.15g}"), shown)


@cache
def _scale(unit: str, shown: str) -> float:
    """SI value of one of the unit that is shown."""
    return float(to_si(Q_(1, shown), unit))
