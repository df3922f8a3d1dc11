"""Communicators of usual machines, with the graphs NCCL's search finds for them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from scalemath.collectives.nccl.graphs import Communicator, Graph, whole
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.units import Q_


@cache
def _systems() -> dict[str, Any]:
    text = (files(__package__) / "data" / "systems.toml").read_text(encoding="utf-8")
    return {name: entry for name, entry in tomllib.loads(text).items() if isinstance(entry, dict)}


def systems() -> tuple[str, ...]:
    """Names of the machines whose graphs are known.

    Examples
    --------
    >>> systems()
    ('HGX V100', 'HGX A100', 'HGX H100', 'HGX B200')
    """
    return tuple(_systems())


def communicator(
    system: str,
    *,
    nodes: int = 1,
    ranks_per_node: int | None = None,
    collnet: bool = False,
    plugin_latency: Any = None,
    **changes: Any,
) -> Communicator:
    """Communicator over a usual machine, one NIC per GPU.

    The graphs are those NCCL 2.30.7 finds on a two-socket machine with one GPU and one NIC
    per PCIe switch: EDR on V100, HDR on A100, NDR on H100 and B200. With fewer ranks on one
    node than the machine has GPUs the graphs of the full node are kept.

    Parameters
    ----------
    system : str
        "HGX V100", "HGX A100", "HGX H100" or "HGX B200".
    nodes : int
        Nodes.
    ranks_per_node : int, optional
        Ranks on each node; all GPUs when left out.
    collnet : bool
        Whether in-network reduction (SHARP) is enabled.
    plugin_latency : Quantity [s], optional
        Latency property of the network plugin; zero when left out.
    **changes
        Any other attribute of `Communicator`, for example cpu_vendor="AMD".

    Returns
    -------
    Communicator
        Ready for `estimate` and `select`.

    Raises
    ------
    RangeError
        When no graphs are known for the machine; build a `Communicator` from `Graph` then.
    """
    entry = _entry(system)
    nodes = whole(nodes, "nodes", 1)
    full = entry["gpus_per_node"]
    local = full if ranks_per_node is None else whole(ranks_per_node, "ranks_per_node", 1)
    if local > full:
        raise RangeError(f"{system} has {full} GPUs per node, not {local}")
    latency = Q_(0.0, "s") if plugin_latency is None else plugin_latency
    graphs = {
        _attribute(algorithm): _graph(record, latency)
        for algorithm, record in _recorded(system, entry, nodes, local).items()
    }
    given: dict[str, Any] = {
        "nodes": nodes,
        "ranks": nodes * local,
        "compute_capability": entry["compute_capability"],
        "nvswitch": entry["nvswitch"],
        "collnet": collnet,
        "nvlink_rate": Q_(float(entry["nvlink_rate"]), "GB/s"),
        "node_rate": Q_(float(entry["nic_rate"]) * local, "GB/s"),
        "name": f"{nodes} x {system}, {entry['network']}" if nodes > 1 else system,
    }
    return Communicator(**(given | graphs | changes))


def _entry(system: str) -> dict[str, Any]:
    if not isinstance(system, str):
        raise ArgumentError(f"system is {repr(system)[:80]}; wanted its name, as in 'HGX H100'")
    for name, entry in _systems().items():
        if system.upper().removeprefix("HGX").strip() == name.removeprefix("HGX").strip():
            result: dict[str, Any] = entry
            return result
    raise RangeError(
        f"no NCCL graphs are known for {system[:80]!r}; write one of {', '.join(systems())}, "
        "or build a Communicator from Graph"
    )


def _recorded(system: str, entry: dict[str, Any], nodes: int, local: int) -> dict[str, Any]:
    """Graph records of the machine at this number of nodes and ranks per node."""
    where = "one" if nodes == 1 else "many"
    full = entry["gpus_per_node"]
    for record in entry["graphs"]:
        counts = (local, full) if nodes == 1 else (local,)
        if record["nodes"] == where and record["ranks_per_node"] in counts:
            return {k: v for k, v in record.items() if isinstance(v, dict)}
    raise RangeError(
        f"no NCCL graphs are known for {local} ranks on each of {nodes} nodes of {system}; "
        "build a Communicator from Graph"
    )


def _graph(record: dict[str, Any], latency: Any) -> Graph:
    rest = {k: v for k, v in record.items() if k not in ("intra", "inter")}
    return Graph(
        bandwidth_intra=Q_(float(record["intra"]), "GB/s"),
        bandwidth_inter=Q_(float(record["inter"]), "GB/s"),
        latency_inter=latency,
        **rest,
    )


def _attribute(algorithm: str) -> str:
    """Name of the attribute of `Communicator` that holds an algorithm's graph."""
    return {"CollNetDirect": "collnet_direct", "CollNetChain": "collnet_chain"}.get(
        algorithm, algorithm.lower()
    )
