"""Finding entries: forgiving where one is meant, a list where several are."""

from __future__ import annotations

import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("h100-sxm5-80gb", "h100-sxm5-80gb"),
        ("H100 SXM", "h100-sxm5-80gb"),
        ("h100_sxm", "h100-sxm5-80gb"),
        ("NVIDIA H100 SXM5", "h100-sxm5-80gb"),
        ("RTX PRO 6000", "rtx-pro-6000-blackwell-server"),
        ("Ironwood", "tpu-v7"),
        ("MI300", "mi300x"),
    ],
)
def test_accelerators(name: str, entry: str) -> None:
    assert sm.catalog.record("accelerator", name).name == entry


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("nvlink5", "nvlink5"),
        ("NVLink 5", "nvlink5"),
        ("NVLink 5.0", "nvlink5"),
        ("xdr", "infiniband-xdr"),
        ("InfiniBand NDR", "infiniband-ndr"),
        ("PCIe Gen5 x16", "pcie5-x16"),
        ("pcie 5.0", "pcie5-x16"),
        ("400GbE", "ethernet-400g"),
    ],
)
def test_links(name: str, entry: str) -> None:
    assert sm.catalog.record("link", name).name == entry


@pytest.mark.parametrize(
    ("family", "name", "listed"),
    [
        ("accelerator", "H100", "h100-pcie-80gb"),
        ("accelerator", "A100", "a100-sxm4-40gb"),
        ("rack", "NVL72", "gb300-nvl72"),
        ("link", "nvlink", "nvlink4"),
    ],
)
def test_what_could_mean_several_is_refused_with_the_list(
    family: str, name: str, listed: str
) -> None:
    with pytest.raises(ArgumentError, match="several") as error:
        sm.catalog.record(family, name)
    assert listed in str(error.value)


@pytest.mark.parametrize(
    ("family", "name", "near"),
    [("accelerator", "H101 SXM", "h100-sxm5-80gb"), ("link", "nvlnk5", "nvlink5")],
)
def test_nothing_fits_but_near_matches_are_named(family: str, name: str, near: str) -> None:
    with pytest.raises(ArgumentError, match="near it") as error:
        sm.catalog.record(family, name)
    assert near in str(error.value)


@pytest.mark.parametrize(
    ("family", "name", "near"),
    [
        ("accelerator", "L40", "l40s"),
        ("accelerator", "H20", "h200-sxm"),
        ("accelerator", "B20", "b200-sxm"),
        ("accelerator", "A10", "a100-sxm4-80gb"),
        ("accelerator", "MI250", "mi250x"),
        ("accelerator", "Ascend 910", "ascend-910c"),
        ("accelerator", "Ascend 910B", "ascend-910c"),
        ("model", "Gemma 2 27B", "gemma-3-27b"),
        ("model", "Llama 3 70B", "llama-3-1-70b"),
        ("model", "Qwen2 72B", "qwen2-5-72b"),
        ("model", "Qwen 72B", "qwen2-5-72b"),
        ("node", "DGX B2", "dgx-b200"),
        ("rack", "GB200 NVL7", "gb200-nvl72"),
        ("switch", "QM97", "quantum-2-qm9700"),
    ],
)
def test_another_product_is_not_taken_for_it(family: str, name: str, near: str) -> None:
    with pytest.raises(ArgumentError, match="near it") as error:
        sm.catalog.record(family, name)
    assert near in str(error.value)


@pytest.mark.parametrize(
    ("family", "name", "entry"),
    [
        ("rack", "gb300", "gb300-nvl72"),
        ("accelerator", "h100 sxm 80gb", "h100-sxm5-80gb"),
        ("accelerator", "AMD MI300X", "mi300x"),
        ("accelerator", "NVIDIA B200", "b200-sxm"),
        ("model", "DeepSeek", "deepseek-v3"),
        ("model", "llama 3.1 70b", "llama-3-1-70b"),
    ],
)
def test_words_that_name_one_product_are_enough(family: str, name: str, entry: str) -> None:
    assert sm.catalog.record(family, name).name == entry


def test_nothing_near_points_to_the_table() -> None:
    with pytest.raises(ArgumentError, match=r"catalog\.table"):
        sm.catalog.record("nic", "zzzz")
    with pytest.raises(ArgumentError, match="accelerator"):
        sm.catalog.record("graphics", "H100")


def test_search_looks_at_all_words_and_sorts_by_likeness() -> None:
    found = sm.catalog.search("nvlink")
    assert {"nvlink3", "nvlink4", "nvlink5"} <= set(found.names)
    assert found.names[0].startswith("nvlink")
    assert len(sm.catalog.search("nvlink", "link")) == 7
    assert sm.catalog.search("infiniband 800g").names[0] == "infiniband-xdr"
    assert "nothing found" in str(sm.catalog.search("no such thing"))


def test_tables_show_units_and_mark_estimates() -> None:
    table = sm.catalog.table("link")
    row = next(r for r in table if r["name"] == "nvlink5")
    assert row["bandwidth"] == "900 GB/s/dir"
    accelerators = sm.catalog.table("accelerator")
    assert next(r for r in accelerators if r["name"] == "rtx-5090")["memory"] == "~32 GB"
    assert "<table>" in sm.catalog.search("nvlink")._repr_html_()
    assert table.to_markdown().startswith("| name |")
    assert str(table).splitlines()[0] == "Links"
    assert len(sm.catalog.table()) > 230
    assert set(sm.catalog.families()) == set(sm.catalog.table().column("family"))


def test_sources_of_names_objects_and_records() -> None:
    for entry in (
        "nvlink5",
        sm.catalog.link("nvlink5"),
        sm.catalog.record("link", "nvlink5"),
    ):
        table = sm.catalog.sources(entry)
        assert "per_link (not chosen)" in table.column("value of")
        assert any("nvidia.com" in source for source in table.column("source"))
    assert len(sm.catalog.sources(sm.catalog.latency("roce-same-leaf"))) == 1
    with pytest.raises(ArgumentError, match="give the name"):
        sm.catalog.sources(sm.catalog.nic("ConnectX-7"))
    with pytest.raises(ArgumentError, match="no entry"):
        sm.catalog.sources("nothing like that")
