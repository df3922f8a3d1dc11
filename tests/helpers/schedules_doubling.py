"""Movements by powers of two: recursive doubling and halving, Bruck, PAT, dissemination.

Rank counts that are no power of two are folded as MPICH does (Thakur, Rabenseifner, Gropp,
IJHPCA 19(1), 2005): of the first 2 r ranks, r the surplus, each even one hands its vector to
the odd one after it, stands aside, and is given the result at the end. Where the ranks own
blocks of their own, the folded ones are spread evenly instead.
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
    owned,
    reduction,
    shares,
)

Rounds = list[list[Transfer]]


def power_below(ranks: int) -> int:
    """The greatest power of two not above the number of ranks."""
    return 1 << (ranks.bit_length() - 1)


def is_power(ranks: int) -> bool:
    """Whether a number is a power of two."""
    return ranks & (ranks - 1) == 0


def exchange_rounds(group: Sequence[int], blocks: tuple[Block, ...]) -> Rounds:
    """Recursive doubling: whole vectors exchanged and merged at growing distance."""
    return [
        [Transfer(rank, group[i ^ distance], blocks, merge=True) for i, rank in enumerate(group)]
        for distance in _distances(len(group))
    ]


def halving_rounds(group: Sequence[int], parts: Sequence[tuple[Block, ...]]) -> Rounds:
    """Recursive halving reduce-scatter: part i ends at member i."""
    size = len(group)
    rounds = []
    for distance in reversed(_distances(size)):
        transfers = []
        for i, rank in enumerate(group):
            partner = i ^ distance
            first = partner & -distance  # the run of parts the partner's half keeps
            kept = tuple(b for part in parts[first : first + distance] for b in part)
            transfers.append(Transfer(rank, group[partner], kept, merge=True))
        rounds.append(transfers)
    return rounds


def doubling_rounds(group: Sequence[int], parts: Sequence[tuple[Block, ...]]) -> Rounds:
    """Recursive doubling all-gather: part i starts at member i."""
    rounds = []
    for distance in _distances(len(group)):
        transfers = []
        for i, rank in enumerate(group):
            first = i & -distance
            has = tuple(b for part in parts[first : first + distance] for b in part)
            transfers.append(Transfer(rank, group[i ^ distance], has))
        rounds.append(transfers)
    return rounds


def _distances(size: int) -> list[int]:
    if not is_power(size):
        raise ValueError(f"{size} members; recursive doubling needs a power of two")
    return [1 << k for k in range(size.bit_length() - 1)]


def fold_rounds(ranks: int, blocks: tuple[Block, ...]) -> tuple[Rounds, list[int], Rounds]:
    """Rounds before, the ranks that stay, and the rounds after."""
    surplus = ranks - power_below(ranks)
    if not surplus:
        return [], list(range(ranks)), []
    pairs = [(2 * k, 2 * k + 1) for k in range(surplus)]
    into = [Transfer(even, odd, blocks, merge=True) for even, odd in pairs]
    out = [Transfer(odd, even, blocks) for even, odd in pairs]
    stay = [odd for _, odd in pairs] + list(range(2 * surplus, ranks))
    return [into], stay, [out]


def recursive_doubling_allreduce(ranks: int, size: int) -> Movement:
    """Allreduce of the whole vector in lg p exchanges, folded when needed."""
    block_bytes: dict[Block, int] = {"vector": size}
    start, whole = reduction(ranks, block_bytes)
    before, group, after = fold_rounds(ranks, ("vector",))
    rounds = before + exchange_rounds(group, ("vector",)) + after
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "recursive doubling")


def rabenseifner_allreduce(ranks: int, size: int) -> Movement:
    """Recursive halving, then recursive doubling, folded when needed."""
    staying = power_below(ranks)
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, staying)))
    start, whole = reduction(ranks, block_bytes)
    before, group, after = fold_rounds(ranks, tuple(block_bytes))
    parts = [(part,) for part in range(staying)]
    rounds = before + halving_rounds(group, parts) + doubling_rounds(group, parts) + after
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "halving and doubling")


def _spread_fold(ranks: int) -> tuple[list[int], list[int], list[tuple[Block, ...]]]:
    """Folded ranks, the ranks they fold onto, and the blocks of each rank that stays.

    Ranks from the power of two on are folded onto ranks whose binary digits, read backwards,
    are the first numbers: any run of 2^k staying ranks then holds as few folded ones as can be.
    """
    core = power_below(ranks)
    width = core.bit_length() - 1
    backward = [int(f"{i:0{width}b}"[::-1], 2) if width else 0 for i in range(core)]
    onto = sorted(range(core), key=backward.__getitem__)[: ranks - core]
    folded = list(range(core, ranks))
    parts: list[tuple[Block, ...]] = [(rank,) for rank in range(core)]
    for rank, staying in zip(folded, onto, strict=True):
        parts[staying] = (staying, rank)
    return folded, onto, parts


def recursive_halving_reduce_scatter(ranks: int, size: int) -> Movement:
    """Reduce-scatter by recursive halving; folded ranks are sent their block at the end."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    start, whole = reduction(ranks, block_bytes)
    folded, onto, parts = _spread_fold(ranks)
    pairs = list(zip(folded, onto, strict=True))
    before = [[Transfer(rank, to, tuple(block_bytes), merge=True) for rank, to in pairs]]
    after = [[Transfer(to, rank, (rank,)) for rank, to in pairs]]
    rounds = before + halving_rounds(range(len(parts)), parts) + after
    finish: list[Values] = [{rank: whole[rank]} for rank in range(ranks)]
    return Movement(ranks, rounds, block_bytes, start, finish, "recursive halving")


def recursive_doubling_allgather(ranks: int, size: int) -> Movement:
    """All-gather in lg p exchanges; folded ranks hand in their block and get all the others."""
    block_bytes, start, whole = owned(ranks, size)
    folded, onto, parts = _spread_fold(ranks)
    pairs = list(zip(folded, onto, strict=True))
    before = [[Transfer(rank, to, (rank,)) for rank, to in pairs]]
    others = {rank: tuple(block for block in range(ranks) if block != rank) for rank in folded}
    after = [[Transfer(to, rank, others[rank]) for rank, to in pairs]]
    rounds = before + doubling_rounds(range(len(parts)), parts) + after
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "doubling all-gather")


def bruck_gather_rounds(ranks: int) -> Rounds:
    """Bruck's all-gather of blocks 0 to ranks - 1: round k carries min(2^k, p - 2^k) of them."""
    rounds = []
    distance = 1
    while distance < ranks:
        count = min(distance, ranks - distance)
        rounds.append(
            [
                Transfer(
                    rank,
                    (rank - distance) % ranks,
                    tuple((rank + k) % ranks for k in range(count)),
                )
                for rank in range(ranks)
            ]
        )
        distance *= 2
    return rounds


def bruck_allgather(ranks: int, size: int) -> Movement:
    """All-gather by Bruck, for any number of ranks."""
    block_bytes, start, whole = owned(ranks, size)
    rounds = bruck_gather_rounds(ranks)
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "Bruck all-gather")


Hops = list[tuple[int, int, tuple[int, ...]]]


def _pat_round(ranks: int, distance: int, steps: Sequence[int]) -> Hops:
    return [
        (rank, (rank + distance) % ranks, tuple((rank - step) % ranks for step in steps))
        for rank in range(ranks)
    ]


def _pat_rounds(ranks: int, aggregated: int) -> list[Hops]:
    """Source, target and blocks by round: a binomial tree from every rank, farthest first."""
    rounds: list[Hops] = []
    distance = 1 << ((ranks - 1).bit_length() - 1) if ranks > 1 else 0
    while distance:
        steps = range(0, ranks - distance, 2 * distance)
        rounds += [
            _pat_round(ranks, distance, steps[first : first + aggregated])
            for first in range(0, len(steps), aggregated)
        ]
        distance //= 2
    return rounds


def pat_allgather(ranks: int, size: int, aggregated: int = 1 << 30) -> Movement:
    """All-gather by parallel aggregated trees, at most `aggregated` blocks a message.

    arXiv:2506.20252: every block goes down a binomial tree, farthest rank first; the trees of
    all blocks work at the same time and share their messages.
    """
    block_bytes, start, whole = owned(ranks, size)
    rounds = [
        [Transfer(source, target, blocks) for source, target, blocks in transfers]
        for transfers in _pat_rounds(ranks, aggregated)
    ]
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "PAT all-gather")


def pat_reduce_scatter(ranks: int, size: int, aggregated: int = 1 << 30) -> Movement:
    """Reduce-scatter by parallel aggregated trees: the all-gather run backwards."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    start, whole = reduction(ranks, block_bytes)
    rounds = backwards(pat_allgather(ranks, size, aggregated).rounds)
    finish: list[Values] = [{rank: whole[rank]} for rank in range(ranks)]
    return Movement(ranks, rounds, block_bytes, start, finish, "PAT reduce-scatter")


def pairwise_reduce_scatter(ranks: int, size: int) -> Movement:
    """Reduce-scatter in which step k sends the rank k further on its block."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    start, whole = reduction(ranks, block_bytes)
    rounds = [
        [
            Transfer(rank, (rank + step) % ranks, ((rank + step) % ranks,), merge=True)
            for rank in range(ranks)
        ]
        for step in range(1, ranks)
    ]
    finish: list[Values] = [{rank: whole[rank]} for rank in range(ranks)]
    return Movement(ranks, rounds, block_bytes, start, finish, "pairwise reduce-scatter")


def dissemination(ranks: int, size: int = 1) -> Movement:
    """Barrier: after round k every rank knows of 2^(k+1) ranks. Messages of `size` bytes.

    Knowing a rank is a block of no bytes; the message itself is the block "signal".
    """
    block_bytes: dict[Block, int] = {"signal": size, **dict.fromkeys(range(ranks), 0)}
    start: list[Values] = [{"signal": 1, rank: contribution(rank)} for rank in range(ranks)]
    whole: Values = {rank: contribution(rank) for rank in range(ranks)}
    rounds = []
    distance = 1
    while distance < ranks:
        rounds.append(
            [
                Transfer(
                    rank,
                    (rank + distance) % ranks,
                    ("signal", *((rank - k) % ranks for k in range(distance))),
                )
                for rank in range(ranks)
            ]
        )
        distance *= 2
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "dissemination")


def token_barrier(ranks: int) -> Movement:
    """Barrier in which a token goes round twice: to gather who has come, and to tell."""
    block_bytes: dict[Block, int] = {"signal": 1, **dict.fromkeys(range(ranks), 0)}
    start: list[Values] = [{"signal": 1, rank: contribution(rank)} for rank in range(ranks)]
    whole: Values = {rank: contribution(rank) for rank in range(ranks)}
    rounds = [
        [Transfer(hop % ranks, (hop + 1) % ranks, ("signal", *range(min(hop + 1, ranks))))]
        for hop in range(2 * (ranks - 1))
    ]
    return Movement(ranks, rounds, block_bytes, start, [whole] * ranks, "token")
