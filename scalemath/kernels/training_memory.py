"""Memory of one device in training: states, saved activations, and the worst moment."""

from __future__ import annotations

from typing import NamedTuple

from scalemath.core.kernel import kernel

_KORTHIKANTI = "Korthikanti et al., Reducing Activation Recomputation, MLSys 2023, section 4"
_ZERO = "Rajbhandari et al., ZeRO, SC20 (arXiv 1910.02054), section 3"


class MemoryTerms(NamedTuple):
    """Terms of the memory of one device [byte]."""

    states: float
    activations: float
    peak: float
    workspace: float


@kernel(
    unit="byte",
    rises="parameters routed_parameters whole_state_bytes shared_state_bytes",
    falls="shards expert_shards",
    source=_ZERO,
    formula="parameters (whole_state_bytes + shared_state_bytes / shards) + routed_parameters "
    "(whole_state_bytes + shared_state_bytes / expert_shards)",
)
def state_memory(
    parameters: float,
    routed_parameters: float,
    whole_state_bytes: float,
    shared_state_bytes: float,
    shards: float,
    expert_shards: float,
) -> float:
    """Bytes [byte] of weights, gradients and optimizer on one device."""
    return parameters * (whole_state_bytes + shared_state_bytes / shards) + routed_parameters * (
        whole_state_bytes + shared_state_bytes / expert_shards
    )


@kernel(
    unit="byte",
    rises="tokens saved_hidden saved_sharded saved_scores sequence",
    falls="tensor sequence_parallel",
    source=_KORTHIKANTI,
    formula="tokens (saved_hidden (/ tensor with sequence parallelism) + (saved_sharded + "
    "saved_scores sequence) / tensor)",
)
def saved_activations(
    tokens: float,
    saved_hidden: float,
    saved_sharded: float,
    saved_scores: float,
    sequence: float,
    tensor: float,
    sequence_parallel: float,
) -> float:
    """Bytes [byte] one layer keeps of one micro-batch for its backward pass."""
    shard = 1.0 / tensor
    spread = shard if sequence_parallel > 0.5 else 1.0
    return tokens * (saved_hidden * spread + (saved_sharded + saved_scores * sequence) * shard)


@kernel(
    unit="1",
    rises="micro_batches",
    free="pipeline virtual",
    free_because="interleaving keeps more micro-batches with more stages, fewer with more chunks",
    source=_KORTHIKANTI + ", equation 5",
    formula="min(micro_batches, pipeline) (1 + (pipeline - 1) / (pipeline virtual) when "
    "interleaved)",
)
def micro_batches_in_flight(micro_batches: float, pipeline: float, virtual: float) -> float:
    """Micro-batches [1] whose activations the first stage holds at once."""
    held = min(micro_batches, pipeline)
    if virtual > 1.0:
        return held * (1.0 + (pipeline - 1.0) / (pipeline * virtual))
    return held


@kernel(
    unit="byte",
    rises="tokens transient_bytes working_width live_bytes dummy_bytes largest_weights",
    falls="tensor sequence_parallel",
    source="gradients of the widest block, the recomputed layer, and an unused weight gradient "
    "that fused accumulation still allocates",
    formula="(tokens (transient_bytes working_width + live_bytes) + dummy_bytes "
    "largest_weights) / tensor",
)
def backward_transient(
    tokens: float,
    transient_bytes: float,
    working_width: float,
    live_bytes: float,
    dummy_bytes: float,
    largest_weights: float,
    tensor: float,
    sequence_parallel: float,
) -> float:
    """Bytes [byte] that live only while one layer runs backward."""
    shard = 1.0 / tensor
    spread = shard if sequence_parallel > 0.5 else 1.0
    return (
        tokens * (transient_bytes * working_width * shard + live_bytes * spread)
        + dummy_bytes * largest_weights * shard
    )


@kernel(
    unit="byte",
    rises="layer_weights gathered_bytes output_parameters head_bytes fixed_bytes",
    falls="tensor",
    source="Zhao et al., PyTorch FSDP, VLDB 2023: the layers gathered at one time",
    formula="layer_weights gathered_bytes + output_parameters head_bytes / tensor + fixed_bytes",
)
def gathered_memory(
    layer_weights: float,
    gathered_bytes: float,
    output_parameters: float,
    head_bytes: float,
    tensor: float,
    fixed_bytes: float,
) -> float:
    """Bytes [byte] of weights gathered at one time, and what the runtime holds."""
    return layer_weights * gathered_bytes + output_parameters * head_bytes / tensor + fixed_bytes


@kernel(
    unit="byte",
    rises="first_states last_states saved layers in_flight logits transient head_transient "
    "moments_added kept reserve",
    free="pipeline",
    free_because="more stages hold fewer layers each but more micro-batches on the first",
    source="maximum over stages and over moments: end of the forward pass with the logits, or "
    "the backward pass of the widest layer; an allocator that keeps its blocks adds the moments up",
    formula="reserve (states + in_flight saved layers / pipeline + larger moment + moments_added "
    "smaller moment + kept), of the first or the last stage, whichever is larger",
)
def training_memory(
    first_states: float,
    last_states: float,
    saved: float,
    layers: float,
    pipeline: float,
    in_flight: float,
    logits: float,
    transient: float,
    head_transient: float,
    moments_added: float,
    kept: float,
    reserve: float,
) -> MemoryTerms:
    """Bytes [byte] at the worst moment of the fullest device."""
    held = saved * layers / pipeline
    alone = pipeline <= 1.0
    backward = transient + head_transient
    last_peak = max(backward, logits) + moments_added * min(backward, logits)
    first_peak = last_peak if alone else transient
    first = first_states + in_flight * held + first_peak
    last = last_states + held + last_peak
    if alone or first >= last:
        return MemoryTerms(
            reserve * first_states,
            reserve * in_flight * held,
            reserve * first_peak,
            reserve * kept,
        )
    return MemoryTerms(reserve * last_states, reserve * held, reserve * last_peak, reserve * kept)
