"""What no schedule of the same kind can beat on a communicator, to set estimates against."""

from __future__ import annotations

from scalemath.collectives.nccl.availability import GATHERS, IN_SWITCH
from scalemath.collectives.nccl.graphs import Communicator


def port_share(operation: str, algorithm: str, machine: Communicator) -> float:
    """Buffer sizes one GPU's port carries in one direction, at least."""
    ranks = machine.ranks
    if operation in GATHERS:
        return (ranks - 1.0) / ranks
    if operation != "allreduce":
        return 1.0
    if algorithm == "NVLS" and machine.nodes == 1:
        return 1.0 + 1.0 / ranks
    return 1.0 if algorithm in IN_SWITCH else 2.0 * (ranks - 1.0) / ranks


def node_share(operation: str, algorithm: str, machine: Communicator) -> float:
    """Buffer sizes the NICs of one node carry in one direction, at least."""
    nodes = machine.nodes
    if operation in GATHERS:
        return (nodes - 1.0) / nodes
    if operation != "allreduce":
        return 1.0 if nodes > 1 else 0.0
    reduced_in_network = algorithm in IN_SWITCH and algorithm != "NVLSTree"
    return 1.0 if reduced_in_network and nodes > 1 else 2.0 * (nodes - 1.0) / nodes


def bound(operation: str, algorithm: str, size: float, machine: Communicator) -> float:
    """Bandwidth bound [s]; zero where the communicator states no port rates.

    An allreduce by NVLS on one node moves (ranks + 1)/ranks of the buffer through every port,
    one by endpoints at least 2(ranks - 1)/ranks; what in-network reduction leaves between
    nodes is one buffer.
    """
    times = [0.0]
    if machine.nvlink_rate and machine.local_ranks > 1:
        times.append(port_share(operation, algorithm, machine) * size / machine.nvlink_rate)
    if machine.node_rate and machine.nodes > 1:
        times.append(node_share(operation, algorithm, machine) * size / machine.node_rate)
    return max(times)
