"""The terms into which kernels split their result, and the one rule for bounds."""

from __future__ import annotations

from typing import NamedTuple

from scalemath.core.kernel import kernel


class MessageTerms(NamedTuple):
    """Terms of a single message; they sum to its time."""

    latency: float
    bandwidth: float


class CollectiveTerms(NamedTuple):
    """Terms of a collective; they sum to its time.

    `latency` is what remains for an empty buffer, `bandwidth` the time the busiest port is
    occupied by payload, `reduction` the arithmetic that is not hidden behind them.
    """

    latency: float
    bandwidth: float
    reduction: float


@kernel(
    unit="s",
    rises="latency bandwidth reduction",
    source="a time cannot be below any of its lower bounds",
    formula="max(latency bound, bandwidth bound, reduction bound)",
)
def binding_bound(latency: float, bandwidth: float, reduction: float) -> CollectiveTerms:
    """Keep the largest of three lower bounds and set the others to zero.

    Three lower bounds do not add up to a bound; the terms of a bound are therefore the one
    that binds.
    """
    if bandwidth >= latency and bandwidth >= reduction:
        return CollectiveTerms(0.0, bandwidth, 0.0)
    if latency >= reduction:
        return CollectiveTerms(latency, 0.0, 0.0)
    return CollectiveTerms(0.0, 0.0, reduction)
