"""The folds of streaming reductions: what a driver does with each row instead of storing it.

Lanes hold one running answer per place of the inner run, so that the compiler folds whole
vectors; they are joined when the block ends. Consumers get a row at a time.
"""

from __future__ import annotations

from scalemath.sweeps import consumers, fronts
from scalemath.sweeps.generate import Fold


def extreme(sign: int, lanes: bool) -> Fold:
    """Least value (largest for sign -1) and the first place where it occurs.

    With `lanes` one per place of the row, else one per row. A row is only looked at again when
    some point of it improves on what is known, which is rare.
    """
    value = "-r[0]" if sign < 0 else "r[0]"
    if lanes:
        return Fold(
            arguments=("lanes", "places"),
            cursors=("lanes", "q"),
            before=("scratch = np.empty(tile)",),
            row=("lane = lanes[at_lanes : at_lanes + n]", "hits = 0"),
            point=(
                f"v = {value}",
                "scratch[l] = v",
                # a lane that has met nothing but inf has no place yet
                "hits += 1 if (v < lane[l]) | ((v == math.inf) & (lane[l] == math.inf)) else 0",
            ),
            after=(
                "if hits > 0:",
                "    lower_lanes(scratch, n, lane, places[at_lanes : at_lanes + n], at_q)",
            ),
            functions=(consumers.lower_lanes,),
        )
    return Fold(
        arguments=("offsets", "lanes", "places"),
        cursors=("lanes", "q"),
        before=("scratch = np.empty(tile)",),
        row=(f"limit = {sign}.0 * lanes[at_lanes]", "hits = 0"),
        point=(
            "v = r[0]",
            "scratch[l] = v",
            f"hits += 1 if v {'>=' if sign < 0 else '<='} limit else 0",
        ),
        after=(
            "if hits > 0:",
            f"    lower_one(scratch, n, {sign}.0, lanes, places, at_lanes, at_q, offsets, at_p)",
        ),
        functions=(consumers.lower_one,),
    )


def crossing(comparison: str, last: bool, lanes: bool) -> Fold:
    """First (or last) place where the value compares with a threshold."""
    hit = f"r[0] {comparison} threshold"
    if lanes:
        pick = "max(place[l], at_q)" if last else "min(place[l], at_q)"
        return Fold(
            arguments=("places", "threshold"),
            cursors=("lanes", "q"),
            row=("place = places[at_lanes : at_lanes + n]",),
            point=(f"place[l] = pick({hit}, {pick}, place[l])",),
        )
    call = f"{'last' if last else 'first'}_mark(marks, n, places, at_lanes, at_q, offsets, at_p)"
    return Fold(
        arguments=("offsets", "places", "threshold"),
        cursors=("lanes", "q"),
        before=("marks = np.empty(tile, dtype=np.uint8)",),
        row=("hits = 0",),
        point=(f"mark = 1 if {hit} else 0", "marks[l] = mark", "hits += mark"),
        after=("if hits > 0:", f"    {call}"),
        functions=(consumers.last_mark if last else consumers.first_mark,),
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
            "lane[l] += pick(counted, v, 0.0)",
            "count[l] += 1 if counted else 0",
        ),
    )


def counting(comparison: str, lanes: bool) -> Fold:
    """Number of values that compare with a threshold."""
    hit = f"1 if r[0] {comparison} threshold else 0"
    if lanes:
        return Fold(
            arguments=("counts", "threshold"),
            cursors=("lanes",),
            row=("count = counts[at_lanes : at_lanes + n]",),
            point=(f"count[l] += {hit}",),
        )
    return Fold(
        arguments=("counts", "threshold"),
        cursors=("lanes",),
        row=("hits = 0",),
        point=(f"hits += {hit}",),
        after=("counts[at_lanes] += hits",),
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
    name = "keep_front_two" if two else "keep_candidates"
    given = "scratch[0], scratch[1]" if two else "scratch"
    room = ("front", "places", "state") if two else ("front", "places", "state", "edges", "table")
    return Fold(
        arguments=("offsets", *room),
        cursors=("q",),
        before=(f"scratch = np.empty(({len(signs)}, tile))",),
        row=(f"rows = {', '.join(f'scratch[{i}]' for i in range(len(signs)))}",),
        point=tuple(f"rows[{i}][l] = {v}" for i, v in enumerate(values)),
        after=(f"{name}({given}, n, at_q, offsets, at_p, {', '.join(room)})",),
        finish=()
        if two
        else (
            "if state[1] == 0:",
            "    reduce_front(front, places, state)",
            "    build_filter(front, state, edges, table)",
        ),
        functions=(getattr(fronts, name), fronts.reduce_front, fronts.build_filter),
    )
