"""Errors of predictions against measurements, one line per set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from attrs import frozen

IN_SAMPLE = "in sample"
LEFT_OUT = "left out"
INDEPENDENT = "independent"
"""Kinds: constants saw these rows; constants were fitted without them; they never can have."""


@frozen
class Score:
    """Relative errors of one set of predictions.

    Attributes
    ----------
    name : str
        The set.
    kind : str
        Whether the rows informed their own prediction: in sample, left out or independent.
    rows : int
        Number of predictions.
    bias, mean, median, p95, worst : float
        Mean signed error; mean, median, 95th percentile of the absolute error; the signed error
        that is greatest in absolute value [1].
    """

    name: str
    kind: str
    rows: int
    bias: float
    mean: float
    median: float
    p95: float
    worst: float


def score_of(name: str, kind: str, predicted: Sequence[float], measured: Sequence[float]) -> Score:
    """Score predictions against measurements in the same unit."""
    error = np.asarray(predicted, float) / np.asarray(measured, float) - 1.0
    return score_of_errors(name, kind, error)


def score_of_errors(name: str, kind: str, errors: Sequence[float]) -> Score:
    """Score signed relative errors."""
    error = np.asarray(errors, float)
    size = np.abs(error)
    return Score(
        name=name,
        kind=kind,
        rows=len(error),
        bias=float(error.mean()),
        mean=float(size.mean()),
        median=float(np.median(size)),
        p95=float(np.quantile(size, 0.95)),
        worst=float(error[size.argmax()]),
    )


def table_of(scores: Iterable[Score]) -> str:
    """Scores as a table, percentages."""
    head = f"{'set':58s} {'rows':11s} {'number':>6s} {'bias':>7s} {'mean':>7s} {'median':>7s}"
    lines = [f"{head} {'95 %':>7s} {'worst':>8s}"]
    lines += [
        f"{s.name:58.58s} {s.kind:11s} {s.rows:6d} {100 * s.bias:+6.1f}% {100 * s.mean:6.1f}% "
        f"{100 * s.median:6.1f}% {100 * s.p95:6.1f}% {100 * s.worst:+7.1f}%"
        for s in scores
    ]
    return "\n".join(lines)
