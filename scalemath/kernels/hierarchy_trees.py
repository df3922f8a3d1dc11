"""Broadcast and reduce over ranks that are placed on two levels.

A placement is lowered to plain numbers: `domain` ranks in each of `domains` scale-up domains with
`nics_per_domain` network interfaces each, the rates of one scale-up port and one interface per
direction, and the one-way latencies inside and between domains.
"""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.primitives import ceil_log2
from scalemath.kernels.terms import CollectiveTerms
from scalemath.kernels.tree import pipeline, pipeline_reduced

CHAIN = "a pipelined chain over all ranks; the slowest hop sets the pace"
SPREAD = (
    "scatter inside the root's domain, a pipelined chain between domains on every interface, and "
    "an all-gather inside each (van de Geijn's long broadcast on two levels)"
)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="domain_bandwidth nic_bandwidth",
    source=CHAIN,
    formula=(
        "(sqrt((ranks - 2) * max(domain_latency, nic_latency))"
        " + sqrt(size / min(domain_bandwidth, nic_bandwidth)))**2 with the best segments"
    ),
)
def broadcast_flat(
    size: float,
    domain: float,
    domains: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Broadcast along one chain that leaves each domain by a single interface."""
    ranks = domain * domains
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    hop = domain_latency
    rate = domain_bandwidth
    if domains > 1.0:
        hop = max(hop, nic_latency)
        rate = min(rate, nic_bandwidth)
    return pipeline(ranks - 2.0, size, rate, hop, 1.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    source=CHAIN,
    formula=(
        "(sqrt((ranks - 2) * max(domain_latency, nic_latency)) + sqrt(size"
        " / min(domain_bandwidth, nics_per_domain * nic_bandwidth)))**2 with the best segments"
    ),
)
def broadcast_rails(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Broadcast along chains that leave each domain by all its interfaces."""
    return broadcast_flat(
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
    source=SPREAD,
    formula=(
        "(ceil(log2(domain)) + domain - 1) * domain_latency"
        " + 2 * (domain - 1) / domain * size / domain_bandwidth"
        " + (sqrt((domains - 2) * nic_latency)"
        " + sqrt(size / (nics_per_domain * nic_bandwidth)))**2 with the best segments"
    ),
)
def broadcast_two_level(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Broadcast spread inside the root domain, sent between domains, and gathered inside each."""
    inside = 2.0 * (domain - 1.0) * size / (domain * domain_bandwidth)
    latency = (ceil_log2(domain) + domain - 1.0) * domain_latency
    between = CollectiveTerms(0.0, 0.0, 0.0)
    if domains > 1.0:
        between = pipeline(domains - 2.0, size, nics_per_domain * nic_bandwidth, nic_latency, 1.0)
    return CollectiveTerms(latency + between.latency, inside + between.bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    source=SPREAD,
    formula=("as two-level, with the larger of the two bandwidth terms in place of their sum"),
)
def broadcast_two_level_overlapped(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Broadcast on two levels, pipelined: the slower level sets the pace."""
    inside = 2.0 * (domain - 1.0) * size / (domain * domain_bandwidth)
    latency = (ceil_log2(domain) + domain - 1.0) * domain_latency
    between = CollectiveTerms(0.0, 0.0, 0.0)
    if domains > 1.0:
        between = pipeline(domains - 2.0, size, nics_per_domain * nic_bandwidth, nic_latency, 1.0)
    return CollectiveTerms(latency + between.latency, max(inside, between.bandwidth), 0.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="domain_bandwidth nic_bandwidth reduction_rate",
    source=CHAIN,
    formula=(
        "(sqrt((ranks - 2) * max(domain_latency, nic_latency)) + sqrt(size"
        " / min(domain_bandwidth, nic_bandwidth) + size / reduction_rate))**2 with the best"
        " segments"
    ),
)
def reduce_flat(
    size: float,
    domain: float,
    domains: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
    reduction_rate: float,
) -> CollectiveTerms:
    """Reduction along one chain that leaves each domain by a single interface."""
    ranks = domain * domains
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    hop = domain_latency
    rate = domain_bandwidth
    if domains > 1.0:
        hop = max(hop, nic_latency)
        rate = min(rate, nic_bandwidth)
    return pipeline_reduced(ranks - 2.0, size, rate, hop, reduction_rate, 1.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    source=CHAIN,
    formula=(
        "(sqrt((ranks - 2) * max(domain_latency, nic_latency)) + sqrt(size"
        " / min(domain_bandwidth, nics_per_domain * nic_bandwidth) + size / reduction_rate))**2"
        " with the best segments"
    ),
)
def reduce_rails(
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
    """Reduction along chains that leave each domain by all its interfaces."""
    return reduce_flat(
        size,
        domain,
        domains,
        domain_bandwidth,
        nics_per_domain * nic_bandwidth,
        domain_latency,
        nic_latency,
        reduction_rate,
    )


@kernel(
    unit="s",
    rises="size domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    free="domain",
    free_because="more ranks in a domain share the reduction between domains",
    source=SPREAD + "; run backwards, every rank reducing its share",
    formula=(
        "(ceil(log2(domain)) + domain - 1) * domain_latency"
        " + 2 * (domain - 1) / domain * size / domain_bandwidth"
        " + (domain - 1) / domain * size / reduction_rate + a chain of domains that reduces"
        " size / domain in every rank, with the best segments"
    ),
)
def reduce_two_level(
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
    """Reduction inside each domain, along a chain of domains, and gathered at the root."""
    share = (domain - 1.0) * size / domain
    latency = (ceil_log2(domain) + domain - 1.0) * domain_latency
    between = CollectiveTerms(0.0, 0.0, 0.0)
    if domains > 1.0:
        between = pipeline_reduced(
            domains - 2.0,
            size,
            nics_per_domain * nic_bandwidth,
            nic_latency,
            domain * reduction_rate,
            1.0,
        )
    return CollectiveTerms(
        latency + between.latency,
        2.0 * share / domain_bandwidth + between.bandwidth,
        share / reduction_rate + between.reduction,
    )


@kernel(
    unit="s",
    rises="size domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    free="domain",
    free_because="more ranks in a domain share the reduction between domains",
    source=SPREAD + "; run backwards and pipelined",
    formula="as two-level, with the larger of the two bandwidth terms in place of their sum",
)
def reduce_two_level_overlapped(
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
    """Reduction on two levels, pipelined: the slower level sets the pace."""
    once = reduce_two_level(
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
    inside = 2.0 * (domain - 1.0) * size / (domain * domain_bandwidth)
    return CollectiveTerms(once.latency, max(inside, once.bandwidth - inside), once.reduction)
