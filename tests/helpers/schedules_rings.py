"""Movements made of rings: ring, torus bucket, hierarchical and rail-aware allreduce.

A part is the tuple of blocks that ends at (or starts from) one member of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod

from helpers.schedules import (
    Block,
    Movement,
    Transfer,
    Values,
    backwards,
    contribution,
    everything,
    owned,
    reduction,
    shares,
    side_by_side,
)

Rounds = list[list[Transfer]]
Parts = Sequence[tuple[Block, ...]]
Coordinates = tuple[int, ...]


def ring_scatter_rounds(group: Sequence[int], parts: Parts) -> Rounds:
    """Reduce-scatter over a ring: part i ends at member i."""
    size = len(group)
    return [
        [
            Transfer(rank, group[(i + 1) % size], parts[(i - step - 1) % size], merge=True)
            for i, rank in enumerate(group)
        ]
        for step in range(size - 1)
    ]


def ring_gather_rounds(group: Sequence[int], parts: Parts) -> Rounds:
    """All-gather over a ring: part i starts at member i."""
    size = len(group)
    return [
        [
            Transfer(rank, group[(i + 1) % size], parts[(i - step) % size])
            for i, rank in enumerate(group)
        ]
        for step in range(size - 1)
    ]


def single_parts(ranks: int) -> list[tuple[Block, ...]]:
    """One block a rank."""
    return [(rank,) for rank in range(ranks)]


def ring_allreduce(ranks: int, size: int) -> Movement:
    """Reduce-scatter and all-gather over one ring."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    start, whole = reduction(ranks, block_bytes)
    group, parts = range(ranks), single_parts(ranks)
    rounds = ring_scatter_rounds(group, parts) + ring_gather_rounds(group, parts)
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "ring allreduce")


def ring_reduce_scatter(ranks: int, size: int) -> Movement:
    """Reduce-scatter over one ring; rank i ends with block i."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    start, whole = reduction(ranks, block_bytes)
    finish: list[Values] = [{rank: whole[rank]} for rank in range(ranks)]
    rounds = ring_scatter_rounds(range(ranks), single_parts(ranks))
    return Movement(ranks, rounds, block_bytes, start, finish, "ring reduce-scatter")


def ring_allgather(ranks: int, size: int) -> Movement:
    """All-gather over one ring."""
    block_bytes, start, whole = owned(ranks, size)
    rounds = ring_gather_rounds(range(ranks), single_parts(ranks))
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "ring all-gather")


def two_way_gather_rounds(
    group: Sequence[int], halves: Sequence[Sequence[tuple[Block, ...]]], lane: int = 0
) -> Rounds:
    """All-gather over a ring used both ways: parts in two halves, part i starts at member i.

    Both halves go both ways by shortest paths; the member opposite, where there is one, is
    sent one half from each side. The ways use lanes `lane` and `lane` + 1.
    """
    size = len(group)
    rounds = []
    for step in range(size // 2):
        transfers = []
        last = 2 * (step + 1) == size
        for i, rank in enumerate(group):
            for side, way in enumerate((1, -1)):
                first, second = halves[(i - way * step) % size]
                blocks = (first, second)[side] if last else first + second
                to = group[(i + way) % size]
                transfers.append(Transfer(rank, to, blocks, lane=lane + side))
        rounds.append(transfers)
    return rounds


def torus_allgather(shape: Sequence[int], size: int, ways: int = 1, slices: int = 1) -> Movement:
    """Bucket all-gather on a torus, one dimension after the other.

    Parameters
    ----------
    shape : sequence of int
        Ranks along each dimension.
    size : int
        Bytes of the vector.
    ways : {1, 2}
        Rings used one way or both ways.
    slices : int
        Slices of the vector that go through the dimensions in rotated order, so that with as
        many slices as dimensions all links are used at the same time.
    """
    block_bytes, rounds, places = _torus_gather(shape, size, ways, slices)
    whole: Values = {block: contribution(k) for k, block in enumerate(block_bytes)}
    own: list[Iterable[Block]] = [product(range(slices), [place], (0, 1)) for place in places]
    start: list[Values] = [{block: whole[block] for block in blocks} for blocks in own]
    return Movement(len(places), rounds, block_bytes, start, [whole] * len(places), "torus")


def torus_allreduce(shape: Sequence[int], size: int, ways: int = 1, slices: int = 1) -> Movement:
    """Bucket allreduce on a torus: the all-gather backwards, then forwards."""
    block_bytes, rounds, places = _torus_gather(shape, size, ways, slices)
    ranks = len(places)
    start, whole = reduction(ranks, block_bytes)
    return Movement(ranks, backwards(rounds) + rounds, block_bytes, start, [whole] * ranks, "torus")


def _torus_gather(
    shape: Sequence[int], size: int, ways: int, slices: int
) -> tuple[dict[Block, int], Rounds, list[Coordinates]]:
    places = list(product(*map(range, shape)))
    number = {place: rank for rank, place in enumerate(places)}
    keys = list(product(range(slices), places, (0, 1)))
    block_bytes: dict[Block, int] = dict(zip(keys, shares(size, len(keys)), strict=True))
    phases = []
    for turn in range(slices):
        order = [*range(turn, len(shape)), *range(turn)]
        rounds: Rounds = []
        for depth, dimension in enumerate(order):
            up = []
            for line in _lines(shape, dimension):
                halves = [_torus_halves(turn, place, order[: depth + 1], places) for place in line]
                group = [number[place] for place in line]
                if ways == 2:
                    up.append(two_way_gather_rounds(group, halves, 2 * dimension))
                else:
                    parts = [first + second for first, second in halves]
                    up.append(ring_gather_rounds(group, parts))
            rounds = side_by_side(up) + rounds
        phases.append(rounds)
    return block_bytes, side_by_side(phases), places


def _torus_halves(
    turn: int, place: Coordinates, done: Sequence[int], places: Sequence[Coordinates]
) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    alike = [other for other in places if all(other[d] == place[d] for d in done)]
    return tuple((turn, other, 0) for other in alike), tuple((turn, other, 1) for other in alike)


def _lines(shape: Sequence[int], dimension: int) -> list[list[Coordinates]]:
    others = [range(n) if d != dimension else range(1) for d, n in enumerate(shape)]
    return [
        [(*base[:dimension], x, *base[dimension + 1 :]) for x in range(shape[dimension])]
        for base in product(*others)
    ]


def hierarchical_allreduce(
    levels: Sequence[int],
    size: int,
    top_rounds: Callable[[Sequence[int], Sequence[tuple[Block, ...]]], Rounds] | None = None,
) -> Movement:
    """Reduce-scatter inside each level, an allreduce across the last, all-gather back.

    Parameters
    ----------
    levels : sequence of int
        Ranks of a node, nodes of a rack, racks ...; ranks of one node have adjacent numbers.
    size : int
        Bytes of the vector.
    top_rounds : callable, optional
        Allreduce rounds of a group for given parts; a ring when left out.
    """
    ranks = prod(levels)
    places = [place[::-1] for place in product(*map(range, levels[::-1]))]
    number = {place: rank for rank, place in enumerate(places)}
    block_bytes: dict[Block, int] = dict(zip(places, shares(size, ranks), strict=True))
    start, whole = reduction(ranks, block_bytes)
    before: Rounds = []
    after: Rounds = []
    for level in range(len(levels)):
        down, up = [], []
        for line in _lines(levels, level):
            group = [number[place] for place in line]
            parts = [
                tuple(other for other in places if other[: level + 1] == place[: level + 1])
                for place in line
            ]
            if level == len(levels) - 1 and top_rounds is not None:
                down.append(top_rounds(group, parts))
            else:
                down.append(ring_scatter_rounds(group, parts))
                up.append(ring_gather_rounds(group, parts))
        before = before + side_by_side(down)
        after = side_by_side(up) + after
    rounds = before + after
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, f"hierarchy {levels}")


def rail_ring_allreduce(nodes: int, ranks_per_node: int, size: int, rails: int = 1) -> Movement:
    """Flat rings over all ranks, one for each rail, leaving a node by another rank each."""
    ranks = nodes * ranks_per_node
    sizes = shares(size, rails * ranks)
    block_bytes: dict[Block, int] = {
        (rail, i): sizes[rail * ranks + i] for rail in range(rails) for i in range(ranks)
    }
    start = [dict.fromkeys(block_bytes, contribution(rank)) for rank in range(ranks)]
    whole: Values = dict.fromkeys(block_bytes, everything(ranks))
    phases = []
    for rail in range(rails):
        group = [
            node * ranks_per_node + (rail + i) % ranks_per_node
            for node in range(nodes)
            for i in range(ranks_per_node)
        ]
        parts: list[tuple[Block, ...]] = [((rail, i),) for i in range(ranks)]
        phases.append(ring_scatter_rounds(group, parts) + ring_gather_rounds(group, parts))
    rounds = side_by_side(phases)
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, f"{rails}-rail ring")
