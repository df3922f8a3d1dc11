"""Latencies and what they cost: worked numbers with the capability they stand for."""

from __future__ import annotations

import pytest

from scalemath import Q_
from scalemath.kernels import latency as la
from scalemath.kernels.latency_budget import endpoint_share
from scalemath.units import to_si


def si(text: str, unit: str) -> float:
    return float(to_si(text, unit))


def test_serial_chunks() -> None:
    """K022: 4096 chunks at 2 us."""
    assert la.serial_chunk_latency(4096.0, 2e-6) == pytest.approx(8.192e-3)


@pytest.mark.parametrize(
    ("events", "step_ms", "percent"),
    [(1, 4.70591, 0.212), (142, 4.70591, 30.2), (142, 42.3531, 3.35)],
)
def test_share_of_latency(events: float, step_ms: float, percent: float) -> None:
    """K021: 10 us once, and per step of a ring of 72, on two networks."""
    share = la.latency_share(events, 10e-6, step_ms * 1e-3)
    assert 100 * share == pytest.approx(percent, rel=3e-3)


@pytest.mark.parametrize(
    ("round_trip", "switch", "left"),
    [(1.0, 0.1, 0.8), (2.0, 0.1, 1.8), (1.5, 0.4, 0.7), (2.5, 0.6, 1.3)],
)
def test_what_remains_for_the_endpoints(round_trip: float, switch: float, left: float) -> None:
    """K023: a round trip minus two passes of a switch, InfiniBand and RoCE, in us."""
    assert endpoint_share(round_trip, switch, 1.0) == pytest.approx(left)


def test_load_adds_to_the_latency() -> None:
    """K024: an idle port adds nothing, a half loaded one its service time."""
    assert la.queueing_delay(1e-6, 0.0) == 0.0
    assert la.queueing_delay(1e-6, 0.5) == pytest.approx(1e-6)
    assert la.queueing_delay(1e-6, 1.0) == float("inf")


def test_light_in_a_fibre() -> None:
    """K025: 10 km at 4.9 us/km."""
    delay = la.propagation_delay(si("10 km", "m"), 4.9e-9)
    assert delay == pytest.approx(si("49 us", "s"))


def test_clock_cycles() -> None:
    """K027: 1 GHz is 1 ns; 0.25 us are 250 cycles."""
    assert la.clock_cycles(si("1 ns", "s"), si("1 GHz", "Hz")) == pytest.approx(1)
    assert la.clock_cycles(si("0.25 us", "s"), si("1 GHz", "Hz")) == pytest.approx(250)


@pytest.mark.parametrize(("latency", "expected"), [("1 ms", "100 MB"), ("2 us", "200 kB")])
def test_bytes_in_flight(latency: str, expected: str) -> None:
    """K028: 100 GB/s."""
    product = la.bandwidth_delay_product(si("100 GB/s", "byte/s"), si(latency, "s"))
    assert product == pytest.approx(Q_(expected).m_as("byte"))


def test_half_of_the_bandwidth_is_reached_at_its_size() -> None:
    half = la.half_bandwidth_size(1e11, 2e-6)
    assert half == 200000
    assert la.message_efficiency(half, 1e11, 2e-6) == 0.5
    assert la.message_efficiency(0.0, 1e11, 0.0) == 1.0
