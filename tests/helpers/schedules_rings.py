"""Movements made of rings: ring, torus bucket, hierarchical and rail-aware allreduce.

A part is the tuple of blocks that ends at (or starts from) one member of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

from helpers.schedules import (
    Block,
    Movement,
    Transfer,
    Values,
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


def torus_allreduce(shape: Sequence[int], size: int, slices: str = "one") -> Movement:
    """Bucket allreduce on a torus, one dimension after the other.

    Parameters
    ----------
    shape : sequence of int
        Ranks along each dimension.
    size : int
        Bytes of the vector.
    slices : {"one", "directions", "all"}
        One slice going one way; two slices going both ways; two slices for each dimension,
        each beginning with another dimension, so that every link is used at the same time.
    """
    ranks, dimensions = prod(shape), len(shape)
    places = list(product(*map(range, shape)))
    number = {place: rank for rank, place in enumerate(places)}
    turns = range(dimensions) if slices == "all" else range(1)
    ways = (1,) if slices == "one" else (1, -1)
    runs = [([*range(turn, dimensions), *range(turn)], way) for turn in turns for way in ways]
    sizes = shares(size, len(runs) * ranks)
    block_bytes: dict[Block, int] = {}
    phases = []
    for run, (order, way) in enumerate(runs):
        for rank, place in enumerate(places):
            block_bytes[run, place] = sizes[run * ranks + rank]
        phases.append(_torus_run(run, order, way, shape, number))
    start, whole = reduction(ranks, block_bytes)
    rounds = side_by_side(phases)
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, f"torus {slices}")


def _torus_run(
    run: int,
    order: Sequence[int],
    way: int,
    shape: Sequence[int],
    number: dict[Coordinates, int],
) -> Rounds:
    scattering: Rounds = []
    gathering: Rounds = []
    for depth, dimension in enumerate(order):
        down, up = [], []
        done = order[: depth + 1]
        for line in _lines(shape, dimension):
            line = line[::way]
            parts = [
                tuple((run, other) for other in number if all(other[d] == place[d] for d in done))
                for place in line
            ]
            group = [number[place] for place in line]
            down.append(ring_scatter_rounds(group, parts))
            up.append(ring_gather_rounds(group, parts))
        scattering = scattering + side_by_side(down)
        gathering = side_by_side(up) + gathering
    return scattering + gathering


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
