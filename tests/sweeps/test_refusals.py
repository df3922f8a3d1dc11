"""What a stranger writes by mistake is answered with a sentence, in arrays, sweeps and grids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import scalemath as sm

RATE = "900 GB/s/dir"


DEPENDENT = sm.sweeps.dependent


def call(**changes: Any) -> Any:
    return sm.allreduce(**{"size": "2 GiB", "ranks": 8, "bandwidth": RATE, **changes})


def swept(**changes: Any) -> Any:
    return sm.sweep(
        sm.allreduce, **{"size": "2 GiB", "ranks": [2, 8], "bandwidth": RATE, **changes}
    )


@pytest.mark.parametrize("ask", [call, swept])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ranks": []}, "empty"),
        ({"size": []}, "empty"),
        ({"size": sm.Q_([], "GB")}, "empty"),
        ({"ranks": [64, 72], "algorithm": "torus"}, "torus"),
    ],
    ids=["no ranks", "no sizes", "empty quantity", "torus without sides"],
)
def test_arrays(ask: Callable[..., Any], changes: dict[str, Any], said: str) -> None:
    with pytest.raises(sm.ScalemathError, match=said) as caught:
        ask(**changes)
    assert "missing" not in str(caught.value)


def test_ragged_lists() -> None:
    with pytest.raises(sm.ArgumentError, match="ragged"):
        call(ranks=[[2, 3], [4]])


def test_an_array_of_no_dimension_is_a_number() -> None:
    assert call(ranks=np.array(8)) == call(ranks=8)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"outputs": 3}, "outputs is 3"),
        ({"where": 3}, "wanted a text"),
        ({"ranks": range(1, 10**10)}, "at the most"),
        ({"where": "ranks = 2"}, "equal is written =="),
        ({"where": "rank == 2"}, "did you mean ranks"),
        ({"ranks": DEPENDENT("2 * ranks")}, "circle, ranks from ranks; give one"),
        (
            {"ranks": DEPENDENT("2 * levels"), "levels": DEPENDENT("ranks / 2")},
            "circle, (ranks from levels from ranks|levels from ranks from levels)",
        ),
        ({"schedul": "ring"}, "schedul is no parameter"),
    ],
)
def test_sweeps(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(sm.ScalemathError, match=said):
        swept(**changes)


def test_dependents_stand_in_any_order() -> None:
    grid = swept(
        ranks=DEPENDENT("2 * levels"), levels=DEPENDENT("share * 4", share=[1.0, 2.0]),
        algorithm="ring",
    )  # fmt: skip
    assert list(grid.values) == list(swept(ranks=[8, 16], algorithm="ring").values)


def test_a_missing_choice_is_told_once_with_what_there_is() -> None:
    with pytest.raises(sm.ArgumentError) as caught:
        sm.sweep(
            sm.allreduce, size="2 GiB",
            placement=sm.Placement(nodes=4, ranks_per_node=8, domain_bandwidth="450 GB/s/dir",
                                   nic_bandwidth="50 GB/s/dir", nics_per_node=8),
            **{"placement.nodes": [2, 16]},
        )  # fmt: skip
    assert str(caught.value).count("schedule") == 1
    assert "write one of flat, rails" in str(caught.value)
    assert "nan" not in str(caught.value)


def test_hundreds_of_names_are_not_all_listed() -> None:
    with pytest.raises(sm.ArgumentError, match=r"and \d+ more; did you mean time") as caught:
        swept(outputs="timme")
    assert len(str(caught.value)) < 1000


def test_spaces_that_would_fill_the_memory() -> None:
    with pytest.raises(sm.RangeError, match="at the most"):
        sm.geomspace("1 KiB", "1 GiB", 10**12)


@pytest.mark.parametrize("place", [7, -3, True, [], [0, 5], "x", 0.5])
def test_positions(place: object) -> None:
    with pytest.raises(sm.ScalemathError, match="isel"):
        swept().isel(ranks=place)


def test_rates_are_shown_per_direction() -> None:
    assert "bandwidth = 900 GB/s/dir" in repr(swept(bandwidth="900 GB/s"))


def test_a_range_beside_an_array_is_refused() -> None:
    with pytest.raises(sm.ArgumentError, match="two calls"):
        call(size=sm.Range("1 GiB", "2 GiB"), ranks=[2, 3])


def test_a_constraint_takes_rates_with_their_direction() -> None:
    rates = ["50 GB/s/dir", "100 GB/s/dir", "900 GB/s/dir"]
    for limit in ("100 GB/s/dir", "200 GB/s/bidir", "800 Gb/s"):
        grid = swept(ranks=8, bandwidth=rates, where=f"bandwidth <= '{limit}'")
        assert np.isfinite(grid["time"].magnitude).tolist() == [True, True, False]
