"""The NCCL estimator against recorded output of NCCL 2.30.7's own estimator.

Source of the rows: see tests/oracles/data/SOURCES.md. NCCL computes in float32, hence 1e-6.
"""

from __future__ import annotations

from collections import defaultdict

import pytest
from oracles.tables import rows as table_rows

from scalemath.collectives import nccl
from scalemath.units import Q_

TABLE = "nccl_tuning_cases.csv"
Case = dict[str, str]
OPERATIONS = {
    "AllReduce": "allreduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
}
ATTRIBUTES = {
    "Tree": "tree",
    "Ring": "ring",
    "CollNetDirect": "collnet_direct",
    "CollNetChain": "collnet_chain",
    "NVLS": "nvls",
    "NVLSTree": "nvls",
    "PAT": "tree",
}
CALL = (
    "system",
    "n_nodes",
    "n_ranks",
    "min_comp_cap",
    "collnet_enabled",
    "cpu_arch",
    "cpu_vendor",
    "nvs_count",
    "comm_n_channels",
    "graph_latency_inter_us",
    "max_tree_pattern",
    "coll",
    "n_bytes",
    "num_pipe_ops",
)
OF_A_CALL = ("coll", "n_bytes", "num_pipe_ops")
"""Columns that tell calls of one communicator apart."""


def calls() -> list[list[Case]]:
    """Rows grouped into calls: one table of NCCL each."""
    groups: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for row in table_rows(TABLE):
        groups[tuple(row[name] for name in CALL)].append(row)
    return list(groups.values())


CALLS = calls()


def graph_of(row: Case) -> nccl.Graph:
    """Graph of the row's own algorithm."""
    return nccl.Graph(
        channels=int(row["graph_n_channels"]),
        bandwidth_intra=Q_(float(row["graph_bw_intra_GBps_per_ch"]), "GB/s"),
        bandwidth_inter=Q_(float(row["graph_bw_inter_GBps_per_ch"]), "GB/s"),
        latency_inter=Q_(float(row["graph_latency_inter_us"]), "us"),
        pattern=int(row["graph_pattern"]),
        type_intra=int(row["graph_type_intra"]),
        type_inter=int(row["graph_type_inter"]),
        same_channels=row["graph_same_channels"] == "1",
    )


def machine_key(row: Case) -> tuple[str, ...]:
    """What the calls of one communicator have in common."""
    return tuple(row[name] for name in CALL if name not in OF_A_CALL)


def known_graphs() -> dict[tuple[str, ...], dict[str, nccl.Graph]]:
    """Graphs of each communicator that any of its rows names."""
    found: dict[tuple[str, ...], dict[str, nccl.Graph]] = defaultdict(dict)
    for rows in CALLS:
        for row in rows:
            found[machine_key(row)][ATTRIBUTES[row["algo"]]] = graph_of(row)
    return found


GRAPHS = known_graphs()


def machine_of(rows: list[Case]) -> nccl.Communicator:
    """Communicator with the graphs its rows name, those of its other calls included."""
    first = rows[0]
    return nccl.Communicator(
        nodes=int(first["n_nodes"]),
        ranks=int(first["n_ranks"]),
        compute_capability=int(first["min_comp_cap"]),
        channels=int(first["comm_n_channels"]),
        cpu_vendor=first["cpu_vendor"],
        cpu_architecture=first["cpu_arch"],
        nvswitch=int(first["nvs_count"]) > 0,
        collnet=first["collnet_enabled"] == "1",
        worst_tree_pattern=int(first["max_tree_pattern"]),
        **GRAPHS[machine_key(first)],
    )


def rivals_known(rows: list[Case]) -> bool:
    """Whether the rows of the communicator show every kind of algorithm it could run."""
    first, graphs = rows[0], GRAPHS[machine_key(rows[0])]
    switched = first["nvs_count"] != "0" or first["collnet_enabled"] == "1"
    wanted = {"tree", "ring"} | ({"nvls"} if switched else set())
    if first["collnet_enabled"] == "1":
        wanted |= {"collnet_direct", "collnet_chain"}
    return wanted <= set(graphs)


def check_choice(table: nccl.Estimate, rows: list[Case], complete: bool) -> None:
    """Each row must be there; a selected one is ours, an unselected one is not."""
    ours = {(row.algorithm, row.protocol): row.selected for row in table.rows}
    recorded = {(row["algo"], row["proto"]): row["selected"] == "1" for row in rows}
    assert set(recorded) <= set(ours)
    if complete or any(recorded.values()):
        assert {pair: ours[pair] for pair in recorded} == recorded


def estimate_of(rows: list[Case]) -> nccl.Estimate:
    """Our estimate of the call the rows record."""
    first = rows[0]
    return nccl.estimate(
        OPERATIONS[first["coll"]],
        Q_(int(first["n_bytes"]), "byte"),
        machine_of(rows),
        operations=int(first["num_pipe_ops"]),
    )


def label(rows: list[Case]) -> str:
    return "-".join(rows[0][name] for name in CALL)


def test_the_table_is_not_empty() -> None:
    assert CALLS


@pytest.mark.parametrize("rows", CALLS, ids=label)
def test_every_recorded_row(rows: list[Case]) -> None:
    table = estimate_of(rows)
    for row in rows:
        ours = table.row(row["algo"], row["proto"])
        assert ours.latency_seconds * 1e6 == pytest.approx(float(row["lat_us"]), rel=1e-6)
        bandwidth = ours.bandwidth_bytes_per_second / 1e9
        assert bandwidth == pytest.approx(float(row["algbw_GBps"]), rel=1e-6)
        assert ours.time_seconds * 1e6 == pytest.approx(float(row["time_us"]), rel=1e-6)


@pytest.mark.parametrize("rows", CALLS, ids=label)
def test_what_is_available_and_what_is_selected(rows: list[Case]) -> None:
    check_choice(estimate_of(rows), rows, rivals_known(rows))


KNOWN = {
    "h100x8_ndr400": ("HGX H100", {1, 2, 3, 4, 8, 12, 16, 32, 128}),
    "h100x1_ndr400": ("HGX H100", {2, 8, 16}),
    "a100x8_hdr200": ("HGX A100", {1, 2, 3, 16}),
    "b200x8_ndr400": ("HGX B200", {1, 2, 3, 16}),
    "v100x8_edr100": ("HGX V100", {1, 4}),
}
"""Usual machine, and the numbers of nodes for which its graphs were recorded."""


@pytest.mark.parametrize("rows", CALLS, ids=label)
def test_usual_machines_give_the_recorded_choice(rows: list[Case]) -> None:
    first = rows[0]
    system, _, _ = first["system"].rpartition("_")
    name, recorded_nodes = KNOWN.get(system, ("", set()))
    nodes, ranks = int(first["n_nodes"]), int(first["n_ranks"])
    full = int(system.split("x")[1].split("_")[0]) if name else 0
    if nodes not in recorded_nodes or ranks != full * nodes:
        pytest.skip("no graphs were recorded for this machine")
    # the recorded plugin offers in-network reduction only where its rows show it
    shown = GRAPHS[machine_key(first)]
    switched = {"collnet_direct", "collnet_chain", "nvls"} & set(shown)
    machine = nccl.communicator(
        name,
        nodes=nodes,
        ranks_per_node=full,
        collnet=first["collnet_enabled"] == "1" and bool(switched),
        plugin_latency=Q_(float(first["graph_latency_inter_us"]), "us"),
        cpu_vendor=first["cpu_vendor"],
        cpu_architecture=first["cpu_arch"],
    )
    if any(getattr(machine, ATTRIBUTES[row["algo"]]) is None for row in rows):
        pytest.skip("no graph was recorded for an algorithm of this machine")
    assert machine.running_channels == int(first["comm_n_channels"])
    recorded = {ATTRIBUTES[row["algo"]]: graph_of(row) for row in rows}
    assert {name: getattr(machine, name) for name in recorded} == recorded
    table = nccl.estimate(
        OPERATIONS[first["coll"]],
        Q_(int(first["n_bytes"]), "byte"),
        machine,
        operations=int(first["num_pipe_ops"]),
    )
    check_choice(table, rows, rivals_known(rows))
    for row in rows:
        ours = table.row(row["algo"], row["proto"])
        assert ours.time_seconds * 1e6 == pytest.approx(float(row["time_us"]), rel=1e-6)
