"""From data sheet to usable: within a hop shares multiply, across hops the least counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath.claims import Derating, check_claim, derate, least_of
from scalemath.core.errors import ArgumentError, RangeError, UnitsError
from scalemath.core.value_range import Range


def gigabytes(rate: object) -> float:
    return rate.m_as("GB/s/dir")


def test_roce_at_60_to_90_percent() -> None:
    found = derate("100 GB/s/dir", {"protocol": (Range(0.6, 0.9), "RoCE under collectives")})
    assert (gigabytes(found.bandwidth.low), gigabytes(found.bandwidth.high)) == (60, 90)
    assert found.share == (pytest.approx(0.6), pytest.approx(0.9))
    assert "60 GB/s/dir to 90 GB/s/dir" in str(found)


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ({"oversubscription": ("2:1", "design"), "protocol": (0.8, "measured")}, 40),
        ({"oversubscription": ("4:1", "design")}, 25),
        ({"protocol": (0.95, "SHARP")}, 95),
        ({}, 100),
        ({"encoding": ("128/130", "PCIe")}, 100 * 128 / 130),
    ],
)
def test_shares_within_a_hop_multiply(steps: dict[str, tuple[object, str]], left: float) -> None:
    assert gigabytes(derate("100 GB/s/dir", steps).bandwidth) == pytest.approx(left)


def test_the_order_of_the_stages_is_from_wire_to_fabric() -> None:
    found = derate(
        "100 GB/s/dir",
        [Derating("oversubscription", "2:1", "design"), Derating("encoding", 0.5, "code")],
    )
    assert [step.stage for step in found.steps] == ["encoding", "oversubscription"]
    assert "encoding: code" in found.explain()


def test_across_hops_the_least_counts_and_the_product_is_only_given_when_asked() -> None:
    hop = derate("100 GB/s/dir", {"protocol": (0.9, "measured")})
    path = least_of([hop, hop, hop])
    assert gigabytes(path.bandwidth) == pytest.approx(90)
    assert path.product_of_shares() == pytest.approx(0.729)
    slow = derate("50 GB/s/dir", {"congestion": (Range(0.5, 1.0), "static hashing")})
    mixed = least_of([hop, slow])
    assert (gigabytes(mixed.low), gigabytes(mixed.high)) == (25, 50)
    assert "hop 2 of 2" in str(mixed)


def test_nothing_is_faster_than_its_data_sheet() -> None:
    with pytest.raises(RangeError, match="data sheet"):
        derate("100 GB/s/dir", {"protocol": (1.05, "marketing")})
    with pytest.raises(RangeError):
        Derating("oversubscription", "1:2", "design")
    with pytest.raises(ValueError, match="stage"):
        Derating("luck", 0.5, "none")
    with pytest.raises(ValueError, match="source"):
        Derating("protocol", 0.5, "")
    with pytest.raises(ArgumentError, match="once"):
        derate("1 GB/s/dir", [Derating("protocol", 0.5, "a"), Derating("protocol", 0.5, "b")])
    with pytest.raises(ArgumentError, match="low end"):
        Derating("protocol", Range(0.9, 0.6), "swapped")
    with pytest.raises(ArgumentError, match="hop"):
        least_of([])
    with pytest.raises(UnitsError):
        derate("100 GB", {})


def test_a_bare_rate_is_taken_per_direction_and_says_so() -> None:
    assert "per direction" in derate("100 GB/s").assumptions[0]
    assert gigabytes(derate("200 GB/s/bidir").bandwidth) == 100


def test_a_link_is_derated_by_its_payload_rate() -> None:
    found = derate(sm.catalog.link("pcie5"), {"protocol": (256 / 280, "headers of 24 B")})
    assert gigabytes(found.bandwidth) == pytest.approx(57.6141, rel=1e-5)


def test_a_derated_rate_keeps_its_share_when_it_is_compared() -> None:
    ours = derate("100 GB/s/dir", {"protocol": (0.8, "tuned RoCE")})
    found = check_claim("900 GB/s/dir", ours, 11.25)
    assert found.verdict == "inconsistent"
    assert found.ratio == pytest.approx(9)
    alike = derate("900 GB/s/dir", {"protocol": (0.8, "measured")})
    assert check_claim(alike, ours, 9).verdict == "ok"


shares = st.floats(0.01, 1)


@settings(max_examples=25, deadline=None)
@given(st.lists(shares, min_size=1, max_size=4), st.floats(1, 1e4))
def test_what_is_left_is_never_more_than_before_nor_than_the_slowest_hop(
    parts: list[float], rate: float
) -> None:
    stages = ("encoding", "protocol", "congestion", "oversubscription")
    hop = derate(f"{rate!r} GB/s/dir", {s: (p, "t") for s, p in zip(stages, parts, strict=False)})
    product = 1.0
    for part in parts:
        product *= part
    assert gigabytes(hop.bandwidth) == pytest.approx(rate * product)
    assert gigabytes(hop.bandwidth) <= rate * (1 + 1e-12)
    other = derate(f"{rate!r} GB/s/dir")
    assert gigabytes(least_of([other, hop]).bandwidth) == pytest.approx(gigabytes(hop.bandwidth))
