"""What no algorithm can beat: latency, bandwidth and cut bounds of every operation.

Endpoint bounds hold when only ranks reduce and copy; the in-network bounds hold also when
switches do. `ports` is the number of ports a rank can use at the same time, each of
`bandwidth` in each direction.
"""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.alltoall import busiest_port
from scalemath.kernels.primitives import ceil_log
from scalemath.kernels.terms import CollectiveTerms, binding_bound

CHAN = (
    "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, "
    "and experience, Concurrency Computat. Pract. Exper. 19(13) 2007, 1749-1783, lower bounds"
)
PATARASUK = (
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
    "J. Parallel Distrib. Comput. 69(2) 2009, 117-124"
)
CUT = "bytes that must leave or enter one of equal groups, over the rate of its way out"


@kernel(
    unit="s",
    rises="ranks latency",
    falls="ports",
    source=CHAN,
    formula="ceil(log(ranks) to the base ports + 1) * latency",
)
def rounds_bound(ranks: float, latency: float, ports: float) -> float:
    """Time to let one rank's news reach all, or all ranks' news reach one."""
    return ceil_log(ranks, ports + 1.0) * latency


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate ports",
    source=CHAN + "; " + PATARASUK,
    formula=(
        "max(ceil(log2(ranks)) * latency, 2 * (ranks - 1) / ranks * size / (ports * bandwidth),"
        " (ranks - 1) / ranks * size / reduction_rate)"
    ),
)
def allreduce_bound(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    ports: float,
) -> CollectiveTerms:
    """Least time of an allreduce between endpoints."""
    share = (ranks - 1.0) * size / ranks
    return binding_bound(
        rounds_bound(ranks, latency, ports),
        2.0 * share / (ports * bandwidth),
        share / reduction_rate,
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate ports",
    source=CHAN,
    formula=(
        "max(ceil(log2(ranks)) * latency, (ranks - 1) / ranks * size / (ports * bandwidth),"
        " (ranks - 1) / ranks * size / reduction_rate)"
    ),
)
def reduce_scatter_bound(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    ports: float,
) -> CollectiveTerms:
    """Least time of a reduce-scatter between endpoints."""
    share = (ranks - 1.0) * size / ranks
    return binding_bound(
        rounds_bound(ranks, latency, ports),
        share / (ports * bandwidth),
        share / reduction_rate,
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth ports",
    source=CHAN,
    formula=("max(ceil(log2(ranks)) * latency, (ranks - 1) / ranks * size / (ports * bandwidth))"),
)
def exchange_bound(
    size: float, ranks: float, bandwidth: float, latency: float, ports: float
) -> CollectiveTerms:
    """Least time of an all-gather, gather, scatter or all-to-all."""
    return binding_bound(
        rounds_bound(ranks, latency, ports),
        (ranks - 1.0) * size / (ranks * ports * bandwidth),
        0.0,
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth ports",
    source=CHAN,
    formula="max(ceil(log2(ranks)) * latency, size / (ports * bandwidth)) for two ranks or more",
)
def broadcast_bound(
    size: float, ranks: float, bandwidth: float, latency: float, ports: float
) -> CollectiveTerms:
    """Least time of a broadcast between endpoints."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return binding_bound(rounds_bound(ranks, latency, ports), size / (ports * bandwidth), 0.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate ports",
    source=CHAN,
    formula=(
        "max(ceil(log2(ranks)) * latency, size / (ports * bandwidth),"
        " (ranks - 1) / ranks * size / reduction_rate) for two ranks or more"
    ),
)
def reduce_bound(
    size: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    ports: float,
) -> CollectiveTerms:
    """Least time of a reduction to one rank between endpoints."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return binding_bound(
        rounds_bound(ranks, latency, ports),
        size / (ports * bandwidth),
        (ranks - 1.0) * size / (ranks * reduction_rate),
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source="every rank must send its vector and receive the result once, whatever switches do",
    formula="max(latency, size / bandwidth) for two ranks or more",
)
def in_network_bound(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """Least time of an allreduce, reduce or broadcast helped by switches."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return binding_bound(latency, size / bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source="every rank must send or receive all blocks but its own, whatever switches do",
    formula="max(latency, (ranks - 1) / ranks * size / bandwidth) for two ranks or more",
)
def in_network_exchange_bound(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """Least time of an all-gather, reduce-scatter, gather, scatter or all-to-all with switches."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return binding_bound(latency, (ranks - 1.0) * size / (ranks * bandwidth), 0.0)


@kernel(
    unit="s",
    rises="largest_send largest_receive ranks latency",
    falls="bandwidth ports",
    source=CHAN + "; the busiest port must carry all its bytes",
    formula=(
        "max(ceil(log2(ranks)) * latency, max(largest_send, largest_receive) / (ports * bandwidth))"
    ),
)
def uneven_exchange_bound(
    largest_send: float,
    largest_receive: float,
    ranks: float,
    bandwidth: float,
    latency: float,
    ports: float,
) -> CollectiveTerms:
    """Least time of an all-to-all of unequal blocks."""
    return binding_bound(
        rounds_bound(ranks, latency, ports),
        busiest_port(largest_send, largest_receive) / (ports * bandwidth),
        0.0,
    )


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth ports",
    source="a message takes its latency, and its bytes must pass the port",
    formula="latency + size / (ports * bandwidth)",
)
def message_bound(size: float, bandwidth: float, latency: float, ports: float) -> CollectiveTerms:
    """Least time of one message; it is what it takes, too."""
    return CollectiveTerms(latency, size / (ports * bandwidth), 0.0)


@kernel(
    unit="s",
    rises="ranks latency",
    falls="ports",
    source=CHAN,
    formula="ceil(log2(ranks)) * latency",
)
def barrier_bound(ranks: float, latency: float, ports: float) -> CollectiveTerms:
    """Least time of a barrier between endpoints."""
    return CollectiveTerms(rounds_bound(ranks, latency, ports), 0.0, 0.0)


@kernel(
    unit="s",
    rises="ranks latency",
    source="every rank must hear of every other",
    formula="latency for two ranks or more",
)
def in_network_barrier_bound(ranks: float, latency: float) -> CollectiveTerms:
    """Least time of a barrier helped by switches."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return CollectiveTerms(latency, 0.0, 0.0)


@kernel(
    unit="s",
    rises="size groups",
    falls="group_bandwidth",
    source=PATARASUK + ", applied to groups as super-ranks",
    formula="2 * (groups - 1) / groups * size / group_bandwidth",
)
def allreduce_cut_bound(size: float, groups: float, group_bandwidth: float) -> float:
    """Least time of an allreduce across the way out of one of equal groups; two for halves."""
    return 2.0 * (groups - 1.0) * size / (groups * group_bandwidth)


@kernel(
    unit="s",
    rises="size groups",
    falls="group_bandwidth",
    source=CUT,
    formula="(groups - 1) / groups * size / group_bandwidth",
)
def exchange_cut_bound(size: float, groups: float, group_bandwidth: float) -> float:
    """Least time of a reduce-scatter, all-gather, gather or scatter across a group's way out."""
    return (groups - 1.0) * size / (groups * group_bandwidth)


@kernel(
    unit="s",
    rises="size groups",
    falls="group_bandwidth",
    source=CUT,
    formula="size / group_bandwidth for two groups or more",
)
def broadcast_cut_bound(size: float, groups: float, group_bandwidth: float) -> float:
    """Least time of a broadcast or reduce across a group's way out."""
    if groups < 2.0:
        return 0.0
    return size / group_bandwidth


@kernel(
    unit="s",
    rises="size groups group_ranks",
    falls="group_bandwidth",
    source=CUT,
    formula="group_ranks * (groups - 1) / groups * size / group_bandwidth",
)
def all_to_all_cut_bound(
    size: float, groups: float, group_ranks: float, group_bandwidth: float
) -> float:
    """Least time of an all-to-all across the way out of one of equal groups."""
    return group_ranks * (groups - 1.0) * size / (groups * group_bandwidth)
