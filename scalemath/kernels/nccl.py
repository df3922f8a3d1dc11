"""NCCL's own cost estimate: the formulas it chooses algorithms and protocols by.

Every constant arrives as an argument; the versioned values are data of
`scalemath.collectives.nccl`. All floats are SI (byte, byte/s, s), bandwidths per direction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.kernel import kernel

SOURCE = "NVIDIA/nccl src/graph/tuning.cc at v2.30.7 (commit 5067397c)"
SYMMETRIC_SOURCE = "NVIDIA/nccl src/sym_kernels.cc at v2.30.7 (commit 5067397c)"


class NcclTime(NamedTuple):
    """Terms of NCCL's time estimate [s]."""

    latency: float
    bandwidth: float


@kernel(
    unit="s",
    rises="size latency latency_factor operations",
    falls="bandwidth correction",
    source=f"{SOURCE}, ncclTopoGetAlgoTime",
    formula="latency * latency_factor * operations + size / (bandwidth * correction)",
)
def nccl_time(
    size: float,
    latency: float,
    bandwidth: float,
    latency_factor: float,
    operations: float,
    correction: float,
) -> NcclTime:
    """Estimated time; infinite where the algorithm offers no bandwidth."""
    rate = bandwidth * correction
    if rate <= 0.0:
        return NcclTime(latency * latency_factor * operations, math.inf)
    return NcclTime(latency * latency_factor * operations, size / rate)


@kernel(
    unit="byte/s",
    rises="bus_bandwidth efficiency cap",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="min(bus_bandwidth * efficiency, cap)",
)
def nccl_capped_bandwidth(bus_bandwidth: float, efficiency: float, cap: float) -> float:
    """Bus bandwidth left by a protocol's efficiency and its measured cap."""
    return min(bus_bandwidth * efficiency, cap)


@kernel(
    unit="byte/s",
    rises="channels intra inter efficiency share cap",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="channels * min(intra * efficiency * (channels - 1)/channels * share, inter, cap)",
)
def nccl_nvls_bandwidth(
    channels: float, intra: float, inter: float, efficiency: float, share: float, cap: float
) -> float:
    """Bus bandwidth of NVLS and NVLSTree; zero below two channels."""
    if channels < 2.0:
        return 0.0
    multicast = intra * efficiency * (channels - 1.0) / channels * share
    return channels * min(multicast, inter, cap)


@kernel(
    unit="byte/s",
    rises="channels intra",
    falls="ranks_per_node",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="channels * intra / ((ranks_per_node / channels + 1) / 2)",
)
def nccl_collnet_direct_bandwidth(channels: float, intra: float, ranks_per_node: float) -> float:
    """Bus bandwidth of an allreduce by CollNetDirect, before the architecture factor."""
    heads = ranks_per_node / channels
    return channels * intra / (heads - (heads - 1.0) / 2.0)


@kernel(
    unit="byte/s",
    rises="ranks_per_node intra inter efficiency",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="ranks_per_node * min(intra, efficiency * inter)",
)
def nccl_collnet_gather_bandwidth(
    ranks_per_node: float, intra: float, inter: float, efficiency: float
) -> float:
    """Bandwidth of an all-gather or reduce-scatter by CollNetDirect."""
    return ranks_per_node * min(intra, efficiency * inter)


@kernel(
    unit="s",
    rises="base intra inter intra_steps inter_steps",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="base + intra_steps * intra + inter_steps * inter",
)
def nccl_ring_latency(
    base: float, intra: float, inter: float, intra_steps: float, inter_steps: float
) -> float:
    """Latency of a ring: the steps inside the nodes and those that cross the network."""
    return base + intra_steps * intra + inter_steps * inter


@kernel(
    unit="s",
    rises="base intra inter ranks_per_node node_levels",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="base + 2 * ((ranks_per_node - 1) * intra + node_levels * inter)",
)
def nccl_tree_latency(
    base: float, intra: float, inter: float, ranks_per_node: float, node_levels: float
) -> float:
    """Latency of the double binary tree with a chain inside the node, up and down."""
    return base + 2.0 * ((ranks_per_node - 1.0) * intra + node_levels * inter)


@kernel(
    unit="s",
    rises="base intra inter node_levels",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="base + intra + 2 * node_levels * inter",
)
def nccl_nvls_tree_latency(base: float, intra: float, inter: float, node_levels: float) -> float:
    """Latency of NVLSTree: one multicast hop inside, a tree between the nodes."""
    return base + intra + 2.0 * node_levels * inter


@kernel(
    unit="s",
    rises="base intra inter ranks_per_node per_peer",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="base + 2*(min(1, ranks_per_node - 1)*intra + per_peer*(ranks_per_node - 1)) + inter",
)
def nccl_collnet_direct_latency(
    base: float, intra: float, inter: float, ranks_per_node: float, per_peer: float
) -> float:
    """Latency of CollNetDirect: one parallel hop and a serial start per local peer."""
    peers = ranks_per_node - 1.0
    return base + 2.0 * (min(1.0, peers) * intra + peers * per_peer) + inter


@kernel(
    unit="s",
    rises="base intra inter ranks_per_node",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="base + 2 * (ranks_per_node - 1) * intra + inter",
)
def nccl_collnet_chain_latency(
    base: float, intra: float, inter: float, ranks_per_node: float
) -> float:
    """Latency of CollNetChain: a chain inside the node, up and down."""
    return base + 2.0 * (ranks_per_node - 1.0) * intra + inter


@kernel(
    unit="s",
    rises="base inter node_levels ranks per_rank",
    falls="hop_divisor",
    source=f"{SOURCE}, ncclTopoTuneModel",
    formula="base + node_levels * inter / hop_divisor + per_rank * ranks",
)
def nccl_pat_latency(
    base: float, inter: float, node_levels: float, ranks: float, hop_divisor: float, per_rank: float
) -> float:
    """Latency of PAT (parallel aggregated trees)."""
    return base + node_levels * inter / hop_divisor + per_rank * ranks


@kernel(
    unit="byte/s",
    rises="rate peak",
    free="knee",
    free_because="the knee rounds the corner between the two limits and sets the slope below it",
    source=SYMMETRIC_SOURCE,
    formula="peak - knee * log(1 + (exp(peak/knee) - 1) * exp(-rate/knee))",
)
def nccl_soft_minimum(rate: float, peak: float, knee: float) -> float:
    """Smooth least of a rate and a peak, zero at zero."""
    # log(1 + (e^c - 1) e^-x) = logaddexp(log(1 - e^-x), c - x), without overflow for large c
    high = (peak - rate) / knee
    spread = -math.expm1(-rate / knee)
    if high > 0.0:
        return peak - knee * (high + math.log1p(spread * math.exp(-high)))
    return peak - knee * math.log(spread + math.exp(high))


@kernel(
    unit="s",
    rises="base traffic",
    falls="bandwidth",
    free="ramp",
    free_because="ramp is the time unit of the rounded corner: exp and log are taken in it",
    source=SYMMETRIC_SOURCE,
    formula="base + ramp * log(1 + exp(traffic / bandwidth / ramp - 1))",
)
def nccl_symmetric_time(base: float, traffic: float, bandwidth: float, ramp: float) -> float:
    """Estimated time of a kernel on symmetric memory windows."""
    if bandwidth <= 0.0:
        return math.inf
    steps = traffic / bandwidth / ramp - 1.0
    return base + ramp * (max(steps, 0.0) + math.log1p(math.exp(-abs(steps))))
