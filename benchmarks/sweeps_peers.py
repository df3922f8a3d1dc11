"""The expressions of benchmarks/sweeps.py for numexpr and JAX on a processor, where installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sweeps_numpy as twins

Array = np.ndarray[Any, Any]
RING = "2*(n-1)*a + 2*(n-1)*s/(n*b)"
COPIED = (
    "where({f}*w > {m}*a, {f}*a + w + 2*sqrt({f})*sqrt(a)*sqrt(w), {f}*a + {m}*a + w + {f}*w/{m})"
)
TREE = f"2*({COPIED})"  # without reduction arithmetic the way up costs what the way down costs
CHAIN = TREE.format(f="(n-2)", m="1")
TIMES = (
    "2*(n-1)*a + 2*(n-1)/n*w",
    "doubling*(a + w)",
    "halving*a + 2*share*w",
    "2*rounds*(a + w)",
    f"where(n < 2, 0, {CHAIN})",
    f"where(n < 3, {CHAIN}, 2*({TREE.format(f='height', m='1')}))",
    f"where(n < 3, {CHAIN}, {TREE.format(f='(2*rounds)', m='2')})".replace("> 2*a", "> 4*a"),
)


def numexpr_ring(columns: Sequence[Array], out: Array) -> Callable[[], Any] | None:
    """Ring allreduce by numexpr on one thread; None where it is missing."""
    try:
        import numexpr
    except ImportError:
        return None
    numexpr.set_num_threads(1)
    space = dict(zip("nsba", columns, strict=True))
    return lambda: numexpr.evaluate(RING, space, out=out)


def numexpr_best(columns: Sequence[Array]) -> Callable[[], tuple[Array, Array, Array]] | None:
    """Best of seven algorithms, step time and efficiency by numexpr on one thread."""
    try:
        import numexpr
    except ImportError:
        return None
    numexpr.set_num_threads(1)

    def run() -> tuple[Array, Array, Array]:
        n, s, b, share, thinning, a = columns
        mantissa, exponent = np.frexp(n)
        floor = exponent - 1.0
        core = np.exp2(floor)
        more = np.where(core < n, 1.0, 0.0)
        ceil = np.where(mantissa == 0.5, floor, floor + 1.0)
        above, exponent = np.frexp(n + 1.0)
        space = {
            "n": n, "a": a, "w": s / (b * share / thinning), "rounds": ceil,
            "doubling": floor + 2.0 * more, "halving": 2.0 * floor + 2.0 * more,
            "share": (core - 1.0) / core + more,
            "height": np.maximum(np.where(above == 0.5, exponent - 1.0, exponent) - 2.0, 0.0),
        }  # fmt: skip
        best = numexpr.evaluate(TIMES[0], space)
        code = np.zeros(best.shape, dtype=np.int32)
        for number, text in enumerate(TIMES[1:], start=1):
            other = numexpr.evaluate(text, space)
            found = {"other": other, "best": best, "code": code}
            numexpr.evaluate(f"where(other < best, {number}, code)", found, out=code)
            numexpr.evaluate("where(other < best, other, best)", found, out=best)
        last = {"t": best, "compute": twins.WORK / n, "work": twins.WORK, "n": n}
        hidden = f"where({twins.OVERLAP}*t < compute, {twins.OVERLAP}*t, compute)"
        step = numexpr.evaluate(f"compute + t - {hidden}", last)
        efficiency = numexpr.evaluate("work/(n*step)", {"step": step, **last})
        return step, efficiency, code.astype(np.uint8)

    return run


def _jax() -> Any:
    """JAX in double precision on one thread, or None."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    return jax


def jax_ring(columns: Sequence[Array]) -> Callable[[], Any] | None:
    """Ring allreduce by JAX into a fresh array; None where it is missing."""
    jax = _jax()
    if jax is None:
        return None
    compiled = jax.jit(twins.ring)
    given = [jax.numpy.asarray(c) for c in columns]
    return lambda: compiled(*given).block_until_ready()


def jax_best(columns: Sequence[Array]) -> Callable[[], tuple[Any, ...]] | None:
    """Best of seven algorithms, step time and efficiency by JAX."""
    jax = _jax()
    if jax is None:
        return None
    compiled = jax.jit(lambda *given: twins.best_step(*given, xp=jax.numpy))
    given = [jax.numpy.asarray(c) for c in columns]
    return lambda: tuple(jax.block_until_ready(compiled(*given)))
