"""Fields of a placement as axes: each point is what a placement made for it gives, or refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath import Placement
from scalemath.collectives import placement_axes
from scalemath.collectives.schedules import SCHEDULES
from scalemath.core.errors import ArgumentError, ContradictionError, RangeError, ScalemathError
from scalemath.sweeps import dependent, zipped

RATES = {
    "domain_bandwidth": "900 GB/s/dir",
    "nic_bandwidth": "100 GB/s/dir",
    "domain_latency": "1 us",
    "nic_latency": "3 us",
}
FOUR = Placement(nodes=4, ranks_per_node=8, nics_per_node=4, nic_efficiency=0.8, **RATES)
CASE = {"size": "1 GiB", "schedule": "rails"}


def called(operation: str, placement: Placement, schedule: str) -> float:
    size = {} if operation == "barrier" else {"size": "1 GiB"}
    result = getattr(sm, operation)(placement=placement, schedule=schedule, **size)
    return float(result.si("time"))


def swept(operation: str = "allreduce", **given: Any) -> Any:
    case = {**CASE, **given}
    if operation == "barrier":
        del case["size"]
    return sm.sweep(getattr(sm, operation), **case)


def test_the_domain_follows_the_ranks_of_a_node_unless_it_is_stated() -> None:
    ranks = [1, 3, 9]
    grid = swept(placement=FOUR, **{"placement.ranks_per_node": ranks})
    expected = [called("allreduce", FOUR.with_(ranks_per_node=k), "rails") for k in ranks]
    assert list(grid.values) == pytest.approx(expected, rel=1e-14)
    assert len(set(expected)) == 3
    with pytest.raises(ContradictionError, match=r"ranks_per_node=3: .*a domain of 8 ranks"):
        swept(placement=FOUR.with_(domain=8), **{"placement.ranks_per_node": [8, 3]})
    with pytest.raises(ContradictionError, match=r"placement\.domain=3: .*domains of 3"):
        swept(placement=FOUR, **{"placement.domain": [4, 3, 5, 7, 64]})


def test_a_rate_on_an_axis_keeps_the_efficiency_of_the_placement() -> None:
    rates = ["50 GB/s/dir", "200 GB/s/dir"]
    shares = [0.5, 1.0]
    grid = swept(
        placement=FOUR, **{"placement.nic_bandwidth": rates, "placement.nic_efficiency": shares}
    )
    for (i, rate), (k, share) in itertools.product(enumerate(rates), enumerate(shares)):
        one = FOUR.with_(nic_bandwidth=rate, nic_efficiency=share)
        assert grid.values[i, k] == pytest.approx(called("allreduce", one, "rails"), rel=1e-14)
    grid = swept(placement=FOUR, **{"placement.nic_bandwidth": rates})
    assert grid.values[1] == pytest.approx(
        called("allreduce", FOUR.with_(nic_bandwidth=rates[1]), "rails"), rel=1e-14
    )


def test_fields_alone_make_a_placement_with_its_defaults() -> None:
    fields = {f"placement.{n}": v for n, v in RATES.items()}
    grid = swept(**fields, **{"placement.nodes": [1, 2], "placement.ranks_per_node": 8})
    for i, nodes in enumerate((1, 2)):
        one = Placement(nodes=nodes, ranks_per_node=8, **RATES)
        assert grid.values[i] == pytest.approx(called("allreduce", one, "rails"), rel=1e-14)
    with pytest.raises(ArgumentError, match="missing.*ranks_per_node"):
        swept(**fields, **{"placement.nodes": [1, 2]})


def test_a_rate_that_is_missing_is_missing_at_the_point_that_needs_it() -> None:
    inside = Placement(nodes=1, ranks_per_node=8, domain_bandwidth="900 GB/s/dir")
    with pytest.raises(RangeError, match=r"placement\.nodes=2: .*nic_bandwidth is missing"):
        swept(placement=inside, **{"placement.nodes": [1, 2]})


def test_fields_that_move_together() -> None:
    pairs = zipped(**{"placement.ranks_per_node": [3, 8], "placement.domain": [6, 32]})
    grid = swept(placement=FOUR, pairs=pairs)
    for i, (ranks, domain) in enumerate([(3, 6), (8, 32)]):
        one = FOUR.with_(ranks_per_node=ranks, domain=domain)
        assert grid.values[i] == pytest.approx(called("allreduce", one, "rails"), rel=1e-14)
    pairs = zipped(**{"placement.ranks_per_node": [3, 8], "placement.domain": [6, 6]})
    with pytest.raises(ContradictionError, match=r"ranks_per_node=8, placement\.domain=6"):
        swept(placement=FOUR, pairs=pairs)
    fields = zipped(**{f"placement.{n}": [v, v] for n, v in RATES.items()})
    grid = swept(fields=fields, **{"placement.nodes": 4, "placement.ranks_per_node": 8})
    assert grid.values[1] == pytest.approx(
        called("allreduce", Placement(nodes=4, ranks_per_node=8, **RATES), "rails"), rel=1e-14
    )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"placement": 3}, "wanted a Placement"),
        ({"placement.nodes": dependent("4")}, "cannot be computed at each point"),
        ({"placement.nodes": [4, 0]}, "placement.nodes"),
        ({"placement.node": [4]}, "did you mean placement.nodes"),
        ({"placement.nodes": 2, "both": zipped(**{"placement.nodes": [1, 2]})}, "given twice"),
        (
            {"both": zipped(**{"placement.nodes": [1, 2], "placement.domain": [8]})},
            "equally many",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ScalemathError, match=told):
        swept(**{"placement": FOUR, **wrong})


def test_many_combinations_are_checked_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement_axes, "BLOCK", 16)
    axes = {"placement.nodes": range(1, 40), "placement.nics_per_node": [1, 2, 4, 8]}
    assert swept(placement=FOUR, **axes).shape == (39, 4)
    with pytest.raises(ContradictionError, match="nodes=39, placement.domain=16: .*write nodes=38"):
        swept(
            placement=FOUR,
            **{"placement.nodes": [*range(2, 40, 2), 39], "placement.domain": [8, 16]},
        )


COUNTS = {"nodes": (1, 6), "ranks_per_node": (1, 9), "domain": (1, 24), "nics_per_node": (1, 4)}


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, list[int]], bool]:
    stated: dict[str, Any] = {"nodes": draw(st.integers(1, 6)), **RATES}
    stated["ranks_per_node"] = draw(st.integers(1, 9))
    stated["nic_efficiency"] = draw(st.sampled_from([1.0, 0.7]))
    if draw(st.booleans()):
        stated["domain"] = draw(st.integers(1, 24))
    together = draw(st.booleans())
    length = draw(st.integers(1, 3))
    names = draw(st.lists(st.sampled_from(sorted(COUNTS)), min_size=1, max_size=3, unique=True))
    least = length if together else 1
    axes = {
        n: draw(st.lists(st.integers(*COUNTS[n]), min_size=least, max_size=length, unique=True))
        for n in names
    }
    return stated, axes, together


@settings(max_examples=40, deadline=None)
@given(
    case=cases(),
    chosen=st.sampled_from([(o, s) for o, table in SCHEDULES.items() for s in (*table, "best")]),
)
def test_every_point_is_the_placement_made_for_it(case: Any, chosen: tuple[str, str]) -> None:
    stated, axes, together = case
    operation, schedule = chosen
    try:
        whole = {"placement": Placement(**stated)}
    except ContradictionError:
        whole = {f"placement.{n}": v for n, v in stated.items() if n not in axes}
    points = list(zip(*axes.values(), strict=True)) if together else None
    points = points or list(itertools.product(*axes.values()))
    expected = []
    for point in points:
        try:
            one = Placement(**{**stated, **dict(zip(axes, point, strict=True))})
        except ContradictionError:
            expected = None
            break
        expected.append(called(operation, one, schedule))
    given_axes: dict[str, Any] = {f"placement.{n}": v for n, v in axes.items()}
    if together:
        given_axes = {"together": zipped(**given_axes)}
    arguments = {"schedule": schedule, **whole, **given_axes}
    if expected is None:
        with pytest.raises(ContradictionError, match="sweep of .*Placement: "):
            swept(operation, **arguments)
        return
    found = np.asarray(swept(operation, **arguments).values)
    assert found.ravel() == pytest.approx(expected, rel=1e-12)
