"""Edges of kernels and classes that whole systems do not reach."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.hardware.fields import si
from scalemath.hardware.nic import Nic
from scalemath.hardware.node import Node, Rack
from scalemath.kernels import direct_networks as direct
from scalemath.kernels import energy, fat_tree, fec, latency_budget
from scalemath.topology.cluster import Cluster
from scalemath.topology.counts import Counts
from scalemath.topology.dragonfly import Dragonfly
from scalemath.topology.fat_tree import FatTree
from scalemath.topology.full_mesh import FullMesh
from scalemath.topology.latency import endpoint_latency
from scalemath.topology.slim_fly import SlimFly
from scalemath.topology.switched_domain import SwitchedDomain
from scalemath.topology.systems import dgx_superpod, hgx_domain, nvl72, nvlink
from scalemath.topology.torus import Torus
from scalemath.topology.traffic import traffic

LAYOUT = (64.0, 1.0, 1.0, 3.0, 4.0, 4.0, 8.0, 1.0, 0.0, 0.0)


def layout(**change: float) -> fat_tree.FatTreeLayout:
    names = [
        "endpoints",
        "rails",
        "homes",
        "tiers",
        "leaf_down",
        "leaf_up",
        "spine_radix",
        "spine_oversubscription",
        "leaves_per_pod",
        "spines_per_pod",
    ]
    return fat_tree.fat_tree_layout(**{**dict(zip(names, LAYOUT, strict=True)), **change})


def test_a_layout_by_hand() -> None:
    """64 endpoints under 16 leaves, 4 pods of 4 leaves and 4 spines, 8 cores of 8 ports."""
    assert layout() == (16, 16, 8, 4, 4, 4, 4, 4)


@pytest.mark.parametrize(
    "change",
    [
        {"endpoints": 0.0},
        {"endpoints": 1e13},
        {"leaf_down": 0.0},
        {"leaf_up": 0.0},
        {"tiers": 1.0},
        {"spine_radix": 1.0},
        {"spine_oversubscription": 1e-3},
        {"leaves_per_pod": 12.0},
        {"spines_per_pod": 1.0},
        {"endpoints": 1000.0, "leaves_per_pod": 1.0},
        {"tiers": 2.0, "leaf_up": 1.0},
    ],
    ids=str,
)
def test_layouts_that_cannot_be_built(change: dict[str, float]) -> None:
    assert set(layout(**change)) == {math.inf}


def test_kernels_at_their_ends() -> None:
    assert fat_tree.smallest_divisor(12.0, 13.0) == math.inf
    assert fat_tree.smallest_divisor(1e10, 1.0) == math.inf
    assert fat_tree.tier_uplinks(1e13, 1.0) == 0
    assert fat_tree.tier_downlinks(4.0, 9.0) == 0
    assert fat_tree.ideal_links(100_000.0, 3.0, 1.0) == 300_000
    assert fat_tree.fat_tree_tiers(1e9, 64.0, 1.0) == math.inf
    assert direct.torus_cut_links(4.0, 1.0, 1.0) == math.inf
    assert direct.torus_dimension_load(1.0, 1.0) == 0
    assert direct.hyperx_cut_links(4.0, 1.0, 1.0) == math.inf
    assert direct.hyperx_dimension_load(1.0, 1.0, 4.0) == 0
    assert direct.dragonfly_bisection_links(1.0, 6.0, 2.0) == 9
    assert direct.dragonfly_load(4.0, 1.0, 2.0, 3.0) == pytest.approx(2 * 6 / 7 / 3)
    assert direct.dragonfly_valiant_load(4.0, 1.0, 2.0, 3.0) == pytest.approx(1.0)
    assert direct.slim_fly_degree(6.0) == math.inf
    assert fec.symbol_error_rate(1.0, 10.0) == 1
    assert latency_budget.round_trip(3.0) == 6
    assert energy.power_share(1.0, 4.0) == 0.25


def test_counts_show_and_compare() -> None:
    counts = Counts(leaf_spine=2, spine=1)
    assert str(counts) == "3 (2 leaf-spine, 1 spine)"
    assert repr(counts) == "Counts(leaf_spine=2, spine=1)"
    assert counts == {"leaf_spine": 2, "spine": 1}
    assert hash(counts) == hash(Counts(leaf_spine=2, spine=1))
    with pytest.raises(KeyError, match="leaf_spine, spine"):
        counts["core"]
    with pytest.raises(KeyError, match="nothing"):
        Counts()["core"]


def test_clusters_with_parts_left_out() -> None:
    bare = Cluster(nodes=4, node=Node(accelerators=8))
    assert bare.placement(nodes=1, ranks_per_node=1).ranks == 1
    assert bare.counts["nics"] == 0
    rack = Cluster(nodes=2, node=Rack(accelerators=72, nics=72))
    assert rack.lower().nic_bandwidth == 0
    wired = Cluster(
        nodes=2, node=Node(accelerators=8, nics=8),
        fabric=FatTree(endpoints=16, radix=16, port_rate="400 Gb/s"),
    )  # fmt: skip
    assert wired.lower().nic_bandwidth == 50e9
    assert "fat tree" in str(wired)
    assert wired.with_(nodes=1).accelerators == 8
    scale_up = Cluster(nodes=2, node=Node(accelerators=8, nics=8, domain=8), scale_up=hgx_domain())
    assert scale_up.lower().domain_bandwidth == 450e9
    with pytest.raises(ArgumentError, match="has none"):
        bare.power(node_power="1 kW", transceiver="12 W")
    tier = nvl72().compare_tiers()["rack"]
    assert tier.scale_up.m_as("TB/s/dir") == pytest.approx(64.8)


def test_systems_name_what_they_know() -> None:
    with pytest.raises(RangeError, match="3, 4 or 5"):
        nvlink(6)
    with pytest.raises(ArgumentError, match="A100, H100"):
        hgx_domain("X100")
    with pytest.raises(ArgumentError, match="H100, H200, B200"):
        dgx_superpod(4, "A100")
    with pytest.raises(RangeError, match="at least 1"):
        dgx_superpod(0)


def test_small_answers() -> None:
    assert si(Nic(port_rate="400 Gb/s/dir"), "ports") == 1
    mesh = FullMesh(endpoints=4, link_rate="50 GB/s/dir")
    assert (mesh.switches.total, mesh.ports, mesh.port_rate.m_as("GB/s/dir")) == (0, {}, 150)
    torus = Torus(shape=(4, 4), link_rate="50 GB/s/dir")
    assert (torus.switches.total, torus.ports, torus.port_rate.m_as("GB/s/dir")) == (0, {}, 200)
    assert torus.bill_of_materials().links.total == 32
    assert str(Torus(shape=(5,))) == "ring of 5 endpoints"
    one = Torus(shape=(1,), link_rate="50 GB/s/dir")
    assert one.lower_bisection() == 0
    assert one.effective_bandwidth("uniform").m_as("GB/s/dir") == 0
    assert str(mesh.graph()) == "graph of 4 endpoints, 0 switches, 6 links"
    with pytest.raises(RangeError, match="at least 1"):
        traffic("incast", 0)
    with pytest.raises(RangeError, match="no endpoint -1"):
        mesh.hops(-1, 0)
    assert endpoint_latency("200 ns", "100 ns").m_as("us") == 0
    assert (
        "2 of at most 9 groups"
        in Dragonfly(
            groups=2, routers_per_group=4, endpoints_per_router=2, global_ports=2
        ).describe_size()
    )


@pytest.mark.parametrize(
    "fabric",
    [
        FatTree(endpoints=100, radix=16, oversubscription=3, port_rate="400 Gb/s"),
        Torus(shape=(4, 4), link_rate="50 GB/s/dir"),
        Dragonfly(groups=3, routers_per_group=4, endpoints_per_router=2, global_ports=2),
        SlimFly(order=5),
        hgx_domain(),
        dgx_superpod(2),
    ],
    ids=lambda f: type(f).__name__,
)
def test_copies_are_equal(fabric: Any) -> None:
    again = pickle.loads(pickle.dumps(fabric))
    assert again == fabric == copy.deepcopy(fabric)
    assert hash(again) == hash(fabric)
    assert str(again) == str(fabric)


def test_a_domain_without_trays() -> None:
    domain = SwitchedDomain(
        endpoints=8, links_per_endpoint=6, switch_chips=3, ports_per_chip=16, port_rate="300 GB/s"
    )
    assert dict(domain.trays) == {}
    assert set(domain.differential_pairs) == {"link", "endpoint", "domain"}
    assert set(domain.bandwidth) == {"endpoint", "chip", "domain"}
    assert sum(e.links for e in domain.graph().edges) == 48
    with pytest.raises(ContradictionError, match="would not meet"):
        SwitchedDomain(endpoints=2, links_per_endpoint=1, switch_chips=2, ports_per_chip=2)
