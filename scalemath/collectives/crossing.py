"""Sizes and rank counts at which two predictions, or two terms of one, are equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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

    Every count up to 4096 is tried, beyond that steps of one part in 256; None where the order
    never changes up to 2**24 ranks. A tie counts as a change.
    """

    def order(ranks: float) -> int:
        return sign(seconds(first, values, ranks=ranks), seconds(second, values, ranks=ranks))

    was = order(2.0)
    ranks = 3.0
    while ranks <= MOST_RANKS:
        now = order(ranks)
        if now != was and (was or now):
            return int(ranks), now
        ranks += 1.0 if ranks < EXACT_RANKS else ranks // 256.0
    return None


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
