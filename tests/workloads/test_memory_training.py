"""Training memory: recipes against parameter lists by hand, sharding, recomputation, adapters."""

from __future__ import annotations

import itertools

import pytest
from attrs import evolve

import scalemath as sm
from scalemath.core.errors import ContradictionError, RangeError
from scalemath.workloads import RECIPES, ParallelPlan, training_step
from scalemath.workloads.machines import reference_machine
from scalemath.workloads.memory_recipes import recipe, state_bytes_per_parameter
from scalemath.workloads.stacks import software_stack

MODEL = sm.Transformer(
    name="toy", layers=8, hidden=64, heads=4, kv_heads=2, ffn=192, vocabulary=1000
)
# name, rows, columns, copies: written down from the architecture, not from the library
BY_HAND = [
    ("embed", 1000, 64, 1),
    ("q", 64, 64, 8),
    ("k", 32, 64, 8),
    ("v", 32, 64, 8),
    ("o", 64, 64, 8),
    ("gate", 192, 64, 8),
    ("up", 192, 64, 8),
    ("down", 64, 192, 8),
    ("norms", 1, 64, 17),
    ("head", 1000, 64, 1),
]
COUNT = sum(rows * columns * copies for _, rows, columns, copies in BY_HAND)
HIDDEN = sum(r * c * n for name, r, c, n in BY_HAND if r > 1 and name not in ("embed", "head"))


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("adam-70b", None),
        ("adam-12", 8 * COUNT),
        ("adam-16", 8 * COUNT),
        ("adam-18", 8 * COUNT),
        ("adam-20", 8 * COUNT),
        ("adam-fp32", 8 * COUNT),
        ("adam-8bit", 2 * COUNT + 2 * 4 * COUNT / 2048),
        ("adafactor", 4 * (sum((r + c) * n for _, r, c, n in BY_HAND if r > 1) + 17 * 64)),
        ("muon", 4 * HIDDEN + 8 * (COUNT - HIDDEN)),
        ("sgd", 0),
        ("sgd-momentum", 4 * COUNT),
    ],
)
def test_optimizer_states_of_every_recipe_by_hand(name, state):
    assert MODEL.parameters == COUNT
    if state is None:
        with pytest.raises(RangeError, match="adam-16"):
            recipe(name)
        return
    found = state_bytes_per_parameter(MODEL, RECIPES[name]) * COUNT
    assert found == pytest.approx(state, rel=1e-12, abs=1e-9)


WHOLE = {"adam-12": 12, "adam-16": 16, "adam-18": 18, "adam-20": 20, "adam-fp32": 16, "sgd": 8}


@pytest.mark.parametrize(("name", "each"), WHOLE.items())
def test_states_on_one_device_by_hand(name, each):
    plan = ParallelPlan(global_batch=1)
    found = sm.training_memory(MODEL, plan, sequence=128, recipe=name)
    kinds = ("weights", "gradients", "optimizer")
    assert sum(found.size_of(kind) for kind in kinds) == each * COUNT


@pytest.mark.parametrize(
    ("parameters", "name", "size"),
    [
        (70e9, "adam-16", 1.12),
        (70e9, "adam-18", 1.26),
        (70e9, "adam-20", 1.4),
        (70e9, "adam-12", 0.84),
        (13e9, "adam-16", 0.208),
        (405e9, "adam-16", 6.48),
    ],
)
def test_state_of_published_sizes(parameters, name, size):
    assert sm.training_state_size(parameters, name).m_as("TB") == pytest.approx(size)


def test_a_recipe_by_shape_needs_the_architecture():
    with pytest.raises(RangeError, match="architecture"):
        sm.training_state_size(70e9, "muon")


LLAMA = sm.catalog.model("Llama 3.1 8B")


def total(**given) -> float:
    asked = {"data": 8, "global_batch": 16, "micro_batch": 2, **given}
    recipe = asked.pop("recipe", None)
    plan = ParallelPlan(**asked)
    found = sm.training_memory(LLAMA, plan, sequence=4096, recipe=recipe)
    assert sum(line.size for line in found.lines) == pytest.approx(found.total.m_as("byte"))
    return found.total.m_as("byte")


@pytest.mark.parametrize("data", [2, 8, 16])
@pytest.mark.parametrize("tensor", [1, 8])
def test_each_stage_of_sharding_holds_no_more_than_the_one_before(data, tensor):
    levels = ("weights", "gradients", "optimizer", "none")
    found = [
        total(data=data, tensor=tensor, global_batch=2 * data, sharding=level, recipe="adam-18")
        for level in levels
    ]
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_recomputing_more_keeps_no_more():
    for tensor in (1, 4):
        found = [total(tensor=tensor, recompute=name) for name in ("full", "selective", "none")]
        assert found == sorted(found)


def test_unfused_scores_are_what_selective_recomputation_drops():
    from scalemath.workloads import Stack

    unfused = Stack(attention="unfused")
    plan = ParallelPlan(global_batch=1)
    none, selective = (
        sm.training_memory(
            LLAMA, evolve(plan, recompute=name), sequence=2048, stack=unfused
        ).size_of("activations")
        for name in ("none", "selective")
    )
    # 5 bytes per score, head and layer: Korthikanti et al., equation 2
    assert none - selective == pytest.approx(5 * 32 * 2048**2 * 32)


def test_stages_sum_to_no_less_than_the_model():
    plan = ParallelPlan(pipeline=4, global_batch=8)
    first = sm.training_memory(LLAMA, plan, sequence=4096)
    weights = first.size_of("weights")
    assert weights > 2 * LLAMA.parameters / 4 * 0.95  # the fullest stage, with the embedding
    more = sm.training_memory(LLAMA, evolve(plan, global_batch=1), sequence=4096)
    assert more.size_of("activations") < first.size_of("activations")  # fewer in flight


@pytest.mark.parametrize(
    ("sharding", "pipeline", "recompute"),
    list(itertools.product(("none", "optimizer", "weights"), (1, 4), ("none", "full"))),
)
def test_budget_equals_the_memory_of_the_step(sharding, pipeline, recompute):
    plan = ParallelPlan(
        data=4, tensor=2, pipeline=pipeline, global_batch=16, sharding=sharding,
        recompute=recompute, keep_weights=pipeline > 1,
    )  # fmt: skip
    step = training_step(LLAMA, plan, reference_machine("H100"), sequence=4096)
    found = sm.training_memory(LLAMA, plan, sequence=4096, overhead={})
    assert found.total.m_as("byte") == pytest.approx(step.memory.m_as("byte"))


def test_adapters_by_hand():
    rank = sm.LowRank(rank=4)
    by_hand = 4 * sum((r + c) * n for name, r, c, n in BY_HAND if r > 1 and "e" not in name[:1])
    by_hand -= 4 * (1000 + 64)  # neither embedding nor output layer
    assert rank.parameters(MODEL) == by_hand
    plan = ParallelPlan(global_batch=1)
    found = sm.training_memory(MODEL, plan, sequence=128, adapters=rank, recipe="adam-16")
    assert found.size_of("weights") == 2 * COUNT
    assert found.size_of("optimizer") == 16 * by_hand


def test_adapters_on_a_quantised_base():
    model = sm.catalog.model("Llama 3.1 405B")
    plan = ParallelPlan(data=8, global_batch=8, sharding="weights", recompute="full")
    card = sm.catalog.accelerator("RTX PRO 6000 Blackwell server")
    plain = sm.training_memory(
        model, plan, sequence=2048, adapters=sm.LowRank(base="bf16"), device=card
    )
    small = sm.training_memory(
        model, plan, sequence=2048, adapters=sm.LowRank(base="nf4"), device=card
    )
    assert 8 * plain.size_of("weights") == pytest.approx(2 * model.parameters)
    assert not plain.fits
    assert small.fits
    with pytest.raises(RangeError, match="rank"):
        sm.training_memory(model, plan, sequence=2048, adapters=sm.LowRank(rank=0))


def test_a_plan_that_does_not_divide_is_refused():
    with pytest.raises(ContradictionError, match="query heads"):
        sm.training_memory(LLAMA, ParallelPlan(tensor=3, global_batch=1), sequence=4096)


def test_in_flight_factor_of_interleaving():
    """Megatron prints 9.59 GiB without interleaving and 12.38 with three chunks: 1 + 7/24."""
    from scalemath.kernels.training_memory import micro_batches_in_flight

    factor = micro_batches_in_flight(64.0, 8.0, 3.0) / micro_batches_in_flight(64.0, 8.0, 1.0)
    assert factor == pytest.approx(12.38 / 9.59, rel=1e-3)


@pytest.mark.parametrize(
    ("recompute", "split", "chunks", "size"),
    [
        ("none", False, 3, 66.84),
        ("selective", True, 3, 12.35),
        ("selective", True, 1, 9.5625),
        ("full", False, 3, 5.81),
    ],
)
def test_published_activations_of_gpt3(recompute, split, chunks, size):
    """Korthikanti et al., figure 1: the paper's own formula, so equal, and no evidence."""
    plan = ParallelPlan(
        tensor=8, pipeline=8, virtual=chunks, global_batch=64, sequence_parallel=split,
        recompute=recompute,
    )  # fmt: skip
    found = sm.training_memory(
        sm.catalog.model("GPT-3 175B"), plan, sequence=2048,
        stack=software_stack("megatron-2021"), strict=False,
    )  # fmt: skip
    line = next(b for b in found.lines if b.name == "saved activations")
    assert line.size / 2**30 == pytest.approx(size, rel=1e-3)
