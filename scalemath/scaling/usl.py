"""The universal scalability law, and its fit to measured throughput."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from attrs import frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.kernels.laws import usl_capacity, usl_peak_ranks
from scalemath.kernels.scaling import speedup_per_rank
from scalemath.scaling.laws import step
from scalemath.units import quantities

Floats = np.ndarray[Any, np.dtype[np.float64]]


@frozen(kw_only=True, eq=False)
class UniversalScaling(Result):
    """Capacity by the universal scalability law.

    Attributes
    ----------
    contention, coherency : float
        Cost of queueing for what is shared, and of keeping what is shared alike [1].
    throughput_one : float
        Throughput of one rank, in the unit of the measurement; 1 without one.
    ranks : int
        Devices asked about.
    error : float
        Median relative deviation of the measurements from the fit [1].
    """

    contention: float
    coherency: float
    ranks: int
    throughput_one: float = 1.0
    error: float = 0.0

    def capacity_at(self, ranks: float) -> float:
        """Relative capacity [1] of a number of ranks."""
        return usl_capacity(self.contention, self.coherency, ranks)

    def throughput_at(self, ranks: float) -> float:
        """Throughput of a number of ranks, in the unit of the measurement."""
        return self.throughput_one * self.capacity_at(ranks)

    @measured("1")
    def speedup(self) -> float:
        """Capacity against one rank."""
        return self.capacity_at(self.ranks)

    @measured("1")
    def scaling_efficiency(self) -> float:
        """Capacity per rank."""
        return speedup_per_rank(self.speedup, self.ranks, 1.0)

    @measured("1")
    def best_ranks(self) -> float:
        """Number of ranks, continuous, with the most capacity."""
        return usl_peak_ranks(self.contention, self.coherency)

    @measured("1")
    def ceiling(self) -> float:
        """Largest capacity any number of ranks has."""
        best = self.best_ranks
        if math.isfinite(best):
            return self.capacity_at(best)
        return 1.0 / self.contention if self.contention else math.inf

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {
            "contention": (self.contention, "1"),
            "coherency": (self.coherency, "1"),
            "ranks": (self.ranks, "1"),
        }

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(usl_capacity)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        return (
            f"universal scaling: contention {self.contention:.4g}, coherency "
            f"{self.coherency:.4g}: capacity {self.speedup:.6g} on {self.ranks} ranks, most "
            f"{self.ceiling:.6g} at {self.best_ranks:.6g}"
        )


@quantities(
    step("speedup", usl_capacity),
    contention="number",
    coherency="number",
    ranks="count >= 1",
)
def universal_scaling(contention: float, coherency: float, *, ranks: float) -> UniversalScaling:
    """Capacity of a number of devices by the universal scalability law.

    Parameters
    ----------
    contention : float
        Share of the work that queues for something shared [1].
    coherency : float
        Cost of exchange between each pair of ranks [1].
    ranks : int
        Devices.

    Returns
    -------
    UniversalScaling
        Capacity, efficiency, and the number of ranks with the most capacity.

    Notes
    -----
    ``capacity = ranks / (1 + contention (ranks - 1) + coherency ranks (ranks - 1))``
    [Gunther2007]_; without coherency it is Amdahl's law.

    Examples
    --------
    >>> from scalemath.scaling import universal_scaling
    >>> result = universal_scaling(0.05, 0.001, ranks=16)
    >>> print(f"{result.speedup:.4f}, most at {result.best_ranks:.1f}")
    8.0402, most at 30.8
    """
    return UniversalScaling(contention=contention, coherency=coherency, ranks=int(ranks))


def fit_universal_scaling(ranks: Sequence[float], throughput: Sequence[float]) -> UniversalScaling:
    """Fit the universal scalability law to measured throughput.

    Parameters
    ----------
    ranks : sequence of int
        Devices of each measurement; at least three different counts.
    throughput : sequence of float
        What was measured, in any unit that grows with speed [1].

    Returns
    -------
    UniversalScaling
        Constants, throughput of one rank, and how far the measurements lie from the fit.

    Raises
    ------
    ArgumentError
        When there are fewer than three counts, or a value is not positive.

    Notes
    -----
    ``ranks / throughput`` is linear in three non-negative unknowns. They are found by
    least squares on relative errors, repeated with outliers weighed down; when SciPy is
    installed, its robust solver then minimises the error of the logarithm of throughput.

    Examples
    --------
    >>> from scalemath.scaling import fit_universal_scaling
    >>> fit = fit_universal_scaling([1, 2, 4, 8, 16], [100, 190.1, 344.2, 569.0, 804.0])
    >>> print(f"{fit.contention:.3f} {fit.coherency:.4f}")
    0.050 0.0010
    """
    counts = np.asarray(ranks, dtype=float)
    rates = np.asarray(throughput, dtype=float)
    if counts.shape != rates.shape or counts.ndim != 1:
        raise ArgumentError("fit_universal_scaling: give one throughput for every rank count")
    if len(set(counts.tolist())) < 3:
        raise ArgumentError("fit_universal_scaling: three different rank counts are needed")
    if not (np.isfinite(rates).all() and (rates > 0).all() and (counts >= 1).all()):
        raise ArgumentError("fit_universal_scaling: counts from 1 and throughputs above 0")
    per_one, contention, coherency = _refined(counts, rates, _reweighted(counts, rates))
    model = np.array([usl_capacity(contention, coherency, n) for n in counts]) * per_one
    return UniversalScaling(
        contention=contention,
        coherency=coherency,
        throughput_one=per_one,
        ranks=int(counts.max()),
        error=float(np.median(np.abs(rates / model - 1.0))),
        assumptions=(f"fitted to {len(counts)} measurements",),
    )


def _reweighted(counts: Floats, rates: Floats) -> tuple[float, float, float]:
    """Throughput of one, contention and coherency, by least squares with outliers weighed down."""
    columns = np.stack([np.ones_like(counts), counts - 1.0, counts * (counts - 1.0)], axis=1)
    wanted = counts / rates
    scaled = columns / wanted[:, None]
    weight = np.ones_like(counts)
    found = _non_negative(scaled, weight)
    for _ in range(30):
        error = np.abs(scaled @ found - 1.0)
        spread = max(1.4826 * float(np.median(error)), 1e-9)
        weight = 1.0 / np.maximum(1.0, error / (1.5 * spread))
        found = _non_negative(scaled, weight)
    return 1.0 / float(found[0]), float(found[1] / found[0]), float(found[2] / found[0])


def _non_negative(scaled: Floats, weight: Floats) -> Floats:
    """Least squares against ones with no coefficient below zero; the first is always used."""
    root = np.sqrt(weight)
    best, least = np.zeros(3), math.inf
    for used in [(0,), *((0, *more) for k in (1, 2) for more in combinations((1, 2), k))]:
        columns = scaled[:, used] * root[:, None]
        values = np.linalg.lstsq(columns, root, rcond=None)[0]
        if (values < 0).any() or values[0] <= 0:
            continue
        error = float(np.sum((columns @ values - root) ** 2))
        if error < least - 1e-15:
            best, least = np.zeros(3), error
            best[list(used)] = values
    return best


def _refined(
    counts: Floats, rates: Floats, start: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Minimise the robust error of the logarithm by SciPy when it is installed."""
    try:
        from scipy.optimize import least_squares
    except ImportError:
        return start

    def residuals(point: Floats) -> Floats:
        capacity = counts / (1.0 + (counts - 1.0) * (point[1] + point[2] * counts))
        errors: Floats = np.log(np.exp(point[0]) * capacity / rates)
        return errors

    found = least_squares(
        residuals,
        [math.log(start[0]), start[1], start[2]],
        bounds=([-np.inf, 0.0, 0.0], np.inf),
        loss="soft_l1",
        f_scale=0.02,
        x_scale=[1.0, 0.01, 1e-4],
    )
    return math.exp(found.x[0]), float(found.x[1]), float(found.x[2])
