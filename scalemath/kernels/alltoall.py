"""All-to-all: pairwise exchange, Bruck with any radix, traffic matrices.

`size` is one rank's whole send buffer, its own block included.
"""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.terms import CollectiveTerms

THAKUR = (
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in "
    "MPICH, Int. J. High Perform. Comput. Appl. 19(1) 2005, 49-66"
)
BRUCK = (
    "Bruck, Ho, Kipnis, Upfal and Weathersby, Efficient algorithms for all-to-all "
    "communications in multiport message-passing systems, IEEE TPDS 8(11) 1997, 1143-1156"
)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=THAKUR + ", section 4.6 (long messages), with the own block left out",
    formula="(ranks - 1) * latency + (ranks - 1) / ranks * size / bandwidth",
)
def all_to_all_pairwise(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """All-to-all in ranks - 1 exchanges of one block."""
    steps = ranks - 1.0
    return CollectiveTerms(steps * latency, steps * size / (ranks * bandwidth), 0.0)


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth",
    free="ranks bruck_radix",
    free_because=(
        "a higher radix takes more rounds and fewer bytes; a rank count just above a power of"
        " the radix leaves its last round nearly empty"
    ),
    source=BRUCK + "; rounds and blocks counted digit by digit for every rank count",
    formula=(
        "rounds * latency + blocks * size / (ranks * bandwidth); blocks = non-zero digits of all"
        " numbers below ranks in base bruck_radix, rounds = pairs of place and digit that occur;"
        " (r - 1) * log_r(ranks) rounds and blocks = ranks * (r - 1) / r * log_r(ranks) for powers"
        " of r = bruck_radix"
    ),
)
def all_to_all_bruck(
    size: float, ranks: float, bandwidth: float, latency: float, bruck_radix: float
) -> CollectiveTerms:
    """All-to-all in which blocks travel by the digits of their distance."""
    rounds = 0.0
    blocks = 0.0
    place = 1.0
    while place < ranks:
        block = place * bruck_radix
        whole = math.floor(ranks / block)
        rest = ranks - whole * block
        if whole > 0.0:
            rounds += bruck_radix - 1.0
        else:
            rounds += math.ceil(rest / place) - 1.0
        blocks += whole * (block - place)
        if rest > place:
            blocks += rest - place
        place = block
    return CollectiveTerms(rounds * latency, blocks * size / (ranks * bandwidth), 0.0)


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth",
    free="ranks",
    free_because="a rank count just above a power of two leaves the last round nearly empty",
    source=BRUCK,
    formula=(
        "ceil(log2(ranks)) * latency + blocks * size / (ranks * bandwidth) with blocks the set"
        " bits of all numbers below ranks; size / 2 * log2(ranks) bytes for powers of two"
    ),
)
def all_to_all_bruck_binary(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """All-to-all in the fewest rounds a one-ported rank can do."""
    return all_to_all_bruck(size, ranks, bandwidth, latency, 2.0)


@kernel(
    unit="byte",
    rises="largest_send largest_receive",
    source="a port sends and receives at the same time; the longer of the two counts",
    formula="max(largest_send, largest_receive)",
)
def busiest_port(largest_send: float, largest_receive: float) -> float:
    """Bytes of the rank that sends or receives most."""
    return max(largest_send, largest_receive)


@kernel(
    unit="s",
    rises="largest_send largest_receive ranks latency",
    falls="bandwidth",
    source="the busiest port sends or receives all its bytes; every peer costs one latency",
    formula="(ranks - 1) * latency + max(largest_send, largest_receive) / bandwidth",
)
def all_to_all_v_direct(
    largest_send: float, largest_receive: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """All-to-all of unequal blocks with all messages in flight together."""
    return CollectiveTerms(
        (ranks - 1.0) * latency, busiest_port(largest_send, largest_receive) / bandwidth, 0.0
    )


@kernel(
    unit="s",
    rises="largest_send largest_receive sum_of_steps ranks latency",
    falls="bandwidth",
    source=(
        THAKUR + ", section 4.6, for unequal blocks: each exchange lasts as long as its largest"
        " block"
    ),
    formula=(
        "(ranks - 1) * latency + max(sum_of_steps, largest_send, largest_receive) / bandwidth"
        " with sum_of_steps the sum over exchanges of their largest block"
    ),
)
def all_to_all_v_pairwise(
    largest_send: float,
    largest_receive: float,
    sum_of_steps: float,
    ranks: float,
    bandwidth: float,
    latency: float,
) -> CollectiveTerms:
    """All-to-all of unequal blocks in exchanges that wait for their largest block."""
    moved = max(sum_of_steps, busiest_port(largest_send, largest_receive))
    return CollectiveTerms((ranks - 1.0) * latency, moved / bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth",
    source="one message in each direction of one port",
    formula="latency + size / bandwidth",
)
def send_receive_direct(size: float, bandwidth: float, latency: float) -> CollectiveTerms:
    """Send to one rank and receive from one rank at the same time."""
    return CollectiveTerms(latency, size / bandwidth, 0.0)
