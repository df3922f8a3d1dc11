"""Kernels of scaling and workloads: declared directions hold, nothing is ever nan."""

import importlib
import math
import random

import pytest

from scalemath.core.kernel import KERNELS, total

MODULES = (
    "gemm", "scaling", "ring_limits", "laws", "layer_time", "step_time", "group_traffic",
    "plan_numbers", "plan_rules", "step_rates", "training_memory", "training_cost",
    "serving", "placing",
)  # fmt: skip
for _name in MODULES:
    importlib.import_module(f"scalemath.kernels.{_name}")
OWN = sorted(
    name
    for name, kernel in KERNELS.items()
    if kernel.function.__module__.rsplit(".", 1)[1] in MODULES
)

SHARES = {
    "overlap", "serial_fraction", "efficiency", "share", "utilisation", "tensor_overlap",
    "expert_overlap", "context_overlap", "gradient_overlap", "hand_over_overlap", "hidden_share",
    "executed_share", "pair_factor", "reserve_share", "shared", "kept", "sequence_parallel",
    "context_ring", "regather", "early_stop", "last_gemm_share", "recompute_products",
    "vocabulary_share", "bubble_factor", "moments_added", "interference", "contention",
    "straggler_share", "keep_weights", "hand_over_gather", "context_loss",
}  # fmt: skip
COUNTS = {
    "ranks", "tensor", "pipeline", "virtual", "context", "expert", "data", "stride", "node_ranks",
    "micro_batch", "micro_batches", "devices", "batch", "baseline", "nodes",
    "shards", "expert_shards", "rails", "top_k", "node_limit", "sequence_shards", "in_flight",
    "domain_ranks", "layers", "oversubscription", "rounds", "passes", "global_batch",
}  # fmt: skip
RATES = {
    "peak", "bandwidth", "memory_bandwidth", "matmul_rate", "expert_rate", "attention_rate",
    "memory_rate", "nic_rate", "reduction_rate", "network_bandwidth", "storage_bandwidth",
    "node_token_rate",
}  # fmt: skip


def draw(name, rng):
    if name in {"efficiency", "utilisation", "pair_factor"}:
        return rng.uniform(0.05, 0.99)
    if name == "reserve":
        return rng.uniform(1, 1.1)
    if name in SHARES:
        return rng.choice([0.0, 1.0, rng.random()])
    if name in COUNTS:
        return float(rng.choice([1, 1, 2, 3, 4, 8, 16, 72, 1000]))
    if name in RATES:
        return 10 ** rng.uniform(8, 15)
    if name in ("slowdown", "factor"):
        return 1.0 + 10 ** rng.uniform(-2, 2)
    if name in ("gain", "reduction", "speedup"):
        return rng.uniform(0.2, 20)
    return 10 ** rng.uniform(-6, 6)


def value(kernel, arguments):
    return total(kernel.function(*arguments))


@pytest.mark.parametrize("name", OWN)
def test_directions_hold_and_no_result_is_nan(name):
    kernel = KERNELS[name]
    rng = random.Random(name)
    for _ in range(300):
        given = [draw(p, rng) for p in kernel.parameters]
        here = value(kernel, given)
        assert not math.isnan(here), given
        for position, parameter in enumerate(kernel.parameters):
            if parameter in kernel.free:
                continue
            other = draw(parameter, rng)
            changed = [*given]
            changed[position] = other
            there = value(kernel, changed)
            assert not math.isnan(there), changed
            if other == given[position]:
                continue
            higher, lower = (there, here) if other > given[position] else (here, there)
            slack = 1e-9 * max(abs(higher), abs(lower)) if math.isfinite(higher + lower) else 0
            if parameter in kernel.rises:
                assert higher >= lower - slack, (parameter, given, other)
            else:
                assert higher <= lower + slack, (parameter, given, other)
