"""No closed form beats its bound; bounds follow from counting what must cross a port or a cut."""

from __future__ import annotations

from random import Random

import pytest
from helpers.kernel_arguments import draw

from scalemath.collectives.algorithms import LEVELS, TABLE, TORUS, Algorithm
from scalemath.collectives.operations import OPERATIONS
from scalemath.collectives.schedules import BOUNDS, PASSES, SCHEDULES
from scalemath.core.kernel import total
from scalemath.kernels import bounds as bo
from scalemath.topology.placement import LoweredPlacement

ALGORITHMS = [a for table in TABLE.values() for a in table.values() if a.needs != LEVELS]
NAMES = (
    *("size", "ranks", "bandwidth", "latency", "reduction_rate", "levels", "switch_latency"),
    *("bruck_radix", "largest_send", "largest_receive", "sum_of_steps"),
)


def drawn(random: Random) -> dict[str, float]:
    values = {name: draw(name, random) for name in NAMES}
    if random.random() < 0.3:
        values["reduction_rate"] = float("inf")
    sides = [random.randint(1, 9) for _ in range(random.randint(1, 3))]
    values["sides"] = 1.0
    for side in sides:
        values["sides"] *= side
    values["ring_hops"] = float(sum(side - 1 for side in sides))
    values["half_hops"] = float(sum(side // 2 for side in sides))
    values["dimensions"] = float(max(1, sum(side > 1 for side in sides)))
    values["longest"] = float(max(sides))
    return values


def bounded(algorithm: Algorithm, values: dict[str, float]) -> tuple[float, float]:
    """Time by an algorithm and the bound that holds for it."""
    operation = OPERATIONS[algorithm.operation]
    here = {**values, "ports": 1.0}
    if algorithm.needs == TORUS:
        here["ranks"] = values["sides"]
        here["ports"] = {
            "torus": 1.0,
            "torus-both-ways": 2.0,
            "torus-all-ports": 2.0 * values["dimensions"],
        }[algorithm.name]
        if algorithm.operation == "all_to_all":
            here["ports"] = 2.0 * values["dimensions"]
    bound = operation.in_network_bound if algorithm.in_network else operation.bound
    time = total(algorithm.kernel.function(*algorithm.pick(here)))
    return time, total(bound.kernel.function(*bound.pick(here)))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: f"{a.operation}-{a.name}")
def test_closed_forms_respect_bounds(algorithm: Algorithm) -> None:
    random = Random(f"{algorithm.operation} {algorithm.name}")
    for _ in range(2000):
        values = drawn(random)
        time, bound = bounded(algorithm, values)
        assert time >= bound * (1 - 1e-12), values


@pytest.mark.parametrize(
    ("operation", "schedule"), [(o, s) for o, table in SCHEDULES.items() for s in table]
)
def test_schedules_respect_bounds(operation: str, schedule: str) -> None:
    random = Random(f"{operation} {schedule}")
    line, bound = SCHEDULES[operation][schedule].algorithm, BOUNDS[operation]
    for _ in range(2000):
        values = {name: draw(name, random) for name in LoweredPlacement._fields}
        values["domain"] = float(random.choice((1, 2, 3, 4, 8, 9, 72)))
        values["domains"] = float(random.choice((1, 1, 2, 3, 9, 16, 100)))
        values["nics_per_domain"] = float(random.randint(1, int(values["domain"])))
        values["size"] = draw("size", random)
        values["reduction_rate"] = draw("reduction_rate", random)
        values["passes"] = PASSES.get(operation, 1.0)
        time = total(line.kernel.function(*line.pick(values)))
        least = total(bound.kernel.function(*bound.pick(values)))
        assert time >= least * (1 - 1e-12), values


@pytest.mark.parametrize("ranks", [2, 3, 8, 72])
def test_bounds_that_are_reached(ranks: int) -> None:
    """Rings reach the bandwidth bound, dissemination and Bruck the latency bound."""
    size, bandwidth, infinite = 1e9, 1e11, float("inf")
    rings = (("allreduce", "ring"), ("reduce_scatter", "ring"), ("all_gather", "ring"))
    values = {
        "size": size,
        "ranks": float(ranks),
        "bandwidth": bandwidth,
        "latency": 0.0,
        "reduction_rate": infinite,
        "ports": 1.0,
    }
    for operation, name in (*rings, ("all_to_all", "pairwise"), ("broadcast", "chain")):
        time, bound = bounded(TABLE[operation][name], values | {"sides": 1.0, "dimensions": 1.0})
        assert time == pytest.approx(bound, rel=1e-12)
    values |= {"size": 0.0, "latency": 1e-6}
    for operation, name in (
        ("barrier", "dissemination"),
        ("all_gather", "bruck"),
        ("all_to_all", "bruck"),
        ("broadcast", "binomial-tree"),
        ("scatter", "binomial-tree"),
    ):
        time, bound = bounded(TABLE[operation][name], values | {"sides": 1.0, "dimensions": 1.0})
        assert time == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("groups", [2, 3, 9])
def test_cuts_count_what_must_cross(groups: int) -> None:
    """Blocks of an all-to-all and of an all-gather that cross the way out of a group, by hand."""
    group_ranks, size, rate = 4, 960.0, 10.0
    ranks = groups * group_ranks
    block = size / ranks
    crossing = sum(
        block
        for source in range(group_ranks)
        for target in range(ranks)
        if target // group_ranks != source // group_ranks
    )
    assert bo.all_to_all_cut_bound(size, groups, group_ranks, rate) == pytest.approx(
        crossing / rate
    )
    entering = sum(block for source in range(ranks) if source // group_ranks != 0)
    assert bo.exchange_cut_bound(size, groups, rate) == pytest.approx(entering / rate)
    assert bo.allreduce_cut_bound(size, groups, rate) == pytest.approx(2 * entering / rate)
    assert bo.broadcast_cut_bound(size, groups, rate) == size / rate
    assert bo.broadcast_cut_bound(size, 1, rate) == 0.0
