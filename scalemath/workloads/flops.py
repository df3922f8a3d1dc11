"""Operations of a transformer per token, by convention."""

from __future__ import annotations

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
    products = model.layers * sum(g.weights for g in model.attention_gemms())
    if model.plain_layers:
        products += model.plain_layers * sum(g.weights for g in model.dense_gemms())
    if model.expert_layers:
        routed = sum(g.used * g.weights for g in model.expert_gemms())
        always = sum(g.weights for g in model.always_gemms())
        products += model.expert_layers * (routed + always)
    products += model.vocabulary * model.hidden
    width = model.heads * (model.query_key_size + model.value_head_size)
    return 2.0 * products + attention_pairs(model, sequence, causal=causal) * 2.0 * width


def attention_pairs(model: Transformer, sequence: float, *, causal: bool) -> float:
    """Keys a token meets, summed over layers, sliding windows included."""
    share = 0.5 if causal else 1.0
    full = (model.layers - model.window_layers) * sequence * share
    if not model.window_layers:
        return full
    seen = min(float(model.window), sequence * share) if model.window else sequence * share
    return full + model.window_layers * seen


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
