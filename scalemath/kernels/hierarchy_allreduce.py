"""Allreduce over ranks that are placed on two or three levels.

A placement is lowered to plain numbers: `domain` ranks in each of `domains` scale-up domains with
`nics_per_domain` network interfaces each, the rates of one scale-up port and one interface per
direction, and the one-way latencies inside and between domains.
"""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.hierarchy import (
    LEVELS,
    RINGS,
    reduce_scatter_flat,
    reduce_scatter_rails,
    reduce_scatter_two_level,
    reduce_scatter_two_level_overlapped,
)
from scalemath.kernels.terms import CollectiveTerms


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="domain_bandwidth nic_bandwidth reduction_rate",
    source=RINGS,
    formula=(
        "twice the all-gather of the same schedule + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_flat(
    size: float,
    domain: float,
    domains: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
    reduction_rate: float,
) -> CollectiveTerms:
    """Allreduce around one ring that leaves each domain by a single interface."""
    once = reduce_scatter_flat(
        size,
        domain,
        domains,
        domain_bandwidth,
        nic_bandwidth,
        domain_latency,
        nic_latency,
        reduction_rate,
    )
    return CollectiveTerms(2.0 * once.latency, 2.0 * once.bandwidth, once.reduction)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    source=RINGS,
    formula=(
        "twice the all-gather of the same schedule + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_rails(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
    reduction_rate: float,
) -> CollectiveTerms:
    """Allreduce around rings that leave each domain by all its interfaces."""
    once = reduce_scatter_rails(
        size,
        domain,
        domains,
        nics_per_domain,
        domain_bandwidth,
        nic_bandwidth,
        domain_latency,
        nic_latency,
        reduction_rate,
    )
    return CollectiveTerms(2.0 * once.latency, 2.0 * once.bandwidth, once.reduction)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    source=LEVELS,
    formula=(
        "twice the all-gather of the same schedule + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_two_level(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
    reduction_rate: float,
) -> CollectiveTerms:
    """Allreduce inside each domain, then between them and back."""
    once = reduce_scatter_two_level(
        size,
        domain,
        domains,
        nics_per_domain,
        domain_bandwidth,
        nic_bandwidth,
        domain_latency,
        nic_latency,
        reduction_rate,
    )
    return CollectiveTerms(2.0 * once.latency, 2.0 * once.bandwidth, once.reduction)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    source=LEVELS,
    formula=(
        "twice the all-gather of the same schedule + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_two_level_overlapped(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
    reduction_rate: float,
) -> CollectiveTerms:
    """Allreduce inside each domain and between them, pipelined."""
    once = reduce_scatter_two_level_overlapped(
        size,
        domain,
        domains,
        nics_per_domain,
        domain_bandwidth,
        nic_bandwidth,
        domain_latency,
        nic_latency,
        reduction_rate,
    )
    return CollectiveTerms(2.0 * once.latency, 2.0 * once.bandwidth, once.reduction)


@kernel(
    unit="s",
    rises="size outer_ranks inner_latency middle_latency outer_latency",
    falls="inner_bandwidth middle_bandwidth outer_bandwidth reduction_rate",
    free="inner_ranks middle_ranks",
    free_because="more ranks on a level leave less for the levels above",
    source=LEVELS,
    formula=(
        "2 * sum over levels of (ranks_i - 1) * latency_i + 2 * sum over levels of"
        " (ranks_i - 1) / ranks_i * size_i / bandwidth_i, size_i = size / ranks below level i,"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_three_level(
    size: float,
    inner_ranks: float,
    middle_ranks: float,
    outer_ranks: float,
    inner_bandwidth: float,
    middle_bandwidth: float,
    outer_bandwidth: float,
    inner_latency: float,
    middle_latency: float,
    outer_latency: float,
    reduction_rate: float,
) -> CollectiveTerms:
    """Allreduce down three levels and back; one rank on a level leaves the level out."""
    inside = inner_ranks * middle_ranks
    ranks = inside * outer_ranks
    latency = (
        (inner_ranks - 1.0) * inner_latency
        + (middle_ranks - 1.0) * middle_latency
        + (outer_ranks - 1.0) * outer_latency
    )
    moved = (
        (inner_ranks - 1.0) * size / (inner_ranks * inner_bandwidth)
        + (middle_ranks - 1.0) * size / (inside * middle_bandwidth)
        + (outer_ranks - 1.0) * size / (ranks * outer_bandwidth)
    )
    return CollectiveTerms(
        2.0 * latency, 2.0 * moved, (ranks - 1.0) * size / (ranks * reduction_rate)
    )


@kernel(
    unit="s",
    rises="size outer_ranks inner_latency middle_latency outer_latency",
    falls="inner_bandwidth middle_bandwidth outer_bandwidth reduction_rate",
    free="inner_ranks middle_ranks",
    free_because="more ranks on a level leave less for the levels above",
    source=LEVELS + "; pipelined",
    formula="as three-level, with the largest of the three bandwidth terms in place of their sum",
)
def allreduce_three_level_overlapped(
    size: float,
    inner_ranks: float,
    middle_ranks: float,
    outer_ranks: float,
    inner_bandwidth: float,
    middle_bandwidth: float,
    outer_bandwidth: float,
    inner_latency: float,
    middle_latency: float,
    outer_latency: float,
    reduction_rate: float,
) -> CollectiveTerms:
    """Allreduce on three levels, pipelined: the slowest level sets the pace."""
    inside = inner_ranks * middle_ranks
    ranks = inside * outer_ranks
    latency = (
        (inner_ranks - 1.0) * inner_latency
        + (middle_ranks - 1.0) * middle_latency
        + (outer_ranks - 1.0) * outer_latency
    )
    moved = max(
        (inner_ranks - 1.0) * size / (inner_ranks * inner_bandwidth),
        (middle_ranks - 1.0) * size / (inside * middle_bandwidth),
        (outer_ranks - 1.0) * size / (ranks * outer_bandwidth),
    )
    return CollectiveTerms(
        2.0 * latency, 2.0 * moved, (ranks - 1.0) * size / (ranks * reduction_rate)
    )
