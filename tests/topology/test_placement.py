"""Placement: counts, lowering and what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError, UnitsError
from scalemath.topology.placement import Placement

NINE: dict[str, Any] = {
    "nodes": 9,
    "ranks_per_node": 8,
    "nics_per_node": 8,
    "domain_bandwidth": "900 GB/s/dir",
    "nic_bandwidth": "100 GB/s/dir",
}


def test_nine_servers() -> None:
    low = Placement(**NINE, domain_latency="200 ns", nic_latency="2 us").lower()
    assert (low.ranks, low.domain, low.domains, low.nics_per_domain) == (72, 8, 9, 8)
    assert low.domain_bandwidth == 900e9
    assert low.nic_bandwidth == 100e9
    assert low.domain_latency == pytest.approx(2e-7)


def test_hierarchical_bandwidth_is_the_least_of_port_and_all_interfaces() -> None:
    assert Placement(**NINE).hierarchical_bandwidth.m_as("GB/s/dir") == 800
    racks = Placement(
        nodes=144,
        ranks_per_node=4,
        domain=72,
        nics_per_node=4,
        domain_bandwidth="1.8 TB/s/bidir",
        nic_bandwidth="800 Gb/s/dir",
    )
    assert racks.hierarchical_bandwidth.m_as("GB/s/dir") == 900
    assert (racks.domains, racks.lower().nics_per_domain) == (8, 72)


def test_bidirectional_is_halved_and_efficiency_applied() -> None:
    given = {**NINE, "domain_bandwidth": "1.8 TB/s/bidir", "nic_efficiency": 0.8}
    low = Placement(**given).lower()
    assert low.domain_bandwidth == 900e9
    assert low.nic_bandwidth == pytest.approx(80e9)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"nodes": 0}, RangeError, "nodes"),
        ({"nodes": 2.5}, RangeError, "nodes"),
        ({"ranks_per_node": True}, ArgumentError, "ranks_per_node"),
        ({"domain": 12}, ContradictionError, "domain=8"),
        ({"domain": 16}, ContradictionError, "nodes=8"),
        ({"domain": 3}, ContradictionError, "whole number"),
        ({"domain_bandwidth": 900}, UnitsError, "domain_bandwidth"),
        ({"domain_bandwidth": None}, RangeError, "domain_bandwidth"),
        ({"nic_bandwidth": None}, RangeError, "nic_bandwidth"),
        ({"nic_efficiency": 1.2}, RangeError, "nic_efficiency"),
    ],
)
def test_refused(change: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Placement(**{**NINE, **change})


def test_equal_copies_and_pickles() -> None:
    one = Placement(**NINE)
    assert one == Placement(**{**NINE, "nic_bandwidth": "800 Gb/s"})
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.with_(nodes=3).ranks == 24
    assert "9 nodes" in str(one)
    assert "nic efficiency 0.5 (given)" in one.with_(nic_efficiency=0.5).assumptions()
