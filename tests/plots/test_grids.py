"""Pictures of sweeps say what they show: labels with units, scales, legends."""

from __future__ import annotations

import io

import numpy as np
import pytest
from helpers.sweep_models import TOY

from scalemath import sweeps
from scalemath.core.errors import ArgumentError
from scalemath.sweeps import geomspace, sweep

figures = pytest.importorskip("matplotlib.figure")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
SIZES = geomspace("1 kB", "1 GB", 12)
RATES = geomspace("1 GB/s/dir", "100 GB/s/dir", 10)


@pytest.fixture
def axes():
    figure = figures.Figure()
    yield figure.subplots()
    figure.savefig(io.BytesIO(), format="png")


def test_line(axes):
    grid = sweep(TOY, size=SIZES, ranks=4, bandwidth="1 GB/s/dir").to("ms")
    grid.plot(ax=axes)
    assert axes.get_xlabel() == "size, kB"
    assert axes.get_ylabel() == "time, ms"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert np.array_equal(axes.lines[0].get_ydata(), grid.values)


def test_family_of_lines(axes):
    grid = sweep(TOY, ranks=[2, 8], size=SIZES, bandwidth="1 GB/s/dir")
    grid.plot(ax=axes)
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["2", "8"]
    assert len(axes.lines) == 2


def test_heat_map(axes):
    grid = sweep(TOY, size=SIZES, ranks=4, bandwidth=RATES)
    grid.plot(ax=axes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("bandwidth, GB/s/dir", "size, kB")
    assert len(axes.figure.axes) == 2


def test_map_of_winners(axes):
    grid = sweep(TOY, size=SIZES, ranks=64, bandwidth=RATES, latency="5 us", algorithm="best")
    grid.plot(ax=axes)
    shown = {t.get_text() for t in axes.get_legend().get_texts()}
    assert shown == set(np.unique(grid["algorithm"]))


def test_histogram_and_front(axes):
    sweep(TOY, size=SIZES, ranks=[2, 4], bandwidth=RATES,
          reduce=sweeps.histogram(bins=5, log=True)).plot(ax=axes)  # fmt: skip
    assert axes.get_xscale() == "log"
    front = sweep(TOY, size=SIZES, ranks=[2, 4], bandwidth=RATES,
                  reduce=sweeps.pareto("time", maximize="size"))  # fmt: skip
    axes.clear()
    front.plot(ax=axes)
    assert axes.get_ylabel() == "size, byte"


def test_what_cannot_be_drawn_is_said(axes):
    grid = sweep(TOY, size=SIZES, ranks=[2, 4], bandwidth=RATES)
    with pytest.raises(ArgumentError, match="one or two axes"):
        grid.plot(ax=axes)
    with pytest.raises(ArgumentError, match="kind is"):
        grid.isel(ranks=0).plot(ax=axes, kind="pie")
