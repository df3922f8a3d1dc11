"""Dependent axes and constraints: units and ranges hold as they do for arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest

import scalemath as sm
from scalemath import sweeps
from scalemath.core.errors import ArgumentError, RangeError, UnitsError
from scalemath.sweeps import bounds, dependent

LINK = "1 GB/s/dir"


@sm.model(returns="1", a="number", b="number")
def capped(a, b):
    """A sum that is impossible from some product on."""
    if a * b > 3.0:
        return math.inf
    return a + b


@pytest.mark.parametrize(
    ("axes", "wanted"),
    [
        ({"ranks": [2, 4], "size": dependent("ranks * '1 s'")}, "in s"),
        ({"ranks": [2, 4], "size": dependent("ranks * 1e9")}, "plain number"),
        ({"ranks": dependent("size"), "size": ["1 GB"]}, "wanted a plain number"),
    ],
)
def test_a_formula_has_the_unit_of_its_parameter(axes, wanted):
    with pytest.raises(UnitsError, match=wanted):
        sm.sweep(sm.allreduce, bandwidth=LINK, **axes)


def test_a_formula_in_another_multiple_is_converted():
    grid = sm.sweep(sm.allreduce, ranks=8, size=["1 GB"], bandwidth=dependent("size / '8 s'"))
    assert grid.values[0] == pytest.approx(2 * 7 / 8 * 8.0)
    power = {"size": ["1 GB", "2 GB"], "ranks": 8, "bandwidth": LINK}
    kept = sm.sweep(sm.allreduce, where="'1 J' / size > '0.1 nJ/bit'", **power)  # 0.125, 0.0625
    assert np.isnan(kept.values).tolist() == [False, True]
    minimum = sm.sweep(
        sm.allreduce, where="min('0.1 nJ/bit', '1 J' / size) < '0.1 nJ/bit'", **power
    )
    assert np.isnan(minimum.values).tolist() == [True, False]


def test_values_out_of_range_are_no_points():
    grid = sm.sweep(sm.allreduce, ranks=dependent("p", p=[-3, 2.5, 2]), size="1 GB", bandwidth=LINK)
    assert np.isnan(grid.values).tolist() == [True, True, False]
    grid = sm.sweep(
        sm.allreduce, ranks=8, size="1 GB", bandwidth=dependent("'1 GB/s/dir' * p", p=[-1, 0, 1])
    )
    assert np.isnan(grid.values).tolist() == [True, True, False]
    size = dependent("'1 GB' - ranks * '0.3 GB'")
    least = sm.sweep(sm.allreduce, reduce="min", ranks=[2, 3, 4], size=size, bandwidth=LINK)
    assert least["ranks"] == 3


def test_searches_know_the_range_of_computed_values(monkeypatch):
    monkeypatch.setattr(bounds, "WORTH_IT", 1)
    axes = {
        "ranks": range(2, 30),
        "size": sm.geomspace("1 MB", "1 GB", 30),
        "bandwidth": dependent("'1 GB/s/dir' * p", p=np.linspace(-2.0, 3.0, 31)),
    }
    for make in (sweeps.minimum, sweeps.maximum, lambda **kw: sweeps.top(9, **kw)):
        quick = sm.sweep(sm.allreduce, reduce=make(bounds=None), **axes)
        full = sm.sweep(sm.allreduce, reduce=make(bounds=False), **axes)
        np.testing.assert_array_equal(quick.values, full.values)


def test_what_is_impossible_counts_in_extremes_under_a_constraint():
    for more in ({}, {"where": "a > 1"}):
        grid = sm.sweep(capped, reduce=sweeps.minimum(over="a"), a=[2, 3], b=[1, 5], **more)
        assert grid.values.tolist() == [3.0, math.inf]
        assert grid["a"].tolist() == [2.0, 2.0]
        long = sm.sweep(
            capped, reduce=sweeps.minimum(over="a"), a=[2, 3], b=np.linspace(1, 6, 70), **more
        )
        assert np.isinf(long.values[-1])
        assert long["a"][-1] == 2.0
    nothing = sm.sweep(capped, reduce="min", where="a > 9", a=[2, 3], b=[1, 5])
    assert np.isnan(nothing.values)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("ranks > 2 & size > '1 GB'", "joined by 'and'"),
        ("ranks + (ranks > 2) > 3", "mixes a condition"),
        ("ranks << 2 > 3", "joined by 'and'"),
    ],
)
def test_operators_that_are_not_known(where, wanted):
    with pytest.raises(ArgumentError, match=wanted):
        sm.sweep(sm.allreduce, ranks=[2, 4], size=["1 GB"], bandwidth=LINK, where=where)


@pytest.mark.parametrize(
    ("axes", "error", "wanted"),
    [
        ({"ranks": np.ma.array([8, 72], mask=[0, 1])}, ArgumentError, "masked"),
        ({"ranks": [2, 2**53 + 1]}, RangeError, "2\\*\\*53"),
        ({"ranks": [2, 10**30]}, RangeError, "2\\*\\*53"),
        ({"ranks": ["a"]}, ArgumentError, "type str"),
        ({"size": sm.Q_(np.array([1 + 1j]), "GB")}, ArgumentError, "complex"),
        ({"size": [sm.Q_(np.array([1.0, 2.0]), "GB")]}, ArgumentError, "2 dimensions"),
    ],
)
def test_arrays_that_are_no_axis(axes, error, wanted):
    with pytest.raises(error, match=wanted):
        sm.sweep(sm.allreduce, **{"ranks": 8, "size": "1 GB", "bandwidth": LINK, **axes})


def test_numbers_with_units_and_series_form_axes():
    assert sm.sweep(capped, a=["50 %", "1"], b=0.5).values.tolist() == [1.0, 1.5]
    pandas = pytest.importorskip("pandas")
    grid = sm.sweep(sm.allreduce, ranks=pandas.Series([2, 4]), size="1 GB", bandwidth=LINK)
    assert grid["ranks"].tolist() == [2, 4]


def test_what_was_taken_for_granted_is_told():
    given = {"ranks": [2, 4], "size": "1 GB", "bandwidth": ["1 GB/s/dir", "2 GB/s"]}
    words = "bandwidth taken per direction (given without a direction)"
    for more in ({}, {"reduce": "min"}, {"reduce": sweeps.top(2)}):
        grid = sm.sweep(sm.allreduce, **given, **more)
        assert words in grid.provenance["assumed"]
        assert "assumed: " in repr(grid)
        assert "latency taken as 0 (not given)" in grid.provenance["assumed"]
    assert (
        words in sm.allreduce(ranks=[2, 4], size="1 GB", bandwidth="1 GB/s").provenance["assumed"]
    )
    stated = sm.sweep(
        sm.allreduce, ranks=[2], size="1 GB", bandwidth=LINK, latency="0 s", switch_latency="0 s"
    )
    assert "assumed" not in stated.provenance
