"""Counts of fat trees: published sizes, closure of ports, bad input."""

from __future__ import annotations

import time
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemath.core.errors import (
    ArgumentError,
    ContradictionError,
    ConventionError,
    RangeError,
    ScalemathError,
)
from scalemath.hardware.switch import Switch
from scalemath.kernels import fat_tree as kernels
from scalemath.topology.design import fat_tree_capacity
from scalemath.topology.fat_tree import FatTree


@pytest.mark.parametrize(
    ("radix", "two", "three"),
    [
        (32, 512, 8192),
        (64, 2048, 65536),
        (128, 8192, 524288),
        (144, 10368, 746496),
        (256, 32768, 4194304),
        (512, 131072, 33554432),
    ],
)
def test_capacity_and_full_trees(radix: int, two: int, three: int) -> None:
    assert fat_tree_capacity(radix=radix) == two
    assert fat_tree_capacity(radix=radix, tiers=3) == three
    for tiers, endpoints in ((2, two), (3, three)):
        full = FatTree(endpoints=endpoints, radix=radix)
        assert (full.tiers, full.capacity) == (tiers, endpoints)
        assert full.dark_ports.total == 0
        with pytest.raises(RangeError, match=f"{endpoints:,}"):
            FatTree(endpoints=endpoints + 1, radix=radix, tiers=tiers)
    spines = FatTree(endpoints=two, radix=radix).switches["spine"]
    assert spines == radix // 2


@pytest.mark.parametrize(
    ("planes", "radix", "rate", "endpoints"),
    [(1, 128, 800, 8192), (2, 256, 400, 32768), (4, 512, 200, 131072), (8, 1024, 100, 524288)],
)
def test_planes_multiply_the_radix(planes: int, radix: int, rate: int, endpoints: int) -> None:
    switch = Switch(ports=128, port_rate="800 Gb/s/dir").split(planes)
    assert switch.radix == radix
    assert switch.rate.m_as("Gbit/s/dir") == rate
    fabric = FatTree(endpoints=endpoints, radix=radix, planes=planes, port_rate="800 Gb/s")
    assert fabric.tiers == 2
    whole = fabric.bisection_bandwidth().m_as("GB/s") / endpoints
    assert whole == pytest.approx(50)


def test_hundred_thousand_endpoints() -> None:
    two = FatTree(endpoints=100_000, radix=512)
    assert two.links.total == 200_096
    three = FatTree(endpoints=100_000, radix=128)
    assert three.tiers == 3
    assert two.ideal_links.total == 200_000
    assert 2 * two.ideal_links.total == 400_000
    assert three.ideal_links.total == 300_000
    assert two.transceivers().total == 400_192
    assert two.transceivers(copper=["endpoint"]).total == 200_192


def test_three_units_take_sixteen_spines_since_twelve_do_not_divide() -> None:
    fabric = FatTree(endpoints=764, radix=64, rails=8)
    assert fabric.switches["leaf"] == 24
    assert 32 % 12
    assert fabric.switches["spine"] == 16
    assert fabric.layout.spine_down == 48
    assert fabric.dark_ports["spine"] == 16 * 16


def test_hops_are_switches_passed() -> None:
    one = FatTree(endpoints=64, radix=64)
    assert (one.hops(0, 63), one.diameter) == (1, 0)
    two = FatTree(endpoints=2048, radix=64)
    assert (two.hops(0, 0), two.hops(0, 31), two.hops(0, 32), two.diameter) == (0, 1, 3, 2)
    three = FatTree(endpoints=65536, radix=64)
    assert (three.hops(0, 31), three.hops(0, 1023), three.hops(0, 1024)) == (1, 3, 5)
    rails = FatTree(endpoints=64, radix=16, rails=8)
    assert (rails.hops(0, 8), rails.hops(0, 1)) == (1, 3)
    with pytest.raises(RangeError, match="0 to 2047"):
        two.hops(0, 2048)


DESIGNS: list[dict[str, Any]] = [
    {"endpoints": 8, "radix": 8},
    {"endpoints": 29, "radix": 8, "oversubscription": 3},
    {"endpoints": 33, "radix": 12, "rails": 4},
    {"endpoints": 16, "radix": 8, "homes": 2},
    {"endpoints": 48, "radix": 6, "oversubscription": 2, "planes": 2},
    {"endpoints": 40, "radix": 6, "tiers": 3},
    {"endpoints": 40, "radix": 8, "tiers": 3, "oversubscription": (3, 1)},
    {"endpoints": 20, "radix": 16, "endpoints_per_leaf": 4, "spines_per_pod": 4},
]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_graph_has_the_counted_parts(design: dict[str, Any]) -> None:
    fabric = FatTree(**design)
    graph = fabric.graph()
    assert len(graph.switches) == fabric.switches.total
    for tier, links in fabric.links.items():
        assert sum(e.links for e in graph.edges if e.tier == tier) == links
    explicit = graph.to_networkx()
    assert nx.is_connected(explicit)
    for role in ("leaf", "spine", "core"):
        names = [s for s in graph.switches if role in s]
        used = sum(d["links"] for s in names for *_, d in explicit.edges(s, data=True))
        if names:
            assert used == fabric.ports[role][1]
        ports = fabric.radix
        assert all(explicit.degree(s, weight="links") <= ports for s in names)
    leaves = [s for s in graph.switches if "leaf" in s and s.startswith("p0")]
    switches = explicit.subgraph(graph.switches)
    far = max(nx.shortest_path_length(switches, leaves[0], leaf) for leaf in leaves)
    assert far <= fabric.diameter
    for b in range(1, fabric.endpoints, 3):
        assert fabric.hops(0, b) == nx.shortest_path_length(explicit, "e0", f"e{b}") - 1


@given(
    st.integers(1, 3000),
    st.sampled_from([4, 8, 16, 32, 64]),
    st.sampled_from([1, 2, 3]),
    st.integers(1, 8),
)
def test_ports_never_carry_more_than_there_are(
    endpoints: int, radix: int, ratio: int, rails: int
) -> None:
    try:
        fabric = FatTree(endpoints=endpoints, radix=radix, oversubscription=ratio, rails=rails)
    except ScalemathError:
        return
    assert all(dark >= 0 for dark in fabric.dark_ports.values())
    shape = fabric.layout
    if fabric.tiers > 1:
        assert fabric.leaf_up % shape.spines_per_pod == 0
        assert fabric.links["leaf_spine"] == shape.leaves * fabric.leaf_up
    if fabric.tiers > 2:
        assert shape.spines_per_pod * shape.spine_up % shape.cores == 0


@given(st.integers(1, 5000), st.floats(0, 6000))
def test_smallest_divisor(number: int, at_least: float) -> None:
    slow = min((d for d in range(1, number + 1) if number % d == 0 and d >= at_least), default=None)
    found = kernels.smallest_divisor(float(number), at_least)
    assert found == (float("inf") if slow is None else slow)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"radix": 63}, RangeError, "62 or radix=64"),
        ({"radix": 1}, RangeError, "radix"),
        ({"endpoints": -4}, RangeError, "endpoints"),
        ({"endpoints": 10**6}, RangeError, "65,536"),
        ({"endpoints": 5000, "tiers": 2}, RangeError, "2,048"),
        ({"tiers": 4}, RangeError, "tiers"),
        ({"tiers": True}, RangeError, "tiers"),
        ({"rails": 600}, RangeError, "600 rails"),
        ({"rails": 8, "tiers": 1, "endpoints": 40}, RangeError, "rails"),
        ({"oversubscription": 1.5}, ContradictionError, "endpoints_per_leaf=36"),
        ({"oversubscription": "1:2"}, ConventionError, "'2:1'"),
        ({"oversubscription": "two"}, ArgumentError, "2:1"),
        ({"oversubscription": (1, 2, 3)}, ArgumentError, "leaf and spine"),
        ({"oversubscription": 0}, RangeError, "above 0"),
        ({"oversubscription": None}, ArgumentError, "number"),
        ({"oversubscription": 100}, RangeError, "no port left"),
        ({"endpoints_per_leaf": 33, "oversubscription": 2}, ContradictionError, "16.5"),
        ({"endpoints_per_leaf": 48, "uplinks_per_leaf": 48}, ContradictionError, "96 ports"),
        (
            {"endpoints_per_leaf": 32, "uplinks_per_leaf": 16, "oversubscription": 3},
            ContradictionError,
            "2:1, not 3:1",
        ),
        ({"spines_per_pod": 12}, ContradictionError, "do not divide over 12 spines"),
        ({"uplink_rate": "800 Gb/s"}, ArgumentError, "port_rate"),
        ({"port_rate": 800}, ScalemathError, "port_rate"),
        ({"leaves_per_pod": 100, "tiers": 3}, RangeError, "pods of 100"),
    ],
)
def test_refused_with_the_numbers(
    change: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        FatTree(**{"endpoints": 576, "radix": 64, **change})


def test_ratio_in_every_spelling() -> None:
    spellings = (2, 2.0, "2:1", "2", "4:2", (2, 1), ["2:1", 1])
    built = {FatTree(endpoints=576, radix=48, oversubscription=s) for s in spellings}
    assert len(built) == 1
    assert next(iter(built)).describe_ratio() == "down:up 2:1 at the leaf"


def test_uplinks_alone_and_undersubscribed() -> None:
    fabric = FatTree(endpoints=64, radix=64, tiers=2, uplinks_per_leaf=8, oversubscription=4)
    assert (fabric.leaf_down, fabric.leaf_up) == (32, 8)
    wide = FatTree(endpoints=60, radix=48, tiers=2, oversubscription=0.5)
    assert (wide.leaf_down, wide.leaf_up) == (16, 32)


def test_growing_finds_the_tiers_anew() -> None:
    small = FatTree(endpoints=2000, radix=64)
    assert (small.tiers, small.with_(endpoints=4000).tiers) == (2, 3)
    fixed = FatTree(endpoints=2000, radix=64, tiers=2)
    with pytest.raises(RangeError):
        fixed.with_(endpoints=4000)


def test_ten_million_in_milliseconds() -> None:
    start = time.process_time()
    fabric = FatTree(endpoints=10_000_000, radix=512, port_rate="800 Gb/s")
    counted = (fabric.switches.total, fabric.links.total, fabric.transceivers().total)
    assert counted == (110_999, 30_027_136, 60_054_272)
    assert fabric.hops(0, 9_999_999) == 5
    assert time.process_time() - start < 5.0  # a loop over the endpoints takes longer


def test_words() -> None:
    text = str(FatTree(endpoints=576, radix=48, oversubscription=2, planes=2, rails=2))
    assert "576 endpoints" in text
    assert "2 planes" in text
    assert "2 rails" in text
    size = FatTree(endpoints=576, radix=48).describe_size()
    assert (
        size == "576 of at most 1,152 endpoints in 2 tier(s); next size up: 3 tiers, up to 27,648"
    )
