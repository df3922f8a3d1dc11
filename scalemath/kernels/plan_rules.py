"""Rules of divisibility that a parallel plan must keep, and what follows when it does not."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.serving import DecodeTerms
from scalemath.kernels.step_time import StepTimeTerms
from scalemath.kernels.training_memory import MemoryTerms


@kernel(
    unit="1",
    free="divisor number",
    free_because="divisibility moves either way",
    source="definition; a quotient of whole numbers below 2**53 is whole only when it is exact",
    formula="1 where number is a multiple of divisor, else 0",
)
def divides(divisor: float, number: float) -> float:
    """Truth [1] that one whole number is a multiple of another."""
    if math.floor(number / divisor) * divisor == number:
        return 1.0
    return 0.0


@kernel(
    unit="1",
    free="tensor pipeline context expert data virtual micro_batch global_batch sequence layers "
    "vocabulary split_heads split_kv_heads split_ffn split_expert_ffn split_experts",
    free_because="divisibility moves either way",
    falls="chunks_refused",
    source="Megatron-LM argument checks; what is split must come out whole",
    formula="1 where everything that is split comes out whole and chunks are allowed, else 0",
)
def plan_kept(
    tensor: float,
    pipeline: float,
    context: float,
    expert: float,
    data: float,
    virtual: float,
    micro_batch: float,
    global_batch: float,
    sequence: float,
    layers: float,
    vocabulary: float,
    split_heads: float,
    split_kv_heads: float,
    split_ffn: float,
    split_expert_ffn: float,
    split_experts: float,
    chunks_refused: float,
) -> float:
    """Truth [1] that a plan keeps every rule; a part that is 0 does not exist and divides."""
    pieces = context
    if context > 1.0:
        pieces = 2.0 * context
    in_turn = 1.0
    chunks = 1.0
    if virtual > 1.0:
        in_turn = pipeline
        chunks = 1.0 - chunks_refused
        if pipeline <= 1.0:
            chunks = 0.0
    batch = data * micro_batch
    heads = divides(tensor, split_heads) * divides(tensor, split_kv_heads)
    widths = divides(tensor, split_ffn) * divides(tensor, split_expert_ffn)
    experts = divides(expert, split_experts) * divides(expert, data * context)
    tokens = divides(pieces, sequence) * divides(tensor * context, sequence)
    batches = divides(batch, global_batch) * divides(batch * in_turn, global_batch)
    rest = divides(tensor, vocabulary) * divides(pipeline * virtual, layers)
    return heads * widths * experts * tokens * batches * rest * chunks


@kernel(
    unit="1",
    rises="kept possible",
    falls="strict",
    source="definition",
    formula="possible, and kept where rules are strict",
)
def plan_allowed(kept: float, strict: float, possible: float) -> float:
    """Truth [1] that a plan is to be evaluated."""
    return possible * max(kept, 1.0 - strict)


@kernel(
    unit="s",
    rises="layers vocabulary bubble hand_over gradients optimizer stragglers",
    falls="allowed",
    source="definition",
    formula="the terms of a step where it is allowed, else infinite",
)
def allowed_time(
    allowed: float,
    layers: float,
    vocabulary: float,
    bubble: float,
    hand_over: float,
    gradients: float,
    optimizer: float,
    stragglers: float,
) -> StepTimeTerms:
    """Time [s] of a step whose plan keeps the rules."""
    if allowed > 0.5:
        return StepTimeTerms(
            layers, vocabulary, bubble, hand_over, gradients, optimizer, stragglers
        )
    no = math.inf
    return StepTimeTerms(no, no, no, no, no, no, no)


@kernel(
    unit="byte",
    rises="states activations peak workspace",
    falls="allowed",
    source="definition",
    formula="the parts of the memory where the plan is allowed, else infinite",
)
def allowed_memory(
    allowed: float, states: float, activations: float, peak: float, workspace: float
) -> MemoryTerms:
    """Memory [byte] of a device whose plan keeps the rules."""
    if allowed > 0.5:
        return MemoryTerms(states, activations, peak, workspace)
    return MemoryTerms(math.inf, math.inf, math.inf, math.inf)


@kernel(
    unit="s",
    rises="device communication",
    falls="allowed",
    source="definition",
    formula="the terms of serving where it is allowed, else infinite",
)
def allowed_work(allowed: float, device: float, communication: float) -> DecodeTerms:
    """Time [s] of serving a transformer that can be."""
    if allowed > 0.5:
        return DecodeTerms(device, communication)
    return DecodeTerms(math.inf, math.inf)
