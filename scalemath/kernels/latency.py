"""One message: the alpha-beta time, what size fills the wire, what a latency budget holds."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.terms import MessageTerms

HOCKNEY = "Hockney, The communication challenge for MPP, Parallel Computing 20(3) 1994, 389-398"


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth",
    source=HOCKNEY,
    formula="latency + size / bandwidth",
)
def message_time(size: float, bandwidth: float, latency: float) -> MessageTerms:
    """Time to move one message over one port."""
    return MessageTerms(latency, size / bandwidth)


@kernel(
    unit="byte",
    rises="bandwidth latency",
    source=HOCKNEY,
    formula="latency * bandwidth",
)
def half_bandwidth_size(bandwidth: float, latency: float) -> float:
    """Message size at which half of the bandwidth is reached."""
    return latency * bandwidth


@kernel(
    unit="1",
    rises="size",
    falls="bandwidth latency",
    source=HOCKNEY,
    formula="(size / bandwidth) / (latency + size / bandwidth)",
)
def message_efficiency(size: float, bandwidth: float, latency: float) -> float:
    """Share of the bandwidth that a message of this size reaches."""
    wanted = size + latency * bandwidth
    if wanted <= 0.0:
        return 1.0
    return size / wanted


@kernel(
    unit="s",
    rises="chunks latency",
    source="sum of messages sent one after the other, each waiting for the last",
    formula="chunks * latency",
)
def serial_chunk_latency(chunks: float, latency: float) -> float:
    """Latency paid when chunks are sent one by one and each pays the latency."""
    return chunks * latency


@kernel(
    unit="byte",
    rises="bandwidth latency",
    source="definition of the bandwidth-delay product",
    formula="bandwidth * latency",
)
def bandwidth_delay_product(bandwidth: float, latency: float) -> float:
    """Bytes in flight that keep a path of this delay busy."""
    return bandwidth * latency


@kernel(
    unit="s",
    rises="distance delay_per_metre",
    source="group delay of the medium; silica fibre has 4.9 ns/m",
    formula="distance * delay_per_metre",
)
def propagation_delay(distance: float, delay_per_metre: float) -> float:
    """One-way delay of a cable or fibre."""
    return distance * delay_per_metre


@kernel(
    unit="s",
    rises="service_time utilisation",
    source="Kleinrock, Queueing Systems 1, 1975: mean waiting time in an M/M/1 queue",
    formula="service_time * utilisation / (1 - utilisation)",
)
def queueing_delay(service_time: float, utilisation: float) -> float:
    """Mean wait before service at a port loaded to a share of its rate; a model choice."""
    if utilisation >= 1.0:
        return math.inf
    return service_time * utilisation / (1.0 - utilisation)


@kernel(
    unit="1",
    rises="duration frequency",
    source="definition",
    formula="duration * frequency",
)
def clock_cycles(duration: float, frequency: float) -> float:
    """Clock cycles that fit into a duration."""
    return duration * frequency


@kernel(
    unit="1",
    rises="events latency",
    falls="step_time",
    source="share of a step that a number of latencies takes",
    formula="events * latency / step_time",
)
def latency_share(events: float, latency: float, step_time: float) -> float:
    """Share of a step spent in latencies that are paid a number of times."""
    return events * latency / step_time
