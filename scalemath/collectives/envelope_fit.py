"""Fitting the least of a few lines to measured times, with numpy only.

Relative errors count, with a bounded influence of outliers: one slow run pulls by less than its
whole time. Repeated sizes enter by the median of their logarithms. Every split of the sizes into
contiguous ranges is tried, one line per range; the best few are then improved by a pattern search
over the logarithms of all latencies and bandwidths together.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

OUTLIER = 0.05  # relative error from which on a point pulls linearly instead of quadratically
REWEIGHTINGS = 6
STARTS = 4
MOST_BREAKS = 24
TINY = 1e-17  # least latency [s] and time per byte [s/byte] a search starts from


def medians(sizes: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Distinct sizes and the median (in log space) of the times at each."""
    distinct, where = np.unique(sizes, return_inverse=True)
    logs = np.log(times)
    middle = [float(np.median(logs[where == i])) for i in range(len(distinct))]
    return distinct, np.exp(np.array(middle))


def least(lines: Floats, sizes: Floats) -> Floats:
    """Time on the least of lines given as rows of latency and time per byte."""
    values: Floats = (lines[..., 0, None] + lines[..., 1, None] * sizes).min(axis=-2)
    return values


def _loss(lines: Floats, sizes: Floats, times: Floats) -> Floats:
    """Huber's loss of the relative errors, summed over sizes, for many candidates."""
    error = np.abs(least(lines, sizes) / times - 1.0)
    bent = np.where(error < OUTLIER, error * error / (2.0 * OUTLIER), error - OUTLIER / 2.0)
    total: Floats = bent.sum(axis=-1)
    return total


def _segment_lines(sizes: Floats, times: Floats) -> tuple[dict[tuple[int, int], int], Floats]:
    """One robust line of relative errors for every range between two breaks or ends."""
    count = len(sizes)
    edges = [0, *_breaks(count), count]
    ranges = [(i, j) for i, j in combinations(edges, 2) if j - i >= 2]
    inside = np.zeros((len(ranges), count))
    for row, (i, j) in enumerate(ranges):
        inside[row, i:j] = 1.0
    weight = inside.copy()
    scale = max(float(sizes.max()), 1.0)
    x = sizes / scale
    lines = np.zeros((len(ranges), 2))
    for _ in range(REWEIGHTINGS):
        pull = weight / times**2
        s0, s1, s2 = pull.sum(1), pull @ x, pull @ (x * x)
        t0, t1 = pull @ times, pull @ (x * times)
        spread = np.maximum(s0 * s2 - s1 * s1, 1e-300)
        slope = (s0 * t1 - s1 * t0) / spread
        slope = np.where(slope < 0.0, 0.0, slope)
        start = np.where(slope > 0.0, (t0 * s2 - t1 * s1) / spread, t0 / s0)
        through = start < 0.0
        slope = np.where(through, t1 / np.maximum(s2, 1e-300), slope)
        start = np.where(through, 0.0, start)
        lines = np.stack([start, slope], axis=1)
        error = np.abs(start[:, None] + slope[:, None] * x - times) / times
        weight = inside / np.maximum(error, 1e-3)
    lines[:, 1] /= scale
    return {bounds: row for row, bounds in enumerate(ranges)}, np.maximum(lines, TINY)


def _moves(lines: int) -> Floats:
    """Directions of the search: single parameters, a line up or down, a line about its middle."""
    single = np.eye(2 * lines)
    level = np.zeros((lines, 2 * lines))
    tilt = np.zeros((lines, 2 * lines))
    for i in range(lines):
        level[i, 2 * i : 2 * i + 2] = 1.0
        tilt[i, 2 * i : 2 * i + 2] = (1.0, -1.0)
    half = np.concatenate([single, level, tilt])
    return np.concatenate([half, -half])


def _improved(lines: Floats, sizes: Floats, times: Floats) -> tuple[float, Floats]:
    """Pattern search from one candidate; returns its loss and the better lines."""
    shape = lines.shape
    moves = _moves(shape[0])
    place = np.log(lines.ravel())
    loss = float(_loss(lines, sizes, times))
    step = 0.15
    while step > 2e-3:
        tried = place + step * moves
        losses = _loss(np.exp(tried).reshape(-1, *shape), sizes, times)
        best = int(losses.argmin())
        if losses[best] < loss - 1e-9:
            loss, place = float(losses[best]), tried[best]
        else:
            step *= 0.5
    return loss, np.exp(place).reshape(shape)


def _breaks(count: int) -> list[int]:
    """Places where one line may hand over to the next."""
    places = np.arange(2, count - 1)
    if len(places) > MOST_BREAKS:
        places = np.unique(np.linspace(2, count - 2, MOST_BREAKS).round().astype(int))
    return [int(place) for place in places]


def fit_lines(sizes: Any, times: Any, lines: int = 3) -> Floats:
    """Rows of latency [s] and time per byte [s/byte], by rising latency.

    Parameters
    ----------
    sizes, times : array_like
        Bytes and seconds, at least two distinct sizes.
    lines : int
        Most lines.

    Returns
    -------
    numpy.ndarray
        At most `lines` rows; every one is the least at some fitted size.
    """
    distinct, middle = medians(np.asarray(sizes, float), np.asarray(times, float))
    count = len(distinct)
    index, segments = _segment_lines(distinct, middle)
    best: tuple[float, Floats] | None = None
    for number in range(1, min(lines, count // 2) + 1):
        splits = [
            (0, *cut, count)
            for cut in combinations(_breaks(count), number - 1)
            if all(b - a >= 2 for a, b in zip((0, *cut), (*cut, count), strict=True))
        ]
        if not splits:
            continue
        rows = [[index[a, b] for a, b in pairwise(s)] for s in splits]
        candidates = segments[np.array(rows)]
        order = np.argsort(_loss(candidates, distinct, middle), kind="stable")
        for place in order[:STARTS]:
            found = _improved(candidates[place], distinct, middle)
            if best is None or found[0] < best[0]:
                best = found
    assert best is not None
    return _used(best[1], distinct)


def _used(lines: Floats, sizes: Floats) -> Floats:
    """The lines that are least somewhere, by rising latency."""
    values = lines[:, :1] + lines[:, 1:] * sizes
    keep = np.unique(values.argmin(axis=0))
    chosen = lines[keep]
    result: Floats = chosen[np.argsort(chosen[:, 0], kind="stable")]
    result[result <= TINY * 1.5] = 0.0
    return result


class Compact(NamedTuple):
    """Constants of the compact form in SI units."""

    latency: float
    latency_per_rank: float
    rate: float
    pair_factor: float
    ramp: float


def fit_compact(volumes: Floats, ranks: Floats, times: Floats) -> Compact:
    """Constants shared by all rank counts: start, share per rank, two rates, and a ramp.

    Parameters
    ----------
    volumes : numpy.ndarray
        Bytes each port carries in one direction.
    ranks : numpy.ndarray
        Participants of each measurement.
    times : numpy.ndarray
        Seconds.

    Returns
    -------
    Compact
        Constants of `kernels.envelope.ramp_time`.
    """
    pair = ranks == 2.0
    more = not pair.all()
    columns = [np.ones(len(times)), ranks - 1.0, np.where(pair, volumes, 0.0), np.sqrt(volumes)]
    if more and pair.any():
        columns.insert(3, np.where(pair, 0.0, volumes))
    elif more:
        columns[2] = volumes
    found = fit_nonnegative(np.stack(columns, axis=1), times)
    two, many = found[2], found[3] if len(found) == 5 else found[2]
    slope = many if many > 0.0 else two
    rate = 1.0 / slope if slope > 0.0 else float("inf")
    factor = slope / two if two > 0.0 and slope > 0.0 else 1.0
    return Compact(*(float(x) for x in (found[0], found[1], rate, factor, found[-1])))


def fit_nonnegative(columns: Floats, times: Floats) -> Floats:
    """Coefficients of a sum of columns, none below zero, with robust relative errors."""
    weight = np.ones(len(times))
    scale = np.abs(columns).max(axis=0)
    scale[scale == 0.0] = 1.0
    relative = columns / scale / times[:, None]
    result = np.zeros(columns.shape[1])
    for _ in range(4 * REWEIGHTINGS):
        root = np.sqrt(weight)
        result = _nonnegative(relative * root[:, None], root)
        error = np.abs(relative @ result - 1.0)
        weight = 1.0 / np.maximum(error, OUTLIER)
    coefficients: Floats = result / scale
    return coefficients


def _nonnegative(columns: Floats, wanted: Floats) -> Floats:
    """Least squares with coefficients of at least zero, for a handful of columns.

    Every subset of columns is solved; the best one without a negative coefficient wins.
    """
    number = columns.shape[1]
    best, least_error = np.zeros(number), np.inf
    for mask in range(1, 2**number):
        chosen = [i for i in range(number) if mask >> i & 1]
        part, *_ = np.linalg.lstsq(columns[:, chosen], wanted, rcond=None)
        if (part < 0.0).any():
            continue
        error = float(((columns[:, chosen] @ part - wanted) ** 2).sum())
        if error < least_error:
            best = np.zeros(number)
            best[chosen] = part
            least_error = error
    return best
