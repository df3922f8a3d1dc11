"""The only texts that are read as quantities: one number and its unit."""

from __future__ import annotations

import re

from scalemath.core.errors import UnitsError

LONGEST = 120
"""Characters beyond which a text is no quantity."""

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_UNIT = r"(?:[^\W\d_]|[%°$€])(?:[^\W\d]|[%°$€])*(?:\s*(?:\*\*|\^)\s*-?\d)?"
_UNITS = rf"(?:1\s*/\s*)?{_UNIT}(?:\s*[*/·]\s*{_UNIT}|\s+{_UNIT})*"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*({_UNITS})?\s*")
_RATIO = re.compile(rf"\s*({_NUMBER})\s*/\s*({_NUMBER})\s*")
_COMMA = re.compile(r"[+-]?\d+(?:[.,]\d+)*,\d+")


def split(text: str) -> tuple[float | int, str]:
    """Split a text into its number and the text of its unit.

    Parameters
    ----------
    text : str
        For example "1.8 TB/s/bidir", or "128/130" for a plain ratio.

    Returns
    -------
    tuple
        The number, an int where it is written as one, and the unit, empty for a plain number.

    Raises
    ------
    UnitsError
        If the text holds anything but one number and a product of units.
    """
    shown = repr(text) if len(text) <= LONGEST else f"{text[:40]!r}... ({len(text)} characters)"
    found = _QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        ratio = _RATIO.fullmatch(text) if len(text) <= LONGEST else None
        if ratio is not None and float(ratio[2]):
            return float(ratio[1]) / float(ratio[2]), ""
        if _COMMA.search(text[:LONGEST]):
            raise UnitsError(
                f"{shown} holds a comma: write a decimal point, as in '2.5 GiB', and no "
                "separators of thousands"
            )
        raise UnitsError(
            f"{shown} cannot be read as one number with a unit; write for example '400 Gb/s'"
        )
    number = found[1]
    try:
        return int(number), found[2] or ""
    except ValueError:
        return float(number), found[2] or ""
