"""Software profiles of published runs, each property as its publication states it."""

from __future__ import annotations

from attrs import evolve

from scalemath.core.errors import ArgumentError
from scalemath.workloads.fitted import FITTED
from scalemath.workloads.stack import Stack

_EAGER = FITTED["element"].value * FITTED["eager"].value

_MEGATRON_CORE = Stack(
    name="Megatron core, eager launch, overlap off",
    loss_bytes=12.0,
    gradient_bytes=6.0,
    host_floor=FITTED["host"].value,
)
_COMPILED_LOGITS = 2.0 + 4.0 + 4.0  # 16-bit logits, their fp32 copy, its gradient
_EAGER_LOGITS = _COMPILED_LOGITS + 4.0  # and the log-softmax
_TORCHTITAN = Stack(
    name="torchtitan, compiled layers",
    loss_bytes=16.0,
    scatter_bytes=4.0,
    logit_bytes=_COMPILED_LOGITS,
    memory_reserve=1.037,
    live_layers=3.0,
    moments_added=1.0,
)

STACKS: dict[str, Stack] = {
    # unfused attention, dropout, scatter/gather between stages: arXiv 2104.04473, 2205.05198
    "megatron-2021": Stack(
        name="Megatron-LM of 2021 and 2022",
        attention="unfused",
        dropout=True,
        loss_bytes=30.0,
        hand_over_gather=True,
        gradient_bytes=4.0,
    ),
    "megatron-core": _MEGATRON_CORE,
    # gradient reduction overlapped, fused loss, graphs instead of eager launches
    "megatron-bridge": evolve(
        _MEGATRON_CORE,
        name="Megatron Bridge recipes",
        host_floor=0.0,
        attention_gain=1.4,
        cast_bytes=1.5,
        output_share=0.3,
        hand_over_overlap=0.9,
        gradient_overlap=0.9,
        tensor_overlap=FITTED["async"].value,
        context="ring",
    ),
    # arXiv 2402.15627: sequence parallel, all groups' collectives overlapped
    "megascale": Stack(
        name="MegaScale",
        loss_bytes=16.0,
        hand_over_overlap=0.5,
        gradient_overlap=0.9,
        tensor_overlap=FITTED["async"].value,
        gradient_bytes=6.0,
    ),
    "torchtitan": _TORCHTITAN,
    "torchtitan-eager": evolve(
        _TORCHTITAN,
        name="torchtitan, eager",
        element_factor=_EAGER,
        loss_bytes=30.0,
        logit_bytes=_EAGER_LOGITS,
    ),
    "llm-foundry": Stack(
        name="llm-foundry, eager, FSDP",
        element_factor=_EAGER,
        loss_bytes=30.0,
        scatter_bytes=2.0,
        logit_bytes=10.5,
        memory_reserve=1.03,
        live_layers=2.0,
        moments_added=1.0,
    ),
    # arXiv 2407.21783, section 3.3: balanced stages, keys and values gathered for context
    "llama-3": Stack(
        name="Llama 3 in-house",
        output_share=0.3,
        gradient_overlap=0.9,
        context="gather",
        loss_bytes=16.0,
        gather_hidden=0.95,
    ),
    # arXiv 2412.19437: dispatch and combine behind computation, 8-bit products
    "dualpipe": Stack(
        name="DualPipe with DeepEP",
        output_share=0.3,
        expert_overlap=1.0,
        precision="8-bit",
        gradient_overlap=0.9,
        loss_bytes=16.0,
    ),
}


def software_stack(name: str, *, precision: str = "16-bit", recipe: str = "tensor") -> Stack:
    """Return the profile of a software stack.

    Parameters
    ----------
    name : str
        "megatron-2021", "megatron-core", "megatron-bridge", "megascale", "torchtitan",
        "torchtitan-eager", "llm-foundry", "llama-3" or "dualpipe".
    precision : str
        "16-bit", or "8-bit" for the products of the layers.
    recipe : str
        Scaling of 8-bit products: "tensor" (one factor a tensor) or "row".

    Returns
    -------
    Stack
        The profile; change any property with ``attrs.evolve``.

    Raises
    ------
    ArgumentError
        When the name is not known.
    """
    found = STACKS.get(name)
    if found is None:
        raise ArgumentError(f"no software stack {name!r}; there are {', '.join(STACKS)}")
    if precision == "16-bit":
        return found
    gain = FITTED["gain_rowwise" if recipe == "row" else "gain_8"].value
    return evolve(found, precision="8-bit", gather_bytes=1.0, low_precision_gain=2.0 * gain)
