"""Worked numbers of the catalogue: rates like for like, scopes, peaks, pools."""

from __future__ import annotations

import pytest

import scalemath as sm
from scalemath.core.errors import ConventionError

RATES = [
    ("nvlink5", 900),
    ("nvlink4", 450),
    ("nvlink3", 300),
    ("edr", 12.5),
    ("hdr", 25),
    ("ndr", 50),
    ("xdr", 100),
    ("25GbE", 3.125),
    ("100GbE", 12.5),
    ("200GbE", 25),
    ("400GbE", 50),
    ("800GbE", 100),
    ("PCIe Gen3 x16", 15.7538),
    ("PCIe Gen4 x16", 31.5077),
    ("PCIe Gen5 x16", 63.0154),
    ("PCIe Gen6 x16", 121),
]


@pytest.mark.parametrize(("name", "rate"), RATES)
def test_rates_per_direction(name: str, rate: float) -> None:
    """K011 and table (g), in GB/s per direction."""
    assert sm.catalog.link(name).bandwidth.m_as("GB/s/dir") == pytest.approx(rate, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "raw"),
    [("PCIe Gen3 x16", 16), ("PCIe Gen4 x16", 32), ("PCIe Gen5 x16", 64), ("PCIe Gen6 x16", 128)],
)
def test_pcie_raw_payload_and_usable_are_three_numbers(name: str, raw: float) -> None:
    link = sm.catalog.link(name)
    assert link.raw_bandwidth.m_as("GB/s/dir") == pytest.approx(raw, rel=1e-6)
    assert link.usable_bandwidth.m_as("GB/s/dir") < link.bandwidth.m_as("GB/s/dir") < raw


@pytest.mark.parametrize(
    ("left", "right", "ratio"),
    [
        ("nvlink5", "xdr", 9),
        ("nvlink5", "ndr", 18),
        ("nvlink5", "hdr", 36),
        ("nvlink5", "100GbE", 72),
        ("nvlink5", "25GbE", 288),
        ("nvlink5", "pcie5", 14.2822),
        ("nvlink5", "nvlink4", 2),
        ("pcie5", "hdr", 2.52062),
    ],
)
def test_ratios_like_for_like(left: str, right: str, ratio: float) -> None:
    """K015 and table (g): NVLink 5 of a GPU over this."""
    links = sm.catalog.link(left), sm.catalog.link(right)
    assert sm.compare(*links).ratio == pytest.approx(ratio, rel=1e-5)
    assert sm.check_claim(*links, ratio=ratio).verdict == "ok"


def test_connectx8_is_two_of_400() -> None:
    nic = sm.catalog.nic("ConnectX-8")
    assert nic.rate.m_as("GB/s/dir") == 100
    assert nic.ports == 2
    limit = sm.catalog.record("nic", "ConnectX-8")["port_limit"]
    assert limit.quantity.m_as("Gbit/s/dir") == 400


@pytest.mark.parametrize(
    ("name", "ports", "terabits"),
    [("Quantum-X800", 144, 115.2), ("SN5600", 64, 51.2), ("QM9700", 64, 25.6), ("QM8700", 40, 8)],
)
def test_switch_capacity_is_one_direction_whatever_the_sheet_adds_up(
    name: str, ports: int, terabits: float
) -> None:
    switch = sm.catalog.switch(name)
    assert switch.radix == ports
    assert switch.capacity_per_direction.m_as("Tbit/s/dir") == pytest.approx(terabits)


def test_nvlink_switch_chips_and_trays_fill_a_rack() -> None:
    chip, tray = sm.catalog.switch("NVSwitch chip"), sm.catalog.switch("NVSwitch tray")
    assert chip.capacity_both_directions.m_as("TB/s/bidir") == pytest.approx(7.2)
    assert tray.capacity_both_directions.m_as("TB/s/bidir") == pytest.approx(14.4)
    rack = sm.catalog.rack("GB200 NVL72")
    assert rack.switch_trays * tray.radix == rack.accelerators * rack.link.links
    assert rack.scale_up_total.m_as("TB/s/bidir") == pytest.approx(129.6)


def test_a_rack_total_is_no_bandwidth_of_a_collective() -> None:
    total = sm.catalog.record("rack", "GB200 NVL72")["scale_up"]
    with pytest.raises(ConventionError, match="per rack"):
        sm.allreduce(size="2 GiB", ranks=72, bandwidth=total)
    one = sm.catalog.record("link", "nvlink5")["bandwidth"]
    time = sm.allreduce(size="2147483648 byte", ranks=72, bandwidth=one).time
    assert time.m_as("ms") == pytest.approx(4.70591, rel=1e-5)


def test_a_mesh_gives_one_peer_one_link() -> None:
    port = sm.catalog.port("xGMI MI300X")
    assert port.bandwidth.m_as("GB/s/dir") == 448
    assert port.to_one_peer(7).m_as("GB/s/dir") == 64
    switched = sm.catalog.port("nvlink5")
    assert switched.to_one_peer(71).m_as("GB/s/dir") == 900
    assert switched.per_peer(71).m_as("GB/s/dir") == pytest.approx(12.6761, rel=1e-5)
    assert sm.catalog.accelerator("MI300X").wiring == "mesh"


def test_720_petaflops_come_down_to_the_dense_bf16_of_one_gpu() -> None:
    """K007, K087: 720 is 10 per GPU, 5 dense, 2.5 in BF16; an HGX board has 2.25."""
    rack = sm.catalog.rack("GB200 NVL72")
    assert rack.peak("fp8", sparsity="sparse").quantity.m_as("PFLOP/s") == pytest.approx(720)
    gpu = sm.catalog.accelerator("GB200")
    assert 72 * gpu.peak("fp8").quantity.m_as("PFLOP/s") == pytest.approx(360)
    assert 72 * gpu.peak("bf16").quantity.m_as("PFLOP/s") == pytest.approx(180)
    assert sm.catalog.accelerator("B200").peak("bf16").quantity.m_as("PFLOP/s") == 2.25
    with pytest.raises(ConventionError, match="sparsity"):
        sm.strong_scaling(
            ranks=8,
            size="2 GiB",
            bandwidth="900 GB/s/dir",
            flops="140 TFLOP",
            peak=rack.peak("fp8", sparsity="sparse"),
        )


def test_memory_pools_by_tier() -> None:
    """K086."""
    printed = sm.Rack(accelerators=72, memory={"HBM": sm.Q_("13.5 TB"), "LPDDR": sm.Q_("17 TB")})
    assert printed.memory_pool().total.m_as("TB") == pytest.approx(30.5)
    assert printed.memory_pool().cautions
    assert printed.memory_of("HBM").m_as("GB") / 72 == pytest.approx(187.5)


def test_a_superpod_of_eight_racks() -> None:
    """K089, K088."""
    pod = sm.catalog.cluster("GB200 NVL72", 8)
    assert pod.accelerators == 576
    assert sm.catalog.rack("SuperPOD GB200").accelerators == 576
    tiers = pod.compare_tiers()
    assert tiers["tray"].up / tiers["tray"].out == pytest.approx(18)
    gb300 = sm.catalog.cluster("GB300 NVL72", 8).compare_tiers()
    assert gb300["rack"].up / gb300["rack"].out == pytest.approx(9)


@pytest.mark.parametrize(
    ("name", "domains", "size", "ratio"),
    [
        ("DGX SuperPOD", 8, 72, 18),
        ("DGX SuperPOD GB200", 8, 72, 18),
        ("DGX SuperPOD GB300", 8, 72, 9),
        ("DGX SuperPOD H100", 32, 8, 9),
        ("DGX SuperPOD B200", 32, 8, 18),
    ],
)
def test_a_superpod_is_made_of_its_domains(name: str, domains: int, size: int, ratio: int) -> None:
    pod = sm.catalog.cluster(name)
    assert (pod.domains, pod.domain) == (domains, size)
    tiers = pod.compare_tiers()["accelerator"]
    assert tiers.up / tiers.out == pytest.approx(ratio)


@pytest.mark.parametrize(("name", "across"), [("GB300", 0.521958), ("GB200", 2 * 0.521958)])
def test_two_level_exchange_over_a_superpod(name: str, across: float) -> None:
    """Eight racks: 4.70591 ms inside; 0.521958 ms at 800 Gbit/s, twice as long at 400."""
    placement = sm.catalog.cluster(f"DGX SuperPOD {name}").placement()
    found = sm.allreduce(size="2 GiB", placement=placement, schedule="two-level")
    assert found.si("time") * 1e3 == pytest.approx(4.70591 + across, rel=1e-5)


def test_single_node_boxes() -> None:
    """K116, K105."""
    box = sm.catalog.node("8x RTX PRO 6000")
    assert box.memory.m_as("GB") == 768
    assert box.link is None
    assert box.domain == 1
    assert sm.catalog.node("8x RTX 5090").memory.m_as("GB") == 256
    assert sm.catalog.node("DGX H100").domain == 8
    assert sm.Q_("96 GiB").m_as("GB") * 8 == pytest.approx(824.634, rel=1e-6)


def test_what_is_announced_says_so() -> None:
    """K135."""
    assert sm.catalog.accelerator("Rubin").status == "roadmap"
    assert sm.catalog.module("CPO").roadmap
    assert not sm.catalog.module("800G DSP").roadmap
    assert "[roadmap]" in str(sm.catalog.accelerator("Rubin"))


def test_too_little_known_says_what_is_known() -> None:
    with pytest.raises(sm.ArgumentError, match="capacity"):
        sm.catalog.switch("Tomahawk 3")


def test_usable_rate_goes_into_a_formula_with_its_spread() -> None:
    rate = sm.catalog.usable("nvlink4")
    assert rate.value == pytest.approx(367.2)
    assert rate.rate_kind == "usable"
    assert "H200" in rate.cite()
    found = sm.allreduce(size="1 GiB", ranks=8, bandwidth=rate)
    assert found.bus_bandwidth.m_as("GB/s") == pytest.approx(367.2)
    assert any("usable" in text and "H200" in text for text in found.assumptions)
    assert "H200" in found.explain()
