"""Latency and bandwidth of one algorithm and protocol, as NCCL tabulates them at start."""

from __future__ import annotations

from typing import Any

from scalemath.collectives.nccl.availability import GATHERS, PROTOCOLS
from scalemath.collectives.nccl.constants import GIGABYTE, MICROSECOND, Version
from scalemath.collectives.nccl.graphs import Communicator, Graph
from scalemath.kernels.nccl import (
    nccl_capped_bandwidth,
    nccl_collnet_chain_latency,
    nccl_collnet_direct_bandwidth,
    nccl_collnet_direct_latency,
    nccl_collnet_gather_bandwidth,
    nccl_nvls_bandwidth,
    nccl_nvls_tree_latency,
    nccl_pat_latency,
    nccl_ring_latency,
    nccl_tree_latency,
)

UNCAPPED = float("inf")


def ring_steps(operation: str, ranks: int) -> int:
    """Steps of a ring: twice round for an allreduce, once for the gathers."""
    if operation == "allreduce":
        return 2 * (ranks - 1)
    return ranks - 1 if operation in GATHERS else ranks


def algorithm_ratio(
    operation: str, algorithm: str, machine: Communicator, constants: dict[str, Any]
) -> float:
    """Algorithm bandwidth over bus bandwidth as NCCL converts them."""
    factors = constants["bandwidth_factors"]
    if algorithm != "Ring" and operation in GATHERS:
        return 1.0
    around = machine.ranks / ring_steps(operation, machine.ranks)
    if algorithm == "Ring":
        return around
    if algorithm not in ("NVLS", "NVLSTree"):
        return float(factors["tree_algorithm"])
    if factors["nvls_rule"] == "multicast":
        return around
    if factors["nvls_rule"] == "seventy-percent" and algorithm == "NVLSTree" and machine.nodes > 2:
        return 0.70 * machine.nodes / (2.0 * (machine.nodes - 1))
    return 5.0 / 6.0


def bandwidth(
    operation: str, algorithm: str, protocol: str, machine: Communicator, release: Version
) -> float:
    """Algorithm bandwidth [byte/s]; zero where the algorithm cannot run."""
    graph = machine.graph(algorithm)
    if graph is None:
        return 0.0
    constants = release.constants
    channels = _channels(algorithm, machine, graph)
    use_intra = machine.nodes <= 2 or algorithm.startswith("CollNet")
    bus = channels * (graph.bandwidth_intra if use_intra else graph.bandwidth_inter)
    if algorithm in ("NVLS", "NVLSTree"):
        bus = _nvls_bus(operation, algorithm, channels, graph, machine, constants)
    elif algorithm == "Ring":
        bus = _ring_bus(protocol, bus, channels, machine, constants)
    elif algorithm == "Tree":
        bus = _tree_bus(protocol, bus, channels, machine, constants)
    elif algorithm == "PAT":
        bus *= constants["bandwidth_factors"]["pat"]
    elif algorithm == "CollNetDirect":
        bus = _collnet_direct_bus(operation, channels, graph, machine, constants)
    return bus * algorithm_ratio(operation, algorithm, machine, constants)


def _channels(algorithm: str, machine: Communicator, graph: Graph) -> int:
    """Channels of a graph; ring and tree both run on the smaller number of the two."""
    if algorithm in ("Tree", "Ring", "PAT") and machine.tree and machine.ring:
        return min(machine.tree.channels, machine.ring.channels)
    return graph.channels


def _cap(constants: dict[str, Any], table: str, machine: Communicator) -> float:
    """Cap per channel for this GPU generation and number of nodes [byte/s]."""
    return float(constants[table][machine.generation][machine.scale]) * GIGABYTE


def _ll_cap(constants: dict[str, Any], machine: Communicator) -> float:
    """Cap of LL over all channels [byte/s]; between nodes the CPU vendor picks the row."""
    row = machine.generation
    if machine.nodes > 1:
        row = "Ampere" if machine.cpu_vendor in ("AMD", "MIXED") else "Volta"
    return float(constants["ll_cap"][row][machine.scale]) * GIGABYTE


def _ring_bus(
    protocol: str, bus: float, channels: int, machine: Communicator, constants: dict[str, Any]
) -> float:
    factors = constants["bandwidth_factors"]
    if protocol == "LL":
        return nccl_capped_bandwidth(bus, factors["ring_ll"], _ll_cap(constants, machine))
    if protocol == "LL128":
        cap = channels * _cap(constants, "ring_ll128_cap", machine)
        return nccl_capped_bandwidth(bus, factors["ring_ll128"], cap)
    return bus


def _tree_bus(
    protocol: str, bus: float, channels: int, machine: Communicator, constants: dict[str, Any]
) -> float:
    factors = constants["bandwidth_factors"]
    cap = channels * _cap(constants, "tree_cap", machine)
    bus = nccl_capped_bandwidth(bus, factors["tree"], cap)
    if protocol == "LL":
        bus = nccl_capped_bandwidth(bus, factors["tree_ll"], _ll_cap(constants, machine))
    elif protocol == "LL128":
        share = factors["tree_ll128_one_node" if machine.nodes == 1 else "tree_ll128"]
        cap = channels * _cap(constants, "tree_ll128_cap", machine)
        bus = nccl_capped_bandwidth(bus, share, cap)
    if machine.tree_pattern == "tree":
        bus *= factors["tree_pattern"]
    return bus


def _nvls_bus(
    operation: str,
    algorithm: str,
    channels: int,
    graph: Graph,
    machine: Communicator,
    constants: dict[str, Any],
) -> float:
    tree = algorithm == "NVLSTree"
    few = machine.nodes <= 2
    if constants["bandwidth_factors"]["nvls_rule"] != "multicast":
        inter = graph.bandwidth_inter * (0.5 if tree and not few else 1.0)
        return channels * min(graph.bandwidth_intra, inter)
    local = machine.ranks_per_node
    return nccl_nvls_bandwidth(
        float(channels),
        graph.bandwidth_intra,
        graph.bandwidth_inter * (2.0 if tree and few else 1.0),
        float(constants["nvls_efficiency"][machine.generation]),
        2.0 if operation == "allreduce" else (local - 1.0) / local,
        _cap(constants, "nvls_tree_cap", machine) if tree else UNCAPPED,
    )


def _collnet_direct_bus(
    operation: str,
    channels: int,
    graph: Graph,
    machine: Communicator,
    constants: dict[str, Any],
) -> float:
    factors = constants["bandwidth_factors"]
    local = machine.ranks_per_node
    if operation in GATHERS:
        return nccl_collnet_gather_bandwidth(
            local, graph.bandwidth_intra, graph.bandwidth_inter, factors["collnet_gather_inter"]
        )
    bus = nccl_collnet_direct_bandwidth(float(channels), graph.bandwidth_intra, local)
    if machine.compute_capability >= 90:
        bus *= factors["collnet_direct_hopper"]
    return bus


def latency(
    operation: str, algorithm: str, protocol: str, machine: Communicator, release: Version
) -> float:
    """Latency of the empty operation [s]."""
    graph = machine.graph(algorithm)
    if graph is None:
        return UNCAPPED
    constants = release.constants
    terms = constants["latency_terms"]
    column = PROTOCOLS.index(protocol)
    base = constants["base_latency"][algorithm][column] * MICROSECOND
    near = "NVLINK" if graph.type_intra == "NVL" else "PCI"
    intra = _hop(constants, near, algorithm, column, machine)
    far = "Tree" if machine.ranks_per_node == 1 else algorithm
    inter = _hop(constants, "NET", far, column, machine)
    inter += graph.latency_inter * (2.0 if protocol == "Simple" else 1.0)
    local = float(machine.ranks // machine.nodes)
    levels = float(machine.nodes.bit_length() - 1)
    if algorithm == "Ring":
        return _ring(operation, column, base, intra, inter, graph, machine, constants)
    if algorithm == "Tree":
        return nccl_tree_latency(base, intra, inter, local, levels)
    if algorithm == "CollNetDirect":
        per_peer = terms["collnet_direct_per_peer"] * MICROSECOND
        return nccl_collnet_direct_latency(base, intra, inter, local, per_peer)
    if algorithm == "CollNetChain":
        return nccl_collnet_chain_latency(base, intra, inter, local)
    if algorithm == "NVLSTree":
        return nccl_nvls_tree_latency(base, intra, inter, levels)
    if algorithm == "PAT":
        per_rank = terms["pat_per_rank"] * MICROSECOND
        divisor = float(terms["pat_hop_divisor"])
        return nccl_pat_latency(base, inter, levels, float(machine.ranks), divisor, per_rank)
    return intra + (inter if machine.nodes > 1 else 0.0)


def _hop(
    constants: dict[str, Any], hardware: str, algorithm: str, column: int, machine: Communicator
) -> float:
    """Latency of one hop [s]; POWER machines take the ring's chunk latency over PCI."""
    power = machine.cpu_architecture == "power" and hardware == "PCI"
    if power and algorithm == "Tree" and PROTOCOLS[column] == "Simple":
        algorithm = "Ring"
    return float(constants["hop_latency"][hardware][algorithm][column]) * MICROSECOND


def _ring(
    operation: str,
    column: int,
    base: float,
    intra: float,
    inter: float,
    graph: Graph,
    machine: Communicator,
    constants: dict[str, Any],
) -> float:
    simple = PROTOCOLS[column] == "Simple"
    steps = ring_steps(operation, machine.ranks)
    if operation in ("broadcast", "reduce"):
        near = "NVLINK" if graph.type_intra == "NVL" else "PCI"
        hardware = near if machine.nodes == 1 else "NET"
        ring_hop = _hop(constants, hardware, "Ring", column, machine)
        if graph.same_channels:
            return nccl_ring_latency(base, ring_hop, 0.0, 1.0, 0.0)
        tree_hop = _hop(constants, hardware, "Tree", column, machine)
        return nccl_ring_latency(base, tree_hop if simple else ring_hop, 0.0, float(steps), 0.0)
    crossings = 0
    if machine.nodes > 1:
        factor = constants["latency_terms"]["network_overhead_simple_factor"] if simple else 1.0
        intra = max(intra, network_overhead(machine, constants) * factor)
        crossings = (2 if operation == "allreduce" else 1) * (machine.nodes - 1)
    return nccl_ring_latency(base, intra, inter, float(steps - crossings), float(crossings))


def network_overhead(machine: Communicator, constants: dict[str, Any]) -> float:
    """Cost of the network proxy per step [s]."""
    if machine.network_overhead is not None:
        return machine.network_overhead
    amd = machine.cpu_architecture == "x86_64" and machine.cpu_vendor == "AMD"
    name = "network_overhead_amd" if amd else "network_overhead"
    return float(constants["latency_terms"][name]) * MICROSECOND
