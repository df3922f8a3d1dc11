"""Which rank sends what to which, round by round: the data movement behind an algorithm.

Shares are of the size by the convention of the operation. A switch that takes part bears the
number one above the last rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scalemath.core.errors import ArgumentError


class Message(NamedTuple):
    """One message of a round.

    `source` and `target` are ranks, `share` is the part of the size it carries.
    """

    source: int
    target: int
    share: float


Round = tuple[Message, ...]
Rounds = tuple[Round, ...]


def rounds(operation: str, algorithm: str, ranks: int) -> Rounds:
    """Messages of an algorithm, round by round.

    Parameters
    ----------
    operation, algorithm : str
        Names as in the table of algorithms.
    ranks : int
        Participants; logarithmic algorithms other than Bruck's want a power of two here.

    Returns
    -------
    tuple of tuple of Message
        Rounds in order.

    Raises
    ------
    ArgumentError
        When the movement is not described, or not for this number of ranks.
    """
    key = (operation, algorithm)
    if key not in _MOVEMENTS:
        listed = ", ".join(f"{o} by {a}" for o, a in _MOVEMENTS)
        raise ArgumentError(f"no movement of {operation!r} by {algorithm!r}; there are {listed}")
    if algorithm in _POWERS and ranks & (ranks - 1):
        raise ArgumentError(f"{algorithm} is drawn for powers of two; ranks is {ranks}")
    return _MOVEMENTS[key](ranks)


def _ring(ranks: int) -> Rounds:
    once = tuple(Message(r, (r + 1) % ranks, 1 / ranks) for r in range(ranks))
    return (once,) * (ranks - 1)


def _exchange(ranks: int, distances: list[int], share: Callable[[int], float]) -> Rounds:
    return tuple(
        tuple(Message(r, r ^ distance, share(distance)) for r in range(ranks))
        for distance in distances
    )


def _distances(ranks: int) -> list[int]:
    return [1 << k for k in range((ranks - 1).bit_length())]


def _recursive_doubling(ranks: int) -> Rounds:
    return _exchange(ranks, _distances(ranks), lambda _: 1.0)


def _halving(ranks: int) -> Rounds:
    return _exchange(ranks, _distances(ranks)[::-1], lambda d: d / ranks)


def _doubling(ranks: int) -> Rounds:
    return _exchange(ranks, _distances(ranks), lambda d: d / ranks)


def _binomial_down(ranks: int) -> Rounds:
    return tuple(
        tuple(Message(r, r + d, 1.0) for r in range(0, ranks, 2 * d) if r + d < ranks)
        for d in _distances(ranks)[::-1]
    )


def _backwards(found: Rounds) -> Rounds:
    return tuple(
        tuple(Message(m.target, m.source, m.share) for m in one) for one in reversed(found)
    )


def _binomial_scatter(ranks: int) -> Rounds:
    return tuple(
        tuple(
            Message(r, r + d, min(d, ranks - r - d) / ranks)
            for r in range(0, ranks, 2 * d)
            if r + d < ranks
        )
        for d in _distances(ranks)[::-1]
    )


SEGMENTS = 4
"""Segments in which a chain is drawn."""


def _chain(ranks: int) -> Rounds:
    return tuple(
        tuple(Message(r, r + 1, 1 / SEGMENTS) for r in range(ranks - 1) if 0 <= step - r < SEGMENTS)
        for step in range(ranks - 2 + SEGMENTS)
    )


def _bruck_gather(ranks: int) -> Rounds:
    return tuple(
        tuple(Message(r, (r - d) % ranks, min(d, ranks - d) / ranks) for r in range(ranks))
        for d in _distances(ranks)
    )


def _pat_gather(ranks: int) -> Rounds:
    held = _distances(ranks)
    return tuple(
        tuple(Message(r, (r + far) % ranks, near / ranks) for r in range(ranks))
        for far, near in zip(held[::-1], held, strict=True)
    )


def _pairwise(ranks: int) -> Rounds:
    return tuple(
        tuple(Message(r, (r + k) % ranks, 1 / ranks) for r in range(ranks)) for k in range(1, ranks)
    )


def _bruck_exchange(ranks: int) -> Rounds:
    return tuple(
        tuple(
            Message(r, (r + d) % ranks, sum(1 for b in range(ranks) if b & d) / ranks)
            for r in range(ranks)
        )
        for d in _distances(ranks)
    )


def _dissemination(ranks: int) -> Rounds:
    return tuple(
        tuple(Message(r, (r + d) % ranks, 0.0) for r in range(ranks)) for d in _distances(ranks)
    )


def _multicast_allreduce(ranks: int) -> Rounds:
    up = tuple(Message(r, ranks, 1.0) for r in range(ranks))
    reduced = tuple(Message(ranks, r, 1 / ranks) for r in range(ranks))
    stored = tuple(Message(r, ranks, 1 / ranks) for r in range(ranks))
    spread = tuple(Message(ranks, r, 1.0) for r in range(ranks))
    return (up + reduced, stored + spread)


def _tree_allreduce(ranks: int) -> Rounds:
    up = tuple(Message(r, ranks, 1.0) for r in range(ranks))
    return (up, tuple(Message(ranks, r, 1.0) for r in range(ranks)))


def _rings_of(groups: list[list[int]], share: float) -> Rounds:
    """One turn of rings that run at the same time in groups of equal length."""
    once = tuple(
        Message(rank, group[(place + 1) % len(group)], share)
        for group in groups
        for place, rank in enumerate(group)
    )
    return (once,) * (len(groups[0]) - 1)


def _levels(ranks: int, inner: int) -> tuple[Rounds, Rounds]:
    """A turn inside groups of neighbours, and one between the groups with what is left."""
    outer = ranks // inner
    inside = [list(range(k * inner, (k + 1) * inner)) for k in range(outer)]
    between = [list(range(k, ranks, inner)) for k in range(inner)]
    return _rings_of(inside, 1 / inner), _rings_of(between, 1 / ranks)


def split(ranks: int) -> tuple[int, int]:
    """Two sides, as equal as can be, in which tori and two levels are drawn; the longer first."""
    shorter = next(k for k in range(int(ranks**0.5), 0, -1) if ranks % k == 0)
    return ranks // shorter, shorter


def _two_dimensions(ranks: int) -> Rounds:
    inside, between = _levels(ranks, split(ranks)[0])
    return inside + between + between + inside


_POWERS = ("recursive-doubling", "recursive-halving", "rabenseifner", "pat")
_MOVEMENTS: dict[tuple[str, str], Callable[[int], Rounds]] = {
    ("allreduce", "ring"): lambda p: _ring(p) + _ring(p),
    ("allreduce", "recursive-doubling"): _recursive_doubling,
    ("allreduce", "rabenseifner"): lambda p: _halving(p) + _doubling(p),
    ("allreduce", "binomial-tree"): lambda p: _backwards(_binomial_down(p)) + _binomial_down(p),
    ("allreduce", "torus"): _two_dimensions,
    ("allreduce", "hierarchical"): _two_dimensions,
    ("allreduce", "nvls"): _multicast_allreduce,
    ("allreduce", "sharp"): _tree_allreduce,
    ("reduce_scatter", "ring"): _ring,
    ("reduce_scatter", "pairwise"): _pairwise,
    ("reduce_scatter", "recursive-halving"): _halving,
    ("all_gather", "ring"): _ring,
    ("all_gather", "recursive-doubling"): _doubling,
    ("all_gather", "bruck"): _bruck_gather,
    ("all_gather", "pat"): _pat_gather,
    ("broadcast", "binomial-tree"): _binomial_down,
    ("broadcast", "chain"): _chain,
    ("broadcast", "scatter-ring"): lambda p: _binomial_scatter(p) + _ring(p),
    ("reduce", "binomial-tree"): lambda p: _backwards(_binomial_down(p)),
    ("scatter", "binomial-tree"): _binomial_scatter,
    ("gather", "binomial-tree"): lambda p: _backwards(_binomial_scatter(p)),
    ("all_to_all", "pairwise"): _pairwise,
    ("all_to_all", "bruck"): _bruck_exchange,
    ("barrier", "dissemination"): _dissemination,
}
