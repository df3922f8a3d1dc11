"""Broadcast and reduce without pipelining: binomial tree, scatter and all-gather."""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.gather import (
    all_gather_bruck,
    all_gather_ring,
    scatter_binomial,
)
from scalemath.kernels.primitives import ceil_log2, floor_log2, power_of_two_below
from scalemath.kernels.terms import CollectiveTerms

THAKUR = (
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in "
    "MPICH, Int. J. High Perform. Comput. Appl. 19(1) 2005, 49-66"
)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=THAKUR + ", section 4.2",
    formula="ceil(log2(ranks)) * (latency + size / bandwidth)",
)
def broadcast_binomial(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """Broadcast in which every rank that has the message passes it on whole."""
    rounds = ceil_log2(ranks)
    return CollectiveTerms(rounds * latency, rounds * size / bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=THAKUR + ", section 4.4",
    formula="ceil(log2(ranks)) * (latency + size / bandwidth + size / reduction_rate)",
)
def reduce_binomial(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduction to one rank up a binomial tree."""
    rounds = ceil_log2(ranks)
    return CollectiveTerms(
        rounds * latency, rounds * size / bandwidth, rounds * size / reduction_rate
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=(
        "Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, Interprocessor collective "
        "communication library (InterCom), SHPCC 1994; " + THAKUR + ", section 4.2"
    ),
    formula=(
        "(ceil(log2(ranks)) + ranks - 1) * latency + 2 * (ranks - 1) / ranks * size / bandwidth"
    ),
)
def broadcast_scatter_ring(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """Broadcast by a binomial scatter and an all-gather around a ring."""
    first = scatter_binomial(size, ranks, bandwidth, latency)
    second = all_gather_ring(size, ranks, bandwidth, latency)
    return CollectiveTerms(first.latency + second.latency, first.bandwidth + second.bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=(
        THAKUR + ", section 4.2; the all-gather is Bruck's, which needs ceil(log2(ranks)) rounds"
        " for every rank count and equals recursive doubling for powers of two"
    ),
    formula="2 * ceil(log2(ranks)) * latency + 2 * (ranks - 1) / ranks * size / bandwidth",
)
def broadcast_scatter_doubling(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """Broadcast by a binomial scatter and a logarithmic all-gather."""
    first = scatter_binomial(size, ranks, bandwidth, latency)
    second = all_gather_bruck(size, ranks, bandwidth, latency)
    return CollectiveTerms(first.latency + second.latency, first.bandwidth + second.bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth reduction_rate",
    free="ranks",
    free_because="a rank count that is no power of two is folded to the next lower one",
    source=(
        "Rabenseifner, Optimization of collective reduction operations, ICCS 2004; "
        + THAKUR
        + ", section 4.4"
    ),
    formula=(
        "2 * log2(q) * latency + (q - 1) / q * size * (2 / bandwidth + 1 / reduction_rate) with"
        " q the power of two below ranks; when folded also"
        " latency + size / bandwidth + size / reduction_rate"
    ),
)
def reduce_rabenseifner(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduction to one rank by recursive halving and a binomial gather."""
    core = power_of_two_below(ranks)
    share = (core - 1.0) * size / core
    moved = 2.0 * share
    rounds = 2.0 * floor_log2(ranks)
    if core < ranks:
        rounds += 1.0
        moved += size
        share += size
    return CollectiveTerms(rounds * latency, moved / bandwidth, share / reduction_rate)
