"""Reduce-scatter and all-gather over ranks that are placed on two levels.

A placement is lowered to plain numbers: `domain` ranks in each of `domains` scale-up domains with
`nics_per_domain` network interfaces each, the rates of one scale-up port and one interface per
direction, and the one-way latencies inside and between domains.
"""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.terms import CollectiveTerms

RINGS = (
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
    "J. Parallel Distrib. Comput. 69(2) 2009, 117-124; the slowest hop sets the pace"
)
LEVELS = (
    "a ring inside each domain and one between domains on every interface; bytes telescope over "
    "the two levels (Chan et al., Concurrency Computat. Pract. Exper. 19(13) 2007)"
)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="domain_bandwidth nic_bandwidth",
    source=RINGS,
    formula=(
        "(ranks - 1) * max(domain_latency, nic_latency) + (ranks - 1) / ranks * size"
        " / min(domain_bandwidth, nic_bandwidth); inside one domain its own latency and rate"
    ),
)
def all_gather_flat(
    size: float,
    domain: float,
    domains: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """All-gather around one ring that leaves each domain by a single interface."""
    ranks = domain * domains
    hop = domain_latency
    rate = domain_bandwidth
    if domains > 1.0:
        hop = max(hop, nic_latency)
        rate = min(rate, nic_bandwidth)
    return CollectiveTerms((ranks - 1.0) * hop, (ranks - 1.0) * size / (ranks * rate), 0.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    source=RINGS,
    formula=(
        "(ranks - 1) * max(domain_latency, nic_latency) + (ranks - 1) / ranks * size"
        " / min(domain_bandwidth, nics_per_domain * nic_bandwidth)"
    ),
)
def all_gather_rails(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """All-gather around rings that leave each domain by all its interfaces."""
    return all_gather_flat(
        size,
        domain,
        domains,
        domain_bandwidth,
        nics_per_domain * nic_bandwidth,
        domain_latency,
        nic_latency,
    )


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    source=LEVELS,
    formula=(
        "(domain - 1) * domain_latency + (domains - 1) * nic_latency"
        " + (domain - 1) / domain * size / domain_bandwidth"
        " + (domains - 1) / domains * size / (nics_per_domain * nic_bandwidth)"
    ),
)
def all_gather_two_level(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """All-gather between domains, then inside each, one after the other."""
    inside = (domain - 1.0) * size / (domain * domain_bandwidth)
    between = (domains - 1.0) * size / (domains * nics_per_domain * nic_bandwidth)
    latency = (domain - 1.0) * domain_latency + (domains - 1.0) * nic_latency
    return CollectiveTerms(latency, inside + between, 0.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    source=LEVELS,
    formula=(
        "(domain - 1) * domain_latency + (domains - 1) * nic_latency"
        " + max((domain - 1) / domain * size / domain_bandwidth,"
        " (domains - 1) / domains * size / (nics_per_domain * nic_bandwidth))"
    ),
)
def all_gather_two_level_overlapped(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """All-gather between domains and inside each, pipelined: the slower level sets the pace."""
    inside = (domain - 1.0) * size / (domain * domain_bandwidth)
    between = (domains - 1.0) * size / (domains * nics_per_domain * nic_bandwidth)
    latency = (domain - 1.0) * domain_latency + (domains - 1.0) * nic_latency
    return CollectiveTerms(latency, max(inside, between), 0.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="domain_bandwidth nic_bandwidth reduction_rate",
    source=RINGS,
    formula=(
        "the all-gather of the same schedule run backwards"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def reduce_scatter_flat(
    size: float,
    domain: float,
    domains: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
    reduction_rate: float,
) -> CollectiveTerms:
    """Reduce-scatter around one ring that leaves each domain by a single interface."""
    once = all_gather_flat(
        size, domain, domains, domain_bandwidth, nic_bandwidth, domain_latency, nic_latency
    )
    ranks = domain * domains
    reduced = (ranks - 1.0) * size / (ranks * reduction_rate)
    return CollectiveTerms(once.latency, once.bandwidth, reduced)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    source=RINGS,
    formula=(
        "the all-gather of the same schedule run backwards"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def reduce_scatter_rails(
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
    """Reduce-scatter around rings that leave each domain by all its interfaces."""
    once = all_gather_rails(
        size,
        domain,
        domains,
        nics_per_domain,
        domain_bandwidth,
        nic_bandwidth,
        domain_latency,
        nic_latency,
    )
    ranks = domain * domains
    reduced = (ranks - 1.0) * size / (ranks * reduction_rate)
    return CollectiveTerms(once.latency, once.bandwidth, reduced)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    source=LEVELS,
    formula=(
        "the all-gather of the same schedule run backwards"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def reduce_scatter_two_level(
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
    """Reduce-scatter inside each domain, then between them."""
    once = all_gather_two_level(
        size,
        domain,
        domains,
        nics_per_domain,
        domain_bandwidth,
        nic_bandwidth,
        domain_latency,
        nic_latency,
    )
    ranks = domain * domains
    reduced = (ranks - 1.0) * size / (ranks * reduction_rate)
    return CollectiveTerms(once.latency, once.bandwidth, reduced)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    source=LEVELS,
    formula=(
        "the all-gather of the same schedule run backwards"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def reduce_scatter_two_level_overlapped(
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
    """Reduce-scatter inside each domain and between them, pipelined."""
    once = all_gather_two_level_overlapped(
        size,
        domain,
        domains,
        nics_per_domain,
        domain_bandwidth,
        nic_bandwidth,
        domain_latency,
        nic_latency,
    )
    ranks = domain * domains
    reduced = (ranks - 1.0) * size / (ranks * reduction_rate)
    return CollectiveTerms(once.latency, once.bandwidth, reduced)
