"""Axes and numbers made beforehand: several axes for one number, inner numbers not shown."""

import numpy as np
import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError
from scalemath.sweeps import minimum, top
from scalemath.sweeps.axes import Axis, Coordinate


@sm.model(returns="s", work="number", rate="number > 0", extra="number")
def duration(work, rate, extra):
    return work / rate + extra


class Prepared:
    """A public function whose rate follows from two axes."""

    rates = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])

    @staticmethod
    def prepared(arguments):
        names = np.array(["slow", "fast"], dtype=object)
        axes = {
            "kind": Axis("kind", 2, (Coordinate("kind", ("kind",), names, ""),)),
            "width": Axis("width", 3, (Coordinate("width", ("width",), np.arange(3.0)),)),
            "rate": Coordinate("rate", ("width", "kind"), Prepared.rates.T, inner=True),
            "extra": Coordinate("extra", (), np.array(0.5), inner=True),
        }
        return duration.model, {**axes, **arguments}


def test_a_number_may_lie_along_several_axes_in_any_order():
    grid = sm.sweep(Prepared, work=[8.0, 16.0])
    assert grid.axes == ("kind", "width", "work")
    wanted = np.array([8.0, 16.0]) / Prepared.rates[:, :, None] + 0.5
    np.testing.assert_array_equal(grid.outputs["duration"], wanted)


def test_inner_numbers_are_not_shown():
    grid = sm.sweep(Prepared, work=[8.0, 16.0])
    assert set(grid.coordinates) == {"kind", "width", "work"}
    assert "extra" not in grid.fixed
    ranked = sm.sweep(Prepared, work=[8.0, 16.0], reduce=top(2))
    assert set(ranked.coordinates) == {"kind", "width", "work"}
    assert ranked["kind"].tolist() == ["fast", "fast"]
    best = sm.sweep(Prepared, work=[8.0, 16.0], reduce=minimum("duration", over=["kind", "width"]))
    assert set(best.outputs) == {"duration", "kind", "width"}
    assert best["width"].tolist() == [2.0, 2.0]


def test_constraints_read_what_is_made():
    grid = sm.sweep(Prepared, work=8.0, where="rate >= 4 and width < 2")
    assert np.isnan(grid.outputs["duration"]).tolist() == [[True, True, True], [False, False, True]]


def test_a_name_is_not_given_twice():
    with pytest.raises(ArgumentError, match="extra is given twice"):
        sm.sweep(_twice(), work=1.0)


def _twice():
    class Twice:
        @staticmethod
        def prepared(arguments):
            model, found = Prepared.prepared(arguments)
            again = Axis("z", 1, (Coordinate("extra", ("z",), np.ones(1)),))
            return model, {"z": again, **found}

    return Twice
