"""Serving: one decode step, prefill, requests and nodes."""

from __future__ import annotations

from typing import NamedTuple

from scalemath.core.kernel import kernel
from scalemath.kernels.gemm import roofline_time
from scalemath.kernels.primitives import rounded_up

_ROOFLINE = "Pope et al., Efficiently Scaling Transformer Inference, MLSys 2023"


class DecodeTerms(NamedTuple):
    """Terms of one decode step [s]."""

    device: float
    communication: float


@kernel(
    unit="byte",
    rises="weight_bytes batch context_tokens kv_bytes_per_token",
    source=_ROOFLINE,
    formula="moved = weight_bytes + batch context_tokens kv_bytes_per_token",
)
def decode_traffic(
    weight_bytes: float, batch: float, context_tokens: float, kv_bytes_per_token: float
) -> float:
    """Bytes [byte] that one decode step reads: all weights, and the cache of every request."""
    return weight_bytes + batch * context_tokens * kv_bytes_per_token


@kernel(
    unit="s",
    rises="moved flops_per_token batch collective collectives",
    falls="devices memory_bandwidth peak",
    source=_ROOFLINE,
    formula="max(flops_per_token batch / (devices peak), moved / (devices memory_bandwidth)) "
    "+ collectives collective",
)
def decode_step(
    moved: float,
    flops_per_token: float,
    batch: float,
    devices: float,
    memory_bandwidth: float,
    peak: float,
    collective: float,
    collectives: float,
) -> DecodeTerms:
    """Time [s] of one token for every request of a batch."""
    share = 1.0 / devices
    work = roofline_time(flops_per_token * batch * share, moved * share, peak, memory_bandwidth)
    return DecodeTerms(work, collectives * collective)


@kernel(
    unit="s",
    rises="flops weight_bytes collective collectives",
    falls="devices peak utilisation memory_bandwidth",
    source=_ROOFLINE,
    formula="max(flops / (devices peak utilisation), weight_bytes / (devices memory_bandwidth)) "
    "+ collectives collective",
)
def prefill_time(
    flops: float,
    weight_bytes: float,
    devices: float,
    peak: float,
    utilisation: float,
    memory_bandwidth: float,
    collective: float,
    collectives: float,
) -> DecodeTerms:
    """Time [s] to read a prompt."""
    share = 1.0 / devices
    work = roofline_time(flops * share, weight_bytes * share, peak * utilisation, memory_bandwidth)
    return DecodeTerms(work, collectives * collective)


@kernel(
    unit="1",
    rises="request_rate tokens_per_request",
    falls="node_token_rate",
    source="definition",
    formula="nodes = request_rate tokens_per_request / node_token_rate, rounded up",
)
def nodes_for_requests(
    request_rate: float, tokens_per_request: float, node_token_rate: float
) -> float:
    """Nodes [1] that serve a rate of requests, spare capacity left out."""
    return rounded_up(request_rate * tokens_per_request / node_token_rate)
