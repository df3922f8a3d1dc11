"""Runs the rows of a sweep in blocks: on threads, with progress, stoppable between blocks."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from attrs import define, frozen

from scalemath.core.errors import ArgumentError

T = TypeVar("T")
Progress = bool | Callable[[int, int], None]

BLOCK_POINTS = 1 << 20
"""Points of a block; its cost is far above that of starting it and far below 0.2 s."""


class Meter(Protocol):
    """Anything that is told how many points are done."""

    def update(self, points: int) -> None:
        """Take note of points done since the last call."""
        ...

    def close(self) -> None:
        """End the display."""
        ...


@frozen
class Block:
    """A stretch of rows.

    Attributes
    ----------
    first, last : int
        Rows, the last excluded.
    """

    first: int
    last: int


def blocks(rows: int, points_per_row: int, multiple: int = 1, points: int = BLOCK_POINTS) -> Iterator[Block]:
    """Cut rows into blocks of about the same number of points.

    Parameters
    ----------
    rows, points_per_row : int
        Size of the walk.
    multiple : int
        Blocks end at multiples of so many rows.
    points : int
        Points wanted per block.

    Yields
    ------
    Block
        In order.
    """
    step = max(1, points // max(points_per_row * multiple, 1)) * multiple
    for first in range(0, rows, step):
        yield Block(first, min(rows, first + step))


def thread_count(threads: int | None) -> int:
    """Number of threads to use: what is asked for, or one per processor this process may use."""
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return max(1, len(os.sched_getaffinity(0)))
        return os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ArgumentError(f"threads is {threads!r}, wanted a whole number of at least 1")
    return threads


def run(
    work: Callable[[Block], T],
    todo: Iterator[Block],
    merge: Callable[[Block, T], None],
    threads: int,
    meter: Meter,
    points_per_row: int,
) -> None:
    """Do every block and merge the answers in the order of the blocks.

    Parameters
    ----------
    work : callable
        Computes a block; it releases the interpreter while it does.
    todo : iterator of Block
        In order.
    merge : callable
        Takes each block with its answer, in order, always on the calling thread.
    threads : int
        How many blocks at once.
    meter : Meter
        Told of the points done.
    points_per_row : int
        To count them.
    """
    if threads == 1:
        for block in todo:
            merge(block, work(block))
            meter.update((block.last - block.first) * points_per_row)
        return
    waiting: deque[tuple[Block, Future[T]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="scalemath") as pool:
        try:
            for block in todo:
                waiting.append((block, pool.submit(work, block)))
                if len(waiting) >= 4 * threads:
                    _finish(waiting, merge, meter, points_per_row)
            while waiting:
                _finish(waiting, merge, meter, points_per_row)
        except BaseException:
            for _, future in waiting:
                future.cancel()
            raise


def _finish(
    waiting: deque[tuple[Block, Future[T]]],
    merge: Callable[[Block, T], None],
    meter: Meter,
    points_per_row: int,
) -> None:
    """Wait for the oldest block and merge it."""
    block, future = waiting.popleft()
    merge(block, future.result())
    meter.update((block.last - block.first) * points_per_row)


# --- progress ----------------------------------------------------------------------------


def make_meter(progress: Progress, points: int, what: str) -> Meter:
    """Return the display that the user asked for.

    Parameters
    ----------
    progress : bool or callable
        False: none. True: a bar by tqdm where it is installed, else one line that is
        rewritten. A callable is given the points done and the points in all.
    points : int
        Points in all.
    what : str
        Name shown.

    Returns
    -------
    Meter
        Display.
    """
    if progress is False or progress is None:
        return _Silent()
    if callable(progress):
        return _Callback(progress, points)
    try:
        from tqdm.auto import tqdm  # noqa: PLC0415
    except ImportError:
        return _Line(points, what)
    bar: Meter = tqdm(total=points, unit="pt", unit_scale=True, desc=what)
    return bar


class _Silent:
    """No display."""

    def update(self, points: int) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


@define
class _Callback:
    """Calls a user's function."""

    function: Callable[[int, int], None]
    points: int
    done: int = 0

    def update(self, points: int) -> None:
        """Pass on the count."""
        self.done += points
        self.function(min(self.done, self.points), self.points)

    def close(self) -> None:
        """Do nothing."""


class _Line:
    """One line on the error stream, rewritten four times a second."""

    def __init__(self, points: int, what: str) -> None:
        self.points, self.what, self.done = points, what, 0
        self.begin = self.shown = time.perf_counter()

    def update(self, points: int) -> None:
        """Show the share done and the rate."""
        self.done += points
        now = time.perf_counter()
        if now - self.shown < 0.25 and self.done < self.points:
            return
        self.shown = now
        rate = self.done / max(now - self.begin, 1e-9)
        share = 100 * min(1.0, self.done / max(self.points, 1))
        end = "\r" if sys.stderr.isatty() else "\n"
        sys.stderr.write(f"{self.what}: {share:5.1f} %  {rate / 1e6:8.1f} million points/s{end}")
        sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if sys.stderr.isatty():
            sys.stderr.write("\n")
