"""Collectives that switches help with: reduction trees (SHARP) and multicast (NVLS).

`levels` counts the switch levels between an endpoint and the root of the tree and
`switch_latency` is paid once per level on the way up and once on the way down. Switches
reduce at line rate, so there is no reduction term.
"""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.terms import CollectiveTerms

SHARP = (
    "Graham et al., Scalable hierarchical aggregation protocol (SHArP), COM-HPC 2016, and "
    "SHARP streaming-aggregation hardware design and evaluation, ISC 2020"
)
NVLS = (
    "NVIDIA/nccl src/sym_kernels.cc (n + n/N bytes per rank) and NVIDIA/nccl-tests issues 212 "
    "and 239"
)
ALONE = "one rank needs no network; from two ranks on the time does not rise"


@kernel(
    unit="s",
    rises="size ranks latency levels switch_latency",
    falls="bandwidth",
    source=SHARP,
    formula="2 * latency + 2 * levels * switch_latency + size / bandwidth",
)
def allreduce_sharp(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    levels: float,
    switch_latency: float,
) -> CollectiveTerms:
    """Allreduce in a tree of switches: each rank sends the vector up and gets it down once."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return CollectiveTerms(2.0 * latency + 2.0 * levels * switch_latency, size / bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size ranks latency levels switch_latency",
    falls="bandwidth",
    source=SHARP,
    formula="2 * latency + 2 * levels * switch_latency + size / bandwidth",
)
def reduce_sharp(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    levels: float,
    switch_latency: float,
) -> CollectiveTerms:
    """Reduction to one rank in a tree of switches."""
    return allreduce_sharp(size, ranks, bandwidth, latency, levels, switch_latency)


@kernel(
    unit="s",
    rises="size ranks latency levels switch_latency",
    falls="bandwidth",
    source=SHARP,
    formula="2 * latency + 2 * levels * switch_latency + size / bandwidth",
)
def broadcast_sharp(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    levels: float,
    switch_latency: float,
) -> CollectiveTerms:
    """Broadcast up to the root switch and down to all ranks."""
    return allreduce_sharp(size, ranks, bandwidth, latency, levels, switch_latency)


@kernel(
    unit="s",
    rises="ranks latency levels switch_latency",
    source=SHARP,
    formula="2 * latency + 2 * levels * switch_latency",
)
def barrier_sharp(
    ranks: float, latency: float, levels: float, switch_latency: float
) -> CollectiveTerms:
    """Barrier in a tree of switches: an empty allreduce."""
    return allreduce_sharp(0.0, ranks, 1.0, latency, levels, switch_latency)


@kernel(
    unit="s",
    rises="size latency switch_latency",
    falls="bandwidth",
    free="ranks",
    free_because=ALONE,
    source=NVLS,
    formula="2 * (latency + switch_latency) + (ranks + 1) / ranks * size / bandwidth",
)
def allreduce_nvls(
    size: float, ranks: float, bandwidth: float, latency: float, switch_latency: float
) -> CollectiveTerms:
    """Allreduce by loads that the switch reduces and stores that it multiplies."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return CollectiveTerms(
        2.0 * (latency + switch_latency), (ranks + 1.0) * size / (ranks * bandwidth), 0.0
    )


@kernel(
    unit="s",
    rises="size ranks latency switch_latency",
    falls="bandwidth",
    source=NVLS + "; one direction of the port still carries every foreign block",
    formula="latency + switch_latency + (ranks - 1) / ranks * size / bandwidth",
)
def all_gather_nvls(
    size: float, ranks: float, bandwidth: float, latency: float, switch_latency: float
) -> CollectiveTerms:
    """All-gather by multicast stores; the receiving side carries as much as in a ring."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return CollectiveTerms(
        latency + switch_latency, (ranks - 1.0) * size / (ranks * bandwidth), 0.0
    )


@kernel(
    unit="s",
    rises="size ranks latency switch_latency",
    falls="bandwidth",
    source=NVLS + "; one direction of the port still carries every foreign block",
    formula="latency + switch_latency + (ranks - 1) / ranks * size / bandwidth",
)
def reduce_scatter_nvls(
    size: float, ranks: float, bandwidth: float, latency: float, switch_latency: float
) -> CollectiveTerms:
    """Reduce-scatter by loads that the switch reduces."""
    return all_gather_nvls(size, ranks, bandwidth, latency, switch_latency)


@kernel(
    unit="s",
    rises="size ranks latency switch_latency",
    falls="bandwidth",
    source=NVLS,
    formula="latency + switch_latency + size / bandwidth",
)
def broadcast_nvls(
    size: float, ranks: float, bandwidth: float, latency: float, switch_latency: float
) -> CollectiveTerms:
    """Broadcast by multicast stores of the root."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return CollectiveTerms(latency + switch_latency, size / bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size ranks latency switch_latency",
    falls="bandwidth",
    source=NVLS,
    formula="latency + switch_latency + size / bandwidth",
)
def reduce_nvls(
    size: float, ranks: float, bandwidth: float, latency: float, switch_latency: float
) -> CollectiveTerms:
    """Reduction by loads of the root that the switch reduces."""
    return broadcast_nvls(size, ranks, bandwidth, latency, switch_latency)
