"""Bandwidth that remains per endpoint of a fat tree under named traffic.

One signature for every pattern, so that a table picks the kernel. `uplinks` are counted in
endpoint ports' worth of rate; routing spreads every flow evenly over the paths (spraying),
so that the cuts at the fullest leaf and pod decide.
"""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel

_CUT = "cut of the fullest leaf and of the fullest pod, max-flow min-cut with even spraying"
_FREE = "endpoints leaf_endpoints pod_endpoints rails senders"
_BECAUSE = "counts move the share that leaves a leaf both ways, or do not enter"


@kernel(
    unit="1",
    rises="uplinks",
    falls="flows",
    source="fair share of a cut",
    formula="min(1, uplinks / flows)",
)
def cut_share(uplinks: float, flows: float) -> float:
    """Share of its port rate that each of the flows over a cut keeps."""
    if flows <= uplinks:
        return 1.0
    return uplinks / flows


@kernel(
    unit="byte/s",
    rises="port_bandwidth leaf_uplinks pod_uplinks",
    free=_FREE,
    free_because=_BECAUSE,
    source=_CUT,
    formula="port_bandwidth * min(1, uplinks / min(inside, outside))",
)
def traffic_worst_permutation(
    port_bandwidth: float,
    endpoints: float,
    leaf_endpoints: float,
    leaf_uplinks: float,
    pod_endpoints: float,
    pod_uplinks: float,
    rails: float,
    senders: float,
) -> float:
    """Every endpoint sends to one outside its leaf and pod, as far as there are any."""
    leaf = cut_share(leaf_uplinks, min(leaf_endpoints, endpoints - leaf_endpoints))
    pod = cut_share(pod_uplinks, min(pod_endpoints, endpoints - pod_endpoints))
    return port_bandwidth * min(leaf, pod)


@kernel(
    unit="byte/s",
    rises="port_bandwidth leaf_uplinks pod_uplinks",
    free=_FREE,
    free_because=_BECAUSE,
    source=_CUT,
    formula="port_bandwidth * min(1, uplinks / (inside * outside / (endpoints - 1)))",
)
def traffic_uniform(
    port_bandwidth: float,
    endpoints: float,
    leaf_endpoints: float,
    leaf_uplinks: float,
    pod_endpoints: float,
    pod_uplinks: float,
    rails: float,
    senders: float,
) -> float:
    """Every endpoint sends the same to every other one at the same time."""
    others = max(endpoints - 1.0, 1.0)
    leaf = cut_share(leaf_uplinks, leaf_endpoints * ((endpoints - leaf_endpoints) / others))
    pod = cut_share(pod_uplinks, pod_endpoints * ((endpoints - pod_endpoints) / others))
    return port_bandwidth * min(leaf, pod)


@kernel(
    unit="byte/s",
    rises="port_bandwidth leaf_uplinks pod_uplinks",
    free=_FREE,
    free_because=_BECAUSE,
    source=_CUT,
    formula="port_bandwidth * min(1, uplinks / 1)",
)
def traffic_leaf_ring(
    port_bandwidth: float,
    endpoints: float,
    leaf_endpoints: float,
    leaf_uplinks: float,
    pod_endpoints: float,
    pod_uplinks: float,
    rails: float,
    senders: float,
) -> float:
    """A ring in leaf order: one flow leaves each leaf, one each pod."""
    leaf = cut_share(leaf_uplinks, min(1.0, endpoints - leaf_endpoints))
    pod = cut_share(pod_uplinks, min(1.0, endpoints - pod_endpoints))
    return port_bandwidth * min(leaf, pod)


@kernel(
    unit="1",
    free="endpoints inside",
    free_because="the share that leaves a group falls with the group, its spread does not",
    source="mean and variance of the hypergeometric count; largest of n by sqrt(2 ln n)",
    formula="min(inside, outside, mean + sqrt(2 ln groups) * deviation)",
)
def random_crossings(endpoints: float, inside: float) -> float:
    """Flows that leave the unluckiest group of a random permutation (expected, approximate)."""
    outside = endpoints - inside
    if outside <= 0.0 or inside <= 0.0:
        return 0.0
    mean = inside * (outside / max(endpoints - 1.0, 1.0))
    share = inside / endpoints
    deviation = math.sqrt(mean * share * (outside / endpoints))
    groups = max(endpoints / inside, 1.0)
    return min(inside, outside, mean + math.sqrt(2.0 * math.log(groups)) * deviation)


@kernel(
    unit="byte/s",
    rises="port_bandwidth leaf_uplinks pod_uplinks",
    free=_FREE,
    free_because=_BECAUSE,
    source=f"{_CUT}; expected flows of the unluckiest leaf",
    formula="port_bandwidth * min(1, uplinks / expected largest number of flows that leave)",
)
def traffic_random_permutation(
    port_bandwidth: float,
    endpoints: float,
    leaf_endpoints: float,
    leaf_uplinks: float,
    pod_endpoints: float,
    pod_uplinks: float,
    rails: float,
    senders: float,
) -> float:
    """Every endpoint sends to a partner drawn at random; the slowest endpoint's rate."""
    leaf = cut_share(leaf_uplinks, random_crossings(endpoints, leaf_endpoints))
    pod = cut_share(pod_uplinks, random_crossings(endpoints, pod_endpoints))
    return port_bandwidth * min(leaf, pod)


@kernel(
    unit="byte/s",
    rises="port_bandwidth leaf_uplinks pod_uplinks",
    free=_FREE,
    free_because=_BECAUSE,
    source=f"{_CUT}; the receiver's port takes all senders",
    formula="min(port_bandwidth, uplinks) / senders",
)
def traffic_incast(
    port_bandwidth: float,
    endpoints: float,
    leaf_endpoints: float,
    leaf_uplinks: float,
    pod_endpoints: float,
    pod_uplinks: float,
    rails: float,
    senders: float,
) -> float:
    """`senders` endpoints send to one receiver, from other leaves where there are enough."""
    share = 1.0 / max(senders, 1.0)
    leaf = cut_share(leaf_uplinks, min(senders, endpoints - leaf_endpoints))
    pod = cut_share(pod_uplinks, min(senders, endpoints - pod_endpoints))
    return port_bandwidth * min(share, leaf, pod)


@kernel(
    unit="byte/s",
    rises="port_bandwidth leaf_uplinks pod_uplinks",
    free=_FREE,
    free_because=_BECAUSE,
    source=_CUT,
    formula="port_bandwidth * min(1, uplinks / (inside * outside of the rail / (rail - 1)))",
)
def traffic_rail_aligned(
    port_bandwidth: float,
    endpoints: float,
    leaf_endpoints: float,
    leaf_uplinks: float,
    pod_endpoints: float,
    pod_uplinks: float,
    rails: float,
    senders: float,
) -> float:
    """All-to-all among the endpoints of each rail; a leaf holds endpoints of one rail."""
    rail = endpoints / rails
    others = max(rail - 1.0, 1.0)
    leaf = cut_share(leaf_uplinks, leaf_endpoints * (max(rail - leaf_endpoints, 0.0) / others))
    inside = pod_endpoints / rails
    pod = cut_share(pod_uplinks, pod_endpoints * (max(rail - inside, 0.0) / others))
    return port_bandwidth * min(leaf, pod)


@kernel(
    unit="byte/s",
    rises="port_bandwidth leaf_uplinks pod_uplinks",
    free="endpoints leaf_endpoints pod_endpoints",
    free_because="half the endpoints, times a share that falls with the size of leaf and pod",
    source="one-way cut of the even worst-case split",
    formula="endpoints / 2 * worst permutation bandwidth",
)
def fat_tree_bisection(
    port_bandwidth: float,
    endpoints: float,
    leaf_endpoints: float,
    leaf_uplinks: float,
    pod_endpoints: float,
    pod_uplinks: float,
) -> float:
    """One-way bisection that any even split is sure of; exact when full leaves split evenly."""
    share = traffic_worst_permutation(
        port_bandwidth,
        endpoints,
        leaf_endpoints,
        leaf_uplinks,
        pod_endpoints,
        pod_uplinks,
        1.0,
        1.0,
    )
    return endpoints / 2.0 * share
