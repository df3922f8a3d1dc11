"""Measured shares: a median with its spread and sources, never from the log it is scored on."""

from __future__ import annotations

import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError


def test_ring_on_nvlink4_is_the_published_share() -> None:
    share = sm.catalog.efficiency("nvlink4", "allreduce")
    assert share.value == pytest.approx(367.2 / 450, abs=1e-4)
    assert share.kind == "measured"
    assert "H200" in share.source
    assert share.date


def test_spread_and_median_of_two_logs() -> None:
    share = sm.catalog.efficiency("infiniband-hdr", "allreduce")
    assert (share.low, share.high) == (
        pytest.approx(0.9427, abs=1e-4),
        pytest.approx(0.9553, abs=1e-4),
    )
    assert share.low <= share.value <= share.high
    assert "2 measurements" in share.note


def test_a_log_does_not_inform_its_own_prediction() -> None:
    log = "a100_dgx_4n32g_ib_hdr8_allreduce_oldcols"
    left = sm.catalog.efficiency("infiniband-hdr", "allreduce", leave_out=(log,))
    assert left.value == pytest.approx(188.53 / 200, abs=1e-4)
    both = (log, "a100_dgx_2n16g_ib_hdr8_allreduce_oldcols")
    with pytest.raises(ArgumentError, match="is left"):
        sm.catalog.efficiency("infiniband-hdr", "allreduce", leave_out=both)


def test_in_network_reduction_may_pass_the_wire_and_a_two_node_tree_is_no_default() -> None:
    assert sm.catalog.efficiency("nvlink4", in_network=True).value > 1
    assert sm.catalog.efficiency("nvlink5", in_network=True).value < 1.05
    assert sm.catalog.efficiency("400GbE").high <= 1


def test_unknown_collective_lists_what_is_known() -> None:
    with pytest.raises(ArgumentError, match="allreduce"):
        sm.catalog.efficiency("nvlink3", "alltoall")
