"""What the training software does: kernels, fusion, recipes and overlap, as explicit inputs."""

from __future__ import annotations

from attrs import frozen

from scalemath.workloads.fitted import FITTED


@frozen(kw_only=True)
class Stack:
    """Properties of the software that decide the time of a step.

    Attributes
    ----------
    name : str
        Name of the profile.
    attention : str
        "fused" (Flash Attention and its kin) or "unfused" (scores written to memory).
    attention_gain : float
        Rate of the fused attention kernel over the one the machine's share was measured with,
        about 1.4 for kernels that keep both units of a Hopper device busy [1].
    element_factor : float
        Element-wise traffic over that of ideally fused kernels [1].
    dropout : bool
        Dropout on the residual stream.
    precision : str
        "16-bit" or "8-bit" products of the layers.
    low_precision_gain : float
        Rate of 8-bit over 16-bit products [1].
    cast_bytes : float
        Traffic of casting, per operand element [byte].
    expert_capacity : float
        Tokens an expert is sent over those it would get under even routing [1].
    expert_share : float
        Rate of grouped expert products over plain ones [1].
    operand_exposed : float
        Share of the operand traffic of products that arithmetic does not hide [1].
    loss_bytes : float
        Traffic per logit of the loss, forward and backward [byte].
    output_share : float
        Share of the output layer that makes its stage longer than the others [1].
    tensor_overlap, gradient_overlap, expert_overlap, context_overlap, hand_over_overlap : float
        Hidden shares of the collectives [1].
    context : str
        "exchange" (re-split heads), "ring" or "gather" of keys and values.
    context_loss : float
        Slow-down of attention under a ring that grows to this share [1].
    gather_bytes, scatter_bytes : float
        Bytes per parameter that sharded weights gather and reduce [byte].
    gather_hidden : float
        Share of a layer's computation that can hide its gathers [1].
    interference : float
        Slow-down of computation while a collective runs [1].
    gradient_bytes : float
        Bytes per parameter that unsharded weights reduce and gather per step, both
        directions added [byte].
    state_bytes, whole_bytes : float
        Optimizer traffic per parameter on the shard and on the whole [byte].
    host_floor : float
        Least time of a layer, forward and backward, set by the host [s].
    logit_bytes, transient_bytes : float
        Memory per logit at the end of the forward pass, and per inner value of the block whose
        backward pass runs [byte].
    fixed_memory : float
        Workspaces and what the runtime holds [byte].
    memory_reserve : float
        Memory the allocator reserves over what it gives out [1].
    live_layers : float
        Recomputed layers whose activations exist at one time [1].
    moments_added : float
        Share of the smaller of the two peaks that the allocator keeps beside the larger [1].
    hand_over_gather : bool
        Hand-over between stages is split over the tensor group and gathered again.
    """

    name: str = "generic"
    attention: str = "fused"
    attention_gain: float = 1.0
    element_factor: float = FITTED["element"].value
    dropout: bool = False
    precision: str = "16-bit"
    low_precision_gain: float = 2.0 * FITTED["gain_8"].value
    cast_bytes: float = FITTED["cast"].value
    expert_capacity: float = 1.0
    expert_share: float = FITTED["experts"].value
    operand_exposed: float = 0.5
    loss_bytes: float = 16.0
    output_share: float = 1.0
    tensor_overlap: float = 0.0
    gradient_overlap: float = 0.0
    expert_overlap: float = 0.0
    context_overlap: float = 1.0
    hand_over_overlap: float = 0.0
    context: str = "exchange"
    context_loss: float = FITTED["ring"].value
    gather_bytes: float = 2.0
    scatter_bytes: float = 2.0
    gather_hidden: float = 0.85
    interference: float = FITTED["interference"].value
    gradient_bytes: float = 6.0
    state_bytes: float = 34.0
    whole_bytes: float = 8.0
    host_floor: float = 0.0
    hand_over_gather: bool = False
    logit_bytes: float = 6.0
    transient_bytes: float = 6.0
    fixed_memory: float = 0.5 * 2.0**30
    memory_reserve: float = 1.0
    live_layers: float = 1.0
    moments_added: float = 0.0
