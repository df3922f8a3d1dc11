"""The data of the catalogue against itself: sources, closures, arithmetic."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

import scalemath as sm
from scalemath.core.datum import Datum
from scalemath.records.library import FILES, builtin, builtin_sources
from scalemath.records.record import Record
from scalemath.records.schema import FAMILIES


def every(family: str = "") -> list[Record]:
    names = [family] if family else list(FAMILIES)
    return [record for name in names for record in builtin(name)]


def data() -> list[tuple[Record, str, Datum]]:
    found = [(r, key, datum) for r in every() for key, datum in r.data.items()]
    others = [
        (r, key, datum) for r in every() for key, many in r.alternatives.items() for datum in many
    ]
    return found + others


def test_every_value_has_source_and_date() -> None:
    for record, key, datum in data():
        assert datum.source.strip(), (record.name, key)
        assert re.fullmatch(r"20\d\d(-\d\d){0,2}", datum.date), (record.name, key)
        assert datum.tier in ("T1", "T2", "T3", "derived"), (record.name, key)


def test_weak_sources_are_shown_as_estimates() -> None:
    weak = [(r, k, d) for r, k, d in data() if d.tier == "T3"]
    assert len(weak) > 30
    for record, key, datum in weak:
        assert datum.kind in ("estimate", "roadmap", "vendor claim"), (record.name, key)
        assert f"[{datum.kind}]" in str(datum)


def test_a_weak_value_never_stands_above_a_strong_one() -> None:
    rank = {"T1": 0, "T2": 1, "derived": 1, "T3": 2}
    for record in every():
        for key, others in record.alternatives.items():
            best = min(rank[other.tier] for other in others)
            if rank[record.data[key].tier] > best:
                passed_over = [o for o in others if rank[o.tier] == best]
                same = "the same figure in both directions"
                assert any(same in o.note or "wrong" in o.note for o in passed_over), record.name


def test_every_value_not_chosen_says_why() -> None:
    for record in every():
        for key, others in record.alternatives.items():
            assert key in record.data
            assert all(other.note for other in others), (record.name, key)


def test_every_source_is_used_and_names_no_machine() -> None:
    text = "".join(
        (files("scalemath.records") / "data" / f"{name}.toml").read_text(encoding="utf-8")
        for names in FILES.values()
        for name in names
    )
    unused = [name for name in builtin_sources() if f'"{name}"' not in text]
    assert not unused
    everything = text + repr(builtin_sources())
    assert not re.search(r"/(work|root|tmp|home)/", everything)
    assert everything.isascii()


def test_rates_of_hardware_say_their_direction() -> None:
    for record, key, datum in data():
        bare = datum.unit in ("GB/s", "TB/s", "Gbit/s", "Tbit/s")
        if bare:
            assert key in ("memory_bandwidth", "neuronlink"), (record.name, key)


def test_names_are_unique_and_no_alias_means_two_entries() -> None:
    for family in FAMILIES:
        seen: dict[str, str] = {}
        for record in every(family):
            for name in {record.name, *(a.lower() for a in record.aliases)}:
                assert seen.setdefault(name, record.name) == record.name, name


def test_every_entry_is_found_by_each_of_its_names() -> None:
    for record in every():
        for name in (record.name, record.title, *record.aliases, record.name.replace("-", " ")):
            assert sm.catalog.record(record.family, name) is record, name


# --- closures ------------------------------------------------------------------------------


def number(record: Record, key: str, unit: str) -> float:
    datum = record.data[key]
    return float(datum.value if unit == "1" else datum.quantity.m_as(unit))


def test_lanes_times_rate_times_coding_is_the_link() -> None:
    checked = 0
    for record in every("link"):
        if not {"lanes", "lane_rate", "encoding", "bandwidth"} <= set(record.data):
            continue
        lane = record.data["lane_rate"]
        rate = lane.quantity.m_as("GT/s") / 8 if lane.unit == "GT/s" else 0.0
        rate = rate or number(record, "lane_rate", "GB/s/dir")
        one = number(record, "lanes", "1") * rate * number(record, "encoding", "1")
        links = number(record, "links", "1") if "links" in record.data else 1
        total = number(record, "bandwidth", "GB/s/dir")
        assert links * one == pytest.approx(total, rel=1e-6), record.name
        if "per_link" in record.data:
            assert one == pytest.approx(number(record, "per_link", "GB/s/dir"), rel=1e-6)
        checked += 1
    assert checked >= 25


def test_links_times_link_is_the_total() -> None:
    checked = 0
    for record in every("link"):
        if {"links", "per_link", "bandwidth"} <= set(record.data):
            total = number(record, "links", "1") * number(record, "per_link", "GB/s/dir")
            assert total == pytest.approx(number(record, "bandwidth", "GB/s/dir"), rel=1e-9)
            checked += 1
    assert checked >= 10


def test_a_link_never_gives_more_than_its_data_sheet() -> None:
    for record in every("link"):
        if {"usable", "bandwidth"} <= set(record.data):
            usable = number(record, "usable", "GB/s/dir")
            assert usable < number(record, "bandwidth", "GB/s/dir"), record.name


def test_ports_times_rate_is_the_capacity_in_the_stated_direction() -> None:
    checked = 0
    for record in every("switch"):
        if {"ports", "port_rate", "capacity"} <= set(record.data):
            total = number(record, "ports", "1") * number(record, "port_rate", "Tbit/s/dir")
            assert total == pytest.approx(number(record, "capacity", "Tbit/s/dir"), rel=1e-9)
            checked += 1
    assert checked >= 14


@pytest.mark.parametrize("name", ["a100-sxm4-80gb", "h100-sxm5-80gb", "mi355x"])
def test_tensor_cores_times_clock_is_the_printed_peak(name: str) -> None:
    record = sm.catalog.record("accelerator", name)
    cores, fused = number(record, "tensor_cores", "1"), number(record, "fma_per_cycle", "1")
    peak = 2 * cores * fused * record["clock"].quantity.m_as("Hz")
    assert peak == pytest.approx(record["peak_bf16"].quantity.m_as("FLOP/s"), rel=0.01)


SPARSE_IS_NOT_TWICE = {("b300-sxm", "fp4"), ("trainium2", "bf16")}


def test_structured_sparsity_doubles_the_peak_except_where_it_is_known_not_to() -> None:
    checked = set()
    for record in every("accelerator"):
        peaks = [d for k, d in record.data.items() if k.startswith("peak_")]
        dense = {p.precision: p.value for p in peaks if p.sparsity == "dense" and not p.accumulate}
        for peak in peaks:
            if peak.sparsity != "sparse" or peak.precision not in dense:
                continue
            ratio = peak.value / dense[peak.precision]
            if (record.name, peak.precision) in SPARSE_IS_NOT_TWICE:
                assert abs(ratio - 2) > 0.1
            else:
                assert ratio == pytest.approx(2, rel=2e-3), (record.name, peak.precision)
            checked.add((record.name, peak.precision))
    assert checked >= SPARSE_IS_NOT_TWICE


def test_every_peak_says_precision_and_sparsity_unless_the_vendor_does_not() -> None:
    for record in [*every("accelerator"), *every("rack")]:
        for key, datum in record.data.items():
            if key.startswith("peak_"):
                assert datum.precision, (record.name, key)
                unsaid = record.name == "rubin-vr200" and key == "peak_nvfp4_inference"
                assert datum.sparsity or unsaid, (record.name, key)


def test_scale_up_of_an_accelerator_is_that_of_its_link() -> None:
    pairs = {
        "a100-sxm4-80gb": "nvlink3",
        "h100-sxm5-80gb": "nvlink4",
        "h200-sxm": "nvlink4",
        "b200-sxm": "nvlink5",
        "gb200": "nvlink5",
        "b300-sxm": "nvlink5",
        "gb300": "nvlink5",
        "rubin-vr200": "nvlink6",
        "mi250x": "xgmi-mi250x",
        "mi300x": "xgmi-mi300x",
        "mi325x": "xgmi-mi300x",
        "mi355x": "xgmi-mi355x",
        "tpu-v5e": "ici-v5e",
        "tpu-v5p": "ici-v5p",
        "tpu-v6e": "ici-v6e",
        "tpu-v7": "ici-v7",
    }
    for name, link in pairs.items():
        rate = sm.catalog.accelerator(name).scale_up.m_as("GB/s/dir")
        assert rate == pytest.approx(sm.catalog.link(link).bandwidth.m_as("GB/s/dir")), name


def test_measured_share_is_bandwidth_over_nominal() -> None:
    for record in every("measurement"):
        if "efficiency" in record.data:
            share = number(record, "bandwidth", "GB/s/dir") / number(record, "nominal", "GB/s/dir")
            assert share == pytest.approx(number(record, "efficiency", "1"), abs=2e-4), record.name


def test_only_in_network_reduction_and_two_node_trees_pass_the_wire() -> None:
    above = {r.name for r in every("measurement") if "efficiency" in r.data
             and r["efficiency"].value > 1 and not r.facts["in_network"]}  # fmt: skip
    assert above == {"h100-2x8-roce-allreduce"}


@pytest.mark.parametrize("record", every("model"), ids=lambda record: record.name)
def test_parameters_follow_from_the_architecture(record: Record) -> None:
    model = sm.catalog.model(record.name)
    assert model.parameters == record["parameters"].value
    if "active_parameters" in record.data:
        assert model.active_parameters == record["active_parameters"].value
    assert 2 * model.kv_values_per_token == record["kv_per_token"].quantity.m_as("byte")


KV_TABLE = {"deepseek-v3": 70272, "qwen2-5-72b": 327680, "llama-3-1-405b": 516096}


@pytest.mark.parametrize(("name", "size"), KV_TABLE.items())
def test_key_value_sizes_of_a_published_table(name: str, size: int) -> None:
    """DeepSeek-V3 at ISCA 2025, table 1 (arXiv:2505.09343), in bytes per token."""
    assert 2 * sm.catalog.model(name).kv_values_per_token == size


def test_racks_keep_memory_by_tier() -> None:
    rack = sm.catalog.rack("GB200 NVL72")
    assert rack.memory_of("HBM").m_as("TB") == pytest.approx(13.392)
    assert rack.memory_of("LPDDR5X").m_as("TB") == pytest.approx(17.28)
    assert rack.peak("fp8", sparsity="sparse").quantity.m_as("PFLOP/s") == pytest.approx(720)
    assert rack.peak("bf16").quantity.m_as("PFLOP/s") == pytest.approx(180)
    assert rack.accelerators == 2 * rack.cpus == 4 * rack.trays
