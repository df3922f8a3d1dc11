"""LogGP: messages whose latency does not occupy the port.

`latency` is the time on the wire, `overhead` the time a rank is busy per message at either end,
`gap` the least time between messages of a rank and `gap_per_byte` the time per further byte.
A message of s bytes takes overhead + (s - 1) * gap_per_byte + latency + overhead.
"""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.primitives import ceil_log2, floor_log2, power_of_two_below

LOGGP = (
    "Alexandrov, Ionescu, Schauser and Scheiman, LogGP: incorporating long messages into the LogP "
    "model, SPAA 1995"
)
STEPS = LOGGP + "; equal steps in lockstep as in Hoefler et al., LogGOPSim, HPDC 2010"


@kernel(
    unit="s",
    rises="size latency overhead gap_per_byte",
    source=LOGGP,
    formula="latency + 2 * overhead + (size - 1) * gap_per_byte",
)
def loggp_message(size: float, latency: float, overhead: float, gap_per_byte: float) -> float:
    """Time of one message of at least one byte; an empty one costs no gap."""
    return latency + 2.0 * overhead + max(size - 1.0, 0.0) * gap_per_byte


@kernel(
    unit="s",
    rises="latency overhead",
    falls="gap_per_byte",
    source=LOGGP + ", set equal to alpha + size * beta",
    formula="latency + 2 * overhead - gap_per_byte",
)
def loggp_alpha(latency: float, overhead: float, gap_per_byte: float) -> float:
    """Latency of the alpha-beta model that gives every message the same time."""
    return latency + 2.0 * overhead - gap_per_byte


@kernel(
    unit="s",
    rises="steps size latency overhead gap gap_per_byte",
    source=STEPS,
    formula=(
        "(steps - 1) * max(message, gap + (size - 1) * gap_per_byte) + message with message ="
        " latency + 2 * overhead + (size - 1) * gap_per_byte"
    ),
)
def loggp_steps(
    steps: float,
    size: float,
    latency: float,
    overhead: float,
    gap: float,
    gap_per_byte: float,
) -> float:
    """Time of equal exchanges of which each waits for the one before."""
    if steps < 1.0:
        return 0.0
    message = loggp_message(size, latency, overhead, gap_per_byte)
    paced = max(message, gap + max(size - 1.0, 0.0) * gap_per_byte)
    return (steps - 1.0) * paced + message


@kernel(
    unit="s",
    rises="size latency overhead gap gap_per_byte",
    falls="reduction_rate",
    free="ranks",
    free_because="blocks shrink with the number of ranks while a message keeps its first byte",
    source=STEPS,
    formula=("2 * (ranks - 1) steps of size / ranks + (ranks - 1) / ranks * size / reduction_rate"),
)
def loggp_allreduce_ring(
    size: float,
    ranks: float,
    latency: float,
    overhead: float,
    gap: float,
    gap_per_byte: float,
    reduction_rate: float,
) -> float:
    """Allreduce around a ring."""
    steps = ranks - 1.0
    moved = loggp_steps(2.0 * steps, size / ranks, latency, overhead, gap, gap_per_byte)
    return moved + steps * size / (ranks * reduction_rate)


@kernel(
    unit="s",
    rises="size latency overhead gap gap_per_byte",
    free="ranks",
    free_because="blocks shrink with the number of ranks while a message keeps its first byte",
    source=STEPS,
    formula="ranks - 1 steps of size / ranks",
)
def loggp_exchange_ring(
    size: float, ranks: float, latency: float, overhead: float, gap: float, gap_per_byte: float
) -> float:
    """All-gather around a ring, or all-to-all by pairwise exchange."""
    return loggp_steps(ranks - 1.0, size / ranks, latency, overhead, gap, gap_per_byte)


@kernel(
    unit="s",
    rises="size ranks latency overhead gap gap_per_byte",
    falls="reduction_rate",
    source=STEPS + "; exact for powers of two, folding left out",
    formula="log2(ranks) steps of size, each reduced",
)
def loggp_allreduce_doubling(
    size: float,
    ranks: float,
    latency: float,
    overhead: float,
    gap: float,
    gap_per_byte: float,
    reduction_rate: float,
) -> float:
    """Allreduce by recursive doubling over a power of two."""
    rounds = ceil_log2(ranks)
    moved = loggp_steps(rounds, size, latency, overhead, gap, gap_per_byte)
    return moved + rounds * size / reduction_rate


@kernel(
    unit="s",
    rises="size latency overhead gap_per_byte",
    falls="reduction_rate",
    free="ranks",
    free_because="blocks shrink with the number of ranks while a message keeps its first byte",
    source=STEPS + "; exact for powers of two and gaps below the time of a step",
    formula=(
        "2 * (log2(q) * (latency + 2 * overhead) + ((q - 1) / q * size - log2(q)) *"
        " gap_per_byte) + (q - 1) / q * size / reduction_rate, q the power of two below ranks"
    ),
)
def loggp_allreduce_rabenseifner(
    size: float,
    ranks: float,
    latency: float,
    overhead: float,
    gap_per_byte: float,
    reduction_rate: float,
) -> float:
    """Allreduce by recursive halving and doubling over a power of two."""
    rounds = floor_log2(ranks)
    share = size - size / power_of_two_below(ranks)
    moved = rounds * (latency + 2.0 * overhead) + max(share - rounds, 0.0) * gap_per_byte
    return 2.0 * moved + share / reduction_rate


@kernel(
    unit="s",
    rises="size ranks latency overhead gap_per_byte",
    source=STEPS + "; gaps below the time of a step",
    formula="ceil(log2(ranks)) messages of size, one after the other",
)
def loggp_broadcast_binomial(
    size: float, ranks: float, latency: float, overhead: float, gap_per_byte: float
) -> float:
    """Broadcast down a binomial tree, as if every rank had to be reached by the longest way."""
    return ceil_log2(ranks) * loggp_message(size, latency, overhead, gap_per_byte)


@kernel(
    unit="s",
    rises="segments size hops latency overhead gap gap_per_byte",
    source=LOGGP + "; the latency of a hop does not hold its port",
    formula=(
        "hops * (latency + 2 * overhead + size * gap_per_byte)"
        " + (segments - 1) * max(gap, size * gap_per_byte) with size that of one segment"
    ),
)
def loggp_chain(
    segments: float,
    size: float,
    hops: float,
    latency: float,
    overhead: float,
    gap: float,
    gap_per_byte: float,
) -> float:
    """Pipelined chain of equal segments; latencies hold no port and so overlap."""
    way = hops * (latency + 2.0 * overhead + size * gap_per_byte)
    return way + (segments - 1.0) * max(gap, size * gap_per_byte)
