"""What the columns of a collective test say about operation and ranks, and where they disagree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from scalemath.collectives.operations import OPERATIONS
from scalemath.readers.columns import Array, Columns
from scalemath.readers.nccl_lines import ELEMENT_BYTES
from scalemath.readers.reading import Check

HALF_DIGIT = 0.0051e9
"""Half of the last printed digit of a bandwidth, a little widened [byte/s]."""
MOST_RANKS = 1 << 20
TIME_TOLERANCE = 0.02
CLEAR = 1e9
"""Below this algorithm bandwidth two decimals say little [byte/s]."""


def shares(rows: Columns) -> int | None:
    """Size over bytes of one rank's count, where all rows agree; 1 when size is the count."""
    kinds, where = np.unique(rows.si("type"), return_inverse=True)
    each = np.array([ELEMENT_BYTES.get(str(name), 0) for name in kinds], float)[where]
    known = (each > 0.0) & (rows.si("count") > 0.0) & (rows.si("size") > 0.0)
    if not known.any():
        return None
    size = rows.si("size")[known]
    ratio = (size / (rows.si("count")[known] * each[known]))[size >= np.median(size)]
    whole = round(float(np.median(ratio)))
    if not 1 <= whole <= MOST_RANKS or np.abs(ratio / whole - 1.0).max() > 0.01:
        return None
    return whole


def factor_interval(rows: Columns) -> tuple[float, float] | None:
    """Interval of bus over algorithm bandwidth that all clear rows leave, None without any."""
    low, high = 0.0, math.inf
    found = False
    for side in ("out", "in"):
        algorithm = rows.si(f"{side}_algorithm_bandwidth")
        bus = rows.si(f"{side}_bus_bandwidth")
        clear = np.isfinite(bus) & (algorithm > CLEAR)
        if not clear.any():
            continue
        found = True
        a, b = algorithm[clear], bus[clear]
        low = max(low, float(np.median(np.sort((b - HALF_DIGIT) / (a + HALF_DIGIT))[-3:])))
        high = min(high, float(np.median(np.sort((b + HALF_DIGIT) / (a - HALF_DIGIT))[:3])))
    if not found:
        return None
    return (low, high) if low <= high else (high, low)


def ranks_in(interval: tuple[float, float], twice: bool) -> tuple[int, int]:
    """Least and greatest number of ranks whose factor lies in the interval.

    Parameters
    ----------
    interval : tuple of float
        Bus over algorithm bandwidth.
    twice : bool
        Whether the factor is 2 (n - 1) / n, else (n - 1) / n.

    Returns
    -------
    tuple of int
        Both ends; the second is `MOST_RANKS` where the digits leave it open.
    """
    limit = 2.0 if twice else 1.0
    low, high = (limit / max(limit - f, 1e-12) for f in interval)
    return max(1, math.ceil(low - 1e-6)), min(MOST_RANKS, math.floor(high + 1e-6))


def likely_ranks(low: int, high: int) -> int | None:
    """The only number in a range, else the roundest one in a narrow range."""
    if low > high:
        return None
    if low == high:
        return low
    for step in (8, 4, 2):
        inside = list(range(-(-low // step) * step, min(high, low + 64) + 1, step))
        if len(inside) == 1 and high <= low + 64:
            return inside[0]
    return None


def collective_of(rows: Columns) -> tuple[str, str]:
    """Operation the columns speak for, and a caution where they leave a choice."""
    share = shares(rows)
    reduces = bool(np.isin(rows.si("operation"), ("none", ""), invert=True).any())
    roots = rows.si("root")
    rooted = bool(np.isfinite(roots).any() and (roots[np.isfinite(roots)] >= 0).all())
    interval = factor_interval(rows)
    plain = interval is not None and interval[0] <= 1.0 <= interval[1]
    if share is not None and share > 1:
        if reduces:
            return "reduce_scatter", ""
        if rooted:
            return "gather", "gather and scatter print the same columns; gather assumed"
        out, inside = rows.si("out_wrong"), rows.si("in_wrong")
        timed = np.isfinite(rows.si("in_time")).any()
        if timed and np.isfinite(out).any() and not np.isfinite(inside).any():
            return "all_to_all", ""
        return "all_gather", "all-gather and all-to-all print the same columns; all-gather assumed"
    if reduces:
        if rooted and (plain or interval is None):
            return "reduce", ""
        return "allreduce", "" if interval is not None else "taken for an allreduce by its columns"
    if rooted:
        return "broadcast", ""
    if plain:
        return "send_receive", ""
    return "", "the collective is not named and the columns leave it open"


def twice(collective: str) -> bool | None:
    """Whether the factor of a collective is 2 (n - 1) / n; None where it does not tell ranks."""
    if collective == "allreduce":
        return True
    if collective in OPERATIONS and OPERATIONS[collective].factor.name == "own_block_stays_factor":
        return False
    return None


def time_check(rows: Columns) -> list[Check]:
    """Whether algorithm bandwidth is size over time."""
    checked, off = 0, 0
    for side in ("out", "in"):
        time, rate = rows.si(f"{side}_time"), rows.si(f"{side}_algorithm_bandwidth")
        clear = (time > 0.0) & (rate > CLEAR)
        with np.errstate(over="ignore"):
            implied = rows.si("size")[clear] / time[clear]
        slack = TIME_TOLERANCE + HALF_DIGIT / rate[clear]
        checked += int(clear.sum())
        off += int((np.abs(implied / rate[clear] - 1.0) > slack).sum())
    if not checked:
        return []
    text = f"algorithm bandwidth is size over time in {checked - off} of {checked} clear rows"
    return [Check("size over time", off == 0, text)]


def unit_of_rates(rows: Columns) -> float | None:
    """Bytes of the printed unit over 1e9, from size, time and rate; None without clear rows."""
    ratios = []
    for side in ("out", "in"):
        time, rate = rows.si(f"{side}_time"), rows.si(f"{side}_algorithm_bandwidth")
        clear = (time > 0.0) & (rate > CLEAR)
        with np.errstate(over="ignore"):
            ratio = rows.si("size")[clear] / time[clear] / rate[clear]
        ratios.append(ratio[np.isfinite(ratio)])
    values: Array = np.concatenate(ratios)
    return float(np.median(values)) if values.size else None


def rank_checks(
    collective: str, interval: tuple[float, float] | None, stated: dict[str, int]
) -> list[Check]:
    """Whether the ratio of the bandwidths agrees with each number of ranks the log states."""
    double = twice(collective)
    if interval is None or double is None:
        return []
    low, high = ranks_in(interval, double)
    shown = str(low) if low == high else f"{low} to {high}"
    return [
        Check(
            f"ranks by {where}",
            low <= number <= high,
            f"{where} gives {number} ranks, bus over algorithm bandwidth {shown}",
        )
        for where, number in stated.items()
    ]


def decided_ranks(
    collective: str, rows: Columns, stated: dict[str, int]
) -> tuple[int | None, str, list[Check]]:
    """Number of ranks, where it is from, and what disagrees.

    The columns are believed over the header: they come from the run itself.
    """
    interval = factor_interval(rows)
    claims: dict[str, int] = dict(stated)
    share = shares(rows)
    if share is not None and share > 1:
        claims = {"count column": share, **claims}
    checks = rank_checks(collective, interval, claims)
    double = twice(collective)
    if interval is not None and double is not None:
        low, high = ranks_in(interval, double)
        fitting = {where: n for where, n in claims.items() if low <= n <= high}
        if fitting:
            where, number = next(iter(fitting.items()))
            return number, where, checks
        number_found = likely_ranks(low, high)
        if number_found is not None:
            return number_found, "bus over algorithm bandwidth", checks
    if claims:
        where, number = next(iter(claims.items()))
        return number, where, checks
    return None, "", checks


def sorted_out(values: dict[str, Any]) -> dict[str, int]:
    """Claims that are there at all."""
    return {name: int(value) for name, value in values.items() if value}
