"""Runs the rows of a sweep in blocks: on threads, with progress, stoppable between blocks."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, TypeVar

from attrs import define, field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.sweeps.axes import is_whole

T = TypeVar("T")
Progress = bool | Callable[[int, int], None]

BLOCK_POINTS = 1 << 20
"""Points of the first blocks; large enough that starting one costs nothing."""
BLOCK_SECONDS = 0.015
"""Time a block should take: far above what starting it costs, far below 0.2 s."""


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


@define
class Blocks:
    """Cuts rows into blocks, and learns how large they should be.

    Attributes
    ----------
    rows, points_per_row : int
        Size of the walk.
    multiple : int
        Blocks end at multiples of so many rows.
    fixed : bool
        Whether blocks keep their size whatever they cost (for sums, whose rounding
        depends on where they are cut).
    points : float
        Points wanted per block.
    seconds : float
        Time wanted per block.
    shares : int
        No block is larger than what is left divided by so many, so that all workers end at
        about the same time; 0 for no such limit.
    """

    rows: int
    points_per_row: int
    multiple: int = 1
    fixed: bool = False
    points: float = field(factory=lambda: BLOCK_POINTS)
    seconds: float = BLOCK_SECONDS
    shares: int = 0

    def __iter__(self) -> Iterator[Block]:
        first = 0
        while first < self.rows:
            unit = max(self.points_per_row * self.multiple, 1)
            points = self.points
            if self.shares:
                left = (self.rows - first) * self.points_per_row
                points = min(points, max(left / self.shares, BLOCK_POINTS))
            last = min(self.rows, first + max(1, int(points // unit)) * self.multiple)
            yield Block(first, last)
            first = last

    def learn(self, block: Block, seconds: float) -> None:
        """Take note of what a block cost."""
        if self.fixed:
            return
        rate = (block.last - block.first) * self.points_per_row / max(seconds, 1e-7)
        wanted = min(max(rate * self.seconds, 1 << 12), 1 << 30)
        self.points = min(max(wanted, self.points / 2), self.points * 4)


def thread_count(threads: int | None) -> int:
    """Number of threads to use: what is asked for, or one per processor this process may use."""
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return max(1, len(os.sched_getaffinity(0)))
        return os.cpu_count() or 1
    if not is_whole(threads, 1):
        raise ArgumentError(f"threads is {threads!r}, wanted a whole number of at least 1")
    return threads


def run(
    work: Callable[[Block], T],
    todo: Blocks,
    merge: Callable[[Block, T], None],
    threads: int,
    meter: Meter,
) -> None:
    """Do every block and merge the answers in the order of the blocks.

    Parameters
    ----------
    work : callable
        Computes a block; it releases the interpreter while it does.
    todo : Blocks
        What is to be done.
    merge : callable
        Takes each block with its answer, in order, always on the calling thread.
    threads : int
        How many blocks at once.
    meter : Meter
        Told of the points done.
    """

    def timed(block: Block) -> tuple[T, float]:
        begin = time.perf_counter()
        return work(block), time.perf_counter() - begin

    def finish(block: Block, answer: tuple[T, float]) -> None:
        todo.learn(block, answer[1])
        merge(block, answer[0])
        meter.update((block.last - block.first) * todo.points_per_row)

    if threads == 1 or todo.rows * todo.points_per_row <= BLOCK_POINTS // 4:
        for block in todo:
            finish(block, timed(block))
        return
    waiting: deque[tuple[Block, Future[tuple[T, float]]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="scalemath") as pool:
        try:
            for block in todo:
                waiting.append((block, pool.submit(timed, block)))
                if len(waiting) >= 2 * threads:
                    oldest, future = waiting.popleft()
                    finish(oldest, future.result())
            while waiting:
                oldest, future = waiting.popleft()
                finish(oldest, future.result())
        except BaseException:
            for _, future in waiting:
                future.cancel()
            raise


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
    if progress is False:
        return _Silent()
    if callable(progress):
        return _Callback(progress, points)
    try:
        from tqdm.auto import tqdm
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
