"""Modules, electrical lanes and cables: watts, savings, reach, like for like."""

from __future__ import annotations

from typing import Any

import pytest

from scalemath.core.errors import (
    ArgumentError,
    ContradictionError,
    ConventionError,
    RangeError,
    ScalemathError,
)
from scalemath.hardware.cable import Cable, medium_for, reach
from scalemath.hardware.optics import (
    Serdes,
    Transceiver,
    dsp_gap,
    optics_caution,
    power_ratio,
    watts,
)

RATE = "800 Gb/s/dir"


def module(**given: Any) -> Transceiver:
    return Transceiver(**{"rate": RATE, **given})


# W at 200G, 400G, 800G, 1.6T and of an 800G link with both ends
TABLE = [
    (3.5, 0.7, 1.4, 2.8, 5.6, 5.6),
    (4.5, 0.9, 1.8, 3.6, 7.2, 7.2),
    (4.6, 0.92, 1.84, 3.68, 7.36, 7.36),
    (6.5, 1.3, 2.6, 5.2, 10.4, 10.4),
    (1.7, 0.34, 0.68, 1.36, 2.72, 2.72),
    (2, 0.4, 0.8, 1.6, 3.2, 3.2),
    (4, 0.8, 1.6, 3.2, 6.4, 6.4),
    (3, 0.6, 1.2, 2.4, 4.8, 4.8),
    (5, 1, 2, 4, 8, 8),
    (7.5, 1.5, 3, 6, 12, 12),
    (8.75, 1.75, 3.5, 7, 14, 14),
    (15, 3, 6, 12, 24, 24),
    (15.625, 3.125, 6.25, 12.5, 25, 25),
    (18.75, 3.75, 7.5, 15, 30, 30),
    (20, 4, 8, 16, 32, 32),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} pJ/bit")
def test_watts_of_an_end_and_of_a_link(row: tuple[float, ...]) -> None:
    energy, *by_rate, link = row
    for gigabits, wanted in zip((200, 400, 800, 1600), by_rate, strict=True):
        found = watts(f"{energy} pJ/bit", f"{gigabits} Gb/s/dir").m_as("W")
        assert found == pytest.approx(wanted)
    assert module(energy_per_bit=f"{energy} pJ/bit").link_watts.m_as("W") == pytest.approx(link)


@pytest.mark.parametrize(
    ("rate", "power", "energy"),
    [
        ("800", "6 W", 7.5),
        ("800", "15 W", 18.75),
        ("1600", "25 W", 15.625),
        ("1600", "30 W", 18.75),
    ],
)
def test_energy_per_bit_of_a_module(rate: str, power: str, energy: float) -> None:
    found = Transceiver(rate=f"{rate} Gb/s/dir", power=power)
    assert found.per_bit.m_as("pJ/bit") == pytest.approx(energy)
    again = Transceiver(rate=f"{rate} Gb/s/dir", power=power, energy_per_bit=f"{energy} pJ/bit")
    assert again.watts == found.watts


def test_linear_against_retimed() -> None:
    retimed, linear = module(power="15 W", dsp_power="6 W"), module(power="6 W", kind="LPO")
    assert linear.saving(retimed) == pytest.approx(0.6)
    for power, dsp, share in ((16, 6, 37.5), (12, 7, 58.3333)):
        found = module(power=f"{power} W", dsp_power=f"{dsp} W").dsp_share
        assert 100 * found == pytest.approx(share, rel=1e-5)
    assert "9 W are saved" in dsp_gap(retimed, linear)
    assert "3 W are not explained" in dsp_gap(retimed, linear)
    assert dsp_gap(module(power="12 W", dsp_power="6 W"), linear) == ""
    assert module(power="9 W", kind="LRO").lower_latency() == pytest.approx(30e-9)
    assert module(power="9 W", latency="75 ns").lower_latency() == pytest.approx(75e-9)
    future = module(energy_per_bit="3 pJ/bit", kind="CPO", roadmap=True)
    assert "[roadmap]" in str(future)
    assert future.watts.m_as("W") == pytest.approx(2.4)


def test_usual_kinds_by_tier() -> None:
    assert optics_caution("scale-up", module(power="6 W", kind="LPO")) == ""
    assert optics_caution("scale-out", module(power="15 W")) == ""
    assert "LPO and CPO" in optics_caution("scale-up", module(power="15 W"))
    assert "DSP and LRO" in optics_caution("scale-out", module(power="6 W", kind="LPO"))
    with pytest.raises(ArgumentError, match="scale-up, scale-out"):
        optics_caution("hall", module(power="6 W"))


def test_a_lane_is_no_link() -> None:
    optical = module(energy_per_bit="15 pJ/bit")
    for energy, lane_watts, ratio in ((3.5, 0.7, 4.285714), (4.5, 0.9, 3.333333)):
        lane = Serdes(energy_per_bit=f"{energy} pJ/bit", lane_rate="200 Gb/s/dir")
        assert lane.watts.m_as("W") == pytest.approx(lane_watts)
        with pytest.raises(ConventionError, match="lane against a link"):
            power_ratio(optical, lane)
        assert power_ratio(optical, lane, per_bit=True) == pytest.approx(ratio, rel=1e-6)
        four = Serdes(energy_per_bit=f"{energy} pJ/bit", lane_rate="200 Gb/s/dir", lanes=4)
        assert power_ratio(optical, four) == pytest.approx(ratio, rel=1e-6)
        assert four.per_bit.m_as("pJ/bit") == energy


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({}, ArgumentError, "power"),
    ({"power": "24 W", "energy_per_bit": "15 pJ/bit"}, ContradictionError, "both ends"),
    ({"power": "6 W", "dsp_power": "7 W"}, RangeError, "dsp_power"),
    ({"power": "6 W", "rate": "800 Gb/s"}, ConventionError, "direction"),
    ({"power": "6 W", "kind": "XYZ"}, ArgumentError, "LPO"),
    ({"power": "6 pJ/bit"}, ScalemathError, "power"),
]


@pytest.mark.parametrize(("given", "error", "words"), REFUSED, ids=range(len(REFUSED)))
def test_modules_refused(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        module(**given)


# --- cables --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distance", "lane", "medium"),
    [
        ("1 m", "100", "passive copper"),
        ("3 m", "100", "passive copper"),
        ("2 m", "200", "passive copper"),
        ("3 m", "200", "active copper"),
        ("7 m", "100", "active copper"),
        ("8 m", "100", "multimode fibre"),
        ("100 m", "200", "single-mode fibre DR"),
        ("2 km", "100", "single-mode fibre FR"),
        ("10 km", "100", "single-mode fibre LR"),
    ],
)
def test_medium_by_reach_and_rate(distance: str, lane: str, medium: str) -> None:
    assert medium_for(distance, f"{lane} Gb/s/dir") == medium


def test_cables() -> None:
    far = Cable(length="10 km")
    assert far.delay.m_as("us") == pytest.approx(49)
    near = Cable(length="2 m", lane_rate="200 Gb/s/dir", lanes=2)
    assert near.differential_pairs == 4
    assert near.rate.m_as("Gbit/s/dir") == pytest.approx(400)
    assert near.chosen_medium == "passive copper"
    for energy, each in ((2, 1.6), (4, 3.2)):
        active = Cable(length="5 m", energy_per_bit=f"{energy} pJ/bit")
        assert active.lower() == pytest.approx(2 * each)
    assert "active copper" in str(active)
    assert Cable(length="1 km", medium="fibre").chosen_medium == "fibre"
    assert reach("multimode fibre", "200 Gb/s/dir").m_as("m") == 50


def test_cables_refused() -> None:
    with pytest.raises(RangeError, match="beyond its reach of 3 m"):
        Cable(length="5 m", medium="passive_copper")
    with pytest.raises(RangeError, match="10 km"):
        medium_for("11 km")
    with pytest.raises(RangeError, match="passive copper"):
        reach("string")
    with pytest.raises(RangeError, match="length"):
        Cable(length="0 m")
