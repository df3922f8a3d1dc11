"""Memory of serving: weights by class of tensor, key-value cache, workspaces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scalemath.core.dtypes import DataType, data_type
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.kernels.memory import (
    cache_bytes,
    cache_share,
    weight_bytes,
    whole_units_that_fit,
)
from scalemath.kernels.training_memory import saved_activations
from scalemath.scaling.laws import step
from scalemath.units import Quantity, display, quantities, quantity
from scalemath.workloads.memory_budget import (
    MemoryBudget,
    MemoryLine,
    on_device,
    overhead_lines,
    with_margin,
)
from scalemath.workloads.memory_overhead import SERVING_OVERHEAD
from scalemath.workloads.memory_recipes import GROUPS, Tensor, parameter_tensors
from scalemath.workloads.transformer import Transformer

Formats = str | DataType | Mapping[str, str]
"""One data type, or one by class of tensor with "default" for the rest."""


def formats_by_group(weights: Formats) -> dict[str, DataType]:
    """Return the data type of every class of tensor."""
    if not isinstance(weights, Mapping):
        return dict.fromkeys(GROUPS, data_type(weights))
    unknown = sorted(set(weights) - {*GROUPS, "default"})
    if unknown:
        raise ArgumentError(
            f"weights name {', '.join(unknown)}; classes are {', '.join(GROUPS)} and default"
        )
    if missing := [g for g in GROUPS if g not in weights and "default" not in weights]:
        raise ArgumentError(f"weights say nothing of {', '.join(missing)}; add default='bf16'")
    return {g: data_type(weights.get(g, weights.get("default", "bf16"))) for g in GROUPS}


def model_bytes(model: Transformer, weights: Formats) -> float:
    """Return the bytes of all weights of a model, stored once."""
    formats = formats_by_group(weights)
    return sum(
        weight_bytes(float(t.elements), formats[t.group].bits_per_element, 1.0)
        for t in parameter_tensors(model)
    )


def request_cache(model: Transformer, tokens: float, cache: str, page_tokens: float = 1.0) -> float:
    """Return the bytes of the cache of one request, stored once."""
    return cache_bytes(
        tokens,
        model.kv_values_per_token / model.layers,
        float(model.layers),
        float(model.window_layers if model.window else 0),
        float(model.window),
        data_type(cache).bytes_per_element,
        page_tokens,
    )


@quantities(parameters="number >= 0", ranks="count >= 1")
def weight_size(parameters: float, weights: Any = "bf16", *, ranks: float = 1.0) -> Quantity:
    """Bytes of weights.

    Parameters
    ----------
    parameters : float
        Parameters [1].
    weights : str or DataType
        Data type such as "fp8", "int4", "nf4" or "mxfp4"; scales of blocks are counted.
    ranks : int
        Ranks that share them evenly [count].

    Returns
    -------
    Quantity [byte]
        Bytes on one of the ranks.

    Examples
    --------
    >>> from scalemath.workloads import weight_size
    >>> print(weight_size(405e9, "fp8", ranks=16).to("GB"))
    25.3125 GB
    """
    return quantity(weight_bytes(parameters, data_type(weights).bits_per_element, ranks), "byte")


@quantities(context_tokens="count >= 1", requests="count >= 1", page_tokens="count >= 1")
def kv_cache_size(
    transformer: Transformer,
    context_tokens: float = 1.0,
    *,
    requests: float = 1.0,
    cache: str = "bf16",
    page_tokens: float = 1.0,
) -> Quantity:
    """Bytes of the key-value cache over all layers, each value stored once.

    Parameters
    ----------
    transformer : Transformer
        Architecture: grouped heads, latent attention and windows are counted.
    context_tokens : int
        Tokens of a request [count]; 1 gives the bytes of a token.
    requests : int
        Requests in the cache [count].
    cache : str
        Data type of the cache.
    page_tokens : int
        Tokens of a page; contexts are rounded up to whole pages [count].

    Returns
    -------
    Quantity [byte]
        Bytes, without the copies that a wide tensor group makes.

    Examples
    --------
    >>> from scalemath.workloads import Transformer, kv_cache_size
    >>> model = Transformer(layers=126, hidden=16384, heads=128, kv_heads=8, ffn=53248,
    ...                     vocabulary=128256)
    >>> print(kv_cache_size(model))
    516096 B
    """
    one = request_cache(transformer, context_tokens, cache, page_tokens)
    return quantity(requests * one, "byte")


@frozen(kw_only=True, eq=False)
class CacheRoom(Result):
    """What a piece of memory holds of a key-value cache.

    Attributes
    ----------
    room, each : float
        Memory, and bytes of a token [byte].
    context : float
        Tokens of a context [1].
    """

    room: float
    each: float
    context: float

    @measured("1")
    def tokens(self) -> float:
        """Whole tokens."""
        return whole_units_that_fit(self.room, 0.0, 0.0, self.each)

    @measured("1")
    def contexts(self) -> float:
        """Contexts, as a continuous number."""
        return self.room / (self.each * self.context)

    @measured("1")
    def requests(self) -> float:
        """Whole contexts."""
        return whole_units_that_fit(self.room, 0.0, 0.0, self.each * self.context)

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Memory, bytes of a token, context."""
        return {
            "room": (self.room, "byte"),
            "kv_per_token": (self.each, "byte"),
            "context_tokens": (self.context, "1"),
        }

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(whole_units_that_fit)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{display(self.room, 'byte')} hold {self.tokens:.0f} whole tokens, "
            f"{self.contexts:.6g} contexts of {self.context:.0f}"
        )


@quantities(
    step("tokens", whole_units_that_fit, capacity="room", held="held", reserve="headroom",
         each="kv_per_token"),
    room="byte >= 0",
    kv_per_token="byte > 0",
    context_tokens="count >= 1",
    held="byte >= 0",
    headroom="number >= 0 < 1",
)  # fmt: skip
def cache_room(
    room: float,
    *,
    kv_per_token: float,
    context_tokens: float = 1.0,
    held: float = 0.0,
    headroom: float = 0.0,
    assumed: tuple[str, ...] = (),
) -> CacheRoom:
    """Tokens and contexts that a piece of memory holds.

    Parameters
    ----------
    room : Quantity [byte]
        Memory of all devices together.
    kv_per_token : Quantity [byte]
        Cache of one token over all layers.
    context_tokens : int
        Tokens of a context [count].
    held : Quantity [byte]
        What already lies there, such as weights.
    headroom : float
        Share of the memory kept free [1].

    Returns
    -------
    CacheRoom
        Whole tokens, contexts as a continuous number, whole requests.

    Examples
    --------
    >>> from scalemath.workloads import cache_room
    >>> print(cache_room("363 GB", kv_per_token="516096 byte", context_tokens=8192))
    363 GB hold 703357 whole tokens, 85.8591 contexts of 8192
    """
    kept = tuple(text for text in assumed if not text.startswith("held"))
    left = max(0.0, room * (1.0 - headroom) - held)
    return CacheRoom(room=left, each=kv_per_token, context=context_tokens, assumptions=kept)


@quantities(
    context_tokens="count >= 1",
    requests="count >= 1",
    tensor="count >= 1",
    pipeline="count >= 1",
    expert="count >= 1",
    page_tokens="count >= 1",
    prompt_chunk="count >= 1",
    margin="number >= 0 < 1",
)
def serving_memory(
    transformer: Transformer,
    *,
    context_tokens: float,
    requests: float = 1.0,
    tensor: float = 1.0,
    pipeline: float = 1.0,
    expert: float = 1.0,
    weights: Formats = "bf16",
    cache: str = "bf16",
    page_tokens: float = 16.0,
    prompt_chunk: float = 8192.0,
    overhead: Mapping[str, Any] = SERVING_OVERHEAD,
    margin: float = 0.0,
    device: Any = None,
) -> MemoryBudget:
    """Memory of one device that serves a model, the fullest of its group.

    Parameters
    ----------
    transformer : Transformer
        What is served.
    context_tokens : int
        Tokens each request has in its cache [count].
    requests : int
        Requests at the same time [count].
    tensor, pipeline, expert : int
        Ranks that share a layer, stages, and ranks that share the experts [count]; experts
        follow the tensor group when `expert` is 1.
    weights : str or mapping
        Data type, or one by class of tensor with "default" for the rest, such as
        ``{"experts": "mxfp4", "default": "bf16"}``.
    cache : str
        Data type of the cache.
    page_tokens : int
        Tokens of a page of the cache [count].
    prompt_chunk : int
        Prompt tokens processed at once [count].
    overhead : mapping of str to Datum or Quantity
        What the runtime takes on a device.
    margin : float
        Share added for fragmentation [1].
    device : Accelerator, Quantity or str
        What it is set against.

    Returns
    -------
    MemoryBudget
        Every line, their sum, and what is left.

    Examples
    --------
    >>> from scalemath.workloads import Transformer, serving_memory
    >>> model = Transformer(name="8B", layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336,
    ...                     vocabulary=128256)
    >>> budget = serving_memory(model, context_tokens=8192, requests=16, device="80 GB")
    >>> budget.fits
    True
    """
    model = transformer
    if pipeline > model.layers:
        raise RangeError(f"serving_memory: {model.name} has {model.layers} layers, pipeline is "
                         f"{pipeline:.0f}")  # fmt: skip
    formats = formats_by_group(weights)
    lines = _weight_lines(model, formats, tensor, pipeline, expert)
    held = math.ceil(model.layers / pipeline) / model.layers
    share = cache_share(tensor, float(model.kv_heads), float(model.latent))
    one = request_cache(model, context_tokens, cache, page_tokens)
    how = (
        f"{requests:.0f} x {context_tokens:.0f} tokens, {data_type(cache).name}, pages of "
        f"{page_tokens:.0f}, {100 * share:.4g} % on each of {tensor:.0f} ranks"
    )
    lines.append(MemoryLine("cache", "key-value cache", requests * one * share * held, how))
    lines.append(_workspace(model, tensor, min(prompt_chunk, context_tokens * requests), requests))
    lines += overhead_lines(overhead, int(tensor * pipeline))
    total = int(tensor * pipeline)
    budget = MemoryBudget(
        subject=f"{model.name} served on {total} device{'s' * (total > 1)}",
        lines=with_margin(lines, margin),
        assumptions=_assumed(model, weights, tensor),
    )
    return budget if device is None else on_device(budget, device)


def _split(tensor: Tensor, model: Transformer, ranks: float, expert: float) -> float:
    """Share of a kind of tensor on one rank of a tensor group."""
    if tensor.group in ("vectors", "router"):
        return 1.0
    if tensor.group == "experts":
        return 1.0 / max(ranks, expert)
    if tensor.name in ("key", "value"):
        return cache_share(ranks, float(model.kv_heads), 0.0)
    whole = {gemm.name for gemm in model.attention_gemms() if gemm.split == "none"}
    return 1.0 if tensor.name in whole else 1.0 / ranks


def _weight_lines(
    model: Transformer, formats: dict[str, DataType], tensor: float, pipeline: float, expert: float
) -> list[MemoryLine]:
    """Lines of the weights by class, on the fullest stage."""
    stage = math.ceil(model.layers / pipeline) / model.layers
    sizes: dict[str, float] = {}
    for kind in parameter_tensors(model):
        bits = formats[kind.group].bits_per_element
        part = weight_bytes(float(kind.elements), bits, 1.0) * _split(kind, model, tensor, expert)
        inside = kind.group not in ("embedding", "output")
        sizes[kind.group] = sizes.get(kind.group, 0.0) + part * (stage if inside else 1.0)
    if pipeline > 1 and "output" in sizes:  # they sit on different stages
        smaller = min(("embedding", "output"), key=lambda group: sizes[group])
        del sizes[smaller]
    return [
        MemoryLine("weights", f"weights: {g}", size, formats[g].name) for g, size in sizes.items()
    ]


def _workspace(model: Transformer, tensor: float, tokens: float, requests: float) -> MemoryLine:
    """Line of what one layer and the output layer need while they run."""
    inner = max(
        (3.0 if model.gated else 2.0) * model.ffn if model.plain_layers else 0.0,
        3.0 * model.expert_ffn * (model.experts_per_token + model.shared_experts),
    )
    wide = 2.0 * max(inner, model.heads * (model.query_key_size + 2.0 * model.value_head_size))
    size = saved_activations(tokens, 6.0 * model.hidden, wide, 0.0, 0.0, tensor, 0.0)
    size += 4.0 * requests * model.vocabulary / tensor
    how = f"one layer for {tokens:.0f} tokens at 16 bit, logits of {requests:.0f} requests in fp32"
    return MemoryLine("activations", "workspace of a layer", size, how)


def _assumed(model: Transformer, weights: Formats, tensor: float) -> tuple[str, ...]:
    found = ["the fullest stage is shown; norms and router are on every rank"]
    if not isinstance(weights, Mapping):
        found.append("all weights in one data type, norms and embeddings as well")
    if model.latent:
        found.append("a latent cache is kept whole on every rank of the tensor group")
    elif tensor > model.kv_heads:
        found.append(f"{tensor:.0f} ranks share {model.kv_heads} key-value heads: copies, not less")
    return tuple(found)
