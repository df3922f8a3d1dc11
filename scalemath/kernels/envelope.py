"""Size-dependent reality: times of collectives as measured, in a few numbers.

One latency and one bandwidth miss measured collectives by tens of percent, because libraries
change protocol with the size. The least of a few lines follows that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.kernel import kernel


class EnvelopeTime(NamedTuple):
    """Terms of the least line [s]."""

    latency: float
    bandwidth: float


class RampTime(NamedTuple):
    """Terms of the compact form [s]."""

    latency: float
    bandwidth: float
    ramp: float


@kernel(
    unit="s",
    rises="size latency_1 latency_2 latency_3",
    falls="bandwidth_1 bandwidth_2 bandwidth_3",
    source="protocols of collective libraries as lines: small, medium and large messages",
    formula="least over i of latency_i + size / bandwidth_i",
)
def envelope_time(
    size: float,
    latency_1: float,
    bandwidth_1: float,
    latency_2: float,
    bandwidth_2: float,
    latency_3: float,
    bandwidth_3: float,
) -> EnvelopeTime:
    """Time on the least of three lines; a line that is not there has infinite latency."""
    transfer_1 = size / bandwidth_1 if bandwidth_1 > 0.0 else math.inf
    transfer_2 = size / bandwidth_2 if bandwidth_2 > 0.0 else math.inf
    transfer_3 = size / bandwidth_3 if bandwidth_3 > 0.0 else math.inf
    latency = latency_1
    transfer = transfer_1
    if latency_2 + transfer_2 < latency + transfer:
        latency = latency_2
        transfer = transfer_2
    if latency_3 + transfer_3 < latency + transfer:
        latency = latency_3
        transfer = transfer_3
    return EnvelopeTime(latency, transfer)


@kernel(
    unit="s",
    rises="volume ranks latency latency_per_rank ramp",
    falls="bandwidth",
    source="fit to measured collectives inside one NVLink domain; the root is the pipeline's ramp",
    formula="latency + latency_per_rank * (ranks - 1) + volume / bandwidth + ramp * sqrt(volume)",
)
def ramp_time(
    volume: float,
    ranks: float,
    latency: float,
    latency_per_rank: float,
    bandwidth: float,
    ramp: float,
) -> RampTime:
    """Time of the compact form for the bytes each port carries in one direction."""
    transfer = volume / bandwidth if bandwidth > 0.0 else math.inf
    start = latency + latency_per_rank * (ranks - 1.0)
    return RampTime(start, transfer, ramp * math.sqrt(volume))
