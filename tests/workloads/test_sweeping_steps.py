"""Sweeps of training steps: constraints, reductions, lowering, and what is refused."""

import functools
import math

import attrs
import numpy as np
import pytest
from helpers.swept_steps import B200, H100, MIXTURE, PLAN, job, plainly

import scalemath as sm
from scalemath.core.errors import ScalemathError
from scalemath.sweeps import dependent, elasticity, minimum, pareto, top, zipped
from scalemath.sweeps.places import evaluate
from scalemath.sweeps.program import Output
from scalemath.sweeps.reading import state
from scalemath.workloads import (
    tabulating,
    training_step,
)
from scalemath.workloads.sweeping import prepared
from scalemath.workloads.swept_step import LOWERINGS, STEP
from scalemath.workloads.tabulating import Lowering, Moving


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


def test_a_dependent_size_that_is_not_whole_is_no_point():
    axes = {"plan.tensor": [1, 3], "plan.data": dependent("4 / plan.tensor")}
    problem = state(training_step, {**job(), **axes})
    found = evaluate(problem, [Output("time")])["time"]
    assert np.isnan(found).tolist() == [False, True]


def test_a_row_without_any_whole_size_has_no_best():
    axes = {"plan.pipeline": [1, 3], "plan.tensor": [1, 2]}
    moved = dependent("4 / (plan.tensor * plan.pipeline)")
    found = sm.sweep(
        training_step,
        reduce=minimum("time", over=["plan.tensor"]),
        outputs=["plan.data"],
        **job(),
        **axes,
        **{"plan.data": moved},
    )
    assert np.isnan(found.outputs["time"]).tolist() == [False, True]
    assert found.outputs["plan.data"][0] * found.outputs["plan.tensor"][0] == 4


def test_truth_values_are_picked_as_they_were_given(tmp_path):
    axes = {"plan.tensor": [1, 2], "plan.keep_weights": [True, False]}
    grid = sm.sweep(training_step, **job(plan=attrs.evolve(PLAN, sharding="weights")), **axes)
    grid.save(tmp_path / "grid.npz")
    for found in (grid, sm.sweeps.load(tmp_path / "grid.npz")):
        kept = found.sel(**{"plan.keep_weights": True})
        assert kept.outputs["time"].tolist() == grid.outputs["time"][:, 0].tolist()
    assert grid.outputs["time"][1, 0] != grid.outputs["time"][1, 1]


def test_a_large_grid_lowers_few_objects(monkeypatch):
    calls = []

    def counted(lowering):
        def function(job):
            calls.append(1)
            return lowering.function(job)

        return Lowering(function, lowering.reads)

    subject = attrs.evolve(STEP, lowerings=tuple(map(counted, LOWERINGS)))
    monkeypatch.setattr(training_step, "prepared", functools.partial(prepared, subject))
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
        tabulating._table(lowering, job(), axes)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"plan.tensr": [1, 2]}, "did you mean plan.tensor"),
        ({"plan.tensor": [1, 2.5]}, "whole numbers"),
        ({"plan.tensor": []}, "empty"),
        ({"machine.peak": [1e15]}, "without a unit, wanted flop/s"),
        ({"machine.peak": ["1 GB/s"]}, "machine.peak"),
        ({"machine.rates_from": ["measured"]}, "enters no number of training_step"),
        ({"plan.recompute": ["none", "ful"]}, "did you mean full"),
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
        prepared(STEP, objects)


def test_an_elasticity_by_a_field_is_refused_and_the_grid_tells_it():
    with pytest.raises(ScalemathError, match=r"use Grid\.elasticity"):
        sm.sweep(
            training_step,
            outputs=[elasticity("time", "machine.peak")],
            **job(),
            **{"plan.tensor": [1, 2]},
        )
