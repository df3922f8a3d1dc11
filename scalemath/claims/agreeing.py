"""Whether a computed answer is what was printed: figures, bounds, ranges, and words for them."""

from __future__ import annotations

import math
import re
from typing import Any

from scalemath.claims.arithmetic import worked
from scalemath.claims.rounding import rounds_to
from scalemath.claims.verdicts import HEDGED, NEAR
from scalemath.core.errors import UnitsError
from scalemath.units import Q_, Quantity

WORDS: dict[str, tuple[float, float]] = {
    "a handful": (2, 10),
    "about constant": (1 / 1.2, 1.2),
    "the same": (1 / 1.05, 1.05),
    "noise": (0, 0.01),
    "dominant": (0.5, 1),
    "without end": (1e18, math.inf),
    "hundreds": (100, 999),
    "tens of thousands": (1e4, 99_999),
    "hundreds of thousands": (1e5, 999_999),
    "tens to hundreds of thousands": (1e4, 999_999),
}
"""What words of size mean here: lowest and highest number they cover."""

_BOUND = re.compile(r"^(<=|>=|<|>)\s*(.+)$")
_RANGE = re.compile(r"^([-\d.eE+]+)\s*\.\.\s*(.+)$")
_ONE_FIGURE = re.compile(r"^[-\d.,]+(e[-+]?\d+)?[^\d*(]*$")
_HEDGE = re.compile(r"^(about|ca\.|~)\s*")


def agreement(found: Any, printed: str) -> tuple[str, str]:
    """Compare an answer with what was printed.

    Parameters
    ----------
    found : Quantity, float, bool or str
        The answer of the library.
    printed : str
        A figure such as "4.71 ms", "2.81x", "~35 %" or "71/72"; a bound such as "<1 us"; a range
        such as "15..20 pJ/bit"; a word of `WORDS`; or "yes" and "no".

    Returns
    -------
    tuple of str
        "ok", "rounding" or "no", and the answer in the unit of the print.
    """
    if isinstance(found, bool):
        found = "yes" if found else "no"
    if isinstance(found, str):
        return ("ok" if found.lower() == printed.lower() else "no"), found
    answer = found if isinstance(found, Quantity) else Q_(float(found))
    if printed in WORDS:
        low, high = WORDS[printed]
        number = _plain(answer)
        return ("ok" if low <= number <= high else "no"), f"{number:.6g}"
    bound, span = _BOUND.match(printed), _RANGE.match(printed)
    if bound:
        limit = figure(bound[2])
        number, shown = _in_unit_of(answer, limit)
        holds = {"<": number < 1, "<=": number <= 1, ">": number > 1, ">=": number >= 1}
        return ("ok" if holds[bound[1]] else "no"), shown
    if span:
        high_end = figure(span[2])
        low_end = Q_(float(span[1]), high_end.units)
        above, shown = _in_unit_of(answer, low_end)
        below, _ = _in_unit_of(answer, high_end)
        inside = above >= 1 - NEAR and below <= 1 + NEAR
        return ("ok" if inside else "no"), shown
    hedged = _HEDGE.match(printed)
    text = _HEDGE.sub("", printed)
    wanted = figure(text)
    number, shown = _in_unit_of(answer, wanted)
    if not math.isfinite(number):
        return "no", shown
    if abs(number - 1) <= (HEDGED if hedged else NEAR):
        return "ok", shown
    exact: Any = answer.m_as(wanted.units) if number else 0.0
    plain = _ONE_FIGURE.match(text) is not None
    return ("rounding" if plain and rounds_to(float(exact), text) else "no"), shown


def figure(text: str) -> Quantity:
    """Return a printed figure as a quantity; "2.81x" and "71/72" are plain numbers.

    Parameters
    ----------
    text : str
        Figure as printed, without hedging.

    Returns
    -------
    Quantity
        The figure.
    """
    bare = re.sub(r"(?<=\d)\s*x$", "", text.strip())
    return Q_(float(bare)) if re.fullmatch(r"[-\d.]+(e[-+]?\d+)?", bare) else worked(bare)


def _plain(answer: Quantity) -> float:
    number: Any = answer.m_as("")
    return float(number)


def _in_unit_of(answer: Quantity, wanted: Quantity) -> tuple[float, str]:
    """Return the answer over the printed figure, and the answer as text in its unit."""
    try:
        number: Any = answer.m_as(wanted.units)
    except UnitsError as error:
        return math.nan, str(error)
    shown = f"{Q_(number, wanted.units):.6g~P}"
    size: Any = wanted.magnitude
    return float(number) / float(size), shown
