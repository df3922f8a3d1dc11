"""What follows from the time of a training step: rates, utilisation, device time, energy."""

from __future__ import annotations

from scalemath.core.kernel import kernel


@kernel(
    unit="1",
    rises="full_layers window_layers window share sequence",
    source="definition; of a causal mask half of the scores remain",
    formula="share sequence full_layers + min(window, share sequence) window_layers",
)
def attention_pairs(
    full_layers: float, window_layers: float, window: float, share: float, sequence: float
) -> float:
    """Keys [1] a token meets, summed over layers."""
    full = full_layers * sequence * share
    return full + window_layers * min(window, sequence * share)


@kernel(
    unit="flop",
    rises="products pairs width",
    source="two operations per weight that the token passes, and two per pair and column of "
    "scores and values",
    formula="flops = 2 products + 2 pairs width",
)
def forward_operations(products: float, pairs: float, width: float) -> float:
    """Operations [flop] of the forward pass for one token."""
    return 2.0 * products + pairs * 2.0 * width


@kernel(
    unit="token/s",
    rises="global_batch sequence",
    falls="time",
    source="definition",
    formula="global_batch sequence / time",
)
def step_token_rate(global_batch: float, sequence: float, time: float) -> float:
    """Tokens per time [token/s] over all ranks."""
    return global_batch * sequence / time


@kernel(
    unit="token/s",
    rises="token_rate",
    falls="ranks",
    source="definition",
    formula="token_rate / ranks",
)
def rate_per_rank(token_rate: float, ranks: float) -> float:
    """Tokens per time and device [token/s]."""
    return token_rate / ranks


@kernel(
    unit="1",
    rises="forward token_rate_per_rank",
    falls="peak",
    source="Chowdhery et al., PaLM (arXiv 2204.02311), appendix B; recomputation not counted",
    formula="3 forward token_rate_per_rank / peak",
)
def model_utilisation(forward: float, token_rate_per_rank: float, peak: float) -> float:
    """Model FLOPs per time over the peak [1]."""
    return 3.0 * forward * token_rate_per_rank / peak


@kernel(unit="s", rises="time ranks", source="definition", formula="time ranks")
def device_seconds(time: float, ranks: float) -> float:
    """Device time [s] of a step."""
    return time * ranks


@kernel(unit="J", rises="device_time power", source="definition", formula="device_time power")
def step_energy(device_time: float, power: float) -> float:
    """Energy [J] of a step."""
    return device_time * power
