"""What every kernel of the collectives promises: directions, one rank, finite answers."""

from __future__ import annotations

import math

import pytest
from helpers.kernel_arguments import draw, draws, is_count, is_rate, is_time, kernels_of

from scalemath.core.kernel import Kernel, total
from scalemath.kernels import (
    allreduce,
    alltoall,
    balance,
    barrier,
    bounds,
    broadcast,
    busbandwidth,
    gather,
    hierarchy,
    hierarchy_allreduce,
    hierarchy_bounds,
    hierarchy_bytes,
    hierarchy_exchange,
    hierarchy_trees,
    innetwork,
    latency,
    loggp,
    terms,
    torus,
    tree,
)

KERNELS = kernels_of(
    allreduce,
    alltoall,
    balance,
    barrier,
    bounds,
    broadcast,
    busbandwidth,
    gather,
    hierarchy,
    hierarchy_allreduce,
    hierarchy_bounds,
    hierarchy_bytes,
    hierarchy_exchange,
    hierarchy_trees,
    innetwork,
    latency,
    loggp,
    terms,
    torus,
    tree,
)
by_name = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)


def value(kernel: Kernel, given: dict[str, float]) -> float:
    return total(kernel.function(*(given[name] for name in kernel.parameters)))


@by_name
def test_declared_directions_hold(kernel: Kernel) -> None:
    directed = sorted(kernel.rises | kernel.falls)
    for random, here in draws(kernel, 400):
        name = random.choice(directed)
        if is_count(name):
            moved = here[name] + random.choice((1, 1, 2, 7, 100))
        elif name == "utilisation":
            moved = random.uniform(here[name], 0.999)
        else:
            moved = here[name] * random.uniform(1.0, 50.0) or draw(name, random)
        before, after = value(kernel, here), value(kernel, {**here, name: moved})
        slack = 1e-12 * max(before, after) if math.isfinite(before + after) else 0.0
        rising = after - before if math.isfinite(before) else 0.0
        case = f"{name} from {here[name]} to {moved}: {before} to {after} at {here}"
        assert (rising if name in kernel.rises else -rising) >= -slack, case


@by_name
def test_answers_are_numbers_and_never_negative(kernel: Kernel) -> None:
    for _, here in draws(kernel, 200):
        if kernel.name == "loggp_alpha":
            here["gap_per_byte"] = min(here["gap_per_byte"], here["latency"])
        result = kernel.function(*(here[name] for name in kernel.parameters))
        parts = result if isinstance(result, tuple) else (result,)
        assert all(part >= 0.0 for part in parts), here


ALONE = [
    k
    for k in KERNELS
    if k.unit == "s"
    and "ranks" in k.parameters
    and not k.name.startswith(("bucket", "all_to_all_v"))
    and "torus" not in k.name
    and k.name != "uneven_exchange_bound"
]


@pytest.mark.parametrize("kernel", ALONE, ids=lambda k: k.name)
def test_one_rank_alone_takes_no_time(kernel: Kernel) -> None:
    for _, here in draws(kernel, 20):
        assert value(kernel, {**here, "ranks": 1.0}) == 0.0


PLACED = [
    k
    for k in kernels_of(hierarchy, hierarchy_allreduce, hierarchy_exchange, hierarchy_trees)
    if {"domain", "domains"} <= set(k.parameters)
]


@pytest.mark.parametrize("kernel", PLACED, ids=lambda k: k.name)
def test_a_placement_of_one_rank_takes_no_time(kernel: Kernel) -> None:
    for _, here in draws(kernel, 20):
        assert value(kernel, {**here, "domain": 1.0, "domains": 1.0}) == 0.0


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.unit == "s"], ids=lambda k: k.name)
def test_times_scale_with_the_unit_of_time(kernel: Kernel) -> None:
    """Twice all latencies and half of all rates double a time: no constant is hidden inside."""
    for _, here in draws(kernel, 40):
        slower = {}
        for name, number in here.items():
            bound = kernel.name == "binding_bound"
            slower[name] = number * (
                2.0 if bound or is_time(name) else 0.5 if is_rate(name) else 1.0
            )
        if kernel.name == "propagation_delay":
            slower["delay_per_metre"] = 2.0 * here["delay_per_metre"]
        assert value(kernel, slower) == pytest.approx(2.0 * value(kernel, here), rel=1e-12)


def test_all_kernels_say_why_and_from_where() -> None:
    for kernel in KERNELS:
        assert kernel.source
        assert kernel.formula
        assert not kernel.free or kernel.free_because
