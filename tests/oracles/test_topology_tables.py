"""Published switch, cable and endpoint counts, rebuilt by the library.

A row whose own arithmetic closes must come out exactly; one that does not close must be
found out by the bill check. How a row is read: the printed sizes (endpoints, ports, tiers, what a
leaf has below and above) go in, the counts of switches and cables must come out.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from oracles.tables import has, rows

from scalemath.core.errors import RangeError
from scalemath.kernels import direct_networks
from scalemath.topology.bill import check_bill_of_materials
from scalemath.topology.dragonfly import Dragonfly
from scalemath.topology.fat_tree import FatTree
from scalemath.topology.slim_fly import SlimFly
from scalemath.topology.systems import dgx_superpod, nvl72

Row = dict[str, str]
ROWS = rows("topology_tables.csv") if has("topology_tables.csv") else []


def number(row: Row, column: str) -> int | None:
    text = row.get(column, "").strip()
    return int(text) if text.isdigit() else None


def whole(row: Row, column: str) -> int:
    found = number(row, column)
    assert found is not None, f"{row['system']}: {column} is empty"
    return found


def name(row: Row) -> str:
    size = f"{row['units']} {row['gpus'] or row['nodes']}"
    return f"{ROWS.index(row)} {row['system']} {size}".replace("  ", " ")


def of_kind(*words: str) -> list[Any]:
    found = [r for r in ROWS if any(w in r["system"] for w in words)]
    return [pytest.param(r, id=name(r)) for r in found]


def stated(row: Row, pattern: str) -> int | None:
    """A number that the row's own arithmetic column states."""
    found = re.search(pattern, row["check"])
    return int(found[1]) if found else None


def printed(row: Row) -> dict[str, int]:
    names = {
        "leaf": "leaf",
        "spine": "spine",
        "core": "core",
        "endpoint": "node_leaf_cables",
        "leaf_spine": "leaf_spine_cables",
        "spine_core": "spine_core_cables",
        "total": "total_compute_cables",
    }
    found = {key: number(row, column) for key, column in names.items()}
    return {key: value for key, value in found.items() if value is not None}


def counted(fabric: FatTree) -> dict[str, int]:
    return {**fabric.switches, **fabric.links, "total": fabric.links.total}


def agrees(fabric: FatTree, row: Row) -> bool:
    found = counted(fabric)
    return all(found.get(key, 0) == value for key, value in printed(row).items())


# --- trees of equal switches ---------------------------------------------------------------


def superpods() -> list[Any]:
    found = [r for r in ROWS if "SuperPOD" in r["system"] and number(r, "leaf")]
    return [pytest.param(r, id=name(r)) for r in found if number(r, "switch_ports")]


@pytest.mark.parametrize("row", superpods())
def test_superpod_of_equal_switches(row: Row) -> None:
    radix = whole(row, "switch_ports")
    bill = check_bill_of_materials(
        leaf=whole(row, "leaf"),
        spine=number(row, "spine") or 0,
        core=number(row, "core") or 0,
        radix=radix,
        endpoint_cables=whole(row, "node_leaf_cables"),
        leaf_spine_cables=number(row, "leaf_spine_cables") or 0,
        spine_core_cables=number(row, "spine_core_cables") or 0,
        cables=number(row, "total_compute_cables"),
    )
    design: dict[str, Any] = {
        "endpoints": whole(row, "node_leaf_cables"),
        "radix": radix,
        "tiers": int(row["tiers"]),
        "rails": 8,
    }
    fabric = FatTree(**design)
    if agrees(fabric, row):
        assert bill.closes, str(bill)
        return
    # pods may be those of the rails, or spines be more than the fewest
    rail_pods = {"leaves_per_pod": -(-fabric.switches["leaf"] // 8)}
    pods = fabric.pods
    other = [{"spines_per_pod": whole(row, "spine") // pods}] if row["spine"] else []
    for change in (rail_pods, *other):
        if int(row["tiers"]) == 3 or change is not rail_pods:
            try:
                if agrees(FatTree(**{**design, **change}), row):
                    assert bill.closes, str(bill)
                    return
            except (RangeError, ValueError):
                continue
    assert not bill.closes, f"{name(row)}: printed {printed(row)}, the library builds {fabric}"


def test_three_units_leave_sixteen_ports_of_every_spine_dark() -> None:
    """24 leaves x 32 uplinks fill twelve spines, over which 32 do not divide: sixteen stand."""
    fabric = dgx_superpod(3, nodes=95).fabric
    assert isinstance(fabric, FatTree)
    assert fabric.switches["spine"] == 16
    assert fabric.layout.spine_down == 48


def test_core_cables_without_a_core_are_found() -> None:
    """The web page prints 1024 spine-core cables for four units that have no core tier."""
    bill = check_bill_of_materials(
        leaf=32, spine=16, radix=64, endpoint_cables=1024, leaf_spine_cables=1024,
        spine_core_cables=1024,
    )  # fmt: skip
    assert not bill.closes
    assert "of which there are none" in str(bill)


def test_more_cables_than_gpus_are_found() -> None:
    """The base design counts four ports of the fabric managers as compute cables."""
    bill = check_bill_of_materials(
        leaf=8, spine=4, radix=64, endpoint_cables=252, leaf_spine_cables=256, endpoints=248
    )
    assert "4 too many" in bill.problems[0]


# --- generated topologies with different rates below and above -----------------------------


def generated(row: Row) -> FatTree:
    """The tree a generator's arguments describe: one uplink of a leaf to every spine."""
    system = row["system"]
    down = (
        stated(row, r"(\d+)x200G down")
        or stated(row, r"(\d+) down")
        or stated(row, r"(\d+)x\d+G down")
        or 128
    )
    up = (
        stated(row, r"(\d+)x400G up")
        or stated(row, r"(\d+) up")
        or stated(row, r"(\d+)x\d+G up")
        or stated(row, r"(\d+) uplinks per ASW")
    )
    assert up is not None, f"{name(row)}: no uplinks are stated"
    fast = "200 down / 400 up" in row["port_Gbps"]
    two = "dual" in system.lower() and fast
    planes = 2 if "dual-plane" in system else 1
    width = 2 if fast else 1
    radix = down + up * width
    return FatTree(
        endpoints=whole(row, "gpus"),
        radix=radix + radix % 2,
        tiers=2,
        planes=planes,
        homes=2 if two and planes == 1 else 1,
        rails=1 if "DCN" in system else 8,
        port_rate="400 Gb/s",
        uplink_rate="400 Gb/s" if fast else None,
        endpoints_per_leaf=down,
        uplinks_per_leaf=up,
        spines_per_pod=up,
        spine_radix=4096,
    )


@pytest.mark.parametrize("row", of_kind("SimAI"))
def test_generated_topology(row: Row) -> None:
    fabric = generated(row)
    assert counted(fabric) | printed(row) == counted(fabric)


def test_fewest_spines_of_the_generated_rails() -> None:
    """Every leaf meets all 64 spines in the generator; four spines of 128 ports would do."""
    fewest = FatTree(endpoints=512, radix=128, rails=8, endpoints_per_leaf=64, uplinks_per_leaf=64)
    assert fewest.switches["spine"] == 4
    assert fewest.links["leaf_spine"] == 512


# --- the table of the DeepSeek-V3 paper ----------------------------------------------------


def between_switches(row: Row) -> tuple[int | None, int]:
    return stated(row, r"switches=(\d+)"), whole(row, "total_compute_cables")


def skip_without_counts(row: Row) -> None:
    columns = ("gpus", "switch_ports", "total_compute_cables")
    if stated(row, r"switches=(\d+)") is None or any(number(row, c) is None for c in columns):
        pytest.skip("the row prints no switches and links")


@pytest.mark.parametrize("row", of_kind("layer fat tree", "multi-plane"))
def test_fat_trees_of_64_port_switches(row: Row) -> None:
    found = re.search(r"\((\d+) planes\)", row["system"])
    planes = int(found[1]) if found else 1
    tiers = 3 if "three" in row["system"] else 2
    fabric = FatTree(
        endpoints=whole(row, "gpus") // planes,
        radix=whole(row, "switch_ports"),
        tiers=tiers,
        planes=planes,
        port_rate=f"{400 * planes} Gb/s",
    )
    switches, links = between_switches(row)
    assert fabric.switches.total == switches
    assert fabric.links.total - fabric.links["endpoint"] == links
    assert fabric.capacity == fabric.endpoints


def slim_order(endpoints: int) -> int:
    """Order whose routers, with half their ports for endpoints, give a number of endpoints."""
    for order in range(3, 200):
        degree = direct_networks.slim_fly_degree(float(order))
        if degree < 1e9 and 2 * order * order * -(-int(degree) // 2) == endpoints:
            return order
    raise AssertionError(f"no order gives {endpoints} endpoints")


@pytest.mark.parametrize("row", of_kind("slim fly", "Slim Fly", "Slimfly", "SlimFly"))
def test_slim_fly_counts(row: Row) -> None:
    skip_without_counts(row)
    order = slim_order(whole(row, "gpus"))
    switches, links = between_switches(row)
    degree = direct_networks.slim_fly_degree(float(order))
    assert direct_networks.slim_fly_switches(float(order)) == switches
    assert direct_networks.regular_links(float(switches or 0), degree) == links


def test_slim_fly_of_order_28_has_counts_but_no_graph() -> None:
    """1568 switches follow from q = 28, which is no prime power: such a graph does not exist."""
    assert slim_order(32928) == 28
    assert direct_networks.slim_fly_switches(28.0) == 1568
    assert direct_networks.regular_links(1568.0, 42.0) == 32928
    with pytest.raises(RangeError, match=r"27 .* and 29"):
        SlimFly(order=28)
    built = SlimFly(order=27, radix=64)
    assert (built.routers, built.ports_per_router, built.endpoints) == (1458, 62, 30618)


@pytest.mark.parametrize("row", of_kind("dragonfly", "Dragonfly"))
def test_dragonfly_counts(row: Row) -> None:
    skip_without_counts(row)
    radix, endpoints = whole(row, "switch_ports"), whole(row, "gpus")
    half = (radix + 1) // 4
    groups = endpoints // (2 * half * half)
    fabric = Dragonfly.balanced(radix, groups=groups)
    switches, links = between_switches(row)
    assert fabric.endpoints == endpoints
    assert fabric.switches["router"] == switches
    assert fabric.links.total - fabric.links["endpoint"] == links


def test_dragonfly_of_64_ports_with_two_groups_left_out() -> None:
    """511 of the 513 groups that fit; all global ports are used all the same."""
    fabric = Dragonfly.balanced(64, groups=511)
    assert (fabric.endpoints, fabric.switches.total) == (261632, 16352)
    assert fabric.links["within"] + fabric.links["between"] == 384272
    assert Dragonfly.balanced(64).endpoints == 262656


# --- racks, and systems of which only sizes are printed ------------------------------------


@pytest.mark.parametrize("row", of_kind("GB200", "GB300"))
def test_racks_of_72(row: Row) -> None:
    racks = re.search(r"(\d+) racks", row["units"])
    if racks is None:
        pytest.skip("no number of racks is printed")
    cluster = nvl72(int(racks[1]))
    assert cluster.accelerators == number(row, "gpus")
    assert cluster.counts["trays"] == number(row, "nodes")


@pytest.mark.parametrize("row", of_kind("Meta 24K"))
def test_pods_of_racks_with_an_oversubscribed_top(row: Row) -> None:
    """192 racks of 16 per pod; 192 down over 7 is no whole number of uplinks, 28 are 6.857:1."""
    pods = int(re.findall(r"\d+", row["units"])[0])
    fabric = FatTree(
        endpoints=whole(row, "gpus"),
        radix=192 + 28,
        tiers=3,
        oversubscription=(1, 192 / 28),
        endpoints_per_leaf=16,
        leaves_per_pod=192,
        spines_per_pod=16,
        port_rate="400 Gb/s",
    )
    assert fabric.switches["leaf"] == whole(row, "leaf")
    assert fabric.pods == pods
    assert fabric.describe_ratio() == "down:up 1:1 at the leaf, 6.857:1 at the spine"
    assert fabric.effective_bandwidth().m_as("GB/s/dir") == pytest.approx(50 * 28 / 192)


@pytest.mark.parametrize("row", of_kind("Polaris"))
def test_only_sizes_are_printed(row: Row) -> None:
    per_node = stated(row, r"(\d+)x A100 per node")
    assert whole(row, "nodes") * (per_node or 4) == whole(row, "gpus")


@pytest.mark.parametrize("row", of_kind(""))
def test_printed_counts_close(row: Row) -> None:
    """Whatever the system: cables add up, and switches have the ports, or the row says why."""
    found = printed(row)
    parts = [found[k] for k in ("endpoint", "leaf_spine", "spine_core") if k in found]
    if "total" in found and "endpoint" in found:
        assert sum(parts) == found["total"] or row["printed_anomaly"]
    radix = number(row, "switch_ports")
    if radix and {"leaf", "endpoint", "leaf_spine"} <= set(found):
        bill = check_bill_of_materials(
            leaf=found["leaf"], spine=found.get("spine", 0), core=found.get("core", 0),
            radix=radix, endpoint_cables=found["endpoint"],
            leaf_spine_cables=found["leaf_spine"], spine_core_cables=found.get("spine_core", 0),
        )  # fmt: skip
        assert bill.closes or row["printed_anomaly"], str(bill)
