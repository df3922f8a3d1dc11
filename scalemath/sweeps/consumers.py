"""What happens to a row of computed points in a streaming reduction.

Plain scalar Python, compiled into the driver next to the kernels. `values` is the row's scratch,
`n` its length; `base` the place of the row in the grid's own order and `offsets` that of
each point relative to it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Row = Any


def insert_least(value: float, place: int, best: Row, places: Row) -> None:
    """Put a finite value into a heap of the least, the worst kept at its head."""
    if not (value <= best[0] and value < math.inf and value > -math.inf):
        return
    if value == best[0] and place >= places[0]:
        return
    size = best.size
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            best[right] > best[child]
            or (best[right] == best[child] and places[right] > places[child])
        ):
            child = right
        if best[child] < value or (best[child] == value and places[child] < place):
            break
        best[hole] = best[child]
        places[hole] = places[child]
        hole = child
    best[hole] = value
    places[hole] = place


def lower_lanes(values: Row, n: int, lane: Row, place: Row, at: int) -> None:
    """Lower each lane to the value of the row, noting the place where that was."""
    for i in range(n):
        if values[i] < lane[i] or (values[i] == lane[i] and place[i] < 0):
            lane[i] = values[i]
            place[i] = at


def lower_one(
    values: Row,
    n: int,
    sign: float,
    lanes: Row,
    places: Row,
    cell: int,
    base: int,
    offsets: Row,
    at: int,
) -> None:
    """Lower the one value of a cell to the least of the row times a sign; first place on ties."""
    for i in range(n):
        value = sign * values[i]
        if value <= lanes[cell]:
            place = base + offsets[at + i]
            if value < lanes[cell]:
                lanes[cell] = value
                places[cell] = place
            elif places[cell] < 0 or place < places[cell]:
                places[cell] = place


def first_mark(
    marks: Row, n: int, places: Row, cell: int, base: int, offsets: Row, at: int
) -> None:
    """Lower the place of a cell to the first marked place of the row."""
    for i in range(n):
        if marks[i] and base + offsets[at + i] < places[cell]:
            places[cell] = base + offsets[at + i]


def last_mark(marks: Row, n: int, places: Row, cell: int, base: int, offsets: Row, at: int) -> None:
    """Raise the place of a cell to the last marked place of the row."""
    for i in range(n):
        if marks[i] and base + offsets[at + i] > places[cell]:
            places[cell] = base + offsets[at + i]


def keep_least(
    values: Row, n: int, base: int, offsets: Row, at: int, best: Row, places: Row
) -> None:
    """Insert the points of a row into a heap of the least values; ties go to the first point.

    `best[0]` is the largest value kept. Only finite values compete.
    """
    limit = best[0]
    passing = 0
    for i in range(n):
        if values[i] <= limit:
            passing += 1
    if passing == 0:
        return
    for i in range(n):
        if values[i] <= best[0]:
            insert_least(values[i], base + offsets[at + i], best, places)


def count_bins(values: Row, n: int, edges: Row, counts: Row, logarithmic: bool) -> None:
    """Count the points of a row by bins; below, above and not-a-number are counted at the end."""
    bins = edges.size - 1
    low = edges[0]
    high = edges[bins]
    if logarithmic:
        first = np.float64(low).view(np.int64)
        scale = bins / float(np.float64(high).view(np.int64) - first)
    else:
        first = np.int64(0)
        scale = bins / (high - low)
    for i in range(n):
        value = values[i]
        if math.isnan(value):
            counts[bins + 2] += 1
        elif value < low:
            counts[bins] += 1
        elif value > high:
            counts[bins + 1] += 1
        else:
            if logarithmic:
                guess = int(float(np.float64(value).view(np.int64) - first) * scale)
            else:
                guess = int((value - low) * scale)
            if guess >= bins:
                guess = bins - 1
            while guess > 0 and value < edges[guess]:
                guess -= 1
            while guess < bins - 1 and value >= edges[guess + 1]:
                guess += 1
            counts[guess] += 1


def count_digits(values: Row, n: int, prefixes: Row, level: int, counts: Row) -> None:
    """Count points by the next sixteen bits of their order-preserving binary key.

    `prefixes` holds the leading bits already known of each value looked for; level 0 counts the
    topmost sixteen bits of all finite points.
    """
    shift = 48 - 16 * level
    for i in range(n):
        value = values[i]
        if value - value != 0.0:
            continue
        bits = np.float64(value + 0.0).view(np.int64)
        if bits < 0:
            bits = bits ^ np.int64(0x7FFFFFFFFFFFFFFF)
        digit = ((bits >> shift) & np.int64(0xFFFF)) if level > 0 else (bits >> 48) + 32768
        if level == 0:
            counts[0, digit] += 1
        else:
            head = bits >> (shift + 16)
            for k in range(prefixes.size):
                if head == prefixes[k]:
                    counts[k, digit] += 1
