"""Cutting a sweep of sizes into latency, transition and bandwidth."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scalemath.readers.columns import Array

FLAT = 1.6
"""A size belongs to the latency region while its time is below so many times the floor."""
FULL = 0.8
"""A size belongs to the bandwidth region from this share of the greatest bandwidth on."""
LARGE_ENOUGH = 64e6
"""Sweeps that end below this size may not have reached their peak [byte]."""


class Curve(NamedTuple):
    """Best of both sides of a run by size.

    Attributes
    ----------
    sizes, times, rates : numpy.ndarray
        Bytes, seconds, bus bandwidths in byte/s.
    """

    sizes: Array
    times: Array
    rates: Array


class Cut(NamedTuple):
    """One region of a curve."""

    name: str
    curve: Curve


def curve_of(run: object) -> Curve:
    """Return the curve of a run: at each size the median time of out-of-place rows.

    Parameters
    ----------
    run : CollectiveRun
        A reading.

    Returns
    -------
    Curve
        Sizes above zero with a time; in-place rows stand in where out-of-place ones are missing.
    """
    for side in ("out", "in"):
        rows = run.side(side)  # type: ignore[attr-defined]
        sizes, times = rows.si("size"), rows.si("time")
        rates = rows.si("bus_bandwidth")
        good = (sizes > 0.0) & (times > 0.0) & np.isfinite(rates)
        if good.any():
            distinct = np.unique(sizes[good])
            pick = [good & (sizes == size) for size in distinct]
            return Curve(
                distinct,
                np.array([float(np.median(times[m])) for m in pick]),
                np.array([float(np.median(rates[m])) for m in pick]),
            )
    none = np.array([])
    return Curve(none, none, none)


def cut(curve: Curve) -> list[Cut]:
    """Return the regions of a curve that hold at least one size.

    Parameters
    ----------
    curve : Curve
        Sizes in rising order.

    Returns
    -------
    list of Cut
        Latency, transition and bandwidth, in this order.
    """
    if not curve.sizes.size:
        return []
    floor = float(np.min(curve.times))
    peak = float(np.max(curve.rates))
    spans = curve.sizes[-1] >= 16.0 * curve.sizes[0]
    share = curve.rates / peak if peak > 0.0 else np.zeros(len(curve.rates))
    flat = (curve.times < FLAT * floor) & (share < FULL / 2.0) if spans else share < 0.0
    last = int(np.max(np.nonzero(flat)[0])) + 1 if flat.any() else 0
    full = np.nonzero(share >= FULL)[0]
    first = max(int(full[0]), last) if full.size else len(curve.sizes)
    pieces = (("latency", 0, last), ("transition", last, first), ("bandwidth", first, None))
    found = []
    for name, start, end in pieces:
        part = Curve(*(array[start:end] for array in curve))
        if part.sizes.size:
            found.append(Cut(name, part))
    return found


def disorder(curve: Curve) -> float:
    """Return how much times fall again while sizes rise: greatest drop of log time [1]."""
    if len(curve.times) < 3:
        return 0.0
    logs = np.log(curve.times)
    drops = np.maximum.accumulate(logs) - logs
    return float(drops.max()) if math.isfinite(float(drops.max())) else 0.0
