"""Movements along trees and chains: broadcast, reduce, scatter, gather, allreduce.

Rank 0 is the root. A tree is a tuple of parents, -1 for the root. A pipelined movement cuts
the buffer into segments and sends one behind the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from helpers.schedules import (
    Block,
    Movement,
    Transfer,
    Values,
    backwards,
    contribution,
    reduction,
    shares,
)
from helpers.schedules_doubling import (
    bruck_gather_rounds,
    doubling_rounds,
    halving_rounds,
    power_below,
)
from helpers.schedules_rings import ring_gather_rounds

Rounds = list[list[Transfer]]
Tree = tuple[int, ...]


def _binomial_steps(ranks: int) -> list[tuple[int, list[int]]]:
    """Distances, farthest first, with the ranks that send over them."""
    steps = []
    distance = 1 << max((ranks - 1).bit_length() - 1, 0)
    while distance and ranks > 1:
        senders = [r for r in range(0, ranks, 2 * distance) if r + distance < ranks]
        steps.append((distance, senders))
        distance //= 2
    return steps


def _broadcast(ranks: int, rounds: Rounds, block_bytes: dict[Block, int], name: str) -> Movement:
    whole: Values = {block: contribution(k) for k, block in enumerate(block_bytes)}
    start: list[Values] = [whole] + [{} for _ in range(ranks - 1)]
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, name)


def _reduce(ranks: int, rounds: Rounds, block_bytes: dict[Block, int], name: str) -> Movement:
    start, whole = reduction(ranks, block_bytes)
    return Movement(ranks, rounds, block_bytes, start, [whole], name)


def binomial_broadcast(ranks: int, size: int) -> Movement:
    """Broadcast down a binomial tree, farthest rank first."""
    rounds = [
        [Transfer(rank, rank + distance, ("vector",)) for rank in senders]
        for distance, senders in _binomial_steps(ranks)
    ]
    return _broadcast(ranks, rounds, {"vector": size}, "binomial broadcast")


def binomial_reduce(ranks: int, size: int) -> Movement:
    """Reduce up the same tree, nearest rank first."""
    rounds = backwards(binomial_broadcast(ranks, size).rounds)
    return _reduce(ranks, rounds, {"vector": size}, "binomial reduce")


def binomial_allreduce(ranks: int, size: int) -> Movement:
    """Reduce up and broadcast down one binomial tree, whole vectors."""
    start, whole = reduction(ranks, {"vector": size})
    rounds = binomial_reduce(ranks, size).rounds + binomial_broadcast(ranks, size).rounds
    return Movement(ranks, rounds, {"vector": size}, start, [whole] * ranks, "binomial allreduce")


def _under(rank: int, distance: int, ranks: int) -> tuple[int, ...]:
    return tuple(range(rank + distance, min(rank + 2 * distance, ranks)))


def scatter_rounds(ranks: int) -> Rounds:
    """Rounds of the binomial scatter of blocks 0 to ranks - 1."""
    return [
        [Transfer(r, r + distance, _under(r, distance, ranks)) for r in senders]
        for distance, senders in _binomial_steps(ranks)
    ]


def binomial_scatter(ranks: int, size: int) -> Movement:
    """Scatter: each message carries the blocks of the whole subtree."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    whole: Values = {rank: contribution(rank) for rank in range(ranks)}
    start: list[Values] = [whole] + [{} for _ in range(ranks - 1)]
    finish: list[Values] = [{rank: contribution(rank)} for rank in range(ranks)]
    return Movement(ranks, scatter_rounds(ranks), block_bytes, start, finish, "binomial scatter")


def gather_rounds(ranks: int) -> Rounds:
    """Rounds of the binomial gather of blocks 0 to ranks - 1."""
    return [
        [Transfer(t.target, t.source, t.blocks) for t in transfers]
        for transfers in reversed(scatter_rounds(ranks))
    ]


def binomial_gather(ranks: int, size: int) -> Movement:
    """Gather: the scatter run backwards."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    whole: Values = {rank: contribution(rank) for rank in range(ranks)}
    start: list[Values] = [{rank: contribution(rank)} for rank in range(ranks)]
    return Movement(ranks, gather_rounds(ranks), block_bytes, start, [whole], "binomial gather")


def scatter_gather_broadcast(ranks: int, size: int, gather: str = "ring") -> Movement:
    """Broadcast as binomial scatter and all-gather by "ring", "doubling" or "Bruck"."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    parts = [(rank,) for rank in range(ranks)]
    if gather == "ring":
        second = ring_gather_rounds(range(ranks), parts)
    elif gather == "doubling":
        second = doubling_rounds(range(ranks), parts)
    else:
        second = bruck_gather_rounds(ranks)
    rounds = scatter_rounds(ranks) + second
    return _broadcast(ranks, rounds, block_bytes, f"scatter and {gather} all-gather")


def scatter_gather_reduce(ranks: int, size: int) -> Movement:
    """Reduce as recursive halving and binomial gather; surplus ranks hand in their vector."""
    core = power_below(ranks)
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, core)))
    parts = [(rank,) for rank in range(core)]
    surplus = range(core, ranks)
    fold = [Transfer(rank, rank - core, tuple(block_bytes), merge=True) for rank in surplus]
    rounds = [fold, *halving_rounds(range(core), parts), *gather_rounds(core)]
    return _reduce(ranks, rounds, block_bytes, "halving and gather")


def chain_broadcast(ranks: int, size: int, segments: int = 1) -> Movement:
    """Broadcast along a chain, the buffer cut into equal segments."""
    return segmented_chain_broadcast(ranks, shares(size, segments))


def segmented_chain_broadcast(ranks: int, segment_bytes: Sequence[int]) -> Movement:
    """Broadcast along a chain in segments of given bytes."""
    segments = len(segment_bytes)
    rounds = [
        [
            Transfer(rank, rank + 1, (moment - rank,))
            for rank in range(ranks - 1)
            if 0 <= moment - rank < segments
        ]
        for moment in range(ranks + segments - 2)
    ]
    return _broadcast(ranks, rounds, dict(enumerate(segment_bytes)), "chain broadcast")


def chain_reduce(ranks: int, size: int, segments: int = 1) -> Movement:
    """Reduce along a chain: the broadcast run backwards."""
    chain = chain_broadcast(ranks, size, segments)
    return _reduce(ranks, backwards(chain.rounds), dict(chain.block_bytes), "chain reduce")


def heap_tree(ranks: int) -> Tree:
    """Parents in the complete binary tree filled level by level."""
    return tuple((rank - 1) // 2 if rank else -1 for rank in range(ranks))


def two_trees(ranks: int) -> tuple[Tree, Tree]:
    """Two binary trees; an inner rank of one is (but for one rank) a leaf of the other.

    Ranks 1 to p - 1 form an in-order binary tree in which odd ones are leaves; the second is
    the first, mirrored for an even number of members, shifted by one for an odd number.
    Rank 0 stands above both (P. Sanders, J. Speck, J. L. Traff, Parallel Computing 35, 2009).
    """
    members = ranks - 1
    first = [-1] * ranks
    _in_order(first, 1, members, 0)
    second = [-1] * ranks
    for rank in range(1, ranks):
        twin = ranks - rank if members % 2 == 0 else rank % members + 1
        parent = first[rank]
        if parent:
            parent = ranks - parent if members % 2 == 0 else parent % members + 1
        second[twin] = parent
    return tuple(first), tuple(second)


def _in_order(parents: list[int], low: int, high: int, parent: int) -> None:
    """Hang ranks low to high under a parent so that inner ranks are the even ones."""
    if low > high:
        return
    step = 1
    while low + 2 * step - 1 <= high:
        step *= 2
    middle = low + step - 1
    parents[middle] = parent
    _in_order(parents, low, middle - 1, middle)
    _in_order(parents, middle + 1, high, middle)


def depths(tree: Tree) -> list[int]:
    """Hops from the root of each rank."""

    def depth(rank: int) -> int:
        return 0 if tree[rank] < 0 else 1 + depth(tree[rank])

    return [depth(rank) for rank in range(len(tree))]


def _colours(trees: Sequence[Tree]) -> dict[tuple[int, int], int]:
    """Colour 0 or 1 for the edge into each (tree, rank), different at every port.

    A rank sends to two children and receives from one parent a tree. Sending and receiving
    ports joined by edges form paths and even cycles, so that alternating works.
    """
    edges = [(k, rank) for k, tree in enumerate(trees) for rank in range(1, len(tree))]
    ports: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for k, rank in edges:
        ports.setdefault(("out", trees[k][rank]), []).append((k, rank))
        ports.setdefault(("in", rank), []).append((k, rank))
    colour: dict[tuple[int, int], int] = {}
    for first in edges:
        colour.setdefault(first, 0)
        open_edges = [first]
        while open_edges:
            k, rank = open_edges.pop()
            for port in (("out", trees[k][rank]), ("in", rank)):
                for other in ports[port]:
                    if other not in colour:
                        colour[other] = 1 - colour[k, rank]
                        open_edges.append(other)
    return colour


def _down_rounds(trees: Sequence[Tree], blocks: Sequence[Sequence[Block]]) -> Rounds:
    """Broadcast rounds: blocks of each tree one behind the other, every second round.

    An edge of colour c works in rounds of parity c, so that no port is wanted twice at a time.
    """
    colour = _colours(trees)
    rounds: dict[int, list[Transfer]] = {}
    for k, (tree, own) in enumerate(zip(trees, blocks, strict=True)):
        first = {0: -1}
        for rank in sorted(range(1, len(tree)), key=depths(tree).__getitem__):
            after = first[tree[rank]] + 1
            first[rank] = after + (after + colour[k, rank]) % 2
            for number, block in enumerate(own):
                transfer = Transfer(tree[rank], rank, (block,))
                rounds.setdefault(first[rank] + 2 * number, []).append(transfer)
    return [rounds[moment] for moment in sorted(rounds)]


def binary_tree_broadcast(ranks: int, size: int, segments: int = 1) -> Movement:
    """Broadcast down a complete binary tree, pipelined."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, segments)))
    rounds = _down_rounds([heap_tree(ranks)], [list(block_bytes)])
    return _broadcast(ranks, rounds, block_bytes, "binary tree broadcast")


def binary_tree_reduce(ranks: int, size: int, segments: int = 1) -> Movement:
    """Reduce up a complete binary tree: the broadcast run backwards."""
    tree = binary_tree_broadcast(ranks, size, segments)
    return _reduce(ranks, backwards(tree.rounds), dict(tree.block_bytes), "binary tree reduce")


def binary_tree_allreduce(ranks: int, size: int, segments: int = 1) -> Movement:
    """Reduce up and broadcast down a complete binary tree, pipelined."""
    return _tree_allreduce([heap_tree(ranks)], size, segments, "binary tree allreduce")


def double_tree_broadcast(ranks: int, size: int, segments: int = 2) -> Movement:
    """Broadcast down two binary trees, every other segment on each."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, segments)))
    halves = [list(block_bytes)[0::2], list(block_bytes)[1::2]]
    rounds = _down_rounds(two_trees(ranks), halves)
    return _broadcast(ranks, rounds, block_bytes, "double tree broadcast")


def double_tree_reduce(ranks: int, size: int, segments: int = 2) -> Movement:
    """Reduce up two binary trees: the broadcast run backwards."""
    tree = double_tree_broadcast(ranks, size, segments)
    return _reduce(ranks, backwards(tree.rounds), dict(tree.block_bytes), "double tree reduce")


def double_tree_allreduce(ranks: int, size: int, segments: int = 2) -> Movement:
    """Reduce up and broadcast down two binary trees, every other segment on each."""
    return _tree_allreduce(two_trees(ranks), size, segments, "double tree allreduce")


def _tree_allreduce(trees: Sequence[Tree], size: int, segments: int, name: str) -> Movement:
    """Reduce rounds, then broadcast rounds with the segments that come up first ahead."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, segments)))
    ranks = len(trees[0])
    start, whole = reduction(ranks, block_bytes)
    own = [list(block_bytes)[k :: len(trees)] for k in range(len(trees))]
    rounds = backwards(_down_rounds(trees, own))
    rounds += _down_rounds(trees, [blocks[::-1] for blocks in own])
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, name)
