"""From a reduction to the code that runs it."""

from __future__ import annotations

from collections.abc import Sequence

from scalemath.sweeps import folding, scanning
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output
from scalemath.sweeps.reductions import (
    Bins,
    Count,
    Crossing,
    Extreme,
    Front,
    Mean,
    Ranking,
    Reduction,
)
from scalemath.sweeps.running import Run


def reduce(problem: Problem, reduction: Reduction, outputs: Sequence[Output], how: Run) -> Grid:
    """Run one reduction.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    reduction : Reduction
        What to keep.
    outputs : sequence of Output
        What to report in addition at the points found.
    how : Run
        Threads and the like.

    Returns
    -------
    Grid
        The answer.
    """
    if isinstance(reduction, Extreme):
        return folding.extreme(problem, reduction, outputs, how)
    if isinstance(reduction, Crossing):
        return folding.crossing(problem, reduction, how)
    if isinstance(reduction, Mean):
        return folding.mean(problem, reduction, how)
    if isinstance(reduction, Count):
        return folding.count(problem, reduction, how)
    if isinstance(reduction, Ranking):
        return scanning.ranking(problem, reduction, outputs, how)
    if isinstance(reduction, Front):
        return scanning.front(problem, reduction, outputs, how)
    if isinstance(reduction, Bins):
        return scanning.histogram(problem, reduction, how)
    return scanning.quantiles(problem, reduction, how)
