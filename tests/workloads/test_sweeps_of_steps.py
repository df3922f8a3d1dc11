"""Sweeps of training steps: every point is the scalar call, and what a plan forbids is infinite."""

import itertools
import math

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath.core.errors import ContradictionError, RangeError, ScalemathError
from scalemath.sweeps import dependent, elasticity, minimum, pareto, top, zipped
from scalemath.sweeps.places import evaluate
from scalemath.sweeps.program import Output
from scalemath.sweeps.reading import state
from scalemath.units import convert
from scalemath.workloads import (
    ParallelPlan,
    Stack,
    Transformer,
    reference_machine,
    software_stack,
    tabulating,
    training_step,
)
from scalemath.workloads.plan import RECOMPUTE
from scalemath.workloads.step_fields import FIELDS, TRUTHS, changed
from scalemath.workloads.sweeping import prepared_step
from scalemath.workloads.tabulating import Job, Lowering, Moving

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


@st.composite
def grids(draw):
    names = draw(st.lists(st.sampled_from(sorted(POOL)), min_size=1, max_size=4, unique=True))
    if "machine.nic_rate" in names and "machine.nic_bandwidth" in names:
        names.remove("machine.nic_rate")
    return {
        n: draw(st.lists(st.sampled_from(POOL[n]), min_size=1, max_size=3, unique=True))
        for n in names
    }


@settings(max_examples=120, deadline=None)
@given(
    axes=grids(),
    transformer=st.sampled_from([DENSE, MIXTURE, LATENT]),
    context=st.sampled_from([1, 2]),
    sharding=st.sampled_from(["none", "weights"]),
    recompute=st.sampled_from(["none", "full"]),
    stack=st.sampled_from([Stack(), Stack(context="ring", precision="8-bit", attention="unfused")]),
)
def test_every_point_is_the_scalar_call(axes, transformer, context, sharding, recompute, stack):
    plan = attrs.evolve(PLAN, context=context, sharding=sharding, recompute=recompute)
    objects = job(transformer, plan, stack=stack)
    try:
        _, time, memory = plainly(objects, axes)
    except (ContradictionError, RangeError):  # a value that makes no transformer with any other
        assert any(scalar(objects, fields)[0] == math.inf for fields in combinations(axes))
        assert any(n.startswith("transformer.") for n in axes)
        return
    assert_every_point(objects, axes, time, memory)


def two_values(name):
    """Two values of any field, as a user writes them."""
    if name in TRUTHS:
        return [True, False]
    parameter = FIELDS[name]
    if parameter.kind == "choice":
        return list(parameter.choices)
    if name in POOL:
        return POOL[name]
    if parameter.kind == "count":
        owner, _, own = name.partition(".")
        return sorted({getattr(MIXTURE, own), 2 * getattr(MIXTURE, own)} if owner else {1})
    if parameter.kind == "number":
        return [0.25, 0.75]
    unit = "byte/s/dir" if parameter.kind == "rate" else parameter.unit
    scale = 1e12 if "/s" in unit else 1e-5 if unit == "s" else 3.0
    return [f"{scale} {unit}", f"{2 * scale} {unit}"]


@pytest.mark.parametrize("name", sorted({*FIELDS, *TRUTHS}))
def test_every_field_may_be_an_axis(name):
    objects = job(MIXTURE, attrs.evolve(PLAN, recompute="selective", sharding="weights"))
    axes = {name: two_values(name), "plan.pipeline": [1, 2]}
    if name == "plan.pipeline":
        axes = {name: [1, 2, 4]}
    _, time, memory = plainly(objects, axes)
    assert_every_point(objects, axes, time, memory)


MIXED = {
    "sequence": [1024, 2048],
    "plan.tensor": [1, 2, 3],
    "plan.context": [1, 2],
    "plan.expert": [1, 4],
    "plan.recompute": ["none", "full"],
    "stack.precision": ["16-bit", "8-bit"],
    "machine.nic_rate": ["5 GB/s/dir", "50 GB/s/dir"],
}


@pytest.mark.parametrize("arithmetic", ["fast", "strict"])
def test_the_compiled_grid_is_the_scalar_call(arithmetic):
    for transformer in (DENSE, MIXTURE):
        objects = job(transformer)
        grid = sm.sweep(
            training_step,
            outputs=["time", "memory"],
            arithmetic=arithmetic,
            **{**objects, **MIXED},
        )
        time, memory = grid.outputs["time"], grid.outputs["memory"]
        assert np.isinf(time).any()
        assert np.isfinite(time).any()
        assert_every_point(objects, MIXED, time, memory, exact=arithmetic == "strict")
    one = grid.sel(**{"plan.tensor": 2, "stack.precision": "8-bit", "sequence": 2048})
    assert one.axes == ("plan.context", "plan.expert", "plan.recompute", "machine.nic_rate")
    assert set(grid.coordinates) == set(grid.axes) == set(MIXED)
    assert f"{grid['machine.nic_rate'].units:~P}" == "GB/s/dir"
    assert set(grid.fixed) >= {"transformer", "machine", "plan.data", "machine.memory_bandwidth"}
    assert not {"matmul_rate", "linear_weights", "possible", "zero"} & set(grid.fixed)


@pytest.mark.parametrize("transformer", [DENSE, MIXTURE, WINDOWED])
@pytest.mark.parametrize("causal", [True, False])
def test_rates_are_those_of_the_scalar_call(transformer, causal):
    names = (
        "token_rate",
        "token_rate_per_rank",
        "model_flops_utilisation",
        "device_time",
        "energy",
    )
    axes = {"plan.tensor": [2, 3], "sequence": [1024, 8192], "machine.power": ["0.7 kW", "1 kW"]}
    objects = {n: v for n, v in job(transformer).items() if n != "sequence"}
    problem = state(training_step, {**objects, **axes, "causal_flops": causal})
    found = evaluate(problem, [Output(n) for n in names])
    for j, sequence in enumerate(axes["sequence"]):
        for k, power in enumerate((700.0, 1000.0)):
            step = training_step(
                transformer,
                PLAN,
                attrs.evolve(H100, power=power),
                sequence=sequence,
                causal_flops=causal,
            )
            for name in names:
                assert found[name][0, j, k] == pytest.approx(step.si(name), rel=1e-15), name
    for name in names[:3]:
        assert (found[name][1] == 0).all()  # a plan that breaks a rule does no work
    for name in names[3:]:
        assert np.isinf(found[name][1]).all()


def test_without_strict_every_point_has_its_number():
    objects = job(MIXTURE)
    axes = {"plan.tensor": [2, 3], "plan.virtual": [1, 2], "plan.expert": [3, 4]}
    _, time, memory = plainly(objects, axes, strict=False)
    assert np.isfinite(time).all()
    assert_every_point(objects, axes, time, memory, strict=False)


def test_a_transformer_that_cannot_be_is_impossible_even_without_strict():
    axes = {"transformer.heads": [16, 24], "transformer.kv_heads": [8, 16]}
    _, time, _ = plainly(job(), axes, strict=False)
    assert np.isinf(time).tolist() == [[False, False], [False, True]]
    with pytest.raises(ContradictionError, match="24 is not a multiple of kv_heads 16"):
        plainly(job(), {"transformer.heads": [24], "transformer.kv_heads": [16]})


def test_reductions_agree_with_the_grid():
    objects = job(MIXTURE)
    axes = {
        "plan.tensor": [1, 2, 3, 4],
        "plan.data": [1, 2, 4],
        "plan.recompute": ["none", "selective", "full"],
        "machine.nic_rate": ["5 GB/s/dir", "50 GB/s/dir"],
    }
    _, time, memory = plainly(objects, axes)
    best = sm.sweep(training_step, reduce=top(10), outputs=["memory"], **objects, **axes)
    order = np.argsort(time.ravel(), kind="stable")[:10]
    np.testing.assert_allclose(best.outputs["time"], time.ravel()[order], rtol=1e-12)
    np.testing.assert_allclose(best.outputs["memory"], memory.ravel()[order], rtol=1e-12)
    least = sm.sweep(
        training_step,
        reduce=minimum("time", over=["plan.tensor", "plan.data", "plan.recompute"]),
        **objects,
        **axes,
    )
    np.testing.assert_allclose(least.outputs["time"], time.min(axis=(0, 1, 2)), rtol=1e-12)
    assert set(least.outputs) == {"time", "plan.tensor", "plan.data", "plan.recompute"}
    front = sm.sweep(training_step, reduce=pareto("time", "memory"), **objects, **axes)
    pairs = np.stack([time.ravel(), memory.ravel()], axis=1)
    pairs = pairs[np.isfinite(pairs[:, 0])]
    kept = [p for p in pairs if not ((pairs <= p).all(axis=1) & (pairs < p).any(axis=1)).any()]
    wanted = np.unique(np.array(kept), axis=0)
    found = np.stack([front.outputs["time"], front.outputs["memory"]], axis=1)
    np.testing.assert_allclose(np.unique(found, axis=0), wanted, rtol=1e-12)


def test_constraints_name_fields_of_every_kind():
    objects = job()
    axes = {
        "plan.tensor": [1, 2, 4, 8],
        "plan.data": [1, 2, 4],
        "machine.memory": ["3 GB", "80 GB"],
    }
    where = "plan.tensor * plan.data * plan.pipeline <= 8 and memory <= machine.memory"
    grid = sm.sweep(training_step, outputs=["time", "memory"], where=where, **objects, **axes)
    _, time, memory = plainly(objects, axes)
    tensor, data, room = np.meshgrid([1, 2, 4, 8], [1, 2, 4], [3e9, 80e9], indexing="ij")
    inside = (tensor * data <= 8) & (memory <= room)
    assert 0 < inside.sum() < inside.size
    np.testing.assert_allclose(grid.outputs["time"], np.where(inside, time, np.nan), rtol=1e-12)


def plain_where(where, axes, objects=None):
    problem = state(training_step, {**(objects or job()), **axes}, where)
    return evaluate(problem, [Output("time"), Output("memory")])["time"]


def test_constraints_know_what_follows_from_an_axis():
    rates = {"machine.nic_bandwidth": ["10 GB/s/dir", "60 GB/s/dir"]}  # 85 % of it is reached
    assert np.isnan(plain_where("machine.nic_rate >= '51 GB/s'", rates)).tolist() == [True, False]
    given = {"machine.nic_rate": ["10 GB/s/dir", "60 GB/s/dir"]}
    found = plain_where("machine.nic_bandwidth * machine.nic_share >= '60 GB/s'", given)
    assert np.isnan(found).tolist() == [True, False]
    heads = {"transformer.heads": [16, 32]}
    assert np.isnan(
        plain_where("transformer.kv_heads < transformer.heads / 2", heads)
    ).tolist() == [
        True,
        False,
    ]
    machines = {"machine": [H100, B200]}
    found = plain_where("memory <= '80 GB' and machine.memory > '100 GB'", machines)
    assert np.isnan(found).tolist() == [True, False]


def test_objects_along_an_axis():
    objects = job()
    for name, several in (
        ("machine", [H100, B200]),
        ("transformer", [DENSE, MIXTURE, LATENT]),
        ("plan", [PLAN, attrs.evolve(PLAN, tensor=3), attrs.evolve(PLAN, recompute="full")]),
        ("stack", [Stack(), software_stack("megatron-2021"), software_stack("torchtitan")]),
    ):
        axes = {name: several, "plan.pipeline": [1, 2]}
        _, time, _ = plainly(objects, axes)
        for i, each in enumerate(several):
            for j, stages in enumerate((1, 2)):
                wanted = scalar({**objects, name: each}, {"plan.pipeline": stages})
                assert time[i, j] == wanted[0]


def test_a_field_beside_a_list_of_objects():
    axes = {"machine": [H100, B200], "machine.nic_rate": ["1 GB/s/dir", "50 GB/s/dir"]}
    _, time, _ = plainly(job(), axes)
    assert time.shape == (2, 2)
    assert time[1, 0] == scalar(job(machine=B200), {"machine.nic_rate": "1 GB/s/dir"})[0]


def test_zipped_and_dependent_fields():
    layout = {"plan.tensor": [1, 2, 4], "plan.data": [8, 4, 2]}
    problem, time, _ = plainly(job(), {"layout": zipped(["a", "b", "c"], **layout)})
    assert problem.names == ("layout",)
    for i in range(3):
        assert time[i] == scalar(job(), {n: v[i] for n, v in layout.items()})[0]
    axes = {"plan.tensor": [1, 2, 4], "plan.pipeline": [1, 2]}
    moved = dependent("8 / (plan.tensor * plan.pipeline)")
    _, time, _ = plainly(job(), {**axes, "plan.data": moved})
    for i, tensor in enumerate(axes["plan.tensor"]):
        for j, stages in enumerate(axes["plan.pipeline"]):
            fields = {"plan.tensor": tensor, "plan.pipeline": stages}
            assert time[i, j] == scalar(job(), {**fields, "plan.data": 8 // tensor // stages})[0]


def test_a_dependent_size_that_is_not_whole_is_no_point():
    axes = {"plan.tensor": [1, 3], "plan.data": dependent("4 / plan.tensor")}
    grid = sm.sweep(training_step, **job(), **axes)
    assert np.isnan(grid.outputs["time"]).tolist() == [False, True]


def test_a_cluster_is_taken_as_a_machine():
    cluster = sm.catalog.cluster("DGX H100", 4)
    _, time, _ = plainly(job(machine=cluster), {"plan.tensor": [1, 2]})
    for i, tensor in enumerate((1, 2)):
        plan = attrs.evolve(PLAN, tensor=tensor)
        assert time[i] == training_step(DENSE, plan, cluster, sequence=2048).outputs["time"]


def test_a_large_grid_lowers_few_objects(monkeypatch):
    calls = []

    def counted(lowering):
        def function(job):
            calls.append(1)
            return lowering.function(job)

        return Lowering(function, lowering.reads)

    monkeypatch.setattr(tabulating, "LOWERINGS", tuple(map(counted, tabulating.LOWERINGS)))
    sizes = ("tensor", "pipeline", "context", "data", "micro_batch")
    axes = {f"plan.{name}": list(range(1, 41)) for name in sizes}  # 10^8 points
    rates = [f"{n} GB/s/dir" for n in range(1, 101)]
    problem = state(training_step, {**job(MIXTURE), **axes, "machine.nic_bandwidth": rates})
    assert math.prod(problem.grid) > 10**10
    assert len(calls) < 400
    assert problem.coordinates["nic_rate"].axes == ("machine.nic_bandwidth",)
    assert problem.coordinates["linear_weights"].axes == ("plan.pipeline",)
    assert problem.coordinates["tensor"].axes == ("plan.tensor",)


def test_numbers_lie_along_the_axes_that_decide_them_and_no_other():
    problem, _, _ = plainly(
        job(),
        {
            "stack.attention": ["fused", "unfused"],
            "machine.peak": ["1 Pflop/s", "2 Pflop/s"],
            "plan.recompute": ["none", "full"],
            "plan.pipeline": [1, 2],
        },
    )
    found = {n: c.axes for n, c in problem.coordinates.items()}
    assert found["attention_rate_forward"] == ("stack.attention", "machine.peak")
    assert found["output_rate"] == ("machine.peak",)
    assert found["saved_scores"] == ("stack.attention", "plan.recompute")
    assert "linear_weights" not in found  # stages are alike in a dense model


def test_a_lowering_sees_nothing_but_what_it_says_it_reads():
    lowering = Lowering(lambda j: {"x": float(j.plan.recompute == "full")}, ("plan.sharding",))
    axes = [Moving("plan.recompute", 2, {"plan.recompute": ["none", "full"]})]
    with pytest.raises(AttributeError):
        tabulating._table(lowering, Job(DENSE, PLAN, H100, Stack(), 1), axes)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"plan.tensr": [1, 2]}, "did you mean plan.tensor"),
        ({"plan.tensor": [1, 2.5]}, "whole numbers"),
        ({"plan.tensor": []}, "empty"),
        ({"machine.peak": [1e15]}, "without a unit, wanted flop/s"),
        ({"machine.peak": ["1 GB/s"]}, "machine.peak"),
        ({"machine.rates_from": ["measured"]}, "enters no number of a step"),
        ({"plan.recompute": ["none", "ful"]}, "did you mean 'full'"),
        ({"plan.keep_weights": [1]}, "wanted True or False"),
        ({"plan.keep_weights": [True, True]}, "twice"),
        ({"machine.nic_rate": ["1 GB/s/dir"], "machine.nic_share": 0.5}, "follows from the other"),
        ({"plan.pipeline": dependent("8 / plan.tensor")}, "zip it"),
        ({"machine": "H100"}, "wanted a Machine or a Cluster"),
        ({"machine": [H100, H100]}, "stands there twice"),
        ({"machine": [H100, B200], "machine.peak": "1 Pflop/s"}, "give it as a list"),
        ({"plan": None}, "wanted a ParallelPlan"),
        ({"strict": 1}, "True or False"),
        ({"layers": [1, 2]}, "no argument of training_step"),
        ({"causal_flops": [True, False]}, "wanted True or False"),
        ({"plan.tensor": [1], "z": zipped(**{"plan.tensor": [1, 2]})}, "given twice"),
        ({"z": zipped(**{"plan.tensor": [1, 2], "plan.data": [1]})}, "equally many"),
        ({"plan.tensor": [0], "plan.data": 0}, "2 arguments are wrong"),
    ],
)
def test_wrong_arguments_are_named(given, told):
    with pytest.raises(ScalemathError, match=told):
        state(training_step, {**job(), **given})


@pytest.mark.parametrize("name", ["transformer", "plan", "machine", "sequence"])
def test_a_missing_object_is_named(name):
    objects = job()
    del objects[name]
    with pytest.raises(ScalemathError, match=f"{name} is missing"):
        prepared_step(objects)


def test_an_elasticity_by_a_field_is_refused_and_the_grid_tells_it():
    with pytest.raises(ScalemathError, match=r"use Grid\.elasticity"):
        sm.sweep(
            training_step,
            outputs=[elasticity("time", "machine.peak")],
            **job(),
            **{"plan.tensor": [1, 2]},
        )
