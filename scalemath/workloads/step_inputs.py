"""Lowering of model, plan, machine and stack to the floats of the step model."""

from __future__ import annotations

from scalemath.workloads.lowering import LayerNumbers, layer_numbers
from scalemath.workloads.machine import Machine
from scalemath.workloads.memory_inputs import memory_floats
from scalemath.workloads.plan import SCHEDULES, ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.transformer import Transformer

Floats = dict[str, float]


def model_floats(model: Transformer, stack: Stack, pipeline: int = 1) -> Floats:
    """Everything that depends on the architecture, and on how the software runs it."""
    n = layer_numbers(model, pipeline)
    given = n._asdict()
    given.pop("ffn_width")
    given.pop("expert_ffn_width")
    nodes = model.expert_node_limit
    expert_share = n.routed_tokens / max(1, model.experts_per_token)
    given["node_limit"] = nodes * expert_share if nodes else n.routed_tokens
    for name in ("routed_tokens", "expert_active_weights", "expert_width", "node_limit"):
        given[name] *= stack.expert_capacity
    given.update(_element_bytes(model, n, stack))
    return given


def _element_bytes(model: Transformer, n: LayerNumbers, stack: Stack) -> Floats:
    """Traffic of everything but products, in bytes per token and layer."""
    unit = 2.0 * stack.element_factor
    drop = 3.0 if stack.dropout else 0.0
    inner = n.ffn_width + n.expert_ffn_width
    turned = 0.0 if model.positions else 2.0 * (n.query_width + n.kv_width / 2.0)
    gated = model.gated
    pairs = n.routed_tokens * stack.expert_capacity
    return {
        "element_sequence_forward": unit * (10.0 + drop) * n.hidden,
        "element_sequence_backward": unit * (12.0 + drop) * n.hidden,
        "element_sharded_forward": unit * ((3.0 if gated else 2.0) * inner + turned),
        "element_sharded_backward": unit * ((5.0 if gated else 3.0) * inner + turned),
        "element_pairs_forward": unit * 6.0 * pairs * n.hidden,
        "element_pairs_backward": unit * 8.0 * pairs * n.hidden,
    }


def recompute_floats(plan: ParallelPlan) -> Floats:
    """Shares of the forward work that the backward pass repeats."""
    shares = {
        "none": (0.0, 0.0, 0.0, 0.0, 0.0),
        "selective": (0.0, 0.0, 1.0, 0.0, 0.0),
        "operators": (0.5, 0.0, 0.0, 1.0, 0.0),
        "full": (1.0, 0.0, 1.0, 1.0, 1.0),
        "full-early-stop": (1.0, 1.0, 1.0, 1.0, 0.75),
    }
    names = (
        "recompute_products",
        "early_stop",
        "recompute_attention",
        "recompute_element",
        "recompute_traffic",
    )
    return dict(zip(names, shares[plan.recompute], strict=True))


SIZES = (
    "tensor",
    "pipeline",
    "context",
    "expert",
    "data",
    "virtual",
    "micro_batch",
    "global_batch",
)
"""Parts of a plan that are numbers; a search varies them without lowering anew."""


def plan_floats(plan: ParallelPlan, sequence: int) -> Floats:
    """Sizes of the plan."""
    found = {name: float(getattr(plan, name)) for name in SIZES}
    return {**found, "sequence": float(sequence)}


def policy_floats(plan: ParallelPlan, stack: Stack) -> Floats:
    """Everything that depends on the policies of a plan and not on its sizes."""
    sharded = plan.sharding == "weights"
    gather = 1.5 if stack.precision == "8-bit" and sharded else 2.0
    parallel = plan.sequence_parallel
    return {
        "sequence_parallel": float(parallel),
        "states_shared": float(plan.sharding != "none"),
        "allreduces_forward": 0.0 if parallel else 2.0,
        "allreduces_backward": 0.0 if parallel else 2.0,
        "gathers_forward": 2.0 * gather if parallel else 0.0,
        "gathers_backward": 2.5 * gather if parallel else 0.0,
        "regather": 0.0 if plan.keep_weights else 1.0,
        "keep_weights": float(plan.keep_weights),
        "gather_bytes": stack.gather_bytes if sharded else 0.0,
        "scatter_bytes": stack.scatter_bytes if sharded else 0.0,
        "gradient_bytes": 0.0 if sharded else stack.gradient_bytes,
        "whole_bytes": 0.0 if sharded else stack.whole_bytes,
        "bubble_factor": SCHEDULES[plan.schedule],
    }


def machine_floats(machine: Machine, stack: Stack) -> Floats:
    """Everything that depends on the machine, at the precision of the stack."""
    rate = machine.peak * machine.matmul_share
    low = stack.precision == "8-bit"
    fused = stack.attention == "fused"
    fast = machine.peak * machine.attention_share * stack.attention_gain
    attention = fast if fused else rate / 1.2
    layer_rate = rate * stack.low_precision_gain if low else rate
    exposed = 2.0 * stack.operand_exposed
    given = {
        "matmul_rate": layer_rate,
        "expert_rate": layer_rate * stack.expert_share,
        "output_rate": rate,
        "memory_rate": machine.memory_rate,
        "operand_bytes": exposed,
        "cast_bytes": stack.cast_bytes if low else 0.0,
        "output_operand_bytes": exposed,
        "executed_share": 0.5 if fused else 1.0,
        "attention_rate_forward": attention,
        "attention_rate_backward": attention / (2.5 if fused else 2.0),
        "score_bytes_forward": 0.0 if fused else 11.0,
        "score_bytes_backward": 0.0 if fused else 19.0,
        "node_ranks": float(machine.node_ranks),
        "nic_rate": machine.nic_rate,
        "rails": machine.rails,
        "network_latency": machine.network_latency,
        "hand_over_latency": machine.hand_over_latency,
        "straggler_share": machine.straggler_share,
        "activation_bytes": 2.0,
        "expert_bytes_per_value": 2.0,
        "expert_exchanges": 2.0,
    }
    for kind in ("allreduce", "gather", "exchange"):
        for name, value in getattr(machine, kind)._asdict().items():
            given[f"{kind}_{name}"] = value
    return given


def stack_floats(stack: Stack) -> Floats:
    """Everything that depends on the software alone."""
    return {
        "loss_bytes": stack.loss_bytes,
        "vocabulary_share": stack.output_share,
        "tensor_overlap": stack.tensor_overlap,
        "gradient_overlap": stack.gradient_overlap,
        "expert_overlap": stack.expert_overlap,
        "context_overlap": stack.context_overlap if stack.context == "ring" else 0.0,
        "context_loss": 0.0 if stack.context == "exchange" else stack.context_loss,
        "context_ring": float(stack.context != "exchange"),
        "hidden_share": stack.gather_hidden,
        "interference": stack.interference,
        "state_bytes": stack.state_bytes,
        "hand_over_overlap": stack.hand_over_overlap,
        "host_floor": stack.host_floor,
        "hand_over_gather": float(stack.hand_over_gather),
    }


def step_inputs(
    model: Transformer, plan: ParallelPlan, machine: Machine, stack: Stack, sequence: int
) -> Floats:
    """All floats of the step model for one job."""
    return {
        **memory_floats(model, plan, stack),
        **model_floats(model, stack, plan.pipeline),
        **recompute_floats(plan),
        **plan_floats(plan, sequence),
        **policy_floats(plan, stack),
        **machine_floats(machine, stack),
        **stack_floats(stack),
    }
