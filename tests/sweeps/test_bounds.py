"""Branch and bound gives what evaluating every point gives; declarations are put to the test."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sweep_models import TOY
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath import sweeps
from scalemath.sweeps import bounds, sweep
from scalemath.sweeps.directions import directions
from scalemath.sweeps.program import Output
from scalemath.sweeps.reading import state
from scalemath.units import Q_

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
AXES = {
    "size": Q_(np.geomspace(1e3, 1e9, 6), "B"),
    "ranks": [1, 2, 3, 4, 8, 9, 64],
    "bandwidth": Q_(np.geomspace(1.0, 100.0, 5), "GB/s/dir"),
    "latency": Q_(np.linspace(0.0, 10.0, 5), "us"),
    "speed": Q_(np.geomspace(1e-3, 1.0, 4), "s"),
}


def both(monkeypatch, reduction, **axes):
    """Answer by bounds and answer by scan."""
    monkeypatch.setattr(bounds, "WORTH_IT", 1)
    quick = sweep(TOY, reduce=reduction, **axes)
    monkeypatch.setattr(bounds, "WORTH_IT", 1 << 62)
    full = sweep(TOY, reduce=reduction, **axes)
    assert full.provenance["method"] == "scan"
    return quick, full


def assert_same(quick, full):
    assert quick.provenance["method"] == "bounds"
    for name, values in full.outputs.items():
        assert np.array_equal(quick.outputs[name], values, equal_nan=True), name
    for name, coordinate in full.coordinates.items():
        assert np.array_equal(quick.coordinates[name].values, coordinate.values), name


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("output", ["time", "efficiency"])
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("algorithm", ["ring", ["tree", "direct", "ring"], "best"])
def test_identical_to_the_scan(monkeypatch, output, largest, algorithm):
    reduction = sweeps.top(25, output, largest=largest)
    quick, full = both(monkeypatch, reduction, algorithm=algorithm, **AXES)
    assert_same(quick, full)
    assert quick.provenance["evaluated"] < full.provenance["evaluated"]


@pytest.mark.usefixtures("uncompiled")
def test_identical_under_a_constraint(monkeypatch):
    quick, full = both(
        monkeypatch, sweeps.top(40), algorithm=["ring", "direct"],
        where="size >= '1 MB' and ranks * latency > '40 us'", **AXES,
    )  # fmt: skip
    assert_same(quick, full)


@pytest.mark.usefixtures("uncompiled")
@settings(max_examples=20, deadline=None, phases=(Phase.generate,))
@given(data=st.data())
def test_identical_for_drawn_axes_in_any_order(data):
    order = data.draw(st.permutations(list(AXES)))
    axes = {}
    for name in order:
        values = AXES[name]
        picked = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=6))
        axes[name] = [values[i] for i in picked]
    with pytest.MonkeyPatch.context() as patch:
        quick, full = both(patch, sweeps.top(data.draw(st.integers(1, 30))), **axes)
    if quick.provenance["method"] == "bounds":
        assert_same(quick, full)


def test_directions_are_put_together_from_kernels():
    problem = state(TOY, {**AXES, "algorithm": "ring"})
    wiring = problem.wiring([Output("efficiency")])
    found = directions(wiring, "efficiency")
    assert found == {"size": -1, "ranks": -1, "bandwidth": 1, "latency": -1, "speed": 1}
    problem = state(TOY, {**AXES, "algorithm": ["ring", "tree"]})
    assert directions(problem.wiring([Output("time")]), "time")["ranks"] == 0


@pytest.mark.usefixtures("uncompiled")
def test_terms_have_no_direction_and_are_scanned(monkeypatch):
    monkeypatch.setattr(bounds, "WORTH_IT", 1)
    found = sweep(TOY, reduce=sweeps.top(3, "latency_share"), **AXES)
    assert found.provenance["method"] == "scan"


def test_a_million_million_points_in_seconds():
    axes = {
        "size": Q_(np.geomspace(1e3, 1e9, 1000), "B"),
        "ranks": range(1, 1001),
        "bandwidth": Q_(np.geomspace(1.0, 100.0, 1000), "GB/s/dir"),
        "latency": Q_(np.linspace(1.0, 10.0, 1000), "us"),
    }
    found = sweep(TOY, reduce=sweeps.top(10, "efficiency"), **axes)
    assert found.provenance["points"] == 10**12
    assert found.provenance["evaluated"] < 10**6
    corner = TOY.evaluate({"size": 1e9, "ranks": 1000.0, "bandwidth": 1e9, "latency": 1e-5,
                           "algorithm": "ring", "speed": 0.01})  # fmt: skip
    assert found.values[0] == corner["efficiency"]


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("output", ["time", "efficiency"])
@pytest.mark.parametrize("make", [sweeps.minimum, sweeps.maximum])
def test_optimum_is_that_of_the_scan(monkeypatch, make, output):
    quick, full = both(monkeypatch, make(output), algorithm=["direct", "ring"], **AXES)
    assert_same(quick, full)


@pytest.mark.usefixtures("uncompiled")
def test_infinite_largest_value_is_found_by_the_scan(monkeypatch):
    monkeypatch.setattr(bounds, "WORTH_IT", 1)
    found = sweep(TOY, reduce="max", algorithm=["ring", "tree"], **AXES)
    assert found.provenance["method"] == "scan"
    assert np.isinf(found.values)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("make", [sweeps.first, sweeps.last])
@pytest.mark.parametrize("way", [{"above": "0.3 ms"}, {"below": "0.3 ms"}, {"above": "0.01 ms"}])
@pytest.mark.parametrize("along", ["size", "bandwidth", "latency"])
@pytest.mark.parametrize("backwards", [False, True])
def test_crossing_by_bisection_is_that_of_the_scan(monkeypatch, make, way, along, backwards):
    axes = {**AXES, "size": Q_(np.geomspace(1e3, 1e9, 13), "B"),
            "bandwidth": Q_(np.geomspace(1.0, 100.0, 9), "GB/s/dir"),
            "latency": Q_(np.linspace(0.0, 10.0, 8), "us")}  # fmt: skip
    del axes["speed"]
    if backwards:
        axes[along] = axes[along][::-1]
    quick, full = both(
        monkeypatch, make("time", along=along, **way), algorithm=["ring", "direct"], **axes
    )
    assert_same(quick, full)


def test_a_search_that_gets_nowhere_is_given_up(monkeypatch):
    monkeypatch.setattr(bounds, "BUDGET", 1 << 10)
    axes = {
        "ranks": range(2, 130),
        "size": sm.geomspace("1 kB", "10 GB", 60),
        "bandwidth": sm.geomspace("1 GB/s/dir", "1 TB/s/dir", 60),
    }
    monkeypatch.setattr(bounds, "WORTH_IT", 1)
    hidden = "size * ranks >= '1 TB' and bandwidth <= '100 GB/s/dir'"
    for reduction in (sweeps.top(5), sweeps.minimum()):
        given_up = sm.sweep(sm.allreduce, reduce=reduction, where=hidden, **axes)
        assert given_up.provenance["method"] == "scan"
    for make in (lambda b: sweeps.top(5, bounds=b), lambda b: sweeps.maximum(bounds=b)):
        quick = sm.sweep(sm.allreduce, reduce=make(None), **axes)
        slow = sm.sweep(sm.allreduce, reduce=make(False), **axes)
        assert (quick.provenance["method"], slow.provenance["method"]) == ("bounds", "scan")
        np.testing.assert_array_equal(quick.values, slow.values)
