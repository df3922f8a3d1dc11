"""Bucket algorithms on tori: rings along each dimension in turn.

A torus is lowered to a few numbers: `ring_hops` = sum over dimensions of (side - 1),
`half_hops` = sum of floor(side / 2), `dimensions` with a side above one, and `longest` side.
`bandwidth` is that of one link in one direction.
"""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.terms import CollectiveTerms

CHAN = (
    "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, "
    "and experience, Concurrency Computat. Pract. Exper. 19(13) 2007, 1749-1783"
)
JAIN = (
    "Jain and Sabharwal, Optimal bucket algorithms for large MPI collectives on torus "
    "interconnects, ICS 2010, 27-36"
)


@kernel(
    unit="s",
    rises="size ranks latency hops",
    falls="bandwidth reduction_rate ports",
    source=CHAN + "; " + JAIN,
    formula=(
        "hops * latency + (ranks - 1) / ranks * size / (ports * bandwidth)"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def bucket_phase(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    hops: float,
    ports: float,
) -> CollectiveTerms:
    """One reduce-scatter or all-gather, dimension by dimension; the bytes telescope."""
    share = (ranks - 1.0) * size / ranks
    return CollectiveTerms(hops * latency, share / (ports * bandwidth), share / reduction_rate)


@kernel(
    unit="s",
    rises="size ranks latency ring_hops",
    falls="bandwidth reduction_rate",
    source=CHAN,
    formula="bucket phase with hops = ring_hops and one port",
)
def reduce_scatter_torus(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    ring_hops: float,
) -> CollectiveTerms:
    """Reduce-scatter in one-way rings, one dimension after the other."""
    return bucket_phase(size, ranks, bandwidth, latency, reduction_rate, ring_hops, 1.0)


@kernel(
    unit="s",
    rises="size ranks latency half_hops",
    falls="bandwidth reduction_rate",
    source=CHAN,
    formula="bucket phase with hops = half_hops and two ports",
)
def reduce_scatter_torus_both_ways(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    half_hops: float,
) -> CollectiveTerms:
    """Reduce-scatter in two-way rings, one dimension after the other."""
    return bucket_phase(size, ranks, bandwidth, latency, reduction_rate, half_hops, 2.0)


@kernel(
    unit="s",
    rises="size ranks latency half_hops",
    falls="bandwidth reduction_rate dimensions",
    source=JAIN,
    formula="bucket phase with hops = half_hops and 2 * dimensions ports",
)
def reduce_scatter_torus_all_ports(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    half_hops: float,
    dimensions: float,
) -> CollectiveTerms:
    """Reduce-scatter of slices that start in different dimensions; exact for equal sides."""
    return bucket_phase(
        size, ranks, bandwidth, latency, reduction_rate, half_hops, 2.0 * dimensions
    )


@kernel(
    unit="s",
    rises="size ranks latency ring_hops",
    falls="bandwidth",
    source=CHAN,
    formula="bucket phase with hops = ring_hops and one port, nothing reduced",
)
def all_gather_torus(
    size: float, ranks: float, bandwidth: float, latency: float, ring_hops: float
) -> CollectiveTerms:
    """All-gather in one-way rings, one dimension after the other."""
    return bucket_phase(size, ranks, bandwidth, latency, math.inf, ring_hops, 1.0)


@kernel(
    unit="s",
    rises="size ranks latency half_hops",
    falls="bandwidth",
    source=CHAN,
    formula="bucket phase with hops = half_hops and two ports, nothing reduced",
)
def all_gather_torus_both_ways(
    size: float, ranks: float, bandwidth: float, latency: float, half_hops: float
) -> CollectiveTerms:
    """All-gather in two-way rings, one dimension after the other."""
    return bucket_phase(size, ranks, bandwidth, latency, math.inf, half_hops, 2.0)


@kernel(
    unit="s",
    rises="size ranks latency half_hops",
    falls="bandwidth dimensions",
    source=JAIN,
    formula="bucket phase with hops = half_hops and 2 * dimensions ports, nothing reduced",
)
def all_gather_torus_all_ports(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    half_hops: float,
    dimensions: float,
) -> CollectiveTerms:
    """All-gather of slices that start in different dimensions; exact for equal sides."""
    return bucket_phase(size, ranks, bandwidth, latency, math.inf, half_hops, 2.0 * dimensions)


@kernel(
    unit="s",
    rises="size ranks latency hops",
    falls="bandwidth reduction_rate ports",
    source=CHAN + "; " + JAIN,
    formula="bucket phase of a reduce-scatter + bucket phase of an all-gather",
)
def bucket_allreduce(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    hops: float,
    ports: float,
) -> CollectiveTerms:
    """Reduce-scatter through all dimensions and all-gather back through them."""
    phase = bucket_phase(size, ranks, bandwidth, latency, reduction_rate, hops, ports)
    return CollectiveTerms(2.0 * phase.latency, 2.0 * phase.bandwidth, phase.reduction)


@kernel(
    unit="s",
    rises="size ranks latency ring_hops",
    falls="bandwidth reduction_rate",
    source=CHAN,
    formula=(
        "2 * ring_hops * latency + 2 * (ranks - 1) / ranks * size / bandwidth"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_torus(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    ring_hops: float,
) -> CollectiveTerms:
    """Allreduce in one-way rings, one dimension after the other."""
    return bucket_allreduce(size, ranks, bandwidth, latency, reduction_rate, ring_hops, 1.0)


@kernel(
    unit="s",
    rises="size ranks latency half_hops",
    falls="bandwidth reduction_rate",
    source=CHAN,
    formula=(
        "2 * half_hops * latency + (ranks - 1) / ranks * size / bandwidth"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_torus_both_ways(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    half_hops: float,
) -> CollectiveTerms:
    """Allreduce in two-way rings, one dimension after the other."""
    return bucket_allreduce(size, ranks, bandwidth, latency, reduction_rate, half_hops, 2.0)


@kernel(
    unit="s",
    rises="size ranks latency half_hops",
    falls="bandwidth reduction_rate dimensions",
    source=JAIN,
    formula=(
        "2 * half_hops * latency + (ranks - 1) / ranks * size / (dimensions * bandwidth)"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_torus_all_ports(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    half_hops: float,
    dimensions: float,
) -> CollectiveTerms:
    """Allreduce of slices that start in different dimensions; exact for equal sides."""
    return bucket_allreduce(
        size, ranks, bandwidth, latency, reduction_rate, half_hops, 2.0 * dimensions
    )


@kernel(
    unit="s",
    rises="size latency half_hops longest",
    falls="bandwidth",
    source=(
        "mean distance on a ring of d is floor(d**2 / 4) / d, shared by two directions; "
        "the longest dimension is the busiest"
    ),
    formula=("half_hops * latency + size * floor(longest**2 / 4) / (2 * longest * bandwidth)"),
)
def all_to_all_torus(
    size: float, bandwidth: float, latency: float, half_hops: float, longest: float
) -> CollectiveTerms:
    """All-to-all by shortest paths on a torus, both directions of every ring in use."""
    distance = math.floor(0.25 * longest * longest)
    return CollectiveTerms(half_hops * latency, size * distance / (2.0 * longest * bandwidth), 0.0)
