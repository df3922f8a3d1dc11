"""Whether two ways to the same number agree, and if not, what usually went wrong."""

from __future__ import annotations

from scalemath.core.errors import ContradictionError
from scalemath.units import Quantity

TOLERANCE = 0.005
"""Relative difference up to which printed figures still close: they are rounded."""


def likely_cause(ratio: float, factors: dict[str, float] | None = None) -> str:
    """Say which common slip explains a ratio between two figures that should be equal.

    Parameters
    ----------
    ratio : float
        The larger claim over the smaller one, or the reverse.
    factors : dict of str to float, optional
        Further slips that this object makes possible, sentence to factor.

    Returns
    -------
    str
        A sentence, or an empty text when nothing common fits.
    """
    known = {
        **(factors or {}),
        "one of them adds up both directions": 2.0,
        "bits were taken for bytes": 8.0,
        "bits were taken for bytes, and both directions added up": 16.0,
    }
    for sentence, factor in known.items():
        for candidate in (ratio, 1 / ratio):
            if factor != 1 and abs(candidate / factor - 1) < TOLERANCE:
                return sentence
    return ""


def must_close(
    what: str,
    computed: Quantity,
    how: str,
    stated: Quantity,
    factors: dict[str, float] | None = None,
) -> None:
    """Raise unless a computed figure equals the stated one within rounding.

    Parameters
    ----------
    what : str
        What is being stated twice.
    computed : Quantity
        The figure that follows from the other inputs.
    how : str
        The arithmetic behind it, in words.
    stated : Quantity
        The figure that was given.
    factors : dict of str to float, optional
        Slips this object makes possible.

    Raises
    ------
    ContradictionError
        Showing both numbers and the likely cause.
    """
    ratio = float((computed / stated).to_base_units().magnitude)
    if abs(ratio - 1) <= TOLERANCE:
        return
    shown = computed.to(stated.units)
    cause = likely_cause(ratio, factors)
    hint = f"; likely cause: {cause}" if cause else ""
    raise ContradictionError(
        f"{what} does not close: {how} = {shown:.6g~P}, but {stated:.6g~P} is stated{hint}"
    )
