"""Kernels of fabrics: declared directions hold, nothing is ever nan, compiled equals plain."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalemath.core.kernel import KERNELS, Kernel, total
from scalemath.kernels import (
    direct_networks,
    energy,
    fabric_traffic,
    fat_tree,
    fec,
    latency_budget,
)

MODULES = (direct_networks, energy, fabric_traffic, fat_tree, fec, latency_budget)
MINE = sorted(
    name for name, k in KERNELS.items() if k.function.__module__ in {m.__name__ for m in MODULES}
)

COUNT = st.integers(1, 300).map(float)
RATE = st.floats(1e6, 1e15)
AMOUNT = st.floats(0, 1e3)
SPECIAL: dict[str, st.SearchStrategy[float]] = {
    "rails": COUNT,
    "senders": COUNT,
    "wrap": st.sampled_from([0.0, 1.0]),
    "utilisation": st.floats(0, 0.999),
    "bit_error_rate": st.floats(0, 1),
    "oversubscription": st.floats(0.1, 20),
    "spine_oversubscription": st.floats(0.1, 20),
    "transcoding": st.floats(0.5, 1),
    "tiers": st.integers(0, 4).map(float),
    "leaves_per_pod": st.integers(0, 40).map(float),
    "spines_per_pod": st.integers(0, 40).map(float),
    "order": st.sampled_from([3.0, 4.0, 5.0, 7.0, 8.0, 9.0, 27.0, 28.0]),
    "message": st.integers(1, 514).map(float),
    "codeword": st.integers(515, 600).map(float),
    "symbol_bits": st.integers(1, 16).map(float),
    "usage_effectiveness": st.floats(1, 3),
    "load": st.floats(0.001, 100),
    "rate": RATE,
    "line_rate": RATE,
    "port_bandwidth": RATE,
    "whole": st.floats(1e-3, 1e3),
}


def strategy(kernel: Kernel, name: str) -> st.SearchStrategy[float]:
    if name in SPECIAL:
        return SPECIAL[name]
    return (
        AMOUNT
        if kernel.unit in {"W", "s", "J/bit", "byte/s"} and "endpoints" not in name
        else COUNT
    )


def test_the_list_is_not_empty() -> None:
    assert len(MINE) > 45


@pytest.mark.parametrize("name", MINE)
@settings(max_examples=60)
@given(data=st.data())
def test_declared_directions_hold(name: str, data: Any) -> None:
    kernel = KERNELS[name]
    values = {p: data.draw(strategy(kernel, p), label=p) for p in kernel.parameters}
    before = total(kernel(*values.values()))
    assert not math.isnan(before)
    for moved in sorted(kernel.rises | kernel.falls):
        more = max(values[moved], data.draw(strategy(kernel, moved), label=f"more {moved}"))
        after = total(kernel(*{**values, moved: more}.values()))
        slack = 1e-9 * max(abs(before), abs(after)) if math.isfinite(before + after) else 0.0
        if moved in kernel.rises:
            assert after >= before - slack
        else:
            assert after <= before + slack


@pytest.mark.slow
@pytest.mark.parametrize("name", MINE)
@settings(max_examples=15)
@given(data=st.data())
def test_compiled_equals_plain(name: str, data: Any) -> None:
    numba = pytest.importorskip("numba")
    kernel = KERNELS[name]
    compiled = _compiled(numba, name)
    values = [data.draw(strategy(kernel, p), label=p) for p in kernel.parameters]
    plain, fast = kernel(*values), compiled(*values)
    if not kernel.terms:
        plain, fast = (plain,), (fast,)
    assert [float(x) for x in fast] == pytest.approx([float(x) for x in plain], rel=1e-12)


_CACHE: dict[str, Any] = {}


def _compiled(numba: Any, name: str) -> Any:
    if name not in _CACHE:
        if not _CACHE:
            for kernel in KERNELS.values():
                numba.extending.register_jitable(error_model="numpy")(kernel.function)
        _CACHE[name] = numba.njit(error_model="numpy")(KERNELS[name].function)
    return _CACHE[name]
