"""Reductions over axes: extremes, first crossings, means, counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import evolve

from scalemath.sweeps import bounds, folds
from scalemath.sweeps.axes import Array
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.labels import (
    axes_of,
    kept_grid,
    output_of,
    threshold_of,
    unit_of,
    with_method,
)
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
    """Least or largest value over axes, and where, compared in strict arithmetic."""
    how = evolve(how, arithmetic="strict")
    output = output_of(problem, reduction.output)
    folded = axes_of(problem, reduction.over)
    also = [o for o in outputs if o.label != output.label]
    wiring = problem.wiring([output])
    if reduction.bounded and len(folded) == len(problem.grid):
        best = bounds.optimum(problem, output, reduction.sign, how.progress)
        if best is not None:
            value, place = np.array(best[0] * reduction.sign), np.array(best[1])
            answer = labelled_places(problem, (), folded, place, output, value, also)
            return with_method(answer, "bounds", best[2])
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
    found[places < 0] = math.nan  # there is no point but those left out
    answer = labelled_places(problem, walk.kept, walk.folded, places, output, found, also)
    return with_method(answer, "scan", math.prod(problem.grid))


def crossing(problem: Problem, reduction: Crossing, how: Run) -> Grid:
    """First or last place along an axis beyond a threshold, compared in strict arithmetic."""
    how = evolve(how, arithmetic="strict")
    output = output_of(problem, reduction.output)
    folded = axes_of(problem, (reduction.along,))
    threshold = threshold_of(problem, output, reduction.threshold)
    wiring = problem.wiring([output])
    found = None
    if reduction.bounded:
        found = bounds.boundary(
            problem, output, folded[0], reduction.comparison, threshold, how.threads
        )
    if found is not None:
        number, after = found
        length = problem.grid[folded[0]]
        if after:  # the condition holds from there on
            places = np.where(number < length, length - 1 if reduction.is_last else number, NOWHERE)
        else:
            places = np.where(number > 0, number - 1 if reduction.is_last else 0, NOWHERE)
        kept = tuple(a for a in range(len(problem.grid)) if a != folded[0])
        answer = labelled_places(problem, kept, folded, places, None, None, [])
        rounds = math.ceil(math.log2(length + 1))
        return with_method(answer, "bounds", number.size * rounds)
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
    answer = labelled_places(problem, walk.kept, walk.folded, places, None, None, [])
    return with_method(answer, "scan", math.prod(problem.grid))


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
    """Number of points beyond a threshold, compared in strict arithmetic."""
    how = evolve(how, arithmetic="strict")
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
