"""Algorithm and bus bandwidth by the conventions of nccl-tests, both ways."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel

NCCL_TESTS = "NVIDIA/nccl-tests doc/PERFORMANCE.md and src/*.cu at a0b82b2"


@kernel(
    unit="byte/s",
    rises="size",
    falls="time",
    source=NCCL_TESTS,
    formula="size / time",
)
def algorithm_bandwidth(size: float, time: float) -> float:
    """Size over time; infinite for something done in no time, zero for nothing done."""
    if time <= 0.0:
        return math.inf if size > 0.0 else 0.0
    return size / time


@kernel(
    unit="1",
    rises="ranks",
    source=NCCL_TESTS,
    formula="2 * (ranks - 1) / ranks",
)
def reduced_everywhere_factor(ranks: float) -> float:
    """Bus over algorithm bandwidth of an allreduce."""
    return 2.0 * (ranks - 1.0) / ranks


@kernel(
    unit="1",
    rises="ranks",
    source=NCCL_TESTS,
    formula="(ranks - 1) / ranks",
)
def own_block_stays_factor(ranks: float) -> float:
    """Bus over algorithm bandwidth where a rank's own block stays with it."""
    return (ranks - 1.0) / ranks


@kernel(
    unit="1",
    rises="ranks",
    source=NCCL_TESTS,
    formula="1",
)
def whole_vector_factor(ranks: float) -> float:
    """Bus over algorithm bandwidth of broadcast, reduce and send-receive."""
    return 1.0 if ranks > 0.0 else 0.0


@kernel(
    unit="byte/s",
    rises="size factor",
    falls="time",
    source=NCCL_TESTS,
    formula="factor * size / time",
)
def bus_bandwidth(size: float, time: float, factor: float) -> float:
    """Algorithm bandwidth times the factor of the operation."""
    if factor <= 0.0:
        return 0.0
    return factor * algorithm_bandwidth(size, time)


@kernel(
    unit="s",
    rises="size factor",
    falls="rate",
    source=NCCL_TESTS,
    formula="factor * size / rate",
)
def time_of_bus_bandwidth(size: float, factor: float, rate: float) -> float:
    """Time that a reported bus bandwidth stands for."""
    return factor * size / rate


@kernel(
    unit="byte/s",
    rises="rate",
    falls="factor",
    source=NCCL_TESTS,
    formula="rate / factor",
)
def algorithm_of_bus_bandwidth(rate: float, factor: float) -> float:
    """Algorithm bandwidth that a reported bus bandwidth stands for."""
    if factor <= 0.0:
        return math.inf
    return rate / factor
