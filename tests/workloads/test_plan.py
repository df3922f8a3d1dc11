"""Plans: rules, layouts, bubbles, and the search against the scalar call."""

import numpy as np
import pytest
from attrs import evolve

from scalemath.core.errors import ContradictionError, RangeError
from scalemath.workloads import (
    ParallelPlan,
    Transformer,
    legal_layouts,
    reference_machine,
    search_plans,
    smallest_layout,
    training_step,
)

SMALL = Transformer(
    name="small", layers=12, hidden=1024, heads=16, kv_heads=4, ffn=4096, vocabulary=32000
)
MIXTURE = Transformer(
    name="mixture",
    layers=12,
    hidden=1024,
    heads=16,
    kv_heads=8,
    ffn=4096,
    vocabulary=32000,
    experts=16,
    experts_per_token=2,
    expert_ffn=1024,
    dense_layers=2,
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tensor": 3}, "query heads"),
        ({"tensor": 8}, "key-value heads"),
        ({"pipeline": 5}, "layers"),
        ({"pipeline": 2, "virtual": 4}, "layers"),
        ({"virtual": 2}, "at least two stages"),
        ({"expert": 2, "data": 2}, "experts"),
        ({"data": 3}, "global batch"),
        ({"pipeline": 4, "virtual": 3, "data": 4, "micro_batch": 8}, "interleaved"),
        ({"context": 3}, "tokens"),
    ],
)
def test_a_broken_rule_is_named(change, words):
    plan = ParallelPlan(**{"global_batch": 64, **change})
    with pytest.raises(ContradictionError, match=words):
        plan.check(SMALL, sequence=2048)


def test_a_vocabulary_that_does_not_divide_is_padded():
    odd = evolve(SMALL, vocabulary=50257)
    plan = ParallelPlan(tensor=4)
    with pytest.raises(ContradictionError, match="vocabulary"):
        plan.check(odd, sequence=2048)
    assert plan.padded_vocabulary(odd) == 50688
    plan.check(evolve(odd, vocabulary=plan.padded_vocabulary(odd)), sequence=2048)


def test_ranks_must_be_the_product():
    plan = ParallelPlan(tensor=2, data=4, global_batch=8)
    assert plan.ranks == 8
    plan.check(SMALL, sequence=2048, ranks=8)
    with pytest.raises(ContradictionError, match="there are 16"):
        plan.check(SMALL, sequence=2048, ranks=16)


def test_sizes_and_words_are_checked():
    with pytest.raises(RangeError, match="tensor"):
        ParallelPlan(tensor=0)
    with pytest.raises(RangeError, match="recompute"):
        ParallelPlan(recompute="some")


def test_bubble():
    plan = ParallelPlan(pipeline=8, global_batch=64)
    assert plan.bubble_fraction == pytest.approx(7 / 64)
    assert evolve(plan, virtual=2).bubble_fraction == pytest.approx(7 / 128)
    assert evolve(plan, schedule="zero-bubble").bubble_fraction == 0


@pytest.mark.parametrize("model", [SMALL, MIXTURE])
def test_layouts_are_all_plans_that_keep_the_rules(model):
    options = {"sequence": 2048, "global_batch": 16}
    listed = set(legal_layouts(model, 8, context_limit=2, micro_batches=(1, 2), **options))
    by_hand = set()
    for tensor in (1, 2, 4, 8):
        for pipeline in range(1, 13):
            for context in (1, 2):
                inner = tensor * pipeline * context
                if 8 % inner:
                    continue
                for virtual in range(1, 13):
                    for expert in (1, 2, 4, 8):
                        for micro in (1, 2):
                            plan = ParallelPlan(
                                tensor=tensor,
                                pipeline=pipeline,
                                context=context,
                                data=8 // inner,
                                virtual=virtual,
                                expert=expert,
                                micro_batch=micro,
                                global_batch=16,
                                sequence_parallel=True,
                            )
                            if not plan.problems(model, sequence=2048, ranks=8):
                                by_hand.add(plan)
    assert listed == by_hand
    assert len(listed) > 10


def test_smallest_count_on_which_a_model_fits():
    machine = reference_machine("H100")
    found = smallest_layout(
        Transformer(layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocabulary=128256),
        machine,
        sequence=4096,
        global_batch=64,
    )
    # states alone are 18 byte for each of 8 billion parameters: 145 GB, 72 GB on each of two
    # devices of 80 GB, which leaves too little for the logits and activations of 4096 tokens
    assert found.plan.ranks == 4
    assert found.fits
    assert found.si("memory") > 8.03e9 * 18 / 4
    nothing = smallest_layout(
        SMALL, evolve(machine, memory=1e9), sequence=4096, global_batch=64, counts=[1, 2]
    )
    assert nothing is None


@pytest.mark.parametrize("model", [SMALL, MIXTURE])
def test_search_is_the_scalar_call_for_every_plan(model):
    found = search_plans(
        model,
        reference_machine("H100"),
        global_batch=64,
        sequence=2048,
        ranks=[8, 16],
        recompute=("none", "full"),
    )
    rng = np.random.default_rng(5)
    for index in rng.integers(0, len(found), 25):
        plan = found.plan(int(index))
        step = training_step(model, plan, found.machine, sequence=2048)
        assert found.time[index] == pytest.approx(step.si("time"), rel=1e-12)
        assert found.memory[index] == pytest.approx(step.si("memory"), rel=1e-12)
    best = found.best
    assert best.fits
    assert best.si("time") == pytest.approx(found.time[found.feasible].min())
    fastest = [s.si("time") for s in found.top(3)]
    assert fastest == pytest.approx(sorted(found.time[found.feasible])[:3], rel=1e-12)


def test_pareto_front_is_beaten_by_none():
    found = search_plans(
        SMALL, reference_machine("H100"), global_batch=64, sequence=2048, ranks=[4, 8]
    )
    points = np.stack([found.time, found.ranks, found.memory], axis=1)
    front = found.pareto()
    for index in front:
        better = (points <= points[index]).all(axis=1) & (points < points[index]).any(axis=1)
        assert not better.any()
    dominated = [
        i for i in range(len(found)) if not any((points[j] <= points[i]).all() for j in front)
    ]
    assert not dominated


def test_search_says_when_nothing_fits():
    found = search_plans(
        SMALL,
        reference_machine("H100"),
        global_batch=64,
        sequence=2048,
        ranks=4,
        memory_limit="1 GB",
    )
    assert "0 of" in str(found)
    with pytest.raises(RangeError, match="no valid plan"):
        _ = found.best
