"""The full grid: every output at every point, into memory or into a file."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.sweeps import execute, generate, layout
from scalemath.sweeps.axes import Array
from scalemath.sweeps.drivers import Arithmetic, cursors, driver, guarded
from scalemath.sweeps.execute import Block, Meter
from scalemath.sweeps.layout import Layout
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output, Wiring

ALWAYS_FREE = 1 << 24
"""A grid of so many bytes is made without asking what is free."""
STREAM_BYTES = 1 << 25
"""Grids from this size on are written past the caches, which could not hold them."""


@frozen(eq=False)
class Walk:
    """A layout for storing, and how neighbours of a row lie in memory.

    Attributes
    ----------
    layout : Layout
        The walk.
    order : tuple of int
        Axes in the order in which memory holds them, slowest first.
    apart : int
        Distance between neighbours of a row.
    """

    layout: Layout
    order: tuple[int, ...]
    apart: int


def storing_walk(problem: Problem, wiring: Wiring, keep_order: bool) -> Walk:
    """Choose how to walk a grid whose points are all stored.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    wiring : Wiring
        Program.
    keep_order : bool
        Whether memory must hold the axes in the user's order.

    Returns
    -------
    Walk
        Layout and memory order.
    """
    grid = problem.grid
    axes = list(range(len(grid)))
    barred = problem.barred()
    fused = layout.choose_run(axes, grid, barred)
    order, apart = axes, 1
    short = math.prod(grid[a] for a in fused) < layout.SHORT_RUN
    if barred and short and len(fused) + len(barred) < len(axes):
        free = [a for a in axes if a not in barred]
        if not keep_order:
            order = [a for a in axes if a in barred] + free
            fused = layout.choose_run(order, grid, barred)
        else:
            longest = max(free, key=lambda a: grid[a])
            fused = (longest,)
            apart = math.prod(grid[longest + 1 :])
    wheels = [a for a in order if a not in fused]
    walk = layout.plan(problem.arrays(wiring), grid, wheels, fused)
    return Walk(walk, tuple(order), apart)


def dense(
    problem: Problem,
    outputs: list[Output],
    buffers: list[Array] | None,
    dtype: np.dtype[Any],
    threads: int,
    arithmetic: Arithmetic,
    progress: execute.Progress,
    client: Any = None,
) -> list[Array]:
    """Evaluate every point and store the outputs.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    outputs : list of Output
        What to store.
    buffers : list of numpy.ndarray, optional
        Where to store it, C-contiguous; new arrays when left out.
    dtype : numpy.dtype
        Type of stored numbers; codes are always uint8.
    threads : int
        Blocks at once.
    arithmetic : str
        "fast" or "strict".
    progress : bool or callable
        Display.
    client : object, optional
        Client of dask.distributed whose workers do it.

    Returns
    -------
    list of numpy.ndarray
        One array per output, with the grid's shape.
    """
    if client is not None and problem.axes:
        return _on_workers(problem, outputs, buffers, dtype, arithmetic, progress, client)
    wiring = problem.wiring(outputs)
    walk = storing_walk(problem, wiring, keep_order=buffers is not None)
    grid = problem.grid
    if buffers is None:
        kinds = [code_type(problem, o) or dtype for o in outputs]
        check_room(grid, kinds, problem)
        shape = tuple(grid[a] for a in walk.order)
        stored = [layout.aligned(shape, kind) for kind in kinds]
        back = [walk.order.index(a) for a in range(len(grid))]
        results = [array.transpose(back) for array in stored]
    else:
        stored = results = buffers
    flat = [array.reshape(-1) for array in stored]
    steps: dict[int, int] = {}
    step = 1
    for axis in reversed(walk.order):
        steps[axis] = step
        step *= grid[axis]
    strides = [steps[a] for a in range(len(grid))]
    cursor = walk.layout.cursor(strides, walk.layout.tile * walk.apart)
    strided = walk.apart > 1
    streamed = sum(array.nbytes for array in stored) >= STREAM_BYTES and all(
        array.ctypes.data % array.itemsize == 0 for array in stored
    )
    extra = (*flat, walk.apart if strided else streamed)
    fold = generate.store(len(outputs), strided)
    drive = driver(wiring, walk.layout, fold, arithmetic, extra)
    start, moves = cursors(walk.layout, [0] * len(outputs), [cursor] * len(outputs))
    own = walk.layout

    def work(block: Block) -> None:
        guarded(
            wiring,
            lambda: drive(
                block.first, block.last, own.shape, start, moves, own.tile, own.length, own.data,
                *extra,
            ),
        )  # fmt: skip

    meter: Meter = execute.make_meter(progress, own.points, problem.model.name)
    try:
        todo = execute.Blocks(own.rows, own.tile)
        execute.run(work, todo, lambda *_: None, threads, meter)
    finally:
        meter.close()
    return results


def _on_workers(
    problem: Problem,
    outputs: list[Output],
    buffers: list[Array] | None,
    dtype: np.dtype[Any],
    arithmetic: Arithmetic,
    progress: execute.Progress,
    client: Any,
) -> list[Array]:
    """Evaluate slices of a grid on workers and put them together here."""
    from scalemath.sweeps import distributed

    grid = problem.grid
    kinds = [code_type(problem, o) or dtype for o in outputs]
    if buffers is None:
        check_room(grid, kinds, problem)
        buffers = [np.empty(grid, dtype=kind) for kind in kinds]
    axis = next((a for a, n in enumerate(grid) if n >= 16), int(np.argmax(grid)))

    def merge(block: Block, parts: list[Array]) -> None:
        index = (slice(None),) * axis + (slice(block.first, block.last),)
        for array, part in zip(buffers, parts, strict=True):
            array[index] = part

    task = distributed.SliceTask(problem, axis, outputs, dtype, arithmetic)
    todo = execute.Blocks(grid[axis], math.prod(grid) // grid[axis])
    meter = execute.make_meter(progress, math.prod(grid), problem.model.name)
    try:
        distributed.run(client, task, tuple, todo, merge, meter)
    finally:
        meter.close()
    return buffers


def code_type(problem: Problem, output: Output) -> np.dtype[Any] | None:
    """Type of a code output, None for numbers."""
    if output.name not in problem.best or output.along:
        return None
    names = problem.best[output.name].names
    if len(names) > 254:
        raise ArgumentError(f"{output.name}: best chooses among at most 254 names")
    return np.dtype(np.uint8)


def check_room(grid: tuple[int, ...], kinds: list[Any], problem: Problem) -> None:
    """Refuse a grid that would not fit in memory, saying what to do instead."""
    needed = math.prod(grid) * sum(np.dtype(kind).itemsize for kind in kinds)
    if needed <= ALWAYS_FREE:
        return
    free = free_memory()
    if needed <= 0.9 * free:
        return
    shape = " x ".join(f"{n} {a}" for a, n in zip(problem.names, grid, strict=True))
    raise RangeError(
        f"the grid of {shape} holds {math.prod(grid):.3g} points and needs {needed / 1e9:.3g} GB, "
        f"more than the {free / 1e9:.3g} GB of memory that are free; ask for a reduction "
        "(reduce=sm.sweeps.top(100), 'min', ...), which needs no grid, give "
        "out='result.npy' or 'result.zarr' to write to disk, or dtype='float32' for half the size"
    )


def free_memory() -> float:
    """Bytes of memory that a new array can have."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf
