"""Answers without evaluating every point: branch and bound on declared directions.

Where an output only rises or only falls with a parameter, its least value in a box of points is at
one known corner. A box whose corner cannot compete is left out whole; the others are halved. The
kernel is the same, in strict arithmetic, and what is compared with the best so far gets a slack
far above rounding, so the answer is that of evaluating everything. Axes without a
direction (algorithms, counts with logarithms, zipped axes) are enumerated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from attrs import evolve, frozen

from scalemath.sweeps import dense, execute, generate
from scalemath.sweeps.axes import Array
from scalemath.sweeps.directions import directions, monotone
from scalemath.sweeps.drivers import compile_text, guarded, replacements
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output, Wiring

PATIENCE = 16
"""A search evaluates no more than one in so many points; a scan is as much quicker a point."""
WORTH_IT = 1 << 23
"""Grids with fewer points are scanned: that takes less time than thinking."""
MANY = 1 << 22
"""Most combinations of enumerated axes for which a search is worth while."""
BUDGET = 1 << 18
"""Evaluations per call of the compiled search, after which it can be stopped."""
SLACK = 1e-9
"""Relative margin within which a bound does not exclude a box."""


@frozen(eq=False)
class Box:
    """A problem arranged for the search.

    Attributes
    ----------
    wiring : Wiring
        Program.
    axes : tuple of int
        Axes of the grid in the search's order: those with a direction first.
    directed : int
        How many have one.
    lengths : numpy.ndarray
        Their lengths.
    axis_of, starts : numpy.ndarray
        For each input the axis it varies along (the last entry of `lengths` is a dummy of length
        one) and where its values begin.
    data : numpy.ndarray
        Values along each axis, the best first.
    place_starts, place_data : numpy.ndarray
        Contribution of each index to the place in the grid's own order.
    """

    wiring: Wiring
    axes: tuple[int, ...]
    directed: int
    lengths: Array
    axis_of: Array
    starts: Array
    data: Array
    place_starts: Array
    place_data: Array

    @property
    def combinations(self) -> int:
        """Number of points along the axes that are enumerated."""
        return int(math.prod(int(n) for n in self.lengths[self.directed :]))


def arrange(problem: Problem, output: Output, sign: int) -> Box | None:
    """Arrange a problem for the search, or return None when no axis has a direction.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    output : Output
        What is to be small (large for sign -1).
    sign : int
        1 or -1.

    Returns
    -------
    Box or None
        The arrangement.
    """
    if output.along or any(len(c.axes) != 1 for c in problem.coordinates.values()):
        return None
    wiring = problem.wiring([output])
    moves = directions(wiring, output.name)
    grid = problem.grid
    orders: dict[int, Array] = {}
    for number, axis in enumerate(problem.axes):
        own = [n for n, c in problem.coordinates.items() if c.axes == (axis.name,)]
        numeric = [n for n in own if not problem.coordinates[n].is_names]
        feeding = [n for n in numeric if n in wiring.inputs]
        if len(own) == 1 and numeric and len(feeding) <= 1 and grid[number] > 1:
            direction = monotone(moves, own[0]) * sign
            if direction:
                values = problem.coordinates[own[0]].values * direction
                orders[number] = np.argsort(values, kind="stable")
    matters = {
        problem.names.index(c.axes[0]) for n, c in problem.coordinates.items() if moves.get(n)
    }
    if not matters & set(orders):
        return None
    axes = [*orders, *(a for a in range(len(grid)) if a not in orders)]
    place_of = {axis: i for i, axis in enumerate(axes)}
    dummy = len(axes)
    pieces, starts, axis_of, offset = [], [], [], 0
    for array in problem.arrays(wiring):
        full = array.reshape((1,) * (len(grid) - array.ndim) + array.shape)
        varying = [a for a in range(len(grid)) if full.shape[a] > 1]
        flat = full.ravel()
        if varying and varying[0] in orders:
            flat = flat[orders[varying[0]]]
        axis_of.append(place_of[varying[0]] if varying else dummy)
        starts.append(offset)
        pieces.append(flat)
        offset += flat.size
    place_starts, places, at = [], [], 0
    step = math.prod(grid)
    strides = []
    for n in grid:
        step //= n
        strides.append(step)
    for number in axes:
        order = orders.get(number, np.arange(grid[number]))
        place_starts.append(at)
        places.append(order.astype(np.int64) * strides[number])
        at += grid[number]
    return Box(
        wiring=wiring,
        axes=tuple(axes),
        directed=len(orders),
        lengths=np.array([*(grid[a] for a in axes), 1], dtype=np.int64),
        axis_of=np.array(axis_of, dtype=np.int64),
        starts=np.array(starts, dtype=np.int64),
        data=np.concatenate(pieces).astype(np.float64),
        place_starts=np.array(place_starts, dtype=np.int64),
        place_data=np.concatenate(places),
    )


def top_by_bounds(
    problem: Problem,
    box: Box,
    sign: int,
    count: int,
    progress: execute.Progress,
    finite: bool = True,
) -> tuple[Array, Array, int] | None:
    """Find the best points by branch and bound.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    box : Box
        From `arrange`.
    sign : int
        1 for least first, -1 for largest first.
    count : int
        How many.
    progress : bool or callable
        Display; a count of the enumerated combinations that are done.
    finite : bool
        Whether infinite values are left out of account; if not, nothing is found where a
        corner is infinitely good.

    Returns
    -------
    tuple or None
        Signed values in order, places in the grid's own order, number of evaluations; None where
        so many points had to be looked at one by one that looking at all of them is quicker.
    """
    patience = max(math.prod(problem.grid) // PATIENCE, BUDGET)
    combinations = box.combinations
    best = np.full(count, math.inf)
    places = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    bounds = np.zeros(combinations)
    order = np.arange(combinations, dtype=np.int64)
    stack = np.zeros((4096, 2 * box.directed), dtype=np.int64)
    state = np.zeros(4, dtype=np.int64)
    arguments: tuple[Any, ...] = (
        box.lengths, box.directed, box.axis_of, box.starts, box.data, box.place_starts,
        box.place_data, order, bounds, stack, state, SLACK, best, places,
    )  # fmt: skip
    key = ("search", box.wiring.key(), sign)
    drive = compile_text(
        key,
        box.wiring,
        lambda: generate.search_text(box.wiring, sign, replacements()),
        "strict",
        arguments,
    )
    done = 0
    while done < combinations:
        last = min(combinations, done + BUDGET)
        guarded(box.wiring, lambda: drive(done, last, *arguments))  # noqa: B023
        done = last
    if not finite and np.isneginf(bounds).any():
        return best[:0], places[:0], combinations
    order[:] = np.argsort(bounds, kind="stable")
    evaluated = combinations
    state[:] = (0, 0, 0, 1)
    meter = execute.make_meter(progress, combinations, problem.model.name)
    shown = 0
    try:
        while state[0] < combinations:
            state[2] = 0
            guarded(box.wiring, lambda: drive(BUDGET, combinations, *arguments))
            evaluated += int(state[2])
            if evaluated > patience:
                return None
            meter.update(int(state[0]) - shown)
            shown = int(state[0])
    finally:
        meter.close()
    used = places != np.iinfo(np.int64).max
    ranked = np.lexsort((places[used], best[used]))
    return best[used][ranked], places[used][ranked], evaluated


def optimum(
    problem: Problem, output: Output, sign: int, progress: execute.Progress
) -> tuple[float, int, int] | None:
    """Find the least value of a large grid by branch and bound.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    output : Output
        What is to be small (large for sign -1).
    sign : int
        1 or -1.
    progress : bool or callable
        Display.

    Returns
    -------
    tuple or None
        Signed value, its place in the grid's own order and the number of evaluations; None where
        every point has to be looked at.
    """
    if math.prod(problem.grid) < WORTH_IT:
        return None
    box = arrange(problem, output, sign)
    if box is None or box.combinations > MANY:
        return None
    found = top_by_bounds(problem, box, sign, 1, progress, finite=False)
    if found is None or not found[0].size:
        return None
    return float(found[0][0]), int(found[1][0]), found[2]


def boundary(
    problem: Problem, output: Output, axis: int, comparison: str, threshold: float, threads: int
) -> tuple[Array, bool] | None:
    """Find by bisection where an output crosses a threshold along an axis.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    output : Output
        Output that is compared.
    axis : int
        Axis to go along.
    comparison : str
        ">" or "<".
    threshold : float
        SI value.
    threads : int
        Blocks at once.

    Returns
    -------
    tuple or None
        For every point of the other axes the number of values along the axis before the
        condition changes, and whether it holds after that change (else before it). None where
        no declared direction allows to bisect.
    """
    own = [c for c in problem.coordinates.values() if problem.names[axis] in c.axes]
    length = problem.grid[axis]
    if problem.where is not None or problem.derived or output.along or len(own) != 1 or length < 8:
        return None
    along = own[0]
    if along.is_names or len(along.axes) != 1 or math.prod(problem.grid) < WORTH_IT:
        return None
    steps = np.diff(along.values)
    wiring = problem.wiring([output])
    moves = directions(wiring, output.name).get(along.name, 0)
    if not moves or not (np.all(steps > 0) or np.all(steps < 0)):
        return None
    rising = moves * (1 if steps[0] > 0 else -1)
    after = (rising > 0) == (comparison == ">")
    kept = tuple(a for i, a in enumerate(problem.axes) if i != axis)
    others = {n: c for n, c in problem.coordinates.items() if c is not along}
    shape = tuple(a.length for a in kept)
    low, high = np.zeros(shape, dtype=np.int64), np.full(shape, length, dtype=np.int64)
    while (low < high).any():
        middle = np.minimum((low + high) // 2, length - 1)
        moved = evolve(along, axes=tuple(a.name for a in kept), values=along.values[middle])
        part = evolve(problem, axes=kept, coordinates={**others, along.name: moved})
        (values,) = dense.dense(
            part, [output], None, np.dtype(np.float64), threads, "strict", False
        )
        holds = values > threshold if comparison == ">" else values < threshold
        changed = holds == after
        open_ = low < high
        high = np.where(open_ & changed, middle, high)
        low = np.where(open_ & ~changed, middle + 1, low)
    return low, after
