"""Carries out blocks of a fold or a scan: on threads here, or on the workers of a dask client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from attrs import define, field, frozen

from scalemath.sweeps import dense, execute
from scalemath.sweeps.axes import Array
from scalemath.sweeps.drivers import Arithmetic, cursors, driver, guarded
from scalemath.sweeps.execute import Block, Blocks
from scalemath.sweeps.generate import Fold
from scalemath.sweeps.layout import Layout
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Wiring
from scalemath.sweeps.walks import FoldingWalk, scanning_walk

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Task(Protocol[T_co]):
    """Work that is sent to a worker."""

    def wiring(self) -> Wiring:
        """What is computed."""
        ...

    def __call__(self, block: Block, *own: Any) -> T_co:
        """Do a block."""
        ...


@frozen
class Run:
    """How to run.

    Attributes
    ----------
    threads : int
        Blocks at once.
    arithmetic : str
        "fast" or "strict".
    progress : bool or callable
        Display.
    client : object
        Client of dask.distributed that does the blocks, None for threads of this process.
    """

    threads: int
    arithmetic: Arithmetic
    progress: execute.Progress
    client: Any = None

    def blocks(
        self,
        problem: Problem,
        todo: Blocks,
        task: Task[T],
        arguments: Callable[[], tuple[Any, ...]],
        merge: Callable[[Block, T], None],
    ) -> None:
        """Do all blocks and merge the answers in their order.

        Parameters
        ----------
        problem : Problem
            What is swept, for the display.
        todo : Blocks
            What is to be done.
        task : callable
            Does a block, given the block and `arguments`.
        arguments : callable
            Made anew for every block, shortly before it is done.
        merge : callable
            Takes each block with its answer.
        """
        points = todo.rows * todo.points_per_row
        meter = execute.make_meter(self.progress, points, problem.model.name)
        try:
            if self.client is None:
                execute.run(
                    lambda block: task(block, *arguments()), todo, merge, self.threads, meter
                )
            else:
                from scalemath.sweeps import distributed

                distributed.run(self.client, task, arguments, todo, merge, meter)
        finally:
            meter.close()


@define(eq=False, slots=False)
class Job:
    """A driver with everything that does not change from block to block.

    Attributes
    ----------
    wiring, layout, fold, arithmetic
        What decides the driver.
    moves : list of numpy.ndarray
        Step per wheel of each cursor of the fold.
    head : tuple
        First arguments of the fold.
    """

    wiring: Wiring
    layout: Layout
    fold: Fold
    arithmetic: Arithmetic
    moves: list[Array]
    head: tuple[Any, ...] = ()
    drive: Callable[..., None] | None = field(default=None, init=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "drive": None}  # compiled again, or loaded, where it arrives

    def compiled(self, example: tuple[Any, ...]) -> Callable[..., None]:
        """Return the driver, compiled on first use."""
        if self.drive is None:
            extra = (*self.head, *example)
            self.drive = driver(self.wiring, self.layout, self.fold, self.arithmetic, extra)
        return self.drive

    def run(self, block: Block, own: tuple[Any, ...], shift: int = 0) -> None:
        """Do a block.

        Parameters
        ----------
        block : Block
            Rows.
        own : tuple
            Arguments of the fold after `head`.
        shift : int
            Where the first cursor of the fold starts.
        """
        drive, walk = self.compiled(own), self.layout
        starts = [shift] + [0] * (len(self.moves) - 1) if self.moves else []
        start, strides = cursors(walk, starts, self.moves)
        guarded(
            self.wiring,
            lambda: drive(
                block.first, block.last, walk.shape, start, strides, walk.tile, walk.length,
                walk.data, *self.head, *own,
            ),
        )  # fmt: skip


# --- folds -------------------------------------------------------------------------------

Empty = tuple[tuple[Any, Any], ...]
Lanes = tuple[int, int, list[Array]]


@frozen(eq=False)
class LaneTask:
    """Folds a block into lanes of its own.

    Attributes
    ----------
    job : Job
        Driver.
    empty : tuple of (dtype, value)
        Lanes of a cell without points.
    width, rows_per_cell : int
        Numbers kept per cell, and rows that share them.
    more : tuple
        Last arguments of the fold.
    """

    job: Job
    empty: Empty
    width: int
    rows_per_cell: int
    more: tuple[Any, ...]

    def wiring(self) -> Wiring:
        """What is computed."""
        return self.job.wiring

    def __call__(self, block: Block, into: list[Array] | None = None) -> Lanes:
        """Return first and last lane and the lanes, which are `into` where that is given."""
        begin = block.first // self.rows_per_cell * self.width
        end = -(-block.last // self.rows_per_cell) * self.width
        if into is not None:
            self.job.run(block, (*into, *self.more))
            return begin, end, into
        lanes = [np.full(end - begin, value, dtype=kind) for kind, value in self.empty]
        self.job.run(block, (*lanes, *self.more), shift=-begin)
        return begin, end, lanes


def fold_lanes(
    problem: Problem,
    wiring: Wiring,
    walk: FoldingWalk,
    fold: Fold,
    empty: Empty,
    join: Callable[[list[Array], list[Array]], None],
    how: Run,
    more: tuple[Any, ...] = (),
    sums: bool = False,
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
    sums : bool
        Whether sums are formed: then blocks do not depend on their cost, and there is a
        lane for every place of a row.

    Returns
    -------
    list of numpy.ndarray
        Lanes of all cells, one array per array of the fold.
    """
    own = walk.layout
    width = walk.width(sums)
    lanes = walk.cells * width
    dense.check_room((lanes,), [np.dtype(kind) for kind, _ in empty], problem)
    found = [np.full(lanes, value, dtype=kind) for kind, value in empty]
    head = (walk.place_offsets,) if "offsets" in fold.arguments else ()
    moves = [walk.lane_cursor(width)] + ([walk.place_cursor] if "q" in fold.cursors else [])
    task = LaneTask(
        Job(wiring, own, fold, how.arithmetic, moves, head), empty, width, walk.rows_per_cell, more
    )
    task.job.compiled((*found, *more))
    # blocks of whole cells share no lanes, so threads can write where the answer is kept
    whole_cells = walk.rows_per_cell * own.tile <= execute.BLOCK_POINTS
    into = (found,) if whole_cells and how.client is None else ()

    def merge(_: Block, answer: Lanes) -> None:
        begin, end, later = answer
        if not into:
            join([array[begin:end] for array in found], later)

    multiple = walk.rows_per_cell if whole_cells else 1
    how.blocks(problem, Blocks(own.rows, own.tile, multiple, sums), task, lambda: into, merge)
    return found


# --- scans -------------------------------------------------------------------------------


@frozen(eq=False)
class ScanTask:
    """Hands a block to a consumer; one that ran out of room gets more and starts anew."""

    job: Job

    def wiring(self) -> Wiring:
        """What is computed."""
        return self.job.wiring

    def __call__(self, block: Block, *own: Any) -> tuple[Any, ...]:
        """Return the consumer's arguments, filled."""
        self.job.run(block, own)
        while "state" in self.job.fold.arguments and own[2][1]:
            front = own[0]
            own = front_room(front.shape[0], 4 * front.shape[1])
            self.job.run(block, own)
        return own


FILTER = {3: 256, 4: 40}
"""Values of each further objective in the table that sorts out beaten points."""


def front_room(dimensions: int, room: int) -> tuple[Any, ...]:
    """Return the empty arguments of a front's consumer: front, places, state, filter."""
    found = (
        np.zeros((dimensions, room)),
        np.zeros(room, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
    )
    if dimensions == 2:
        return found
    width = FILTER[dimensions]
    return (*found, np.zeros((dimensions - 1, width)), np.zeros(width ** (dimensions - 1)))


def scan(
    problem: Problem,
    outputs: Any,
    fold: Fold,
    fresh: Callable[[], tuple[Any, ...]],
    merge: Callable[[tuple[Any, ...]], None],
    how: Run,
    started: list[ScanTask] | None = None,
) -> ScanTask:
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
    started : list, optional
        Receives the task before the first block is done.

    Returns
    -------
    ScanTask
        What did the blocks.
    """
    wiring = problem.wiring(outputs)
    own, place_cursor, offsets = scanning_walk(problem, wiring)
    head = (offsets,) if "offsets" in fold.arguments else ()
    moves = [place_cursor] if "q" in fold.cursors else []
    task = ScanTask(Job(wiring, own, fold, how.arithmetic, moves, head))
    task.job.compiled(fresh())
    if started is not None:
        started.append(task)
    todo = Blocks(own.rows, own.tile)
    how.blocks(problem, todo, task, fresh, lambda _, filled: merge(filled))
    return task
