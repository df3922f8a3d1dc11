"""Memory of weights, caches, optimizers and adapters, and what a capacity holds of them."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.primitives import rounded_up

_SHAZEER = "Shazeer, Adafactor, ICML 2018, section 4"
_KWON = "Kwon et al., PagedAttention, SOSP 2023, section 4"
_HU = "Hu et al., LoRA, ICLR 2022, section 4"


@kernel(
    unit="byte",
    rises="parameters bits",
    falls="ranks",
    source="definition",
    formula="parameters bits / 8 / ranks",
)
def weight_bytes(parameters: float, bits: float, ranks: float) -> float:
    """Bytes [byte] of weights on one of the ranks that share them evenly."""
    return parameters * bits / 8.0 / ranks


@kernel(
    unit="1",
    rises="tokens",
    free="page_tokens",
    free_because="a longer page rounds some contexts up and leaves multiples of it alone",
    source=_KWON,
    formula="ceil(tokens / page_tokens) page_tokens",
)
def paged_tokens(tokens: float, page_tokens: float) -> float:
    """Tokens [1] of the whole pages that hold a context."""
    return math.ceil(tokens / page_tokens) * page_tokens


@kernel(
    unit="byte",
    rises="tokens values_per_layer layers bytes_per_value",
    free="window_layers window page_tokens",
    free_because="layers with a window keep less the more there are of them; a window of 0 is none",
    source=_KWON + "; a layer with a window keeps at most the window",
    formula="values_per_layer bytes_per_value ((layers - window_layers) paged(tokens) + "
    "window_layers min(paged(tokens), paged(window)))",
)
def cache_bytes(
    tokens: float,
    values_per_layer: float,
    layers: float,
    window_layers: float,
    window: float,
    bytes_per_value: float,
    page_tokens: float,
) -> float:
    """Bytes [byte] of the cache of one request over all layers, stored once."""
    full = paged_tokens(tokens, page_tokens)
    near = min(full, paged_tokens(window, page_tokens)) if window > 0.0 else full
    kept = (layers - window_layers) * full + window_layers * near
    return values_per_layer * bytes_per_value * kept


@kernel(
    unit="1",
    falls="tensor kv_heads",
    rises="latent",
    source="each rank keeps whole key-value heads; a latent cache has no heads to split",
    formula="1 for a latent cache, else max(1 / tensor, 1 / kv_heads)",
)
def cache_share(tensor: float, kv_heads: float, latent: float) -> float:
    """Share [1] of the cache that one rank of a tensor group keeps."""
    if latent > 0.5:
        return 1.0
    return max(1.0 / tensor, 1.0 / kv_heads)


@kernel(
    unit="1",
    rises="capacity",
    falls="held reserve each",
    source="definition",
    formula="floor((capacity (1 - reserve) - held) / each)",
)
def whole_units_that_fit(capacity: float, held: float, reserve: float, each: float) -> float:
    """Whole tokens, contexts or requests [1] that fit beside what is held."""
    left = capacity * (1.0 - reserve) - held
    if left <= 0.0:
        return 0.0
    if each <= 0.0:
        return math.inf
    return float(math.floor(left / each))


@kernel(
    unit="1",
    rises="held",
    falls="capacity",
    source="definition",
    formula="held / capacity",
)
def fill(held: float, capacity: float) -> float:
    """Share [1] of a capacity that something takes."""
    return held / capacity


@kernel(
    unit="1",
    rises="capacity share",
    falls="bits",
    source="definition",
    formula="capacity share 8 / bits",
)
def largest_parameters(capacity: float, share: float, bits: float) -> float:
    """Parameters [1] whose weights take this share of a capacity."""
    return capacity * share * 8.0 / bits


@kernel(
    unit="1",
    rises="state",
    falls="node_capacity share",
    source="definition",
    formula="ceil(state / (node_capacity share))",
)
def nodes_for_state(state: float, node_capacity: float, share: float) -> float:
    """Whole nodes [1] that hold a state when each is filled to this share at most."""
    return max(1.0, rounded_up(state / (node_capacity * share)))


@kernel(
    unit="1",
    rises="rank columns inner",
    source=_HU,
    formula="rank (columns + inner)",
)
def adapter_parameters(rank: float, columns: float, inner: float) -> float:
    """Parameters [1] of a low-rank adapter of one matrix."""
    return rank * (columns + inner)


@kernel(
    unit="byte",
    rises="matrix_elements other_elements factor_elements matrix_bytes other_bytes factor_bytes",
    source=_SHAZEER + "; elements of matrices, of everything else, and of rows plus columns",
    formula="matrix_elements matrix_bytes + factor_elements factor_bytes + other_elements "
    "other_bytes",
)
def optimizer_bytes(
    matrix_elements: float,
    other_elements: float,
    factor_elements: float,
    matrix_bytes: float,
    other_bytes: float,
    factor_bytes: float,
) -> float:
    """Bytes [byte] of optimizer states of a whole model."""
    return (
        matrix_elements * matrix_bytes
        + factor_elements * factor_bytes
        + other_elements * other_bytes
    )
