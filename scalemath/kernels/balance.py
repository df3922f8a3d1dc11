"""Where the latency term of a ring equals its bandwidth term."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel

DERIVED = "the two terms of the ring set equal"


@kernel(
    unit="byte",
    rises="ranks bandwidth latency",
    source=DERIVED,
    formula="ranks * latency * bandwidth",
)
def ring_balance_size(ranks: float, bandwidth: float, latency: float) -> float:
    """Size at which a ring spends as long in latencies as in payload."""
    return ranks * latency * bandwidth


@kernel(
    unit="1",
    rises="size",
    falls="bandwidth latency",
    source=DERIVED,
    formula="size / (latency * bandwidth)",
)
def ring_balance_ranks(size: float, bandwidth: float, latency: float) -> float:
    """Number of ranks, continuous, at which a ring spends as long in latencies as in payload."""
    unfilled = latency * bandwidth
    if unfilled <= 0.0:
        return math.inf
    return size / unfilled
