"""Where scaling ends: closed forms for the ring behind the boundary, a search for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.kernels.ring_limits import (
    best_scaling_ranks,
    ranks_at_ceiling_share,
    ring_latency_per_rank,
    ring_time_limit,
    scaling_ceiling,
    scaling_wall,
)
from scalemath.kernels.scaling import work_on_one
from scalemath.scaling.laws import step
from scalemath.units import quantities

_MANY = 2.0**59


def find_limit(communication: Callable[[float, float], float]) -> float:
    """Duration [s] that a collective without latency tends to; infinite if it keeps growing."""
    first, second = communication(_MANY, 0.0), communication(2.0 * _MANY, 0.0)
    return second if second <= first * (1.0 + 1e-9) else math.inf


def find_wall(communication: Callable[[float], float], work: float) -> float:
    """Number of ranks at which a collective takes as long as the computation per rank."""
    low, high = 1.0, 2.0 * _MANY
    if communication(high) < work / high:
        return math.inf
    for _ in range(2000):
        middle = math.sqrt(low * high) if high > 2.0 * low else 0.5 * (low + high)
        if not low < middle < high:
            break
        if communication(middle) < work / middle:
            low = middle
        else:
            high = middle
    return high


def find_best(time: Callable[[float], float]) -> float:
    """Whole number of ranks that makes a step shortest; infinite if more always helps."""
    small = [float(n) for n in range(1, 1025)]
    large = [2.0 ** (k / 8.0) for k in range(80, 321)]
    counts = sorted({round(n) for n in [*small, *large]})
    best = min(counts, key=time)
    if best == counts[-1]:
        return math.inf
    position = counts.index(best)
    low = counts[max(0, position - 1)]
    high = counts[position + 1]
    while high - low > 1024:
        inner = [low + (high - low) * k // 64 for k in range(65)]
        best = min(inner, key=time)
        position = inner.index(best)
        low, high = inner[max(0, position - 1)], inner[min(64, position + 1)]
    return float(min(range(low, high + 1), key=time))


@frozen(kw_only=True, eq=False)
class ScalingLimits(Result):
    """Ceiling, wall and best number of ranks of fixed work that ends with a ring allreduce."""

    given: Mapping[str, Any] = field(repr=False)
    outputs: Mapping[str, float] = field(repr=False)

    @measured("1")
    def ceiling(self) -> float:
        """Speedup against one rank in the limit of many ranks, latency left out."""
        return self.outputs["ceiling"]

    @measured("1")
    def wall(self) -> float:
        """Number of ranks, continuous, where communication takes as long as computation."""
        return self.outputs["wall"]

    @measured("1")
    def ranks_at_share(self) -> float:
        """Number of ranks, continuous, at a share of the ceiling."""
        return self.outputs["ranks_at_share"]

    @measured("1")
    def best_ranks(self) -> float:
        """Number of ranks, continuous, that makes the step shortest."""
        return self.outputs["best_ranks"]

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(best_scaling_ranks)
        return record.formula, record.source


@quantities(
    step("work", work_on_one, "s"),
    step("communication_limit", ring_time_limit, "s"),
    step("latency_per_rank", ring_latency_per_rank, "s"),
    step("ceiling", scaling_ceiling, time_one="work"),
    step("wall", scaling_wall, time_one="work"),
    step("ranks_at_share", ranks_at_ceiling_share, share="ceiling_share"),
    step("best_ranks", best_scaling_ranks, time_one="work"),
    output="ceiling",
    time_one="s > 0 unless flops",
    flops="flop > 0 optional",
    peak="flop/s > 0 optional",
    utilisation="number > 0 <= 1",
    size="byte",
    bandwidth="byte/s/dir > 0",
    latency="s",
    reduction_rate="byte/s > 0 optional",
    overlap="number <= 1",
    ceiling_share="number > 0 < 1",
)
def scaling_limits(
    *,
    size: float,
    bandwidth: float,
    time_one: float = 0.0,
    flops: float = 0.0,
    peak: float = math.inf,
    utilisation: float = 1.0,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
    overlap: float = 0.0,
    ceiling_share: float = 0.9,
    assumed: tuple[str, ...] = (),
) -> ScalingLimits:
    """Limits of strong scaling with a ring allreduce, whatever the number of ranks.

    Parameters
    ----------
    size : Quantity [byte]
        Vector that is reduced once per step.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    time_one : Quantity [s]
        Time of the work on one device; or give `flops` and `peak`.
    flops : Quantity [flop]
        Operations of the step.
    peak : Quantity [flop/s]
        Dense rate of one device.
    utilisation : float
        Share of `peak` that is reached [1].
    latency : Quantity [s]
        One-way time of an empty message.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank.
    overlap : float
        Share of the communication that computation may hide [1].
    ceiling_share : float
        Share of the ceiling that `ranks_at_share` asks for [1].

    Returns
    -------
    ScalingLimits
        Ceiling, wall, ranks at a share of the ceiling, best number of ranks.

    Examples
    --------
    >>> from scalemath.scaling import scaling_limits
    >>> limits = scaling_limits(time_one="62.55 ms", size="2 GiB", bandwidth="900 GB/s/dir")
    >>> print(f"{limits.ceiling:.4f}, {limits.wall:.4f}")
    13.1072, 14.1072
    """
    given: dict[str, float | str] = {
        "size": size,
        "bandwidth": bandwidth,
        "time_one": time_one,
        "flops": flops,
        "peak": peak,
        "utilisation": utilisation,
        "latency": latency,
        "reduction_rate": reduction_rate,
        "overlap": overlap,
        "ceiling_share": ceiling_share,
    }
    return ScalingLimits(
        given=given,
        outputs=scaling_limits.model.evaluate(given),
        assumptions=tuple(t for t in assumed if not t.startswith(("flops", "time_one"))),
    )
