"""Runs reductions: blocks of rows folded on threads, joined in order, labelled at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from attrs import evolve, frozen

from scalemath import __version__
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.sweeps import bounds, dense, execute, folds
from scalemath.sweeps.axes import Array, Coordinate, as_si
from scalemath.sweeps.drivers import Arithmetic, cursors, driver, guarded
from scalemath.sweeps.execute import Block, Blocks
from scalemath.sweeps.generate import Fold
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.layout import Layout
from scalemath.sweeps.places import labelled_places, table
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output, Wiring
from scalemath.sweeps.reductions import (
    Bins,
    Count,
    Crossing,
    Extreme,
    Front,
    Mean,
    Quantiles,
    Ranking,
    Reduction,
)
from scalemath.sweeps.walks import FoldingWalk, folding_walk, scanning_walk

T = TypeVar("T")
NOWHERE = -1
LATEST = np.iinfo(np.int64).max
ROOM = 1024
"""Points of a front for which a block has room at first."""


@frozen
class Run:
    """How to run: threads, arithmetic, display.

    Attributes
    ----------
    threads : int
        Blocks at once.
    arithmetic : str
        "fast" or "strict".
    progress : bool or callable
        Display.
    """

    threads: int
    arithmetic: Arithmetic
    progress: execute.Progress

    def blocks(
        self,
        problem: Problem,
        todo: Blocks,
        work: Callable[[Block], T],
        merge: Callable[[Block, T], None],
    ) -> None:
        """Do all blocks."""
        points = todo.rows * todo.points_per_row
        meter = execute.make_meter(self.progress, points, problem.model.name)
        try:
            execute.run(work, todo, merge, self.threads, meter)
        finally:
            meter.close()


def reduce(problem: Problem, reduction: Reduction, outputs: Sequence[Output], how: Run) -> Grid:
    """Run one reduction.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    reduction : Reduction
        What to keep.
    outputs : sequence of Output
        What to report in addition at the points found.
    how : Run
        Threads and the like.

    Returns
    -------
    Grid
        The answer.
    """
    if isinstance(reduction, Extreme):
        return _extreme(problem, reduction, outputs, how)
    if isinstance(reduction, Ranking):
        return _ranking(problem, reduction, outputs, how)
    if isinstance(reduction, Front):
        return _front(problem, reduction, outputs, how)
    if isinstance(reduction, Crossing):
        return _crossing(problem, reduction, how)
    if isinstance(reduction, Mean):
        return _mean(problem, reduction, how)
    if isinstance(reduction, Count):
        return _count(problem, reduction, how)
    if isinstance(reduction, Bins):
        return _histogram(problem, reduction, how)
    return _quantiles(problem, reduction, how)


# --- lanes -------------------------------------------------------------------------------


def fold_lanes(
    problem: Problem,
    wiring: Wiring,
    walk: FoldingWalk,
    fold: Fold,
    empty: tuple[tuple[Any, Any], ...],
    join: Callable[[list[Array], list[Array]], None],
    how: Run,
    more: tuple[Any, ...] = (),
    exact_order: bool = False,
    per_lane: bool = False,
) -> list[Array]:
    """Fold all rows into lanes.

    Parameters
    ----------
    problem, wiring, walk : Problem, Wiring, FoldingWalk
        What to compute and how to walk.
    fold : Fold
        What to do with each row.
    empty : tuple of (dtype, value)
        Lanes of a cell without points, one entry per array of the fold.
    join : callable
        Joins lanes of a later block into those so far, in place.
    how : Run
        Threads and the like.
    more : tuple
        Further arguments of the fold.
    exact_order : bool
        Whether blocks must not depend on their cost, because sums are formed.
    per_lane : bool
        Whether the fold keeps lanes even where they are joined in the end.

    Returns
    -------
    list of numpy.ndarray
        Lanes of all cells, one array per array of the fold.
    """
    own = walk.layout
    width = walk.width(per_lane)
    lanes = walk.cells * width
    dense.check_room((lanes,), [np.dtype(kind) for kind, _ in empty], problem)
    found = [np.full(lanes, value, dtype=kind) for kind, value in empty]
    head = (walk.place_offsets,) if "offsets" in fold.arguments else ()
    drive = driver(wiring, own, fold, how.arithmetic, (*head, *found, *more))
    whole_cells = walk.rows_per_cell * own.tile <= execute.BLOCK_POINTS
    moves = [walk.lane_cursor(width)]
    moves += [walk.place_cursor] if "q" in fold.cursors else []

    def work(block: Block) -> tuple[int, int, list[Array]]:
        first = block.first // walk.rows_per_cell
        last = -(-block.last // walk.rows_per_cell)
        begin, end = first * width, last * width
        own_lanes = found
        if not whole_cells:
            own_lanes = [np.full(end - begin, value, dtype=kind) for kind, value in empty]
        start, strides = cursors(
            own, [0 if whole_cells else -begin] + [0] * (len(moves) - 1), moves
        )
        guarded(
            wiring,
            lambda: drive(
                block.first, block.last, own.shape, start, strides, own.tile, own.length, own.data,
                *head, *own_lanes, *more,
            ),
        )  # fmt: skip
        return begin, end, own_lanes

    def merge(_: Block, answer: tuple[int, int, list[Array]]) -> None:
        begin, end, lanes_of_block = answer
        if not whole_cells:
            join([array[begin:end] for array in found], lanes_of_block)

    multiple = walk.rows_per_cell if whole_cells else 1
    how.blocks(problem, Blocks(own.rows, own.tile, multiple, exact_order), work, merge)
    return found


def _join_extremes(so_far: list[Array], later: list[Array]) -> None:
    better = (later[0] < so_far[0]) | (
        (later[0] == so_far[0]) & (later[1] >= 0) & ((later[1] < so_far[1]) | (so_far[1] < 0))
    )
    np.copyto(so_far[0], later[0], where=better)
    np.copyto(so_far[1], later[1], where=better)


def _extreme(problem: Problem, reduction: Extreme, outputs: Sequence[Output], how: Run) -> Grid:
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


def _crossing(problem: Problem, reduction: Crossing, how: Run) -> Grid:
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


def _mean(problem: Problem, reduction: Mean, how: Run) -> Grid:
    """Mean over axes."""
    output = output_of(problem, reduction.output)
    folded = axes_of(problem, reduction.over)
    wiring = problem.wiring([output])
    walk = folding_walk(problem, wiring, folded)

    def join(so_far: list[Array], later: list[Array]) -> None:
        so_far[0] += later[0]
        so_far[1] += later[1]

    empty = ((np.float64, 0.0), (np.int64, 0))
    sums, counts = fold_lanes(
        problem, wiring, walk, folds.total(), empty, join, how, exact_order=True, per_lane=True
    )
    with np.errstate(invalid="ignore"):
        width = walk.width(True)
        found = walk.join(sums, width).sum(axis=-1) / walk.join(counts, width).sum(axis=-1)
    return kept_grid(
        problem, walk.kept, {output.label: found}, {output.label: unit_of(problem, output)}
    )


def _count(problem: Problem, reduction: Count, how: Run) -> Grid:
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


# --- consumers ---------------------------------------------------------------------------


def scan(
    problem: Problem,
    outputs: Sequence[Output],
    fold: Fold,
    fresh: Callable[[Layout], tuple[Any, ...]],
    merge: Callable[[tuple[Any, ...]], None],
    how: Run,
    retry: Callable[[tuple[Any, ...]], tuple[Any, ...] | None] = lambda _: None,
) -> None:
    """Hand every row to a consumer.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    outputs : sequence of Output
        What each row computes.
    fold : Fold
        The consumer.
    fresh : callable
        Makes the consumer's own arguments for a block.
    merge : callable
        Takes them, filled, in the order of the blocks.
    how : Run
        Threads and the like.
    retry : callable
        Given the filled arguments, returns larger ones with which the block is done again,
        or None when they sufficed.
    """
    wiring = problem.wiring(outputs)
    own, place_cursor, offsets = scanning_walk(problem, wiring)
    head = (offsets,) if "offsets" in fold.arguments else ()
    moves = [place_cursor] if "q" in fold.cursors else []
    drive = driver(wiring, own, fold, how.arithmetic, (*head, *fresh(own)))
    start, strides = cursors(own, [0] * len(moves), moves)

    def work(block: Block) -> tuple[Any, ...]:
        kept: tuple[Any, ...] | None = fresh(own)
        filled: tuple[Any, ...] = ()
        while kept is not None:
            filled = kept
            guarded(
                wiring,
                lambda: drive(
                    block.first, block.last, own.shape, start, strides, own.tile, own.length,
                    own.data, *head, *filled,  # noqa: B023
                ),
            )  # fmt: skip
            kept = retry(filled)
        return filled

    how.blocks(problem, Blocks(own.rows, own.tile), work, lambda _, filled: merge(filled))


def _ranking(problem: Problem, reduction: Ranking, outputs: Sequence[Output], how: Run) -> Grid:
    """The best points."""
    output = output_of(problem, reduction.output)
    count = min(reduction.count, math.prod(problem.grid))
    if count > 10_000_000:
        raise RangeError(f"top: {count} points are too many to rank; store the grid instead")
    sign = reduction.sign
    box = None
    if reduction.bounded and math.prod(problem.grid) >= bounds.WORTH_IT and count <= 1 << 20:
        box = bounds.arrange(problem, output, sign)
    if box is not None and box.combinations <= bounds.MANY:
        values, places, evaluated = bounds.top_by_bounds(problem, box, sign, count, how.progress)
        method = "bounds"
    else:
        values, places = exact_top(problem, output, sign, count, how)
        method, evaluated = "scan", math.prod(problem.grid)
    also = [o for o in outputs if o.label != output.label]
    found = table(problem, places, {output.label: values * sign}, also)
    return evolve(found, provenance={**found.provenance, "method": method, "evaluated": evaluated})


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

    def fresh(_: Layout) -> tuple[Any, ...]:
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


def _front(problem: Problem, reduction: Front, outputs: Sequence[Output], how: Run) -> Grid:
    """Pareto front."""
    wanted = [output_of(problem, o) for o in reduction.outputs]
    dimensions = len(wanted)
    kept = [np.zeros((dimensions, 0)), np.zeros(0, dtype=np.int64)]

    def fresh(_: Layout) -> tuple[Any, ...]:
        known = kept[0].shape[1]
        room = max(ROOM, 2 * min(known, 4 * ROOM))
        front, places = np.zeros((dimensions, room)), np.zeros(room, dtype=np.int64)
        state = np.zeros(2, dtype=np.int64)
        if 0 < known <= room // 2:
            front[:, :known], places[:known], state[0] = kept[0], kept[1], known
        return front, places, state

    def retry(filled: tuple[Any, ...]) -> tuple[Any, ...] | None:
        front, _, state = filled
        if state[1] == 0:
            return None
        room = 4 * front.shape[1]
        return (
            np.zeros((dimensions, room)),
            np.zeros(room, dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )

    def merge(filled: tuple[Any, ...]) -> None:
        front, places, state = filled
        size = int(state[0])
        every = np.concatenate([kept[0], front[:, :size]], axis=1)
        where = np.concatenate([kept[1], places[:size]])
        chosen = undominated(every, where)
        kept[0], kept[1] = np.ascontiguousarray(every[:, chosen]), where[chosen]

    scan(problem, wanted, folds.front(reduction.signs), fresh, merge, how, retry)
    values = {o.label: kept[0][i] * reduction.signs[i] for i, o in enumerate(wanted)}
    also = [o for o in outputs if o.label not in values]
    return table(problem, kept[1], values, also)


def undominated(values: Array, places: Array) -> Array:
    """Indices of the points of a front, in lexicographic order of their values.

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
    order: Array = np.lexsort((places, *values[::-1]))
    values = values[:, order]
    if values.shape[1] == 0:
        return order
    same = np.all(values[:, 1:] == values[:, :-1], axis=0)
    order, values = order[np.r_[True, ~same]], values[:, np.r_[True, ~same]]
    if values.shape[0] == 2:
        before = np.r_[math.inf, np.minimum.accumulate(values[1])[:-1]]
        flat: Array = order[values[1] < before]
        return flat
    chosen = np.zeros(order.size, dtype=bool)
    left = np.arange(order.size)
    while left.size:
        # the lexicographically first of those left is beaten by none
        head = left[0]
        chosen[head] = True
        beaten = np.all(values[:, left] >= values[:, head, None], axis=0)
        left = left[~beaten]
    front: Array = order[chosen]
    return front


def _histogram(problem: Problem, reduction: Bins, how: Run) -> Grid:
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

    def fresh(_: Layout) -> tuple[Any, ...]:
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
        provenance=provenance(problem),
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


def _quantiles(problem: Problem, reduction: Quantiles, how: Run) -> Grid:
    """Exact quantiles by counting sixteen bits of the value after another."""
    output = output_of(problem, reduction.output)
    shares = np.array(reduction.shares)
    heads = np.zeros(1, dtype=np.int64)
    ranks = np.zeros(0, dtype=np.int64)
    for level in range(4):
        counts = np.zeros((heads.size, 65536), dtype=np.int64)

        def fresh(_: Layout, heads: Array = heads, level: int = level) -> tuple[Any, ...]:
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
        provenance=provenance(problem),
    )


# --- shared ------------------------------------------------------------------------------


def output_of(problem: Problem, given: str | Output) -> Output:
    """Return the output that a reduction names; the model's main one when it names none."""
    output = given if isinstance(given, Output) else Output(given or problem.model.default_output)
    problem.check_output(output.name)
    if output.name in problem.best:
        raise ArgumentError(f"{output.name} is a name; a reduction needs a number")
    if output.along:
        check_elasticity(problem, output)
    return output


def check_elasticity(problem: Problem, output: Output) -> None:
    """Refuse an elasticity by something that cannot vary continuously."""
    parameter = problem.model.parameter(output.along)
    if parameter.kind in ("count", "choice"):
        raise ArgumentError(
            f"elasticity by {output.along}: it is a {parameter.kind}, which has no small change; "
            "sweep over its values and use Grid.elasticity"
        )
    if any(name == output.along for name, _, _ in problem.derived):
        raise ArgumentError(f"elasticity by {output.along}: it depends on other parameters here")


def axes_of(problem: Problem, names: Sequence[str]) -> tuple[int, ...]:
    """Places of named axes, all of them when none is named."""
    found = []
    for name in names:
        axis = name
        if axis not in problem.names and name in problem.coordinates:
            axis = problem.coordinates[name].axes[0]
        if axis not in problem.names:
            raise ArgumentError(
                f"the sweep has no axis {name!r} to reduce over; there are "
                f"{', '.join(problem.names) or 'none'}"
            )
        found.append(problem.names.index(axis))
    if len(set(found)) != len(found):
        raise ArgumentError(f"an axis is named twice: {', '.join(names)}")
    return tuple(sorted(found)) if found else tuple(range(len(problem.grid)))


def unit_of(problem: Problem, output: Output) -> str:
    """SI unit of an output."""
    return "1" if output.along else problem.units()[output.name]


def threshold_of(problem: Problem, output: Output, given: Any) -> float:
    """SI value of a threshold for an output."""
    found = as_si(given, unit_of(problem, output), f"threshold for {output.label}")
    if not math.isfinite(found):
        raise ArgumentError(f"threshold for {output.label} is {found}; it must be finite")
    return found


def kept_grid(
    problem: Problem, kept: Sequence[int], outputs: dict[str, Array], units: dict[str, str]
) -> Grid:
    """Label arrays over the axes that stay."""
    axes = tuple(problem.names[a] for a in kept)
    coordinates = {
        n: c for n, c in problem.coordinates.items() if all(axis in axes for axis in c.axes)
    }
    return Grid(
        model=problem.model.name,
        axes=axes,
        coordinates=coordinates,
        outputs={n: np.asarray(a) for n, a in outputs.items()},
        units=units,
        fixed=problem.shown(),
        provenance=provenance(problem),
    )


def provenance(problem: Problem) -> dict[str, Any]:
    """What is needed to repeat a sweep."""
    found: dict[str, Any] = {"version": __version__, "points": math.prod(problem.grid)}
    if problem.where is not None:
        found["where"] = problem.where.text
    return found
