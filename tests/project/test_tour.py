"""The tour: its numbers against the reference figures, its answers against plain calls."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import scalemath as sm
from scalemath.tour import page


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scalemath", *arguments],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def data() -> Any:
    return json.loads(run("--json").stdout)


def test_unit_trap(data: Any) -> None:
    trap = data["unit_trap"]
    assert trap["ratio"]["value"] == 9.0
    assert trap["ratio_of_the_digits"]["value"] == 2.25


def test_allreduce_times(data: Any) -> None:
    times = [[t["value"] for t in row["time"]] for row in data["allreduce"]["rows"]]
    assert times == [
        pytest.approx([2.38609, 21.4748, 42.9497], rel=3e-6),
        pytest.approx([4.17566, 37.5810, 75.1619], rel=3e-6),
        pytest.approx([4.70591, 42.3531, 84.7063], rel=3e-6),
    ]


def test_strong_scaling_table(data: Any) -> None:
    fast, _, slow = data["strong_scaling"]["networks"]
    steps = [row["time"]["value"] for row in fast["rows"]]
    assert steps == pytest.approx([33.6611, 11.9944, 5.57466], rel=3e-6)
    assert fast["ceiling"]["value"] == pytest.approx(13.1072, rel=1e-12)
    assert fast["wall"]["value"] == pytest.approx(14.1072, rel=1e-12)
    assert slow["rows"][0]["speedup"]["value"] == pytest.approx(0.842712, rel=1e-6)
    assert all(row["slows_down"] for row in slow["rows"])


def test_sweep_is_large_and_says_its_rate(data: Any) -> None:
    found = data["sweep"]
    points = 1
    for length in found["axes"].values():
        points *= length
    assert found["points"] == points >= 2e7
    assert found["rate"]["value"] == pytest.approx(points / found["time"]["value"])


def test_answers_equal_a_search_by_plain_calls(data: Any) -> None:
    found = data["sweep"]
    work = sm.Q_(data["strong_scaling"]["flops"]["value"], "flop")
    top = found["axes"]["ranks"]
    for row in found["answers"]:
        for size, answer in zip(found["sizes"], row["largest_ranks"], strict=True):

            def efficiency(ranks: int, row: Any = row, size: Any = size) -> float:
                return sm.strong_scaling(
                    flops=work,
                    peak=sm.Q_(data["strong_scaling"]["peak"]["value"], "flop/s"),
                    ranks=ranks,
                    size=sm.Q_(size["value"], size["unit"]),
                    bandwidth=sm.Q_(row["bandwidth"]["value"], row["bandwidth"]["unit"]),
                    latency=sm.Q_(row["latency"]["value"], row["latency"]["unit"]),
                ).scaling_efficiency

            ranks = answer["ranks"]
            assert efficiency(ranks) > found["efficiency"]["value"]
            assert answer["at_end_of_axis"] == (ranks == top)
            if ranks < top:
                assert efficiency(ranks + 1) <= found["efficiency"]["value"]


def test_page_fits_a_terminal(data: Any) -> None:
    text = page(data)
    assert text.isascii()
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "4.70591" in text


def test_command_prints_the_page_and_nothing_else_in_a_pipe() -> None:
    done = run()
    assert "The unit trap" in done.stdout
    assert done.stderr == ""
    assert "\r" not in done.stdout
