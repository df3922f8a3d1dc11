"""All-to-all, scatter, gather, message and barrier over ranks that are placed on two levels.

A placement is lowered to plain numbers: `domain` ranks in each of `domains` scale-up domains with
`nics_per_domain` network interfaces each, the rates of one scale-up port and one interface per
direction, and the one-way latencies inside and between domains.
"""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.primitives import ceil_log2
from scalemath.kernels.terms import CollectiveTerms

PXN = (
    "NVIDIA/nccl issue 866 and NVIDIA/nccl-tests issue 130 (share that leaves the node); messages "
    "gathered per rail as in Tutel, arXiv:2206.03382"
)
ROOT = "the root's ports carry all blocks but its own"


@kernel(
    unit="s",
    rises="size domain domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    free="domains",
    free_because="with more domains a smaller part of a buffer stays inside",
    source=PXN,
    formula=(
        "(domain - 1) * domain_latency + (ranks - domain) * nic_latency"
        " + max((domain - 1) / ranks * size / domain_bandwidth,"
        " domain / nics_per_domain * (domains - 1) / domains * size / nic_bandwidth)"
    ),
)
def all_to_all_flat(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """All-to-all in which every rank sends straight to every other."""
    ranks = domain * domains
    inside = (domain - 1.0) * size / (ranks * domain_bandwidth)
    between = domain * (domains - 1.0) * size / (domains * nics_per_domain * nic_bandwidth)
    latency = (domain - 1.0) * domain_latency + (ranks - domain) * nic_latency
    return CollectiveTerms(latency, max(inside, between), 0.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    source=PXN,
    formula=(
        "(domain - 1) * domain_latency + (domains - 1) * nic_latency"
        " + (domain - 1) / domain * size / domain_bandwidth"
        " + domain / nics_per_domain * (domains - 1) / domains * size / nic_bandwidth"
    ),
)
def all_to_all_two_level(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """All-to-all inside each domain to the right rail, then along the rails."""
    inside = (domain - 1.0) * size / (domain * domain_bandwidth)
    between = domain * (domains - 1.0) * size / (domains * nics_per_domain * nic_bandwidth)
    latency = (domain - 1.0) * domain_latency + (domains - 1.0) * nic_latency
    return CollectiveTerms(latency, inside + between, 0.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    source=PXN,
    formula=(
        "(domain - 1) * domain_latency + (domains - 1) * nic_latency"
        " + max((domain - 1) / domain * size / domain_bandwidth,"
        " domain / nics_per_domain * (domains - 1) / domains * size / nic_bandwidth)"
    ),
)
def all_to_all_rails(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """All-to-all inside each domain and along the rails, pipelined."""
    inside = (domain - 1.0) * size / (domain * domain_bandwidth)
    between = domain * (domains - 1.0) * size / (domains * nics_per_domain * nic_bandwidth)
    latency = (domain - 1.0) * domain_latency + (domains - 1.0) * nic_latency
    return CollectiveTerms(latency, max(inside, between), 0.0)


@kernel(
    unit="s",
    rises="size domain domain_latency nic_latency",
    free="domains",
    free_because="with more domains fewer blocks stay in the root's own",
    falls="domain_bandwidth nic_bandwidth",
    source=ROOT,
    formula=(
        "ceil(log2(domain)) * domain_latency + ceil(log2(domains)) * nic_latency"
        " + max((domain - 1) / ranks * size / domain_bandwidth,"
        " (domains - 1) / domains * size / nic_bandwidth)"
    ),
)
def scatter_flat(
    size: float,
    domain: float,
    domains: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Scatter in which the root uses its own two ports."""
    inside = (domain - 1.0) * size / (domain * domains * domain_bandwidth)
    between = (domains - 1.0) * size / (domains * nic_bandwidth)
    latency = ceil_log2(domain) * domain_latency + ceil_log2(domains) * nic_latency
    return CollectiveTerms(latency, max(inside, between), 0.0)


@kernel(
    unit="s",
    rises="size domain domains domain_latency nic_latency",
    falls="nics_per_domain domain_bandwidth nic_bandwidth",
    source=ROOT,
    formula=(
        "ceil(log2(domain)) * domain_latency + ceil(log2(domains)) * nic_latency"
        " + max((ranks - 1) / ranks * size / domain_bandwidth,"
        " (domains - 1) / domains * size / (nics_per_domain * nic_bandwidth))"
    ),
)
def scatter_rails(
    size: float,
    domain: float,
    domains: float,
    nics_per_domain: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Scatter in which the root reaches all interfaces of its domain through its own port."""
    ranks = domain * domains
    inside = (ranks - 1.0) * size / (ranks * domain_bandwidth)
    between = (domains - 1.0) * size / (domains * nics_per_domain * nic_bandwidth)
    latency = ceil_log2(domain) * domain_latency + ceil_log2(domains) * nic_latency
    return CollectiveTerms(latency, max(inside, between), 0.0)


@kernel(
    unit="s",
    rises="domain domains domain_latency nic_latency",
    source="dissemination; the slowest hop sets the pace",
    formula=("ceil(log2(ranks)) * max(domain_latency, nic_latency)"),
)
def barrier_flat(
    domain: float,
    domains: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Barrier by dissemination over all ranks; every round may cross domains."""
    hop = domain_latency
    if domains > 1.0:
        hop = max(hop, nic_latency)
    return CollectiveTerms(ceil_log2(domain * domains) * hop, 0.0, 0.0)


@kernel(
    unit="s",
    rises="domain domains domain_latency nic_latency",
    source="a tree up and down inside the domain around a dissemination between domains",
    formula=(
        "2 * ceil(log2(domain)) * domain_latency + ceil(log2(domains)) * nic_latency; inside one"
        " domain ceil(log2(domain)) * domain_latency"
    ),
)
def barrier_two_level(
    domain: float,
    domains: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Barrier inside each domain, between the first ranks of domains, and back."""
    passes = 2.0 if domains > 1.0 else 1.0
    return CollectiveTerms(
        passes * ceil_log2(domain) * domain_latency + ceil_log2(domains) * nic_latency, 0.0, 0.0
    )


@kernel(
    unit="s",
    rises="size domain_latency nic_latency",
    falls="domain_bandwidth nic_bandwidth",
    free="domains",
    free_because="between domains the message takes another way than inside one",
    source="one message; it leaves the domain where there are several",
    formula=(
        "nic_latency + size / nic_bandwidth between domains,"
        " domain_latency + size / domain_bandwidth inside one"
    ),
)
def send_receive_flat(
    size: float,
    domains: float,
    domain_bandwidth: float,
    nic_bandwidth: float,
    domain_latency: float,
    nic_latency: float,
) -> CollectiveTerms:
    """Message to a rank of another domain over one interface, or inside the one domain."""
    if domains > 1.0:
        return CollectiveTerms(nic_latency, size / nic_bandwidth, 0.0)
    return CollectiveTerms(domain_latency, size / domain_bandwidth, 0.0)
