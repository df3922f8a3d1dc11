"""Allreduce without trees: ring, recursive doubling, recursive halving and doubling.

In all kernels `size` is the vector every rank holds before and after.
"""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.broadcast import broadcast_binomial, reduce_binomial
from scalemath.kernels.primitives import floor_log2, power_of_two_below
from scalemath.kernels.terms import CollectiveTerms

PATARASUK = (
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
    "J. Parallel Distrib. Comput. 69(2) 2009, 117-124"
)
THAKUR = (
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in "
    "MPICH, Int. J. High Perform. Comput. Appl. 19(1) 2005, 49-66"
)
FOLD = "a rank count that is no power of two is folded to the next lower one and back"


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=PATARASUK,
    formula=(
        "2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * size / bandwidth"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def allreduce_ring(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Allreduce around a ring: a reduce-scatter and an all-gather."""
    steps = ranks - 1.0
    return CollectiveTerms(
        2.0 * steps * latency,
        2.0 * steps * size / (ranks * bandwidth),
        steps * size / (ranks * reduction_rate),
    )


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth reduction_rate",
    free="ranks",
    free_because=FOLD,
    source=THAKUR + ", section 4.5; folding as in MPICH allreduce_intra_recursive_doubling",
    formula=(
        "rounds * (latency + size / bandwidth) + reductions * size / reduction_rate with"
        " rounds = reductions = log2(ranks), or floor(log2(ranks)) + 2 and + 1 when folded"
    ),
)
def allreduce_recursive_doubling(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Allreduce in which partners at doubling distance exchange the whole vector."""
    rounds = floor_log2(ranks)
    reductions = rounds
    if power_of_two_below(ranks) < ranks:
        rounds += 2.0
        reductions += 1.0
    return CollectiveTerms(
        rounds * latency, rounds * size / bandwidth, reductions * size / reduction_rate
    )


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth reduction_rate",
    free="ranks",
    free_because=FOLD,
    source=(
        "Rabenseifner, Optimization of collective reduction operations, ICCS 2004; "
        + THAKUR
        + ", section 4.5"
    ),
    formula=(
        "2 * log2(q) * latency + (q - 1) / q * size * (2 / bandwidth + 1 / reduction_rate) with"
        " q the power of two below ranks; when folded also"
        " 2 * (latency + size / bandwidth) + size / reduction_rate"
    ),
)
def allreduce_rabenseifner(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Allreduce by recursive halving (reduce-scatter) and recursive doubling (all-gather)."""
    core = power_of_two_below(ranks)
    share = (core - 1.0) * size / core
    moved = 2.0 * share
    rounds = 2.0 * floor_log2(ranks)
    if core < ranks:
        rounds += 2.0
        moved += 2.0 * size
        share += size
    return CollectiveTerms(rounds * latency, moved / bandwidth, share / reduction_rate)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=THAKUR + ", sections 4.2 and 4.4: a reduction to one rank and a broadcast from it",
    formula=(
        "2 * ceil(log2(ranks)) * (latency + size / bandwidth)"
        " + ceil(log2(ranks)) * size / reduction_rate"
    ),
)
def allreduce_binomial(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Allreduce up and down a binomial tree, the whole vector in every message."""
    up = reduce_binomial(size, ranks, bandwidth, latency, reduction_rate)
    down = broadcast_binomial(size, ranks, bandwidth, latency)
    return CollectiveTerms(up.latency + down.latency, up.bandwidth + down.bandwidth, up.reduction)
