"""Operations of a transformer per token, by convention."""

from __future__ import annotations

import math

from scalemath.kernels.step_rates import attention_pairs, forward_operations
from scalemath.workloads.transformer import Transformer


def forward_flops_per_token(model: Transformer, sequence: float, *, causal: bool = False) -> float:
    """Operations of the forward pass for one token [flop].

    Parameters
    ----------
    model : Transformer
        The architecture.
    sequence : float
        Tokens each token attends to, were nothing masked.
    causal : bool
        Count only the half of the scores that a causal mask keeps; published figures differ
        in this, so it is never guessed.

    Returns
    -------
    float
        Two per weight that the token passes, the output layer included and the embedding
        not, plus scores and values.
    """
    n = flops_floats(model)
    pairs = attention_pairs(
        n["full_layers"], n["window_layers"], n["window"], 0.5 if causal else 1.0, sequence
    )
    return forward_operations(n["products"], pairs, n["score_width"])


def flops_floats(model: Transformer) -> dict[str, float]:
    """Numbers behind the operations of a token: weights it passes, widths, layers by mask."""
    products = model.layers * sum(g.weights for g in model.attention_gemms())
    if model.plain_layers:
        products += model.plain_layers * sum(g.weights for g in model.dense_gemms())
    if model.expert_layers:
        routed = sum(g.used * g.weights for g in model.expert_gemms())
        always = sum(g.weights for g in model.always_gemms())
        products += model.expert_layers * (routed + always)
    products += model.vocabulary * model.hidden
    return {
        "products": float(products),
        "score_width": float(model.heads * (model.query_key_size + model.value_head_size)),
        "full_layers": float(model.layers - model.window_layers),
        "window_layers": float(model.window_layers),
        "window": float(model.window) if model.window else math.inf,
    }


def training_flops_per_token(
    model: Transformer, sequence: float, *, causal: bool = False, recomputed: float = 0.0
) -> float:
    """Operations of forward and backward for one token [flop].

    Parameters
    ----------
    model : Transformer
        The architecture.
    sequence : float
        Tokens of a sequence.
    causal : bool
        Count half of the scores.
    recomputed : float
        Forward passes repeated in the backward pass: 0 gives model FLOPs, 1 the hardware
        FLOPs of full recomputation [1].

    Returns
    -------
    float
        Three forward passes and the repeated ones.
    """
    return (3.0 + recomputed) * forward_flops_per_token(model, sequence, causal=causal)
