"""A stepper for schedules in the alpha-beta model: a message occupies its ports all the time.

This is Hockney's view, in which the closed forms are written. A message of s bytes takes
latency + s * time_per_byte from start to end, and for as long holds the port its sender sends
by and the port its receiver receives by. Ports are full duplex: the two sides are separate.
It starts as soon as the data are there and both ports are free; of several that could start,
the one that comes first in the schedule does. Calculations run one by one on each rank,
beside the ports.

Told the round of each operation, the ranks work as blocking programs do: a message does not
start before sender and receiver are done with everything of earlier rounds.

(LogGOPS differs: there the latency L does not hold a port, but receiving holds the processor.)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from heapq import heappop, heappush
from typing import NamedTuple

from helpers.loggops import CALCULATION, SEND, Deadlock, Operation, Schedule


class Link(NamedTuple):
    """How one message travels: the ports it holds and what it costs."""

    sending_port: Hashable
    receiving_port: Hashable
    latency: int
    time_per_byte: int


LinkOf = Callable[[int, Operation], Link]


class PortedRun(NamedTuple):
    """Makespan, and the time each sending port was held."""

    makespan: int
    busy: dict[Hashable, int]


def one_port(latency: int, time_per_byte: int) -> LinkOf:
    """Every rank has one port, the same for all peers."""
    return lambda rank, op: Link(rank, op.peer, latency, time_per_byte)


def port_per_lane(latency: int, time_per_byte: int) -> LinkOf:
    """Every rank has a port for each lane of the movement."""
    return lambda rank, op: Link((rank, op.lane), (op.peer, op.lane), latency, time_per_byte)


def two_level(ranks_per_node: int, inside: tuple[int, int], outside: tuple[int, int]) -> LinkOf:
    """Every rank has one port inside its node and one to the other nodes."""

    def link(rank: int, op: Operation) -> Link:
        same = rank // ranks_per_node == op.peer // ranks_per_node
        return Link((rank, same), (op.peer, same), *(inside if same else outside))

    return link


def simulate_ports(
    schedule: Schedule, link_of: LinkOf, rounds: list[list[int]] | None = None
) -> PortedRun:
    """Run a schedule whose messages hold their ports from start to end.

    Parameters
    ----------
    schedule : list of list of Operation
        Operations of each rank.
    link_of : callable
        Ports and costs of a message from its sender and its send.
    rounds : list of list of int, optional
        Round of each operation of each rank; given, ranks block round by round.
    """
    missing = [[len(op.requires) for op in operations] for operations in schedule]
    after: list[dict[int, list[int]]] = [defaultdict(list) for _ in schedule]
    receive_of: dict[int, tuple[int, int]] = {}
    links: dict[int, Link] = {}
    sends: dict[int, tuple[int, int]] = {}
    for rank, operations in enumerate(schedule):
        for index, op in enumerate(operations):
            for before in op.requires:
                after[rank][before].append(index)
            if op.kind == SEND:
                links[op.tag] = link_of(rank, op)
                sends[op.tag] = (rank, index)
            elif op.kind != CALCULATION:
                receive_of[op.tag] = (rank, index)
    left = [Counter(numbers) for numbers in rounds or []]
    progress = [min(counts, default=0) for counts in left]  # first round not yet done, by rank

    def blocked_by_rounds(tag: int) -> bool:
        if rounds is None:
            return False
        (sender, send), (receiver, _) = sends[tag], receive_of[tag]
        number = rounds[sender][send]
        return progress[sender] < number or progress[receiver] < number

    busy_sending: dict[Hashable, int] = defaultdict(int)
    sending: set[Hashable] = set()  # ports in use
    receiving: set[Hashable] = set()
    ready: list[int] = []  # tags of messages that could start but for their ports
    waiting: dict[int, list[int]] = defaultdict(list)  # calculations of a rank
    calculating: set[int] = set()
    may_calculate: set[int] = set()
    events: list[tuple[int, int, int, int]] = []  # time, kind, rank or tag, operation
    done = 0

    def finish(rank: int, index: int) -> None:
        nonlocal done
        done += 1
        if rounds is not None:
            number = rounds[rank][index]
            left[rank][number] -= 1
            if left[rank][number] == 0:
                del left[rank][number]
                progress[rank] = min(left[rank], default=number + 1)
        for later in after[rank][index]:
            missing[rank][later] -= 1
            if missing[rank][later] == 0:
                start(rank, later)

    def start(rank: int, index: int) -> None:
        op = schedule[rank][index]
        if op.kind == SEND:
            heappush(ready, op.tag)
        elif op.kind == CALCULATION:
            heappush(waiting[rank], index)
            may_calculate.add(rank)

    for rank, counts in enumerate(missing):
        for index, count in enumerate(counts):
            if count == 0:
                start(rank, index)
    now = 0
    while True:
        blocked = []
        while ready:
            tag = heappop(ready)
            link = links[tag]
            if (
                link.sending_port in sending
                or link.receiving_port in receiving
                or blocked_by_rounds(tag)
            ):
                blocked.append(tag)
                continue
            sending.add(link.sending_port)
            receiving.add(link.receiving_port)
            rank, index = sends[tag]
            length = link.latency + schedule[rank][index].amount * link.time_per_byte
            busy_sending[link.sending_port] += length
            heappush(events, (now + length, SEND, tag, 0))
        ready.extend(blocked)  # in order already
        for rank in may_calculate - calculating:
            index = heappop(waiting[rank])
            calculating.add(rank)
            if not waiting[rank]:
                may_calculate.discard(rank)
            heappush(events, (now + schedule[rank][index].amount, CALCULATION, rank, index))
        if not events:
            break
        now = events[0][0]
        while events and events[0][0] == now:
            _, kind, which, index = heappop(events)
            if kind == CALCULATION:
                calculating.discard(which)
                finish(which, index)
                continue
            link = links[which]
            sending.discard(link.sending_port)
            receiving.discard(link.receiving_port)
            finish(*sends[which])
            finish(*receive_of[which])
    total = sum(map(len, schedule))
    if done != total:
        raise Deadlock(f"{done} of {total} operations done")
    return PortedRun(now, dict(busy_sending))
