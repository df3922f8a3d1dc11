"""Transformer architectures: exact parameter counts and the matrix products of a layer."""

from __future__ import annotations

from typing import NamedTuple

import attrs
from attrs import field

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.hardware.fields import frozen


class Gemm(NamedTuple):
    """One matrix product: rows are tokens, `columns` outputs, `inner` inputs.

    `split` says which side tensor parallelism divides: "columns", "inner" or "none"; `used`
    how many of them a token passes (routed experts), `stored` how many a layer holds.
    """

    name: str
    columns: int
    inner: int
    split: str
    used: int = 1
    stored: int = 1

    @property
    def weights(self) -> int:
        """Weights of one of them."""
        return self.columns * self.inner


def _count(default: int | None = None, low: int = 0) -> int:
    """Return the attrs field of a whole number."""

    def check(_: object, this: attrs.Attribute[int], value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ArgumentError(f"{this.name} is {str(value)[:80]}; a count is a whole number")
        if value < low:
            raise RangeError(f"{this.name} is {value}; wanted at least {low}")

    if default is None:
        return field(validator=check)
    return field(default=default, validator=check)


@frozen(kw_only=True)
class Transformer:
    """A decoder-only transformer.

    Attributes
    ----------
    name : str
        Name of the model.
    layers, hidden, heads, vocabulary : int
        Layers, width of the residual stream, query heads, rows of the embedding.
    ffn : int
        Inner width of a dense feed-forward block.
    kv_heads : int
        Key-value heads; 0 means as many as `heads`.
    head_size, value_head_size : int
        Size of a query-key and of a value head; 0 means hidden / heads and `head_size`.
    gated : bool
        Three matrices with a gate (SwiGLU) instead of two.
    tied_embeddings : bool
        Output layer shares the embedding.
    attention_bias, output_bias, ffn_bias : bool
        Biases on the query, key and value products, on the attention output, on the
        feed-forward products.
    norm : str
        "rmsnorm" (one vector) or "layernorm" (two vectors).
    norm_bias : bool
        Whether a layer norm has its second vector.
    norms_per_layer : int
        Norms on the residual stream of a layer.
    qk_norm : bool
        A norm of the size of a head on queries and keys.
    sinks : bool
        One learned attention sink per head.
    positions : int
        Rows of a learned position embedding; 0 when there is none.
    experts, experts_per_token, expert_ffn : int
        Routed experts of a layer, those a token uses, their inner width; 0 experts is dense.
    shared_experts : int
        Experts every token uses, of width `expert_ffn` each.
    shared_gate : bool
        A gate vector on the shared experts.
    router_bias : bool
        One bias per expert in the router.
    redundant_experts : int
        Copies of busy experts kept beside the routed ones; expert groups divide the sum.
    dense_layers : int
        First layers that keep a dense block in a mixture of experts.
    expert_node_limit : int
        Nodes a token may be sent to; 0 when unlimited.
    query_rank, kv_rank, rope_size : int
        Multi-head latent attention: ranks of the compressed query (0: not compressed) and
        key-value, and size of the decoupled position part; `kv_rank` 0 is ordinary attention.
    window : int
        Keys a sliding-window layer sees; 0 when all layers are full.
    window_layers : int
        Layers that use the window.
    """

    name: str = "transformer"
    layers: int = _count(low=1)
    hidden: int = _count(low=1)
    heads: int = _count(low=1)
    ffn: int = _count(0)
    vocabulary: int = _count(low=1)
    kv_heads: int = _count(0)
    head_size: int = _count(0)
    value_head_size: int = _count(0)
    gated: bool = True
    tied_embeddings: bool = False
    attention_bias: bool = False
    output_bias: bool = False
    ffn_bias: bool = False
    norm: str = "rmsnorm"
    norm_bias: bool = True
    norms_per_layer: int = _count(2)
    qk_norm: bool = False
    sinks: bool = False
    positions: int = _count(0)
    experts: int = _count(0)
    experts_per_token: int = _count(0)
    expert_ffn: int = _count(0)
    shared_experts: int = _count(0)
    shared_gate: bool = False
    router_bias: bool = False
    redundant_experts: int = _count(0)
    dense_layers: int = _count(0)
    expert_node_limit: int = _count(0)
    query_rank: int = _count(0)
    kv_rank: int = _count(0)
    rope_size: int = _count(0)
    window: int = _count(0)
    window_layers: int = _count(0)

    def __attrs_post_init__(self) -> None:
        if self.norm not in ("rmsnorm", "layernorm"):
            raise RangeError(f"norm {self.norm!r}: write 'rmsnorm' or 'layernorm'")
        if not self.kv_heads:
            object.__setattr__(self, "kv_heads", self.heads)
        if not self.head_size:
            if self.hidden % self.heads:
                raise ContradictionError(
                    f"hidden {self.hidden} is not a multiple of heads {self.heads}; give head_size"
                )
            object.__setattr__(self, "head_size", self.hidden // self.heads)
        if not self.value_head_size:
            object.__setattr__(self, "value_head_size", self.head_size)
        if self.heads % self.kv_heads:
            raise ContradictionError(
                f"heads {self.heads} is not a multiple of kv_heads {self.kv_heads}"
            )
        if self.experts and not 1 <= self.experts_per_token <= self.experts:
            raise RangeError(
                f"experts_per_token {self.experts_per_token}: of {self.experts} experts a token "
                "uses at least one and at most all"
            )
        if self.experts and not self.expert_ffn:
            raise RangeError("a mixture of experts needs expert_ffn, the width of one expert")
        if not self.experts and not self.ffn:
            raise RangeError("a dense model needs ffn, the inner width of its block")
        if self.dense_layers and self.dense_layers < self.layers and not self.ffn:
            raise RangeError("dense_layers needs ffn, the inner width of their block")

    @property
    def latent(self) -> bool:
        """Whether attention is multi-head latent attention."""
        return self.kv_rank > 0

    @property
    def query_key_size(self) -> int:
        """Size of a query-key head as the scores see it."""
        return self.head_size + self.rope_size if self.latent else self.head_size

    @property
    def stored_experts(self) -> int:
        """Experts a layer keeps, redundant copies included."""
        return self.experts + self.redundant_experts

    @property
    def expert_layers(self) -> int:
        """Layers with routed experts."""
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def plain_layers(self) -> int:
        """Layers with a dense feed-forward block."""
        return self.layers - self.expert_layers

    def attention_gemms(self) -> tuple[Gemm, ...]:
        """Matrix products of the attention of a layer."""
        out = Gemm("attention output", self.hidden, self.heads * self.value_head_size, "inner")
        if not self.latent:
            query = self.heads * self.head_size
            keys = self.kv_heads * (self.head_size + self.value_head_size)
            return (Gemm("query key value", query + keys, self.hidden, "columns"), out)
        wide = self.heads * (self.head_size + self.rope_size)
        both = self.heads * (self.head_size + self.value_head_size)
        queries = (
            (
                Gemm("query down", self.query_rank, self.hidden, "none"),
                Gemm("query up", wide, self.query_rank, "columns"),
            )
            if self.query_rank
            else (Gemm("query", wide, self.hidden, "columns"),)
        )
        return (
            *queries,
            Gemm("key value down", self.kv_rank + self.rope_size, self.hidden, "none"),
            Gemm("key value up", both, self.kv_rank, "columns"),
            out,
        )

    def dense_gemms(self) -> tuple[Gemm, ...]:
        """Matrix products of a dense feed-forward block."""
        return self._block("feed-forward", self.ffn)

    def expert_gemms(self) -> tuple[Gemm, ...]:
        """Matrix products of the routed experts of a layer."""
        return self._block("expert", self.expert_ffn, self.experts_per_token, self.experts)

    def always_gemms(self) -> tuple[Gemm, ...]:
        """Matrix products of router and shared experts of a layer."""
        router = Gemm("router", self.experts, self.hidden, "none")
        if not self.shared_experts:
            return (router,)
        return (router, *self._block("shared expert", self.expert_ffn * self.shared_experts))

    def _block(self, name: str, width: int, used: int = 1, stored: int = 1) -> tuple[Gemm, ...]:
        columns = 2 * width if self.gated else width
        return (
            Gemm(f"{name} up", columns, self.hidden, "columns", used, stored),
            Gemm(f"{name} down", self.hidden, width, "inner", used, stored),
        )

    def gemms(self) -> tuple[Gemm, ...]:
        """Matrix products of a layer, of an expert layer when the model has them."""
        if self.experts:
            return (*self.attention_gemms(), *self.always_gemms(), *self.expert_gemms())
        return (*self.attention_gemms(), *self.dense_gemms())

    @property
    def vector_parameters(self) -> int:
        """Parameters of a layer outside matrix products: norms, attention biases, sinks."""
        vectors = 2 if self.norm == "layernorm" and self.norm_bias else 1
        count = self.norms_per_layer * vectors * self.hidden
        if self.qk_norm:
            count += self.query_key_size + self.head_size
        if self.sinks:
            count += self.heads
        if self.latent:
            count += self.query_rank + self.kv_rank
        if self.attention_bias:
            count += self.heads * self.head_size
            count += self.kv_heads * (self.head_size + self.value_head_size)
        if self.output_bias:
            count += self.hidden
        return count

    @property
    def attention_parameters(self) -> int:
        """Parameters of a layer outside its feed-forward block."""
        return sum(g.weights for g in self.attention_gemms()) + self.vector_parameters

    def ffn_parameters(self, width: int) -> int:
        """Parameters of a feed-forward block of this inner width."""
        matrices = (3 if self.gated else 2) * self.hidden * width
        return matrices + ((2 if self.gated else 1) * width + self.hidden) * self.ffn_bias

    @property
    def expert_parameters(self) -> int:
        """Parameters of one routed expert."""
        return self.ffn_parameters(self.expert_ffn)

    @property
    def always_parameters(self) -> int:
        """Parameters of router and shared experts of an expert layer."""
        count = self.experts * (self.hidden + self.router_bias)
        count += self.shared_gate * self.hidden
        if self.shared_experts:
            count += self.ffn_parameters(self.expert_ffn * self.shared_experts)
        return count

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the token and position embeddings."""
        return (self.vocabulary + self.positions) * self.hidden

    @property
    def output_parameters(self) -> int:
        """Parameters of the output layer, none when it shares the embedding."""
        return 0 if self.tied_embeddings else self.vocabulary * self.hidden

    @property
    def final_norm_parameters(self) -> int:
        """Parameters of the norm behind the last layer."""
        return self.hidden * (2 if self.norm == "layernorm" and self.norm_bias else 1)

    def _total(self, experts_counted: int) -> int:
        dense = self.plain_layers * self.ffn_parameters(self.ffn) if self.plain_layers else 0
        routed = self.expert_layers * (
            self.always_parameters + experts_counted * self.expert_parameters
        )
        return (
            self.embedding_parameters
            + self.layers * self.attention_parameters
            + dense
            + routed
            + self.final_norm_parameters
            + self.output_parameters
        )

    @property
    def parameters(self) -> int:
        """All parameters."""
        return self._total(self.experts)

    @property
    def active_parameters(self) -> int:
        """Parameters one token uses, embedding and output layer included."""
        return self._total(self.experts_per_token)

    @property
    def kv_values_per_token(self) -> int:
        """Values the key-value cache keeps for a token over all layers."""
        if self.latent:
            return self.layers * (self.kv_rank + self.rope_size)
        return self.layers * self.kv_heads * (self.head_size + self.value_head_size)
