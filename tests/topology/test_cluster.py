"""Clusters: counts, the two networks compared, placements, power."""

from __future__ import annotations

from typing import Any

import pytest

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.hardware.link import Link
from scalemath.hardware.node import Node
from scalemath.topology.cluster import Cluster
from scalemath.topology.fat_tree import FatTree
from scalemath.topology.systems import dgx_superpod, nvl72, nvl72_domain


def server(**change: Any) -> Node:
    link = Link(technology="NVLink", links=18, per_link="25 GB/s/dir")
    return Node(**{"accelerators": 8, "nics": 8, "nic_rate": "50 GB/s/dir", "link": link, **change})


@pytest.mark.parametrize(
    ("units", "nodes", "switches", "cables"),
    [
        (1, 31, (8, 4), 508),
        (2, 63, (16, 8), 1020),
        (3, 95, (24, 16), 1532),
        (4, 127, (32, 16), 2044),
        (4, None, (32, 16), 2048),
        (8, None, (64, 32), 4096),
        (16, None, (128, 128, 64), 12288),
        (64, None, (512, 512, 256), 49152),
    ],
)
def test_superpods(units: int, nodes: int | None, switches: tuple[int, ...], cables: int) -> None:
    cluster = dgx_superpod(units, nodes=nodes)
    assert cluster.fabric is not None
    assert tuple(cluster.fabric.switches.values()) == switches
    assert cluster.fabric.links.total == cables


def test_eight_racks_make_a_unit() -> None:
    cluster = nvl72(8)
    assert cluster.accelerators == 576
    assert cluster.counts["trays"] == 144
    assert cluster.counts["scale_up_switches"] == 144
    assert cluster.domains == 8
    assert "576 accelerators" in str(cluster)


@pytest.mark.parametrize(("rate", "ratio"), [("800 Gb/s/dir", 9), ("400 Gb/s/dir", 18)])
def test_both_networks_like_for_like(rate: str, ratio: int) -> None:
    found = nvl72(8, nic_rate=rate).compare_tiers()
    assert set(found) == {"accelerator", "tray", "rack", "cluster"}
    assert all(c.ratio == pytest.approx(ratio) for c in found.values())
    tray = found["tray"]
    assert tray.scale_up.m_as("TB/s/bidir") == pytest.approx(7.2)
    assert tray.scale_out.m_as("TB/s/dir") == pytest.approx(3.6 / ratio)
    assert found["rack"].scale_up.m_as("TB/s/bidir") == pytest.approx(129.6)
    assert f"ratio {ratio}" in str(tray)


def test_placement_of_nine_servers() -> None:
    placement = dgx_superpod(4).placement(nodes=9, nic_latency="2 us")
    low = placement.lower()
    assert (low.ranks, low.domain, low.nics_per_node) == (72, 8, 8)
    assert (low.domain_bandwidth, low.nic_bandwidth) == (450e9, 50e9)
    assert low.nic_latency == pytest.approx(2e-6)
    assert dgx_superpod(4).placement(ranks_per_node=4).ranks == 512


def test_placement_of_racks() -> None:
    low = nvl72(8).placement().lower()
    assert (low.domain, low.domains, low.nics_per_domain) == (72, 8, 72)
    assert (low.domain_bandwidth, low.nic_bandwidth) == (900e9, 100e9)


def test_the_fabric_limits_an_interface_under_its_traffic() -> None:
    fabric = FatTree(endpoints=576, radix=48, oversubscription=2, port_rate="400 Gb/s")
    cluster = Cluster(nodes=72, node=server(), fabric=fabric)
    assert cluster.placement().lower().nic_bandwidth == 50e9
    assert cluster.placement(traffic="worst permutation").lower().nic_bandwidth == 25e9
    assert cluster.lower("uniform").fabric_bandwidth == pytest.approx(26.42463e9, rel=1e-6)


def test_power_of_a_cluster() -> None:
    """100,000 GPUs in racks of 142 kW: 2.43 % and 3.65 % of the power goes into modules."""
    racks = 100_000 / 72 * 142e3
    two = FatTree(endpoints=100_000, radix=512, tiers=2)
    three = FatTree(endpoints=100_000, radix=512, tiers=3)
    for fabric, megawatts, share in ((two, 4.8, 2.43380), (three, 7.2, 3.65070)):
        power = fabric.power(transceiver="12 W", ideal=True)
        assert power.it_power.m_as("MW") == pytest.approx(megawatts)
        assert 100 * power.share_of(f"{racks} W") == pytest.approx(share, rel=1e-5)


def test_power_is_counted_once() -> None:
    cluster = dgx_superpod(4)
    found = cluster.power(node_power="10.2 kW", usage_effectiveness=1.3, transceiver="12 W")
    fabric = 12 * cluster.fabric.transceivers().total  # type: ignore[union-attr]
    assert found.it_power.m_as("W") == pytest.approx(128 * 10200 + fabric)
    assert found.facility_power.m_as("W") == pytest.approx(1.3 * (128 * 10200 + fabric))
    assert found.interconnect_share == pytest.approx(fabric / (128 * 10200 + fabric))
    assert "PUE 1.3" in str(found)
    alone = cluster.power(accelerator_power="700 W")
    assert alone.it_power.m_as("kW") == pytest.approx(1024 * 0.7)
    assert "TDP" in alone.cautions[0]
    with pytest.raises(ContradictionError, match="twice"):
        cluster.power(accelerator_power="700 W", node_power="10 kW")
    with pytest.raises(RangeError, match="PUE"):
        cluster.power(node_power="10 kW", usage_effectiveness=0.9)
    with pytest.raises(ArgumentError, match="no power"):
        cluster.power()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"names": ("r1", "r2", "r1", "r3")}, "'r1' is listed 2 times"),
    ({"names": ("r1", "r2")}, "2 names for 4 nodes"),
    ({"nodes": 0}, "nodes"),
    ({"fabric": FatTree(endpoints=16, radix=16)}, "32, but the fabric has 16"),
    ({"scale_up": nvl72_domain()}, "72 endpoints"),
    ({"trays_per_node": 3}, "3 trays"),
    ({"node": "a box"}, "Node or a Rack"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(Exception, match=words):
        Cluster(**{"nodes": 4, "node": server(), **change})


def test_placement_stays_inside_the_cluster() -> None:
    cluster = Cluster(nodes=4, node=server())
    with pytest.raises(RangeError, match="nodes is 5; the cluster has 4"):
        cluster.placement(nodes=5)
    with pytest.raises(RangeError, match="ranks_per_node is 9"):
        cluster.placement(ranks_per_node=9)
    with pytest.raises(ArgumentError, match="scale-up link"):
        Cluster(nodes=4, node=server(link=None)).compare_tiers()
