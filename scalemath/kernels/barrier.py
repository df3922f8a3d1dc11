"""Barriers: messages without payload."""

from __future__ import annotations

from scalemath.core.kernel import kernel
from scalemath.kernels.primitives import ceil_log2
from scalemath.kernels.terms import CollectiveTerms

HENSGEN = (
    "Hensgen, Finkel and Manber, Two algorithms for barrier synchronization, Int. J. Parallel "
    "Programming 17(1) 1988, 1-17"
)


@kernel(
    unit="s",
    rises="ranks latency",
    source=HENSGEN,
    formula="ceil(log2(ranks)) * latency",
)
def barrier_dissemination(ranks: float, latency: float) -> CollectiveTerms:
    """Barrier in which round k tells the rank 2**k further on; the fewest rounds."""
    return CollectiveTerms(ceil_log2(ranks) * latency, 0.0, 0.0)


@kernel(
    unit="s",
    rises="ranks latency",
    source=HENSGEN + "; a gather up a binomial tree and a broadcast down",
    formula="2 * ceil(log2(ranks)) * latency",
)
def barrier_binomial(ranks: float, latency: float) -> CollectiveTerms:
    """Barrier up and down a binomial tree."""
    return CollectiveTerms(2.0 * ceil_log2(ranks) * latency, 0.0, 0.0)


@kernel(
    unit="s",
    rises="ranks latency",
    source="a token goes round twice: to learn that all have come, and to tell them",
    formula="2 * (ranks - 1) * latency",
)
def barrier_ring(ranks: float, latency: float) -> CollectiveTerms:
    """Barrier in which a token goes round a ring twice."""
    return CollectiveTerms(2.0 * (ranks - 1.0) * latency, 0.0, 0.0)
