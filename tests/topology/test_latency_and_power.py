"""Latency budgets with their ranges, and power of fabrics."""

from __future__ import annotations

import pytest

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.core.value_range import Range
from scalemath.hardware.cable import Cable
from scalemath.hardware.fec import ReedSolomon
from scalemath.hardware.nic import Nic
from scalemath.hardware.optics import Transceiver
from scalemath.hardware.switch import Switch
from scalemath.kernels.latency import bandwidth_delay_product, clock_cycles
from scalemath.topology.fat_tree import FatTree
from scalemath.topology.latency import endpoint_latency, latency_caution
from scalemath.topology.systems import nvl72_domain
from scalemath.topology.torus import Torus

TREE = FatTree(endpoints=2048, radix=64, port_rate="800 Gb/s")
ONE = FatTree(endpoints=64, radix=64, port_rate="800 Gb/s")


def test_one_switch_and_its_round_trip() -> None:
    budget = ONE.latency_budget(endpoint_latency="0.9 us", switch_latency="100 ns")
    assert budget.one_way.m_as("us") == pytest.approx(1.0)
    assert budget.round_trip.m_as("us") == pytest.approx(2.0)
    assert (budget.switches, budget.links) == (1, 2)
    assert sum(t.m_as("s") for t in budget.terms.values()) == pytest.approx(1e-6)


def test_parts_of_a_long_path() -> None:
    budget = TREE.latency_budget(
        endpoint_latency=Nic(port_rate="800 Gb/s/dir", latency="1 us"),
        switch_latency=Switch(ports=64, port_rate="800 Gb/s/dir", latency="200 ns"),
        cable_length="100 m",
        fec=ReedSolomon(),
        module=Transceiver(rate="800 Gb/s/dir", power="15 W"),
    )
    parts = budget.parts
    assert (budget.switches, budget.links) == (3, 4)
    assert parts.switches == pytest.approx(600e-9)
    assert parts.cables == pytest.approx(490e-9)
    assert parts.fec == pytest.approx(4 * 6.4e-9)  # 5440 bit at 850 Gbit/s
    assert parts.modules == pytest.approx(4 * 120e-9)
    assert "M/M/1" not in " ".join(budget.assumptions)
    near = TREE.latency_budget(switch_latency="200 ns", between=(0, 1))
    assert near.switches == 1


def test_linear_modules_save_240_ns_a_round_trip_over_one_link() -> None:
    slow = Transceiver(rate="800 Gb/s/dir", power="15 W")
    fast = Transceiver(rate="800 Gb/s/dir", power="6 W", kind="LPO")
    module, link, both = (t.m_as("ns") for t in fast.latency_saving(slow))
    assert (module, link, both) == pytest.approx((60, 120, 240))
    for low, high, shares in ((200, 500, (48, 120)), (1000, 2000, (12, 24))):
        assert (100 * both / high, 100 * both / low) == pytest.approx(shares)


def test_load_adds_a_wait_and_none_without_it() -> None:
    still = TREE.latency_budget(switch_latency="200 ns")
    assert still.dynamic.m_as("ns") == 0
    half = TREE.latency_budget(switch_latency="200 ns", utilisation=0.5)
    assert half.dynamic.m_as("ns") == pytest.approx(3 * 40.96)
    assert half.static.m_as("ns") == pytest.approx(still.one_way.m_as("ns"))
    full = TREE.latency_budget(switch_latency="200 ns", utilisation=0.99)
    assert full.dynamic > half.dynamic
    assert "M/M/1" in half.explain()
    with pytest.raises(RangeError, match="utilisation"):
        TREE.latency_budget(utilisation=1.0)


def test_endpoints_that_forward() -> None:
    budget = Torus(shape=(4, 4)).latency_budget(switch_latency="100 ns", fec="10 ns", module="5 ns")
    assert (budget.switches, budget.links) == (3, 4)
    assert budget.one_way.m_as("ns") == pytest.approx(300 + 40 + 40)


@pytest.mark.parametrize(
    ("round_trip", "switch", "left"),
    [
        ("1 us", "0.1 us", 0.8),
        ("2 us", "0.1 us", 1.8),
        ("1.5 us", "0.4 us", 0.7),
        ("2.5 us", "0.6 us", 1.3),
    ],
)
def test_what_is_left_for_the_endpoints(round_trip: str, switch: str, left: float) -> None:
    assert endpoint_latency(round_trip, switch).m_as("us") == pytest.approx(left)
    with pytest.raises(RangeError, match="longer than the round trip"):
        endpoint_latency("100 ns", switch)


def test_milliseconds_are_flagged_with_the_expected_range() -> None:
    text = latency_caution(Range("1 ms", "10 ms"), "scale-out")
    assert "400 to 10000 times above" in text
    assert "1 µs to 2.5 µs" in text
    assert "wide-area" in text


def test_software_latencies_are_flagged_as_such() -> None:
    assert "NCCL" in latency_caution(Range("5 us", "15 us"), "scale-out")
    assert latency_caution("2 us", "scale-out") == ""
    assert latency_caution(Range("0.1 us", "0.25 us"), "scale-up", latency_kind="one-way") == ""
    assert "times below" in latency_caution("10 ns", "scale-up")
    with pytest.raises(ArgumentError, match="tier"):
        latency_caution("1 us", "hall")
    with pytest.raises(ArgumentError, match="latency_kind"):
        latency_caution("1 us", "scale-up", latency_kind="both")


def test_a_budget_outside_its_tier_carries_a_caution() -> None:
    slow = ONE.latency_budget(endpoint_latency="10 us", tier="Ethernet")
    assert "expected of one Ethernet hop" in slow.cautions[0]
    assert "caution" in slow.explain()
    assert ONE.latency_budget(endpoint_latency="1 us", tier="Ethernet").cautions == ()
    far = TREE.latency_budget(endpoint_latency="10 us", tier="Ethernet")
    assert "NCCL" in far.cautions[0]


def test_clock_cycles_and_bytes_in_flight() -> None:
    assert clock_cycles(0.25e-6, 1e9) == pytest.approx(250)
    assert bandwidth_delay_product(100e9, 1e-3) == pytest.approx(100e6)
    assert bandwidth_delay_product(100e9, 2e-6) == pytest.approx(200e3)


def test_copper_domain_against_optics() -> None:
    """518.4 Tb/s: 3.63 to 4.67 kW in copper, 15.55 kW in modules of 12 W per 800G."""
    domain = nvl72_domain()
    wire = 72 * 18 * 50e9 * 8
    assert wire == pytest.approx(518.4e12)
    for energy, kilowatts in ((3.5, 3.6288), (4.5, 4.6656)):
        one_link = 2 * energy * 1e-12 * 50e9 * 8
        power = domain.power(cable=f"{one_link} W", copper=["endpoint"])
        assert power.it_power.m_as("kW") == pytest.approx(kilowatts)
    optical = domain.with_(copper=False).power(transceiver="6 W")
    assert optical.optics.m_as("kW") == pytest.approx(15.552)


@pytest.mark.parametrize(
    ("tiers", "watts", "megawatts"), [(2, 15, 6), (3, 15, 9), (2, 6, 2.4), (3, 6, 3.6)]
)
def test_modules_of_hundred_thousand_endpoints(tiers: int, watts: int, megawatts: float) -> None:
    fabric = FatTree(endpoints=100_000, radix=512, tiers=tiers)
    power = fabric.power(transceiver=f"{watts} W", ideal=True)
    assert power.it_power.m_as("MW") == pytest.approx(megawatts)
    assert power.modules == 200_000 * tiers


def test_parts_of_the_power() -> None:
    power = TREE.power(
        switch=Switch(ports=64, port_rate="800 Gb/s/dir", power="1 kW"),
        transceiver=Transceiver(rate="800 Gb/s/dir", energy_per_bit="15 pJ/bit"),
        cable=Cable(length="5 m", energy_per_bit="2 pJ/bit"),
        nic=Nic(port_rate="800 Gb/s/dir", power="20 W"),
        copper="endpoint",
        usage_effectiveness=1.2,
    )
    assert power.parts.switches == 96_000
    assert power.parts.transceivers == pytest.approx(4096 * 12)
    assert power.parts.cables == pytest.approx(2048 * 3.2)
    assert power.parts.nics == 2048 * 20
    assert power.facility_power.m_as("W") == pytest.approx(1.2 * sum(power.parts))
    assert power.share_of("1.2 MW", facility=True) == pytest.approx(sum(power.parts) / 1e6)
    assert "PUE 1.2" in str(power)


def test_refused() -> None:
    with pytest.raises(ContradictionError, match="another scope"):
        TREE.power(transceiver="12 W").share_of("10 kW")
    with pytest.raises(ArgumentError, match="no power of its own"):
        TREE.power(switch=Switch(ports=64, port_rate="800 Gb/s/dir"))
    with pytest.raises(ArgumentError, match="no latency"):
        TREE.latency_budget(endpoint_latency=Nic(port_rate="800 Gb/s/dir"))
    with pytest.raises(ArgumentError, match="ideal"):
        nvl72_domain().power(ideal=True)
    with pytest.raises(RangeError, match="PUE"):
        TREE.power(usage_effectiveness=0.5)
    with pytest.raises(ArgumentError, match="no tier up"):
        TREE.power(copper="up")
    assert "not given" in " ".join(TREE.power(transceiver="12 W").assumptions)


def test_endpoints_far_slower_than_a_hop_are_cautioned() -> None:
    slow = TREE.latency_budget(endpoint_latency="1 ms", switch_latency="200 ns")
    assert len(slow.cautions) == 1
    assert "milliseconds are what a user or a wide-area link sees" in slow.cautions[0]
    assert latency_caution("2.0004 ms", "scale-out") in slow.cautions[0]
    assert "caution" in slow.explain()
    usual = TREE.latency_budget(endpoint_latency="0.9 us", switch_latency="200 ns")
    assert not usual.cautions
    assert not TREE.latency_budget(switch_latency="200 ns").cautions
