"""The expressions of benchmarks/sweeps.py in NumPy, as one writes them by hand.

`best_step` also runs on another module with the interface of NumPy, given as `xp`.
"""

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


def _exponent(x: Array, xp: Any) -> tuple[Array, Array]:
    mantissa, exponent = xp.frexp(x)
    return mantissa, exponent.astype(float)


def _pipeline(f: Array, w: Array, a: Array, least: float, xp: Any) -> Array:
    start = f * a
    with_best = start + w + 2.0 * (xp.sqrt(f) * xp.sqrt(a) * xp.sqrt(w))
    return xp.where(f * w > least * least * a, with_best, start + least * a + w + f * w / least)


def _pipeline_reduced(
    f: Array, wire: Array, arithmetic: Array, a: Array, least: float, xp: Any
) -> Array:
    work = wire + arithmetic
    start = f * a
    root = xp.sqrt(f) * xp.sqrt(a)
    overhead = root * xp.sqrt(work)
    stretch = 1.0 + root / xp.sqrt(work)
    with_best = start + overhead + wire * stretch + arithmetic * stretch
    stretched = (wire + arithmetic) * (1.0 + f / least)
    return xp.where(f * work > least * least * a, with_best, start + least * a + stretched)


def _both_ways(f: Array, wire: Array, arithmetic: Array, a: Array, least: float, xp: Any) -> Array:
    up = _pipeline_reduced(f, wire, arithmetic, a, least, xp)
    return up + _pipeline(f, wire, a, least, xp)


def best_communication(
    n: Array, s: Array, b: Array, a: Array, g: float = np.inf, xp: Any = np
) -> tuple[Array, Array]:
    """Least time of seven algorithms, and which one."""
    mantissa, exponent = _exponent(n, xp)
    floor_log = exponent - 1.0
    ceil_log = xp.where(mantissa == 0.5, exponent - 1.0, exponent)
    core = n / (2.0 * mantissa)
    folded = core < n
    wire, arithmetic = s / b, s / g
    doubling_rounds = xp.where(folded, floor_log + 2.0, floor_log)
    reductions = xp.where(folded, floor_log + 1.0, floor_log)
    share = (core - 1.0) / core + xp.where(folded, 1.0, 0.0)
    chain = xp.where(n < 2.0, 0.0, _both_ways(n - 2.0, wire, arithmetic, a, 1.0, xp))
    above, exponent = _exponent(n + 1.0, xp)
    height = xp.where(above == 0.5, exponent - 1.0, exponent) - 2.0
    times = [
        2.0 * (n - 1.0) * a + (n - 1.0) / n * (2.0 * wire + arithmetic),
        doubling_rounds * (a + wire) + reductions * arithmetic,
        (2.0 * floor_log + xp.where(folded, 2.0, 0.0)) * a + share * (2.0 * wire + arithmetic),
        ceil_log * (2.0 * a + 2.0 * wire + arithmetic),
        chain,
        xp.where(n < 3.0, chain, 2.0 * _both_ways(height, wire, arithmetic, a, 1.0, xp)),
        xp.where(n < 3.0, chain, _both_ways(2.0 * ceil_log, wire, arithmetic, a, 2.0, xp)),
    ]
    best = times[0]
    code = xp.zeros(best.shape, dtype=xp.uint8)
    for number, other in enumerate(times[1:], start=1):
        better = other < best
        code = xp.where(better, xp.uint8(number), code)
        best = xp.where(better, other, best)
    return best, code


def best_step(
    n: Array, s: Array, b: Array, share: Array, thinning: Array, a: Array, xp: Any = np
) -> tuple[Array, Array, Array]:
    """Step time, efficiency and winner over six axes."""
    communication, code = best_communication(n, s, b * share / thinning, a, xp=xp)
    compute = WORK / n
    step = compute + communication - xp.minimum(OVERLAP * communication, compute)
    return step, WORK / (n * step), code


def best_step_chunked(columns: Sequence[Array], out: dict[str, Array]) -> None:
    """The same in pieces that fit the cache."""
    n, s, *rest = columns
    for i in range(n.size):
        for j in range(s.size):
            found = best_step(n[i : i + 1], s[:, j : j + 1], *rest)
            for name, array in zip(("time", "efficiency", "algorithm"), found, strict=True):
                out[name][i, j] = array[0, 0]
