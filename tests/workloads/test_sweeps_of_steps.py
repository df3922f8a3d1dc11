"""Sweeps of training steps: every point is the scalar call, and what is refused is infinite."""

import math

import attrs
import numpy as np
import pytest
from helpers.swept_steps import (
    B200,
    DENSE,
    H100,
    LATENT,
    MIXTURE,
    PLAN,
    POOL,
    WINDOWED,
    assert_every_point,
    combinations,
    job,
    plainly,
    scalar,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath.core.errors import ContradictionError, RangeError
from scalemath.sweeps import dependent, zipped
from scalemath.sweeps.places import evaluate
from scalemath.sweeps.program import Output
from scalemath.sweeps.reading import state
from scalemath.workloads import (
    Stack,
    software_stack,
    training_step,
)
from scalemath.workloads.step_fields import FIELDS, TRUTHS


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


def test_a_cluster_is_taken_as_a_machine():
    cluster = sm.catalog.cluster("DGX H100", 4)
    _, time, _ = plainly(job(machine=cluster), {"plan.tensor": [1, 2]})
    for i, tensor in enumerate((1, 2)):
        plan = attrs.evolve(PLAN, tensor=tensor)
        assert time[i] == training_step(DENSE, plan, cluster, sequence=2048).outputs["time"]
