"""Links: what follows from lanes, what must close, and what is refused."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scalemath as sm
from scalemath.core.errors import (
    ArgumentError,
    ContradictionError,
    ConventionError,
    RangeError,
    UnitsError,
)
from scalemath.hardware.link import Link, per_direction
from scalemath.units import Q_, ureg


def gigabytes(rate: object) -> float:
    return rate.m_as("GB/s/dir")


def test_nvlink5_from_its_lanes() -> None:
    lanes = Link(lanes=2, lane_rate="200 Gb/s/dir")
    assert gigabytes(lanes.bandwidth) == pytest.approx(50, rel=1e-12)
    eighteen = lanes.bundle(18)
    assert gigabytes(eighteen.bandwidth) == pytest.approx(900, rel=1e-12)
    assert gigabytes(eighteen.per_link) == pytest.approx(50, rel=1e-12)
    assert gigabytes(eighteen.per_lane) == pytest.approx(25, rel=1e-12)


@pytest.mark.parametrize(
    ("lanes", "rate", "encoding", "printed"),
    [
        (16, "8 GT/s", "128/130", 15.7538),
        (16, "32 GT/s", "128/130", 63.0154),
        (16, "64 GT/s", "242/256", 121.0),
        (4, "106.25 Gb/s/dir", "16/17", 50.0),
        (4, "25.78125 Gb/s/dir", "64/66", 12.5),
        (2, "212.5 Gb/s/dir", 16 / 17, 50.0),
    ],
)
def test_published_rates_follow_from_lanes(
    lanes: int, rate: str, encoding: object, printed: float
) -> None:
    link = Link(lanes=lanes, lane_rate=rate, encoding=encoding)
    assert gigabytes(link.bandwidth) == pytest.approx(printed, rel=1e-5)
    raw = lanes * link.lane_rate.m_as("GB/s/dir")
    assert gigabytes(link.raw_bandwidth) == pytest.approx(raw, rel=1e-12)


def test_eighteen_links_of_100_do_not_make_900() -> None:
    with pytest.raises(ContradictionError, match="both directions") as error:
        Link(links=18, per_link="100 GB/s/dir", bandwidth="900 GB/s/dir")
    assert "1800 GB/s/dir" in str(error.value)
    assert "900 GB/s/dir" in str(error.value)
    assert "18 links at 100 GB/s/dir" in str(error.value)


def test_the_two_direction_figures_close_when_they_say_so() -> None:
    link = Link(links=18, per_link="100 GB/s/bidir", bandwidth="900 GB/s/dir")
    assert gigabytes(link.per_link) == 50
    assert f"{link.both_directions:~P}" in ("1800 GB/s/bidir", "1800.0 GB/s/bidir")
    assert gigabytes(Link(bandwidth="1.8 TB/s/bidir").bandwidth) == 900


@pytest.mark.parametrize(
    ("parts", "cause"),
    [
        ({"bandwidth": "64 GB/s/dir"}, "raw line rate"),
        ({"per_link": "126 GB/s/dir"}, "both directions"),
        ({"bandwidth": "504 GB/s/dir"}, "bits were taken for bytes"),
    ],
)
def test_pcie_that_does_not_close_names_the_slip(parts: dict[str, str], cause: str) -> None:
    with pytest.raises(ContradictionError, match=cause):
        Link(lanes=16, lane_rate="32 GT/s", encoding="128/130", **parts)


def test_rounding_of_a_data_sheet_closes() -> None:
    link = Link(lanes=16, lane_rate="32 GT/s", encoding="128/130", bandwidth="63 GB/s/dir")
    assert gigabytes(link.bandwidth) == 63


@pytest.mark.parametrize("name", ["bandwidth", "per_link", "usable", "lane_rate"])
def test_a_rate_without_direction_is_refused(name: str) -> None:
    with pytest.raises(ConventionError, match="direction"):
        Link(**{"bandwidth": "900 GB/s/dir", "lanes": 2, name: "400 Gb/s"})


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({}, ArgumentError),
        ({"bandwidth": "900 GB/dir"}, UnitsError),
        ({"bandwidth": "0 GB/s/dir"}, RangeError),
        ({"bandwidth": "1 GB/s/dir", "encoding": 1.5}, RangeError),
        ({"bandwidth": "1 GB/s/dir", "links": 2.5}, RangeError),
        ({"bandwidth": "1 GB/s/dir", "latency_kind": "twice"}, ArgumentError),
        ({"bandwidth": "1 GB/s/dir", "latency": "3 m"}, UnitsError),
    ],
)
def test_nonsense_is_refused(kwargs: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        Link(**kwargs)


def test_a_round_trip_is_halved_once() -> None:
    link = Link(bandwidth="50 GB/s/dir", latency="2 us", latency_kind="round-trip")
    assert link.one_way_latency.m_as("us") == 1
    assert Link(bandwidth="50 GB/s/dir", latency="2 us").one_way_latency.m_as("us") == 2
    assert Link(bandwidth="50 GB/s/dir").one_way_latency is None


def test_usable_rate_comes_from_usable_then_efficiency_then_all() -> None:
    assert gigabytes(Link(bandwidth="50 GB/s/dir").usable_bandwidth) == 50
    assert gigabytes(Link(bandwidth="50 GB/s/dir", efficiency=0.8).usable_bandwidth) == 40
    both = Link(bandwidth="50 GB/s/dir", usable="98 GB/s/bidir")
    assert gigabytes(both.usable_bandwidth) == 49


def test_link_is_frozen_equal_and_shows_itself() -> None:
    link = Link(name="XDR", bandwidth="800 Gb/s/dir")
    assert link == Link(name="XDR", bandwidth="800 Gb/s/dir")
    assert "XDR" in str(link)
    assert "800 Gbit/s/dir" in link._repr_html_()
    with pytest.raises(AttributeError):
        link.bandwidth = Q_("1 GB/s/dir")


def test_copies_and_pickles_are_equal() -> None:
    for thing in (
        Link(name="XDR", lanes=4, lane_rate="212.5 Gb/s/dir", encoding="16/17", latency="1 us"),
        sm.catalog.link("nvlink5"),
        sm.catalog.accelerator("H100 SXM"),
        sm.catalog.rack("GB200 NVL72"),
    ):
        assert pickle.loads(pickle.dumps(thing)) == thing
        assert copy.deepcopy(thing) == thing


@given(
    links=st.integers(1, 64),
    rate=st.floats(0.5, 5000, allow_nan=False),
    unit=st.sampled_from(["GB/s/dir", "Gbit/s/dir", "TB/s/bidir", "Mbit/s/dir", "GiB/s/dir"]),
)
def test_total_is_links_times_rate_in_any_unit(links: int, rate: float, unit: str) -> None:
    link = Link(links=links, per_link=Q_(rate, unit))
    expected = links * Q_(rate, unit).m_as("byte/s/dir")
    assert link.bandwidth.m_as("byte/s/dir") == pytest.approx(expected, rel=1e-12)
    assert "bidir" not in f"{link.bandwidth.units:~P}"


def test_per_direction_leaves_other_quantities_alone() -> None:
    power = Q_("12 W")
    assert per_direction(power) is power
    assert per_direction(Q_("3 GB/s")).units == ureg.Unit("GB/s")


@pytest.mark.parametrize(
    ("technology", "bandwidth", "told"),
    [
        ("Ethernet XDR", "100 GB/s/dir", "XDR is InfiniBand, not Ethernet"),
        ("NVLink NDR", "50 GB/s/dir", "NDR is InfiniBand, not NVLink"),
        ("InfiniBand 800GbE", "100 GB/s/dir", "800GbE is Ethernet, not InfiniBand"),
        ("InfiniBand NDR", "100 GB/s/dir", "NDR is 400 Gbit/s"),
        ("Ethernet 400GbE", "100 GB/s/dir", "400GbE is 400 Gbit/s"),
        ("Ethernot", "100 GB/s/dir", "wanted one of InfiniBand, Ethernet"),
    ],
)
def test_a_label_that_cannot_be_is_refused(technology: str, bandwidth: str, told: str) -> None:
    with pytest.raises(sm.ScalemathError, match=told):
        Link(technology=technology, bandwidth=bandwidth)


@pytest.mark.parametrize(
    ("technology", "bandwidth"),
    [
        ("", "1 GB/s/dir"),
        ("InfiniBand XDR", "800 Gbit/s/dir"),
        ("InfiniBand FDR", "56.25 Gbit/s/dir"),
        ("Ethernet 400GbE", "400 Gbit/s/dir"),
        ("NVLink 5", "900 GB/s/dir"),
        ("InfiniBand or Ethernet", "400 Gbit/s/dir"),
    ],
)
def test_a_label_that_fits_is_kept(technology: str, bandwidth: str) -> None:
    assert Link(technology=technology, bandwidth=bandwidth).technology == technology
