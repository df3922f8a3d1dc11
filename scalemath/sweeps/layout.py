"""How a grid is walked: rows of points, the odometer over them, and where the data lies.

A grid of any number of axes is walked as rows. The trailing axes are fused into one inner run
of points; an odometer counts over the others. Every parameter becomes a stretch of one
flat buffer with a stride for each wheel of the odometer: zero where it does not vary. A
parameter that varies along the inner run is laid out row by row, all others are one number
per row. The driver is therefore the same for outer products, zipped axes and dense arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

Array = np.ndarray[Any, Any]
SHORT_RUN = 64
"""Axes are fused until the inner run has at least so many points."""
LONG_RUN = 8192
"""No axis is fused that would make the inner run longer than this."""
LINE = 8
"""Doubles of a cache line; every parameter begins on one."""
TILE = 1024
"""Longest stretch of an inner run handled at once; a few of them fit the first-level cache."""


@frozen(eq=False)
class Layout:
    """A walk over a grid.

    Attributes
    ----------
    grid : tuple of int
        Lengths of the grid's axes.
    wheels : tuple of int
        Axis behind each wheel of the odometer, slowest first; -1 counts tiles of the run.
    fused : tuple of int
        Axes of the inner run, slowest first.
    tile, length : int
        Points per row, and of the whole inner run (the last tile may be shorter).
    inner : tuple of bool
        For every parameter whether it varies along the inner run.
    data : numpy.ndarray
        All parameters in one flat buffer.
    shape, start, strides : numpy.ndarray
        Wheel lengths; for each cursor its start and its step per wheel.
    """

    grid: tuple[int, ...]
    wheels: tuple[int, ...]
    fused: tuple[int, ...]
    tile: int
    length: int
    inner: tuple[bool, ...]
    data: Array
    shape: Array
    start: Array
    strides: Array

    @property
    def rows(self) -> int:
        """Number of rows."""
        return math.prod(int(n) for n in self.shape)

    @property
    def points(self) -> int:
        """Number of points."""
        return math.prod(self.grid)

    def cursor(self, axis_strides: Sequence[int], tile_stride: int) -> Array:
        """Step per wheel for something laid out with a stride per axis of the grid."""
        steps = [tile_stride if w < 0 else axis_strides[w] for w in self.wheels]
        return np.array(steps, dtype=np.int64)

    def flat_strides(self) -> tuple[int, ...]:
        """Distance in the grid's own order between neighbours along each axis."""
        strides: list[int] = []
        step = 1
        for n in reversed(self.grid):
            strides.insert(0, step)
            step *= n
        return tuple(strides)

    def offsets(self, axis_strides: Sequence[int]) -> Array:
        """Offset of each point of the inner run, for a stride per axis."""
        found = np.zeros(1, dtype=np.int64)
        for axis in self.fused:
            steps = np.arange(self.grid[axis], dtype=np.int64) * axis_strides[axis]
            found = (found[:, None] + steps[None, :]).ravel()
        return found


def choose_run(order: Sequence[int], grid: Sequence[int], barred: set[int]) -> tuple[int, ...]:
    """Choose which trailing axes form the inner run.

    Parameters
    ----------
    order : sequence of int
        Axes from slowest to fastest.
    grid : sequence of int
        Lengths.
    barred : set of int
        Axes that must stay on the odometer (they choose kernels).

    Returns
    -------
    tuple of int
        The fused axes; empty when the fastest axis is barred.
    """
    fused: list[int] = []
    length = 1
    for axis in reversed(order):
        if axis in barred or (fused and length >= SHORT_RUN):
            break
        if fused and length * grid[axis] > LONG_RUN and length >= 16:
            break
        fused.insert(0, axis)
        length *= grid[axis]
    return tuple(fused)


def tile_of(length: int, longest: int = TILE) -> int:
    """Length of a tile: the run cut evenly, in multiples of eight where it is cut."""
    if length <= longest:
        return max(length, 1)
    tiles = -(-length // longest)
    even = -(-length // tiles)
    return -(-even // 8) * 8


def plan(
    arrays: Sequence[Array], grid: Sequence[int], wheels: Sequence[int], fused: Sequence[int]
) -> Layout:
    """Lay out the parameters for a walk.

    Parameters
    ----------
    arrays : sequence of numpy.ndarray
        One per parameter, broadcastable to the grid (length one where it does not vary).
    grid : sequence of int
        Lengths of the axes.
    wheels : sequence of int
        Axes on the odometer, slowest first; may contain -1 once, for the tiles of the run.
    fused : sequence of int
        The other axes, which form the inner run.

    Returns
    -------
    Layout
        With one cursor per parameter and one for the position in the run.
    """
    length = math.prod(grid[axis] for axis in fused)
    tile = tile_of(length)
    tiles = -(-length // tile) if length else 0
    places = [w for w in wheels if w >= 0 or tiles > 1]
    if tiles > 1 and -1 not in places:
        places.append(-1)
    if not places:
        places = [-1]
    shape = [tiles if w < 0 else grid[w] for w in places]
    pieces: list[Array] = []
    start: list[int] = []
    strides: list[list[int]] = []
    inner: list[bool] = []
    offset = 0
    for array in arrays:
        full = array.reshape((1,) * (len(grid) - array.ndim) + array.shape)
        moves = any(full.shape[axis] > 1 for axis in fused)
        outer_axes = [axis for axis in range(len(grid)) if axis not in fused]
        ordered = full.transpose([*outer_axes, *fused])
        if moves:
            ends = tuple(grid[axis] for axis in fused)
            ordered = np.broadcast_to(ordered, ordered.shape[: len(outer_axes)] + ends)
        flat = np.ascontiguousarray(ordered, dtype=np.float64).ravel()
        steps, step = {}, length if moves else 1
        for axis in reversed(outer_axes):
            steps[axis] = step if full.shape[axis] > 1 else 0
            step *= full.shape[axis]
        strides.append([(tile if moves else 0) if w < 0 else steps[w] for w in places])
        pieces.append(flat)
        start.append(offset)
        inner.append(moves)
        offset += -(-flat.size // LINE) * LINE
    strides.append([tile if w < 0 else 0 for w in places])
    start.append(0)
    return Layout(
        grid=tuple(grid),
        wheels=tuple(places),
        fused=tuple(fused),
        tile=tile,
        length=length,
        inner=tuple(inner),
        data=_packed(pieces, start[:-1], offset),
        shape=np.array(shape, dtype=np.int64),
        start=np.array(start, dtype=np.int64),
        strides=np.array(strides, dtype=np.int64).reshape(len(strides), len(places)),
    )


def aligned(shape: Sequence[int], dtype: Any) -> Array:
    """Return a new array that begins on a cache line, its contents not set."""
    kind = np.dtype(dtype)
    count = math.prod(shape)
    raw = np.empty(count * kind.itemsize + 64, dtype=np.uint8)
    skip = -raw.ctypes.data % 64
    found: Array = raw[skip : skip + count * kind.itemsize].view(kind).reshape(shape)
    return found


def _packed(pieces: Sequence[Array], starts: Sequence[int], length: int) -> Array:
    """Put pieces into one buffer, each at its start."""
    buffer = aligned((max(length, 1),), np.float64)
    buffer[:] = 0.0
    for piece, start in zip(pieces, starts, strict=True):
        buffer[start : start + piece.size] = piece
    return buffer
