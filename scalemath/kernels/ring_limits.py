"""Where strong scaling with a ring ends: ceiling, wall, count at a share, best count."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.allreduce import allreduce_ring

# So many ranks that (ranks - 1) / ranks is 1 in double precision.
_MANY_RANKS = 2.0**60


@kernel(
    unit="s",
    rises="size",
    falls="bandwidth reduction_rate",
    source="limit of the ring allreduce without latency",
    formula="ring allreduce of ranks -> infinity, latency = 0",
)
def ring_time_limit(size: float, bandwidth: float, reduction_rate: float) -> float:
    """Time [s] of a ring allreduce over infinitely many ranks without latency."""
    terms = allreduce_ring(size, _MANY_RANKS, bandwidth, 0.0, reduction_rate)
    return terms[0] + terms[1] + terms[2]


@kernel(
    unit="s",
    rises="latency",
    source="latency term of the ring allreduce over two ranks",
    formula="latency term of the ring allreduce, per further rank",
)
def ring_latency_per_rank(latency: float) -> float:
    """Latency [s] that every further rank adds to a ring allreduce."""
    return allreduce_ring(1.0, 2.0, 1.0, latency, math.inf)[0]


@kernel(
    unit="1",
    rises="time_one",
    falls="communication_limit",
    source="strong scaling with communication that tends to a limit is Amdahl's law",
    formula="ceiling = time_one / communication_limit",
)
def scaling_ceiling(time_one: float, communication_limit: float) -> float:
    """Speedup [1] against one rank in the limit of many ranks, latency left out."""
    if communication_limit <= 0.0:
        return math.inf
    return time_one / communication_limit


@kernel(
    unit="1",
    rises="time_one",
    falls="communication_limit latency_per_rank",
    source="root of (ranks - 1) (communication_limit + ranks latency_per_rank) = time_one",
    formula="ranks where the ring takes as long as the computation left to each rank",
)
def scaling_wall(time_one: float, communication_limit: float, latency_per_rank: float) -> float:
    """Number of ranks [1] at which communication takes as long as computation."""
    both = communication_limit + time_one
    if latency_per_rank <= 0.0:
        if communication_limit <= 0.0:
            return math.inf
        return both / communication_limit
    linear = communication_limit - latency_per_rank
    root = math.sqrt(linear * linear + 4.0 * latency_per_rank * both)
    if linear >= 0.0:
        return 2.0 * both / (linear + root)
    return (root - linear) / (2.0 * latency_per_rank)


@kernel(
    unit="1",
    rises="share",
    free="ceiling",
    free_because="rises with a ceiling above 1; a ceiling of at most 1 has no answer",
    source="Amdahl's law solved for the number of ranks",
    formula="ranks = share / (1 - share) (ceiling - 1)",
)
def ranks_at_ceiling_share(ceiling: float, share: float) -> float:
    """Number of ranks [1] that reach a share of the ceiling; infinite if none is reached.

    A ceiling of at most 1 is never approached from below: one rank is already faster.
    """
    if ceiling <= 1.0 or share >= 1.0:
        return math.inf
    return max(1.0, share / (1.0 - share) * (ceiling - 1.0))


@kernel(
    unit="1",
    rises="time_one",
    falls="communication_limit latency_per_rank",
    free="overlap",
    free_because="overlap hides communication until there is too little computation to hide it",
    source="zero of the derivative of the step time; without latency hidden work sets the end",
    formula="sqrt((time_one - shown communication_limit) / (shown latency_per_rank)), at most "
    "the count at which the hidden communication outlasts the computation",
)
def best_scaling_ranks(
    time_one: float, communication_limit: float, latency_per_rank: float, overlap: float
) -> float:
    """Number of ranks [1], continuous, that makes the step shortest.

    One when communication outweighs what is gained, infinite when more always helps.
    """
    shown = 1.0 - overlap
    if shown * communication_limit >= time_one:
        return 1.0
    hidden = scaling_wall(time_one, overlap * communication_limit, overlap * latency_per_rank)
    if shown * latency_per_rank <= 0.0:
        return hidden
    gain = (time_one - shown * communication_limit) / (shown * latency_per_rank)
    return min(max(1.0, math.sqrt(gain)), hidden)


@kernel(
    unit="byte/s",
    rises="size efficiency ranks latency",
    falls="time_one reduction_rate",
    source="strong scaling with a ring allreduce solved for the bandwidth",
    formula="bandwidth = ring bytes per port / (time_one / ranks (1 / efficiency - 1) - latency "
    "and reduction terms)",
)
def bandwidth_for_efficiency(
    efficiency: float,
    time_one: float,
    size: float,
    ranks: float,
    latency: float,
    reduction_rate: float,
) -> float:
    """Port rate [byte/s] at which strong scaling with a ring keeps an efficiency.

    Infinite when latency and reduction alone take longer than the efficiency leaves.
    """
    if ranks <= 1.0:
        return 0.0
    terms = allreduce_ring(size, ranks, 1.0, latency, reduction_rate)
    left = time_one / ranks * (1.0 / efficiency - 1.0) - terms[0] - terms[2]
    if left <= 0.0:
        return math.inf
    return terms[1] / left
