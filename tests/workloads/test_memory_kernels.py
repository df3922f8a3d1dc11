"""Kernels of memory and operations: declared directions, limits and edges."""

from __future__ import annotations

import math
import random

import pytest

from scalemath.core.kernel import KERNELS, total
from scalemath.kernels import memory, operations

RANGES = {
    "parameters": (1e6, 1e12), "bits": (1, 32), "ranks": (1, 512), "tokens": (1, 1e6),
    "page_tokens": (1, 256), "values_per_layer": (1, 1e4), "layers": (60, 120),
    "window_layers": (0, 60), "window": (0, 4096), "bytes_per_value": (0.5, 4),
    "tensor": (1, 64), "kv_heads": (1, 64), "latent": (0, 1), "capacity": (1e9, 1e12),
    "held": (0, 1e12), "reserve": (0, 0.9), "each": (1, 1e9), "share": (0.05, 1),
    "state": (1e9, 1e13), "node_capacity": (1e10, 1e13), "rank": (1, 256),
    "columns": (1, 1e5), "inner": (1, 1e5), "units": (1, 1000), "rate": (1e-8, 1e-3),
    "probability": (0, 1), "bandwidth": (1e6, 1e12), "stall": (0.1, 1e4),
    "failure_rate": (1e-8, 1e-4), "interval": (1, 1e5), "restart": (0, 1e4), "nodes": (1, 64),
    "effort": (1, 6), "ramp": (0, 1e8), "period": (1, 1e8), "devices": (1, 1e4),
    "time": (1, 1e8), "price": (1e-6, 10), "node_price": (0, 1e6), "power": (0, 1e5),
    "energy_price": (0, 1e-6), "upkeep": (0, 1), "token_rate": (1, 1e6), "ratio": (1.1, 20),
    "penalty": (1, 5),
}  # fmt: skip
OURS = sorted(
    name
    for name, k in KERNELS.items()
    if k.function.__module__ in (memory.__name__, operations.__name__)
)


def drawn(name: str, random_: random.Random) -> float:
    low, high = RANGES.get(name, (0.1, 100.0))
    return random_.uniform(low, high)


@pytest.mark.parametrize("name", OURS)
def test_declared_directions_hold(name: str) -> None:
    record = KERNELS[name]
    random_ = random.Random(name)
    for _ in range(60):
        given = {p: drawn(p, random_) for p in record.parameters}
        before = total(record.function(**given))
        assert not math.isnan(before)
        for parameter in record.rises | record.falls:
            other = drawn(parameter, random_)
            high = max(other, given[parameter])
            low = min(other, given[parameter])
            at_low = total(record.function(**{**given, parameter: low}))
            at_high = total(record.function(**{**given, parameter: high}))
            slack = 1e-12 * max(abs(at_low), abs(at_high))
            if parameter in record.rises:
                assert at_high >= at_low - slack, parameter
            else:
                assert at_high <= at_low + slack, parameter


def test_edges() -> None:
    assert memory.whole_units_that_fit(10.0, 20.0, 0.0, 1.0) == 0.0
    assert math.isinf(memory.whole_units_that_fit(10.0, 0.0, 0.0, 0.0))
    assert memory.nodes_for_state(0.0, 10.0, 1.0) == 1.0
    assert memory.nodes_for_state(30.0, 10.0, 1.0) == 3.0
    assert memory.nodes_for_state(0.3, 0.1, 1.0) == 3.0  # whole but for rounding
    assert memory.nodes_for_state(30.1, 10.0, 1.0) == 4.0
    assert math.isinf(operations.token_cost(1.0, 0.0))
    assert operations.goodput_share(1.0, 0.0, 1e-9, 0.0) == pytest.approx(1.0)
