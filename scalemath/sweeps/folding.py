"""Reductions over axes: extremes, first crossings, means, counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scalemath.sweeps import folds
from scalemath.sweeps.axes import Array
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.labels import axes_of, kept_grid, output_of, threshold_of, unit_of
from scalemath.sweeps.places import labelled_places
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output
from scalemath.sweeps.reductions import Count, Crossing, Extreme, Mean
from scalemath.sweeps.running import Run, fold_lanes
from scalemath.sweeps.walks import folding_walk

NOWHERE = -1
LATEST = np.iinfo(np.int64).max


def _join_extremes(so_far: list[Array], later: list[Array]) -> None:
    better = (later[0] < so_far[0]) | (
        (later[0] == so_far[0]) & (later[1] >= 0) & ((later[1] < so_far[1]) | (so_far[1] < 0))
    )
    np.copyto(so_far[0], later[0], where=better)
    np.copyto(so_far[1], later[1], where=better)


def extreme(problem: Problem, reduction: Extreme, outputs: Sequence[Output], how: Run) -> Grid:
    """Least or largest value over axes, and where."""
    output = output_of(problem, reduction.output)
    folded = axes_of(problem, reduction.over)
    wiring = problem.wiring([output])
    walk = folding_walk(problem, wiring, folded)
    empty = ((np.float64, math.inf), (np.int64, NOWHERE))
    fold = folds.extreme(reduction.sign, walk.lanes_kept)
    lowest, where = fold_lanes(problem, wiring, walk, fold, empty, _join_extremes, how)
    width = walk.width(False)
    lowest, where = walk.join(lowest, width), walk.join(where, width)
    values = lowest.min(axis=-1)
    tied = (lowest == values[..., None]) & (where >= 0)
    places = np.where(tied, where, LATEST).min(axis=-1)
    places = np.where(places == LATEST, NOWHERE, places)
    found = np.array(values * reduction.sign)
    if problem.where is not None or problem.derived:
        found[places < 0] = math.nan
    also = [o for o in outputs if o.label != output.label]
    return labelled_places(problem, walk.kept, walk.folded, places, output, found, also)


def crossing(problem: Problem, reduction: Crossing, how: Run) -> Grid:
    """First or last place along an axis beyond a threshold."""
    output = output_of(problem, reduction.output)
    folded = axes_of(problem, (reduction.along,))
    threshold = threshold_of(problem, output, reduction.threshold)
    wiring = problem.wiring([output])
    walk = folding_walk(problem, wiring, folded)
    nothing = NOWHERE if reduction.is_last else LATEST
    pick = np.maximum if reduction.is_last else np.minimum

    def join(so_far: list[Array], later: list[Array]) -> None:
        pick(so_far[0], later[0], out=so_far[0])

    fold = folds.crossing(reduction.comparison, reduction.is_last, walk.lanes_kept)
    (places,) = fold_lanes(
        problem, wiring, walk, fold, ((np.int64, nothing),), join, how, (threshold,)
    )
    places = pick.reduce(walk.join(places, walk.width(False)), axis=-1)
    places = np.where(places == nothing, NOWHERE, places)
    return labelled_places(problem, walk.kept, walk.folded, places, None, None, [])


def mean(problem: Problem, reduction: Mean, how: Run) -> Grid:
    """Mean over axes."""
    output = output_of(problem, reduction.output)
    folded = axes_of(problem, reduction.over)
    wiring = problem.wiring([output])
    walk = folding_walk(problem, wiring, folded)

    def join(so_far: list[Array], later: list[Array]) -> None:
        so_far[0] += later[0]
        so_far[1] += later[1]

    empty = ((np.float64, 0.0), (np.int64, 0))
    sums, counts = fold_lanes(problem, wiring, walk, folds.total(), empty, join, how, sums=True)
    with np.errstate(invalid="ignore"):
        width = walk.width(True)
        found = walk.join(sums, width).sum(axis=-1) / walk.join(counts, width).sum(axis=-1)
    return kept_grid(
        problem, walk.kept, {output.label: found}, {output.label: unit_of(problem, output)}
    )


def count(problem: Problem, reduction: Count, how: Run) -> Grid:
    """Number of points beyond a threshold."""
    output = output_of(problem, reduction.output)
    threshold = threshold_of(problem, output, reduction.threshold)
    folded = axes_of(problem, reduction.over)
    wiring = problem.wiring([output])
    walk = folding_walk(problem, wiring, folded)

    def join(so_far: list[Array], later: list[Array]) -> None:
        so_far[0] += later[0]

    fold = folds.counting(reduction.comparison, walk.lanes_kept)
    (counts,) = fold_lanes(problem, wiring, walk, fold, ((np.int64, 0),), join, how, (threshold,))
    found = walk.join(counts, walk.width(False)).sum(axis=-1)
    return kept_grid(problem, walk.kept, {"count": found}, {"count": "1"})
