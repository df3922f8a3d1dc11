"""Two printed figures and the ratio drawn from them: whether they compare, whether it holds."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

from scalemath.claims.claim import Claim
from scalemath.claims.rounding import rounds_to
from scalemath.claims.verdicts import NEAR
from scalemath.core.errors import ArgumentError, RangeError, UnitsError
from scalemath.core.result import Result, measured
from scalemath.hardware.comparison import compare, naive_digits
from scalemath.hardware.fields import checked_call, frozen
from scalemath.units import Quantity, to_si

_MUST_AGREE = ("scope", "precision", "sparsity", "rate_kind", "fec")


@frozen(kw_only=True, eq=False)
class ClaimCheck(Result):
    """What came of a check.

    Attributes
    ----------
    left, right : Claim
        The two sides.
    comparable : bool
        Whether the two figures are of one kind once their conventions are put right.
    verdict : str
        "ok", "rounding", "convention-dependent", "inconsistent", "wrong" or "unverifiable".
    claimed : str
        The ratio that was claimed, as text; empty when none was.
    like : float
        Left over right, like for like; nan where nothing can be put right.
    naive : float
        Left over right by the digits alone.
    undirected : float
        The same with bits and bytes put right, directions ignored.
    reasons : tuple of str
        Why the digits do not compare as printed.
    sentence : str
        The answer for people.
    """

    left: Claim
    right: Claim
    comparable: bool
    verdict: str
    claimed: str
    like: float
    naive: float
    undirected: float
    reasons: tuple[str, ...]
    sentence: str

    @measured("1")
    def ratio(self) -> float:
        """Left over right, like for like."""
        return self.like

    @measured("1")
    def naive_ratio(self) -> float:
        """Left over right by the digits alone."""
        return self.naive

    @measured("1")
    def undirected_ratio(self) -> float:
        """Left over right with bits and bytes put right, directions ignored."""
        return self.undirected

    def headline(self) -> str:
        """Verdict and sentence."""
        return f"{self.verdict}: {self.sentence}"

    def remarks(self) -> list[str]:
        """Every reason on its own line."""
        return list(self.reasons)


def check_claim(left: Any, right: Any, ratio: float | str | None = None) -> ClaimCheck:
    """Check whether two printed figures compare, and whether a ratio drawn from them holds.

    Parameters
    ----------
    left, right : Claim, str, Quantity, Datum, Link or Port
        The two sides; a `Claim` says what the print leaves out.
    ratio : float or str, optional
        Left over right as claimed, such as 18 or "18x".

    Returns
    -------
    ClaimCheck
        Verdict, like-for-like ratio, what the digits gave, reasons, and a sentence.

    Examples
    --------
    >>> slide = check_claim("7.2 TB/s/bidir", "0.4 TB/s/dir", ratio=18)
    >>> print(slide)
    wrong: 7.2 TB/s/bidir is 9 x 0.4 TB/s/dir, not 18: both directions on one side only
    """
    ours, theirs = Claim.of(_text(left)), Claim.of(_text(right))
    claimed = "" if ratio is None else _claimed(ratio)
    reasons, hard = _differences(ours, theirs)
    if not _size(theirs.digits) or (theirs.exact is not None and not _size(theirs.exact)):
        raise RangeError(f"{theirs.label} is zero; nothing is a multiple of it")
    naive = _quotient(ours.digits, theirs.digits, digits=True)
    try:
        like = _like(ours, theirs)
        undirected = like * _directions(ours) / _directions(theirs)
    except UnitsError as error:
        reasons.append(str(error))
        like, undirected, hard = float("nan"), float("nan"), True
    verdict, sentence = _judge(ours, theirs, claimed, like, naive, undirected, reasons, hard)
    return ClaimCheck(
        left=ours,
        right=theirs,
        comparable=not hard,
        verdict=verdict,
        claimed=claimed,
        like=like,
        naive=naive,
        undirected=undirected,
        reasons=tuple(reasons),
        sentence=sentence,
        assumptions=_assumed(ours, theirs),
        cautions=_cautions(ours, theirs),
    )


def _claimed(ratio: Any) -> str:
    """Return a claimed ratio as the text of one number above zero."""
    wanted = f"ratio is {repr(ratio)[:80]}; wanted one number above zero, as in 18 or '18x'"
    if isinstance(ratio, bool) or not isinstance(ratio, (str, numbers.Real)):
        raise ArgumentError(wanted)
    text = ratio.strip() if isinstance(ratio, str) else f"{float(ratio):.15g}"
    text = text.removesuffix("x").strip()
    try:
        number = float(text)
    except ValueError:
        raise ArgumentError(wanted) from None
    if not 0 < number < math.inf:
        raise RangeError(wanted)
    return text


def _size(figure: Quantity) -> float:
    magnitude: Any = figure.magnitude
    return float(magnitude)


def _like(ours: Claim, theirs: Claim) -> float:
    """Return the ratio of the normalised figures; of unlike rates served, per bit."""
    left, right = ours.like_for_like(), theirs.like_for_like()
    if ours.carries is not None and theirs.carries is not None:
        left, right = left / ours.carries, right / theirs.carries
    return _quotient(left, right)


def _quotient(left: Quantity, right: Quantity, *, digits: bool = False) -> float:
    if digits:
        return naive_digits(left) / naive_digits(right)
    try:
        return float(compare(left, right).ratio)
    except UnitsError:
        if {"[direction]" in str(q.dimensionality) for q in (left, right)} == {True, False}:
            return float(to_si(left, "byte/s/dir")) / float(to_si(right, "byte/s/dir"))
        raise


def _directions(claim: Claim) -> float:
    return 2.0 if claim.directions == "both" else 1.0


def _differences(ours: Claim, theirs: Claim) -> tuple[list[str], bool]:
    """Return why the prints differ in convention, and whether no factor can mend it."""
    reasons: list[str] = []
    hard = False
    powers = [str(side.digits.units) for side in (ours, theirs)]
    if ("bit" in powers[0]) != ("bit" in powers[1]) and "B" in "".join(powers):
        reasons.append("bits on one side, bytes on the other")
    if {ours.directions, theirs.directions} == {"one", "both"}:
        reasons.append("both directions on one side only")
    if {ours.latency_kind, theirs.latency_kind} == {"one-way", "round-trip"}:
        reasons.append("a one-way time against a round trip")
    mended = ours.carries is not None and theirs.carries is not None
    if mended and ours.carries != theirs.carries:
        reasons.append(f"figures for {ours.carries:~P} and for {theirs.carries:~P}")
    for name in _MUST_AGREE:
        one, two = getattr(ours, name), getattr(theirs, name)
        if (
            one
            and two
            and one != two
            and not (name == "scope" and (mended or _counted(ours, theirs)))
        ):
            what = "FEC side" if name == "fec" else name.replace("_", " ")
            reasons.append(f"{what} is {one} on one side, {two} on the other")
            hard = True
    shares = (ours.derating, theirs.derating)
    if (shares[0] is None) != (shares[1] is None):
        share = next(s for s in shares if s is not None)
        reasons.append(f"one side is derated to {100 * share:.3g} %, the other is the data sheet's")
    return reasons, hard


def _counted(ours: Claim, theirs: Claim) -> bool:
    """Whether scopes differ only by a count that is stated."""
    return ours.count != 1 or theirs.count != 1


def _derated_ratio(ours: Claim, theirs: Claim, like: float) -> float:
    return like * (ours.derating or 1.0) / (theirs.derating or 1.0)


def _matches(value: float, claimed: str) -> bool:
    return bool(claimed) and (abs(value / float(claimed) - 1) <= NEAR or rounds_to(value, claimed))


def _judge(
    ours: Claim,
    theirs: Claim,
    claimed: str,
    like: float,
    naive: float,
    undirected: float,
    reasons: list[str],
    hard: bool,
) -> tuple[str, str]:
    """Return verdict and sentence."""
    why = "; ".join(reasons)
    if ours.digits.unitless and theirs.digits.unitless:
        silent = next((side.label for side in (ours, theirs) if not side.fec), "")
        if not (ours.fec or theirs.fec):
            return "unverifiable", _bare(ours, theirs, naive)
        if silent:
            return "unverifiable", f"{silent} does not say whether it is before or after FEC"
    if hard:
        text = f"{ours.label} and {theirs.label} are not of one kind: {why}"
        return ("inconsistent" if claimed else "convention-dependent"), text
    fact = f"{ours.label} is {like:.6g} x {theirs.label}"
    if not claimed:
        if why:
            return "convention-dependent", f"{fact}; the digits say {naive:.6g}: {why}"
        return "ok", fact
    if _matches(like, claimed):
        near = abs(like / float(claimed) - 1) <= NEAR
        return ("ok" if near else "rounding"), fact + ("" if near else f", printed {claimed}")
    one_sided = (ours.derating is None) != (theirs.derating is None)
    if one_sided and _matches(_derated_ratio(ours, theirs, like), claimed):
        return "inconsistent", f"{fact}; {claimed} comes of derating one side only"
    if _matches(naive, claimed) or _matches(undirected, claimed):
        return "wrong", f"{fact}, not {claimed}: {why or 'the digits were divided as printed'}"
    return "wrong", f"{fact}, not {claimed}" + (f": {why}" if why else "")


def _text(side: Any) -> Any:
    """Return a bare number as the text it would be printed as."""
    return f"{side:.15g}" if isinstance(side, (int, float)) else side


def _bare(ours: Claim, theirs: Claim, naive: float) -> str:
    """Say what two numbers without units could mean."""
    return (
        f"{ours.label} and {theirs.label} have no units: their digits say {naive:.6g}, but as GB/s "
        f"against Gb/s the ratio is {8 * naive:.6g}, and {naive / 2:.6g} or {2 * naive:.6g} where "
        "one of them adds up both directions; say the units"
    )


def _assumed(ours: Claim, theirs: Claim) -> tuple[str, ...]:
    bare = [s.label for s in (ours, theirs) if not s.directions and _is_rate(s)]
    return tuple(f"{label} taken per direction (not said)" for label in bare)


def _is_rate(claim: Claim) -> bool:
    return claim.digits.is_compatible_with("byte/s")


def _cautions(ours: Claim, theirs: Claim) -> tuple[str, ...]:
    return tuple(f"{s.label} is announced, not shipped" for s in (ours, theirs) if s.roadmap)


if not TYPE_CHECKING:
    check_claim = checked_call(check_claim, "check_claim")
