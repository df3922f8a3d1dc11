"""Which movement stands behind each name in the recorded simulator runs.

Sizes are totals as in the movements, except for names that begin with "schedgen:": the
generator of that name sends the given bytes in every message (its ring and its doubling
allreduce divide them by the number of ranks), and its pipelined chain was recorded with
segments of 4096 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from helpers.schedules import Block, Built, Movement, Transfer, build, contribution, reduction
from helpers.schedules_alltoall import bruck_alltoall, pairwise_alltoall
from helpers.schedules_doubling import (
    bruck_allgather,
    dissemination,
    is_power,
    rabenseifner_allreduce,
    recursive_doubling_allgather,
    recursive_doubling_allreduce,
)
from helpers.schedules_rings import ring_allgather, ring_allreduce
from helpers.schedules_trees import (
    binomial_broadcast,
    binomial_reduce,
    binomial_scatter,
    chain_broadcast,
    depths,
    heap_tree,
    segmented_chain_broadcast,
)

Maker = Callable[[int, int], Movement]
GENERATOR_SEGMENT = 4096


class NotRebuilt(LookupError):
    """A recorded schedule that is not made again here; the text says why."""


def _growing_pairs(ranks: int) -> list[list[tuple[int, int]]]:
    """Sender and receiver of a binomial tree, nearest rank first: r to r + 2^k for r < 2^k."""
    rounds = []
    distance = 1
    while distance < ranks:
        rounds.append([(r, r + distance) for r in range(distance) if r + distance < ranks])
        distance *= 2
    return rounds


def near_first_broadcast(ranks: int, size: int) -> Movement:
    """Binomial broadcast, nearest rank first."""
    whole: dict[Block, int] = {"vector": 1}
    rounds = [
        [Transfer(low, high, ("vector",)) for low, high in pairs] for pairs in _growing_pairs(ranks)
    ]
    start = [whole] + [{} for _ in range(ranks - 1)]
    return Movement(ranks, rounds, {"vector": size}, start, [whole] * ranks, "near-first broadcast")


def near_last_reduce(ranks: int, size: int) -> Movement:
    """The same tree run backwards."""
    start, whole = reduction(ranks, {"vector": size})
    rounds = [
        [Transfer(high, low, ("vector",), merge=True) for low, high in pairs]
        for pairs in reversed(_growing_pairs(ranks))
    ]
    return Movement(ranks, rounds, {"vector": size}, start, [whole], "near-last reduce")


def level_broadcast(ranks: int, size: int) -> Movement:
    """Broadcast down a complete binary tree level by level, the first child first."""
    depth = depths(heap_tree(ranks))
    rounds = [
        [Transfer((r - 1) // 2, r, ("vector",)) for r in range(1, ranks) if depth[r] == level]
        for level in range(1, depth[-1] + 1)
    ]
    plain = near_first_broadcast(ranks, size)
    return Movement(ranks, rounds, plain.block_bytes, plain.start, plain.finish, "level broadcast")


def linear_scatter(ranks: int, bytes_each: int) -> Movement:
    """The root sends to one rank after the other."""
    blocks: dict[Block, int] = dict.fromkeys(range(ranks), bytes_each)
    whole: dict[Block, int] = {rank: contribution(rank) for rank in range(ranks)}
    start = [whole] + [{} for _ in range(ranks - 1)]
    finish: list[dict[Block, int]] = [{rank: contribution(rank)} for rank in range(ranks)]
    rounds = [[Transfer(0, rank, (rank,)) for rank in range(1, ranks)]]
    return Movement(ranks, rounds, blocks, start, finish, "linear scatter")


def linear_gather(ranks: int, bytes_each: int) -> Movement:
    """Every rank sends to the root at once."""
    scatter = linear_scatter(ranks, bytes_each)
    rounds = [[Transfer(t.target, t.source, t.blocks) for t in scatter.rounds[0]]]
    return Movement(
        ranks, rounds, scatter.block_bytes, scatter.finish, [scatter.start[0]], "linear gather"
    )


def _generator_ring(ranks: int, size: int) -> Movement:
    return ring_allreduce(ranks, size // ranks * ranks)


def _generator_doubling(ranks: int, size: int) -> Movement:
    if not is_power(ranks) or size % ranks:
        raise NotRebuilt("the generator's doubling is wrong data unless ranks are a power of two")
    return rabenseifner_allreduce(ranks, size)


def _generator_chain(ranks: int, size: int) -> Movement:
    full, rest = divmod(size, GENERATOR_SEGMENT)
    return segmented_chain_broadcast(ranks, [GENERATOR_SEGMENT] * full + [rest] * (rest > 0))


IN_STEP: dict[str, Maker] = {
    "p2p": binomial_broadcast,
    "binomial_bcast": binomial_broadcast,
    "binomial_reduce": binomial_reduce,
    "binomial_scatter": binomial_scatter,
    "ring_allreduce": ring_allreduce,
    "ring_allgather": ring_allgather,
    "recursive_doubling_allreduce": recursive_doubling_allreduce,
    "recursive_doubling_allgather": recursive_doubling_allgather,
    "rabenseifner_allreduce": rabenseifner_allreduce,
    "bruck_allgather": bruck_allgather,
    "bruck_alltoall": bruck_alltoall,
    "pairwise_alltoall": pairwise_alltoall,
}
GENERATED: dict[str, Maker] = {
    "schedgen:binomialtreebcast": near_first_broadcast,
    "schedgen:binomialtreereduce": near_last_reduce,
    "schedgen:binarytreebcast": level_broadcast,
    "schedgen:dissemination": dissemination,
    "schedgen:scatter": linear_scatter,
    "schedgen:gather": linear_gather,
    "schedgen:linear_alltoall": lambda ranks, size: pairwise_alltoall(ranks, size * ranks),
    "schedgen:allreduce_ring": _generator_ring,
    "schedgen:allreduce_recdoub": _generator_doubling,
    "schedgen:pipelinedring": _generator_chain,
}
SEGMENTED_CHAIN = re.compile(r"chain_bcast_seg(\d+)")


def recorded_movement(name: str, ranks: int, size: int) -> tuple[Movement, bool]:
    """The movement behind a recorded name, and whether its sends go step by step.

    The recorded exchanges other than the generator's are blocking: a send also waits for what
    its rank received in the step before. It shows in the pairwise all-to-all, and in Bruck's
    all-gather where the last step carries nothing that was received (5 ranks).
    """
    chain = SEGMENTED_CHAIN.fullmatch(name)
    if chain:
        return chain_broadcast(ranks, size, int(chain[1])), True
    if name in IN_STEP:
        return IN_STEP[name](ranks, size), True
    if name in GENERATED:
        return GENERATED[name](ranks, size), False
    raise NotRebuilt(f"no schedule is known under the name {name}")


def recorded_schedule(name: str, ranks: int, size: int, time_per_byte: int) -> Built:
    """The schedule behind a recorded name."""
    movement, in_step = recorded_movement(name, ranks, size)
    return build(movement, time_per_byte, in_step)
