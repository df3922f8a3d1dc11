"""The folds of streaming reductions: what a driver does with each row instead of storing it.

Lanes hold one running answer per place of the inner run, so that the compiler folds whole
vectors; they are joined when the block ends. Consumers get a row at a time.
"""

from __future__ import annotations

from scalemath.sweeps import consumers
from scalemath.sweeps.generate import Fold


def extreme(sign: int) -> Fold:
    """Least value (largest for sign -1) per lane, and the first place where it occurs."""
    value = "-r[0]" if sign < 0 else "r[0]"
    return Fold(
        arguments=("lanes", "places"),
        cursors=("lanes", "q"),
        row=(
            "lane = lanes[at_lanes : at_lanes + n]",
            "place = places[at_lanes : at_lanes + n]",
        ),
        point=(
            f"v = {value}",
            "better = v < lane[l]",
            "lane[l] = v if better else lane[l]",
            "place[l] = at_q if better else place[l]",
        ),
    )


def extreme_value(sign: int) -> Fold:
    """Least value (largest for sign -1) per lane, without its place."""
    value = "-r[0]" if sign < 0 else "r[0]"
    return Fold(
        arguments=("lanes",),
        cursors=("lanes",),
        row=("lane = lanes[at_lanes : at_lanes + n]",),
        point=(f"v = {value}", "lane[l] = v if v < lane[l] else lane[l]"),
    )


def crossing(comparison: str, last: bool) -> Fold:
    """First (or last) place per lane where the value compares with a threshold."""
    pick = "max(place[l], at_q)" if last else "min(place[l], at_q)"
    return Fold(
        arguments=("places", "threshold"),
        cursors=("lanes", "q"),
        row=("place = places[at_lanes : at_lanes + n]",),
        point=(f"place[l] = {pick} if r[0] {comparison} threshold else place[l]",),
    )


def total() -> Fold:
    """Sum and number of the values that are not nan, per lane."""
    return Fold(
        arguments=("lanes", "counts"),
        cursors=("lanes",),
        row=(
            "lane = lanes[at_lanes : at_lanes + n]",
            "count = counts[at_lanes : at_lanes + n]",
        ),
        point=(
            "v = r[0]",
            "counted = v == v",
            "lane[l] += v if counted else 0.0",
            "count[l] += 1 if counted else 0",
        ),
    )


def counting(comparison: str) -> Fold:
    """Number of values per lane that compare with a threshold."""
    return Fold(
        arguments=("counts", "threshold"),
        cursors=("lanes",),
        row=("count = counts[at_lanes : at_lanes + n]",),
        point=(f"count[l] += 1 if r[0] {comparison} threshold else 0",),
    )


def least(sign: int) -> Fold:
    """The k least values (largest for sign -1) in a heap."""
    value = "-r[0]" if sign < 0 else "r[0]"
    return Fold(
        arguments=("offsets", "best", "places"),
        cursors=("q",),
        before=("scratch = np.empty(tile)",),
        point=(f"scratch[l] = {value}",),
        after=("keep_least(scratch, n, at_q, offsets, at_p, best, places)",),
        functions=(consumers.keep_least,),
    )


def binned(logarithmic: bool) -> Fold:
    """Counts by bins."""
    return Fold(
        arguments=("edges", "counts"),
        cursors=(),
        before=("scratch = np.empty(tile)",),
        point=("scratch[l] = r[0]",),
        after=(f"count_bins(scratch, n, edges, counts, {logarithmic})",),
        functions=(consumers.count_bins,),
    )


def digits() -> Fold:
    """Counts by sixteen bits of the value."""
    return Fold(
        arguments=("prefixes", "level", "counts"),
        cursors=(),
        before=("scratch = np.empty(tile)",),
        point=("scratch[l] = r[0]",),
        after=("count_digits(scratch, n, prefixes, level, counts)",),
        functions=(consumers.count_digits,),
    )


def front(signs: tuple[int, ...]) -> Fold:
    """Pareto front of several outputs; `signs` is -1 for those to be large."""
    values = [f"-r[{i}]" if sign < 0 else f"r[{i}]" for i, sign in enumerate(signs)]
    two = len(signs) == 2
    name = "keep_front_two" if two else "keep_front"
    given = "scratch[0], scratch[1]" if two else "scratch"
    return Fold(
        arguments=("offsets", "front", "places", "state"),
        cursors=("q",),
        before=(f"scratch = np.empty(({len(signs)}, tile))",),
        row=(f"rows = {', '.join(f'scratch[{i}]' for i in range(len(signs)))}",),
        point=tuple(f"rows[{i}][l] = {v}" for i, v in enumerate(values)),
        after=(f"{name}({given}, n, at_q, offsets, at_p, front, places, state)",),
        functions=(getattr(consumers, name),),
    )
