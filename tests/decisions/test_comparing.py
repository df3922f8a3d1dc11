"""Two ways to spend the same cards: worked numbers, and conservation between layouts."""

from __future__ import annotations

import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError
from scalemath.decisions import (
    network_penalty,
    replicas_or_wider,
    split_or_whole,
)
from scalemath.scaling import efficiency_elsewhere, karp_flatt, share_from_slowdown
from scalemath.workloads import decode


def test_two_small_nodes_against_one() -> None:
    found = split_or_whole(inside=0.73, across=0.65)
    assert found.relative_throughput == pytest.approx(0.890411, rel=1e-6)
    assert found.devices_inside == pytest.approx(5.84)
    assert found.devices_across == pytest.approx(5.2)
    assert set(found.operated.values()) == {(1, 2)}
    assert len(found.operated) == 4
    with pytest.raises(ArgumentError, match="fill"):
        split_or_whole(inside=0.73, across=0.65, nodes=3)


def test_efficiency_of_the_second_layout_from_the_first() -> None:
    given = {"efficiency": 0.73, "ranks": 8, "bandwidth": "50 GB/s/dir"}
    for rate, flat in (("25 GB/s/dir", 0.574803), ("12.5 GB/s/dir", 0.403315),
                       ("10 GB/s/dir", 0.350962), ("3.125 GB/s/dir", 0.144554)):  # fmt: skip
        found = efficiency_elsewhere(**given, network_bandwidth=rate)
        assert found.scaling_efficiency == pytest.approx(flat, rel=1e-5)
    two = efficiency_elsewhere(**given, network_bandwidth="25 GB/s/dir", nodes=2)
    assert two.scaling_efficiency == pytest.approx(0.702889, rel=1e-6)
    split = split_or_whole(inside=0.73, across=two.scaling_efficiency)
    assert split.relative_throughput == pytest.approx(0.962862, rel=1e-5)


def test_sixty_per_cent_is_reached_at() -> None:
    for efficiency, ranks in ((0.73, 13.6173), (0.65, 9.66667)):
        law = karp_flatt(speedup=8 * efficiency, ranks=8)
        assert law.ranks_at_efficiency(0.6) == pytest.approx(ranks, rel=2e-6)


@pytest.mark.parametrize(
    ("rate", "line", "usable"),
    [("200 Gb/s/dir", 2, 2.5), ("100 Gb/s/dir", 4, 5), ("25 Gb/s/dir", 16, 20)],
)
def test_cliffs_between_boxes(rate, line, usable) -> None:
    given = {"bandwidth": "50 GB/s/dir", "network_bandwidth": rate}
    assert network_penalty(**given).slowdown == pytest.approx(line)
    assert network_penalty(**given, efficiency=0.8).slowdown == pytest.approx(usable)


def test_pcie_box_against_sxm() -> None:
    for share, penalty in ((0.125, 2.0), (0.25, 3.0)):
        found = network_penalty(
            bandwidth="450 GB/s/dir", network_bandwidth="50 GB/s/dir", share=share
        )
        assert found.slowdown == pytest.approx(penalty)
        assert share_from_slowdown(penalty, factor=9) == pytest.approx(share)
    for penalty, efficiency in ((1.2, 83.3333), (1.4, 71.4286)):
        found = network_penalty(
            bandwidth="450 GB/s/dir",
            network_bandwidth="50 GB/s/dir",
            share=share_from_slowdown(penalty, factor=9),
        )
        assert 100 * found.relative_efficiency == pytest.approx(efficiency, rel=1e-6)


def test_layouts_on_the_same_cards() -> None:
    found = replicas_or_wider("Llama 3.1 70B", "DGX H100", nodes=2, batch=64, context_tokens=4096)
    by_name = {one.name: one for one in found.layouts}
    memory = 16 * sm.catalog.accelerator("H100 SXM").capacity.m_as("byte")
    for one in found.layouts:
        assert one.copies * one.tensor * one.pipeline == 16
        # every copy stores the weights again; what is left is room
        assert one.stored + one.room == pytest.approx(memory)
        assert one.rate == pytest.approx(64 / one.latency)
    wide, many = by_name["2 x TP8"], by_name["16 x TP1"]
    assert many.stored == 8 * wide.stored
    assert wide.requests > many.requests
    assert wide.latency < many.latency
    # stages pass a token through one node after the other: no faster than one node
    staged = by_name["1 x TP8 PP2"]
    assert staged.stored == wide.stored / 2
    assert staged.latency == pytest.approx(wide.latency)
    assert found.best("latency").tensor == 8


def test_two_replicas_double_the_throughput() -> None:
    one = replicas_or_wider("Llama 3.1 70B", "DGX H100", nodes=1, batch=32)
    two = replicas_or_wider("Llama 3.1 70B", "DGX H100", nodes=2, batch=64)
    rate = {r.name: r.rate for r in (*one.layouts, *two.layouts)}
    assert rate["2 x TP8"] == pytest.approx(2 * rate["1 x TP8"])


def test_training_replicas_are_not_serving_replicas() -> None:
    """Two copies of 70B in training reduce 140 GB of gradients over 100 Gb/s Ethernet."""
    sync = sm.allreduce(size="140 GB", ranks=2, bandwidth="100 Gb/s/dir")
    assert sync.time.m_as("s") == pytest.approx(11.2)


def test_what_does_not_hold_the_weights_is_named() -> None:
    found = replicas_or_wider("Llama 3.1 405B", "DGX H100")
    assert any(text.startswith("8 x TP1: weights 405.853 GB") for text in found.refused)
    assert "TP8" in str(found.table())
    assert "<table>" in found._repr_html_()
    with pytest.raises(ArgumentError, match="architecture"):
        replicas_or_wider(70e9, "DGX H100")


def test_decode_roofline_of_a_pcie_box() -> None:
    step = decode(weight_bytes="70 GB", devices=8, memory_bandwidth="1.792 TB/s")
    assert step.step_rate.m_as("1/s") == pytest.approx(204.8)
