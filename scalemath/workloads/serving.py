"""Serving a model: time per output token, prompt time, throughput, nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.dtypes import data_type
from scalemath.core.kernel import kernel_of
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels.allreduce import allreduce_ring
from scalemath.kernels.memory import cache_share
from scalemath.kernels.serving import (
    decode_step,
    decode_traffic,
    nodes_for_requests,
)
from scalemath.scaling.laws import step
from scalemath.units import display, quantities
from scalemath.workloads.flops import forward_flops_per_token
from scalemath.workloads.transformer import Transformer


@frozen(kw_only=True, eq=False)
class Decode(Result):
    """One decode step of a batch.

    Attributes
    ----------
    given, outputs : mapping of str to float
        Arguments and everything the model computed, in SI units.
    """

    given: Mapping[str, Any] = field(repr=False)
    outputs: Mapping[str, float] = field(repr=False)

    @measured("s")
    def time_per_token(self) -> float:
        """Time between two tokens of a request."""
        return self.outputs["time"]

    @measured("s")
    def communication(self) -> float:
        """Part of it that collectives take."""
        return self.outputs["time.communication"]

    @measured("Hz")
    def step_rate(self) -> float:
        """Decode steps per second."""
        return 1.0 / self.outputs["time"]

    @measured("token/s")
    def token_rate(self) -> float:
        """Tokens per second over the batch."""
        return self.given["batch"] / self.outputs["time"]  # type: ignore[no-any-return]

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {p.name: (self.given[p.name], p.unit) for p in decode.parameters}

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Devices and collectives."""
        return {
            "device": (self.outputs["time.device"], "s"),
            "communication": (self.outputs["time.communication"], "s"),
        }

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(decode_step)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        return (
            f"decode: {display(self.outputs['time'], 's')} per token, "
            f"{self.si('token_rate'):.6g} token/s at batch {self.given['batch']:g}"
        )


@quantities(
    step("moved", decode_traffic, "byte"),
    Step(
        "collective",
        {"": kernel_of(allreduce_ring)},
        "s",
        rename={"size": "collective_size", "ranks": "devices"},
    ),
    step("time", decode_step, "s"),
    output="time",
    weight_bytes="byte > 0",
    devices="count >= 1",
    memory_bandwidth="byte/s > 0",
    batch="count >= 1",
    context_tokens="count",
    kv_bytes_per_token="byte",
    flops_per_token="flop",
    peak="flop/s > 0 optional",
    collective_size="byte",
    collectives="count",
    bandwidth="byte/s/dir > 0 optional",
    latency="s",
    reduction_rate="byte/s > 0 optional",
)
def decode(
    *,
    weight_bytes: float,
    devices: float,
    memory_bandwidth: float,
    batch: float = 1.0,
    context_tokens: float = 0.0,
    kv_bytes_per_token: float = 0.0,
    flops_per_token: float = 0.0,
    peak: float = math.inf,
    collective_size: float = 0.0,
    collectives: float = 0.0,
    bandwidth: float = math.inf,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
    assumed: tuple[str, ...] = (),
) -> Decode:
    """Time of one output token for every request of a batch, by the roofline.

    Parameters
    ----------
    weight_bytes : Quantity [byte]
        Weights that a step reads, all of them on all devices.
    devices : int
        Devices that share the weights (a tensor group).
    memory_bandwidth : Quantity [byte/s]
        Memory rate of one device.
    batch : int
        Requests decoded together.
    context_tokens : int
        Tokens each request has in its cache.
    kv_bytes_per_token : Quantity [byte]
        Cache of one token over all layers.
    flops_per_token : Quantity [flop]
        Operations of one token.
    peak : Quantity [flop/s]
        Dense rate of one device.
    collective_size : Quantity [byte]
        Buffer of one allreduce over the devices.
    collectives : int
        Allreduces of a step, two per layer with tensor parallelism.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of a device's port per direction.
    latency : Quantity [s]
        One-way time of an empty message.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one device.

    Returns
    -------
    Decode
        Time per token with its terms, rates of steps and tokens.

    Examples
    --------
    >>> from scalemath.workloads import decode
    >>> result = decode(weight_bytes="70 GB", devices=8, memory_bandwidth="1.792 TB/s")
    >>> print(f"{result.step_rate.m_as('1/s'):.4f} steps/s")
    204.8000 steps/s
    """
    given: dict[str, float | str] = {
        "weight_bytes": weight_bytes,
        "devices": devices,
        "memory_bandwidth": memory_bandwidth,
        "batch": batch,
        "context_tokens": context_tokens,
        "kv_bytes_per_token": kv_bytes_per_token,
        "flops_per_token": flops_per_token,
        "peak": peak,
        "collective_size": collective_size,
        "collectives": collectives,
        "bandwidth": bandwidth,
        "latency": latency,
        "reduction_rate": reduction_rate,
    }
    kept = [text for text in assumed if not text.startswith(("flops", "kv", "collective"))]
    if not flops_per_token:
        kept.append("bound by memory traffic, arithmetic left out")
    if not context_tokens:
        kept.append("key-value cache left out")
    if not collectives:
        kept.append("no collectives between the devices")
    return Decode(given=given, outputs=decode.model.evaluate(given), assumptions=tuple(kept))


def decode_arguments(
    transformer: Transformer,
    *,
    devices: int,
    batch: int,
    context_tokens: int,
    weights: str = "bf16",
    cache: str = "bf16",
    activations: str = "bf16",
) -> dict[str, Any]:
    """Arguments of `decode` that follow from an architecture.

    Parameters
    ----------
    transformer : Transformer
        What is served.
    devices : int
        Devices of the tensor group.
    batch, context_tokens : int
        Requests decoded together, and tokens in the cache of each.
    weights, cache, activations : str
        Data types.

    Returns
    -------
    dict
        Weights, cache, operations and collectives; the devices' rates are still to be given.
        Of a mixture the experts a batch touches are read, at most all of them.
    """
    model = transformer
    read = float(model.parameters)
    if model.experts:
        missed = (1.0 - model.experts_per_token / model.experts) ** batch
        touched = model.experts * (1.0 - missed)
        read -= model.expert_layers * (model.experts - touched) * model.expert_parameters
    bits = data_type(activations).bytes_per_element
    return {
        "devices": devices,
        "batch": batch,
        "context_tokens": context_tokens,
        "weight_bytes": f"{read * data_type(weights).bytes_per_element!r} byte",
        "kv_bytes_per_token": f"{cached_bytes(model, devices, cache)!r} byte",
        "flops_per_token": f"{forward_flops_per_token(model, context_tokens)!r} FLOP",
        "collective_size": f"{batch * model.hidden * bits!r} byte",
        "collectives": 2 * model.layers if devices > 1 else 0,
    }


def cached_bytes(model: Transformer, devices: int, cache: str) -> float:
    """Cache of a token over all layers and devices [byte].

    More devices than key-value heads keep copies; a latent cache is kept whole on each.
    """
    copies = devices * cache_share(float(devices), float(model.kv_heads), float(model.latent))
    return model.kv_values_per_token * data_type(cache).bytes_per_element * copies


@frozen(kw_only=True, eq=False)
class Fleet(Result):
    """Nodes that serve a rate of requests."""

    request_rate: float
    tokens_per_request: float
    node_token_rate: float

    @measured("1")
    def nodes(self) -> float:
        """Whole nodes, rounded up, without spare capacity."""
        return nodes_for_requests(self.request_rate, self.tokens_per_request, self.node_token_rate)

    @measured("token/s")
    def token_rate(self) -> float:
        """Tokens per second that all requests together ask for."""
        return self.request_rate * self.tokens_per_request

    @measured("request/s")
    def node_request_rate(self) -> float:
        """Requests per second that one node serves."""
        return self.node_token_rate / self.tokens_per_request

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(nodes_for_requests)
        return record.formula, record.source


@quantities(
    step("nodes", nodes_for_requests),
    request_rate="request/s > 0",
    tokens_per_request="token/request > 0",
    node_token_rate="token/s > 0",
)
def fleet(request_rate: float, *, tokens_per_request: float, node_token_rate: float) -> Fleet:
    """Nodes that serve a rate of requests.

    Parameters
    ----------
    request_rate : Quantity [request/s]
        Requests that arrive.
    tokens_per_request : Quantity [token/request]
        Output tokens of a request.
    node_token_rate : Quantity [token/s]
        Output tokens a node makes.

    Returns
    -------
    Fleet
        Nodes, rounded up, and the rates behind them.

    Examples
    --------
    >>> from scalemath.workloads import fleet
    >>> found = fleet("1e5 request/s", tokens_per_request="200 token/request",
    ...               node_token_rate="500 token/s")
    >>> print(f"{found.nodes:.0f} nodes of {found.node_request_rate:.3g~P}")
    40000 nodes of 2.5 request/s
    """
    return Fleet(
        request_rate=request_rate,
        tokens_per_request=tokens_per_request,
        node_token_rate=node_token_rate,
        assumptions=("load spread evenly, no spare nodes",),
    )
