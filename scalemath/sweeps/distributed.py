"""Blocks on the workers of a dask.distributed client: more threads, more machines, same answers.

Every block is an independent task, answers are merged here in the order of the blocks, and a
block whose worker is lost is given to another by dask. What travels is the small layout of the
axes, once per worker, and the lanes or heaps of each block.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from attrs import evolve, frozen

from scalemath.core.errors import ArgumentError
from scalemath.sweeps.around import is_library
from scalemath.sweeps.axes import Array, Axis
from scalemath.sweeps.execute import Block, Blocks, Meter
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output, Wiring
from scalemath.sweeps.running import Task
from scalemath.sweeps.source import collect

T = TypeVar("T")
FIRST_POINTS = 1 << 23
"""Points of the first blocks sent to a worker; sending one costs a few milliseconds."""
TASK_SECONDS = 0.5
"""Time a block should take on a worker."""


def find_client(backend: Any) -> Any:
    """Return the dask client that a sweep shall use, or None.

    Parameters
    ----------
    backend : str or Client, optional
        "threads" or None for this process; "dask" for the client that is active; a client.

    Returns
    -------
    Client or None
        The client.
    """
    if backend in (None, "threads"):
        return None
    if backend == "dask":
        try:
            from distributed import get_client
        except ImportError:
            raise ImportError("backend='dask' needs it: pip install 'scalemath[dask]'") from None
        try:
            return get_client()
        except ValueError:
            raise ArgumentError(
                "backend='dask' found no active client; make one first, as in "
                "client = distributed.Client(n_workers=2)"
            ) from None
    if hasattr(backend, "submit") and hasattr(backend, "scatter"):
        return backend
    raise ArgumentError(f"backend is {backend!r}, wanted 'threads', 'dask' or a dask client")


def run(
    client: Any,
    task: Task[T],
    arguments: Callable[[], tuple[Any, ...]],
    todo: Blocks,
    merge: Callable[[Block, T], None],
    meter: Meter,
) -> None:
    """Do every block on the workers of a client and merge the answers in order.

    Parameters
    ----------
    client : Client
        Client of dask.distributed.
    task : callable
        Does a block, given the block and `arguments`; sent to each worker once.
    arguments : callable
        Made anew for every block.
    todo : Blocks
        What is to be done.
    merge : callable
        Takes each block with its answer, here.
    meter : Meter
        Told of the points done.
    """
    slots = max(1, sum(client.nthreads().values()))
    if not todo.fixed:
        todo.points, todo.seconds, todo.shares = FIRST_POINTS, TASK_SECONDS, 3 * slots
    # what a function of a script or a notebook is written like cannot be read on a worker
    collect(k.function for k in task.wiring().kernels() if not is_library(k.function))
    remote = client.scatter(task, broadcast=True, hash=False)
    waiting: deque[tuple[Block, Any]] = deque()

    def finish() -> None:
        block, future = waiting.popleft()
        answer, seconds = future.result()
        todo.learn(block, seconds)
        merge(block, answer)
        meter.update((block.last - block.first) * todo.points_per_row)

    try:
        for block in todo:
            future = client.submit(_timed, remote, block, arguments(), pure=False, retries=2)
            waiting.append((block, future))
            if len(waiting) >= 2 * slots:
                finish()
        while waiting:
            finish()
    except BaseException:
        client.cancel([future for _, future in waiting])
        raise


def _timed(task: Callable[..., T], block: Block, arguments: tuple[Any, ...]) -> tuple[T, float]:
    """Do a block on a worker and say how long it took."""
    begin = time.perf_counter()
    return task(block, *arguments), time.perf_counter() - begin


@frozen(eq=False)
class SliceTask:
    """Evaluates a slice of a grid in full.

    Attributes
    ----------
    problem : Problem
        The whole grid.
    axis : int
        Axis that is cut; a block counts its values.
    outputs : list of Output
        What to compute.
    dtype, arithmetic
        As for the whole.
    """

    problem: Problem
    axis: int
    outputs: list[Output]
    dtype: np.dtype[Any]
    arithmetic: Any

    def wiring(self) -> Wiring:
        """What is computed."""
        return self.problem.wiring(self.outputs)

    def __call__(self, block: Block) -> list[Array]:
        """Return the arrays of the slice."""
        from scalemath.sweeps.dense import dense

        part = slice_of(self.problem, self.axis, slice(block.first, block.last))
        return dense(part, self.outputs, None, self.dtype, 1, self.arithmetic, False)


def slice_of(problem: Problem, axis: int, part: slice) -> Problem:
    """Return a problem cut along an axis."""
    name = problem.names[axis]
    coordinates = {}
    for key, coordinate in problem.coordinates.items():
        if name in coordinate.axes:
            index = (slice(None),) * coordinate.axes.index(name) + (part,)
            coordinates[key] = coordinate.take(index)
        else:
            coordinates[key] = coordinate
    axes = list(problem.axes)
    axes[axis] = Axis(name, part.stop - part.start, ())
    return evolve(problem, axes=tuple(axes), coordinates=coordinates)
