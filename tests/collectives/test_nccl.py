"""Behaviour of the NCCL estimator beyond the recorded rows."""

from __future__ import annotations

import math
from typing import Any

import pytest

from scalemath.collectives import nccl
from scalemath.core.errors import RangeError, ReadError, UnitsError


def test_published_bandwidths_of_eight_h100() -> None:
    # Maintainers' figures: NVLS bus bandwidth about 480 GB/s (nccl-tests issue 212), ring 360
    # to 370 GB/s (nccl issue 1455).
    table = nccl.estimate("allreduce", "8 GiB", nccl.communicator("HGX H100"))
    factor = 2 * 7 / 8
    assert table.row("NVLS").bandwidth.m_as("GB/s") * factor == pytest.approx(476, abs=1)
    assert table.row("Ring").bandwidth.m_as("GB/s") * factor == pytest.approx(360, abs=1)


# Ring all-gather table of real NCCL 2.27.5 on 16 nodes of 8 H100, as published in
# meta-pytorch/autoparallel (nccl_cost_model.py): latency in us, bandwidth in GB/s.
@pytest.mark.parametrize(
    ("protocol", "latency", "bandwidth"),
    [("LL", 159.1, 20.6), ("LL128", 286.8, 295.9), ("Simple", 599.2, 387.0)],
)
@pytest.mark.parametrize("version", ["2.30", "2.27"])
def test_ring_table_of_a_real_run(
    protocol: str, latency: float, bandwidth: float, version: str
) -> None:
    machine = nccl.communicator("HGX H100", nodes=16)
    row = nccl.estimate("all_gather", "1 GiB", machine, version=version).row("Ring", protocol)
    assert row.latency.m_as("us") == pytest.approx(latency, abs=0.06)
    assert row.bandwidth.m_as("GB/s") == pytest.approx(bandwidth, abs=0.06)


@pytest.mark.parametrize(
    ("version", "latency", "bandwidth"), [("2.27.5", 137.0, 160.0), ("2.30", 192.2, 183.4)]
)
def test_nvls_tree_differs_between_releases(version: str, latency: float, bandwidth: float) -> None:
    machine = nccl.communicator("HGX H100", nodes=16)
    row = nccl.estimate("allreduce", "1 GiB", machine, version=version).row("NVLSTree")
    assert row.latency.m_as("us") == pytest.approx(latency, abs=0.06)
    assert row.bandwidth.m_as("GB/s") == pytest.approx(bandwidth, abs=0.06)


@pytest.mark.parametrize(("ranks", "below"), [(2, True), (4, True), (8, False)])
def test_nvls_lies_below_its_bound_on_few_ranks(ranks: int, below: bool) -> None:
    machine = nccl.communicator("HGX H100", ranks_per_node=ranks)
    table = nccl.estimate("allreduce", "1 GiB", machine)
    row = table.row("NVLS")
    assert (row.below_bound > 0) is below
    assert any("NVLS" in text and "not clamped" in text for text in table.cautions) is below
    port = (1 + 1 / ranks) * 2**30 / 370.8e9
    assert row.bound_seconds == pytest.approx(port)


def test_choice_moves_from_latency_to_bandwidth_as_the_buffer_grows() -> None:
    machine = nccl.communicator("HGX A100", nodes=2)
    chosen = [nccl.select("allreduce", f"{size} KiB", machine) for size in (1, 64, 2**20)]
    assert [row.protocol for row in chosen] == ["LL", "LL", "Simple"]
    assert [row.algorithm for row in chosen] == ["Tree", "Tree", "Ring"]


def test_every_selected_row_is_the_least() -> None:
    for system in nccl.systems():
        for nodes in (1, 2, 3, 16):
            machine = nccl.communicator(system, nodes=nodes)
            for operation in ("allreduce", "all_gather", "reduce_scatter", "broadcast", "reduce"):
                table = nccl.estimate(operation, "3 MiB", machine)
                least = min(row.time_seconds for row in table.rows)
                assert table.selected.time_seconds == least
                assert all(math.isfinite(row.time_seconds) for row in table.rows)


def test_time_steps_at_the_end_of_the_tree_correction() -> None:
    machine = nccl.communicator("HGX H100", nodes=4)

    def tree(size: str) -> nccl.Row:
        return nccl.estimate("allreduce", size, machine).row("Tree")

    assert tree("511 MiB").correction == 0.9
    assert tree("512 MiB").correction == 1.0
    assert tree("63 byte").correction == 1.0
    assert tree("64 byte").correction == 0.9


def test_tree_counts_levels_of_nodes_by_the_floor() -> None:
    times = [
        nccl.estimate("allreduce", "1 KiB", nccl.communicator("HGX H100", nodes=n)).row(
            "Tree", "LL"
        )
        for n in (2, 3, 4)
    ]
    assert times[0].latency_seconds == times[1].latency_seconds < times[2].latency_seconds


def test_why_not() -> None:
    machine = nccl.communicator("HGX H100", nodes=2)
    table = nccl.estimate("allreduce", "1 MiB", machine)
    with pytest.raises(RangeError, match="in-network reduction"):
        table.row("NVLS")
    with pytest.raises(RangeError, match="no PAT for allreduce"):
        table.row("PAT")
    a100 = nccl.estimate("allreduce", "1 MiB", nccl.communicator("HGX A100", nodes=2))
    with pytest.raises(RangeError, match="LL128 needs GPU and NIC within PXB"):
        a100.row("Ring", "LL128")


def test_pat_is_for_one_rank_per_node_only() -> None:
    single = nccl.communicator("HGX H100", nodes=16, ranks_per_node=1)
    assert nccl.select("all_gather", "1 MiB", single).algorithm == "PAT"
    eight = nccl.estimate("all_gather", "1 MiB", nccl.communicator("HGX H100", nodes=16))
    with pytest.raises(RangeError, match="one rank per node"):
        eight.row("PAT")
    assert "PAT" not in [
        row.algorithm for row in nccl.estimate("all_gather", "1 MiB", single, version="2.21").rows
    ]


def test_environment_choices() -> None:
    machine = nccl.communicator("HGX A100", nodes=2)
    forced = nccl.estimate("allreduce", "1 MiB", machine, protocols=["LL128"])
    assert {row.protocol for row in forced.rows} == {"LL128"}
    ring = nccl.estimate("allreduce", "1 MiB", machine, algorithms=["ring"])
    assert {row.algorithm for row in ring.rows} == {"Ring"}
    with pytest.raises(RangeError, match="offers no algorithm"):
        nccl.estimate("broadcast", "1 MiB", machine, algorithms=["Tree"])


def test_fp8_keeps_away_from_rings() -> None:
    machine = nccl.communicator("HGX H100", nodes=2)
    plain = nccl.estimate("allreduce", "8 GiB", machine, algorithms=["Ring", "Tree"])
    eight_bit = nccl.estimate(
        "allreduce", "8 GiB", machine, algorithms=["Ring", "Tree"], datatype="fp8"
    )
    assert plain.selected.algorithm == "Ring"
    assert eight_bit.selected.algorithm == "Tree"


def test_grouped_operations_multiply_the_latency() -> None:
    machine = nccl.communicator("HGX H100")
    one = nccl.estimate("allreduce", "1 KiB", machine)
    nine = nccl.estimate("allreduce", "1 KiB", machine, operations=9)
    assert nine.row("Ring", "LL").operations == 9
    assert nine.row("Tree", "LL").operations == 2
    assert one.row("Tree", "LL").operations == 1


def test_collnet_needs_heads_for_every_local_rank() -> None:
    machine = nccl.communicator("HGX H100", nodes=2, collnet=True, collnet_heads=4)
    table = nccl.estimate("all_gather", "1 MiB", machine)
    assert {row.algorithm for row in table.rows} == {"Ring"}
    assert "CollNetDirect" in {
        row.algorithm for row in nccl.estimate("allreduce", "1 MiB", machine).rows
    }


def test_user_network_overhead_and_processor() -> None:
    base = nccl.communicator("HGX H100", nodes=2)
    amd = nccl.communicator("HGX H100", nodes=2, cpu_vendor="AMD")
    slow = nccl.communicator("HGX H100", nodes=2, network_overhead="2 us")

    def ring(machine: nccl.Communicator) -> nccl.Row:
        return nccl.estimate("allreduce", "1 KiB", machine).row("Ring", "Simple")

    # 28 steps inside the nodes cost max(3.4, 3 * overhead) us each
    assert (ring(amd).latency_seconds - ring(base).latency_seconds) * 1e6 == pytest.approx(28 * 2.6)
    assert ring(slow).latency_seconds == ring(amd).latency_seconds
    # LL between nodes is capped by the CPU vendor's row
    assert nccl.estimate("allreduce", "1 KiB", amd).row("Ring", "LL").bandwidth.m_as(
        "GB/s"
    ) == pytest.approx(22.5 * 16 / 30)


def test_power_machines_take_the_ring_hop_for_plain_trees() -> None:
    pci = nccl.Graph(
        channels=2,
        bandwidth_intra="12 GB/s",
        bandwidth_inter="12 GB/s",
        pattern="tree",
        type_intra="PHB",
    )
    rows = [
        nccl.estimate(
            "allreduce",
            "1 KiB",
            nccl.Communicator(
                nodes=1, ranks=4, compute_capability=70, tree=pci, cpu_architecture=arch
            ),
        ).row("Tree")
        for arch in ("x86_64", "power")
    ]
    assert (rows[1].latency_seconds - rows[0].latency_seconds) * 1e6 == pytest.approx(6 * 1.7)
    assert {
        row.protocol
        for row in nccl.estimate(
            "allreduce",
            "1 KiB",
            nccl.Communicator(nodes=1, ranks=4, compute_capability=70, tree=pci, ring=pci),
        ).rows
    } == {"LL", "Simple"}


def test_results_show_and_explain_themselves() -> None:
    table = nccl.estimate("allreduce", "256 MiB", nccl.communicator("HGX H100"))
    assert "NVLS/Simple" in str(table)
    text = table.explain()
    assert all(part in text for part in ("does not predict", "tuning.cc", "not compared"))
    data = table.to_dict()
    assert data["rows"][0]["time"]["unit"] == "s"
    assert "<table>" in table._repr_html_()
    row = table.selected
    assert sum(value for value, _ in row.term_values().values()) == pytest.approx(row.time_seconds)
    assert table.size.m_as("MiB") == 256


def test_versions_say_how_far_they_were_checked() -> None:
    known = {v.name: v for v in nccl.versions()}
    assert known["2.30"].verified
    assert not known["2.27"].verified
    assert all(v.source and v.date for v in known.values())
    assert nccl.version("2.20").name == "2.21"
    with pytest.raises(RangeError, match="not known"):
        nccl.version("1.0")
    old = nccl.estimate("allreduce", "1 MiB", nccl.communicator("HGX A100"), version="2.10")
    assert {row.algorithm for row in old.rows} == {"Tree", "Ring"}
    assert any("unverified" in text for text in old.cautions)


@pytest.mark.parametrize("name", [v.name for v in nccl.versions()])
def test_every_release_answers(name: str) -> None:
    for nodes in (1, 2, 4):
        machine = nccl.communicator("HGX H100", nodes=nodes, collnet=nodes > 1)
        assert nccl.select("allreduce", "1 GiB", machine, version=name).time_seconds > 0


def test_refusals() -> None:
    machine = nccl.communicator("HGX H100")
    with pytest.raises(RangeError, match="no cost model"):
        nccl.estimate("all_to_all", "1 MiB", machine)
    with pytest.raises(UnitsError):
        nccl.estimate("allreduce", 1024, machine)
    with pytest.raises(RangeError, match="no NCCL graphs"):
        nccl.communicator("HGX Z9")
    with pytest.raises(RangeError, match="8 GPUs per node"):
        nccl.communicator("HGX H100", ranks_per_node=16)
    with pytest.raises(RangeError, match="build a Communicator"):
        nccl.communicator("HGX H100", nodes=2, ranks_per_node=4)
    with pytest.raises(RangeError, match="at least one rank"):
        nccl.Communicator(nodes=4, ranks=2, compute_capability=90)
    with pytest.raises(RangeError, match="pattern"):
        nccl.Graph(channels=1, bandwidth_intra="1 GB/s", bandwidth_inter="1 GB/s", pattern="star")


LOG = """
node0:17:52 [3] NCCL INFO Pattern 4, crossNic 0, nChannels 8, bw 48.000000/48.000000, type NVL/PIX, sameChannels 0
node0:17:52 [3] NCCL INFO  0 : NET/0 GPU/0 GPU/1 NET/0
node0:17:52 [3] NCCL INFO Pattern 3, crossNic 0, nChannels 8, bw 48.000000/48.000000, type NVL/PIX, sameChannels 0
node0:17:52 [3] NCCL INFO Pattern 3, crossNic 0, nChannels 0, bw 0.000000/0.000000, type NVL/PIX, sameChannels 0
node0:17:52 [3] NCCL INFO Pattern 5, crossNic 0, nChannels 8, bw 40.000000/48.000000, type NVL/PIX, sameChannels 0
"""  # noqa: E501


def test_graphs_are_read_from_a_log() -> None:
    graphs = nccl.graphs_from_log(LOG)
    usual = nccl.communicator("HGX H100", nodes=2)
    assert graphs == {"ring": usual.ring, "tree": usual.tree, "nvls": usual.nvls}
    machine = nccl.Communicator(nodes=2, ranks=16, compute_capability=90, **graphs)
    assert nccl.select("allreduce", "1 GiB", machine) == nccl.select(
        "allreduce",
        "1 GiB",
        nccl.communicator("HGX H100", nodes=2, nvlink_rate=None, node_rate=None),
    )
    chain = nccl.graphs_from_log(LOG.replace("nChannels 0, bw 0.000000", "nChannels 8, bw 48.0"))
    assert chain["collnet_chain"].channels == 8
    with pytest.raises(ReadError, match="NCCL_DEBUG"):
        nccl.graphs_from_log("NCCL version 2.30.7")


@pytest.mark.parametrize(("name", "wanted"), [("ppc64", "power"), ("aarch64", "arm64")])
def test_processors_by_the_names_of_topology_files(name: str, wanted: str) -> None:
    assert nccl.communicator("HGX H100", cpu_architecture=name).cpu_architecture == wanted


def test_symmetric_kernels_approach_base_latency_and_peak() -> None:
    def time(size: str, method: str = "multicast") -> nccl.SymmetricEstimate:
        return nccl.symmetric_estimate(
            "allreduce", size, ranks=8, compute_capability=90, multiprocessors=32, method=method
        )

    # at zero bytes the rounded corner leaves log(1 + 1/e) us above the base latency
    floor = 7.8 + math.log1p(math.exp(-1.0))
    assert time("0 byte").time.m_as("us") == pytest.approx(floor)
    big = time("64 GiB")
    assert big.bandwidth.m_as("GiB/s") == pytest.approx(480.0, rel=1e-6)
    assert big.traffic.m_as("GiB") == pytest.approx(72.0)
    assert big.time_seconds == pytest.approx(72 / 480, rel=1e-3)
    assert time("1 MiB", "direct").traffic.m_as("MiB") == pytest.approx(1.75)
    assert time("1 KiB", "low-latency").time_seconds < time("1 KiB").time_seconds
    gather = nccl.symmetric_estimate(
        "all_gather", "8 GiB", ranks=8, compute_capability=100, multiprocessors=2, method="direct"
    )
    # far below the peak the soft minimum is close to the plain rate of the multiprocessors
    assert gather.bandwidth.m_as("GiB/s") == pytest.approx(110.0, rel=0.05)
    assert gather.traffic.m_as("GiB") == pytest.approx(7.0)
    assert "unverified" in gather.explain()
    with pytest.raises(RangeError, match="no kernel"):
        nccl.symmetric_estimate(
            "broadcast", "1 MiB", ranks=8, compute_capability=90, multiprocessors=8
        )


def bare(**changes: Any) -> nccl.Communicator:
    """Two nodes of eight with every graph, changed as wanted."""
    graph = nccl.Graph(
        channels=8, bandwidth_intra="48 GB/s", bandwidth_inter="48 GB/s", pattern="ring"
    )
    given = {
        "nodes": 2,
        "ranks": 16,
        "compute_capability": 90,
        "tree": graph,
        "ring": graph,
        "collnet_direct": graph,
        "collnet_chain": graph,
        "nvls": graph,
        "collnet": True,
    }
    return nccl.Communicator(**(given | changes))


@pytest.mark.parametrize(
    ("changes", "operation", "algorithm", "reason"),
    [
        ({"nvswitch": False}, "allreduce", "CollNetDirect", "NVSwitch"),
        ({"nvswitch": False}, "allreduce", "NVLS", "multicast"),
        ({"compute_capability": 80}, "allreduce", "NVLSTree", "multicast"),
        ({"ranks": 32}, "allreduce", "CollNetChain", "at most 8 ranks per node"),
        ({"ranks": 80}, "all_gather", "NVLS", "at most 32 ranks per node"),
        ({"collnet_all_gather": False}, "all_gather", "NVLS", "plugin offers no all_gather"),
        ({"collnet_reduce_scatter": False}, "reduce_scatter", "CollNetDirect", "plugin offers no"),
        ({"collnet_heads": 4}, "all_gather", "CollNetDirect", "more ranks than collnet heads"),
        ({"nodes": 16, "host_network": False}, "all_gather", "PAT", "driven from the host"),
        ({"tree": None}, "allreduce", "Tree", "no graph for Tree"),
    ],
)
def test_why_an_algorithm_is_not_on_offer(
    changes: dict[str, Any], operation: str, algorithm: str, reason: str
) -> None:
    table = nccl.estimate(operation, "1 MiB", bare(**changes))
    with pytest.raises(RangeError, match=reason):
        table.row(algorithm)


@pytest.mark.parametrize(
    ("changes", "offered"),
    [
        ({}, True),
        ({"compute_capability": 60, "most_compute_capability": 60}, False),
        ({"compute_capability": 70, "most_compute_capability": 80}, False),
        ({"compute_capability": 90, "most_compute_capability": 100}, True),
    ],
)
def test_ll128_needs_alike_gpus(changes: dict[str, Any], offered: bool) -> None:
    table = nccl.estimate("allreduce", "1 MiB", bare(**changes))
    assert ("Ring", "LL128") in {(r.algorithm, r.protocol) for r in table.rows} or not offered
    if not offered:
        with pytest.raises(RangeError, match="equal GPUs"):
            table.row("Ring", "LL128")


def test_more_channels_run_where_few_are_wide() -> None:
    def running(channels: int, rate: str, **changes: Any) -> int:
        graph = nccl.Graph(
            channels=channels, bandwidth_intra=rate, bandwidth_inter=rate, pattern="ring"
        )
        return bare(ring=graph, **changes).running_channels

    assert running(8, "48 GB/s") == 16
    assert running(4, "48 GB/s") == 16
    assert running(4, "48 GB/s", nodes=1, ranks=8) == 8
    assert running(4, "48 GB/s", compute_capability=80) == 8
    assert running(4, "40 GB/s") == 8
    assert running(40, "48 GB/s") == 64
    assert bare(ring=None).running_channels == 1


def test_ring_and_tree_share_the_smaller_number_of_channels() -> None:
    few = nccl.Graph(channels=2, bandwidth_intra="48 GB/s", bandwidth_inter="48 GB/s", pattern=3)
    whole = nccl.estimate("allreduce", "1 GiB", bare()).row("Ring")
    shared = nccl.estimate("allreduce", "1 GiB", bare(tree=few)).row("Ring")
    assert shared.bandwidth_bytes_per_second == pytest.approx(whole.bandwidth_bytes_per_second / 4)


def test_wrong_counts_name_what_they_count() -> None:
    with pytest.raises(RangeError, match="nodes"):
        bare(nodes=0)
    with pytest.raises(RangeError, match="whole number"):
        bare(ranks=2.5)
    with pytest.raises(RangeError, match="negative"):
        nccl.Graph(channels=1, bandwidth_intra="-1 GB/s", bandwidth_inter="1 GB/s", pattern="ring")
    with pytest.raises(RangeError, match="negative"):
        bare(network_overhead="-1 us")
    with pytest.raises(RangeError, match="negative"):
        nccl.estimate("allreduce", "-1 byte", bare())
    assert bare().ring.bandwidth.m_as("GB/s/dir") == 384
