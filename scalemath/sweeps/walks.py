"""Which axes to fuse and in which order to walk when nothing is stored."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen

from scalemath.sweeps import layout
from scalemath.sweeps.axes import Array
from scalemath.sweeps.layout import Layout
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Wiring

LONG_ENOUGH = 16
"""Kept axes form the inner run when it has at least so many points."""


@frozen(eq=False)
class FoldingWalk:
    """A walk that folds some axes away.

    Rows are grouped in cells: all rows of a cell fold into the same lanes.

    Attributes
    ----------
    layout : Layout
        The walk.
    kept, folded : tuple of int
        Axes that stay and axes that go, each in the grid's order.
    rows_per_cell : int
        Rows that share lanes.
    lanes_kept : bool
        Whether the lanes belong to kept axes; else they are joined in the end.
    place_cursor : numpy.ndarray
        Step per wheel of the place among the folded points.
    place_offsets : numpy.ndarray
        Place of each point of the inner run among the folded points.
    """

    layout: Layout
    kept: tuple[int, ...]
    folded: tuple[int, ...]
    rows_per_cell: int
    lanes_kept: bool
    place_cursor: Array
    place_offsets: Array

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.layout.rows // self.rows_per_cell

    def width(self, per_lane: bool) -> int:
        """Numbers that a fold keeps for each cell: one per place of a row, or a single one."""
        return self.layout.tile if self.lanes_kept or per_lane else 1

    def lane_cursor(self, width: int) -> Array:
        """Step per wheel of what a fold keeps."""
        steps: dict[int, int] = {}
        step = width
        own = self.layout
        folded = {w for w in own.wheels if w in self.folded}
        for wheel, length in reversed(list(zip(own.wheels, own.shape, strict=True))):
            if wheel not in folded:
                steps[wheel] = step
                step *= int(length)
        return np.array([steps.get(w, 0) for w in own.wheels], dtype=np.int64)

    def join(self, lanes: Array, width: int) -> Array:
        """Arrange lanes as (kept points..., lanes to be joined)."""
        own = self.layout
        outer = [a for a in self.kept if a not in own.fused]
        shape = [own.grid[a] for a in outer]
        tiles = -(-own.length // own.tile)
        cut = lanes.reshape(*shape, tiles * width)
        if not self.lanes_kept:
            return cut
        cut = cut[..., : own.length]
        inner = [own.grid[a] for a in own.fused]
        order = [[*outer, *own.fused].index(a) for a in self.kept]
        return cut.reshape(*shape, *inner).transpose(order)[..., None]


def folding_walk(problem: Problem, wiring: Wiring, folded: Sequence[int]) -> FoldingWalk:
    """Plan a walk that folds axes away.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    wiring : Wiring
        Program.
    folded : sequence of int
        Axes that go, in the grid's order.

    Returns
    -------
    FoldingWalk
        The walk.
    """
    grid = problem.grid
    kept = [a for a in range(len(grid)) if a not in folded]
    run = good_run(problem, kept)
    lanes_kept = math.prod(grid[a] for a in run) >= LONG_ENOUGH
    if not lanes_kept:
        other = good_run(problem, folded)
        lanes_kept = not other and bool(run)
        run = run if lanes_kept else other
    outer_kept = [a for a in kept if a not in run]
    outer_folded = [a for a in folded if a not in run]
    own = layout.plan(problem.arrays(wiring), grid, [*outer_kept, -1, *outer_folded], run)
    rows = math.prod(grid[a] for a in outer_folded)
    place = dict.fromkeys(range(len(grid)), 0)
    step = 1
    for axis in reversed(folded):
        place[axis] = step
        step *= grid[axis]
    strides = [place[a] for a in range(len(grid))]
    return FoldingWalk(
        layout=own,
        kept=tuple(kept),
        folded=tuple(folded),
        rows_per_cell=rows,
        lanes_kept=lanes_kept,
        place_cursor=own.cursor(strides, 0),
        place_offsets=own.offsets(strides),
    )


def scanning_walk(problem: Problem, wiring: Wiring) -> tuple[Layout, Array, Array]:
    """Plan a walk over all points in whatever order is fastest.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    wiring : Wiring
        Program.

    Returns
    -------
    tuple
        The layout, the step per wheel of the place in the grid's own order, and the place of
        each point of the inner run.
    """
    axes = list(range(len(problem.grid)))
    run = good_run(problem, axes)
    wheels = [a for a in axes if a not in run]
    own = layout.plan(problem.arrays(wiring), problem.grid, [*wheels, -1], run)
    strides = own.flat_strides()
    return own, own.cursor(strides, 0), own.offsets(strides)


def good_run(problem: Problem, axes: Sequence[int]) -> tuple[int, ...]:
    """Choose an inner run among axes that may be walked in any order.

    Rank counts are left outside where possible, since logarithms and divisibility hang on them; a
    single long axis is better than several short ones.
    """
    grid, barred = problem.grid, problem.barred()
    free = [a for a in axes if a not in barred]
    dear = {a for a in free if _is_dear(problem, a)}
    for axis in reversed(free):
        if axis not in dear and layout.SHORT_RUN <= grid[axis] <= layout.LONG_RUN:
            return (axis,)
    cheap = [a for a in free if a not in dear]
    if math.prod(grid[a] for a in cheap) >= LONG_ENOUGH:
        free = cheap
    return layout.choose_run(free, grid, set())


def _is_dear(problem: Problem, axis: int) -> bool:
    counts = {p.name for p in problem.model.parameters if p.kind == "count"}
    name = problem.names[axis]
    return any(n in counts for n, c in problem.coordinates.items() if name in c.axes) or any(
        name in f.names for n, f, _ in problem.derived if n in counts
    )
