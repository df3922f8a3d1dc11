"""Bills of materials: they close, and those that do not are found out."""

from __future__ import annotations

from typing import Any

import pytest

from scalemath.core.errors import ArgumentError
from scalemath.topology.bill import check_bill_of_materials
from scalemath.topology.fat_tree import FatTree
from scalemath.topology.slim_fly import SlimFly
from scalemath.topology.switched_domain import SwitchedDomain

GOOD: dict[str, int] = {
    "leaf": 32,
    "spine": 16,
    "radix": 64,
    "endpoint_cables": 1024,
    "leaf_spine_cables": 1024,
}


@pytest.mark.parametrize(
    "fabric",
    [
        FatTree(endpoints=760, radix=64, rails=8),
        FatTree(endpoints=4000, radix=64, oversubscription=3),
        FatTree(endpoints=2048, radix=64, planes=4),
        SlimFly(order=9, radix=24),
        SwitchedDomain(endpoints=8, links_per_endpoint=18, switch_chips=4, ports_per_chip=64),
    ],
    ids=lambda f: type(f).__name__ + str(f.endpoints),
)
def test_ports_close_at_every_tier(fabric: Any) -> None:
    bill = fabric.bill_of_materials()
    for role, (there, used) in fabric.ports.items():
        assert there - used == bill.dark_ports[role] >= 0
    ends = 2 * bill.links.total - bill.links["endpoint"]
    assert sum(used for _, used in fabric.ports.values()) == ends
    for count in (*bill.switches.values(), *bill.links.values()):
        assert f"{count:,}" in str(bill)


def test_words_of_a_bill() -> None:
    text = str(FatTree(endpoints=576, radix=48, oversubscription=2).bill_of_materials())
    assert "down:up 2:1 at the leaf" in text
    assert "leaf: 864 ports = 864 used + 0 dark" in text
    assert "next size up: 3 tiers" in text


def test_split_ports_share_cables_and_modules() -> None:
    """64 ports of 400G as 128 of 200G: two endpoints share a cable and its upper module."""
    plain = FatTree(endpoints=1024, radix=128, port_rate="200 Gb/s")
    split = plain.with_(endpoint_split=2)
    assert split.links == plain.links
    assert split.cables["endpoint"] == 512
    assert split.transceivers()["endpoint"] == 1024 + 512
    assert split.transceivers()["leaf_spine"] == plain.transceivers()["leaf_spine"]


def test_cost_by_the_users_prices() -> None:
    bill = FatTree(endpoints=2048, radix=64).bill_of_materials()
    prices = {"leaf": "50 kUSD", "spine": "60 kUSD", "endpoint cable": "200 USD", "cable": "1 kUSD",
              "transceiver": "800 USD"}  # fmt: skip
    wanted = 64 * 50e3 + 32 * 60e3 + 2048 * 200 + 2048 * 1e3 + 8192 * 800
    assert bill.cost(prices).m_as("USD") == pytest.approx(wanted)
    assert bill.cost({"switch": "90 kEUR"}).m_as("EUR") == pytest.approx(96 * 90e3)
    with pytest.raises(ArgumentError, match="'spine' is missing"):
        bill.cost({"leaf": "50 kUSD"})
    with pytest.raises(ArgumentError, match="called bolt"):
        bill.cost({"switch": "50 kUSD", "bolt": "1 USD"})


def test_a_good_bill_closes() -> None:
    found = check_bill_of_materials(**GOOD, endpoints=1024, cables=2048)
    assert found.closes
    assert "down:up 1:1" in str(found)


BAD: list[tuple[dict[str, int], str]] = [
    ({"spine_core_cables": 1024}, "core switches, of which there are none"),
    ({"spine": 15}, "do not divide over 15 spine"),
    ({"spine": 8}, "spine: 1024 ports are needed, 8 switches have 512"),
    ({"leaf": 24}, "leaf: 2048 ports are needed, 24 switches have 1536"),
    ({"cables": 2000}, "2000 cables are printed, the tiers add up to 2048"),
    ({"endpoints": 1020}, "4 too many"),
    ({"endpoints": 1030}, "6 missing"),
    ({"core": 4}, "4 core switches but no spine_core cables"),
    ({"core": -1}, "at least 0"),
    ({"leaf": 24, "spine": 48, "endpoint_cables": 768, "leaf_spine_cables": 768},
     "32 uplinks of a leaf|do not divide"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), BAD[:-1], ids=range(len(BAD) - 1))
def test_a_bad_bill_is_found_out(change: dict[str, int], words: str) -> None:
    found = check_bill_of_materials(**{**GOOD, **change})
    assert not found.closes
    assert words in str(found)


def test_twelve_spines_for_three_units_are_found_out() -> None:
    found = check_bill_of_materials(
        leaf=24, spine=12, radix=64, endpoint_cables=768, leaf_spine_cables=768
    )
    assert "32 uplinks of a leaf do not divide over 12 spines" in str(found)


def test_wide_uplinks() -> None:
    found = check_bill_of_materials(
        leaf=240, spine=120, radix=248, endpoint_cables=30720, leaf_spine_cables=14400,
        endpoints=15360, links_per_endpoint=2, uplink_ports=2,
    )  # fmt: skip
    assert found.closes, str(found)
    assert "down:up 1.067:1" in str(found)
