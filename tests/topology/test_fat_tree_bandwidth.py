"""Effective bandwidth of fat trees against flows on their explicit graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.flows import (
    best_rate,
    cut_rate,
    groups_uniform,
    in_leaf_order,
    rotation,
    routed_rate,
    uniform,
)

import scalemath as sm
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.topology.fat_tree import FatTree

PORT = 100e9

SMALL: dict[str, dict[str, Any]] = {
    "one switch": {"endpoints": 8, "radix": 8},
    "two tiers full": {"endpoints": 32, "radix": 8},
    "two tiers, 2:1": {"endpoints": 24, "radix": 6, "oversubscription": 2},
    "two tiers, 3:1, partly filled": {"endpoints": 29, "radix": 8, "oversubscription": 3},
    "two leaves, uneven": {"endpoints": 9, "radix": 12, "oversubscription": 2},
    "two planes, 2:1": {"endpoints": 16, "radix": 6, "oversubscription": 2, "planes": 2},
    "four rails": {"endpoints": 32, "radix": 8, "rails": 4},
    "two rails, 3:1": {"endpoints": 36, "radix": 8, "rails": 2, "oversubscription": 3},
    "dual ToR": {"endpoints": 16, "radix": 8, "homes": 2, "tiers": 2},
    "fast uplinks": {
        "endpoints": 24,
        "radix": 8,
        "port_rate": "800 Gb/s",
        "uplink_rate": "1600 Gb/s",
        "endpoints_per_leaf": 6,
        "uplinks_per_leaf": 1,
    },
    "three tiers full": {"endpoints": 54, "radix": 6},
    "three tiers, partly filled": {"endpoints": 40, "radix": 6, "tiers": 3},
    "three tiers, 2:1 at the leaf": {"endpoints": 48, "radix": 6, "oversubscription": 2},
    "three tiers, 2:1 at the spine": {"endpoints": 48, "radix": 6, "oversubscription": (1, 2)},
}


def tree(name: str) -> FatTree:
    return FatTree(**{"port_rate": "800 Gb/s", **SMALL[name]})


def share(fabric: FatTree, traffic: str) -> float:
    return float(fabric.effective_bandwidth(traffic).m_as("byte/s/dir")) / PORT


def order(fabric: FatTree) -> list[str]:
    return in_leaf_order(fabric.endpoints, fabric.leaf_of)


def shifts(fabric: FatTree) -> set[int]:
    """Rotations that send everyone out of the leaf, and out of the pod."""
    loads = fabric.lower()
    return {int(loads.leaf_endpoints), int(loads.pod_endpoints)} - {fabric.endpoints}


@pytest.mark.parametrize("name", SMALL)
def test_worst_permutation_is_the_worst_rotation(name: str) -> None:
    fabric = tree(name)
    graph, everyone = fabric.graph().to_networkx(), order(fabric)
    rates = [routed_rate(graph, rotation(everyone, s)) for s in shifts(fabric)] or [1.0]
    assert share(fabric, "worst permutation") == pytest.approx(min(rates), rel=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_no_permutation_is_worse(name: str) -> None:
    fabric = tree(name)
    graph, everyone = fabric.graph().to_networkx(), order(fabric)
    random = np.random.default_rng(5)
    promised = share(fabric, "worst permutation")
    for _ in range(6):
        partners = random.permutation(len(everyone))
        demands = [(everyone[i], everyone[j], 1.0) for i, j in enumerate(partners)]
        assert routed_rate(graph, demands) >= promised * (1 - 1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_uniform_all_to_all_is_what_routing_carries(name: str) -> None:
    fabric = tree(name)
    graph = fabric.graph().to_networkx()
    found = routed_rate(graph, uniform(order(fabric)))
    assert share(fabric, "uniform all-to-all") == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_ring_in_leaf_order_is_what_routing_carries(name: str) -> None:
    fabric = tree(name)
    found = routed_rate(fabric.graph().to_networkx(), rotation(order(fabric), 1))
    assert share(fabric, "leaf-contiguous ring") == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("name", ["four rails", "two rails, 3:1", "two tiers, 2:1"])
def test_rail_aligned_all_to_all_is_what_routing_carries(name: str) -> None:
    fabric = tree(name)
    rails = [
        [f"e{i}" for i in range(r, fabric.endpoints, fabric.rails)] for r in range(fabric.rails)
    ]
    found = routed_rate(fabric.graph().to_networkx(), groups_uniform(rails))
    assert share(fabric, "rail-aligned all-to-all") == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("name", ["two tiers, 2:1", "three tiers, partly filled", "dual ToR"])
@pytest.mark.parametrize("senders", [1, 3, 7])
def test_incast_is_what_routing_carries(name: str, senders: int) -> None:
    fabric = tree(name)
    everyone = order(fabric)
    demands = [(everyone[-1 - i], everyone[0], 1.0) for i in range(senders)]
    found = routed_rate(fabric.graph().to_networkx(), demands)
    assert share(fabric, f"incast {senders}:1") == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize(
    "name", ["two tiers, 2:1", "two tiers, 3:1, partly filled", "two rails, 3:1", "dual ToR"]
)
def test_no_routing_does_better(name: str) -> None:
    """A linear program over all routings finds the same: the cuts are tight."""
    fabric = tree(name)
    graph, everyone = fabric.graph().to_networkx(), order(fabric)
    assert share(fabric, "uniform all-to-all") == pytest.approx(
        best_rate(graph, uniform(everyone)), rel=1e-6
    )
    worst = min(best_rate(graph, rotation(everyone, s)) for s in shifts(fabric))
    assert share(fabric, "worst permutation") == pytest.approx(worst, rel=1e-6)


@pytest.mark.parametrize(
    "name", ["two tiers full", "two tiers, 2:1", "three tiers full", "dual ToR"]
)
def test_bisection_is_the_max_flow_between_halves(name: str) -> None:
    fabric = tree(name)
    everyone = order(fabric)
    half = set(everyone[: fabric.endpoints // 2])
    cut = cut_rate(fabric.graph().to_networkx(), half, everyone)
    assert fabric.lower_bisection() == pytest.approx(cut * PORT, rel=1e-9)


def test_bisection_is_a_bound_where_leaves_are_partly_filled() -> None:
    fabric = tree("two tiers, 3:1, partly filled")
    everyone = order(fabric)
    random = np.random.default_rng(1)
    graph = fabric.graph().to_networkx()
    for _ in range(5):
        half = {everyone[i] for i in random.permutation(29)[:14]}
        assert cut_rate(graph, half, everyone) * PORT >= fabric.lower_bisection() * 14 / 14.5


def test_random_permutation_is_the_expected_slowest_endpoint() -> None:
    fabric = FatTree(endpoints=512, radix=48, oversubscription=2, port_rate="800 Gb/s")
    random = np.random.default_rng(7)
    leaf, up = fabric.leaf_down, fabric.leaf_up
    rates = []
    for _ in range(300):
        partners = random.permutation(512)
        leaving = np.arange(512) // leaf != partners // leaf
        most = np.bincount(np.arange(512)[leaving] // leaf).max()
        rates.append(min(1.0, up / most))
    assert share(fabric, "random permutation") == pytest.approx(np.mean(rates), rel=0.01)


# --- numbers of the specification ----------------------------------------------------------


def test_two_to_one_with_576_hosts() -> None:
    for fabric in (
        FatTree(endpoints=576, radix=48, oversubscription=2, port_rate="800 Gb/s"),
        FatTree(endpoints=576, radix=64, endpoints_per_leaf=32, uplinks_per_leaf=16,
                port_rate="100 GB/s/dir"),
    ):  # fmt: skip
        found = {
            name: fabric.effective_bandwidth(name).m_as("GB/s/dir")
            for name in ("worst permutation", "uniform all-to-all", "leaf-contiguous ring")
        }
        assert found["worst permutation"] == pytest.approx(50, rel=1e-5)
        assert found["uniform all-to-all"] == pytest.approx(52.8493, rel=1e-5)
        assert found["leaf-contiguous ring"] == pytest.approx(100, rel=1e-5)


@pytest.mark.parametrize("ratio", [1, 2, 3, 4, 8])
def test_hundred_thousand_endpoints_by_ratio(ratio: int) -> None:
    fabric = FatTree(endpoints=100_000, radix=512, oversubscription=ratio, port_rate="800 Gb/s")
    one_way = fabric.bisection_bandwidth().m_as("PB/s")
    assert one_way == pytest.approx(5 / ratio, rel=1e-5)
    both = fabric.bisection_bandwidth(both_directions=True).m_as("PB/s")
    assert both == pytest.approx(10 / ratio, rel=1e-5)
    assert fabric.bisection_per_endpoint.m_as("GB/s/dir") == pytest.approx(100 / ratio, rel=1e-5)
    worst = fabric.effective_bandwidth().m_as("GB/s/dir")
    assert worst == pytest.approx(100 / ratio, rel=1e-5)


@pytest.mark.parametrize(("ratio", "milliseconds"), [(1, 42.3531), (2, 84.7063), (4, 169.413)])
def test_a_flat_ring_in_the_worst_placement(ratio: int, milliseconds: float) -> None:
    fabric = FatTree(endpoints=576, radix=320, oversubscription=ratio, tiers=2,
                     port_rate="800 Gb/s", endpoints_per_leaf=32)  # fmt: skip
    found = sm.allreduce(size="2 GiB", ranks=72, bandwidth=fabric.effective_bandwidth())
    assert found.time.m_as("ms") == pytest.approx(milliseconds, rel=1e-5)


def test_efficiency_scales_what_is_left() -> None:
    fabric = FatTree(endpoints=576, radix=48, oversubscription=2, port_rate="800 Gb/s")
    sprayed = fabric.effective_bandwidth("ring", efficiency=0.95)
    assert sprayed.m_as("GB/s/dir") == pytest.approx(95)
    assert sprayed.m_as("Gbit/s/dir") == pytest.approx(760)
    assert fabric.effective_bandwidth(efficiency=0.8).m_as("GB/s/dir") == pytest.approx(40)
    with pytest.raises(RangeError, match="efficiency"):
        fabric.effective_bandwidth(efficiency=1.2)


# --- losses --------------------------------------------------------------------------------


def test_a_lost_plane_takes_its_share() -> None:
    fabric = FatTree(endpoints=2048, radix=64, planes=4, port_rate="800 Gb/s")
    left = fabric.without(planes=1)
    assert left.effective_bandwidth().m_as("GB/s/dir") == pytest.approx(75)
    assert left.effective_bandwidth().m_as("Gbit/s/dir") == pytest.approx(600)
    assert left.switches.total == fabric.switches.total * 3 // 4
    assert left.without(planes=1).effective_bandwidth().m_as("GB/s/dir") == pytest.approx(50)


@pytest.mark.parametrize(
    ("loss", "node"),
    [({"spines": 1}, "p0.spine0"), ({"leaves": 1}, "p0.leaf0"), ({"planes": 1}, "p0.")],
)
@pytest.mark.parametrize("name", ["two planes, 2:1", "dual ToR", "two tiers full"])
def test_what_remains_is_what_the_damaged_graph_carries(
    name: str, loss: dict[str, int], node: str
) -> None:
    fabric = tree(name)
    if ("leaves" in loss and fabric.planes * fabric.homes == 1) or (
        "planes" in loss and fabric.planes == 1
    ):
        with pytest.raises(RangeError, match=r"path|cut off"):
            fabric.without(**loss)
        return
    graph = fabric.graph().to_networkx()
    graph.remove_nodes_from(
        [n for n in graph if n == node or (node == "p0." and n.startswith(node))]
    )
    everyone = order(fabric)
    demands = rotation(everyone, fabric.leaf_down)
    assert share(fabric.without(**loss), "worst permutation") <= best_rate(graph, demands) + 1e-9
    if name != "dual ToR":
        first = [flow for flow in demands if fabric.leaf_of(int(flow[0][1:])) == 0]
        assert share(fabric.without(**loss), "worst permutation") == pytest.approx(
            best_rate(graph, first), rel=1e-6
        )


def test_a_lost_uplink_takes_its_share_of_one_leaf() -> None:
    fabric = FatTree(endpoints=2048, radix=64, port_rate="800 Gb/s")
    left = fabric.without(uplinks=1).effective_bandwidth().m_as("GB/s/dir")
    assert left == pytest.approx(100 * 31 / 32)
    assert fabric.without(uplinks=1).links["leaf_spine"] == 2047


@pytest.mark.parametrize(
    "loss", [{"planes": 1}, {"leaves": 1}, {"spines": 32}, {"uplinks": 32}, {"planes": -1}]
)
def test_losing_everything_is_refused(loss: dict[str, int]) -> None:
    with pytest.raises(RangeError):
        FatTree(endpoints=2048, radix=64, port_rate="800 Gb/s").without(**loss)


# --- names and scale -----------------------------------------------------------------------


def test_unknown_traffic_names_the_known_ones() -> None:
    fabric = tree("two tiers, 2:1")
    with pytest.raises(ArgumentError, match="uniform all-to-all"):
        fabric.effective_bandwidth("uniform-ish")
    with pytest.raises(ArgumentError, match="incast 8:1"):
        fabric.effective_bandwidth("incast")
    with pytest.raises(RangeError, match="24 endpoints"):
        fabric.effective_bandwidth("incast 24:1")
    with pytest.raises(ArgumentError, match="port_rate"):
        FatTree(endpoints=24, radix=6).effective_bandwidth()


def test_ten_million_endpoints_answer_without_a_graph() -> None:
    fabric = FatTree(endpoints=10_000_000, radix=512, port_rate="800 Gb/s", oversubscription=3)
    assert fabric.tiers == 3
    assert fabric.effective_bandwidth("uniform").m_as("GB/s/dir") == pytest.approx(
        100 / 3 * (1 + math.ulp(1)), rel=1e-3
    )
    with pytest.raises(RangeError, match="more than"):
        fabric.graph()
