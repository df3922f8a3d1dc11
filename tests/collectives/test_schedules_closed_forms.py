"""Closed forms against simulated schedules, 2 to 33 ranks.

Three machines, from the one the closed forms are written for to the one furthest away:

* one port, blocking rounds (a message holds both ports from start to end, and no rank runs
  ahead): every closed form is exact, for every number of ranks, reductions included;
* one port, eager (a rank goes on as soon as it can): exact but for what `EAGER` lists;
* LogGOPS with zero overhead and gap, L = latency + time per byte, G = time per byte (a
  message of s bytes then takes L + (s - 1) G = latency + s G): exact but for `LOGGOPS`, where
  the latency does not hold a port, or messages that come early do.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from helpers.loggops import Machine, simulate
from helpers.schedules import (
    Movement,
    build,
    bytes_merged,
    bytes_received,
    bytes_sent,
    deliver,
)
from helpers.schedules_alltoall import pairwise_alltoall_v
from helpers.schedules_doubling import dissemination, is_power, power_below, token_barrier
from helpers.schedules_kernels import CLAIMS, even_size
from helpers.schedules_ported import one_port, simulate_ports
from helpers.schedules_trees import binomial_allreduce

from scalemath.core.kernel import total
from scalemath.kernels import alltoall, barrier

PER_BYTE = 2
# latency against size: latency counts, both count, size counts; reduction per byte
REGIMES = ((50_000, 1, 3), (400, 8, 0), (1, 256, 3))
RANKS = range(2, 34)
SOME_RANKS = (2, 3, 4, 5, 7, 8, 11, 13, 17, 21, 27, 33)
SPANS = [
    pytest.param(SOME_RANKS, id="some"),
    pytest.param(tuple(RANKS), id="all", marks=pytest.mark.slow),
]


def _regimes(ranks: int, every: bool) -> tuple[tuple[int, int, int], ...]:
    """All regimes, or for many ranks one of them in turn."""
    return REGIMES if every or ranks <= 12 else (REGIMES[ranks % 3],)


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_closed_forms_are_exact_with_blocking_rounds(name: str, every: bool) -> None:
    claim = CLAIMS[name]
    for ranks in RANKS:
        for latency, unit, reduction in _regimes(ranks, every):
            size = even_size(ranks, unit)
            built = build(claim.movement(ranks, size), reduction)
            run = simulate_ports(built.schedule, one_port(latency, PER_BYTE), built.rounds)
            stated = total(claim.terms(size, ranks, latency, PER_BYTE, reduction))
            assert run.makespan == pytest.approx(stated, rel=1e-12), (ranks, latency, size)


@pytest.mark.parametrize("name", [name for name in CLAIMS if not name.endswith("direct")])
def test_sizes_that_do_not_divide_cost_at_most_a_byte_a_message(name: str) -> None:
    """Blocks are whole bytes; the closed form splits evenly."""
    claim = CLAIMS[name]
    for ranks in (3, 7, 12, 17):
        for size in (ranks * 50 + 1, ranks * 50 + ranks - 1):
            movement = claim.movement(ranks, size)
            built = build(movement)
            run = simulate_ports(built.schedule, one_port(100, 1), built.rounds)
            stated = total(claim.terms(size, ranks, 100, 1, 0))
            blocks = max(len(t.blocks) for transfers in movement.rounds for t in transfers)
            slack = len(movement.rounds) * blocks
            assert -slack <= run.makespan - stated <= slack, (ranks, size)


# Least and greatest simulated time over stated time for eager ranks, where not exactly one.
# Below one: reductions, or the next exchange, run beside messages. Above one: a rank that was
# not folded sends early and holds a port that a folded rank needs.
EAGER_WITHOUT_REDUCTION = {
    "broadcast scatter doubling": (1.0, 1.55),
    "allreduce rabenseifner": (1.0, 1.20),
    "reduce rabenseifner": (1.0, 1.23),
    "reduce-scatter halving": (1.0, 1.50),
}
EAGER_WITH_REDUCTION = {
    "allreduce recursive doubling": (0.83, 1.0),
    "allreduce rabenseifner": (1.0, 1.20),
    "allreduce binomial": (0.85, 1.0),
    "reduce-scatter pairwise": (0.55, 1.0),
    "reduce-scatter halving": (0.80, 1.50),
    "reduce-scatter PAT": (0.79, 1.0),
    "reduce binomial": (0.79, 1.0),
    "reduce rabenseifner": (1.0, 1.23),
}


@pytest.mark.parametrize(
    ("name", "reducing"),
    [(name, False) for name in CLAIMS] + [(name, True) for name in CLAIMS if CLAIMS[name].reduces],
)
@pytest.mark.parametrize("span", SPANS)
def test_eager_ranks_keep_the_closed_form_or_its_stated_bounds(
    name: str, reducing: bool, span: tuple[int, ...]
) -> None:
    claim = CLAIMS[name]
    table = EAGER_WITH_REDUCTION if reducing else EAGER_WITHOUT_REDUCTION
    low, high = table.get(name, (1.0, 1.0))
    seen = []
    for ranks in span:
        for latency, unit, reduction in REGIMES:
            size = even_size(ranks, unit)
            built = build(claim.movement(ranks, size), reducing * (reduction or 3))
            run = simulate_ports(built.schedule, one_port(latency, PER_BYTE))
            stated = total(claim.terms(size, ranks, latency, PER_BYTE, reducing * (reduction or 3)))
            ratio = run.makespan / stated
            assert low - 1e-12 <= ratio <= high + 1e-12, (ranks, latency, size)
            if is_power(ranks) and name != "reduce-scatter pairwise":
                assert ratio == pytest.approx(1.0, rel=1e-12)
            seen.append(ratio)
    # the bounds are tight to five parts in a hundred
    assert min(seen) <= low + 0.05
    assert max(seen) >= high - 0.05


# Where one rank sends several messages one behind the other, their latencies overlap: of
# ceil(log2 p) latencies as few as floor(log2 p) remain.
LOGGOPS_OVERLAPS = {
    "allreduce binomial",
    "broadcast binomial",
    "reduce binomial",
    "scatter binomial",
    "gather binomial",
}
# Folding, or two messages for one processor at a time: least and greatest, for powers of two
# one exactly (but for the last line, whose scatter and ring overlap differently).
LOGGOPS_RANGE = {
    "allreduce recursive doubling": (0.66, 1.61),
    "allreduce rabenseifner": (1.0, 1.47),
    "reduce-scatter halving": (0.66, 1.36),
    "all-gather doubling": (0.66, 1.42),
    "reduce rabenseifner": (1.0, 1.32),
    "broadcast scatter ring": (0.75, 1.25),
    "broadcast scatter doubling": (0.74, 1.63),
}
LOGGOPS_DIRECT = {"scatter direct", "gather direct"}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("span", SPANS)
def test_loggops_keeps_the_closed_form_or_its_stated_bounds(
    name: str, span: tuple[int, ...]
) -> None:
    claim = CLAIMS[name]
    for ranks in span:
        for latency, unit, _ in REGIMES:
            size = even_size(ranks, unit)
            machine = Machine(latency + PER_BYTE, 0, 0, PER_BYTE)
            built = build(claim.movement(ranks, size), 0, in_step=True)
            time = simulate(built.schedule, machine).makespan
            stated = total(claim.terms(size, ranks, latency, PER_BYTE, 0))
            ratio = time / stated
            if name in LOGGOPS_DIRECT:  # one latency, then bytes one behind the other
                bytes_each = size // ranks - 1
                assert time == machine.latency + (ranks - 1) * bytes_each * PER_BYTE
            elif name in LOGGOPS_OVERLAPS and not is_power(ranks):
                floor = math.log2(power_below(ranks))
                assert 0.96 * floor / (floor + 1) <= ratio <= 1.0, (ranks, size)
            elif name in LOGGOPS_RANGE and not (is_power(ranks) and "scatter" not in name):
                low, high = LOGGOPS_RANGE[name]
                assert low <= ratio <= high, (ranks, size)
            else:
                assert ratio == pytest.approx(1.0, rel=1e-12), (ranks, size)


@pytest.mark.parametrize("name", CLAIMS)
def test_bandwidth_term_is_what_the_busiest_port_carries(name: str) -> None:
    """Bytes counted message by message against the terms; a fold adds what waits for it."""
    claim = CLAIMS[name]
    composed = {"broadcast scatter ring", "broadcast scatter doubling"}  # two parts in turn
    folded = {"allreduce rabenseifner", "reduce rabenseifner", "allreduce recursive doubling"}
    folded |= {"reduce-scatter halving", "all-gather doubling"}
    for ranks in RANKS:
        size = even_size(ranks, 4)
        movement = claim.movement(ranks, size)
        schedule = build(movement).schedule
        carried = max(*bytes_sent(schedule), *bytes_received(schedule))
        terms = claim.terms(size, ranks, 1, 1, 1)
        if name in composed or (name in folded and not is_power(ranks)):
            assert carried <= terms.bandwidth * (1 + 1e-12)
        elif name == "allreduce binomial":  # in and out alternate: each carries half of the time
            assert 2 * carried == pytest.approx(terms.bandwidth, rel=1e-12)
        else:
            assert carried == pytest.approx(terms.bandwidth, rel=1e-12)
        if claim.reduces and is_power(ranks):
            assert max(bytes_merged(movement)) == pytest.approx(terms.reduction, rel=1e-12)


BARRIERS: dict[str, tuple[Callable[..., Any], Callable[[int], Movement]]] = {
    "dissemination": (barrier.barrier_dissemination, dissemination),
    "binomial": (barrier.barrier_binomial, lambda ranks: binomial_allreduce(ranks, 1)),
    "ring": (barrier.barrier_ring, token_barrier),
}


@pytest.mark.parametrize("name", BARRIERS)
def test_barriers_are_exact(name: str) -> None:
    """Messages of one byte that cost no bandwidth; on every machine."""
    kernel, make = BARRIERS[name]
    for ranks in RANKS:
        movement = make(ranks)
        deliver(movement)
        built = build(movement)
        stated = total(kernel(float(ranks), 7.0))
        assert simulate_ports(built.schedule, one_port(7, 0), built.rounds).makespan == stated
        assert simulate_ports(built.schedule, one_port(7, 0)).makespan == stated
        if name != "binomial" or is_power(ranks):  # elsewhere latencies overlap
            assert simulate(built.schedule, Machine(7)).makespan == stated


def test_unequal_alltoall_keeps_its_two_forms() -> None:
    """Blocking steps wait for their largest block; no eager rank beats the busiest port."""
    picked = random.Random(11)
    for ranks in (3, 6, 9):
        matrix = [[picked.choice((16, 64, 900)) for _ in range(ranks)] for _ in range(ranks)]
        built = build(pairwise_alltoall_v(matrix))
        steps = sum(
            max(matrix[r][(r + step) % ranks] for r in range(ranks)) for step in range(1, ranks)
        )
        sent, received = max(bytes_sent(built.schedule)), max(bytes_received(built.schedule))
        ports = float(sent), float(received)
        pairwise = total(
            alltoall.all_to_all_v_pairwise(*ports, float(steps), float(ranks), 0.5, 20.0)
        )
        direct = total(alltoall.all_to_all_v_direct(*ports, float(ranks), 0.5, 20.0))
        lockstep = (ranks - 1) * 20 + steps * 2
        blocking = simulate_ports(built.schedule, one_port(20, 2), built.rounds).makespan
        eager = simulate_ports(built.schedule, one_port(20, 2)).makespan
        assert pairwise == lockstep
        assert direct <= eager
        assert direct <= blocking <= pairwise
