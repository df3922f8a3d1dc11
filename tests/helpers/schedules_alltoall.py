"""All-to-all movements. Block (s, d) goes from rank s to rank d; its own block stays put.

The size is what one rank sends in total, its own block included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from helpers.schedules import Block, Movement, Transfer, Values, contribution, shares

Rounds = list[list[Transfer]]


def _alltoall(ranks: int, bytes_to: Sequence[Sequence[int]], rounds: Rounds, name: str) -> Movement:
    pairs = [(s, d) for s in range(ranks) for d in range(ranks)]
    block_bytes: dict[Block, int] = {(s, d): bytes_to[s][d] for s, d in pairs}
    value = {(s, d): contribution(s * ranks + d) for s, d in pairs}
    start: list[Values] = [{(r, d): value[r, d] for d in range(ranks)} for r in range(ranks)]
    finish: list[Values] = [{(s, r): value[s, r] for s in range(ranks)} for r in range(ranks)]
    return Movement(ranks, rounds, block_bytes, start, finish, name)


def _even(ranks: int, size: int) -> list[list[int]]:
    return [shares(size, ranks)] * ranks


def pairwise_alltoall_v(bytes_to: Sequence[Sequence[int]]) -> Movement:
    """Step k sends to the rank k further on; bytes given for each pair."""
    ranks = len(bytes_to)
    rounds = [
        [Transfer(r, (r + step) % ranks, ((r, (r + step) % ranks),)) for r in range(ranks)]
        for step in range(1, ranks)
    ]
    return _alltoall(ranks, bytes_to, rounds, "pairwise all-to-all")


def pairwise_alltoall(ranks: int, size: int) -> Movement:
    """Step k sends to the rank k further on."""
    return pairwise_alltoall_v(_even(ranks, size))


def bruck_alltoall(ranks: int, size: int, radix: int = 2) -> Movement:
    """Bruck in a given radix: a block moves by the digits of its distance, lowest first."""
    rounds: Rounds = []
    weight = 1
    while weight < ranks:
        for digit in range(1, radix):
            distances = [k for k in range(ranks) if k // weight % radix == digit]
            if distances:
                rounds.append(
                    [
                        Transfer(
                            rank,
                            (rank + digit * weight) % ranks,
                            tuple(
                                (
                                    (rank - k % weight) % ranks,
                                    (rank - k % weight + k) % ranks,
                                )
                                for k in distances
                            ),
                        )
                        for rank in range(ranks)
                    ]
                )
        weight *= radix
    return _alltoall(ranks, _even(ranks, size), rounds, f"Bruck all-to-all, radix {radix}")


def rail_alltoall(nodes: int, ranks_per_node: int, size: int) -> Movement:
    """First inside the node to the rank on the right rail, then one message to each node."""
    ranks = nodes * ranks_per_node
    place: Callable[[int], tuple[int, int]] = lambda rank: divmod(rank, ranks_per_node)  # noqa: E731
    rounds: Rounds = []
    for step in range(1, ranks_per_node):
        transfers = []
        for rank in range(ranks):
            node, local = place(rank)
            to = (local + step) % ranks_per_node
            blocks = tuple((rank, other * ranks_per_node + to) for other in range(nodes))
            transfers.append(Transfer(rank, node * ranks_per_node + to, blocks))
        rounds.append(transfers)
    for step in range(1, nodes):
        transfers = []
        for rank in range(ranks):
            node, local = place(rank)
            target = (node + step) % nodes * ranks_per_node + local
            mine = range(node * ranks_per_node, (node + 1) * ranks_per_node)
            transfers.append(Transfer(rank, target, tuple((s, target) for s in mine)))
        rounds.append(transfers)
    return _alltoall(ranks, _even(ranks, size), rounds, "rail-aligned all-to-all")
