"""Rules a parallel plan must keep, once for a single plan and for arrays of plans."""

from __future__ import annotations

from typing import Any

from scalemath.workloads.transformer import Transformer

Sizes = Any
"""Anything with the sizes of a plan as attributes: a plan, or arrays of many."""


def rules(p: Sizes, model: Transformer, sequence: int) -> list[tuple[str, Any, Any]]:
    """Everything that must divide: what it is, the divisor, and the number divided.

    Parameters
    ----------
    p : ParallelPlan or arrays of sizes
        Sizes of one plan or of many.
    model : Transformer
        What is split.
    sequence : int
        Tokens of a sequence.

    Returns
    -------
    list of tuple
        Text, divisor and number; whole numbers, or arrays of them.
    """
    # two pieces of a sequence per context rank make causal work even
    pieces = p.context + p.context * (p.context > 1)
    in_turn = 1 + (p.pipeline - 1) * (p.virtual > 1)
    found = [
        ("query heads over the tensor group", p.tensor, model.heads),
        ("vocabulary over the tensor group (pad it)", p.tensor, model.vocabulary),
        ("layers over stages and chunks", p.pipeline * p.virtual, model.layers),
        ("data x context ranks over expert groups", p.expert, p.data * p.context),
        ("tokens over two pieces per context rank", pieces, sequence),
        ("tokens of a context rank over the tensor group", p.tensor * p.context, sequence),
        (
            "global batch over data ranks and micro-batch",
            p.data * p.micro_batch,
            p.global_batch,
        ),
        (
            "micro-batches over stages when interleaved",
            p.data * p.micro_batch * in_turn,
            p.global_batch,
        ),
    ]
    if not model.latent:
        found.append(("key-value heads over the tensor group", p.tensor, model.kv_heads))
    if model.plain_layers:
        found.append(("inner width over the tensor group", p.tensor, model.ffn))
    if model.experts:
        found.append(("expert width over the tensor group", p.tensor, model.expert_ffn))
        found.append(("experts over the expert group", p.expert, model.stored_experts))
    return found


def broken(plan: Sizes, model: Transformer, sequence: int) -> tuple[str, ...]:
    """Sentences for the rules that one plan breaks."""
    found = [
        f"{text}: {number} is not a multiple of {divisor}"
        for text, divisor, number in rules(plan, model, sequence)
        if number % divisor
    ]
    if plan.virtual > 1 and plan.pipeline == 1:
        found.append("virtual chunks need a pipeline of at least two stages")
    if plan.expert > 1 and not model.experts:
        found.append("expert parallelism needs a model with experts")
    return tuple(found)


def kept(sizes: Sizes, model: Transformer, sequence: int) -> Any:
    """Array of truth values: which of many plans keep every rule."""
    good = (sizes.virtual == 1) | (sizes.pipeline > 1)
    if not model.experts:
        good &= sizes.expert == 1
    for _, divisor, number in rules(sizes, model, sequence):
        good &= number % divisor == 0
    return good
