"""Closed forms on placements, and LogGP forms, against simulated schedules."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from helpers import schedules_doubling as doubling
from helpers import schedules_rings as rings
from helpers import schedules_trees as trees
from helpers.loggops import SEND, Machine, Operation, Schedule, simulate
from helpers.schedules import Movement, build, deliver, reduction, side_by_side
from helpers.schedules_alltoall import pairwise_alltoall, rail_alltoall
from helpers.schedules_doubling import is_power
from helpers.schedules_ported import Link, simulate_ports, two_level

from scalemath.core.kernel import total
from scalemath.kernels import hierarchy_allreduce as placed
from scalemath.kernels import hierarchy_bytes as carried
from scalemath.kernels import hierarchy_exchange as exchange
from scalemath.kernels import loggp

SHAPES = [(4, 3), (8, 3), (2, 5), (3, 4), (1, 4), (4, 1)]
# (latency, time per byte) inside and outside a node: network slower, network faster
LEVELS = [((50, 1), (300, 9)), ((0, 1), (0, 9)), ((50, 9), (300, 2)), ((0, 9), (0, 1))]


def _arguments(
    size: int, per_node: int, nodes: int, levels: tuple[tuple[int, int], tuple[int, int]]
) -> dict[str, float]:
    (inner_latency, inner), (outer_latency, outer) = levels
    return {
        "size": float(size),
        "domain": float(per_node),
        "domains": float(nodes),
        "nics_per_domain": float(per_node),
        "domain_bandwidth": 1.0 / inner,
        "nic_bandwidth": 1.0 / outer,
        "domain_latency": float(inner_latency),
        "nic_latency": float(outer_latency),
    }


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("levels", LEVELS)
def test_two_level_allreduce_is_exact(
    shape: tuple[int, int], levels: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    per_node, nodes = shape
    size = per_node * nodes * 96
    arguments = _arguments(size, per_node, nodes, levels)
    for per_byte in (0, 2):
        built = build(rings.hierarchical_allreduce(shape, size), per_byte)
        rate = 1.0 / per_byte if per_byte else math.inf
        stated = total(placed.allreduce_two_level(**arguments, reduction_rate=rate))
        for rounds in (None, built.rounds):
            run = simulate_ports(built.schedule, two_level(per_node, *levels), rounds)
            assert run.makespan == pytest.approx(stated, rel=1e-12)


def test_three_level_allreduce_is_exact() -> None:
    shape = (4, 3, 2)
    costs = ((20, 1), (100, 4), (700, 11))
    size = 24 * 50

    def link(rank: int, op: Operation) -> Link:
        level = 0 if rank // 4 == op.peer // 4 else 1 if rank // 12 == op.peer // 12 else 2
        return Link((rank, level), (op.peer, level), *costs[level])

    built = build(rings.hierarchical_allreduce(shape, size), 2)
    stated = placed.allreduce_three_level(
        float(size),
        *map(float, shape),
        *(1.0 / per_byte for _, per_byte in costs),
        *(float(latency) for latency, _ in costs),
        0.5,
    )
    assert simulate_ports(built.schedule, link).makespan == pytest.approx(total(stated), rel=1e-12)


def _in_chunks(shape: tuple[int, int], size: int, chunks: int) -> Movement:
    """The two-level allreduce of every chunk, each beginning a little after the one before."""
    ranks = shape[0] * shape[1]
    one = rings.hierarchical_allreduce(shape, size // chunks)
    block_bytes = {(k, b): n for k in range(chunks) for b, n in one.block_bytes.items()}
    phases = [
        [[] for _ in range(k * (max(shape) - 1))]
        + [
            [t._replace(blocks=tuple((k, b) for b in t.blocks)) for t in transfers]
            for transfers in one.rounds
        ]
        for k in range(chunks)
    ]
    start, whole = reduction(ranks, block_bytes)
    return Movement(ranks, side_by_side(phases), block_bytes, start, [whole] * ranks, "chunks")


@pytest.mark.parametrize("shape", [(4, 3), (2, 5), (3, 4)])
def test_overlapped_two_level_is_what_chunks_come_close_to(shape: tuple[int, int]) -> None:
    """At no latency twelve chunks take at most 5 % more than the overlapped form states."""
    per_node, nodes = shape
    size = per_node * nodes * 12 * 20
    movement = _in_chunks(shape, size, 12)
    deliver(movement)
    built = build(movement)
    for levels in (LEVELS[1], LEVELS[3]):
        arguments = _arguments(size, per_node, nodes, levels)
        stated = total(placed.allreduce_two_level_overlapped(**arguments, reduction_rate=math.inf))
        run = simulate_ports(built.schedule, two_level(per_node, *levels))
        assert stated * (1 - 1e-12) <= run.makespan <= stated * 1.05


@pytest.mark.parametrize("shape", SHAPES[:4])
@pytest.mark.parametrize("levels", LEVELS)
def test_flat_ring(shape: tuple[int, int], levels: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """Every step waits for the slower hop; exact when one hop has both the longer latency and
    the lower rate, an upper bound when they are on different hops."""
    per_node, nodes = shape
    ranks = per_node * nodes
    size = ranks * 240
    built = build(rings.rail_ring_allreduce(nodes, per_node, size, 1))
    time = simulate_ports(built.schedule, two_level(per_node, *levels)).makespan
    assert time == 2 * (ranks - 1) * max(latency + 240 * rate for latency, rate in levels)
    flat = _arguments(size, per_node, nodes, levels)
    del flat["nics_per_domain"]
    stated = total(placed.allreduce_flat(**flat, reduction_rate=math.inf))
    if levels[0][0] == 0 or levels[1] == (300, 9):
        assert time == pytest.approx(stated, rel=1e-12)
    else:
        assert time < stated


@pytest.mark.parametrize("shape", SHAPES[:4])
@pytest.mark.parametrize("levels", LEVELS)
def test_rail_rings(
    shape: tuple[int, int], levels: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    """Exact where the network sets the pace and messages are long.

    Otherwise an upper bound: the closed form charges every byte at the inner rate, although of
    each ring one hop in every node leaves it; (ranks_per_node - 1) / ranks_per_node of it is
    reached at no latency. (Short messages of several rings share the latency of one port,
    which the closed form leaves out.)
    """
    per_node, nodes = shape
    size = per_node * per_node * nodes * 240
    arguments = _arguments(size, per_node, nodes, levels)
    built = build(rings.rail_ring_allreduce(nodes, per_node, size, per_node))
    time = simulate_ports(built.schedule, two_level(per_node, *levels)).makespan
    stated = total(placed.allreduce_rails(**arguments, reduction_rate=math.inf))
    inner_share = (per_node - 1) / per_node
    if levels[1][1] == 9:
        assert time == pytest.approx(stated, rel=1e-12)
    elif levels[0][0] == 0:
        assert time == pytest.approx(stated * inner_share, rel=1e-12)
    else:
        assert 0.9 * inner_share * stated <= time <= stated


def _ports(schedule: Schedule, per_node: int) -> tuple[int, int]:
    """Bytes of the busiest port inside nodes and of the busiest one between them."""
    inside = [0] * len(schedule)
    between = [0] * len(schedule)
    for rank, operations in enumerate(schedule):
        for op in operations:
            if op.kind == SEND:
                same = rank // per_node == op.peer // per_node
                (inside if same else between)[rank] += op.amount
    return max(inside), max(between)


@pytest.mark.parametrize("shape", [(4, 3), (2, 5), (3, 4), (5, 5)])
def test_bytes_of_each_kind_of_port(shape: tuple[int, int]) -> None:
    per_node, nodes = shape
    ranks = per_node * nodes
    size = per_node * ranks * 10
    numbers = (float(size), float(per_node), float(nodes))
    nics = float(per_node)
    cases = {
        "flat": (
            rings.rail_ring_allreduce(nodes, per_node, size, 1),
            carried.ring_flat_bytes(2.0, *numbers),
        ),
        "rails": (
            rings.rail_ring_allreduce(nodes, per_node, size, per_node),
            carried.ring_rails_bytes(2.0, *numbers, nics),
        ),
        "two-level": (
            rings.hierarchical_allreduce(shape, size),
            carried.two_level_bytes(2.0, *numbers, nics),
        ),
        "all-to-all": (
            pairwise_alltoall(ranks, size),
            carried.all_to_all_flat_bytes(*numbers, nics),
        ),
        "all-to-all by rails": (
            rail_alltoall(nodes, per_node, size),
            carried.all_to_all_rails_bytes(*numbers, nics),
        ),
    }
    for name, (movement, stated) in cases.items():
        counted = _ports(build(movement).schedule, per_node)
        assert counted == pytest.approx(tuple(stated), rel=1e-12), name


@pytest.mark.parametrize("shape", SHAPES[:4])
@pytest.mark.parametrize("levels", LEVELS)
def test_rail_alltoall_in_two_levels(
    shape: tuple[int, int], levels: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    """Blocking, the two levels follow one another; eager, never slower than that."""
    per_node, nodes = shape
    size = per_node * nodes * 24
    built = build(rail_alltoall(nodes, per_node, size))
    arguments = _arguments(size, per_node, nodes, levels)
    stated = total(exchange.all_to_all_two_level(**arguments))
    links = two_level(per_node, *levels)
    blocking = simulate_ports(built.schedule, links, built.rounds).makespan
    assert blocking == pytest.approx(stated, rel=1e-12)
    assert simulate_ports(built.schedule, links).makespan <= blocking
    overlapped = total(exchange.all_to_all_rails(**arguments))
    assert overlapped <= blocking * (1 + 1e-12)


@pytest.mark.parametrize("shape", SHAPES[:4])
@pytest.mark.parametrize("levels", [LEVELS[1], LEVELS[3]])
def test_flat_alltoall_is_bound_by_its_busier_port(
    shape: tuple[int, int], levels: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    """At no latency: never below the stated time, and within a half of it in step order."""
    per_node, nodes = shape
    size = per_node * nodes * 24
    stated = total(exchange.all_to_all_flat(**_arguments(size, per_node, nodes, levels)))
    built = build(pairwise_alltoall(per_node * nodes, size))
    time = simulate_ports(built.schedule, two_level(per_node, *levels)).makespan
    assert stated * (1 - 1e-12) <= time <= 1.5 * stated


# latency, overhead, gap, gap per byte; in the last the gap is longer than a step
MACHINES = [
    Machine(1000, 0, 0, 1),
    Machine(2500, 1500, 1000, 6),
    Machine(5000, 500, 700, 2),
    Machine(1000, 200, 3000, 1),
]
STEPPED: dict[str, tuple[Callable[..., float], Callable[[int, int], Movement]]] = {
    "all-gather": (loggp.loggp_exchange_ring, rings.ring_allgather),
    "all-to-all": (loggp.loggp_exchange_ring, pairwise_alltoall),
}


def _simulated(movement: Movement, machine: Machine, per_byte: int = 0) -> int:
    return simulate(build(movement, per_byte, in_step=True).schedule, machine).makespan


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 16])
def test_loggp_rings_are_exact(machine: Machine, ranks: int) -> None:
    plain = tuple(map(float, machine[:4]))
    for block in (1, 64, 4096):
        size = ranks * block
        for kernel, make in STEPPED.values():
            stated = kernel(float(size), float(ranks), *plain)
            assert _simulated(make(ranks, size), machine) == pytest.approx(stated, rel=1e-12)
        ring = rings.ring_allreduce(ranks, size)
        for per_byte, rate in ((0, math.inf), (1, 1.0)):
            stated = loggp.loggp_allreduce_ring(float(size), float(ranks), *plain, rate)
            time = _simulated(ring, machine, per_byte)
            if machine.gap > 2000 and per_byte:  # reducing hides in the gap
                assert time <= stated
            else:
                assert time == pytest.approx(stated, rel=1e-12)


@pytest.mark.parametrize("machine", MACHINES[:3])
@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 3, 6, 13])
def test_loggp_by_powers_of_two(machine: Machine, ranks: int) -> None:
    """Exact for powers of two; a broadcast to other counts has shorter ways than stated."""
    numbers = float(ranks), float(machine.latency), float(machine.overhead)
    gap, per_byte = float(machine.gap), float(machine.gap_per_byte)
    for size in (ranks * 64, ranks * 4096):
        broadcast = _simulated(trees.binomial_broadcast(ranks, size), machine)
        stated = loggp.loggp_broadcast_binomial(float(size), *numbers, per_byte)
        if not is_power(ranks):
            floor = ranks.bit_length() - 1
            assert stated * floor / (floor + 1) <= broadcast <= stated
            continue
        assert broadcast == pytest.approx(stated, rel=1e-12)
        for cost, rate in ((0, math.inf), (1, 1.0)):
            doubled = _simulated(doubling.recursive_doubling_allreduce(ranks, size), machine, cost)
            stated = loggp.loggp_allreduce_doubling(float(size), *numbers, gap, per_byte, rate)
            assert doubled == pytest.approx(stated, rel=1e-12)
            halved = _simulated(doubling.rabenseifner_allreduce(ranks, size), machine, cost)
            stated = loggp.loggp_allreduce_rabenseifner(float(size), *numbers, per_byte, rate)
            assert halved == pytest.approx(stated, rel=1e-12)


def test_alpha_of_loggp_gives_a_message_its_time() -> None:
    for machine in MACHINES:
        for size in (1, 100, 70_000):
            numbers = float(machine.latency), float(machine.overhead), float(machine.gap_per_byte)
            time = _simulated(trees.binomial_broadcast(2, size), machine)
            assert time == loggp.loggp_message(float(size), *numbers)
            assert time == loggp.loggp_alpha(*numbers) + size * machine.gap_per_byte
