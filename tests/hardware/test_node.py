"""Nodes and racks: sums that say of what, tiers that are not added on the quiet."""

from __future__ import annotations

import pytest

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, ContradictionError, ConventionError
from scalemath.hardware.accelerator import Accelerator
from scalemath.hardware.link import Link
from scalemath.hardware.node import Node, Rack

NVLINK5 = Link(name="NVLink 5", links=18, per_link="50 GB/s/dir")


def test_eight_of_everything() -> None:
    one = Accelerator(
        name="96 GB card",
        memory="96 GB",
        memory_bandwidth="1.792 TB/s",
        peaks={"bf16": "400 TFLOP/s"},
    )
    box = Node(accelerators=8, accelerator=one, nics=8, nic_rate="400 Gb/s/dir")
    assert box.memory.m_as("GB") == 768
    assert box.memory_bandwidth.m_as("TB/s") == pytest.approx(14.336)
    assert box.scale_out.m_as("GB/s/dir") == 400
    assert box.scale_out_per_accelerator.m_as("GB/s/dir") == 50
    assert box.domain == 1
    assert box.peak("bf16").scope == "node"
    assert box.peak("bf16").value == 3200


def test_interfaces_and_scale_out_must_close() -> None:
    with pytest.raises(ContradictionError, match="3200"):
        Node(accelerators=8, nics=8, nic_rate="400 Gb/s/dir", scale_out="3200 GB/s/dir")
    assert Node(accelerators=8, link=NVLINK5).domain == 8


def rack(**more: object) -> Rack:
    return Rack(
        name="NVL72",
        accelerators=72,
        trays=18,
        link=NVLINK5,
        memory={"HBM": "13.5 TB", "LPDDR5X": "17.28 TB"},
        **more,
    )


def test_rack_total_is_unrounded_and_closes_with_the_printed_one() -> None:
    found = rack(scale_up="130 TB/s/bidir")
    assert found.scale_up_total.m_as("TB/s/dir") == pytest.approx(64.8)
    assert found.scale_up_total.m_as("TB/s/bidir") == pytest.approx(129.6)
    with pytest.raises(ContradictionError, match="both directions"):
        rack(scale_up="130 TB/s/dir")


def test_trays_divide_the_accelerators() -> None:
    with pytest.raises(ContradictionError, match="17 trays"):
        Rack(accelerators=72, trays=17)


def test_memory_tiers_are_summed_only_with_a_caution() -> None:
    found = rack()
    assert found.memory_of("HBM") == "13.5 TB" or found.memory_of("HBM").m_as("TB") == 13.5
    with pytest.raises(ConventionError, match="HBM, LPDDR5X"):
        found.memory_of("all")
    pool = found.memory_pool()
    assert pool.total.m_as("TB") == pytest.approx(30.78)
    assert pool.cautions
    assert set(pool.terms) == {"HBM", "LPDDR5X"}


def test_printed_peak_of_the_rack_comes_first_then_the_sum() -> None:
    printed = Datum(
        value=720, unit="PFLOP/s", source="t", date="2026", precision="fp8", sparsity="sparse"
    )
    one = Accelerator(peaks={"bf16": "2.5 PFLOP/s"})
    found = Rack(accelerators=72, accelerator=one, peaks=(printed,))
    assert found.peak("fp8", sparsity="sparse").value == 720
    assert found.peak("bf16").value == pytest.approx(180)
    assert found.peak("bf16").scope == "rack"
    with pytest.raises(ArgumentError):
        found.peak("fp8")


def test_uplinks() -> None:
    found = rack(uplinks=144, uplink_rate="400 Gb/s/dir")
    assert found.scale_out.m_as("TB/s/dir") == pytest.approx(7.2)
    with pytest.raises(ArgumentError):
        _ = rack().scale_out
