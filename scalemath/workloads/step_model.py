"""The wiring of a training step: which kernel feeds which, as one model that sweeps run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scalemath.core.kernel import kernel_of
from scalemath.core.model import Model, Parameter, Step
from scalemath.kernels import group_traffic as traffic
from scalemath.kernels import layer_time as layer
from scalemath.kernels import plan_numbers as plan
from scalemath.kernels import scaling
from scalemath.kernels import step_time as whole
from scalemath.kernels import training_memory as memory

_GROUP = ("startup", "bandwidth", "pair_factor", "ramp")


def _step(output: str, function: Any, unit: str = "s", **rename: str) -> Step:
    return Step(output, {"": kernel_of(function)}, unit, rename=rename)


def _curve(kind: str) -> dict[str, str]:
    """Rename the constants of a collective to those of its kind."""
    return {name: f"{kind}_{name}" for name in _GROUP}


def _collective(output: str, kind: str, size: str, ranks: str, stride: str) -> Step:
    functions = {"allreduce": traffic.group_allreduce, "gather": traffic.group_gather}
    rename = {"size": size, "ranks": ranks, "stride": stride, **_curve(kind)}
    return _step(output, functions[kind], **rename)


def _exchange(output: str, moved: str, ranks: str, stride: str) -> Step:
    rename = {"moved_bytes": moved, "ranks": ranks, "stride": stride, "rounds": "one"}
    return _step(output, traffic.group_collective, **rename, **_curve("exchange"))


_ATTENTION = {"score_bytes": "score_bytes_{}", "attention_rate": "attention_rate_{}"}
_ELEMENT = {
    "bytes_sharded": "element_sharded_{}",
    "bytes_sequence": "element_sequence_{}",
    "bytes_pairs": "element_pairs_{}",
}


def _directed(names: dict[str, str], direction: str) -> dict[str, str]:
    return {own: name.format(direction) for own, name in names.items()}


def _layer_traffic(direction: str, context: str) -> Step:
    return _step(
        f"traffic_{direction}",
        traffic.layer_traffic,
        allreduce="tensor_allreduce",
        gather="tensor_gather",
        allreduces=f"allreduces_{direction}",
        gathers=f"gathers_{direction}",
        context=context,
    )


def _context(direction: str) -> Step:
    return _step(
        f"context_{direction}",
        traffic.context_traffic,
        exchange="context_exchange",
        transfer=f"context_transfer_{direction}",
        attention=f"attention_{direction}",
    )


def _product(output: str, first: str, second: str, third: str = "one", unit: str = "1") -> Step:
    names = {"first": first, "second": second, "third": third}
    return _step(output, traffic.product_of_three, unit, **names)


def _kept(output: str, size: str) -> Step:
    return _step(output, plan.size_per_micro_batch, "byte", size=size, kept="keep_weights")


PLAN_STEPS: tuple[Step, ...] = (
    _step("tokens", layer.micro_batch_tokens, "1"),
    _step("micro_batches", plan.micro_batch_count, "1"),
    _product("shards", "data", "context"),
    _step("expert_shards", scaling.share_of, "1", part="shards", whole="expert"),
    _product("expert_span", "tensor", "expert"),
    _product("ranks", "tensor", "pipeline", "shards"),
    _step("state_shards", plan.sharers, "1", ranks="shards", shared="states_shared"),
    _step("sequence_shards", plan.sharers, "1", ranks="tensor", shared="sequence_parallel"),
    _step("slowdown", plan.context_slowdown, "1"),
    _step("recompute_linear", plan.recomputed_products, "1"),
)

TIME_STEPS: tuple[Step, ...] = (
    *PLAN_STEPS,
    # computation of a layer
    _step("linear", layer.linear_layers, weights="linear_weights"),
    _step(
        "experts",
        layer.expert_layers,
        active_weights="expert_active_weights",
        stored_weights="expert_stored_weights",
        width="expert_width",
    ),
    _step("attention_forward", layer.attention_core, **_directed(_ATTENTION, "forward")),
    _step("attention_backward", layer.attention_core, **_directed(_ATTENTION, "backward")),
    _step("element_forward", layer.element_wise, **_directed(_ELEMENT, "forward")),
    _step("element_backward", layer.element_wise, **_directed(_ELEMENT, "backward")),
    _step(
        "output",
        layer.vocabulary_layer,
        operand_bytes="output_operand_bytes",
        matmul_rate="output_rate",
    ),
    # communication inside a layer
    _product("activation_size", "tokens", "hidden", "activation_bytes", unit="byte"),
    _collective("tensor_allreduce", "allreduce", "activation_size", "tensor", "one"),
    _collective("tensor_gather", "gather", "activation_size", "tensor", "one"),
    _step(
        "expert_moved",
        traffic.expert_bytes,
        "byte",
        width="hidden",
        element_bytes="expert_bytes_per_value",
        top_k="routed_tokens",
        ranks="expert",
        stride="tensor",
    ),
    _exchange("expert_exchange", "expert_moved", "expert", "tensor"),
    _step("context_moved", traffic.context_exchange_bytes, "byte"),
    _exchange("context_exchange", "context_moved", "context", "tensor"),
    _step("context_ring_moved", traffic.context_ring_bytes, "byte"),
    _exchange("context_transfer_forward", "context_ring_moved", "context", "tensor"),
    _product(
        "context_ring_moved_backward",
        "context_ring_moved",
        "context_backward_factor",
        "one",
        unit="byte",
    ),
    _exchange("context_transfer_backward", "context_ring_moved_backward", "context", "tensor"),
    _context("forward"),
    _context("backward"),
    _layer_traffic("forward", "context_forward"),
    _layer_traffic("backward", "context_backward"),
    _step("layer", whole.layer_time),
    # weights gathered for a layer
    _step(
        "layer_weights",
        whole.stage_parameters,
        "1",
        layers="one",
        embedding_parameters="zero",
        output_parameters="zero",
        pipeline="one",
    ),
    _product("gather_once", "layer_weights", "gather_bytes", unit="byte"),
    _kept("gather_size", "gather_once"),
    _collective("weight_gather", "gather", "gather_size", "shards", "tensor"),
    _product("scatter_once", "layer_weights", "scatter_bytes", unit="byte"),
    _kept("scatter_size", "scatter_once"),
    _collective("weight_scatter", "gather", "scatter_size", "shards", "tensor"),
    _step(
        "layer_gathers",
        traffic.sharded_weights,
        gather="weight_gather",
        scatter="weight_scatter",
        forward="layer.forward",
        backward="layer.backward",
    ),
    # stages, gradients, optimizer
    _step(
        "hand_over",
        traffic.stage_hand_over,
        bandwidth="gather_bandwidth",
        gather="tensor_gather",
    ),
    _step("parameters", whole.stage_parameters, "1"),
    _step("dense_parameters", whole.stage_parameters, "1", expert_parameters="zero", expert="one"),
    _step(
        "routed_parameters",
        whole.stage_parameters,
        "1",
        layer_parameters="zero",
        embedding_parameters="zero",
        output_parameters="zero",
    ),
    _product("gradient_size", "dense_parameters", "gradient_bytes", "one", unit="byte"),
    _collective("gradients", "gather", "gradient_size", "shards", "tensor"),
    _product("expert_gradient_size", "routed_parameters", "gradient_bytes", "one", unit="byte"),
    _collective(
        "expert_gradients", "gather", "expert_gradient_size", "expert_shards", "expert_span"
    ),
    _step("update", whole.optimizer_time, shards="state_shards"),
    _step(
        "time",
        whole.training_step,
        vocabulary="output",
        optimizer="update",
        domain_ranks="node_ranks",
    ),
)


def _ends(stage: str, embedding: str, head: str) -> tuple[Step, ...]:
    """Parameters and states of the stage at one end of the model."""
    plain = {
        "layer_parameters": f"{stage}_layer_parameters",
        "expert_parameters": "zero",
        "expert": "one",
        "embedding_parameters": embedding,
        "output_parameters": head,
    }
    routed = {
        "layer_parameters": "zero",
        "expert_parameters": f"{stage}_expert_parameters",
        "embedding_parameters": "zero",
        "output_parameters": "zero",
    }
    return (
        _step(f"{stage}_plain", whole.stage_parameters, "1", **plain),
        _step(f"{stage}_routed", whole.stage_parameters, "1", **routed),
        _step(
            f"{stage}_states",
            memory.state_memory,
            "byte",
            parameters=f"{stage}_plain",
            routed_parameters=f"{stage}_routed",
        ),
    )


MEMORY_STEPS: tuple[Step, ...] = (
    _step("stored_output_if_alone", plan.only_alone, "1", value="stored_output"),
    *_ends("first", "embedding_parameters", "stored_output_if_alone"),
    *_ends("last", "zero", "stored_output"),
    _step("saved", memory.saved_activations, "byte"),
    _step("in_flight", memory.micro_batches_in_flight, "1"),
    _product("logit_values", "tokens", "logit_bytes", "vocabulary", unit="1"),
    _step("logits", scaling.share_of, "byte", part="logit_values", whole="tensor"),
    _step("transient", memory.backward_transient, "byte"),
    _product("head_values", "stored_output", "dummy_bytes", "one", unit="byte"),
    _step("head_transient", scaling.share_of, "byte", part="head_values", whole="tensor"),
    _step("kept", memory.gathered_memory, "byte"),
    _step("memory", memory.training_memory, "byte"),
)

STEPS = (*TIME_STEPS, *MEMORY_STEPS)


def needed_parameters(steps: Sequence[Step]) -> tuple[Parameter, ...]:
    """Every name that steps need and no step makes; constants have a default.

    Parameters
    ----------
    steps : sequence of Step
        Steps of a model.

    Returns
    -------
    tuple of Parameter
        Plain numbers in SI units.
    """
    made: set[str] = set()
    for step in steps:
        made.add(step.output)
        made.update(f"{step.output}.{t}" for k in step.kernels.values() for t in k.terms)
    constants = {"one": 1.0, "zero": 0.0, "context_backward_factor": 2.0}
    found: dict[str, Parameter] = {}
    for step in steps:
        for kernel in step.kernels.values():
            for name in step.arguments(kernel):
                if name not in made and name not in found:
                    found[name] = Parameter(
                        name,
                        "number",
                        required=name not in constants,
                        default=constants.get(name, math.nan),
                    )
    return tuple(found.values())


STEP_MODEL = Model("training_step", needed_parameters(STEPS), STEPS, "time")
