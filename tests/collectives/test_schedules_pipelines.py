"""Pipelined and torus closed forms against simulated schedules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import pytest
from helpers import schedules_rings as rings
from helpers import schedules_trees as trees
from helpers.loggops import Machine, simulate
from helpers.schedules import Movement, build
from helpers.schedules_ported import one_port, port_per_lane, simulate_ports

from scalemath.core.kernel import total
from scalemath.kernels import torus, tree
from scalemath.kernels.loggp import loggp_chain

LATENCY = 70


def _stages(movement: Movement, segment: int, blocking: bool) -> float:
    """Simulated time in stages, a stage being one segment over one hop."""
    built = build(movement)
    rounds = built.rounds if blocking else None
    run = simulate_ports(built.schedule, one_port(LATENCY, 1), rounds)
    return run.makespan / (LATENCY + segment)


@pytest.mark.parametrize("ranks", [2, 3, 5, 9, 17, 33])
def test_a_chain_takes_its_hops_and_its_segments(ranks: int) -> None:
    for segments in (1, 4, 9):
        for make in (trees.chain_broadcast, trees.chain_reduce):
            for blocking in (False, True):
                stages = _stages(make(ranks, 50 * segments, segments), 50, blocking)
                assert stages == ranks - 2 + segments


@pytest.mark.parametrize("ranks", [3, 5, 9, 17])
@pytest.mark.parametrize("segments", [4, 12])
def test_chain_closed_forms_are_exact_at_their_best_segments(ranks: int, segments: int) -> None:
    """Latency chosen so that the best number of segments is whole and divides the size."""
    size = (2 * segments) ** 2
    for reduction in (0, 1, 3):
        latency = (ranks - 2) * 4 * (1 + reduction)
        built = build(trees.chain_reduce(ranks, size, segments), reduction)
        rate = 1.0 / reduction if reduction else math.inf
        stated = total(tree.reduce_chain(float(size), float(ranks), 1.0, float(latency), rate))
        run = simulate_ports(built.schedule, one_port(latency, 1), built.rounds)
        assert run.makespan == pytest.approx(stated, rel=1e-12)
        # eager ranks reduce beside the ports: never slower
        assert simulate_ports(built.schedule, one_port(latency, 1)).makespan <= run.makespan
        if not reduction:
            down = build(trees.chain_broadcast(ranks, size, segments))
            same = tree.broadcast_chain(float(size), float(ranks), 1.0, float(latency))
            assert total(same) == pytest.approx(stated, rel=1e-12)
            assert simulate_ports(down.schedule, one_port(latency, 1)).makespan == run.makespan


@pytest.mark.parametrize("ranks", range(3, 34))
def test_binary_tree_takes_at_most_the_stated_stages(ranks: int) -> None:
    """2 (h - 1 + m) stages: exact for full trees, at most two fewer for the others."""
    height = ranks.bit_length() - 1
    full = ranks & (ranks + 1) == 0
    for segments in (1, 4, 9):
        stated = 2 * (height - 1 + segments)
        for make in (trees.binary_tree_broadcast, trees.binary_tree_reduce):
            for blocking in (False, True):
                stages = _stages(make(ranks, 50 * segments, segments), 50, blocking)
                assert stated - (0 if full else 2) <= stages <= stated


@pytest.mark.parametrize("ranks", range(3, 34))
def test_double_tree_takes_at_most_the_stated_stages(ranks: int) -> None:
    """2 ceil(log2 p) + m stages: the schedule needs one to three fewer."""
    for segments in (2, 8, 32):
        stated = 2 * (ranks - 1).bit_length() + segments
        for make in (trees.double_tree_broadcast, trees.double_tree_reduce):
            for blocking in (False, True):
                stages = _stages(make(ranks, 50 * segments, segments), 50, blocking)
                assert stated - 3 <= stages <= stated - 1
        both = _stages(trees.double_tree_allreduce(ranks, 50 * segments, segments), 50, False)
        assert both <= 2 * stated


TREES: dict[str, tuple[Callable[..., Any], Callable[[int, int, int], Movement], int, float]] = {
    "binary": (tree.broadcast_binary_tree, trees.binary_tree_broadcast, 1, 0.10),
    "double": (tree.broadcast_double_tree, trees.double_tree_broadcast, 2, 0.16),
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("ranks", [7, 12, 16, 24])
def test_best_segments_of_trees(name: str, ranks: int) -> None:
    """The closed form with continuous best segments against the best whole number of them."""
    kernel, make, step, slack = TREES[name]
    size, latency = 5040, 20
    best = min(
        simulate_ports(build(make(ranks, size, m)).schedule, one_port(latency, 1)).makespan
        for m in (2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 30, 36, 42)
        if m % step == 0
    )
    stated = total(kernel(float(size), float(ranks), 1.0, float(latency)))
    assert stated * (1 - slack) <= best <= stated * 1.02


SHAPES = [(4,), (5,), (2, 2), (4, 4), (3, 5), (4, 3), (3, 3, 3), (4, 4, 2), (2, 4, 3)]


def _torus(shape: Sequence[int]) -> tuple[float, float, float]:
    return (
        float(sum(side - 1 for side in shape)),
        float(sum(side // 2 for side in shape)),
        float(len(shape)),
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", [0, 3])
def test_torus_closed_forms(shape: tuple[int, ...], reduction: int) -> None:
    ranks, dimensions = prod(shape), len(shape)
    ring_hops, half_hops, ports = _torus(shape)
    latency, per_byte, size = 500, 2, ranks * 2 * dimensions * 12
    base = (float(size), float(ranks), 1.0 / per_byte, float(latency))
    rate = 1.0 / reduction if reduction else math.inf
    stated = {
        ("gather", 1, 1): torus.all_gather_torus(*base, ring_hops),
        ("gather", 2, 1): torus.all_gather_torus_both_ways(*base, half_hops),
        ("gather", 2, dimensions): torus.all_gather_torus_all_ports(*base, half_hops, ports),
        ("reduce", 1, 1): torus.allreduce_torus(*base, rate, ring_hops),
        ("reduce", 2, 1): torus.allreduce_torus_both_ways(*base, rate, half_hops),
        ("reduce", 2, dimensions): torus.allreduce_torus_all_ports(*base, rate, half_hops, ports),
    }
    make = {"gather": rings.torus_allgather, "reduce": rings.torus_allreduce}
    for (operation, ways, slices), terms in stated.items():
        built = build(make[operation](shape, size, ways, slices), reduction)
        links = port_per_lane(latency, per_byte)
        blocking = simulate_ports(built.schedule, links, built.rounds).makespan / total(terms)
        eager = simulate_ports(built.schedule, links).makespan / total(terms)
        if slices > 1 and len(set(shape)) > 1:
            # unequal sides: links of short dimensions idle, the closed form is a lower bound
            assert 1.0 <= blocking <= 2.0
        else:
            assert blocking == pytest.approx(1.0, rel=1e-12)
            assert (0.9 if reduction else 1.0 - 1e-12) <= eager <= 1.0 + 1e-12


def test_a_loggp_chain_is_what_the_simulator_cannot_beat() -> None:
    """LogGP lets a rank send and receive at once; the simulator's one processor does not.

    With the first byte of every message free (size - 1), the closed form is reached by two
    ranks and by single segments, and the simulator takes up to twice as long elsewhere.
    """
    ratios = []
    for ranks in (2, 3, 5, 8, 16, 33):
        for segments in (1, 2, 8, 32):
            for segment, latency in ((2, 1000), (1000, 1000), (1000, 10), (50, 1000)):
                built = build(trees.chain_broadcast(ranks, segments * segment, segments))
                time = simulate(built.schedule, Machine(latency, 0, 0, 1)).makespan
                stated = loggp_chain(
                    float(segments), segment - 1.0, ranks - 1.0, float(latency), 0.0, 0.0, 1.0
                )
                if ranks == 2 or segments == 1:
                    assert time == stated
                ratios.append(time / stated)
    assert min(ratios) == 1.0
    assert 1.5 < max(ratios) < 2.0


def test_more_segments_help_until_latency_counts() -> None:
    """Too few segments wait for the pipe to fill, too many pay latency: one least time."""
    times = [
        simulate_ports(build(trees.chain_broadcast(9, 5040, m)).schedule, one_port(20, 1)).makespan
        for m in (1, 2, 4, 8, 16, 36, 72, 144, 315)
    ]
    turn = times.index(min(times))
    assert all(a > b for a, b in pairwise(times[: turn + 1]))
    assert all(a < b for a, b in pairwise(times[turn:]))
    assert 0 < turn < len(times) - 1
