"""Perftest, OSU, topology, links and ports, on invented outputs."""

import math

import pytest
from helpers.reader_fixtures import (
    CONFIG,
    ETHTOOL,
    GRAPH_XML,
    IBSTAT,
    IBSTATUS,
    LSPCI,
    MATRIX,
    NETDEV,
    NVLINK,
    OSU,
    OSU_ALLGATHER,
    OSU_BOTH,
    PERFTEST,
    PERFTEST_BOTH,
    PERFTEST_LATENCY,
    ROCM,
    SYSFS,
    TOPOLOGY_XML,
)

import scalemath as sm

GB = 1e9


def test_perftest_mb_is_2_to_the_20():
    run = sm.read(PERFTEST).main
    assert run.si("peak") == pytest.approx(20900 * 2**20)
    assert run.device == "mlx5_0"
    assert run.checks[0].passed
    assert run.rows.units["bandwidth"] == "byte/s/dir"
    assert str(run.rows[1].message_rate.to("1/s").magnitude).startswith("20900")


def test_perftest_unit_is_corrected_by_the_message_rate():
    run = sm.read(PERFTEST.replace("MB/sec", "Gb/sec")).main
    assert not run.checks[0].passed
    assert run.si("peak") == pytest.approx(20900 * 2**20)


def test_perftest_sum_of_both_directions_is_split():
    run = sm.read(PERFTEST_BOTH).main
    assert run.bidirectional
    assert run.si("peak") == pytest.approx(20900 * 2**20 / 2)
    assert any("both directions" in caution for caution in run.cautions)


def test_perftest_without_a_peak():
    text = PERFTEST.replace("20000.00", "0.00").replace("21000.00", "0.00")
    run = sm.read(text).main
    assert run.si("peak") == pytest.approx(20900 * 2**20)
    assert math.isnan(run.rows.si("peak_bandwidth")[0])


def test_perftest_several_tables_and_unknown_units():
    assert len(sm.read(PERFTEST + PERFTEST).runs) == 2
    with pytest.raises(sm.ReadError, match="expected a rate"):
        sm.read(PERFTEST.replace("MB/sec", "furlong"))


def test_perftest_latency():
    run = sm.read(PERFTEST_LATENCY).main
    assert run.latency_test
    assert run.si("least_time") == pytest.approx(1.2e-6)
    assert run.rows["time_99"][1].to("us").magnitude == pytest.approx(1.61)
    assert math.isnan(run.si("peak"))


def test_osu():
    log = sm.read(OSU)
    assert log.rows.si("bandwidth")[1] == pytest.approx(12 * GB)
    assert sm.read(OSU_BOTH).rows.si("bandwidth")[0] == pytest.approx(12 * GB)
    gather = sm.read(OSU_ALLGATHER)
    assert gather.rows.si("time")[0] == pytest.approx(4.1e-6)
    assert any("not the total" in caution for caution in gather.cautions)
    assert len(sm.read(OSU + OSU_ALLGATHER).runs) == 2
    again = OSU + "# Size      Bandwidth (MB/s)  Messages/s\n1 2.5 2500000\n"
    assert [run.title for run in sm.read(again).runs] == ["MPI Bandwidth Test"] * 2


def test_matrix():
    machine = sm.read(MATRIX)
    assert len(machine.gpus) == 4
    assert [nic.device for nic in machine.nics] == ["mlx5_0", "mlx5_1"]
    assert machine.numa_nodes == (0, 1)
    assert machine.affinity["GPU2"] == ("NIC1",)
    assert machine.links_per_gpu == 12
    assert machine.fully_connected
    assert not machine.mesh
    assert not machine.misaligned
    assert machine.path("NIC0", "GPU3") == "SYS"
    node = machine.node(nic_rate="25 GB/s/dir")
    assert (node.accelerators, node.nics) == (4, 2)


def test_matrix_of_a_mesh_adds_up():
    rows = {"GPU0": "X NV1 NV2 SYS", "GPU1": "NV1 X SYS NV2", "GPU2": "NV2 SYS X NV1"}
    rows["GPU3"] = "SYS NV2 NV1 X"
    text = "GPU0 GPU1 GPU2 GPU3 CPU Affinity\n"
    text += "".join(f"{name} {cells} 0-3\n" for name, cells in rows.items())
    machine = sm.read(text)
    assert machine.mesh
    assert machine.links_per_gpu == 3
    assert not machine.fully_connected


def test_matrix_cut_off():
    lines = MATRIX.splitlines()
    with pytest.raises(sm.ReadError, match=r"line 3: expected 6 paths"):
        sm.read("\n".join([*lines[:2], lines[2][:30], *lines[3:]]) + "\n")
    with pytest.raises(sm.ReadError, match="expected a row for GPU2"):
        sm.read("\n".join(lines[:3]) + "\n")


def test_misaligned_interfaces():
    swapped = MATRIX.replace("PXB     SYS     32-63", "SYS     SYS     32-63")
    swapped = swapped.replace("SYS     PXB     32-63", "SYS     SYS     32-63")
    assert set(sm.read(swapped).misaligned) == {"GPU2", "GPU3"}


def test_rocm():
    machine = sm.read(ROCM)
    assert machine.path("GPU0", "GPU1") == "XGMI"
    assert machine.path("GPU0", "GPU2") == "PCIE"
    assert machine.gpus[2].numa == 1
    assert not machine.fully_connected
    assert any("PCIe only" in caution for caution in machine.cautions)
    with pytest.raises(sm.ReadError, match=r"line 12: expected 3 cells"):
        sm.read(ROCM.replace("GPU2   PCIE         PCIE         0", "GPU2   PCIE"))


def test_nvlink_is_per_direction():
    found = sm.read(NVLINK)
    assert found.active() == {0: 2, 1: 3}
    assert found.rates()[1] == pytest.approx(3 * 26.562e9)
    assert any("inactive" in caution for caution in found.cautions)
    with pytest.raises(sm.ReadError, match="line 1: expected a line GPU 0"):
        sm.read("Link 0: 25 GB/s\nx\n")


def test_topology_xml():
    machine = sm.read(TOPOLOGY_XML)
    assert [gpu.links for gpu in machine.gpus] == [{"switch": 18}] * 2
    assert machine.path("GPU0", "GPU1") == "NV18"
    assert machine.path("GPU0", "NIC0") == "PIX"
    assert machine.misaligned == ("GPU1",)
    assert machine.nics[0].rate.to("Gbit/s/dir").magnitude == pytest.approx(400)
    assert machine.gpus[0].pcie == pytest.approx(32e9 * 16 * 128 / 130 / 8)
    assert machine.gpus[1].pcie == pytest.approx(2.5e9 * 16 * 0.8 / 8)
    assert machine.node().nic_rate.to("Gbit/s/dir").magnitude == pytest.approx(400)
    assert "GPU1" in str(machine.table())


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        (lambda t: '<!DOCTYPE a [<!ENTITY b "c">]>\n' + t, "document type"),
        (lambda t: t.replace('vendor="Test"', 'vendor="&x;"', 1), "XML"),
        (lambda t: t[:-12], "well-formed"),
        (lambda _: "<system>\n" + "<cpu>" * 100 + "</cpu>" * 100 + "</system>", "nested"),
        (lambda t: t.replace("0000:10:00.0", "nonsense"), "line 3: expected a PCI address"),
        (lambda t: t.replace('speed="400000"', 'speed="9' + "9" * 40 + '"'), "speed in Mbit/s"),
        (lambda _: '<system version="1">\n</system>\n', "GPUs or network interfaces"),
    ],
)
def test_hostile_xml(changed, wanted):
    with pytest.raises(sm.ReadError, match=wanted):
        sm.read.nccl_topology(changed(TOPOLOGY_XML))


def test_graph_xml():
    dump = sm.read(GRAPH_XML)
    ring = dump.named("ring")
    assert ring.channels == 2
    assert ring.graph.channels == 2
    assert dump.accelerators == 2
    assert dump.interfaces == 2
    with pytest.raises(sm.ReadError, match="expected the element <graphs>"):
        sm.read.nccl_graph(TOPOLOGY_XML)


def test_lspci():
    listing = sm.read(LSPCI)
    bridge, gpu, nic, virtual = listing.devices
    assert gpu.idle
    assert "idle" in gpu.judgement
    assert "below may be" in bridge.judgement
    assert nic.judgement == "fewer lanes than it is able of"
    assert "virtual" in virtual.judgement
    assert listing.suspicious == (nic,)
    assert nic.rate.to("GB/s/dir").magnitude == pytest.approx(31.5, abs=0.1)
    assert "idle" in str(listing.table())


def test_ports_that_are_down_print_a_rate():
    found = sm.read(IBSTAT)
    assert found.si("rate") == pytest.approx(400e9 / 8)
    assert [port.left_out.split(",")[0] for port in found.ports] == ["", "down", "bond"]
    assert found.named("mlx5_1").rate_bytes == 0
    assert any("down though" in caution for caution in found.cautions)
    with pytest.raises(sm.ScalemathError, match="there are mlx5_0"):
        found.named("nothing")


def test_other_forms_of_ports():
    rdma = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth2\n"
    rdma += "link mlx5_1/1 state DOWN physical_state POLLING\n"
    assert [port.up for port in sm.read(rdma).ports] == [True, False]
    assert sm.read(rdma).named("eth2").device == "mlx5_0"
    assert sm.read(IBSTATUS).si("rate") == pytest.approx(25 * GB)
    shared = sm.read(NETDEV)
    assert len(shared.usable) == 1
    assert any("share one physical port" in caution for caution in shared.cautions)
    ethernet = sm.read(ETHTOOL)
    assert ethernet.si("rate") == pytest.approx(12.5 * GB)
    assert ethernet.ports[1].left_out == "down"
    prompt = "$ ethtool enp1s0 | grep Speed\n\tSpeed: 200000Mb/s\n"
    assert sm.read(prompt).named("enp1s0").rate_bytes == pytest.approx(25 * GB)


def test_sysfs():
    found = sm.read(SYSFS)
    assert found.si("rate") == pytest.approx(50 * GB)
    assert found.named("mlx5_0").hardware == "MT4129"
    assert not found.contradictions
    assert sm.read(SYSFS.replace("400 Gb", "200 Gb")).contradictions
    with pytest.raises(sm.ReadError, match="line 4: expected a rate"):
        sm.read(SYSFS.replace("400 Gb/sec", "fast"))


def test_model_config():
    model = sm.read(CONFIG)
    assert model.layers == 2
    with pytest.raises(sm.ReadError, match="number of heads"):
        sm.read(CONFIG.replace("num_attention_heads", "x"))
    with pytest.raises(sm.ReadError, match="expected JSON"):
        sm.read(CONFIG[:-4])
    with pytest.raises(sm.ReadError):
        sm.read(CONFIG.replace('"hidden_size": 64', '"hidden_size": -64'))
    with pytest.raises(sm.ReadError, match="moderate depth"):
        sm.read.model_config('{"model_type":\n' + "[" * 100000)
