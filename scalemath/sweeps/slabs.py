"""Grids larger than the memory: cut into slabs that are computed one by one, and into chunks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import frozen

from scalemath.sweeps import dense, execute
from scalemath.sweeps.axes import Array
from scalemath.sweeps.distributed import slice_of
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output
from scalemath.sweeps.running import Run

SLAB_POINTS = 1 << 23
"""Points of a slab: little memory, and work enough that starting one costs nothing."""
CHUNK_POINTS = 1 << 20
"""Points of a chunk: 8 MB of float64 at the most."""
Region = tuple[slice, ...]


@frozen
class Cut:
    """How a grid is cut.

    Attributes
    ----------
    grid : tuple of int
        Lengths of the axes.
    axis : int
        Axis that is cut into stretches; those before it are taken value by value.
    step : int
        Values of a stretch.
    chunk : tuple of int
        Lengths of a chunk; slabs begin where chunks begin.
    """

    grid: tuple[int, ...]
    axis: int
    step: int
    chunk: tuple[int, ...]

    def regions(self) -> Iterator[Region]:
        """Places of the slabs, in the order of the grid."""
        if not self.grid:
            yield ()
            return
        rest = tuple(slice(0, n) for n in self.grid[self.axis + 1 :])
        length = self.grid[self.axis]
        for lead in itertools.product(*(range(n) for n in self.grid[: self.axis])):
            for first in range(0, length, self.step):
                own = slice(first, min(length, first + self.step))
                yield (*(slice(i, i + 1) for i in lead), own, *rest)


def cut(grid: tuple[int, ...]) -> Cut:
    """Cut a grid along its leading axes.

    Parameters
    ----------
    grid : tuple of int
        Lengths of the axes.

    Returns
    -------
    Cut
        Slabs of about `SLAB_POINTS` at the most, chunks of `CHUNK_POINTS` at the most with sides
        as equal as may be.
    """
    axis, rest = len(grid), 1
    while axis > 0:
        axis -= 1
        if rest * grid[axis] > SLAB_POINTS:
            break
        rest *= grid[axis]
    if not grid:
        return Cut((), 0, 1, ())
    inside = math.prod(grid[axis + 1 :])
    pieces = -(-grid[axis] // max(1, SLAB_POINTS // inside))
    step = -(-grid[axis] // pieces)
    chunk = [1] * axis + [step, *grid[axis + 1 :]]
    while math.prod(chunk) > CHUNK_POINTS:
        longest = chunk.index(max(chunk))
        chunk[longest] = -(-chunk[longest] // 2)
    step = -(-step // chunk[axis]) * chunk[axis]
    return Cut(grid, axis, step, tuple(chunk))


def compute(
    problem: Problem, outputs: list[Output], kind: np.dtype[Any], how: Run, plan: Cut
) -> Iterator[tuple[Region, list[Array]]]:
    """Evaluate a grid slab by slab.

    Parameters
    ----------
    problem : Problem
        The whole grid.
    outputs : list of Output
        What to compute.
    kind : numpy.dtype
        Type of stored numbers.
    how : Run
        How to run; its progress counts the points of all slabs.
    plan : Cut
        The slabs.

    Yields
    ------
    tuple
        Place of a slab, and one array per output.
    """
    meter = execute.make_meter(how.progress, math.prod(problem.grid), problem.model.name)
    wiring = problem.wiring(outputs)
    moving = dense.storing_walk(problem, wiring, keep_order=False).layout.inner
    try:
        for region in plan.regions():
            part = _part(problem, region)
            wide = region
            if dense.storing_walk(part, wiring, keep_order=False).layout.inner != moving:
                # A short remainder would be walked in another way than the whole grid and round
                # otherwise: it is computed together with what stands before it.
                wide = _widened(region, plan)
                part = _part(problem, wide)
            own = math.prod(s.stop - s.start for s in region)
            shown = False if how.progress is False else _counter(meter, own)
            found = dense.dense(
                part, outputs, None, kind, how.threads, how.arithmetic, shown, how.client
            )
            if wide is not region:
                before = region[plan.axis].start - wide[plan.axis].start
                index = (slice(None),) * plan.axis + (slice(before, None),)
                found = [array[index] for array in found]
            yield region, found
    finally:
        meter.close()


def _counter(meter: execute.Meter, points: int) -> Callable[[int, int], None]:
    """Progress of one slab, passed on to the display of all; no more than so many points."""
    counted = 0

    def count(done: int, _: int) -> None:
        nonlocal counted
        new = min(done, points) - counted
        counted += new
        meter.update(new)

    return count


def _widened(region: Region, plan: Cut) -> Region:
    """A last stretch made as long as the others."""
    own = region[plan.axis]
    longer = slice(max(0, own.stop - plan.step), own.stop)
    return (*region[: plan.axis], longer, *region[plan.axis + 1 :])


def _part(problem: Problem, region: Region) -> Problem:
    for axis, own in enumerate(region):
        if own.stop - own.start < problem.grid[axis]:
            problem = slice_of(problem, axis, own)
    return problem
