"""Laws of scaling: Amdahl, Karp-Flatt, and one step that computes and communicates."""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.kernel import kernel
from scalemath.kernels.gemm import compute_time


@kernel(
    unit="1",
    rises="ranks",
    falls="serial_fraction",
    source="Amdahl, AFIPS 30 (1967), 483-485",
    formula="speedup = ranks / (1 + (ranks - 1) serial_fraction)",
)
def amdahl_speedup(serial_fraction: float, ranks: float) -> float:
    """Speedup [1] of `ranks` devices when a fraction of the work on one stays serial."""
    return ranks / (1.0 + (ranks - 1.0) * serial_fraction)


@kernel(
    unit="1",
    falls="serial_fraction",
    source="Amdahl, AFIPS 30 (1967), 483-485",
    formula="ceiling = 1 / serial_fraction",
)
def amdahl_ceiling(serial_fraction: float) -> float:
    """Speedup [1] in the limit of infinitely many devices."""
    if serial_fraction <= 0.0:
        return math.inf
    return 1.0 / serial_fraction


@kernel(
    unit="1",
    falls="speedup",
    free="ranks",
    free_because="rises with ranks when the speedup is above 1, falls when it is below",
    source="Karp & Flatt, CACM 33(5) (1990), 539-543",
    formula="serial_fraction = (ranks / speedup - 1) / (ranks - 1)",
)
def karp_flatt_fraction(speedup: float, ranks: float) -> float:
    """Serial fraction [1] that Amdahl's law needs to give a measured speedup."""
    if ranks <= 1.0:
        return math.inf
    return (ranks / speedup - 1.0) / (ranks - 1.0)


@kernel(
    unit="s",
    rises="time_one flops",
    falls="peak utilisation",
    source="Williams, Waterman & Patterson, Roofline, CACM 52(4) (2009)",
    formula="work = time_one, or flops / (peak utilisation)",
)
def work_on_one(time_one: float, flops: float, peak: float, utilisation: float) -> float:
    """Time [s] of the work on one device, stated as a time or as operations [flop]."""
    return time_one + compute_time(flops, peak, utilisation)


class StepTerms(NamedTuple):
    """Terms of a step that computes and communicates [s]."""

    compute: float
    exposed_communication: float


@kernel(
    unit="s",
    rises="time_one communication",
    falls="ranks overlap",
    source="definition: hidden time = min(overlap x communication, computation)",
    formula="time = time_one / ranks + communication "
    "- min(overlap communication, time_one / ranks)",
)
def strong_scaling_step(
    time_one: float, ranks: float, communication: float, overlap: float
) -> StepTerms:
    """Step time [s]: work of one device shared by `ranks`, plus what communication shows."""
    compute = time_one / ranks
    return StepTerms(compute, communication - min(overlap * communication, compute))


@kernel(
    unit="s",
    rises="time_one communication",
    falls="overlap",
    source="definition: every device keeps the work of one",
    formula="time = time_one + communication - min(overlap communication, time_one)",
)
def weak_scaling_step(time_one: float, communication: float, overlap: float) -> StepTerms:
    """Step time [s] when every device keeps the work of one device."""
    return StepTerms(time_one, communication - min(overlap * communication, time_one))


@kernel(
    unit="1",
    rises="time_one",
    falls="time",
    source="definition",
    formula="speedup = time_one / time",
)
def speedup_ratio(time_one: float, time: float) -> float:
    """Speedup [1] against the time of the baseline."""
    return time_one / time


@kernel(
    unit="1",
    rises="speedup baseline",
    falls="ranks",
    source="definition",
    formula="scaling_efficiency = speedup baseline / ranks",
)
def speedup_per_rank(speedup: float, ranks: float, baseline: float) -> float:
    """Scaling efficiency [1]: speedup against `baseline` ranks, per rank added."""
    return speedup * baseline / ranks


@kernel(
    unit="1",
    rises="part",
    falls="whole",
    source="definition",
    formula="share = part / whole",
)
def share_of(part: float, whole: float) -> float:
    """Share [1] of a part in a whole; 0 when there is no whole."""
    if whole <= 0.0:
        return 0.0
    return part / whole


@kernel(
    unit="1",
    rises="ranks domain",
    source="definition",
    formula="min(ranks, domain)",
)
def ranks_inside(ranks: float, domain: float) -> float:
    """Ranks [1] of a job that share one scale-up domain."""
    return min(ranks, domain)


@kernel(
    unit="1",
    rises="ranks",
    falls="domain",
    source="definition",
    formula="max(1, ranks / domain)",
)
def domains_used(ranks: float, domain: float) -> float:
    """Scale-up domains [1] that a job fills."""
    return max(1.0, ranks / domain)
