"""Collectives that scaling can run on, and the steps of strong scaling."""

from __future__ import annotations

from scalemath.collectives.algorithms import TABLE
from scalemath.core.kernel import Kernel, kernel_of
from scalemath.core.model import Step
from scalemath.kernels.hierarchy_allreduce import (
    allreduce_flat,
    allreduce_rails,
    allreduce_two_level,
    allreduce_two_level_overlapped,
)
from scalemath.kernels.scaling import (
    domains_used,
    ranks_inside,
    share_of,
    speedup_per_rank,
    speedup_ratio,
    strong_scaling_step,
    work_on_one,
)
from scalemath.scaling.laws import step

_PLAIN = {"size", "ranks", "bandwidth", "latency", "reduction_rate"}
"""What a collective over equal ports needs to know."""


def _algorithms() -> dict[str, Kernel]:
    """Kernels by name: allreduce algorithms, and others as operation/algorithm."""
    found: dict[str, Kernel] = {}
    for operation, table in TABLE.items():
        for name, algorithm in table.items():
            if set(algorithm.kernel.parameters) <= _PLAIN and not algorithm.needs:
                plain = name if operation == "allreduce" else f"{operation}/{name}"
                found[plain] = algorithm.kernel
    return found


PLACED: dict[str, Kernel] = {
    "flat": kernel_of(allreduce_flat),
    "rails": kernel_of(allreduce_rails),
    "two-level": kernel_of(allreduce_two_level),
    "two-level-overlapped": kernel_of(allreduce_two_level_overlapped),
}
"""Allreduces over scale-up domains with one interface per rank."""
ALGORITHMS = _algorithms()
COLLECTIVES = {**ALGORITHMS, **PLACED}


def placed_names(ranks: str, inside: str, across: str) -> dict[str, str]:
    """Names in the model of what a placed kernel takes."""
    return {
        "ranks": ranks,
        "domain": inside,
        "domains": across,
        "nics_per_domain": inside,
        "nic_bandwidth": "bandwidth",
        "nic_latency": "latency",
    }


STRONG_STEPS = (
    step("work", work_on_one, "s"),
    step("inside", ranks_inside),
    step("across", domains_used),
    Step(
        "communication",
        COLLECTIVES,
        "s",
        choice="algorithm",
        rename=placed_names("ranks", "inside", "across"),
    ),
    step("time", strong_scaling_step, "s", time_one="work"),
    step("baseline_inside", ranks_inside, ranks="baseline"),
    step("baseline_across", domains_used, ranks="baseline"),
    Step(
        "baseline_communication",
        COLLECTIVES,
        "s",
        choice="algorithm",
        rename=placed_names("baseline", "baseline_inside", "baseline_across"),
    ),
    step(
        "baseline_time",
        strong_scaling_step,
        "s",
        time_one="work",
        ranks="baseline",
        communication="baseline_communication",
    ),
    step("speedup", speedup_ratio, time_one="baseline_time"),
    step("scaling_efficiency", speedup_per_rank),
    step("communication_share", share_of, part="time.exposed_communication", whole="time"),
)
