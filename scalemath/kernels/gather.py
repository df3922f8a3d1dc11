"""All-gather, reduce-scatter, gather and scatter.

In all kernels `size` is the total over ranks: the vector that every rank ends with
(all-gather), contributes (reduce-scatter), or that the root holds (gather, scatter).
"""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.primitives import ceil_log2, floor_log2, power_of_two_below
from scalemath.kernels.terms import CollectiveTerms

PATARASUK = (
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
    "J. Parallel Distrib. Comput. 69(2) 2009, 117-124"
)
THAKUR = (
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in "
    "MPICH, Int. J. High Perform. Comput. Appl. 19(1) 2005, 49-66"
)
BRUCK = (
    "Bruck, Ho, Kipnis, Upfal and Weathersby, Efficient algorithms for all-to-all "
    "communications in multiport message-passing systems, IEEE TPDS 8(11) 1997, 1143-1156"
)
PAT = "Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter, arXiv:2506.20252"
FOLD = "a rank count that is no power of two is folded to the next lower one and back"


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=PATARASUK,
    formula=(
        "(ranks - 1) * latency + (ranks - 1) / ranks * size / bandwidth"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def reduce_scatter_ring(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduce-scatter around a ring."""
    steps = ranks - 1.0
    return CollectiveTerms(
        steps * latency,
        steps * size / (ranks * bandwidth),
        steps * size / (ranks * reduction_rate),
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=THAKUR + ", section 4.3 (pairwise exchange)",
    formula=(
        "(ranks - 1) * latency + (ranks - 1) / ranks * size / bandwidth"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def reduce_scatter_pairwise(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduce-scatter in which every pair of ranks exchanges its two blocks directly."""
    return reduce_scatter_ring(size, ranks, bandwidth, latency, reduction_rate)


@kernel(
    unit="byte",
    rises="size",
    free="ranks",
    free_because=FOLD,
    source=(
        "sum over the rounds of the largest block that one of q ranks sends, the ranks that"
        " were folded away spread evenly; q the power of two below ranks"
    ),
    formula="(q - 1 + sum over j < log2(q) of ceil((ranks - q) * 2**j / q)) * size / ranks",
)
def halving_bytes(size: float, ranks: float) -> float:
    """Bytes the busiest rank sends while blocks of all ranks are halved over a power of two."""
    core = power_of_two_below(ranks)
    folded = ranks - core
    blocks = core - 1.0
    if folded > 0.0:
        part = 1.0
        while part < core:
            blocks += math.ceil(folded * part / core)
            part *= 2.0
    return blocks * size / ranks


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth reduction_rate",
    free="ranks",
    free_because=FOLD,
    source=THAKUR + ", section 4.3; folding counted block by block",
    formula=(
        "log2(q) * latency + halved * (1 / bandwidth + 1 / reduction_rate) with q the power of"
        " two below ranks, halved = (q - 1) / q * size for powers of two; when folded also"
        " 2 * latency + (size + size / ranks) / bandwidth + size / reduction_rate"
    ),
)
def reduce_scatter_halving(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduce-scatter by recursive halving."""
    moved = halving_bytes(size, ranks)
    reduced = moved
    rounds = floor_log2(ranks)
    if power_of_two_below(ranks) < ranks:
        rounds += 2.0
        moved += size + size / ranks
        reduced += size
    return CollectiveTerms(rounds * latency, moved / bandwidth, reduced / reduction_rate)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=PAT,
    formula=(
        "ceil(log2(ranks)) * latency + (ranks - 1) / ranks * size / bandwidth"
        " + (ranks - 1) / ranks * size / reduction_rate"
    ),
)
def reduce_scatter_pat(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduce-scatter over parallel aggregated trees, buffers large enough for all blocks."""
    blocks = ranks - 1.0
    return CollectiveTerms(
        ceil_log2(ranks) * latency,
        blocks * size / (ranks * bandwidth),
        blocks * size / (ranks * reduction_rate),
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=PATARASUK,
    formula="(ranks - 1) * latency + (ranks - 1) / ranks * size / bandwidth",
)
def all_gather_ring(size: float, ranks: float, bandwidth: float, latency: float) -> CollectiveTerms:
    """All-gather around a ring."""
    steps = ranks - 1.0
    return CollectiveTerms(steps * latency, steps * size / (ranks * bandwidth), 0.0)


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth",
    free="ranks",
    free_because=FOLD,
    source=THAKUR + ", section 4.1; folding counted block by block",
    formula=(
        "log2(q) * latency + doubled / bandwidth with q the power of two below ranks, doubled ="
        " (q - 1) / q * size for powers of two; when folded also 2 * latency + size / bandwidth"
    ),
)
def all_gather_doubling(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """All-gather by recursive doubling."""
    moved = halving_bytes(size, ranks)
    rounds = floor_log2(ranks)
    if power_of_two_below(ranks) < ranks:
        rounds += 2.0
        moved += size
    return CollectiveTerms(rounds * latency, moved / bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=BRUCK,
    formula="ceil(log2(ranks)) * latency + (ranks - 1) / ranks * size / bandwidth",
)
def all_gather_bruck(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """All-gather in which round k sends min(2**k, ranks - 2**k) blocks."""
    return CollectiveTerms(
        ceil_log2(ranks) * latency, (ranks - 1.0) * size / (ranks * bandwidth), 0.0
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=PAT,
    formula="ceil(log2(ranks)) * latency + (ranks - 1) / ranks * size / bandwidth",
)
def all_gather_pat(size: float, ranks: float, bandwidth: float, latency: float) -> CollectiveTerms:
    """All-gather over parallel aggregated trees: the farthest peer first, as few blocks."""
    return all_gather_bruck(size, ranks, bandwidth, latency)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=THAKUR + ", section 4.2 (the scatter inside the long broadcast)",
    formula="ceil(log2(ranks)) * latency + (ranks - 1) / ranks * size / bandwidth",
)
def scatter_binomial(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """Scatter down a binomial tree; the root's port carries every block but its own."""
    return CollectiveTerms(
        ceil_log2(ranks) * latency, (ranks - 1.0) * size / (ranks * bandwidth), 0.0
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source="sum over the messages of the root, each paying the latency at its one port",
    formula="(ranks - 1) * latency + (ranks - 1) / ranks * size / bandwidth",
)
def scatter_direct(size: float, ranks: float, bandwidth: float, latency: float) -> CollectiveTerms:
    """Scatter by one message from the root to each rank."""
    steps = ranks - 1.0
    return CollectiveTerms(steps * latency, steps * size / (ranks * bandwidth), 0.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source="the scatter run backwards; " + THAKUR,
    formula="ceil(log2(ranks)) * latency + (ranks - 1) / ranks * size / bandwidth",
)
def gather_binomial(size: float, ranks: float, bandwidth: float, latency: float) -> CollectiveTerms:
    """Gather up a binomial tree."""
    return scatter_binomial(size, ranks, bandwidth, latency)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source="incast: all messages queue at the root's one port",
    formula="(ranks - 1) * latency + (ranks - 1) / ranks * size / bandwidth",
)
def gather_direct(size: float, ranks: float, bandwidth: float, latency: float) -> CollectiveTerms:
    """Gather by one message from each rank to the root: an incast."""
    return scatter_direct(size, ranks, bandwidth, latency)
