"""Time of the collectives of one training step, on the tier their group sits on."""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.kernel import kernel

_RAMP = "alpha-beta line with a square-root ramp for pipelining, fitted to measured collectives"

_TIERS = "they decide on which network the group sits, and the two have different curves"


class GroupTerms(NamedTuple):
    """Terms of a collective over a group [s]."""

    latency: float
    bandwidth: float
    ramp: float


@kernel(
    unit="s",
    rises="moved_bytes startup ramp network_latency rounds",
    falls="bandwidth pair_factor nic_rate rails",
    free="ranks stride node_ranks",
    free_because=_TIERS,
    source=_RAMP,
    formula="inside a node: startup + moved_bytes / bandwidth + ramp sqrt(moved_bytes); across "
    "nodes: rounds log2(ranks) network_latency + moved_bytes / min(bandwidth, rails nic_rate)",
)
def group_collective(
    moved_bytes: float,
    ranks: float,
    stride: float,
    node_ranks: float,
    startup: float,
    bandwidth: float,
    pair_factor: float,
    ramp: float,
    nic_rate: float,
    rails: float,
    network_latency: float,
    rounds: float,
) -> GroupTerms:
    """Time [s] of a collective in which every rank moves `moved_bytes`.

    The group takes every `stride`-th rank. It stays on the scale-up network while ranks times
    stride fit into `node_ranks`; beyond it uses as many NICs of a node as it has members there,
    at most `rails`.
    """
    if ranks <= 1.0 or moved_bytes <= 0.0:
        return GroupTerms(0.0, 0.0, 0.0)
    if ranks * stride <= node_ranks:
        rate = bandwidth * pair_factor if ranks <= 2.0 else bandwidth
        return GroupTerms(startup, moved_bytes / rate, ramp * math.sqrt(moved_bytes))
    used = min(rails, ranks, max(1.0, node_ranks / stride))
    rate = min(0.9 * bandwidth, used * nic_rate)
    return GroupTerms(rounds * math.log2(ranks) * network_latency, moved_bytes / rate, 0.0)


@kernel(
    unit="byte",
    rises="size ranks passes",
    source="Chan, Heimlich, Purkayastha & van de Geijn, CCPE 19(13) (2007): every rank sends "
    "(ranks - 1) / ranks of the vector per pass",
    formula="moved_bytes = passes size (ranks - 1) / ranks",
)
def moved_by_rank(size: float, ranks: float, passes: float) -> float:
    """Bytes [byte] a rank sends in a bandwidth-optimal collective of one or two passes."""
    return passes * size * (ranks - 1.0) / ranks


@kernel(
    unit="s",
    rises="size startup ramp network_latency",
    falls="bandwidth pair_factor nic_rate rails",
    free="ranks stride node_ranks",
    free_because=_TIERS,
    source=_RAMP,
    formula="group_collective of 2 size (ranks - 1) / ranks bytes in two rounds",
)
def group_allreduce(
    size: float,
    ranks: float,
    stride: float,
    node_ranks: float,
    startup: float,
    bandwidth: float,
    pair_factor: float,
    ramp: float,
    nic_rate: float,
    rails: float,
    network_latency: float,
) -> GroupTerms:
    """Time [s] of an allreduce of `size` bytes over a group."""
    return group_collective(
        moved_by_rank(size, ranks, 2.0),
        ranks,
        stride,
        node_ranks,
        startup,
        bandwidth,
        pair_factor,
        ramp,
        nic_rate,
        rails,
        network_latency,
        2.0,
    )


@kernel(
    unit="s",
    rises="size startup ramp network_latency",
    falls="bandwidth pair_factor nic_rate rails",
    free="ranks stride node_ranks",
    free_because=_TIERS,
    source=_RAMP,
    formula="group_collective of size (ranks - 1) / ranks bytes in one round",
)
def group_gather(
    size: float,
    ranks: float,
    stride: float,
    node_ranks: float,
    startup: float,
    bandwidth: float,
    pair_factor: float,
    ramp: float,
    nic_rate: float,
    rails: float,
    network_latency: float,
) -> GroupTerms:
    """Time [s] of an all-gather or a reduce-scatter of `size` bytes over a group."""
    return group_collective(
        moved_by_rank(size, ranks, 1.0),
        ranks,
        stride,
        node_ranks,
        startup,
        bandwidth,
        pair_factor,
        ramp,
        nic_rate,
        rails,
        network_latency,
        1.0,
    )


@kernel(
    unit="1",
    rises="first second third",
    source="definition",
    formula="first second third",
)
def product_of_three(first: float, second: float, third: float) -> float:
    """Product [1] of three counts or sizes."""
    return first * second * third


@kernel(
    unit="byte",
    rises="tokens query_width kv_width context",
    falls="tensor",
    source="Jacobs et al., DeepSpeed-Ulysses, arXiv 2309.14509: queries, keys, values and "
    "outputs change from split sequences to split heads and back",
    formula="2 byte tokens (2 query_width + kv_width) / tensor (context - 1) / context",
)
def context_exchange_bytes(
    tokens: float, query_width: float, kv_width: float, tensor: float, context: float
) -> float:
    """Bytes [byte] a rank sends to re-split heads around one attention."""
    return moved_by_rank(2.0 * tokens * (2.0 * query_width + kv_width) / tensor, context, 1.0)


@kernel(
    unit="byte",
    rises="tokens kv_width context",
    falls="tensor",
    source="Liu, Zaharia & Abbeel, Ring Attention, arXiv 2310.01889",
    formula="2 byte tokens kv_width (context - 1) / tensor",
)
def context_ring_bytes(tokens: float, kv_width: float, tensor: float, context: float) -> float:
    """Bytes [byte] of keys and values a rank passes on around one attention."""
    return 2.0 * tokens * kv_width * (context - 1.0) / tensor


@kernel(
    unit="s",
    rises="exchange transfer",
    falls="context_overlap attention",
    free="context_ring",
    free_because="a switch between re-splitting heads and passing keys and values around",
    source="Liu, Zaharia & Abbeel, Ring Attention, arXiv 2310.01889",
    formula="exchange, or max(0, transfer - context_overlap attention) for a ring",
)
def context_traffic(
    exchange: float,
    transfer: float,
    attention: float,
    context_overlap: float,
    context_ring: float,
) -> float:
    """Exposed time [s] of context parallelism in one attention."""
    if context_ring > 0.5:
        return max(0.0, transfer - context_overlap * attention)
    return exchange


@kernel(
    unit="s",
    rises="allreduce gather allreduces gathers expert_exchange expert_exchanges context",
    falls="tensor_overlap expert_overlap",
    source="Korthikanti et al., MLSys 2023, for the collectives of tensor and sequence "
    "parallelism; Lepikhin et al., GShard, ICLR 2021, for dispatch and combine",
    formula="(1 - tensor_overlap) (allreduces allreduce + gathers gather) "
    "+ (1 - expert_overlap) expert_exchanges expert_exchange + context",
)
def layer_traffic(
    allreduce: float,
    gather: float,
    allreduces: float,
    gathers: float,
    tensor_overlap: float,
    expert_exchange: float,
    expert_exchanges: float,
    expert_overlap: float,
    context: float,
) -> float:
    """Exposed communication [s] inside a layer for one micro-batch in one direction."""
    tensor = (1.0 - tensor_overlap) * (allreduces * allreduce + gathers * gather)
    return tensor + (1.0 - expert_overlap) * expert_exchanges * expert_exchange + context


@kernel(
    unit="s",
    rises="activation_size pipeline gather hand_over_gather hand_over_latency",
    falls="tensor bandwidth nic_rate",
    free="ranks node_ranks",
    free_because="stages inside one node use the scale-up network",
    source="Narayanan et al., SC21 (arXiv 2104.04473), section 4.1: scatter/gather",
    formula="hand_over_latency + activation_size / tensor / rate + hand_over_gather gather",
)
def stage_hand_over(
    activation_size: float,
    tensor: float,
    pipeline: float,
    ranks: float,
    node_ranks: float,
    bandwidth: float,
    nic_rate: float,
    gather: float,
    hand_over_gather: float,
    hand_over_latency: float,
) -> float:
    """Time [s] to hand the activations of a micro-batch to the next stage."""
    if pipeline <= 1.0:
        return 0.0
    rate = bandwidth if ranks <= node_ranks else nic_rate
    return hand_over_latency + activation_size / tensor / rate + hand_over_gather * gather


@kernel(
    unit="byte",
    rises="tokens width element_bytes top_k node_limit",
    falls="sequence_shards",
    free="ranks stride node_ranks",
    free_because="a group inside a node sends every copy, one across nodes a copy per node",
    source="DeepSeek-AI, arXiv 2412.19437, section 3.2: a token goes once to a node that "
    "holds any of its experts",
    formula="moved_bytes = tokens copies width element_bytes (share that leaves) / sequence_shards",
)
def expert_bytes(
    tokens: float,
    width: float,
    element_bytes: float,
    top_k: float,
    node_limit: float,
    ranks: float,
    stride: float,
    node_ranks: float,
    sequence_shards: float,
) -> float:
    """Bytes [byte] one rank sends in one dispatch or combine under balanced routing."""
    if ranks * stride <= node_ranks:
        copies = top_k * (ranks - 1.0) / ranks
    else:
        inside = max(1.0, node_ranks / stride)
        copies = min(top_k, node_limit) * (1.0 - inside / ranks)
    return tokens * copies * width * element_bytes / sequence_shards


class GatherTerms(NamedTuple):
    """Terms of sharded weights that are gathered for every layer [s]."""

    exposed_forward: float
    exposed_backward: float
    interference: float


@kernel(
    unit="s",
    rises="gather scatter regather interference",
    falls="hidden_share",
    free="forward backward",
    free_because="longer computation hides more of the collective but is slowed for longer",
    source="Zhao et al., PyTorch FSDP, VLDB 2023; slow-down of computation under a collective "
    "as a fitted share",
    formula="max(0, gather - hidden_share forward) + max(0, regather gather + scatter - "
    "hidden_share backward) + interference (hidden part)",
)
def sharded_weights(
    gather: float,
    scatter: float,
    regather: float,
    forward: float,
    backward: float,
    hidden_share: float,
    interference: float,
) -> GatherTerms:
    """Exposed time [s] of gathering weights and scattering gradients beside a layer."""
    second = regather * gather + scatter
    return GatherTerms(
        max(0.0, gather - hidden_share * forward),
        max(0.0, second - hidden_share * backward),
        interference * (min(gather, forward) + min(second, backward)),
    )


@kernel(
    unit="s",
    rises="transfer",
    falls="hiding",
    source="Liu, Zaharia & Abbeel, Ring Attention, arXiv 2310.01889",
    formula="time = max(0, transfer - hiding)",
)
def exposed_transfer(transfer: float, hiding: float) -> float:
    """Exposed time [s] of a transfer that runs beside computation."""
    return max(0.0, transfer - hiding)
