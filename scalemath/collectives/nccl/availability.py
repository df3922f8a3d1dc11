"""Which algorithms and protocols NCCL offers on a communicator, and why not the others."""

from __future__ import annotations

from scalemath.collectives.nccl.constants import Version
from scalemath.collectives.nccl.graphs import PATHS, Communicator, Graph

ALGORITHMS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
GATHERS = ("all_gather", "reduce_scatter")
OPERATIONS = ("allreduce", *GATHERS, "broadcast", "reduce")
IN_SWITCH = ("CollNetDirect", "CollNetChain", "NVLS", "NVLSTree")

_OFFERED = {
    "allreduce": ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree"),
    "all_gather": ("Ring", "CollNetDirect", "NVLS", "PAT"),
    "reduce_scatter": ("Ring", "CollNetDirect", "NVLS", "PAT"),
    "broadcast": ("Ring",),
    "reduce": ("Ring",),
}
COLLNET_LOCAL_RANKS = 8
NVLS_LOCAL_RANKS = 32


def algorithm_obstacle(
    operation: str, algorithm: str, machine: Communicator, release: Version
) -> str:
    """Why NCCL does not offer an algorithm; empty when it does."""
    if algorithm not in _OFFERED[operation]:
        return f"NCCL has no {algorithm} for {operation}"
    if algorithm not in release.constants["algorithms"]:
        return f"NCCL {release.name} has no {algorithm}"
    if machine.graph(algorithm) is None:
        return f"the communicator has no graph for {algorithm}"
    if algorithm.startswith("CollNet"):
        return _collnet_obstacle(operation, algorithm, machine)
    if algorithm == "NVLS":
        return _nvls_obstacle(operation, machine)
    if algorithm == "NVLSTree":
        if machine.nodes == 1:
            return "NVLSTree needs more than one node"
        return _multicast_obstacle(machine)
    if algorithm == "PAT":
        return _pat_obstacle(machine)
    return ""


def _collnet_obstacle(operation: str, algorithm: str, machine: Communicator) -> str:
    if not machine.collnet:
        return f"{algorithm} needs in-network reduction (collnet)"
    if machine.local_ranks > COLLNET_LOCAL_RANKS:
        return f"{algorithm} needs at most {COLLNET_LOCAL_RANKS} ranks per node"
    if algorithm == "CollNetDirect":
        if not machine.nvswitch:
            return "CollNetDirect needs an NVSwitch"
        return _plugin_obstacle(operation, machine)
    return ""


def _multicast_obstacle(machine: Communicator) -> str:
    if machine.compute_capability < 90 or not machine.nvswitch:
        return "multicast (NVLS) needs compute capability 9.0 and an NVSwitch"
    return ""


def _nvls_obstacle(operation: str, machine: Communicator) -> str:
    missing = _multicast_obstacle(machine)
    if missing:
        return missing
    if machine.nodes > 1 and not machine.collnet:
        return "NVLS over several nodes needs in-network reduction (collnet)"
    if operation != "allreduce" and machine.local_ranks > NVLS_LOCAL_RANKS:
        return f"NVLS needs at most {NVLS_LOCAL_RANKS} ranks per node for {operation}"
    return _plugin_obstacle(operation, machine)


def _plugin_obstacle(operation: str, machine: Communicator) -> str:
    """What the network plugin lacks for an all-gather or reduce-scatter over several nodes."""
    if operation not in GATHERS or machine.nodes == 1:
        return ""
    offered = {
        "all_gather": machine.collnet_all_gather,
        "reduce_scatter": machine.collnet_reduce_scatter,
    }
    if not machine.collnet or not offered[operation]:
        return f"the network plugin offers no {operation}"
    if machine.collnet_heads is not None and machine.local_ranks > machine.collnet_heads:
        return "a node has more ranks than collnet heads"
    return ""


def _pat_obstacle(machine: Communicator) -> str:
    if machine.nodes != machine.ranks:
        return "PAT is on by default only with one rank per node"
    if not machine.host_network:
        return "PAT needs a network driven from the host"
    return ""


def protocol_obstacle(algorithm: str, protocol: str, machine: Communicator, graph: Graph) -> str:
    """Why NCCL does not offer a protocol with an algorithm by default; empty when it does."""
    if protocol == "Simple":
        return ""
    if algorithm not in ("Tree", "Ring"):
        return f"{algorithm} runs with protocol Simple only"
    if protocol == "LL":
        return ""
    least = machine.compute_capability
    most = machine.most_compute_capability or least
    farthest = "PXN" if least >= 90 else "PXB"
    if PATHS.index(graph.type_inter) > PATHS.index(farthest):
        return f"LL128 needs GPU and NIC within {farthest}, the graph has {graph.type_inter}"
    if PATHS.index(graph.type_intra) > PATHS.index("NVB"):
        return f"LL128 needs NVLink between the GPUs, the graph has {graph.type_intra}"
    if least < 70 or (least != most and least < 90):
        return "LL128 needs equal GPUs of compute capability 7.0 or all from 9.0"
    return ""
