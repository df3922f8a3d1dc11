"""What happens to a row of points in a search for a Pareto front.

Plain scalar Python, compiled into the driver as `consumers` is. Small values are good.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Row = Any


def keep_front_two(
    first: Row, second: Row, n: int, base: int, offsets: Row, at: int,
    front: Row, places: Row, state: Row,
) -> None:  # fmt: skip
    """Insert a row into a front of two objectives, kept as a staircase.

    `front[0]` rises and `front[1]` falls; `state[0]` is the number of steps. A point that equals
    one of the front replaces it only when it comes earlier. When the front is full `state[1]`
    is set and the row must be done again with more room.
    """
    room = front.shape[1]
    known_a = math.inf
    known_b = math.inf
    for i in range(n):
        a = first[i]
        b = second[i]
        if known_a < a and known_b <= b:
            continue
        size = state[0]
        if not (a - a == 0.0 and b - b == 0.0):
            continue
        low = 0
        high = size
        while low < high:
            middle = (low + high) // 2
            if front[0, middle] < a:
                low = middle + 1
            else:
                high = middle
        if low > 0 and front[1, low - 1] <= b:
            known_a = front[0, low - 1]
            known_b = front[1, low - 1]
            continue
        place = base + offsets[at + i]
        if low < size and front[0, low] == a:
            if front[1, low] < b:
                continue
            if front[1, low] == b:
                places[low] = min(places[low], place)
                continue
        last = low
        while last < size and front[1, last] >= b:
            last += 1
        gone = last - low
        if gone == 0:
            if size == room:
                state[1] = 1
                return
            for k in range(size, low, -1):
                front[0, k] = front[0, k - 1]
                front[1, k] = front[1, k - 1]
                places[k] = places[k - 1]
            state[0] = size + 1
        elif gone > 1:
            for k in range(last, size):
                front[0, k - gone + 1] = front[0, k]
                front[1, k - gone + 1] = front[1, k]
                places[k - gone + 1] = places[k]
            state[0] = size - gone + 1
        front[0, low] = a
        front[1, low] = b
        places[low] = place


def keep_candidates(
    rows: Row, n: int, base: int, offsets: Row, at: int,
    front: Row, places: Row, state: Row, edges: Row, table: Row,
) -> None:  # fmt: skip
    """Collect the points of a row that may belong to a front of three or four objectives.

    `rows` and `front` hold one objective per first index; `state[0]` counts the candidates. Points
    that the filter shows to be beaten are dropped at once; when the room is full, the
    candidates are reduced to their front, and `state[1]` is set where that does not help enough.
    """
    count = rows.shape[0]
    room = front.shape[1]
    width = edges.shape[1]
    for i in range(n):
        usable = state[1] == 0
        for c in range(count):
            value = rows[c, i]
            if value - value != 0.0:
                usable = False
        if not usable:
            continue
        if state[2] > 0:
            cell = 0
            for c in range(1, count):
                low = 0
                high = width
                while low < high:
                    middle = (low + high) // 2
                    if edges[c - 1, middle] <= rows[c, i]:
                        low = middle + 1
                    else:
                        high = middle
                if low == 0:
                    cell = -1
                    break
                cell = cell * width + low - 1
            if cell >= 0 and table[cell] < rows[0, i]:
                continue
        if state[0] == room:
            reduce_front(front, places, state)
            build_filter(front, state, edges, table)
            if 4 * state[0] > 3 * room:
                state[1] = 1
                return
        size = state[0]
        for c in range(count):
            front[c, size] = rows[c, i]
        places[size] = base + offsets[at + i]
        state[0] = size + 1


def build_filter(front: Row, state: Row, edges: Row, table: Row) -> None:
    """Tabulate the least first objective of a front below given values of the others.

    Cell (i, j, ...) of the table holds the least first objective among the points whose other
    objectives are at most ``edges[0, i]``, ``edges[1, j]``, ...; whoever lies above those edges
    and has a larger first objective is beaten.
    """
    count = front.shape[0]
    size = state[0]
    width = edges.shape[1]
    state[2] = 1
    for c in range(1, count):
        values = np.sort(front[c, :size])
        different = 0
        for k in range(size):
            if k == 0 or values[k] != values[different - 1]:
                values[different] = values[k]
                different += 1
        for k in range(width):
            if different <= width:
                edges[c - 1, k] = values[k] if k < different else math.inf
            else:
                edges[c - 1, k] = values[k * different // width]
    table[:] = math.inf
    for k in range(size):
        cell = 0
        for c in range(1, count):
            low = 0
            high = width
            while low < high:
                middle = (low + high) // 2
                if edges[c - 1, middle] < front[c, k]:
                    low = middle + 1
                else:
                    high = middle
            if low == width:
                cell = -1
                break
            cell = cell * width + low
        if cell >= 0:
            table[cell] = min(table[cell], front[0, k])
    step = 1
    for _ in range(1, count):
        for cell in range(table.size):
            if (cell // step) % width > 0:
                table[cell] = min(table[cell], table[cell - step])
        step *= width


def comes_first(front: Row, places: Row, i: int, j: int) -> bool:
    """Whether candidate i precedes j: by objectives in order, then by place."""
    for c in range(front.shape[0]):
        if front[c, i] != front[c, j]:
            return bool(front[c, i] < front[c, j])
    return bool(places[i] < places[j])


def sift(order: Row, front: Row, places: Row, hole: int, size: int) -> None:
    """Let an entry sink in a heap that holds the last candidate at its head."""
    entry = order[hole]
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and comes_first(front, places, order[child], order[child + 1]):
            child += 1
        if not comes_first(front, places, entry, order[child]):
            break
        order[hole] = order[child]
        hole = child
    order[hole] = entry


def reduce_front(front: Row, places: Row, state: Row) -> None:
    """Reduce candidates to those that no other beats, in order; of equal ones the first place.

    In that order a candidate can only be beaten by an earlier one. With three objectives the
    last two of those kept form a staircase, so one binary search decides.
    """
    count = front.shape[0]
    size = state[0]
    order = np.arange(size)
    for hole in range(size // 2 - 1, -1, -1):
        sift(order, front, places, hole, size)
    for last in range(size - 1, 0, -1):
        swap = order[0]
        order[0] = order[last]
        order[last] = swap
        sift(order, front, places, 0, last)
    kept = np.empty(size, dtype=np.int64)
    stairs = np.empty(size, dtype=np.int64)
    number = 0
    steps = 0
    for o in range(size):
        i = order[o]
        beaten = False
        if count == 3:
            low = 0
            high = steps
            while low < high:
                middle = (low + high) // 2
                if front[1, stairs[middle]] <= front[1, i]:
                    low = middle + 1
                else:
                    high = middle
            beaten = low > 0 and front[2, stairs[low - 1]] <= front[2, i]
            if not beaten:
                if low > 0 and front[1, stairs[low - 1]] == front[1, i]:
                    low -= 1
                gone = low
                while gone < steps and front[2, stairs[gone]] >= front[2, i]:
                    gone += 1
                move = gone - low - 1
                if move < 0:
                    for k in range(steps, low, -1):
                        stairs[k] = stairs[k - 1]
                else:
                    for k in range(gone, steps):
                        stairs[k - move] = stairs[k]
                stairs[low] = i
                steps -= move
        else:
            for k in range(number):
                j = kept[k]
                beaten = True
                for c in range(1, count):
                    if front[c, j] > front[c, i]:
                        beaten = False
                        break
                if beaten:
                    kept[k] = kept[0]
                    kept[0] = j
                    break
        if not beaten:
            kept[number] = i
            number += 1
    if count != 3:
        kept[:number].sort()
    values = np.empty((count, number))
    where = np.empty(number, dtype=np.int64)
    for k in range(number):
        for c in range(count):
            values[c, k] = front[c, kept[k]]
        where[k] = places[kept[k]]
    for k in range(number):
        for c in range(count):
            front[c, k] = values[c, k]
        places[k] = where[k]
    state[0] = number
