"""Time of the traffic of a workload on one tier of a cluster, by what it is."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.allreduce import allreduce_ring
from scalemath.kernels.latency import message_time
from scalemath.kernels.primitives import ceil_log2


@kernel(
    unit="s",
    rises="size ranks latency oversubscription",
    falls="bandwidth",
    source="ring allreduce on the bandwidth that oversubscription leaves",
    formula="allreduce_ring at bandwidth / oversubscription",
)
def reduction_on_tier(
    size: float, ranks: float, bandwidth: float, latency: float, oversubscription: float
) -> float:
    """Time [s] of a ring allreduce whose every hop pays the oversubscription."""
    terms = allreduce_ring(size, ranks, bandwidth / oversubscription, latency, math.inf)
    return terms[0] + terms[1] + terms[2]


@kernel(
    unit="s",
    rises="size ranks latency oversubscription",
    falls="bandwidth",
    source="every byte leaves its rank once and crosses the narrowest cut",
    formula="(ranks - 1) latency + size oversubscription / bandwidth",
)
def exchange_on_tier(
    size: float, ranks: float, bandwidth: float, latency: float, oversubscription: float
) -> float:
    """Time [s] for `size` bytes that leave each rank for all others."""
    return (ranks - 1.0) * latency + size * oversubscription / bandwidth


@kernel(
    unit="s",
    rises="size latency oversubscription",
    falls="bandwidth",
    source="one message",
    formula="latency + size oversubscription / bandwidth",
)
def hand_over_on_tier(
    size: float, bandwidth: float, latency: float, oversubscription: float
) -> float:
    """Time [s] of one message between two ranks."""
    terms = message_time(size, bandwidth / oversubscription, latency)
    return terms[0] + terms[1]


@kernel(
    unit="s",
    rises="ranks latency",
    source="Hensgen, Finkel & Manber, Int. J. Parallel Programming 17(1) (1988), up and down",
    formula="2 ceil(log2(ranks)) latency",
)
def barrier_on_tier(ranks: float, latency: float) -> float:
    """Time [s] of a tree up and down."""
    return 2.0 * ceil_log2(ranks) * latency


@kernel(
    unit="s",
    rises="size",
    falls="storage_bandwidth",
    source="definition",
    formula="size / storage_bandwidth",
)
def checkpoint_time(size: float, storage_bandwidth: float) -> float:
    """Time [s] to write a state to storage at its aggregate rate."""
    return size / storage_bandwidth
