"""What one way through a fabric takes, part by part."""

from __future__ import annotations

from typing import NamedTuple

from scalemath.core.kernel import kernel
from scalemath.kernels.latency import queueing_delay


class PathTerms(NamedTuple):
    """Parts of a one-way latency [s]: all but `queueing` do not depend on load."""

    endpoints: float
    switches: float
    cables: float
    fec: float
    modules: float
    queueing: float


@kernel(
    unit="s",
    rises="endpoint_latency switch_latency switches cable_length delay_per_metre links "
    "fec_latency module_latency service_time utilisation",
    source="sum over the parts of a path; M/M/1 wait at every switch as the load model",
    formula="endpoint + switches switch + length delay + links (fec + 2 module) "
    "+ switches service utilisation / (1 - utilisation)",
)
def one_way_latency(
    endpoint_latency: float,
    switch_latency: float,
    switches: float,
    cable_length: float,
    delay_per_metre: float,
    links: float,
    fec_latency: float,
    module_latency: float,
    service_time: float,
    utilisation: float,
) -> PathTerms:
    """One-way latency of a path: both endpoints once, every switch, cable, code and module."""
    wait = 0.0
    if switches > 0.0 and service_time > 0.0:
        wait = switches * queueing_delay(service_time, utilisation)
    return PathTerms(
        endpoint_latency,
        switches * switch_latency,
        cable_length * delay_per_metre,
        links * fec_latency,
        2.0 * links * module_latency,
        wait,
    )


@kernel(
    unit="s",
    rises="one_way",
    source="definition: there and back over the same path",
    formula="2 * one_way",
)
def round_trip(one_way: float) -> float:
    """Round trip of a one-way time."""
    return 2.0 * one_way


@kernel(
    unit="s",
    rises="round_trip_time",
    falls="switch_latency switches",
    source="round trip less the passes through switches, which a round trip makes twice",
    formula="round_trip_time - 2 switches switch_latency",
)
def endpoint_share(round_trip_time: float, switch_latency: float, switches: float) -> float:
    """What a measured round trip leaves for the endpoints."""
    return round_trip_time - 2.0 * switches * switch_latency
