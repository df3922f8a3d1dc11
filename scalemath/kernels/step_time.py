"""How layers, micro-batches, pipeline, gradients and optimizer make up one training step."""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.kernel import kernel


class LayerTerms(NamedTuple):
    """Terms of one layer for one micro-batch [s], mean over the layers of a stage."""

    forward: float
    backward: float
    recompute: float
    communication: float
    host_wait: float


@kernel(
    unit="s",
    rises="linear experts attention_forward attention_backward element_forward "
    "element_backward traffic_forward traffic_backward recompute_linear recompute_attention "
    "recompute_element recompute_traffic host_floor",
    source="sum of the parts; backward of a matrix product is two products",
    formula="forward + backward + recompute + communication, never below host_floor",
)
def layer_time(
    linear: float,
    experts: float,
    attention_forward: float,
    attention_backward: float,
    element_forward: float,
    element_backward: float,
    traffic_forward: float,
    traffic_backward: float,
    recompute_linear: float,
    recompute_attention: float,
    recompute_element: float,
    recompute_traffic: float,
    host_floor: float,
) -> LayerTerms:
    """Time [s] of one layer, forward and backward, for one micro-batch."""
    products = linear + experts
    forward = products + attention_forward + element_forward
    backward = 2.0 * products + attention_backward + element_backward
    recompute = (
        recompute_linear * products
        + recompute_attention * attention_forward
        + recompute_element * element_forward
    )
    traffic = traffic_forward + traffic_backward + recompute_traffic * traffic_forward
    busy = forward + backward + recompute + traffic
    return LayerTerms(forward, backward, recompute, traffic, max(0.0, host_floor - busy))


class StepTimeTerms(NamedTuple):
    """Terms of a training step [s]."""

    layers: float
    vocabulary: float
    bubble: float
    hand_over: float
    gradients: float
    optimizer: float
    stragglers: float


@kernel(
    unit="s",
    rises="layer layer_gathers layers vocabulary vocabulary_share micro_batches bubble_factor "
    "hand_over gradients expert_gradients optimizer straggler_share",
    falls="gradient_overlap hand_over_overlap",
    free="pipeline virtual ranks domain_ranks",
    free_because="more stages shorten a stage and lengthen the bubble; stragglers grow with "
    "ranks beyond the domain",
    source="Narayanan et al., SC21 (arXiv 2104.04473), section 2.2: bubble (pipeline - 1) / "
    "(virtual micro_batches) of the ideal time",
    formula="micro_batches (stage + vocabulary) + bubble_factor (pipeline - 1) / virtual stage "
    "+ hand-overs + exposed gradients + optimizer, times 1 + straggler_share log2(ranks/domain)",
)
def training_step(
    layer: float,
    layer_gathers: float,
    layers: float,
    vocabulary: float,
    vocabulary_share: float,
    micro_batches: float,
    pipeline: float,
    virtual: float,
    bubble_factor: float,
    hand_over: float,
    hand_over_overlap: float,
    gradients: float,
    expert_gradients: float,
    gradient_overlap: float,
    optimizer: float,
    straggler_share: float,
    ranks: float,
    domain_ranks: float,
) -> StepTimeTerms:
    """Time [s] of one optimizer step."""
    deepest = virtual * math.ceil(layers / (pipeline * virtual) - 1e-9)
    stage = (layer + layer_gathers) * deepest
    work = micro_batches * stage
    output = micro_batches * vocabulary * vocabulary_share
    bubble = bubble_factor * (pipeline - 1.0) / virtual * stage
    passing = 2.0 * virtual * micro_batches * hand_over * (1.0 - hand_over_overlap)
    shown = (gradients + expert_gradients) * (1.0 - gradient_overlap)
    plain = work + output + bubble + passing + shown + optimizer
    spread = straggler_share * math.log2(max(1.0, ranks / domain_ranks))
    return StepTimeTerms(work, output, bubble, passing, shown, optimizer, plain * spread)


@kernel(
    unit="s",
    rises="parameters state_bytes whole_bytes",
    falls="shards memory_rate",
    source="Adam reads and writes weight, gradient, master copy and two moments",
    formula="time = parameters (state_bytes / shards + whole_bytes) / memory_rate",
)
def optimizer_time(
    parameters: float, state_bytes: float, whole_bytes: float, shards: float, memory_rate: float
) -> float:
    """Time [s] of the optimizer on the parameters of one device."""
    return parameters * (state_bytes / shards + whole_bytes) / memory_rate


@kernel(
    unit="1",
    rises="layers layer_parameters expert_parameters embedding_parameters output_parameters",
    falls="pipeline expert tensor",
    source="definition; of several stages the first holds the embedding, the last the output",
    formula="(layers / pipeline (layer_parameters + expert_parameters / expert) + embedding and "
    "output) / tensor",
)
def stage_parameters(
    layers: float,
    layer_parameters: float,
    expert_parameters: float,
    embedding_parameters: float,
    output_parameters: float,
    pipeline: float,
    expert: float,
    tensor: float,
) -> float:
    """Parameters [1] on one device of the fullest stage."""
    if pipeline <= 1.0:
        ends = embedding_parameters + output_parameters
    else:
        ends = max(embedding_parameters, output_parameters)
    inner = layers / pipeline * (layer_parameters + expert_parameters / expert)
    return (inner + ends) / tensor
