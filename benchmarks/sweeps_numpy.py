"""The expressions of benchmarks/sweeps.py in NumPy, as one writes them by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
WORK, OVERLAP = 0.1, 0.5


def ring(n: Array, s: Array, b: Array, a: Array, out: Array | None = None) -> Array:
    """Ring allreduce without reduction arithmetic."""
    if out is None:
        return 2.0 * (n - 1.0) * a + 2.0 * (n - 1.0) * s / (n * b)
    return np.add(2.0 * (n - 1.0) * a, 2.0 * (n - 1.0) * s / (n * b), out=out)


def _exponent(x: Array) -> tuple[Array, Array]:
    mantissa, exponent = np.frexp(x)
    return mantissa, exponent.astype(float)


def _pipeline(f: Array, w: Array, a: Array, least: float) -> Array:
    start = f * a
    with_best = start + w + 2.0 * (np.sqrt(f) * np.sqrt(a) * np.sqrt(w))
    return np.where(f * w > least * least * a, with_best, start + least * a + w + f * w / least)


def _pipeline_reduced(f: Array, wire: Array, arithmetic: Array, a: Array, least: float) -> Array:
    work = wire + arithmetic
    start = f * a
    root = np.sqrt(f) * np.sqrt(a)
    overhead = root * np.sqrt(work)
    stretch = 1.0 + root / np.sqrt(work)
    with_best = start + overhead + wire * stretch + arithmetic * stretch
    stretched = (wire + arithmetic) * (1.0 + f / least)
    return np.where(f * work > least * least * a, with_best, start + least * a + stretched)


def _both_ways(f: Array, wire: Array, arithmetic: Array, a: Array, least: float) -> Array:
    up = _pipeline_reduced(f, wire, arithmetic, a, least)
    return up + _pipeline(f, wire, a, least)


def best_communication(
    n: Array, s: Array, b: Array, a: Array, g: float = np.inf
) -> tuple[Array, Array]:
    """Least time of seven algorithms, and which one."""
    mantissa, exponent = _exponent(n)
    floor_log = exponent - 1.0
    ceil_log = np.where(mantissa == 0.5, exponent - 1.0, exponent)
    core = np.exp2(floor_log)
    folded = core < n
    wire, arithmetic = s / b, s / g
    doubling_rounds = np.where(folded, floor_log + 2.0, floor_log)
    reductions = np.where(folded, floor_log + 1.0, floor_log)
    share = (core - 1.0) / core + np.where(folded, 1.0, 0.0)
    chain = np.where(n < 2.0, 0.0, _both_ways(n - 2.0, wire, arithmetic, a, 1.0))
    above, exponent = _exponent(n + 1.0)
    height = np.where(above == 0.5, exponent - 1.0, exponent) - 2.0
    times = [
        2.0 * (n - 1.0) * a + (n - 1.0) / n * (2.0 * wire + arithmetic),
        doubling_rounds * (a + wire) + reductions * arithmetic,
        (2.0 * floor_log + np.where(folded, 2.0, 0.0)) * a + share * (2.0 * wire + arithmetic),
        ceil_log * (2.0 * a + 2.0 * wire + arithmetic),
        chain,
        np.where(n < 3.0, chain, 2.0 * _both_ways(height, wire, arithmetic, a, 1.0)),
        np.where(n < 3.0, chain, _both_ways(2.0 * ceil_log, wire, arithmetic, a, 2.0)),
    ]
    best = times[0]
    code = np.zeros(best.shape, dtype=np.uint8)
    for number, other in enumerate(times[1:], start=1):
        better = other < best
        code = np.where(better, np.uint8(number), code)
        best = np.where(better, other, best)
    return best, code


def best_step(
    n: Array, s: Array, b: Array, share: Array, thinning: Array, a: Array
) -> tuple[Array, Array, Array]:
    """Step time, efficiency and winner over six axes."""
    communication, code = best_communication(n, s, b * share / thinning, a)
    compute = WORK / n
    step = compute + communication - np.minimum(OVERLAP * communication, compute)
    return step, WORK / (n * step), code


def best_step_chunked(columns: Sequence[Array], out: dict[str, Array]) -> None:
    """The same in pieces that fit the cache."""
    n, s, *rest = columns
    for i in range(n.size):
        for j in range(s.size):
            found = best_step(n[i : i + 1], s[:, j : j + 1], *rest)
            for name, array in zip(("time", "efficiency", "algorithm"), found, strict=True):
                out[name][i, j] = array[0, 0]
