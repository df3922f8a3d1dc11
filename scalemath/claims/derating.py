"""From the data sheet to what is left: shares with their sources, hop by hop."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs
from attrs import field

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.result import Result, measured
from scalemath.core.value_range import Range
from scalemath.hardware.comparison import figure as rated
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import frozen
from scalemath.hardware.link import per_direction
from scalemath.units import display, to_si

STAGES = ("encoding", "protocol", "congestion", "oversubscription")
"""The order from the wire to the fabric."""


def _share(value: Any) -> tuple[float, float]:
    """Return low and high of a share: 0.8, "4:1", or a Range of shares."""
    if isinstance(value, Range):
        return _share(value.low)[0], _share(value.high)[1]
    try:
        if isinstance(value, str) and ":" in value:
            down, up = value.split(":")
            number = float(Fraction(up) / Fraction(down))
        elif isinstance(value, str):
            number = float(Fraction(value[:40]))
        else:
            number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, ArithmeticError):
        raise ArgumentError(
            f"the share is {repr(value)[:80]}; write 0.8, '4:1' or a Range of shares"
        ) from None
    if not 0 < number <= 1:
        raise RangeError(
            f"the share is {repr(value)[:80]}; wanted above 0 and at most 1: nothing is "
            "faster than its data sheet"
        )
    return number, number


def _known_stage(_: object, this: attrs.Attribute[str], value: object) -> None:
    if value not in STAGES:
        raise RangeError(f"{this.name} is {repr(value)[:80]}; wanted one of {', '.join(STAGES)}")


def _with_source(_: object, this: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        raise RangeError(
            f"{this.name} is {repr(value)[:80]}; say where the share is from, as in 'measured'"
        )


@frozen
class Derating:
    """One reason why less than the data sheet's rate is left.

    Attributes
    ----------
    stage : str
        "encoding", "protocol", "congestion" or "oversubscription".
    share : float, str or Range
        What is left [1]; "4:1" is a quarter.
    source : str
        Where the share is from; required.
    """

    stage: str = field(validator=_known_stage)
    share: tuple[float, float] = field(converter=_share)
    source: str = field(validator=_with_source)

    def __attrs_post_init__(self) -> None:
        if self.share[0] > self.share[1]:
            raise ArgumentError(f"{self.stage}: the low end of the share lies above its high end")


@frozen(kw_only=True, eq=False)
class Derated(Result):
    """A rate after deratings of one hop.

    Attributes
    ----------
    datasheet : float
        Rate per direction before [byte/s].
    steps : tuple of Derating
        What was taken off, in the order of the stages.
    unit : str
        Unit of the answer.
    """

    datasheet: float
    steps: tuple[Derating, ...] = ()
    unit: str = "GB/s/dir"

    def _left(self, end: int) -> float:
        rate = self.datasheet
        for step in self.steps:
            rate *= step.share[end]
        return rate

    @measured("byte/s/dir")
    def low(self) -> float:
        """What is left at the low end of every range."""
        return self._left(0)

    @measured("byte/s/dir")
    def high(self) -> float:
        """What is left at the high end of every range."""
        return self._left(1)

    @property
    def bandwidth(self) -> Any:
        """Rate that is left, in the unit given [byte/s/dir]; a Range where a share is one."""
        return _ends(self.low, self.high, self.unit)

    @property
    def share(self) -> tuple[float, float]:
        """Low and high of the whole share [1]."""
        return self.si("low") / self.datasheet, self.si("high") / self.datasheet

    def headline(self) -> str:
        """Data sheet, shares and what is left."""
        before = display(self.datasheet, "byte/s/dir")
        parts = [f"{step.stage} {_shown(step.share)}" for step in self.steps]
        ends = sorted({self.si("low"), self.si("high")})
        left = " to ".join(display(end, "byte/s/dir") for end in ends)
        return " x ".join([before, *parts]) + f" = {left}"

    def remarks(self) -> list[str]:
        """Source of each share."""
        return [f"{step.stage}: {step.source}" for step in self.steps]


def _ends(low: Any, high: Any, unit: str) -> Any:
    """Return one rate, or a Range where the ends differ."""
    ends = [figure(end.m_as("byte/s/dir"), "byte/s/dir", unit) for end in (low, high)]
    return ends[0] if ends[0] == ends[1] else Range(*ends)


def _shown(share: tuple[float, float]) -> str:
    return f"{share[0]:.4g}" if share[0] == share[1] else f"{share[0]:.4g}-{share[1]:.4g}"


def _steps(given: Any) -> list[Derating]:
    """Return the steps of an iterable, or of a mapping of stage to share and source."""
    wanted = 'write {"protocol": (0.8, "where the share is from")}, or Derating objects'
    if isinstance(given, Mapping):
        pairs = list(given.items())
        if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for _, pair in pairs):
            raise ArgumentError(f"steps is {str(given)[:80]}; {wanted}")
        return [Derating(stage, share, source) for stage, (share, source) in pairs]
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise ArgumentError(f"steps is {repr(given)[:80]}; {wanted}")
    listed = list(given)
    if not all(isinstance(step, Derating) for step in listed):
        raise ArgumentError(f"steps is {str(listed)[:80]}; {wanted}")
    return listed


def derate(
    rate: Any,
    steps: Iterable[Derating] | Mapping[str, tuple[Any, str]] = (),
) -> Derated:
    """Take what encoding, protocol, congestion and oversubscription cost off a rate.

    Parameters
    ----------
    rate : Quantity [byte/s/dir], Link or Port
        Rate of the data sheet per direction; of a link or port its payload rate.
    steps : iterable of Derating, or mapping
        What to take off within one hop; a mapping names (share, source) by stage.

    Returns
    -------
    Derated
        What is left, with every share and its source; never above the data sheet.

    Examples
    --------
    >>> fabric = {"protocol": (0.8, "tuned RoCE"), "oversubscription": ("2:1", "the design")}
    >>> print(derate("100 GB/s/dir", fabric))
    100 GB/s/dir x protocol 0.8 x oversubscription 0.5 = 40 GB/s/dir
    """
    steps = _steps(steps)
    listed = sorted(steps, key=lambda step: STAGES.index(step.stage))
    stages = [step.stage for step in listed]
    if len(stages) != len(set(stages)):
        raise ArgumentError(f"{', '.join(stages)}: each stage counts once within a hop")
    sheet = rated(rate)
    directed = "[direction]" in str(sheet.dimensionality)
    return Derated(
        datasheet=float(to_si(sheet, "byte/s/dir", "rate")),
        steps=tuple(listed),
        unit=f"{per_direction(sheet).units:~P}" if directed else "GB/s/dir",
        assumptions=() if directed else ("rate taken per direction (given without a direction)",),
    )


@frozen(kw_only=True, eq=False)
class Path(Result):
    """Hops in a row; the slowest decides.

    Attributes
    ----------
    hops : tuple of Derated
        The hops.
    """

    hops: tuple[Derated, ...]

    @measured("byte/s/dir")
    def low(self) -> float:
        """Least of the low ends."""
        return min(hop.si("low") for hop in self.hops)

    @measured("byte/s/dir")
    def high(self) -> float:
        """Least of the high ends."""
        return min(hop.si("high") for hop in self.hops)

    @property
    def bandwidth(self) -> Any:
        """Rate of the path [byte/s/dir]; a Range where a share is one."""
        return _ends(self.low, self.high, self.hops[0].unit)

    def product_of_shares(self) -> float:
        """Return the product of the low shares [1]: right for losses, wrong for bandwidth."""
        product = 1.0
        for hop in self.hops:
            product *= hop.share[0]
        return product

    def headline(self) -> str:
        """Which hop decides."""
        slowest = min(range(len(self.hops)), key=lambda i: self.hops[i].si("low"))
        return f"hop {slowest + 1} of {len(self.hops)} decides: {self.hops[slowest]}"


def least_of(hops: Sequence[Derated]) -> Path:
    """Return the path over hops in a row: pipelined bandwidth is the least, not the product.

    Parameters
    ----------
    hops : sequence of Derated
        One for each hop.

    Returns
    -------
    Path
        With the bandwidth of the slowest hop.

    Examples
    --------
    >>> hop = derate("100 GB/s/dir", {"protocol": (0.9, "measured")})
    >>> print(least_of([hop, hop, hop]).bandwidth)
    90 GB/s/dir
    """
    given: Any = hops
    if not isinstance(given, Sequence) or not all(isinstance(hop, Derated) for hop in given):
        raise ArgumentError(f"hops is {str(hops)[:80]}; wanted a list of what derate() returns")
    if not hops:
        raise ArgumentError("a path needs at least one hop")
    return Path(hops=tuple(hops))
