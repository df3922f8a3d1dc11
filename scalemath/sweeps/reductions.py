"""Reductions: what to keep of a sweep instead of the full grid.

Each is a small description handed to ``sweep(..., reduce=...)``; none of them stores the grid.
Points that a constraint excluded (nan) never count. Points that a model calls impossible (inf)
count as infinite in extremes and means, and are left out of rankings, fronts, histograms and
quantiles. Ties go to the first point in the order of the axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from scalemath.core.errors import ArgumentError
from scalemath.sweeps.axes import is_whole
from scalemath.sweeps.program import Output
from scalemath.units import QuantityLike

OutputLike = str | Output


@frozen
class Extreme:
    """Least or largest value; made by `minimum` and `maximum`."""

    sign: int
    output: OutputLike
    over: tuple[str, ...]
    bounded: bool = True


@frozen
class Ranking:
    """The best points; made by `top`."""

    count: int
    output: OutputLike
    sign: int
    bounded: bool


@frozen
class Front:
    """Points that no other point beats in everything; made by `pareto`."""

    outputs: tuple[OutputLike, ...]
    signs: tuple[int, ...]


@frozen
class Crossing:
    """First or last value along an axis beyond a threshold; made by `first` and `last`."""

    output: OutputLike
    comparison: str
    threshold: Any
    along: str
    is_last: bool
    bounded: bool = True


@frozen
class Mean:
    """Mean over axes; made by `mean`."""

    output: OutputLike
    over: tuple[str, ...]


@frozen
class Count:
    """Number of points beyond a threshold; made by `count`."""

    output: OutputLike
    comparison: str
    threshold: Any
    over: tuple[str, ...]


@frozen
class Bins:
    """Histogram; made by `histogram`."""

    output: OutputLike
    bins: int
    low: Any
    high: Any
    logarithmic: bool


@frozen
class Quantiles:
    """Values below which given shares of the points lie; made by `quantiles`."""

    output: OutputLike
    shares: tuple[float, ...]


Reduction = Extreme | Ranking | Front | Crossing | Mean | Count | Bins | Quantiles


def minimum(
    output: OutputLike = "", *, over: str | Sequence[str] = (), bounds: bool | None = None
) -> Extreme:
    """Least value and where it is.

    Parameters
    ----------
    output : str
        Output to look at; by default the model's main output.
    over : str or sequence of str
        Axes to look along; by default all of them.
    bounds : bool, optional
        Over all axes: whether to use the declared directions of change to leave out points
        that cannot be the least. By default where it pays.

    Returns
    -------
    Extreme
        For ``reduce=``. Over all axes the answer is a table with one point, over some a grid
        of the others, with the value and the place along each axis.
    """
    return Extreme(1, output, _names(over), bounds is not False)


def maximum(
    output: OutputLike = "", *, over: str | Sequence[str] = (), bounds: bool | None = None
) -> Extreme:
    """Largest value and where it is; arguments as for `minimum`."""
    return Extreme(-1, output, _names(over), bounds is not False)


def best(axis: str, output: OutputLike = "") -> Extreme:
    """Least value along one axis and which place won, such as ``best("algorithm")``."""
    return Extreme(1, output, (axis,))


def top(
    count: int = 10, output: OutputLike = "", *, largest: bool = False, bounds: bool | None = None
) -> Ranking:
    """Rank the points and keep the best.

    Parameters
    ----------
    count : int
        How many points to keep.
    output : str
        What to rank by; by default the model's main output.
    largest : bool
        Whether large values are good.
    bounds : bool, optional
        Whether to use the declared directions of change to leave out points that cannot be
        among the best (same answer, far fewer evaluations). By default where it pays.

    Returns
    -------
    Ranking
        For ``reduce=``; the answer is a table of points.
    """
    _whole("top: count", count)
    return Ranking(int(count), output, -1 if largest else 1, bounds is not False)


def pareto(*outputs: OutputLike, maximize: OutputLike | Sequence[OutputLike] = ()) -> Front:
    """Points that no other point beats in every respect.

    Parameters
    ----------
    *outputs : str
        What should be small: outputs or numeric parameters, such as ``"time", "ranks"``.
    maximize : str or sequence of str
        What should be large.

    Returns
    -------
    Front
        For ``reduce=``; the answer is a table of points. Of points alike in everything the
        first is kept.
    """
    large = (maximize,) if isinstance(maximize, (str, Output)) else tuple(maximize)
    every = (*outputs, *large)
    if not 2 <= len(every) <= 4 or len(set(every)) != len(every):
        raise ArgumentError(f"pareto takes two to four different outputs, not {len(every)}")
    return Front(every, (1,) * len(outputs) + (-1,) * len(large))


def first(
    output: OutputLike,
    *,
    along: str,
    below: QuantityLike = None,
    above: QuantityLike = None,
    bounds: bool | None = None,
) -> Crossing:
    """Find the first value along an axis at which an output lies beyond a threshold.

    Parameters
    ----------
    output : str
        Output to watch.
    along : str
        Axis to go along.
    below, above : Quantity, str or float
        Threshold; one of the two. Values are compared as a single call computes them.
    bounds : bool, optional
        Whether to bisect along the axis where the output has a declared direction with it. By
        default where it pays.

    Returns
    -------
    Crossing
        For ``reduce=``; the answer is a grid over the other axes, nan where there is none.
    """
    comparison, threshold = _threshold("first", below, above)
    return Crossing(output, comparison, threshold, along, False, bounds is not False)


def last(
    output: OutputLike,
    *,
    along: str,
    below: QuantityLike = None,
    above: QuantityLike = None,
    bounds: bool | None = None,
) -> Crossing:
    """Find the last value along an axis at which an output lies beyond a threshold; see `first`."""
    comparison, threshold = _threshold("last", below, above)
    return Crossing(output, comparison, threshold, along, True, bounds is not False)


def mean(output: OutputLike = "", *, over: str | Sequence[str] = ()) -> Mean:
    """Mean over axes, such as an axis of uncertain values.

    Parameters
    ----------
    output : str
        Output to average; by default the model's main output.
    over : str or sequence of str
        Axes; by default all.

    Returns
    -------
    Mean
        For ``reduce=``; the answer is a grid over the other axes.
    """
    return Mean(output, _names(over))


def count(
    output: OutputLike,
    *,
    below: QuantityLike = None,
    above: QuantityLike = None,
    over: str | Sequence[str] = (),
) -> Count:
    """Count the points at which an output lies beyond a threshold.

    Parameters
    ----------
    output : str
        Output to compare.
    below, above : Quantity, str or float
        Threshold; one of the two.
    over : str or sequence of str
        Axes to count along; by default all.

    Returns
    -------
    Count
        For ``reduce=``; the answer is a grid over the other axes.
    """
    comparison, threshold = _threshold("count", below, above)
    return Count(output, comparison, threshold, _names(over))


def histogram(
    output: OutputLike = "",
    *,
    bins: int = 100,
    low: QuantityLike = None,
    high: QuantityLike = None,
    log: bool = False,
) -> Bins:
    """Count the points by their value.

    Parameters
    ----------
    output : str
        Output; by default the model's main output.
    bins : int
        Number of bins, of equal width or, with `log`, of equal ratio.
    low, high : Quantity, str or float
        Ends; by default the extremes, found by a first pass.
    log : bool
        Bins of equal ratio.

    Returns
    -------
    Bins
        For ``reduce=``.
    """
    _whole("histogram: bins", bins)
    return Bins(output, int(bins), low, high, log)


def quantiles(*shares: float, output: OutputLike = "") -> Quantiles:
    """Values below which given shares of the points lie, exactly.

    Parameters
    ----------
    *shares : float
        Between 0 and 1, such as ``0.05, 0.5, 0.95``.
    output : str
        Output; by default the model's main output.

    Returns
    -------
    Quantiles
        For ``reduce=``; the answer is a grid with the axis ``share``. The value is that of a
        point: the least one with at least that share of the points at or below it.
    """
    if not shares or len(shares) > 32:
        raise ArgumentError("quantiles takes one to 32 shares, such as quantiles(0.5, 0.95)")
    for share in shares:
        number: Any = share
        if not isinstance(number, (int, float, np.number)) or not 0.0 <= share <= 1.0:
            raise ArgumentError(f"quantiles: {share!r} is no share between 0 and 1")
    return Quantiles(output, tuple(float(share) for share in shares))


def elasticity(output: str, parameter: str) -> Output:
    """Relative change of an output per relative change of a parameter, at every point.

    Parameters
    ----------
    output : str
        Output or term.
    parameter : str
        Continuous parameter, such as ``"bandwidth"``.

    Returns
    -------
    Output
        To be given in ``outputs=`` or to a reduction, in place of a name. -1 means that the output
        halves when the parameter doubles, to first order (central difference of 1e-4).
    """
    return Output(output, parameter)


def read(given: Any) -> Reduction:
    """Turn what a user gave as ``reduce=`` into a reduction."""
    if isinstance(given, (Extreme, Ranking, Front, Crossing, Mean, Count, Bins, Quantiles)):
        return given
    named: dict[str, Reduction] = {"min": minimum(), "max": maximum(), "mean": mean()}
    if isinstance(given, str) and given in named:
        return named[given]
    raise ArgumentError(
        f"reduce is {given!r}; wanted 'min', 'max', 'mean' or one of scalemath.sweeps: "
        "minimum, maximum, best, top, pareto, first, last, mean, count, histogram, quantiles"
    )


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _whole(what: str, value: Any) -> None:
    if not is_whole(value, 1):
        raise ArgumentError(f"{what} is {value!r}, wanted a whole number of at least 1")


def _threshold(name: str, below: Any, above: Any) -> tuple[str, Any]:
    if (below is None) == (above is None):
        raise ArgumentError(f"{name}: give one of below= and above=")
    found = above if below is None else below
    if isinstance(found, float) and not math.isfinite(found):
        raise ArgumentError(f"{name}: the threshold {found} must be finite")
    return (">", above) if below is None else ("<", below)
