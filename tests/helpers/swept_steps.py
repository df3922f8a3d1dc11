"""Training steps small enough to sweep in a test, and the scalar call they are compared with."""

import itertools
import math

import attrs
import numpy as np
import pytest

from scalemath.core.errors import ContradictionError, RangeError
from scalemath.sweeps.places import evaluate
from scalemath.sweeps.program import Output
from scalemath.sweeps.reading import state
from scalemath.units import convert
from scalemath.workloads import (
    ParallelPlan,
    Stack,
    Transformer,
    reference_machine,
    training_step,
)
from scalemath.workloads.plan import RECOMPUTE
from scalemath.workloads.step_fields import FIELDS, TRUTHS, changed

SIZE = {"layers": 8, "hidden": 1024, "heads": 16, "ffn": 4096, "vocabulary": 32000}
DENSE = Transformer(name="dense", kv_heads=8, **SIZE)
MIXTURE = Transformer(
    name="mixture", kv_heads=8, experts=8, experts_per_token=2, expert_ffn=1024, shared_experts=1,
    dense_layers=1, expert_node_limit=2, **SIZE,
)  # fmt: skip
LATENT = Transformer(
    name="latent", kv_rank=128, rope_size=32, query_rank=128, experts=8, experts_per_token=2,
    expert_ffn=1024, dense_layers=2, **SIZE,
)  # fmt: skip
WINDOWED = attrs.evolve(DENSE, name="windowed", window=1000, window_layers=5)
H100, B200 = reference_machine("H100"), reference_machine("B200")
PLAN = ParallelPlan(tensor=2, data=2, global_batch=32, sequence_parallel=True)

POOL = {
    "plan.tensor": [1, 2, 4, 3, 16],
    "plan.pipeline": [1, 2, 4, 8, 5],
    "plan.context": [1, 2, 4],
    "plan.expert": [1, 2, 4, 8],
    "plan.data": [1, 2, 4, 3],
    "plan.virtual": [1, 2, 4],
    "plan.micro_batch": [1, 2, 3],
    "plan.global_batch": [16, 24, 32],
    "plan.sharding": ["none", "optimizer", "gradients", "weights"],
    "plan.recompute": list(RECOMPUTE),
    "plan.schedule": ["1f1b", "interleaved", "zb-h1", "zero-bubble"],
    "plan.sequence_parallel": [True, False],
    "plan.keep_weights": [True, False],
    "sequence": [1000, 1024, 2048],
    "machine.peak": ["500 Tflop/s", "1 Pflop/s"],
    "machine.matmul_share": [0.4, 0.6],
    "machine.memory_bandwidth": ["1 TB/s", "4 TB/s"],
    "machine.nic_rate": ["1 GB/s/dir", "40 GB/s/bidir"],
    "machine.nic_bandwidth": ["10 GB/s/dir", "400 Gb/s/dir"],
    "machine.rails": [1, 4],
    "machine.node_ranks": [1, 4, 72],
    "machine.network_latency": ["1 us", "1 ms"],
    "machine.straggler_share": [0, 0.1],
    "machine.allreduce.bandwidth": ["10 GB/s/dir", "400 GB/s/dir"],
    "machine.gather.startup": ["1 us", "50 us"],
    "machine.exchange.pair_factor": [0.5, 1.0],
    "stack.precision": ["16-bit", "8-bit"],
    "stack.attention": ["fused", "unfused"],
    "stack.context": ["exchange", "ring", "gather"],
    "stack.dropout": [True, False],
    "stack.hand_over_gather": [True, False],
    "stack.attention_gain": [1.0, 1.4],
    "stack.expert_capacity": [1.0, 1.5],
    "stack.element_factor": [1.0, 1.5],
    "stack.gather_bytes": ["1 byte", "2 byte"],
    "stack.gradient_overlap": [0.0, 0.5],
    "stack.live_layers": [1, 2],
    "stack.memory_reserve": [1.0, 1.1],
    "transformer.layers": [8, 12, 16],
    "transformer.heads": [16, 32],
    "transformer.kv_heads": [4, 16],
    "transformer.hidden": [1024, 1536],
    "transformer.ffn": [4096, 3000],
    "transformer.vocabulary": [32000, 32001],
    "transformer.dense_layers": [0, 1, 4],
    "transformer.gated": [True, False],
    "transformer.norm": ["rmsnorm", "layernorm"],
}


def taken(name, value):
    """What the constructor of an object takes for a value of an axis."""
    if name in TRUTHS:
        return value
    found = convert(FIELDS[name], value)
    return int(found) if FIELDS[name].kind == "count" else found


def scalar(objects, fields, strict=True):
    """Time and memory by the scalar call with the objects made anew; infinite where refused."""
    made = {}
    try:
        for owner in ("transformer", "plan", "machine", "stack"):
            own = {
                n.partition(".")[2]: taken(n, v)
                for n, v in fields.items()
                if n.startswith(f"{owner}.")
            }
            made[owner] = changed(objects[owner], own)
        step = training_step(
            **made, sequence=fields.get("sequence", objects["sequence"]), strict=strict
        )
    except (ContradictionError, RangeError):
        return math.inf, math.inf
    return step.outputs["time"], step.outputs["memory"]


def job(transformer=DENSE, plan=PLAN, machine=H100, stack=None, sequence=2048):
    return {
        "transformer": transformer,
        "plan": plan,
        "machine": machine,
        "stack": stack or Stack(),
        "sequence": sequence,
    }


def plainly(objects, axes, **more):
    """Problem, time and memory of a sweep, without compiling anything."""
    kept = {n: v for n, v in objects.items() if n not in axes}
    problem = state(training_step, {**kept, **axes, **more})
    found = evaluate(problem, [Output("time"), Output("memory")])
    return problem, found["time"], found["memory"]


def combinations(axes):
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def assert_every_point(objects, axes, time, memory, exact=True, **more):
    for place in np.ndindex(*time.shape):
        fields = {n: axes[n][i] for n, i in zip(axes, place, strict=True)}
        wanted = scalar(objects, fields, **more)
        if exact:
            assert (time[place], memory[place]) == wanted, fields
        else:
            assert (time[place], memory[place]) == pytest.approx(wanted, rel=1e-12), fields
