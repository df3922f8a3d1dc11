"""Questions asked backwards: from a bandwidth to a time, where algorithms and terms cross."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.collectives.algorithms import Algorithm, algorithm_named
from scalemath.collectives.crossing import (
    balanced_ranks,
    balanced_size,
    crossing_sizes,
    rank_runs,
    seconds,
)
from scalemath.collectives.operations import operation_named
from scalemath.collectives.public import DECLARED
from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import kernel_of
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels.balance import ring_balance_ranks, ring_balance_size
from scalemath.units import Quantity, display, quantities, quantity

_RATE = "byte/s/dir > 0"


@frozen(kw_only=True, eq=False)
class Crossover(Result):
    """Where two algorithms take the same time.

    Attributes
    ----------
    operation : str
        What both do.
    first_record, second_record : Algorithm
        The two algorithms.
    given : mapping of str to float
        Arguments in SI units.
    sizes : tuple of float
        Sizes at which the order changes [byte]; empty when ranks were asked for.
    ranks : int or None
        Least number of ranks at which the order is not that of two ranks any more; None when
        sizes were asked for or the order never changes.
    before, after : str
        The faster algorithm below and above the first crossing; "tie" where they are equal.
    rank_ranges : tuple of (int, int or None, str)
        Every range of ranks with the algorithm that is faster in it, first and last count; None
        ends the last one. Empty when sizes were asked for.
    """

    operation: str
    first_record: Algorithm = field(repr=False)
    second_record: Algorithm = field(repr=False)
    given: Mapping[str, float] = field(repr=False)
    sizes: tuple[float, ...]
    ranks: int | None
    before: str
    after: str
    rank_ranges: tuple[tuple[int, int | None, str], ...] = ()

    @measured("byte")
    def size(self) -> float:
        """Smallest size at which the order changes; nan where there is none."""
        return self.sizes[0] if self.sizes else math.nan

    @measured("s")
    def time(self) -> float:
        """Time of both at the crossing; nan where there is none."""
        if self.ranks is not None:
            return seconds(self.second_record, self.given, ranks=float(self.ranks))
        if not self.sizes:
            return math.nan
        return seconds(self.second_record, self.given, size=self.sizes[0])

    @property
    def crosses(self) -> bool:
        """Whether there is a crossing."""
        return bool(self.sizes) or self.ranks is not None

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        units = {"size": "byte", "bandwidth": "byte/s/dir", "latency": "s"}
        return {
            n: (self.given[n], units.get(n, "1"))
            for n in ("size", "ranks", "bandwidth", "latency")
            if math.isfinite(self.given[n])
        }

    def formula(self) -> tuple[str, str]:
        """The two formulas that are set equal."""
        first, second = self.first_record.kernel, self.second_record.kernel
        return f"{first.formula} = {second.formula}", f"{first.source}; {second.source}"

    def headline(self) -> str:
        """One readable line."""
        names = f"{self.operation}: {self.first_record.name} and {self.second_record.name}"
        if not self.crosses:
            return f"{names} do not cross; {self.before} is faster throughout"
        if self.sizes:
            where = f"at {', '.join(display(s, 'byte') for s in self.sizes)}"
        else:
            where = f"at {self.ranks} ranks"
            if _flips(self.rank_ranges):
                low, _, name = self.rank_ranges[-1]
                last = "both are equal" if name == "tie" else f"{name} is faster"
                return f"{names} cross more than once, first {where}; from {low} ranks on {last}"
        return f"{names} cross {where}: {self.before} below, {self.after} above"


@quantities(
    ranks="count >= 2 optional",
    size="byte > 0 optional",
    bandwidth=_RATE,
    latency="s",
    reduction_rate=DECLARED["reduction_rate"],
    switch_latency="s",
    levels=DECLARED["levels"],
)
def crossover(
    first: str,
    second: str,
    *,
    bandwidth: float,
    ranks: float = math.nan,
    size: float = math.nan,
    latency: float = 0.0,
    operation: str = "allreduce",
    reduction_rate: float = math.inf,
    switch_latency: float = 0.0,
    levels: float = 1.0,
    assumed: tuple[str, ...] = (),
) -> Crossover:
    """Size, or number of ranks, at which two algorithms take the same time.

    Parameters
    ----------
    first, second : str
        Names of two algorithms of the operation.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    ranks : int
        Participants; the answer is then a size.
    size : Quantity [byte]
        Size of the operation; the answer is then a number of ranks.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    operation : str
        Public name of the collective.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank; left out, the reduction is free.
    switch_latency : Quantity [s]
        Latency of one switch, for algorithms in which switches take part.
    levels : int
        Levels of switches up to the root of a reduction tree.

    Returns
    -------
    Crossover
        `size` and all `sizes`, or `ranks` and all `rank_ranges`, with the faster algorithm on
        either side of the first crossing; a caution where the order changes again.

    Raises
    ------
    ArgumentError
        Unless exactly one of `ranks` and `size` is given.

    Notes
    -----
    Sizes are found by bisection to the last bit; rank counts are tried one by one, because
    algorithms that fold to a power of two do not grow steadily.

    Examples
    --------
    >>> from scalemath.collectives import crossover
    >>> where = crossover("ring", "nvls", size="2 GiB", bandwidth="900 GB/s/dir")
    >>> where.ranks
    3
    """
    record = operation_named(operation)
    of_size = math.isnan(ranks)
    if of_size == math.isnan(size):
        raise ArgumentError(
            "crossover: give either ranks, to get a size, or size, to get a number of ranks"
        )
    one, other = algorithm_named(record.name, first), algorithm_named(record.name, second)
    for algorithm in (one, other):
        if algorithm.needs == "torus":
            raise ArgumentError(f"crossover: {algorithm.name} depends on the sides of a torus")
    values = {
        "size": size,
        "ranks": ranks,
        "bandwidth": bandwidth,
        "latency": latency,
        "reduction_rate": reduction_rate,
        "switch_latency": switch_latency,
        "levels": levels,
        "bruck_radix": 4.0,
    }
    sizes: tuple[float, ...] = ()
    runs: list[tuple[int, int]] = []
    start = {"ranks": 2.0} if of_size else {"size": 1.0}
    if of_size:
        runs = list(rank_runs(one, other, values))
    else:
        sizes = crossing_sizes(one, other, values)
    gap = seconds(one, values, **start) - seconds(other, values, **start)
    names = (one.name, other.name) if gap <= 0.0 else (other.name, one.name)
    where = runs[1] if len(runs) > 1 else None
    after = names[1] if sizes or (where and where[1]) else ("tie" if where else names[0])
    ranges = _ranges(runs, one.name, other.name)
    before = ranges[0][2] if len(ranges) > 1 else names[0]
    return Crossover(
        operation=record.name,
        first_record=one,
        second_record=other,
        given=values,
        sizes=sizes,
        ranks=where[0] if where else None,
        before=before,
        after=after,
        rank_ranges=ranges,
        assumptions=tuple(t for t in assumed if not t.startswith("switch")),
        cautions=(_told(ranges),) if _flips(ranges) else (),
    )


def _ranges(
    runs: list[tuple[int, int]], first: str, second: str
) -> tuple[tuple[int, int | None, str], ...]:
    """Ranges of ranks with the faster algorithm; the sign of a run says who is slower."""
    faster = {1: second, 0: "tie", -1: first}
    if not runs:
        return ()
    ends: list[int | None] = [low - 1 for low, _ in runs[1:]] + [None]
    return tuple((low, end, faster[order]) for (low, order), end in zip(runs, ends, strict=True))


def _flips(ranges: tuple[tuple[int, int | None, str], ...]) -> bool:
    """Whether an algorithm that lost its lead takes it again; ties count for nothing."""
    leads = [name for _, _, name in ranges if name != "tie"]
    return sum(one != two for one, two in itertools.pairwise(leads)) > 1


def _told(ranges: tuple[tuple[int, int | None, str], ...], most: int = 8) -> str:
    """Say that the order flips back, and who is faster in which ranges."""
    told = [
        f"{'neither' if name == 'tie' else name} {_span(low, high)}" for low, high, name in ranges
    ]
    if len(told) > most:
        told = [*told[: most - 1], f"... ({len(told) - most} more in rank_ranges)", told[-1]]
    return f"the order flips back as ranks grow; the faster one is {', '.join(told)}"


def _span(low: int, high: int | None) -> str:
    if high is None:
        return f"from {low} on"
    return f"at {low}" if low == high else f"from {low} to {high}"


@quantities(
    Step("balance_size", {"": kernel_of(ring_balance_size)}, "byte"),
    ranks="count >= 2",
    bandwidth=_RATE,
    latency="s",
)
def balance_size(
    *,
    ranks: float,
    bandwidth: float,
    latency: float,
    operation: str = "allreduce",
    algorithm: str = "ring",
) -> Quantity:
    """Size at which the latency term of an algorithm equals its bandwidth term.

    Parameters
    ----------
    ranks : int
        Participants.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    latency : Quantity [s]
        One-way time of an empty message.
    operation : str
        Public name of the collective.
    algorithm : str
        Name of the algorithm; a sweep or an array always answers for the ring.

    Returns
    -------
    Quantity [byte]
        ``ranks * latency * bandwidth`` for the ring.

    Examples
    --------
    >>> from scalemath.collectives import balance_size
    >>> print(balance_size(ranks=72, bandwidth="900 GB/s/dir", latency="0.2 us").to("MB"))
    12.96 MB
    """
    record = operation_named(operation)
    found = algorithm_named(record.name, algorithm)
    if found.name == "ring":
        return quantity(ring_balance_size(ranks, bandwidth, latency), "byte")
    values = _alone(ranks=ranks, bandwidth=bandwidth, latency=latency)
    return quantity(balanced_size(found, values), "byte")


@quantities(
    Step("balance_ranks", {"": kernel_of(ring_balance_ranks)}, "1"),
    size="byte",
    bandwidth=_RATE,
    latency="s",
)
def balance_ranks(
    *,
    size: float,
    bandwidth: float,
    latency: float,
    operation: str = "allreduce",
    algorithm: str = "ring",
) -> float:
    """Number of ranks at which the latency term of an algorithm equals its bandwidth term.

    Parameters
    ----------
    size : Quantity [byte]
        Size of the operation.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    latency : Quantity [s]
        One-way time of an empty message.
    operation : str
        Public name of the collective.
    algorithm : str
        Name of the algorithm; a sweep or an array always answers for the ring.

    Returns
    -------
    float
        ``size / (latency * bandwidth)`` for the ring, not rounded; below it payload decides,
        above it latency. Infinite where the terms never meet.

    Examples
    --------
    >>> from scalemath.collectives import balance_ranks
    >>> print(f"{balance_ranks(size='2 GiB', bandwidth='100 GB/s/dir', latency='2 us'):.6g}")
    10737.4
    """
    record = operation_named(operation)
    found = algorithm_named(record.name, algorithm)
    if found.name == "ring":
        return ring_balance_ranks(size, bandwidth, latency)
    return balanced_ranks(found, _alone(size=size, bandwidth=bandwidth, latency=latency))


def _alone(**given: float) -> dict[str, float]:
    """Arguments with defaults for what only some algorithms ask for."""
    return {
        "reduction_rate": math.inf,
        "switch_latency": 0.0,
        "levels": 1.0,
        "bruck_radix": 4.0,
        **given,
    }
