"""Least, largest and mean of a grid's numbers along an axis, in memory or piece by piece from disk.

A stored array is read in blocks of whole chunks, each chunk once; what is known of a line after
one block is merged with what the next one tells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

from scalemath.sweeps.axes import Array
from scalemath.sweeps.stored import Stored

PIECE_POINTS = 1 << 23
"""Points of a stored array that are read at once."""
State: TypeAlias = "tuple[Array, ...]"


@frozen
class Along:
    """A reduction along one axis.

    Attributes
    ----------
    begin : callable
        Given an array, an axis and the place of its first value along it, what is known of
        each line.
    merge : callable
        What is known of each line after two blocks that follow each other.
    finish : callable
        The answer.
    """

    begin: Callable[[Array, int, int], State]
    merge: Callable[[State, State], State]
    finish: Callable[[State], Array]

    def __call__(self, array: Array | Stored, axis: int) -> Array:
        """Reduce an array.

        Parameters
        ----------
        array : numpy.ndarray or Stored
            What to reduce.
        axis : int
            Axis that goes away.

        Returns
        -------
        numpy.ndarray
            The answer, without the axis.
        """
        if not isinstance(array, Stored):
            return np.asarray(self.finish(self.begin(array, axis, 0)))
        if array.size <= PIECE_POINTS:
            return np.asarray(self.finish(self.begin(np.asarray(array), axis, 0)))
        steps = block(array.shape, array.chunks)
        result: Array | None = None
        for region in _regions(array.shape, steps, axis):
            known: State | None = None
            for first in range(0, array.shape[axis], steps[axis]):
                part = array[(*region[:axis], slice(first, first + steps[axis]), *region[axis:])]
                told = self.begin(np.asarray(part), axis, first)
                known = told if known is None else self.merge(known, told)
            if known is None:
                continue
            answer = np.asarray(self.finish(known))
            if result is None:
                shape = array.shape[:axis] + array.shape[axis + 1 :]
                result = np.empty(shape, dtype=answer.dtype)
            result[region] = answer
        if result is None:
            return np.asarray(self.finish(self.begin(np.asarray(array), axis, 0)))
        return result


def block(shape: tuple[int, ...], chunks: tuple[int, ...]) -> tuple[int, ...]:
    """Lengths of the blocks in which an array is read: whole chunks, as many as fit."""
    steps = [min(n, max(1, c)) for n, c in zip(shape, chunks, strict=True)]
    while math.prod(steps) > PIECE_POINTS:  # only where a chunk is larger than that
        longest = steps.index(max(steps))
        steps[longest] = -(-steps[longest] // 2)
    for axis in reversed(range(len(shape))):
        fits = PIECE_POINTS // math.prod(steps)
        steps[axis] = min(shape[axis], steps[axis] * max(1, fits))
    return tuple(steps)


def _regions(
    shape: tuple[int, ...], steps: tuple[int, ...], axis: int
) -> Iterator[tuple[slice, ...]]:
    """Blocks of all axes but one."""
    cuts = [
        [slice(at, min(n, at + step)) for at in range(0, n, step)]
        for a, (n, step) in enumerate(zip(shape, steps, strict=True))
        if a != axis
    ]
    return itertools.product(*cuts)


def _only(state: State) -> Array:
    return state[0]


def _extreme(ufunc: Any) -> Along:
    return Along(
        lambda array, axis, _: (np.asarray(ufunc.reduce(array, axis=axis)),),
        lambda one, two: (ufunc(one[0], two[0]),),
        _only,
    )


def _count(array: Array, axis: int, _: int) -> State:
    return np.asarray(np.nansum(array, axis=axis)), np.sum(~np.isnan(array), axis=axis)


def _mean(state: State) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(state[0] / state[1])


def _place(sign: float) -> Along:
    """First place at which the numbers times a sign are least."""

    def begin(array: Array, axis: int, first: int) -> State:
        signed = array * sign
        filled = np.where(np.isnan(signed), np.inf, signed)
        places = np.argmin(filled, axis=axis)
        least = np.take_along_axis(filled, np.expand_dims(places, axis), axis)
        return np.asarray(places + first), np.squeeze(least, axis)

    def merge(one: State, two: State) -> State:
        later = two[1] < one[1]
        return np.where(later, two[0], one[0]), np.where(later, two[1], one[1])

    return Along(begin, merge, _only)


least = _extreme(np.fmin)
"""Least value, nan left out of account."""
largest = _extreme(np.fmax)
"""Largest value, nan left out of account."""
mean = Along(_count, lambda one, two: (one[0] + two[0], one[1] + two[1]), _mean)
"""Mean, nan left out of account."""
place_of_least = _place(1.0)
"""First place of the least value."""
place_of_largest = _place(-1.0)
"""First place of the largest value."""
