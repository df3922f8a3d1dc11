"""What no algorithm can beat on a placement: rounds, ports and the way out of a domain."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.bounds import CHAN, CUT, PATARASUK, rounds_bound
from scalemath.kernels.terms import CollectiveTerms, binding_bound

WAYS = "between domains there is another port and another latency than inside one"
BOTH = CHAN + "; " + PATARASUK + "; " + CUT


@kernel(
    unit="s",
    rises="domain_latency nic_latency",
    free="domain domains",
    free_because=WAYS,
    source=CHAN,
    formula=(
        "max(ceil(log2(ranks)) * min(domain_latency, nic_latency), nic_latency); inside one"
        " domain ceil(log2(ranks)) * domain_latency"
    ),
)
def placed_rounds_bound(
    domain: float, domains: float, domain_latency: float, nic_latency: float
) -> float:
    """Least latency until one rank's news has reached all."""
    if domains > 1.0:
        hop = min(domain_latency, nic_latency)
        if domain < 2.0:
            hop = nic_latency
        return max(rounds_bound(domain * domains, hop, 1.0), nic_latency)
    return rounds_bound(domain, domain_latency, 1.0)


@kernel(
    unit="s",
    rises="port_bytes cut_bytes",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    free="domain domains",
    free_because=WAYS,
    source=CUT,
    formula=(
        "max(port_bytes / (domain_bandwidth + nics_per_domain * nic_bandwidth / domain),"
        " cut_bytes / (nics_per_domain * nic_bandwidth)); inside one domain"
        " port_bytes / domain_bandwidth"
    ),
)
def placed_bytes_bound(
    port_bytes: float,
    cut_bytes: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
) -> float:
    """Least time to carry what every rank and every domain must send or receive."""
    if domains < 2.0:
        return port_bytes / domain_bandwidth
    out = nics_per_domain * nic_bandwidth
    cut = cut_bytes / out
    if domain < 2.0:
        return cut
    return max(cut, port_bytes / (domain_bandwidth + out / domain))


@kernel(
    unit="s",
    rises="passes size domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth reduction_rate",
    free="domain domains",
    free_because=WAYS,
    source=BOTH,
    formula=(
        "the largest of the rounds, passes * (ranks - 1) / ranks * size over all ports of a rank,"
        " passes * (domains - 1) / domains * size over the interfaces of a domain, and"
        " (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def placed_ring_bound(
    passes: float,
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
    """Least time of an allreduce (two passes), reduce-scatter or all-gather (one)."""
    ranks = domain * domains
    share = (ranks - 1.0) * size / ranks
    return binding_bound(
        placed_rounds_bound(domain, domains, domain_latency, nic_latency),
        placed_bytes_bound(
            passes * share,
            passes * (domains - 1.0) * size / domains,
            domain,
            domains,
            nics_per_domain,
            domain_bandwidth,
            nic_bandwidth,
        ),
        share / reduction_rate,
    )


@kernel(
    unit="s",
    rises="size domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    free="domain domains",
    free_because=WAYS,
    source=CUT,
    formula=(
        "the largest of the rounds, (ranks - 1) / ranks * size over all ports of a rank, and"
        " domain * (domains - 1) / domains * size over the interfaces of a domain"
    ),
)
def placed_all_to_all_bound(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Least time of an all-to-all."""
    ranks = domain * domains
    return binding_bound(
        placed_rounds_bound(domain, domains, domain_latency, nic_latency),
        placed_bytes_bound(
            (ranks - 1.0) * size / ranks,
            domain * (domains - 1.0) * size / domains,
            domain,
            domains,
            nics_per_domain,
            domain_bandwidth,
            nic_bandwidth,
        ),
        0.0,
    )


@kernel(
    unit="s",
    rises="size domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    free="domain domains",
    free_because=WAYS,
    source=CUT,
    formula=(
        "the largest of the rounds, (ranks - 1) / ranks * size over all ports of a rank (size"
        " inside one domain), and size over the interfaces of a domain; for two ranks or more"
    ),
)
def placed_broadcast_bound(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Least time of a broadcast or a reduction to one rank."""
    ranks = domain * domains
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    received = size
    if domains > 1.0:
        received = (ranks - 1.0) * size / ranks
    return binding_bound(
        placed_rounds_bound(domain, domains, domain_latency, nic_latency),
        placed_bytes_bound(
            received, size, domain, domains, nics_per_domain, domain_bandwidth, nic_bandwidth
        ),
        0.0,
    )


@kernel(
    unit="s",
    rises="size domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    free="domain domains",
    free_because=WAYS,
    source=CUT,
    formula=(
        "the largest of the rounds, (ranks - 1) / ranks * size over all ports of a rank, and"
        " (domains - 1) / domains * size over the interfaces of a domain"
    ),
)
def placed_gather_bound(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Least time of an all-gather."""
    return placed_ring_bound(
        1.0,
        size,
        domain,
        domains,
        nics_per_domain,
        domain_bandwidth,
        nic_bandwidth,
        domain_latency,
        nic_latency,
        math.inf,
    )


@kernel(
    unit="s",
    rises="size domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    free="domain domains",
    free_because=WAYS,
    source=CUT,
    formula=(
        "the largest of the rounds, (ranks - 1) / ranks * size over the root's scale-up port and"
        " all interfaces of its domain, and (domains - 1) / domains * size over those interfaces"
    ),
)
def placed_root_bound(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Least time of a scatter or gather."""
    ranks = domain * domains
    moved = (ranks - 1.0) * size / ranks
    rounds = placed_rounds_bound(domain, domains, domain_latency, nic_latency)
    if domains < 2.0:
        return binding_bound(rounds, moved / domain_bandwidth, 0.0)
    out = nics_per_domain * nic_bandwidth
    cut = (domains - 1.0) * size / (domains * out)
    if domain < 2.0:
        return binding_bound(rounds, cut, 0.0)
    return binding_bound(rounds, max(cut, moved / (domain_bandwidth + out)), 0.0)


@kernel(
    unit="s",
    rises="domain_latency nic_latency",
    free="domain domains",
    free_because=WAYS,
    source=CHAN,
    formula="the rounds until everybody's news has reached all",
)
def placed_barrier_bound(
    domain: float, domains: float, domain_latency: float, nic_latency: float
) -> CollectiveTerms:
    """Least time of a barrier."""
    return CollectiveTerms(
        placed_rounds_bound(domain, domains, domain_latency, nic_latency), 0.0, 0.0
    )


@kernel(
    unit="s",
    rises="size",
    falls="domain_bandwidth nic_bandwidth nics_per_domain",
    free="domain_latency nic_latency domains",
    free_because=WAYS,
    source="a message takes its latency, and its bytes must pass the interfaces on its way",
    formula=(
        "max(nic_latency, size / (nics_per_domain * nic_bandwidth)) between domains,"
        " max(domain_latency, size / domain_bandwidth) inside one"
    ),
)
def placed_message_bound(
    size: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Least time of a message between domains, or inside the one there is."""
    if domains > 1.0:
        return binding_bound(nic_latency, size / (nics_per_domain * nic_bandwidth), 0.0)
    return binding_bound(domain_latency, size / domain_bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    free="domain domains domain_latency nic_latency",
    free_because=WAYS,
    source="every rank sends its vector and hears the result once, every domain too; " + CUT,
    formula=(
        "the largest of one latency, (ranks - 1) / ranks * size over all ports of a rank (size"
        " inside one domain), and size over the interfaces of a domain; for two ranks or more"
    ),
)
def placed_in_network_bound(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Least time of an allreduce, broadcast or reduction that switches help with."""
    ranks = domain * domains
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    received = size
    if domains > 1.0:
        received = (ranks - 1.0) * size / ranks
    return binding_bound(
        nic_latency if domains > 1.0 else domain_latency,
        placed_bytes_bound(
            received, size, domain, domains, nics_per_domain, domain_bandwidth, nic_bandwidth
        ),
        0.0,
    )
