"""One way to read a claim: a call of the library on the inputs that the claim states."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from attrs import field, frozen

from scalemath.claims.agreeing import agreement
from scalemath.claims.arithmetic import worked
from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.value_range import Range
from scalemath.units import Q_, Quantity, to_si


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
    printed : tuple of str
        The printed figure as it reads under this convention, where that differs.
    source : str
        Where an argument is from that the claim itself does not state.
    """

    name: str = ""
    call: str
    take: str = ""
    given: Mapping[str, Any] = field(factory=dict)
    contradicts: str = ""
    printed: tuple[str, ...] = ()
    source: str = ""

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
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        else:
            found = found[int(part)] if part.isdigit() else getattr(found, part)
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

    Raises
    ------
    ArgumentError
        If the call itself is wrong: an unknown function, a missing or unknown argument.
    """
    figures = reading.printed or printed
    try:
        found = reading.answer()
        ends = list(found) if isinstance(found, (Range, list, tuple)) else [found]
        if len(ends) != len(figures):
            ends = ends * len(figures) if len(ends) == 1 else ends
            figures = figures * len(ends) if len(figures) == 1 else figures
        pairs = [agreement(end, text) for end, text in zip(ends, figures, strict=True)]
    except ArgumentError:
        raise
    except ScalemathError as error:
        return Outcome(reading=reading, agrees="refused", computed=str(error))
    marks = [mark for mark, _ in pairs]
    worst = next((m for m in ("no", "rounding") if m in marks), "ok")
    computed = " to ".join(dict.fromkeys(text for _, text in pairs))
    return Outcome(reading=reading, agrees=worst, computed=computed)


def quotient(left: Any, right: Any) -> float:
    """Return left over right for plain numbers and for like quantities, per direction.

    Parameters
    ----------
    left, right : Quantity, str, float or int
        What to divide; a rate of both directions counts per direction.

    Returns
    -------
    float
        The ratio.

    Examples
    --------
    >>> quotient(142, 14), quotient("1.8 TB/s/bidir", "100 GB/s/dir")
    (10.142857142857142, 9.0)
    """
    sides = [Q_(float(s)) if isinstance(s, numbers.Real) else worked(s) for s in (left, right)]
    return float(to_si(sides[0] / sides[1], "1"))
