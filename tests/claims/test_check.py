"""The checker: two sides, their conventions, a verdict and a sentence."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath.claims import Claim, check_claim
from scalemath.core.datum import Datum
from scalemath.core.errors import ConventionError


def test_the_slide_of_130_terabytes_against_51_terabits() -> None:
    nvlink = Claim("130 TB/s", "NVLink", direction="both", exact="129.6 TB/s")
    switch = Claim("51.2 Tb/s", "Ethernet switch", direction="one")
    found = check_claim(nvlink, switch)
    assert found.ratio == pytest.approx(10.125)
    assert found.naive_ratio == pytest.approx(2.5390625)
    assert found.undirected_ratio == pytest.approx(20.25)
    assert found.comparable
    assert found.verdict == "convention-dependent"
    printed = check_claim(Claim("130 TB/s", direction="both"), switch)
    assert printed.ratio == pytest.approx(10.15625)


@pytest.mark.parametrize(
    ("left", "right", "ratio", "verdict", "like"),
    [
        ("900 GB/s", "800 Gb/s", 9, "ok", 9),
        ("900 GB/s", "800 Gb/s", "9x", "ok", 9),
        ("900 GB/s", "800 Gb/s", 1.125, "wrong", 9),
        ("7.2 TB/s/bidir", "0.4 TB/s/dir", "18x", "wrong", 9),
        ("7.2 TB/s/bidir", "0.4 TB/s/dir", 9, "ok", 9),
        ("1.8 TB/s/bidir", "800 Gb/s/dir", 18, "wrong", 9),
        ("900 GB/s/dir", "400 Gb/s/dir", 18, "ok", 18),
        ("100 GB/s", "15 GB/s", "6.7", "rounding", 100 / 15),
        ("900 GB/s", "900 GB/s", None, "ok", 1),
        ("900 GB/s", "800 Gb/s", None, "convention-dependent", 9),
    ],
)
def test_rates(left: str, right: str, ratio: object, verdict: str, like: float) -> None:
    found = check_claim(left, right, ratio)
    assert found.verdict == verdict
    assert found.ratio == pytest.approx(like)
    assert str(found).startswith(verdict)


def test_the_sentence_says_which_slip_it_was() -> None:
    text = str(check_claim("7.2 TB/s/bidir", "0.4 TB/s/dir", 18))
    assert text == (
        "wrong: 7.2 TB/s/bidir is 9 x 0.4 TB/s/dir, not 18: both directions on one side only"
    )


def test_a_round_trip_is_halved_against_a_one_way_time() -> None:
    trip = Claim("2 us", latency_kind="round-trip")
    way = Claim("0.2 us", latency_kind="one-way")
    assert check_claim(trip, way).ratio == pytest.approx(5)
    assert check_claim(trip, way, 10).verdict == "wrong"
    assert check_claim(trip, trip).ratio == pytest.approx(1)


def test_one_side_derated_is_flagged() -> None:
    half = Claim("450 GB/s/dir", derating=0.5, derating_source="half-duplex")
    found = check_claim(half, "100 GB/s/dir", 4.5)
    assert found.verdict == "inconsistent"
    assert found.ratio == pytest.approx(9)
    assert any("derated to 50 %" in reason for reason in found.reasons)
    pcie = Claim("50 GB/s/dir", "PCIe", derating=50 / 63.0154)
    infiniband = Claim("25 GB/s/dir", "InfiniBand")
    found = check_claim(pcie, infiniband, 2)
    assert found.verdict == "inconsistent"
    assert any("79.3 %" in reason for reason in found.reasons)
    assert found.ratio == pytest.approx(63.0154 / 25)
    both = check_claim(pcie, Claim("20 GB/s/dir", derating=0.8), 2.5)
    assert both.ratio == pytest.approx(63.0154 / 25)
    assert not any("derated" in reason for reason in both.reasons)


def test_figures_for_unlike_rates_are_put_per_bit() -> None:
    module = Claim("12 W", scope="link", carries="800 Gb/s")
    lane = Claim("0.9 W", scope="lane", carries="200 Gb/s")
    found = check_claim(module, lane, 13.3)
    assert found.comparable
    assert found.ratio == pytest.approx(10 / 3)
    assert found.verdict == "wrong"
    assert not check_claim(Claim("12 W", scope="link"), Claim("0.9 W", scope="lane")).comparable


def test_a_count_brings_a_node_to_one_gpu() -> None:
    node = Claim("7.2 TB/s/bidir", scope="GPU", count=4)
    assert check_claim(node, Claim("900 GB/s/dir", scope="GPU")).ratio == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("precision", "fp8", "bf16"),
        ("sparsity", "sparse", "dense"),
        ("fec", "pre-FEC", "post-FEC"),
        ("rate_kind", "bus", "algorithm"),
        ("scope", "lane", "link"),
    ],
)
def test_conventions_without_a_factor_do_not_compare(name: str, one: str, two: str) -> None:
    left, right = Claim("10 W", **{name: one}), Claim("5 W", **{name: two})
    assert check_claim(left, right).verdict == "convention-dependent"
    found = check_claim(left, right, 2)
    assert found.verdict == "inconsistent"
    assert not found.comparable
    assert one in found.sentence


def test_requests_and_tokens_are_of_two_kinds() -> None:
    found = check_claim("100e3 request/s", "2000 token/s", 50)
    assert found.verdict == "inconsistent"
    assert not found.comparable
    assert math.isnan(found.ratio)
    assert "token" in found.sentence


def test_numbers_without_units_are_sent_back() -> None:
    """K008: 900 against 800."""
    found = check_claim(900, "800", 1.125)
    assert found.verdict == "unverifiable"
    assert found.naive_ratio == pytest.approx(1.125)
    assert "the ratio is 9" in found.sentence


def test_links_data_and_quantities_are_sides_too() -> None:
    nvlink, xdr = sm.catalog.link("nvlink5"), sm.catalog.link("xdr")
    assert check_claim(nvlink, xdr, 9).verdict == "ok"
    peak = sm.catalog.accelerator("H100 SXM").peak
    assert not check_claim(peak("bf16"), peak("bf16", sparsity="sparse")).comparable
    assert check_claim(sm.Q_("2 GB"), "1 GB").ratio == pytest.approx(2)
    road = Datum(value=5, unit="pJ/bit", source="t", date="2026", kind="roadmap", scope="module")
    assert "announced" in check_claim(road, Claim("15 pJ/bit", scope="module")).cautions[0]


def test_a_claim_does_not_contradict_itself() -> None:
    with pytest.raises(ConventionError, match="both direction"):
        Claim("1.8 TB/s/bidir", direction="one")
    with pytest.raises(ConventionError, match="data sheet"):
        Claim("100 GB/s", derating=1.2)


@settings(max_examples=25, deadline=None)
@given(st.floats(1, 1e6), st.floats(1, 1e6))
def test_naming_the_true_ratio_is_never_wrong(left: float, right: float) -> None:
    one, two = f"{left:.6g} GB/s/dir", f"{right:.6g} Gb/s/dir"
    true = 8 * float(f"{left:.6g}") / float(f"{right:.6g}")
    found = check_claim(one, two, ratio=true)
    assert found.verdict == "ok"
    assert found.ratio == pytest.approx(true)
    off = check_claim(one, two, ratio=true * 1.7)
    assert off.verdict in ("wrong", "rounding")
    assert check_claim(two, one).ratio == pytest.approx(1 / true)


def test_error_ratios_on_two_sides_of_the_fec_are_not_of_one_kind() -> None:
    after, before = sm.Claim("1e-15", fec="post-FEC"), sm.Claim("1e-12", fec="pre-FEC")
    found = sm.check_claim(after, before)
    assert found.verdict == "convention-dependent"
    assert not found.comparable
    assert "FEC side is post-FEC on one side, pre-FEC on the other" in found.sentence
    assert "GB/s" not in str(found)
    assert sm.check_claim(after, before, ratio="0.001").verdict == "inconsistent"
    same = sm.check_claim(after, sm.Claim("1e-12", fec="post-FEC"), ratio="0.001")
    assert same.verdict == "ok"
    silent = sm.check_claim(after, "1e-12")
    assert silent.verdict == "unverifiable"
    assert "1e-12 does not say whether it is before or after FEC" in silent.sentence
