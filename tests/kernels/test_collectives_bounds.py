"""No closed form beats its bound; bounds follow from counting what must cross a port or a cut."""

from __future__ import annotations

from random import Random

import pytest
from helpers.kernel_arguments import draw

import scalemath as sm
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


def test_switches_lower_the_bound_of_a_placement() -> None:
    servers = sm.Placement(
        nodes=9,
        ranks_per_node=8,
        nics_per_node=8,
        domain_bandwidth="900 GB/s/dir",
        nic_bandwidth="100 GB/s/dir",
    )
    case = {"size": "2 GiB", "placement": servers, "estimator": "bound"}
    between = sm.allreduce(**case)
    helped = sm.allreduce(**case, in_network="reduction")
    assert between.time.m_as("ms") == pytest.approx(4.77219, rel=5e-6)
    assert helped.time.m_as("ms") == pytest.approx(2.147483648e9 / 800e9 * 1e3)
    assert "switches" in helped.explain()


def values_of(random: Random) -> dict[str, float]:
    return {n: draw(n, random) for n in ("size", "ranks", "bandwidth", "latency")} | {
        "reduction_rate": float("inf"),
        "switch_latency": 0.0,
        "levels": 1.0,
    }


def time_of(operation: str, name: str, values: dict[str, float]) -> float:
    record = TABLE[operation][name]
    return total(record.kernel.function(*record.pick(values)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("reduce_scatter", "ring"), ("all_gather", "ring")),
        (("reduce_scatter", "pat"), ("all_gather", "pat")),
        (("reduce_scatter", "nvls"), ("all_gather", "nvls")),
        (("scatter", "binomial-tree"), ("gather", "binomial-tree")),
        (("broadcast", "binomial-tree"), ("reduce", "binomial-tree")),
        (("broadcast", "chain"), ("reduce", "chain")),
        (("broadcast", "binary-tree"), ("reduce", "binary-tree")),
        (("broadcast", "double-binary-tree"), ("reduce", "double-binary-tree")),
    ],
)
def test_an_operation_run_backwards_takes_as_long(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    """Free reductions make an operation and its mirror image equal."""
    random = Random(str(one))
    for _ in range(300):
        values = values_of(random)
        assert time_of(*one, values) == pytest.approx(time_of(*other, values), rel=1e-12)


@pytest.mark.parametrize("name", ["ring"])
def test_an_allreduce_is_a_reduce_scatter_and_an_all_gather(name: str) -> None:
    random = Random(name)
    for _ in range(300):
        values = values_of(random)
        parts = [time_of(operation, name, values) for operation in ("reduce_scatter", "all_gather")]
        assert time_of("allreduce", name, values) == pytest.approx(sum(parts), rel=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: f"{a.operation}-{a.name}")
def test_bytes_and_rates_in_other_units_of_information(algorithm: Algorithm) -> None:
    """Eight times all sizes over eight times all rates: the same time."""
    random = Random(algorithm.name)
    for _ in range(50):
        values = drawn(random)
        scaled = {
            name: value * 8
            if name in ("size", "bandwidth", "reduction_rate")
            or name.startswith(("largest", "sum_of"))
            else value
            for name, value in values.items()
        }
        expected = total(algorithm.kernel.function(*algorithm.pick(values)))
        assert total(algorithm.kernel.function(*algorithm.pick(scaled))) == pytest.approx(
            expected, rel=1e-12
        )


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
