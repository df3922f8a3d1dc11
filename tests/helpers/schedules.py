"""Data movements, and the schedules that follow from them.

A movement says which blocks go from which rank to which, round by round, and whether they are
merged into what is there or put in its place. From it come, each on its own way,

* `deliver`: the data after all rounds, every contribution counted;
* `build`: a schedule of sends, receives and calculations in which a send waits for the
  operations that made the data it carries and for nothing else;
* `replay`: the data after a *simulated* schedule, values flowing only along its messages and
  its declared dependencies;
* bytes sent per pair of ranks.

A value is a multiset of contributions, kept as one integer: each contribution is a power of
256, merging is adding. A contribution counted twice shows as a digit 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from helpers.loggops import CALCULATION, RECEIVE, SEND, Machine, Operation, Run, Schedule, simulate

Block = Hashable
Values = dict[Block, int]


def contribution(number: int) -> int:
    """The multiset holding one contribution."""
    return 1 << 8 * number


def everything(count: int) -> int:
    """The multiset holding the first `count` contributions, each once."""
    return sum(map(contribution, range(count)))


def shares(size: int, parts: int) -> list[int]:
    """Bytes of each part of a buffer: as even as can be, the first ones one byte larger."""
    small, larger = divmod(size, parts)
    return [small + (part < larger) for part in range(parts)]


def reduction(ranks: int, blocks: Mapping[Block, int]) -> tuple[list[Values], Values]:
    """Start and wanted end of a reduction: each rank contributes once to every block."""
    start = [dict.fromkeys(blocks, contribution(rank)) for rank in range(ranks)]
    return start, dict.fromkeys(blocks, everything(ranks))


def owned(ranks: int, size: int) -> tuple[dict[Block, int], list[Values], Values]:
    """Blocks by rank with their bytes, each held by its rank at first, and all of them."""
    block_bytes: dict[Block, int] = dict(enumerate(shares(size, ranks)))
    start: list[Values] = [{rank: contribution(rank)} for rank in range(ranks)]
    return block_bytes, start, {rank: contribution(rank) for rank in range(ranks)}


def side_by_side(phases: Iterable[list[list[Transfer]]]) -> list[list[Transfer]]:
    """Rounds of several groups that work at the same time."""
    return [
        [transfer for part in parts for transfer in part]
        for parts in zip_longest(*phases, fillvalue=())
    ]


class Transfer(NamedTuple):
    """Blocks going from one rank to another, merged there or replacing what is there.

    `lane` tells which port is used where a rank has several.
    """

    source: int
    target: int
    blocks: tuple[Block, ...]
    merge: bool = False
    lane: int = 0


@dataclass(frozen=True)
class Movement:
    """Rounds of transfers with the data before and the data wanted after.

    All transfers of a round read what their source holds when the round begins.
    """

    ranks: int
    rounds: list[list[Transfer]]
    block_bytes: Mapping[Block, int]
    start: list[Values]
    finish: list[Values]
    name: str = ""

    def message_bytes(self, transfer: Transfer) -> int:
        """Bytes of one transfer."""
        return sum(self.block_bytes[block] for block in transfer.blocks)


def backwards(rounds: Sequence[Sequence[Transfer]]) -> list[list[Transfer]]:
    """Rounds in which the data flow the other way and merge: all-gather to reduce-scatter."""
    return [
        [Transfer(t.target, t.source, t.blocks, merge=True, lane=t.lane) for t in transfers]
        for transfers in reversed(rounds)
    ]


class WrongData(AssertionError):
    """A movement or schedule that does not bring the right data to the right rank."""


def deliver(movement: Movement) -> list[Values]:
    """Carry the data round by round, check it against what is wanted, and return it."""
    held = [dict(values) for values in movement.start]
    for number, transfers in enumerate(movement.rounds):
        read = []
        for source, target, blocks, *_ in transfers:
            lacking = [block for block in blocks if block not in held[source]]
            if lacking:
                raise WrongData(f"round {number}: rank {source} lacks {lacking} for {target}")
            read.append({block: held[source][block] for block in blocks})
        for (_, target, _, merge, _), values in zip(transfers, read, strict=True):
            for block, value in values.items():
                held[target][block] = held[target].get(block, 0) + value if merge else value
    _compare(movement, held, frozenset())
    return held


def _compare(movement: Movement, held: Sequence[Values], empty: frozenset[Block]) -> None:
    for rank, wanted in enumerate(movement.finish):
        wrong = [
            block
            for block, value in wanted.items()
            if held[rank].get(block) != value and block not in empty
        ]
        if wrong:
            raise WrongData(f"{movement.name}: rank {rank} ends with wrong blocks {wrong[:8]}")


class Version(NamedTuple):
    """Where the data of a block at a rank comes from: its start value and operations."""

    from_start: bool
    operations: tuple[int, ...]


NOTHING = Version(False, ())


class Built(NamedTuple):
    """A schedule and, for each operation, where the blocks it handles come from.

    `rounds` gives the round of each operation; `empty` holds the blocks of no bytes that no
    message carried.
    """

    schedule: Schedule
    carried: list[dict[int, dict[Block, Version]]]
    final: list[dict[Block, Version]]
    empty: frozenset[Block]
    rounds: list[list[int]]


def build(movement: Movement, time_per_byte: int = 0, in_step: bool = False) -> Built:
    """Turn a movement into a schedule with unique tags.

    A merged message is followed by a calculation of `time_per_byte` times its bytes when that
    is not zero; the calculations on one block follow each other in the order of the rounds.
    Transfers of no bytes at all are left out: nobody sends them. With `in_step` a send also
    waits for what its rank received last in the rounds before, as blocking exchanges do.
    """
    schedule: Schedule = [[] for _ in range(movement.ranks)]
    carried: list[dict[int, dict[Block, Version]]] = [{} for _ in range(movement.ranks)]
    held = [{block: Version(True, ()) for block in values} for values in movement.start]
    tag = 0
    empty: set[Block] = set()
    latest: dict[int, int] = {}
    round_of: list[list[int]] = [[] for _ in range(movement.ranks)]
    for number, transfers in enumerate(movement.rounds):
        sent = []
        for transfer in transfers:
            size = movement.message_bytes(transfer)
            if size == 0:
                empty.update(transfer.blocks)
                continue
            has = held[transfer.source]
            versions = {block: has[block] for block in transfer.blocks if block not in empty}
            needed = {op for version in versions.values() for op in version.operations}
            if in_step and transfer.source in latest:
                needed.add(latest[transfer.source])
            requires = tuple(sorted(needed))
            carried[transfer.source][len(schedule[transfer.source])] = versions
            send = Operation(SEND, transfer.target, size, tag, requires, lane=transfer.lane)
            schedule[transfer.source].append(send)
            sent.append((transfer, size, tag))
            tag += 1
        for transfer, size, its_tag in sent:
            operations = schedule[transfer.target]
            made_by = len(operations)
            receive = Operation(RECEIVE, transfer.source, size, its_tag, lane=transfer.lane)
            operations.append(receive)
            if transfer.merge and time_per_byte:
                earlier = {
                    op
                    for block in transfer.blocks
                    for op in held[transfer.target].get(block, NOTHING).operations
                    if operations[op].kind == CALCULATION
                }
                requires = (made_by, *sorted(earlier))
                length = size * time_per_byte
                operations.append(Operation(CALCULATION, -1, length, -1, requires))
                made_by += 1
            latest[transfer.target] = made_by
            for block in transfer.blocks:
                if block in empty:
                    continue
                before = held[transfer.target].get(block, NOTHING) if transfer.merge else NOTHING
                held[transfer.target][block] = Version(
                    before.from_start, (*before.operations, made_by)
                )
        for rank, operations in enumerate(schedule):
            round_of[rank] += [number] * (len(operations) - len(round_of[rank]))
    return Built(schedule, carried, held, frozenset(empty), round_of)


def replay(movement: Movement, built: Built, run: Run) -> list[Values]:
    """Carry the data in the order of a simulated run, check it, and return it.

    A value reaches an operation only through a message that was matched or an operation it
    requires, so that a dependency left out or a wrong tag shows as wrong data.
    """
    made: list[dict[int, Values]] = [{} for _ in range(movement.ranks)]

    def assemble(rank: int, block: Block, version: Version, allowed: Sequence[int]) -> int:
        value = movement.start[rank].get(block, 0) if version.from_start else 0
        for op in version.operations:
            if op in allowed and block in made[rank].get(op, {}):
                value += made[rank][op][block]
        return value

    for rank, index in run.log:
        op = built.schedule[rank][index]
        if op.kind == SEND:
            versions = built.carried[rank][index]
            made[rank][index] = {
                block: assemble(rank, block, version, op.requires)
                for block, version in versions.items()
            }
        elif op.kind == RECEIVE:
            sender, send = run.matched[rank, index]
            made[rank][index] = made[sender][send]
        else:
            made[rank][index] = made[rank].get(op.requires[0], {})
    held = [
        {block: assemble(rank, block, v, v.operations) for block, v in built.final[rank].items()}
        for rank in range(movement.ranks)
    ]
    _compare(movement, held, built.empty)
    return held


def checked_run(movement: Movement, machine: Machine, time_per_byte: int = 0) -> Run:
    """Check the movement, build its schedule, simulate it, check the data it brought."""
    deliver(movement)
    built = build(movement, time_per_byte)
    run = simulate(built.schedule, machine)
    replay(movement, built, run)
    return run


def bytes_sent(schedule: Schedule) -> list[int]:
    """Bytes each rank sends."""
    return [sum(op.amount for op in host if op.kind == SEND) for host in schedule]


def bytes_received(schedule: Schedule) -> list[int]:
    """Bytes each rank receives."""
    return [sum(op.amount for op in host if op.kind == RECEIVE) for host in schedule]


def bytes_merged(movement: Movement) -> list[int]:
    """Bytes each rank reduces."""
    merged = [0] * movement.ranks
    for transfers in movement.rounds:
        for transfer in transfers:
            if transfer.merge:
                merged[transfer.target] += movement.message_bytes(transfer)
    return merged
