"""How many complete step-time evaluations a second the plan search makes on one core.

Every plan is valid; a plan counts only if it also fits the memory. Time covers lowering the
policies, the compiled sweep of the very model of the scalar call, and both outputs, time and
memory; compiling once per machine is not part of it and is printed apart.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import numpy as np

from scalemath.workloads import Stack, Transformer, reference_machine, training_step
from scalemath.workloads.layouts import LayoutSizes, layout_sizes
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.search import evaluate_plans

MODEL = Transformer(
    name="8B", layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocabulary=128256
)
SEQUENCE = 4096
COUNTS = (64, 128, 256, 512, 1024, 2048)
ROUNDS = 7


def plans() -> tuple[LayoutSizes, tuple[ParallelPlan, ...]]:
    """About a million valid plans: sizes with global batches, and combinations of policies."""
    found = [
        layout_sizes(
            MODEL,
            ranks,
            sequence=SEQUENCE,
            global_batch=batch,
            tensor_limit=8,
            context_limit=16,
            micro_batches=(1, 2, 4, 8, 16),
        )
        for ranks in COUNTS
        for batch in (1024, 2048, 4096, 8192, 16384)
    ]
    one = LayoutSizes(*(np.concatenate(columns) for columns in zip(*found, strict=True)))
    policies = tuple(
        ParallelPlan(sharding=shared, recompute=again, schedule=schedule, sequence_parallel=True)
        for shared in ("none", "optimizer", "gradients")
        for again in ("none", "operators", "full", "full-early-stop")
        for schedule in ("1f1b", "zb-h1", "zero-bubble")
    )
    return one, policies[: max(1, round(1e6 / len(one.tensor)))]


def main() -> None:
    """Measure and print."""
    machine = reference_machine("GB300")
    sizes, policies = plans()
    count = len(sizes.tensor) * len(policies)

    def run() -> tuple[np.ndarray, np.ndarray]:
        return evaluate_plans(MODEL, machine, Stack(), SEQUENCE, sizes, policies, threads=1)

    begin = time.perf_counter()
    _, memory = run()
    first = time.perf_counter() - begin
    took, busy = [], []
    for _ in range(ROUNDS):
        begin, used = time.perf_counter(), time.process_time()
        run()
        took.append(time.perf_counter() - begin)
        busy.append(time.process_time() - used)
    fits = int((memory <= machine.memory).sum())
    plan = ParallelPlan(
        tensor=8, pipeline=4, data=2, virtual=2, global_batch=64, sequence_parallel=True
    )
    begin = time.perf_counter()
    for _ in range(50):
        training_step(MODEL, plan, machine, sequence=SEQUENCE)
    scalar = (time.perf_counter() - begin) / 50
    median = statistics.median(took)
    result = {
        "plans": count,
        "fitting": fits,
        "median_seconds": median,
        "plans_per_second": count / median,
        "fitting_per_second": fits / median,
        "best_fitting_per_second": fits / min(took),
        "fitting_per_processor_second": fits / statistics.median(busy),
        "first_call_seconds": first,
        "scalar_call_seconds": scalar,
    }
    if "--json" in sys.argv:
        print(json.dumps(result, indent=2))
        return
    print(f"{count:,} valid plans, {fits:,} of them fit; median of {ROUNDS} rounds, one thread")
    print(f"{count / median / 1e6:.2f} million plans a second, {fits / median / 1e6:.2f} that fit")
    print(
        f"{fits / statistics.median(busy) / 1e6:.2f} million that fit per second of processor time"
    )
    print(f"first call with compilation {first:.1f} s; one scalar call {1e6 * scalar:.0f} us")


if __name__ == "__main__":
    main()
