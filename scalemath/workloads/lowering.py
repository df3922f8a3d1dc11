"""A transformer reduced to the few numbers per layer that time and memory need."""

from __future__ import annotations

from typing import NamedTuple

from scalemath.workloads.transformer import Gemm, Transformer


class LayerNumbers(NamedTuple):
    """Means over the layers of a model; widths in elements per token, weights in elements.

    Attributes
    ----------
    layers, hidden, heads, vocabulary : float
        As in the model.
    head_width : float
        Query-key plus value size of a head.
    linear_weights : float
        Weights of the products every token passes: attention, dense block, router, shared.
    width_sharded, width_whole : float
        Columns read and written by those products that tensor parallelism splits, and does not.
    expert_active_weights, expert_stored_weights : float
        Weights of the routed experts one token uses, and of all of them.
    expert_width : float
        Columns read and written by the routed experts of a token.
    ffn_width, expert_ffn_width : float
        Inner columns of the dense and shared blocks, and of the routed experts of a token.
    query_width, kv_width : float
        Columns of queries and outputs, and of keys plus values.
    routed_tokens : float
        Copies of a token that experts receive.
    last_gemm_share : float
        Share of the layer's operations in the product that comes last.
    layer_parameters, expert_parameters : float
        Parameters outside and inside the routed experts.
    embedding_parameters, output_parameters : float
        Parameters of the embedding and of the output layer.
    """

    layers: float
    hidden: float
    heads: float
    vocabulary: float
    head_width: float
    linear_weights: float
    width_sharded: float
    width_whole: float
    expert_active_weights: float
    expert_stored_weights: float
    expert_width: float
    ffn_width: float
    expert_ffn_width: float
    query_width: float
    kv_width: float
    routed_tokens: float
    last_gemm_share: float
    layer_parameters: float
    expert_parameters: float
    embedding_parameters: float
    output_parameters: float


def _widths(gemms: tuple[Gemm, ...]) -> tuple[float, float]:
    """Columns a tensor group splits, and those it does not."""
    sharded = whole = 0.0
    for gemm in gemms:
        if gemm.split == "columns":
            sharded += gemm.columns
            whole += gemm.inner
        elif gemm.split == "inner":
            sharded += gemm.inner
            whole += gemm.columns
        else:
            whole += gemm.columns + gemm.inner
    return sharded, whole


def layer_numbers(model: Transformer, pipeline: int = 1) -> LayerNumbers:
    """Reduce a model to means over its layers.

    Parameters
    ----------
    model : Transformer
        The architecture.
    pipeline : int
        Stages; with more than one the means are over the last, which sets the pace when the
        first layers are dense and the others hold experts.

    Returns
    -------
    LayerNumbers
        Floats a kernel can take.
    """
    held = model.layers / pipeline
    dense_share = max(0.0, held - model.expert_layers) / held if model.experts else 1.0
    expert_share = 1.0 - dense_share
    groups = [(1.0, model.attention_gemms())]
    if dense_share:
        groups.append((dense_share, model.dense_gemms()))
    if expert_share:
        groups.append((expert_share, model.always_gemms()))
    weights = sharded = whole = 0.0
    for share, gemms in groups:
        weights += share * sum(gemm.weights for gemm in gemms)
        split, full = _widths(gemms)
        sharded += share * split
        whole += share * full
    routed = model.expert_gemms() if expert_share else ()
    active = expert_share * sum(gemm.used * gemm.weights for gemm in routed)
    stored = expert_share * sum(gemm.stored * gemm.weights for gemm in routed)
    touched = expert_share * sum(gemm.used * (gemm.columns + gemm.inner) for gemm in routed)
    last = model.hidden * (
        dense_share * model.ffn
        + expert_share * model.expert_ffn * (model.experts_per_token + model.shared_experts)
    )
    blocks = dense_share * model.ffn
    blocks += expert_share * model.expert_ffn * model.shared_experts
    outside = model.attention_parameters
    dense = model.ffn_parameters(model.ffn) if dense_share else 0
    return LayerNumbers(
        layers=float(model.layers),
        hidden=float(model.hidden),
        heads=float(model.heads),
        vocabulary=float(model.vocabulary),
        head_width=float(model.query_key_size + model.value_head_size),
        linear_weights=weights,
        width_sharded=sharded,
        width_whole=whole,
        expert_active_weights=active,
        expert_stored_weights=stored,
        expert_width=touched,
        ffn_width=blocks,
        expert_ffn_width=expert_share * model.expert_ffn * model.experts_per_token,
        query_width=float(model.heads * model.query_key_size),
        kv_width=float(
            (model.heads if model.latent else model.kv_heads)
            * (model.query_key_size + model.value_head_size)
        ),
        routed_tokens=expert_share * model.experts_per_token,
        last_gemm_share=last / (weights + active),
        layer_parameters=outside + dense_share * dense + expert_share * model.always_parameters,
        expert_parameters=expert_share * model.experts * model.expert_parameters,
        embedding_parameters=float(model.embedding_parameters),
        output_parameters=float(model.vocabulary * model.hidden),
    )
