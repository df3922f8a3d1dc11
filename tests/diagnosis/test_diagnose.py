"""Verdicts and causes on invented logs whose fault is known."""

import numpy as np
import pytest
from attrs import evolve
from helpers.reader_fixtures import (
    IBSTAT,
    LSPCI,
    MATRIX,
    NCCOM,
    NVLINK,
    PERFTEST,
    collective,
)

import scalemath as sm
from scalemath.diagnosis import Setting, diagnose, expected_bus_bandwidth, setting_of
from scalemath.diagnosis.regions import Curve, curve_of, cut, disorder


def log(rate, ranks=8, hosts=1, device="NVIDIA A100-SXM4-80GB", extra="", **given):
    """A log whose bus bandwidth tends to a rate in GB/s."""
    factor = given.pop("factor", 2 * (ranks - 1) / ranks)
    text = collective(ranks, factor, rate / factor, hosts=hosts, **given)
    return sm.read(extra + text.replace("Test GPU", device))


def names(found):
    return [cause.name for cause in found.causes]


PAIR = sm.Placement(
    nodes=2,
    ranks_per_node=8,
    nics_per_node=8,
    domain_bandwidth="300 GB/s/dir",
    nic_bandwidth="200 Gb/s/dir",
)


def test_healthy_box():
    found = diagnose(log(235))
    assert found.verdict == "healthy"
    assert found.si("efficiency") == pytest.approx(0.78, abs=0.02)
    assert [region.regime for region in found.regions] == ["latency", "transition", "bandwidth"]
    assert all(region.verdict == "healthy" for region in found.regions)
    assert "healthy" in found.paragraph
    assert "no schedule beats 300 GB/s" in found.paragraph
    assert len(found.table()) == 3
    assert "cause" in found.explain() or not found.causes


def test_links_not_used():
    found = diagnose(log(14))
    assert found.verdict == "low"
    assert names(found)[0] == "scale-up links not used"
    shared = "h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n"
    assert "peer access over PCIe off" in names(diagnose(log(14, extra=shared)))[:2]


def test_impossible_figures_are_wrong_units():
    found = diagnose(log(235 * 8))
    assert found.verdict == "impossible"
    assert names(found)[0] == "wrong unit: bits read as bytes"
    assert names(diagnose(log(470)))[0] == "wrong unit: both directions added"


def test_above_the_port_by_switches_is_healthy():
    found = diagnose(log(480, device="NVIDIA H100 80GB HBM3", start=12))
    assert found.verdict == "healthy"
    assert names(found)[0] == "reduction in the switch (NVLS)"
    assert found.expected.denominator == pytest.approx(2 * 450e9 * 7 / 9, rel=1e-6)
    off = diagnose(log(365, device="NVIDIA H100 80GB HBM3"))
    assert off.verdict == "low"
    assert "NVLS off" in names(off)


@pytest.mark.parametrize(("used", "rate"), [(1, 23.6), (4, 94), (2, 47)])
def test_some_interfaces_used(used, rate):
    found = diagnose(log(rate, 16, hosts=2), PAIR)
    assert found.verdict == "low"
    assert names(found)[0] == f"{used} of 8 interfaces used"


def test_all_interfaces_used():
    found = diagnose(log(189, 16, hosts=2), PAIR)
    assert found.verdict == "healthy"
    assert found.si("efficiency") == pytest.approx(0.945, abs=0.02)


def test_tcp():
    found = diagnose(log(5, 16, hosts=2, start=400), PAIR)
    assert names(found)[0] == "TCP fallback"
    said = "h:1:2 [0] NCCL INFO Using network Socket\n"
    found = diagnose(log(5, 16, hosts=2, extra=said), PAIR)
    assert found.causes[0].weight > 0.9
    assert "NET/Socket" in found.causes[0].evidence


def test_no_gpudirect():
    said = "h:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
    found = diagnose(log(80, 16, hosts=2, extra=said), PAIR)
    assert names(found)[0] == "no GPUDirect"


def test_all_to_all_counts_one_interface():
    text = log(25, 16, hosts=2, factor=15 / 16, operation="none", share=16, name="alltoall")
    found = diagnose(text, PAIR)
    assert found.setting.operation == "all_to_all"
    assert found.expected.denominator == pytest.approx(2 * 25e9)
    assert found.si("efficiency") == pytest.approx(0.5, abs=0.02)


def test_wrong_rank_count():
    found = diagnose(log(200, 16, hosts=1, factor=2 * 7 / 8), "A100")
    assert "wrong rank count" in names(found)


def test_failed_and_unknown_logs():
    header = collective().split("#  size")[0] + "Test NCCL failure common.cu:958\n"
    found = diagnose(sm.read(header))
    assert found.verdict == "not comparable"
    assert names(found)[0] == "the run failed"
    found = diagnose(sm.read(collective(devices=False)))
    assert found.verdict == "not comparable"
    assert "cluster=" in found.paragraph
    found = diagnose(sm.read(NCCOM))
    assert found.verdict == "not comparable"
    wrong = collective(wrong="3").replace("Test GPU", "A100-SXM4-40GB")
    assert names(diagnose(sm.read(wrong)))[0] == "wrong results"


def test_sizes_too_small():
    text = collective(8, rate=134).replace("Test GPU", "NVIDIA A100-SXM4-80GB")
    cut_short = text[: text.index(f"{2**22:12d}")]
    found = diagnose(sm.read(cut_short))
    assert "sizes too small" in names(found)


def test_disturbed_run():
    lines = collective().replace("Test GPU", "A100-SXM4-40GB").splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith(f"{2**14:12d}"))
    lines[place] = lines[place].replace("   20.16", "  920.16")
    found = diagnose(sm.read("\n".join(lines) + "\n"))
    assert "disturbed run" in names(found)


def test_other_outputs_are_evidence():
    run = log(80, 16, hosts=2)
    swapped = MATRIX.replace("PXB     SYS", "SYS     SYS").replace("SYS     PXB", "SYS     SYS")
    found = diagnose(run, PAIR, evidence=[sm.read(swapped), IBSTAT, LSPCI, NVLINK])
    assert {
        "GPU and interface not aligned",
        "ports down",
        "PCIe link slower than able",
        "scale-up links inactive",
    } <= set(names(found))
    slow = PERFTEST.replace("MB/sec", "Gb/sec")
    assert "the network itself is slow" not in names(diagnose(run, PAIR, evidence=PERFTEST))
    weak = "#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
    weak += "1048576 5000 40.0 40.0 0.004768\n"
    assert names(diagnose(run, PAIR, evidence=weak))[0] == "the network itself is slow"
    far = log(9, 16, hosts=2)
    assert "the network is fine, the way to the GPU is not" in names(
        diagnose(far, PAIR, evidence=slow)
    )
    with pytest.raises(sm.ScalemathError, match="evidence is a reading"):
        diagnose(run, PAIR, evidence=[run])


def test_usual_rates_follow_the_sizes():
    found = diagnose(log(235))
    rates = found.usual_rates()
    assert (rates > 0).all()
    assert rates[-1] / found.curve.rates[-1] == pytest.approx(1.0, abs=0.25)
    assert np.isnan(diagnose(sm.read(collective(devices=False))).usual_rates()).all()


def test_domains_apart():
    found = diagnose(log(380, 8, hosts=2, device="NVIDIA GB300", factor=7 / 8, operation="none",
                         share=8, name="all_gather"))  # fmt: skip
    assert names(found)[0] == "nodes in different scale-up domains"


def test_clusters_nodes_and_names():
    node = sm.catalog.node("dgx-a100")
    text = log(189, 16, hosts=2)
    by_node, by_place = diagnose(text, node), diagnose(text, PAIR)
    by_cluster = diagnose(text, sm.Cluster(nodes=2, node=node))
    for found in (by_node, by_cluster, by_place):
        assert found.expected.denominator == pytest.approx(200e9)
        assert found.verdict == "healthy"
    with pytest.raises(sm.ScalemathError, match="no such device"):
        diagnose(text, "Z9000")
    with pytest.raises(sm.ScalemathError, match="takes a log"):
        diagnose(sm.read("Settings for eth0:\n\tSpeed: 100000Mb/s\n"))


def test_expectations_need_rates():
    with pytest.raises(sm.ScalemathError, match="rate that limits"):
        expected_bus_bandwidth(Setting(operation="allreduce", ranks=8, domain=8))
    with pytest.raises(sm.ScalemathError, match="no expectation"):
        expected_bus_bandwidth(Setting(operation="", ranks=8, domain=8, domain_rate=1e9))


@pytest.mark.parametrize("operation", ["allreduce", "all_gather", "reduce_scatter", "all_to_all"])
@pytest.mark.parametrize(("ranks", "nodes"), [(8, 1), (16, 2), (32, 4)])
@pytest.mark.parametrize("device", ["A100-SXM4-40GB", "NVIDIA H100 80GB HBM3", "NVIDIA B200"])
def test_usual_never_above_the_bound(operation, ranks, nodes, device):
    run = log(10, ranks, hosts=nodes, device=device).main
    setting = setting_of(run)
    made = evolve(setting, operation=operation)
    found = expected_bus_bandwidth(made)
    assert found.low <= found.likely <= found.high
    assert found.likely <= found.limit * (1 + 1e-9)
    assert found.to_dict()["values"]["usual"]["unit"] == "byte/s"


def test_leaving_out_a_log_changes_its_sources():
    setting = Setting(operation="reduce", ranks=8, domain=8, domain_rate=300e9, fabric="nvlink3")
    whole = expected_bus_bandwidth(setting)
    left = expected_bus_bandwidth(setting, leave_out=("a100_1n8g_nvlink_reduce_oldcols",))
    assert whole.source != left.source


def test_regions_of_a_curve():
    sizes = 2.0 ** np.arange(3, 34)
    times = 20e-6 + sizes / 200e9
    curve = Curve(sizes, times, sizes / times)
    found = cut(curve)
    assert [part.name for part in found] == ["latency", "transition", "bandwidth"]
    assert sum(part.curve.sizes.size for part in found) == sizes.size
    assert disorder(curve) == 0.0
    empty = np.array([])
    assert cut(Curve(empty, empty, empty)) == []
    assert curve_of(sm.read(collective()).main).sizes.size == 11


def test_plot():
    pytest.importorskip("matplotlib").use("Agg")
    found = diagnose(log(235))
    axes = found.plot()
    assert axes.get_xscale() == "log"
    assert "healthy" in axes.get_title()
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {
        "measured",
        "usual",
        "usual peak",
        "bound",
    }
