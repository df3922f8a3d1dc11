"""Lowering of model, plan and stack to the floats of the memory steps."""

from __future__ import annotations

from scalemath.workloads.lowering import LayerNumbers, layer_numbers
from scalemath.workloads.memory_recipes import Recipe, recipe, state_bytes_per_parameter
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.transformer import Gemm, Transformer

Floats = dict[str, float]
GIB = 2.0**30


def saved_floats(model: Transformer, plan: ParallelPlan, stack: Stack) -> Floats:
    """Bytes per token that a layer keeps, by the way tensor parallelism treats them."""
    n = layer_numbers(model)
    hidden, sharded, scores = _saved_without_recompute(model, n, stack)
    live = 0.0
    if plan.recompute in ("full", "full-early-stop"):
        live = stack.live_layers * (hidden + sharded)
        hidden, sharded, scores = 2.0 * n.hidden, 0.0, 0.0
    elif plan.recompute == "selective":
        scores = 0.0
    elif plan.recompute == "operators":
        hidden = 6.0 * n.hidden
        sharded = 2.0 * (n.query_width + n.kv_width / 2.0 + n.ffn_width + n.expert_ffn_width)
    return {
        "saved_hidden": hidden,
        "saved_sharded": sharded,
        "saved_scores": scores,
        "live_bytes": live,
    }


def _saved_without_recompute(
    model: Transformer, n: LayerNumbers, stack: Stack
) -> tuple[float, float, float]:
    """Bytes per token on the residual stream, inside the split parts, and per score."""
    fused = stack.attention == "fused"
    hidden = (10.0 if stack.dropout else 8.0) * n.hidden
    if model.latent:
        wide = model.heads * (2 * model.query_key_size + model.head_size)
        wide += 2 * model.heads * model.value_head_size
        narrow = 2 * model.query_rank + 2 * model.kv_rank + model.rope_size
        sharded = 2.0 * (narrow + wide)
    else:
        sharded = 2.0 * (2.0 * n.query_width + n.kv_width)
    factor = 6.0 if model.gated else 4.0
    sharded += factor * (n.ffn_width + n.expert_ffn_width)
    if model.experts:
        share = model.expert_layers / model.layers
        sharded += 4.0 * n.routed_tokens * n.hidden + 4.0 * share * model.experts
    return hidden, sharded, 0.0 if fused else 5.0 * model.heads


def default_recipe(plan: ParallelPlan) -> Recipe:
    """Recipe of a plan that names none: fp32 weights when they are sharded, else 18 byte."""
    return recipe("adam-fp32" if plan.sharding == "weights" else "adam-18")


def state_classes(
    plan: ParallelPlan, kept: Recipe, moments: float
) -> dict[str, tuple[float, float]]:
    """Bytes per parameter of each class of states: on every data rank, and shared by them."""
    weights, gradients, rest = kept.weights, kept.gradients, kept.master + moments
    if plan.sharding == "weights":
        # a stage that keeps its gathered weights keeps their fp32 gradients as well
        return {
            "weights": (2.0 if plan.keep_weights else 0.0, weights),
            "gradients": (4.0 if plan.keep_weights else 0.0, gradients),
            "optimizer": (0.0, rest),
        }
    level = ("none", "optimizer", "gradients").index(plan.sharding)
    return {
        "weights": (weights, 0.0),
        "gradients": (0.0, gradients) if level == 2 else (gradients, 0.0),
        "optimizer": (0.0, rest) if level >= 1 else (rest, 0.0),
    }


def state_floats(classes: dict[str, tuple[float, float]]) -> Floats:
    """Bytes per parameter that stay whole, and that data ranks share."""
    return {
        "whole_state_bytes": sum(whole for whole, _ in classes.values()),
        "shared_state_bytes": sum(shared for _, shared in classes.values()),
    }


def memory_floats(
    model: Transformer,
    plan: ParallelPlan,
    stack: Stack,
    classes: dict[str, tuple[float, float]] | None = None,
) -> Floats:
    """All floats of the memory steps that the step model does not have already."""
    if classes is None:
        classes = default_classes(model, plan)
    return {
        **saved_floats(model, plan, stack),
        **state_floats(classes),
        **gathered_floats(plan),
        **widest_floats(model),
        **end_layers(model, plan),
        **runtime_floats(stack),
    }


def default_classes(model: Transformer, plan: ParallelPlan) -> dict[str, tuple[float, float]]:
    """Classes of states of a plan that names no recipe."""
    kept = default_recipe(plan)
    return state_classes(plan, kept, state_bytes_per_parameter(model, kept))


def gathered_floats(plan: ParallelPlan) -> Floats:
    """Bytes that exist because weights are sharded over data ranks, or because they are not."""
    sharded = plan.sharding == "weights"
    return {
        "dummy_bytes": 0.0 if sharded else 2.0,
        "gathered_bytes": 8.0 if sharded and not plan.keep_weights else 0.0,
        "head_bytes": 6.0 if sharded else 0.0,
    }


def widest_floats(model: Transformer) -> Floats:
    """What is largest in a model: inner width of a block, weights of a layer, output layer."""
    n = layer_numbers(model)
    active = n.expert_ffn_width / max(1e-9, model.expert_layers / model.layers)
    return {
        "working_width": max(
            float(model.ffn if model.plain_layers else 0),
            active + model.shared_experts * model.expert_ffn if model.experts else 0.0,
        ),
        "largest_weights": float(
            sum(g.weights for g in (*model.attention_gemms(), *_block(model)))
        ),
        "stored_output": float(model.output_parameters + model.final_norm_parameters),
    }


def runtime_floats(stack: Stack) -> Floats:
    """Memory that depends on the software alone."""
    return {
        "logit_bytes": stack.logit_bytes,
        "transient_bytes": stack.transient_bytes,
        "fixed_bytes": stack.fixed_memory,
        "moments_added": stack.moments_added,
        "reserve": stack.memory_reserve,
    }


def end_layers(model: Transformer, plan: ParallelPlan) -> Floats:
    """Mean parameters of a layer on the first stage, where dense layers sit, and on the last."""
    held = model.layers / plan.pipeline
    found: Floats = {}
    for stage in ("first", "last"):
        dense = min(held, model.dense_layers) if model.experts else held
        if stage == "last" and model.experts:
            dense = max(0.0, held - model.expert_layers)
        share = dense / held
        block = model.ffn_parameters(model.ffn) if dense else 0
        found[f"{stage}_layer_parameters"] = (
            model.attention_parameters
            + share * block
            + (1.0 - share) * (model.always_parameters if model.experts else 0)
        )
        found[f"{stage}_expert_parameters"] = (
            (1.0 - share) * model.experts * model.expert_parameters if model.experts else 0.0
        )
    return found


def _block(model: Transformer) -> tuple[Gemm, ...]:
    """Products of the feed-forward block every token passes."""
    return model.dense_gemms() if model.plain_layers else model.always_gemms()
