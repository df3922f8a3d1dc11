"""Collectives over grids: placements, tori, levels and switches lowered as in single calls."""

from __future__ import annotations

import numpy as np
import pytest

import scalemath as sm
from scalemath import Q_, Placement

SIZES = Q_([1.0, 64.0, 4096.0], "MiB")
NINE = Placement(
    nodes=9,
    ranks_per_node=8,
    nics_per_node=8,
    domain_bandwidth="900 GB/s/dir",
    nic_bandwidth="100 GB/s/dir",
    domain_latency="0.2 us",
    nic_latency="2 us",
)


def one(**given: object) -> float:
    return float(sm.allreduce(**given).time.m_as("s"))


def test_schedules_on_a_placement() -> None:
    schedules = ["flat", "rails", "two-level", "two-level-overlapped"]
    grid = sm.sweep(sm.allreduce, size=SIZES, placement=NINE, schedule=schedules)
    for i, size in enumerate(SIZES):
        for k, schedule in enumerate(schedules):
            expected = one(size=size, placement=NINE, schedule=schedule)
            assert grid.values[i, k] == pytest.approx(expected, rel=1e-12)


def test_fields_of_a_placement_are_axes_and_what_follows_is_counted() -> None:
    nodes = [1, 2, 9, 72]
    rates = Q_([50.0, 100.0], "GB/s/dir")
    grid = sm.sweep(
        sm.allreduce,
        size="2 GiB",
        placement=NINE,
        schedule="two-level-overlapped",
        **{"placement.nodes": nodes, "placement.nic_bandwidth": rates},
    )
    for i, count in enumerate(nodes):
        for k, rate in enumerate(rates):
            placement = NINE.with_(nodes=count, nic_bandwidth=rate)
            expected = one(size="2 GiB", placement=placement, schedule="two-level-overlapped")
            assert grid.values[i, k] == pytest.approx(expected, rel=1e-12)


def test_best_of_what_the_network_states() -> None:
    case = {"bandwidth": "50 GB/s/dir", "latency": "1 us", "algorithm": "best"}
    for stated in (
        {"ranks": 16},
        {"ranks": 16, "in_network": "multicast"},
        {"ranks": 16, "in_network": "reduction"},
        {"shape": (4, 4)},
    ):
        swept = sm.sweep(sm.allreduce, size=SIZES, **case, **stated)
        called = sm.allreduce(size=SIZES, **case, **stated)
        expected = [one(size=size, **case, **stated) for size in SIZES]
        times = swept["time"].values if hasattr(swept, "keys") else swept.values
        assert np.asarray(times) == pytest.approx(expected, rel=1e-12), stated
        assert np.asarray(called.values) == pytest.approx(expected, rel=1e-12), stated


def test_levels_of_a_hierarchy() -> None:
    levels = [(8, "900 GB/s/dir", "1 us"), (9, "100 GB/s/dir", "5 us")]
    grid = sm.sweep(sm.allreduce, size=SIZES, hierarchy=levels)
    expected = [one(size=size, hierarchy=levels) for size in SIZES]
    assert grid.values == pytest.approx(expected, rel=1e-12)


def test_bus_bandwidth_is_an_output() -> None:
    grid = sm.sweep(
        sm.all_to_all,
        ranks=[2, 8, 72],
        size="1 GB",
        bandwidth="100 GB/s/dir",
        outputs=["bus_bandwidth"],
    )
    assert grid.values == pytest.approx([100e9] * 3)


@pytest.mark.parametrize(
    ("operation", "arguments", "output"),
    [
        ("barrier", {"ranks": [2, 72], "latency": "2 us"}, [2e-6, 14e-6]),
        (
            "message_time",
            {"size": Q_([0.0, 1.0], "MB"), "bandwidth": "1 GB/s", "latency": "1 ms"},
            [1e-3, 2e-3],
        ),
        (
            "all_to_all_v",
            {"largest_send": Q_([1.0, 2.0], "GB"), "ranks": 3, "bandwidth": "1 GB/s"},
            [1.0, 2.0],
        ),
        ("send_receive", {"size": Q_([1.0, 2.0], "GB"), "bandwidth": "1 GB/s"}, [1.0, 2.0]),
        (
            "gather",
            {"size": "1 GB", "ranks": [2, 4], "bandwidth": "1 GB/s"},
            [0.5, 0.75],
        ),
    ],
)
def test_every_function_is_swept(
    operation: str, arguments: dict[str, object], output: list[float]
) -> None:
    grid = sm.sweep(getattr(sm, operation), **arguments)
    assert np.asarray(grid.values) == pytest.approx(output)


def test_a_barrier_over_placements_has_no_size() -> None:
    grid = sm.sweep(sm.barrier, placement=NINE, schedule="flat", **{"placement.nodes": [2, 9]})
    for count, found in zip([2, 9], grid.values, strict=True):
        single = sm.barrier(placement=NINE.with_(nodes=count), schedule="flat")
        assert found == pytest.approx(float(single.time.m_as("s")), rel=1e-12)
    assert "size" not in grid.fixed
    assert "size" not in grid.provenance.get("assumed", "")
