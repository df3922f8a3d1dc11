"""The inverse question, and the tables of what fits where."""

from __future__ import annotations

from scalemath.decisions import Workload, fit, fit_table, which_cards


def test_which_cards_hold_a_model() -> None:
    found = which_cards(671e9, Workload(precision="fp8"), count=8)
    names = [one.node.accelerator.name for one in found]
    assert "h200-sxm" in names
    assert "h100-sxm5-80gb" not in names
    assert "a100-sxm4-80gb" not in names
    assert [one.sold for one in found] == sorted(one.sold for one in found)
    everything = set(names)
    for name in ("h100-sxm5-80gb", "mi300x", "b200-sxm", "rtx-5090"):
        one = fit(671e9, f"8 x {name}", Workload(precision="fp8"))
        assert (name in everything) is (one.fits and one.really_fits)


def test_table_of_a_node() -> None:
    table = fit_table("8 x 96 GB", (70e9, 405e9))
    assert table.column("model") == ("70B", "405B")
    assert table.column("fp8 share") == ("9.115 % A", "52.73 % A")
    assert table.column("fp16 share") == ("18.23 % A", "105.5 % X")
    assert "768 GB" in table.title
