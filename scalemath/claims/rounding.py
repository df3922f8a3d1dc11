"""Whether a printed figure is a rounded form of the exact one, and nothing worse."""

from __future__ import annotations

import math
import re

_FIGURE = re.compile(r"[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")
MOST_DIGITS = 15


def significant_digits(printed: str) -> tuple[int, int]:
    """Return the fewest and the most significant digits a printed number may have.

    Parameters
    ----------
    printed : str
        A number as text; zeros at the end of a whole number may or may not count, from the
        third digit on.

    Returns
    -------
    tuple of int
        For "130" 2 and 3, for "1.40" 3 and 3.
    """
    found = _FIGURE.search(printed)
    if found is None:
        return 1, MOST_DIGITS
    mantissa = re.split(r"[eE]", found[0].replace(",", "."))[0]
    digits = mantissa.replace(".", "").lstrip("0")
    most = max(len(digits), 1)
    fewest = most if "." in mantissa else max(len(digits.rstrip("0")), min(2, most))
    return fewest, most


def prints_as(value: float, digits: int) -> float:
    """Return a number rounded to significant digits.

    Parameters
    ----------
    value : float
        Number to round.
    digits : int
        Significant digits, at least one.

    Returns
    -------
    float
        The rounded number; halves are rounded away from zero, as people do.

    Examples
    --------
    >>> prints_as(129.6, 3), prints_as(17.28, 2), prints_as(0.86875, 2)
    (130.0, 17.0, 0.87)
    """
    if value == 0 or not math.isfinite(value):
        return value
    place = digits - 1 - math.floor(math.log10(abs(value)))
    shifted = abs(value) * 10.0**place
    return math.copysign(math.floor(shifted * (1 + 1e-12) + 0.5) / 10.0**place, value)


def rounds_to(value: float, printed: float | str) -> bool:
    """Say whether a printed figure is the value rounded to the digits it shows.

    Parameters
    ----------
    value : float
        Exact number, in the unit of the printed one.
    printed : float or str
        Figure as printed; text keeps its trailing zeros.

    Returns
    -------
    bool
        True for 129.6 and "130"; False for 900 and "450".

    Examples
    --------
    >>> rounds_to(129.6, "130"), rounds_to(17.28, "17"), rounds_to(900, "450")
    (True, True, False)
    """
    text = printed if isinstance(printed, str) else f"{printed:.15g}"
    found = _FIGURE.search(text)
    if found is None:
        return False
    number = float(found[0].replace(",", "."))
    fewest, most = significant_digits(text)
    return any(
        math.isclose(prints_as(abs(value), digits), number, rel_tol=1e-9)
        for digits in range(fewest, most + 1)
    )
