"""Results are equal when they say the same, survive copies, and are plain data on request."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import scalemath as sm

RATE = "900 GB/s/dir"
PLACED = {
    "nodes": 9,
    "ranks_per_node": 8,
    "nics_per_node": 8,
    "domain_bandwidth": RATE,
    "nic_bandwidth": "100 GB/s/dir",
}
MAKERS: dict[str, Callable[[], Any]] = {
    "ring": lambda: sm.allreduce(size="1 GiB", ranks=8, bandwidth=RATE),
    "best": lambda: sm.allreduce(size="1 GiB", ranks=8, bandwidth=RATE, algorithm="best"),
    "placed": lambda: sm.all_gather(
        size="1 GiB", placement=sm.Placement(**PLACED), schedule="best"
    ),
    "nccl": lambda: sm.allreduce(size="1 GiB", ranks=8, bandwidth="450 GB/s/dir", estimator="nccl"),
    "strong": lambda: sm.strong_scaling(time_one="1 s", ranks=8, size="1 GiB", bandwidth=RATE),
    "law": lambda: sm.karp_flatt(efficiency=0.7, ranks=8),
    "read": lambda: sm.from_bus_bandwidth(bus_bandwidth="483 GB/s", ranks=8, size="1 GB"),
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[[], Any]:
    return MAKERS[request.param]


def test_two_equal_calls_are_equal(make: Callable[[], Any]) -> None:
    assert make() == make()
    assert hash(make()) == hash(make())


def test_copies_are_equal(make: Callable[[], Any]) -> None:
    result = make()
    assert copy.deepcopy(result) == result
    assert pickle.loads(pickle.dumps(result)) == result


def test_data_is_plain(make: Callable[[], Any]) -> None:
    data = make().to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_pages_show_it(make: Callable[[], Any]) -> None:
    assert make()._repr_html_().startswith("<table>")
    assert make().explain().splitlines()[0] == str(make())


def test_other_answers_differ() -> None:
    one = sm.allreduce(size="1 GiB", ranks=8, bandwidth=RATE)
    assert one != sm.allreduce(size="1 GiB", ranks=9, bandwidth=RATE)
    assert one != sm.reduce_scatter(size="1 GiB", ranks=8, bandwidth=RATE)
    assert one != 3
