"""Comparison: like for like, and what the naive digits would have claimed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemath.core.datum import Datum
from scalemath.core.errors import ConventionError, UnitsError
from scalemath.hardware.comparison import compare, naive_digits
from scalemath.hardware.link import Link
from scalemath.hardware.port import Port
from scalemath.units import Q_


@pytest.mark.parametrize(
    ("left", "right", "ratio", "naive", "undirected"),
    [
        ("900 GB/s", "800 Gb/s", 9, 1.125, 9),
        ("1.8 TB/s/bidir", "800 Gb/s/dir", 9, 2.25, 18),
        ("7.2 TB/s/bidir", "0.4 TB/s/dir", 9, 18, 18),
        ("129.6 TB/s/bidir", "51.2 Tb/s/dir", 10.125, 2.53125, 20.25),
        ("130 TB/s/bidir", "51.2 Tb/s/dir", 10.15625, 2.5390625, 20.3125),
        ("50 GB/s", "25 Gb/s", 16, 2, 16),
        ("0.4 TB/s/dir", "7.2 TB/s/bidir", 1 / 9, 1 / 18, 1 / 18),
    ],
)
def test_ratios_of_the_articles(
    left: str, right: str, ratio: float, naive: float, undirected: float
) -> None:
    found = compare(left, right)
    assert found.ratio == pytest.approx(ratio, rel=1e-9)
    assert found.naive_ratio == pytest.approx(naive, rel=1e-9)
    assert found.undirected_ratio == pytest.approx(undirected, rel=1e-9)
    assert found.misleading
    assert found.reasons


def test_links_and_ports_compare_by_their_payload_rate() -> None:
    nvlink = Link(name="NVLink 5", links=18, per_link="100 GB/s/bidir")
    xdr = Link(name="XDR", bandwidth="800 Gb/s/dir")
    assert compare(nvlink, xdr).ratio == pytest.approx(9)
    assert compare(Port(link=nvlink), xdr).ratio == pytest.approx(9)
    assert "NVLink 5" in str(compare(nvlink, xdr))


def test_both_sides_bare_is_an_assumption_one_side_bare_an_error() -> None:
    assert "per direction" in compare("900 GB/s", "800 Gb/s").assumptions[0]
    assert not compare("900 GB/s/dir", "800 Gb/s/dir").assumptions
    with pytest.raises(ConventionError, match="direction"):
        compare("900 GB/s/dir", "800 Gb/s")


def test_honest_digits_are_not_called_misleading() -> None:
    found = compare("12 W", "9 W")
    assert not found.misleading
    assert "digits" not in str(found)


def test_unlike_quantities_raise() -> None:
    with pytest.raises(UnitsError):
        compare("900 GB/s", "3 us")


def told(value: float, unit: str, **said: str) -> Datum:
    return Datum(value=value, unit=unit, source="test", date="2026", **said)


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [
        ("scope", "lane", "link"),
        ("latency_kind", "one-way", "round-trip"),
        ("precision", "fp8", "bf16"),
        ("sparsity", "sparse", "dense"),
        ("fec", "pre-FEC", "post-FEC"),
        ("rate_kind", "raw", "usable"),
    ],
)
def test_data_of_different_conventions_do_not_compare(name: str, ours: str, theirs: str) -> None:
    with pytest.raises(ConventionError, match=ours):
        compare(told(12, "W", **{name: ours}), told(1, "W", **{name: theirs}))
    same = compare(told(12, "W", **{name: ours}), told(1, "W", **{name: ours}))
    assert same.ratio == pytest.approx(12)


def test_explain_shows_one_unit_and_the_reasons() -> None:
    text = compare("7.2 TB/s/bidir", "3200 Gb/s/dir").explain()
    assert "3.6 TB/s/dir against 0.4 TB/s/dir" in text
    assert "factor of 2" in text
    assert "factor of 8" in text


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_ratio_is_antisymmetric_and_naive_ignores_bits(left: float, right: float) -> None:
    ours, theirs = Q_(left, "GB/s/dir"), Q_(right, "Gbit/s/dir")
    forth, back = compare(ours, theirs), compare(theirs, ours)
    assert forth.ratio * back.ratio == pytest.approx(1, rel=1e-12)
    assert forth.ratio == pytest.approx(8 * left / right, rel=1e-12)
    assert forth.naive_ratio == pytest.approx(left / right, rel=1e-12)


def test_naive_digits_keep_the_prefix_only() -> None:
    assert naive_digits(Q_("900 GB/s/dir")) == naive_digits(Q_("900 Gb/s")) == 9e11
    assert naive_digits(Q_("2 us")) == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("left", "right"), [("900", "800"), ("900 GB/s", "800"), ("1.8", "1 TB/s")]
)
def test_numbers_without_units_are_refused(left: str, right: str) -> None:
    with pytest.raises(UnitsError, match="has no unit.*write the units"):
        compare(left, right)
