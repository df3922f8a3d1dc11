"""The formula behind fat trees: equal to the object, usable in sweeps, right at the edges."""

from __future__ import annotations

import math
from typing import Any

import pytest

import scalemath as sm
from scalemath.core.errors import ScalemathError
from scalemath.topology.design import fat_tree_capacity, fat_tree_design
from scalemath.topology.fat_tree import TRAFFIC, FatTree

GRID = [
    (endpoints, radix, tiers, ratio, planes, rails)
    for endpoints in (8, 63, 576, 4096)
    for radix in (16, 48, 64)
    for tiers in (0, 2, 3)
    for ratio in (1, 2, 3)
    for planes, rails in ((1, 1), (4, 8))
]


@pytest.mark.parametrize("pattern", TRAFFIC)
def test_formula_equals_the_object_wherever_both_exist(pattern: str) -> None:
    both = 0
    for endpoints, radix, tiers, ratio, planes, rails in GRID:
        senders = 3
        given: dict[str, Any] = {
            "endpoints": endpoints,
            "radix": radix,
            "oversubscription": ratio,
            "planes": planes,
            "rails": rails,
            "port_rate": "800 Gb/s/dir",
        }
        design = fat_tree_design(
            **given, tiers=tiers, traffic=pattern.replace(" ", "_"), senders=senders
        )
        try:
            fabric = FatTree(**given, tiers=tiers or "auto")
        except ScalemathError:
            continue
        both += 1
        assert design.feasible
        assert design.switches == fabric.switches.total
        assert design.links == fabric.links.total
        assert design.switches_by_role()["leaf"] == fabric.switches["leaf"]
        wanted = fabric.effective_bandwidth(pattern, senders).m_as("byte/s/dir")
        assert design.bandwidth.m_as("byte/s/dir") == pytest.approx(wanted, rel=1e-12)
        cut = fabric.bisection_bandwidth().m_as("byte/s")
        assert design.bisection.m_as("byte/s") == pytest.approx(cut, rel=1e-12)
    assert both > 100


def test_a_design_that_does_not_fit_has_no_bandwidth() -> None:
    for pattern in TRAFFIC:
        design = fat_tree_design(
            endpoints=100_000, radix=32, tiers=2, port_rate="800 Gb/s/dir",
            traffic=pattern.replace(" ", "_"),
        )  # fmt: skip
        assert not design.feasible
        assert design.switches == math.inf
        assert design.bandwidth.m_as("byte/s/dir") == 0
        assert "do not fit" in str(design)


def test_no_input_gives_a_number_that_is_none() -> None:
    odd = (0.0, 0.5, 1.0, 2.0, 3.0, 7.0, 1e6, 1e13)
    for endpoints in odd:
        for radix in odd:
            for tiers in (0.0, 1.0, 2.0, 3.0, 4.0):
                for ratio in (0.1, 1.0, 1e9):
                    given = {"endpoints": endpoints, "radix": radix, "tiers": tiers, "planes": 1.0,
                             "oversubscription": ratio, "rails": 2.0, "port_rate": 1e11,
                             "traffic": "worst_permutation", "senders": 1.0}  # fmt: skip
                    found = fat_tree_design.model.evaluate(given)
                    assert not any(math.isnan(x) for x in found.values() if isinstance(x, float))


def test_sweep_over_designs_equals_single_calls() -> None:
    axes: dict[str, Any] = {
        "radix": [32, 64],
        "tiers": [0, 2, 3],
        "oversubscription": [1, 2, 4],
        "planes": [1, 4],
        "endpoints": [512, 4096],
    }
    grid = sm.sweep(
        fat_tree_design, **axes, port_rate="800 Gb/s/dir", traffic="uniform_all-to-all",
        outputs=["switches", "bandwidth"],
    )  # fmt: skip
    point = {"radix": 64, "tiers": 2, "oversubscription": 2, "planes": 4, "endpoints": 512}
    one = fat_tree_design(**point, port_rate="800 Gb/s/dir", traffic="uniform_all-to-all")
    chosen = grid.sel(**point)
    assert float(chosen.outputs["switches"]) == one.switches
    assert float(chosen.outputs["bandwidth"]) == pytest.approx(one.si("bandwidth"), rel=1e-12)


def test_explained() -> None:
    text = fat_tree_design(
        endpoints=576, radix=48, oversubscription=2, port_rate="800 Gb/s"
    ).explain()
    assert "uplinks" in text
    assert "endpoints = 576" in text
    assert "port_rate taken per direction" in text


def test_capacity_of_one_tier_and_of_a_ratio() -> None:
    assert fat_tree_capacity(radix=64, tiers=1) == 64
    assert fat_tree_capacity(radix=48, oversubscription=2) == 32 * 48
