"""Sizes and rank counts at which two predictions, or two terms of one, are equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scalemath.collectives.algorithms import Algorithm
from scalemath.core.kernel import total

LARGEST = 2.0**60
EXACT_RANKS = 4096
MOST_RANKS = 2.0**24
TIE = 1e-12
"""Relative difference below which two times count as equal."""


def seconds(algorithm: Algorithm, values: Mapping[str, Any], **changes: float) -> float:
    """Time [s] by an algorithm with some of the values replaced."""
    return total(algorithm.kernel.function(*algorithm.pick({**values, **changes})))


def sign(first: float, second: float) -> int:
    """Which of two times is the longer: +1 the first, -1 the second, 0 a tie."""
    if abs(first - second) <= TIE * max(first, second):
        return 0
    return 1 if first > second else -1


def crossing_sizes(
    first: Algorithm, second: Algorithm, values: Mapping[str, Any]
) -> tuple[float, ...]:
    """Sizes [byte] up to 1 EiB at which the order of two algorithms changes, smallest first."""

    def order(size: float) -> int:
        return sign(seconds(first, values, size=size), seconds(second, values, size=size))

    return _changes(order)


def balanced_size(algorithm: Algorithm, values: Mapping[str, Any]) -> float:
    """Size [byte] at which the latency term equals the bandwidth term; inf where there is none."""

    def order(size: float) -> int:
        terms = algorithm.kernel.function(*algorithm.pick({**values, "size": size}))
        return sign(terms.latency, terms.bandwidth)

    found = _changes(order)
    return found[0] if found else (0.0 if values["latency"] == 0.0 else math.inf)


def _changes(order: Callable[[float], int]) -> tuple[float, ...]:
    """Where the order of two times along the size changes, by bisection on a grid of powers."""
    found = []
    low, was = 1.0, order(1.0)
    size = low
    while size < LARGEST:
        size *= math.sqrt(2.0)
        now = order(size)
        if now in (0, was):
            continue
        if was:
            found.append(_bisect(order, low, size, was))
        low, was = size, now
    return tuple(found)


def _bisect(order: Callable[[float], int], low: float, high: float, at_low: int) -> float:
    """Point between two sizes where the order leaves that at the lower one."""
    for _ in range(80):
        middle = 0.5 * (low + high)
        now = order(middle)
        if now == 0:
            return middle
        if now == at_low:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def crossing_ranks(
    first: Algorithm, second: Algorithm, values: Mapping[str, Any]
) -> tuple[int, int] | None:
    """Least rank count at which the order differs from that of two ranks, and the sign there.

    None where the order never changes up to 2**24 ranks. A tie counts as a change.
    """
    runs = rank_runs(first, second, values)
    next(runs)
    return next(runs, None)


def rank_runs(
    first: Algorithm, second: Algorithm, values: Mapping[str, Any]
) -> Iterator[tuple[int, int]]:
    """First rank count of every run of equal order, from two ranks on, and the sign of the run.

    Every count up to 4096 is tried; beyond that steps of one part in 256, with every power of
    two and its neighbours, since algorithms that fold to a power of two jump there. The change
    inside a step is found by bisection.

    Yields
    ------
    tuple of int
        Rank count at which the run begins, and the sign of the difference in it.
    """

    def order(ranks: int) -> int:
        return sign(
            seconds(first, values, ranks=float(ranks)), seconds(second, values, ranks=float(ranks))
        )

    low, was = 2, order(2)
    yield low, was
    for ranks in _counts():
        now = order(ranks)
        if now != was:
            below, at = low, ranks
            while at - below > 1:
                middle = (below + at) // 2
                below, at = (middle, at) if order(middle) == was else (below, middle)
            was = order(at)
            yield at, was
            if now != was:  # a tie between two strict orders
                was = now
                yield ranks, now
        low = ranks


def _counts() -> Iterator[int]:
    """Rank counts that are tried, from three on."""
    ranks, power = 3, EXACT_RANKS
    while ranks <= MOST_RANKS:
        yield ranks
        step = 1 if ranks < EXACT_RANKS or ranks in (power - 1, power) else ranks // 256
        if ranks == power + 1:
            power *= 2
        ranks = ranks + step if ranks >= power - 1 else min(ranks + step, power - 1)


def balanced_ranks(algorithm: Algorithm, values: Mapping[str, Any]) -> float:
    """Ranks, continuous, at which the latency term equals the bandwidth term; inf for none."""

    def order(ranks: float) -> int:
        terms = algorithm.kernel.function(*algorithm.pick({**values, "ranks": ranks}))
        return sign(terms.latency, terms.bandwidth)

    low = 2.0
    was = order(low)
    ranks = low
    while ranks < LARGEST:
        ranks *= 2.0
        if order(ranks) not in (0, was):
            return _bisect(order, ranks / 2.0, ranks, was)
    return math.inf
