"""A discrete-event stepper for message schedules in the LogGOPS model, in whole numbers.

The machine: every host has one processor and one network port whose sending and receiving
sides are free at their own times. Events are taken in order of time, ties by the order in
which they first entered the queue.

* A send waits until processor and sending side are free, at time t. It holds the processor
  for o + (s - 1) O and the sending side for g + (s - 1) G; its first byte is at the receiver
  at t + o + L. It is done at once, unless s > S: then it is done when the receiver matches it,
  and processor and sending side of the sender are not free before that moment.
* A message waits until processor and receiving side are free. It holds the processor for
  o + (s - 1) max(O, G) and the receiving side for g + (s - 1) G, and meets the earliest posted
  receive of its source and tag, or waits for one.
* Posting a receive costs nothing. A calculation holds the processor for its length.

Operations set free by a finished one start in the order send, receive, calculation, then by
their place in the schedule. A host is finished when its processor is free for the last time.

Model: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - Simulating Large-Scale
Applications in the LogGOPS Model", LSAP 2010.
"""

from __future__ import annotations

from collections import defaultdict, deque
from heapq import heappop, heappush
from typing import NamedTuple

SEND, RECEIVE, CALCULATION, MESSAGE = 1, 2, 3, 4


class Machine(NamedTuple):
    """LogGOPS parameters in whole units of time (and of time per byte)."""

    latency: int
    overhead: int = 0
    gap: int = 0
    gap_per_byte: int = 0
    overhead_per_byte: int = 0
    rendezvous_above: int = 2**31 - 1


class Operation(NamedTuple):
    """One operation of a host; `peer` and `tag` mean nothing for a calculation.

    `requires` names operations of the same host that must be done before, `irequires` ones
    that must have started. `amount` is bytes, or the length of a calculation. `lane` names
    one of several ports for steppers that know more than one.
    """

    kind: int
    peer: int
    amount: int
    tag: int
    requires: tuple[int, ...] = ()
    irequires: tuple[int, ...] = ()
    lane: int = 0


Schedule = list[list[Operation]]


class Run(NamedTuple):
    """What a simulated schedule did.

    `host_end` is the time each host ends; `log` lists (host, operation) in the order of
    starting, receives and calculations in the order of being done; `matched` tells for each
    receive (host, operation) which send (host, operation) it met.
    """

    makespan: int
    host_end: list[int]
    log: list[tuple[int, int]]
    matched: dict[tuple[int, int], tuple[int, int]]


class Deadlock(RuntimeError):
    """A schedule that stops before all its operations are done."""


def simulate(schedule: Schedule, machine: Machine) -> Run:
    """Run a schedule on a LogGOPS machine.

    Parameters
    ----------
    schedule : list of list of Operation
        Operations of each host.
    machine : Machine
        The LogGOPS parameters.

    Returns
    -------
    Run
        Makespan, end of each host, order of events and matching.
    """
    latency, overhead, gap, per_byte, processor_per_byte, rendezvous_above = machine
    receive_per_byte = max(per_byte, processor_per_byte)
    hosts = range(len(schedule))
    processor, sending, receiving = ([0] * len(schedule) for _ in range(3))
    after_done: list[dict[int, list[int]]] = [defaultdict(list) for _ in hosts]
    after_start: list[dict[int, list[int]]] = [defaultdict(list) for _ in hosts]
    missing: list[list[int]] = []
    for host in hosts:
        missing.append([len(op.requires) + len(op.irequires) for op in schedule[host]])
        for index, op in enumerate(schedule[host]):
            for before in op.requires:
                after_done[host][before].append(index)
            for before in op.irequires:
                after_start[host][before].append(index)
    posted: list[dict[tuple[int, int], deque[int]]] = [defaultdict(deque) for _ in hosts]
    unexpected: list[dict[tuple[int, int], deque[int]]] = [defaultdict(deque) for _ in hosts]
    log: list[tuple[int, int]] = []
    matched: dict[tuple[int, int], tuple[int, int]] = {}
    queue: list[tuple[int, int, int, int, int]] = []  # time, stamp, kind, host, operation
    stamp = 0
    done_count = 0
    freed: dict[int, list[int]] = {}

    def release(host: int, waiting: list[int]) -> None:
        for index in waiting:
            missing[host][index] -= 1
            if missing[host][index] == 0:
                freed.setdefault(host, []).append(index)

    def enqueue(host: int, ready: list[int], first: bool = False) -> None:
        nonlocal stamp
        operations = schedule[host]
        for index in sorted(ready, key=lambda i: (operations[i].kind, i)):
            kind = operations[index].kind
            time = processor[host]
            if kind == SEND and sending[host] > time:
                time = sending[host]
            heappush(queue, (0 if first else time, stamp, kind, host, index))
            stamp += 1

    for host in hosts:
        enqueue(host, [i for i, count in enumerate(missing[host]) if count == 0], first=True)

    while queue:
        time, entered, kind, host, index = heappop(queue)
        op = schedule[host][index]
        if kind == MESSAGE:  # here host and index are those of the send
            target = op.peer
            free = max(processor[target], receiving[target])
            if free > time:
                heappush(queue, (free, entered, kind, host, index))
                continue
            processor[target] = time + overhead + (op.amount - 1) * receive_per_byte
            receiving[target] = time + gap + (op.amount - 1) * per_byte
            waiting = posted[target][host, op.tag]
            if not waiting:
                unexpected[target][host, op.tag].append(index)
                continue
            receive = waiting.popleft()
            if op.amount > rendezvous_above:
                release(host, after_done[host][index])
                done_count += 1
                processor[host] = max(processor[host], time)
                sending[host] = max(sending[host], time)
            matched[target, receive] = (host, index)
            log.append((target, receive))
            release(target, after_done[target][receive])
            done_count += 1
        elif kind == SEND:
            free = max(processor[host], sending[host])
            if free > time:
                heappush(queue, (free, entered, kind, host, index))
                continue
            processor[host] = time + overhead + (op.amount - 1) * processor_per_byte
            sending[host] = time + gap + (op.amount - 1) * per_byte
            log.append((host, index))
            release(host, after_start[host][index])
            heappush(queue, (time + overhead + latency, stamp, MESSAGE, host, index))
            stamp += 1
            if op.amount <= rendezvous_above:
                release(host, after_done[host][index])
                done_count += 1
        elif kind == RECEIVE:
            release(host, after_start[host][index])
            arrived = unexpected[host][op.peer, op.tag]
            if not arrived:
                posted[host][op.peer, op.tag].append(index)
            else:
                send = arrived.popleft()
                if op.amount > rendezvous_above:
                    release(op.peer, after_done[op.peer][send])
                    done_count += 1
                    processor[op.peer] = max(processor[op.peer], time)
                    sending[op.peer] = max(sending[op.peer], time)
                matched[host, index] = (op.peer, send)
                log.append((host, index))
                release(host, after_done[host][index])
                done_count += 1
        else:
            if processor[host] > time:
                heappush(queue, (processor[host], entered, kind, host, index))
                continue
            processor[host] = time + op.amount
            log.append((host, index))
            release(host, after_start[host][index])
            release(host, after_done[host][index])
            done_count += 1
        if freed:
            for owner in sorted(freed):
                enqueue(owner, freed[owner])
            freed.clear()

    total = sum(len(operations) for operations in schedule)
    if done_count != total:
        stuck = [(h, i) for h in hosts for i, count in enumerate(missing[h]) if count]
        raise Deadlock(f"{done_count} of {total} operations done; not started: {stuck[:8]}")
    return Run(max(processor, default=0), processor, log, matched)
