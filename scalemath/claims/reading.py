"""One way to read a claim: a call of the library on the inputs that the claim states."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from attrs import field, frozen

from scalemath.claims.claim import _clean
from scalemath.claims.rounding import rounds_to
from scalemath.claims.verdicts import NEAR
from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.value_range import Range
from scalemath.units import Q_, Quantity, adopt

HEDGED = 0.01
"""Relative difference that "about" or "~" in front of a figure excuses."""


@frozen(kw_only=True)
class Reading:
    """What a claim comes to under one convention.

    Attributes
    ----------
    name : str
        The convention.
    call : str
        Public function or class, such as "allreduce" or "topology.FatTree".
    take : str
        Attribute of the answer that is compared; empty for the answer itself.
    given : mapping of str to object
        Arguments; a table with ``call`` is answered first, ``low`` and ``high`` make a `Range`.
    contradicts : str
        Another claim of the same text that this convention contradicts.
    """

    name: str = ""
    call: str
    take: str = ""
    given: Mapping[str, Any] = field(factory=dict)
    contradicts: str = ""

    def answer(self) -> Any:
        """Call the library and return the attribute that is compared."""
        return _answer(self.call, self.given, self.take)

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of all functions and classes this reading calls."""
        return (self.call, *_inner(self.given))


def _inner(given: Any) -> tuple[str, ...]:
    if isinstance(given, Mapping):
        own = (str(given["call"]),) if "call" in given else ()
        return own + tuple(name for value in given.values() for name in _inner(value))
    if isinstance(given, (list, tuple)):
        return tuple(name for value in given for name in _inner(value))
    return ()


def _function(name: str) -> Any:
    """Return a public name, or one of a room such as "topology.FatTree"."""
    found: Any = import_module("scalemath")
    for place, part in enumerate(name.split(".")):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = import_module(".".join(["scalemath", *name.split(".")[: place + 1]]))
            except ImportError:
                raise ArgumentError(f"the library has no {name!r}") from None
    return found


def _answer(call: str, given: Mapping[str, Any], take: str) -> Any:
    arguments = {name: _value(value) for name, value in given.items()}
    positional = arguments.pop("args", [])
    found = _function(call)(*positional, **arguments)
    for part in filter(None, take.split(".")):
        found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        if callable(found) and not isinstance(found, Quantity):
            found = found()
    return found


def _value(given: Any) -> Any:
    if isinstance(given, Mapping):
        if "call" in given:
            return _answer(given["call"], given.get("with", {}), given.get("take", ""))
        if set(given) == {"low", "high"}:
            return Range(_value(given["low"]), _value(given["high"]))
        return {name: _value(value) for name, value in given.items()}
    if isinstance(given, list):
        return [_value(value) for value in given]
    return given


@frozen(kw_only=True)
class Outcome:
    """How a printed figure stands to one reading.

    Attributes
    ----------
    reading : Reading
        The reading.
    agrees : str
        "ok", "rounding", "no", or "refused" when the library raised.
    computed : str
        The computed figure, or the message.
    """

    reading: Reading
    agrees: str
    computed: str


def outcome(reading: Reading, printed: tuple[str, ...]) -> Outcome:
    """Compare what was printed with what the library answers.

    Parameters
    ----------
    reading : Reading
        The call.
    printed : tuple of str
        One figure, or both ends of a range.

    Returns
    -------
    Outcome
        Whether they agree, and the computed figure.
    """
    try:
        found = reading.answer()
    except ScalemathError as error:
        return Outcome(reading=reading, agrees="refused", computed=str(error))
    ends = list(found) if isinstance(found, (Range, list, tuple)) else [found]
    if len(ends) == 1 and len(printed) == 2:
        ends = [found, found]
    texts, marks = [], []
    for end, figure in zip(
        ends, printed * len(ends) if len(printed) == 1 else printed, strict=False
    ):
        mark, text = _agreement(end, figure)
        marks.append(mark)
        texts.append(text)
    worst = next((m for m in ("no", "rounding") if m in marks), "ok")
    return Outcome(reading=reading, agrees=worst, computed=" to ".join(dict.fromkeys(texts)))


def _agreement(found: Any, printed: str) -> tuple[str, str]:
    if isinstance(found, (bool, str)):
        shown = (
            {True: "yes", False: "no"}.get(found, str(found)) if isinstance(found, bool) else found
        )
        return ("ok" if shown.lower() == printed.lower() else "no"), shown
    hedged = _clean(printed) != printed.strip()
    figure = re.sub(r"(?<=\d)\s*x$", "", _clean(printed))
    wanted = Q_(float(figure)) if re.fullmatch(r"[-\d.eE+]+", figure) else adopt(figure)
    number = found if isinstance(found, Quantity) else Q_(float(found))
    if number.dimensionality != wanted.dimensionality:
        return "no", f"{number:.6g~P}"
    computed: Any = number.m_as(wanted.units)
    shown = f"{Q_(computed, wanted.units):.6g~P}"
    away = abs(computed / float(wanted.magnitude) - 1) if wanted.magnitude else abs(computed)
    if away <= NEAR or (hedged and away <= HEDGED):
        return "ok", shown
    return ("rounding" if rounds_to(computed, figure) else "no"), shown
