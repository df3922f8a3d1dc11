"""What no schedule of the same kind can beat on a communicator, to set estimates against."""

from __future__ import annotations

from scalemath.collectives.nccl.availability import GATHERS, IN_SWITCH
from scalemath.collectives.nccl.graphs import Communicator
from scalemath.kernels.bounds import allreduce_cut_bound, broadcast_cut_bound, exchange_cut_bound
from scalemath.kernels.innetwork import allreduce_nvls


def bound(operation: str, algorithm: str, size: float, machine: Communicator) -> float:
    """Bandwidth bound [s]; zero where the communicator states no port rates.

    An allreduce by NVLS on one node moves (ranks + 1)/ranks of the buffer through every port,
    one between endpoints 2(ranks - 1)/ranks; with reduction in the network at least one buffer
    passes every port and leaves every node.
    """
    times = [0.0]
    if machine.nvlink_rate and machine.local_ranks > 1:
        times.append(_inside(operation, algorithm, size, machine, machine.nvlink_rate))
    if machine.node_rate and machine.nodes > 1:
        switched = algorithm in IN_SWITCH and algorithm != "NVLSTree"
        groups = float(machine.nodes)
        times.append(_cut(operation, size, groups, machine.node_rate, in_network=switched))
    return max(times)


def _inside(
    operation: str, algorithm: str, size: float, machine: Communicator, rate: float
) -> float:
    """What the busiest GPU port takes at least [s]."""
    ranks = float(machine.ranks)
    if algorithm == "NVLS" and operation == "allreduce" and machine.nodes == 1:
        return allreduce_nvls(size, ranks, rate, 0.0, 0.0).bandwidth
    return _cut(operation, size, ranks, rate, in_network=algorithm in IN_SWITCH)


def _cut(operation: str, size: float, groups: float, rate: float, *, in_network: bool) -> float:
    """What the way out of one of equal groups takes at least [s]."""
    if operation in GATHERS:
        return exchange_cut_bound(size, groups, rate)
    if operation == "allreduce" and not in_network:
        return allreduce_cut_bound(size, groups, rate)
    return broadcast_cut_bound(size, groups, rate)
