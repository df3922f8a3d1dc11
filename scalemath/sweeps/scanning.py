"""Reductions that look at every point: rankings, Pareto fronts, histograms, quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import evolve

from scalemath.core.errors import RangeError
from scalemath.sweeps import bounds, folds
from scalemath.sweeps.axes import Array, Coordinate
from scalemath.sweeps.execute import Block
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.labels import output_of, threshold_of, unit_of, with_method
from scalemath.sweeps.places import table
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output
from scalemath.sweeps.reductions import Bins, Front, Quantiles, Ranking
from scalemath.sweeps.running import Run, ScanTask, front_room, scan

LATEST = np.iinfo(np.int64).max
ROOM = 1 << 16
"""Points of a front for which a block has room at first."""


def ranking(problem: Problem, reduction: Ranking, outputs: Sequence[Output], how: Run) -> Grid:
    """The best points."""
    output = output_of(problem, reduction.output)
    count = min(reduction.count, math.prod(problem.grid))
    if count > 10_000_000:
        raise RangeError(f"top: {count} points are too many to rank; store the grid instead")
    sign = reduction.sign
    box = None
    if reduction.bounded and math.prod(problem.grid) >= bounds.WORTH_IT and count <= 1 << 20:
        box = bounds.arrange(problem, output, sign)
    quick = None
    if box is not None and box.combinations <= bounds.MANY:
        quick = bounds.top_by_bounds(problem, box, sign, count, how.progress)
    if quick is not None:
        values, places, evaluated = quick
        method = "bounds"
    else:
        values, places = exact_top(problem, output, sign, count, how)
        method, evaluated = "scan", math.prod(problem.grid)
    also = [o for o in outputs if o.label != output.label]
    found = table(problem, places, {output.label: values * sign}, also)
    return with_method(found, method, evaluated)


def exact_top(
    problem: Problem, output: Output, sign: int, count: int, how: Run
) -> tuple[Array, Array]:
    """Rank by a scan, and rank what it found again in strict arithmetic.

    Fast arithmetic may be off in the last digit, and differently so for different walks; the
    final order is that of the scalar call. Where that leaves doubt about which points
    belong to the best, the scan is repeated in strict arithmetic.
    """
    spare = 16
    rough, places = top_by_scan(problem, output, sign, count + spare, how)
    if how.arithmetic != "strict" and rough.size:
        picked = table(problem, places, {}, [output]).outputs[output.label]
        values = np.asarray(picked, dtype=float) * sign
        order = np.lexsort((places, values))[:count]
        ends = values[order[-1]], rough[-1]
        if rough.size < count + spare or ends[1] - ends[0] > 1e-12 * abs(ends[1]):
            return values[order], places[order]
        rough, places = top_by_scan(problem, output, sign, count, evolve(how, arithmetic="strict"))
    return rough[:count], places[:count]


def top_by_scan(
    problem: Problem, output: Output, sign: int, count: int, how: Run
) -> tuple[Array, Array]:
    """Rank all points by evaluating each of them.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    output : Output
        What to rank by.
    sign : int
        1 for least first, -1 for largest first.
    count : int
        How many to keep.
    how : Run
        Threads and the like.

    Returns
    -------
    tuple of numpy.ndarray
        Signed values in order, and places in the grid's own order.
    """
    best = np.full(count, math.inf)
    places = np.full(count, LATEST, dtype=np.int64)

    def fresh() -> tuple[Any, ...]:
        # what is known so far prunes; it never changes the answer
        limit = best[-1]
        heap = np.full(count, limit)
        return heap, np.full(count, LATEST, dtype=np.int64)

    def merge(filled: tuple[Any, ...]) -> None:
        values, where = filled
        used = where != LATEST
        if not used.any():
            return
        every = np.concatenate([best, values[used]])
        all_places = np.concatenate([places, where[used]])
        order = np.lexsort((all_places, every))[:count]
        best[:], places[:] = every[order], all_places[order]

    scan(problem, [output], folds.least(sign), fresh, merge, how)
    used = places != LATEST
    return best[used], places[used]


def front(problem: Problem, reduction: Front, outputs: Sequence[Output], how: Run) -> Grid:
    """Pareto front."""
    wanted = [output_of(problem, o) for o in reduction.outputs]
    dimensions = len(wanted)
    kept = [np.zeros((dimensions, 0)), np.zeros(0, dtype=np.int64)]
    filters: list[Array] = []
    reduced = [0]
    started: list[ScanTask] = []

    def fresh() -> tuple[Any, ...]:
        own = front_room(dimensions, ROOM)
        if filters:  # what was beaten before will be beaten again
            own[2][2] = 1
            own[3][:], own[4][:] = filters
        elif dimensions == 2 and 0 < kept[1].size <= ROOM // 2:
            own[0][:, : kept[1].size], own[1][: kept[1].size] = kept
            own[2][0] = kept[1].size
        return own

    def merge(filled: tuple[Any, ...]) -> None:
        size = int(filled[2][0])
        kept[0] = np.concatenate([kept[0], filled[0][:, :size]], axis=1)
        kept[1] = np.concatenate([kept[1], filled[1][:size]])
        if dimensions == 2:
            chosen = undominated(kept[0], kept[1])
            kept[:] = [np.ascontiguousarray(kept[0][:, chosen]), kept[1][chosen]]
        elif kept[1].size > 1.5 * reduced[0] + 1000:
            shrink()

    def shrink() -> None:
        """Reduce what was gathered to its front, by the compiled code, and renew the filter."""
        own = front_room(dimensions, max(kept[1].size, 1))
        own[0][:, : kept[1].size], own[1][: kept[1].size] = kept
        own[2][0] = kept[1].size
        started[0].job.run(Block(0, 0), own)
        size = reduced[0] = int(own[2][0])
        kept[:] = [own[0][:, :size].copy(), own[1][:size].copy()]
        filters[:] = own[3:]

    scan(problem, wanted, folds.front(reduction.signs), fresh, merge, how, started)
    if dimensions > 2:
        shrink()
        order = np.lexsort((kept[1], *kept[0][::-1]))
        kept[:] = [kept[0][:, order], kept[1][order]]
    values = {o.label: kept[0][i] * reduction.signs[i] for i, o in enumerate(wanted)}
    also = [o for o in outputs if o.label not in values]
    return table(problem, kept[1], values, also)


def undominated(values: Array, places: Array) -> Array:
    """Indices of the points of a front of two objectives, in order of the first.

    Parameters
    ----------
    values : numpy.ndarray
        One row per objective, small is good.
    places : numpy.ndarray
        Of equal points the one with the least place stays.

    Returns
    -------
    numpy.ndarray
        Indices.
    """
    order: Array = np.lexsort((places, values[1], values[0]))
    if order.size == 0:
        return order
    second = values[1, order]
    before = np.r_[math.inf, np.minimum.accumulate(second)[:-1]]
    front: Array = order[second < before]
    return front


def histogram(problem: Problem, reduction: Bins, how: Run) -> Grid:
    """Counts by bins."""
    output = output_of(problem, reduction.output)
    unit = unit_of(problem, output)
    ends = [
        None if end is None else threshold_of(problem, output, end)
        for end in (reduction.low, reduction.high)
    ]
    if None in ends:
        extremes = _finite_extremes(problem, output, how)
        ends = [e if given is None else given for given, e in zip(ends, extremes, strict=True)]
    low, high = float(ends[0] or 0.0), float(ends[1] or 0.0)
    if reduction.logarithmic and not low > 0:
        raise RangeError(f"histogram: bins of equal ratio need positive values, low is {low:g}")
    if not low < high:
        if reduction.low is not None or reduction.high is not None or not low == high:
            raise RangeError(f"histogram: low {low:g} must lie below high {high:g}")
        low, high = low * 0.5 - (low == 0), high * 1.5 + (high == 0)
        low, high = min(low, high), max(low, high)
    space = np.geomspace if reduction.logarithmic else np.linspace
    edges = space(low, high, reduction.bins + 1)
    edges[0], edges[-1] = low, high
    counts = np.zeros(reduction.bins + 3, dtype=np.int64)

    def merge(filled: tuple[Any, ...]) -> None:
        counts[:] += filled[1]

    def fresh() -> tuple[Any, ...]:
        return edges, np.zeros(reduction.bins + 3, dtype=np.int64)

    scan(problem, [output], folds.binned(reduction.logarithmic), fresh, merge, how)
    return Grid(
        model=problem.model.name,
        axes=("bin",),
        coordinates={
            f"{output.label}_low": Coordinate(
                f"{output.label}_low", ("bin",), edges[:-1], unit, unit
            ),
            f"{output.label}_high": Coordinate(
                f"{output.label}_high", ("bin",), edges[1:], unit, unit
            ),
        },
        outputs={"count": counts[: reduction.bins]},
        units={"count": "1"},
        fixed={
            **problem.shown(),
            "points below": (float(counts[-3]), "1"),
            "points above": (float(counts[-2]), "1"),
            "points excluded": (float(counts[-1]), "1"),
        },
        provenance=problem.provenance(),
    )


def _finite_extremes(problem: Problem, output: Output, how: Run) -> tuple[float, float]:
    """Least and largest finite value."""
    found = []
    for sign in (1, -1):
        values, _ = top_by_scan(problem, output, sign, 1, how)
        if not values.size:
            raise RangeError(f"{output.label} has no finite value anywhere in the sweep")
        found.append(float(values[0]) * sign)
    return found[0], found[1]


def quantiles(problem: Problem, reduction: Quantiles, how: Run) -> Grid:
    """Exact quantiles by counting sixteen bits of the value after another."""
    output = output_of(problem, reduction.output)
    shares = np.array(reduction.shares)
    heads = np.zeros(1, dtype=np.int64)
    ranks = np.zeros(0, dtype=np.int64)
    for level in range(4):
        counts = np.zeros((heads.size, 65536), dtype=np.int64)

        def fresh(heads: Array = heads, level: int = level) -> tuple[Any, ...]:
            return heads, level, np.zeros((heads.size, 65536), dtype=np.int64)

        def merge(filled: tuple[Any, ...], counts: Array = counts) -> None:
            counts += filled[2]

        scan(problem, [output], folds.digits(), fresh, merge, how)
        if level == 0:
            finite = int(counts.sum())
            if finite == 0:
                raise RangeError(f"{output.label} has no finite value anywhere in the sweep")
            ranks = np.maximum(np.ceil(shares * finite).astype(np.int64), 1)
            counts = np.repeat(counts, shares.size, axis=0)
        passed = np.cumsum(counts, axis=1)
        digit = np.array([np.searchsorted(p, r) for p, r in zip(passed, ranks, strict=True)])
        before = passed[np.arange(shares.size), digit] - counts[np.arange(shares.size), digit]
        ranks = ranks - before
        heads = digit - 32768 if level == 0 else (heads << 16) | digit
    bits = np.where(heads < 0, heads ^ np.int64(0x7FFFFFFFFFFFFFFF), heads)
    values = bits.astype(np.int64).view(np.float64)
    return Grid(
        model=problem.model.name,
        axes=("share",),
        coordinates={"share": Coordinate("share", ("share",), shares)},
        outputs={output.label: values},
        units={output.label: unit_of(problem, output)},
        fixed=problem.shown(),
        provenance=problem.provenance(),
    )
