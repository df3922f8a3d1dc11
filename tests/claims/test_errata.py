"""What catches each erratum at its root: a type, a contradiction, a placement, a verdict."""

from __future__ import annotations

import pytest

import scalemath as sm
from scalemath.claims import Claim, check_claim
from scalemath.core.datum import Datum
from scalemath.core.errors import ContradictionError, ConventionError, UnitsError


def told(value: float, unit: str, **said: str) -> Datum:
    return Datum(value=value, unit=unit, source="article", date="2025", **said)


def test_e01_links_do_not_close() -> None:
    with pytest.raises(ContradictionError, match="1800"):
        sm.Link(links=18, per_link="100 GB/s/dir", bandwidth="900 GB/s/dir")


def test_e02_bits_do_not_become_bytes_and_a_node_is_no_rank() -> None:
    assert sm.Q_("800 Gb/s").m_as("GB/s") == 100
    node = told(800, "GB/s/dir", scope="node")
    with pytest.raises(ConventionError, match="node"):
        sm.allreduce(size="2 GiB", ranks=72, bandwidth=node)
    per_gpu = told(100, "GB/s/dir", scope="GPU")
    time = sm.allreduce(size="2147483648 byte", ranks=72, bandwidth=per_gpu).time
    assert time.m_as("ms") == pytest.approx(42.3531, rel=1e-5)


def test_e10_a_round_trip_is_no_latency() -> None:
    trip = told(2, "us", latency_kind="round-trip")
    with pytest.raises(ConventionError, match="round-trip"):
        sm.allreduce(size="2 GiB", ranks=72, bandwidth="100 GB/s/dir", latency=trip)
    with pytest.raises(ConventionError, match="latency kind"):
        sm.compare(trip, told(0.2, "us", latency_kind="one-way"))


def test_e13_a_lane_is_no_link() -> None:
    with pytest.raises(ConventionError, match="lane"):
        sm.compare(told(12, "W", scope="link"), told(0.9, "W", scope="lane"))


def test_e19_e20_derating_one_side_is_flagged() -> None:
    half = Claim("450 GB/s/dir", derating=0.5, derating_source="half-duplex")
    assert check_claim(half, "100 GB/s/dir", 4.5).verdict == "inconsistent"


def test_e32_requests_are_no_tokens() -> None:
    with pytest.raises(UnitsError, match="token"):
        sm.Q_("100e3 request/s").to("token/s")


def test_e34_three_orders_for_one_latency() -> None:
    """5 to 15 us in article B, 1.5 to 2.5 us as a round trip in article A."""
    tuned = Claim("5 us", "RoCE, article B")
    verbs = Claim("2.5 us", "RoCE, article A", latency_kind="round-trip")
    assert check_claim(tuned, verbs, 1).verdict == "wrong"
    assert check_claim(tuned, verbs).ratio >= 4


def test_e35_pcie_derated_against_infiniband_at_line_rate() -> None:
    pcie = sm.catalog.link("pcie5")
    hdr = sm.catalog.link("hdr")
    share = 50 / pcie.bandwidth.m_as("GB/s/dir")
    found = check_claim(Claim("50 GB/s/dir", derating=share), hdr, 2)
    assert found.verdict == "inconsistent"
    assert found.ratio == pytest.approx(sm.compare(pcie, hdr).ratio)


def test_e40_the_catalogue_knows_which_interface_a_rack_has() -> None:
    assert sm.catalog.record("rack", "gb200-nvl72").facts["nic"] == "connectx-7"
    assert sm.catalog.record("rack", "gb300-nvl72").facts["nic"] == "connectx-8"


def test_e41_both_directions_over_one() -> None:
    assert check_claim("7.2 TB/s/bidir", "0.4 TB/s/dir", 18).verdict == "wrong"
    with pytest.raises(UnitsError, match="direction"):
        _ = sm.Q_("7.2 TB/s/bidir") + sm.Q_("0.4 TB/s")


def test_e46_sparse_fp8_is_not_dense_bf16() -> None:
    rack = sm.catalog.rack("GB200 NVL72")
    hgx = sm.Rack(accelerators=72, accelerator=sm.catalog.accelerator("B200"))
    with pytest.raises(ConventionError, match="precision"):
        sm.compare(rack.peak("fp8", sparsity="sparse"), hgx.peak("bf16"))
    ratio = sm.compare(rack.peak("bf16"), hgx.peak("bf16")).ratio
    assert ratio == pytest.approx(2.5 / 2.25)


def test_e48_memory_by_the_board() -> None:
    rack = sm.catalog.rack("GB200 NVL72")
    assert rack.memory_of("HBM").m_as("TB") == pytest.approx(72 * 0.186)
    assert rack.memory_pool().cautions
