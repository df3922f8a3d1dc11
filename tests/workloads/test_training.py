"""Step time, traffic and memory: limits, conservation, directions, published rows."""

import pytest
from attrs import evolve

from scalemath.core.errors import ArgumentError, ContradictionError
from scalemath.workloads import (
    ParallelPlan,
    Stack,
    Transformer,
    machine_from_datasheet,
    reference_machine,
    step_traffic,
    training_step,
    with_measured_rates,
)
from scalemath.workloads.flops import training_flops_per_token

GPT_175B = Transformer(
    name="GPT 175B",
    layers=96,
    hidden=12288,
    heads=96,
    ffn=49152,
    vocabulary=51200,
    gated=False,
    norm="layernorm",
    positions=2048,
)
LLAMA_8B = Transformer(
    name="8B", layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocabulary=128256
)
MIXTURE = Transformer(
    name="mixture",
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    vocabulary=32000,
    experts=8,
    experts_per_token=2,
    expert_ffn=14336,
)
MEGATRON = Stack(
    name="Megatron 2022",
    attention="unfused",
    dropout=True,
    loss_bytes=30,
    gradient_bytes=4,
    hand_over_gather=True,
)
A100, H100 = reference_machine("A100"), reference_machine("H100")


@pytest.mark.parametrize(
    ("recompute", "parallel", "published"), [("full", False, 18.13), ("selective", True, 13.75)]
)
def test_a_published_step(recompute, parallel, published):
    # Korthikanti et al. (2022), table 5: 175B on 64 A100
    plan = ParallelPlan(
        tensor=8,
        pipeline=8,
        virtual=3,
        global_batch=64,
        recompute=recompute,
        sequence_parallel=parallel,
    )
    step = training_step(GPT_175B, plan, A100, sequence=2048, stack=MEGATRON)
    assert step.time.m_as("s") == pytest.approx(published, rel=0.05)
    assert step.si("time_low") < published < step.si("time_high")


def test_one_device_does_not_communicate():
    step = training_step(LLAMA_8B, ParallelPlan(recompute="full"), H100, sequence=4096)
    assert step.communication_share == 0
    assert step.bubble_share == 0
    assert step_traffic(LLAMA_8B, step.plan, H100, sequence=4096) == ()


def test_terms_sum_to_the_step():
    plan = ParallelPlan(
        tensor=4, pipeline=4, data=4, global_batch=32, sequence_parallel=True, virtual=2
    )
    step = training_step(LLAMA_8B, plan, H100, sequence=8192)
    assert sum(v for v, _ in step.term_values().values()) == pytest.approx(step.si("time"))
    assert sum(v for v, _ in step.memory_values().values()) == pytest.approx(step.si("memory"))
    text = step.explain()
    for word in ("linear", "attention_forward", "memory", "band", "rates from best shapes"):
        assert word in text


def test_utilisation_follows_from_time():
    plan = ParallelPlan(data=8, global_batch=16, micro_batch=2, sharding="weights")
    step = training_step(LLAMA_8B, plan, H100, sequence=8192)
    flops = training_flops_per_token(LLAMA_8B, 8192) * 16 * 8192
    assert step.model_flops_utilisation == pytest.approx(flops / 8 / step.si("time") / H100.peak)
    causal = training_step(LLAMA_8B, plan, H100, sequence=8192, causal_flops=True)
    assert causal.model_flops_utilisation < step.model_flops_utilisation
    assert causal.si("time") == step.si("time")
    assert step.token_rate.m_as("token/s") == pytest.approx(16 * 8192 / step.si("time"))
    assert step.energy.m_as("J") == pytest.approx(step.si("device_time") * H100.power)


PLAN = ParallelPlan(
    tensor=4, pipeline=4, data=4, global_batch=64, sequence_parallel=True, sharding="optimizer"
)


@pytest.mark.parametrize(
    "change",
    [
        {"peak": 2 * H100.peak},
        {"memory_bandwidth": 2 * H100.memory_bandwidth},
        {"nic_bandwidth": 2 * H100.nic_bandwidth},
        {"matmul_share": 0.9},
        {"attention_share": 0.6},
        {"straggler_share": 0.0},
        {"network_latency": 0.0},
    ],
)
def test_a_better_machine_is_not_slower(change):
    slow = training_step(LLAMA_8B, PLAN, H100, sequence=4096).si("time")
    fast = training_step(LLAMA_8B, PLAN, evolve(H100, **change), sequence=4096).si("time")
    assert fast <= slow


def test_less_recomputation_takes_more_memory_and_less_time():
    steps = [
        training_step(LLAMA_8B, evolve(PLAN, recompute=policy), H100, sequence=4096)
        for policy in ("none", "operators", "full-early-stop", "full")
    ]
    times = [step.si("time") for step in steps]
    memory = [step.si("memory") for step in steps]
    assert times == sorted(times)
    assert memory[0] > memory[1] > memory[3]


def test_sharding_shrinks_states():
    memory = [
        training_step(LLAMA_8B, evolve(PLAN, sharding=s), H100, sequence=4096).outputs[
            "memory.states"
        ]
        for s in ("none", "optimizer", "gradients", "weights")
    ]
    assert memory == sorted(memory, reverse=True)


def test_zero_bubble_and_interleaving():
    base = training_step(LLAMA_8B, PLAN, H100, sequence=4096).outputs["time.bubble"]
    half = training_step(LLAMA_8B, evolve(PLAN, virtual=2), H100, sequence=4096)
    none = training_step(LLAMA_8B, evolve(PLAN, schedule="zero-bubble"), H100, sequence=4096)
    assert half.outputs["time.bubble"] == pytest.approx(base / 2)
    assert none.outputs["time.bubble"] == 0


def test_bands():
    known = with_measured_rates(H100, matmul_share=0.7, attention_share=0.35)
    sheet = machine_from_datasheet(
        "new",
        peak="2 PFLOP/s",
        memory_bandwidth="8 TB/s",
        memory="192 GB",
        scale_up="900 GB/s/dir",
        scale_out="50 GB/s/dir",
    )
    plan = ParallelPlan(data=8, global_batch=8, sharding="weights")
    bands = [training_step(LLAMA_8B, plan, m, sequence=4096).band for m in (known, H100, sheet)]
    assert bands == [0.05, 0.12, 0.30]
    spread = ParallelPlan(data=16, expert=8, tensor=2, global_batch=16, sequence_parallel=True)
    assert training_step(MIXTURE, spread, H100, sequence=4096).band == 0.50
    with pytest.raises(ArgumentError):
        reference_machine("abacus")


def test_a_plan_that_does_not_divide_is_refused():
    with pytest.raises(ContradictionError, match="query heads"):
        training_step(LLAMA_8B, ParallelPlan(tensor=3), H100, sequence=4096)
    loose = training_step(LLAMA_8B, ParallelPlan(tensor=3), H100, sequence=4096, strict=False)
    assert loose.si("time") > 0


def test_wide_tensor_groups_and_full_memories_are_said():
    wide = Transformer(
        name="w", layers=8, hidden=8192, heads=64, kv_heads=16, ffn=28672, vocabulary=32000
    )
    step = training_step(wide, ParallelPlan(tensor=16, sequence_parallel=True), H100, sequence=4096)
    assert any("scale-up domain" in text for text in step.cautions)
    full = training_step(GPT_175B, ParallelPlan(), H100, sequence=2048)
    assert not full.fits
    assert any("needs" in text for text in full.cautions)


def sent(uses, word):
    return sum(u.sent * u.count for u in uses if word in u.purpose)


def test_tensor_traffic_is_the_same_with_and_without_sequence_parallelism():
    base = ParallelPlan(tensor=8, micro_batch=2, global_batch=2)
    plain = step_traffic(LLAMA_8B, base, H100, sequence=4096)
    split = step_traffic(LLAMA_8B, evolve(base, sequence_parallel=True), H100, sequence=4096)
    forward = sent(plain, "forward")
    # two allreduces of tokens x hidden in 2 byte, each twice (t - 1)/t of it
    assert forward == pytest.approx(32 * 2 * 2 * 7 / 8 * 2 * 8192 * 4096)
    assert sent(split, "forward") == pytest.approx(forward)
    # the backward pass gathers once more for the weight gradient
    assert sent(split, "backward") == pytest.approx(1.25 * forward)
    assert {u.tier for u in plain} == {"scale-up"}
    assert {u.semantics for u in plain} == {"memory"}


def test_gradient_traffic_is_conserved():
    plan = ParallelPlan(data=16, global_batch=16)
    uses = step_traffic(LLAMA_8B, plan, H100, sequence=4096)
    parameters = LLAMA_8B.parameters - LLAMA_8B.final_norm_parameters
    reduced = next(u for u in uses if u.purpose == "gradients")
    assert reduced.operation == "allreduce"
    assert reduced.bytes == pytest.approx(3 * parameters)
    assert reduced.tier == "scale-out"
    sharded = step_traffic(LLAMA_8B, evolve(plan, sharding="optimizer"), H100, sequence=4096)
    assert sent(sharded, "") == pytest.approx(sent(uses, ""))


def test_expert_traffic():
    plan = ParallelPlan(data=8, expert=8, global_batch=8)
    uses = step_traffic(MIXTURE, plan, H100, sequence=4096)
    dispatch = next(u for u in uses if u.purpose == "expert dispatch")
    combine = next(u for u in uses if u.purpose == "expert combine")
    # each token goes to 2 experts, 7 of 8 of which are elsewhere
    assert dispatch.sent == pytest.approx(4096 * 2 * 7 / 8 * 4096 * 2)
    assert dispatch.sent == combine.sent
    assert dispatch.count == 2 * 32
    padded = step_traffic(MIXTURE, plan, H100, sequence=4096, stack=Stack(expert_capacity=1.25))
    full = next(u for u in padded if u.purpose == "expert dispatch")
    assert full.sent == pytest.approx(1.25 * dispatch.sent)
    slow = training_step(MIXTURE, plan, H100, sequence=4096, stack=Stack(expert_capacity=1.25))
    assert slow.si("time") > training_step(MIXTURE, plan, H100, sequence=4096).si("time")
    limited = step_traffic(
        evolve(MIXTURE, expert_node_limit=1),
        ParallelPlan(data=8, expert=8, tensor=2, global_batch=8, sequence_parallel=True),
        H100,
        sequence=4096,
    )
    across = next(u for u in limited if u.purpose == "expert dispatch")
    assert across.tier == "scale-out"
    assert across.sent == pytest.approx(4096 * 1 * (1 - 4 / 8) * 4096 * 2 / 2)


def test_hand_over_and_context_and_weights():
    plan = ParallelPlan(pipeline=4, context=2, data=2, global_batch=8, sharding="weights")
    uses = step_traffic(LLAMA_8B, plan, H100, sequence=8192)
    assert sent(uses, "hand-over") == pytest.approx(2 * 4 * 2 * 4096 * 4096)
    heads = next(u for u in uses if u.purpose == "heads of attention")
    assert heads.sent == pytest.approx(2 * 4096 * (2 * 4096 + 2 * 1024) / 2)
    weights = next(u for u in uses if u.purpose == "weights of a layer")
    assert weights.count == 8 * 4 * 2
    kept = step_traffic(LLAMA_8B, evolve(plan, keep_weights=True), H100, sequence=8192)
    assert next(u for u in kept if u.purpose == "weights of a layer").count == 8
    ring = step_traffic(LLAMA_8B, plan, H100, sequence=8192, stack=Stack(context="ring"))
    assert any(u.operation == "send_receive" and "keys" in u.purpose for u in ring)
    assert all(str(u) for u in uses)
