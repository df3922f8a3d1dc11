"""A user's own function: same boundary, same sweeps, one clear error when it is unsuited."""

from __future__ import annotations

import importlib
import linecache
import math
from typing import NamedTuple

import numpy as np
import pytest

import scalemath as sm
from scalemath import sweeps
from scalemath.core.errors import ArgumentError, ScalemathError

ring = sm.allreduce.kernels["ring"]
STRIPES = 4.0


class Parts(NamedTuple):
    seek: float
    transfer: float


@sm.model(returns="s", size="byte", rate="byte/s > 0", rises="size", falls="rate")
def reading_time(size: float, rate: float) -> Parts:
    """Seek and transfer."""
    if size <= 0.0:
        return Parts(0.0, 0.0)
    return Parts(1e-3, size / (rate * STRIPES))


@sm.model(
    returns="s", output="step", work="s", size="byte", ranks="count >= 1",
    bandwidth="byte/s/dir > 0", latency="s", overlap="number <= 1",
)  # fmt: skip
def training_step(work, size, ranks, bandwidth, latency, overlap):
    """A composition that calls a kernel of the library."""
    terms = ring(size, ranks, bandwidth, latency, math.inf)
    communication = terms.latency + terms.bandwidth
    return work / ranks + communication - min(overlap * communication, work / ranks)


def test_scalar_call_crosses_the_boundary():
    assert f"{reading_time(size='4 GB', rate='1 GB/s'):.4f~P}" == "1.0010 s"
    with pytest.raises(ScalemathError, match="size"):
        reading_time(size="4 s", rate="1 GB/s")


def test_sweep_of_terms_and_total_equals_the_function():
    sizes, rates = [0.0, 1e9, 7e9], [1e9, 3e9]
    grid = sm.sweep(
        reading_time, size=[f"{s} byte" for s in sizes], rate=[f"{r} byte/s" for r in rates],
        outputs=["reading_time", "reading_time.seek"],
    )  # fmt: skip
    for i, size in enumerate(sizes):
        for j, rate in enumerate(rates):
            wanted = reading_time.kernel(size, rate)
            assert grid.values[i, j] == pytest.approx(sum(wanted), rel=1e-12)
            assert grid.outputs["reading_time.seek"][i, j] == wanted.seek


def test_composition_with_a_kernel_of_the_library():
    grid = sm.sweep(
        training_step, work="1 s", size="1 GB", ranks=[1, 8, 64], bandwidth="100 GB/s/dir",
        latency="2 us", overlap=[0.0, 0.5, 1.0],
    )  # fmt: skip
    assert grid.unit == "s"
    assert grid.output == "step"
    for i, ranks in enumerate([1.0, 8.0, 64.0]):
        for j, overlap in enumerate([0.0, 0.5, 1.0]):
            wanted = training_step.kernel(1.0, 1e9, ranks, 1e11, 2e-6, overlap)
            assert grid.values[i, j] == pytest.approx(wanted, rel=1e-12)


def test_declared_directions_serve_branch_and_bound(monkeypatch):
    monkeypatch.setattr("scalemath.sweeps.bounds.WORTH_IT", 1)
    found = sm.sweep(
        reading_time, reduce=sweeps.top(3),
        size=sm.geomspace("1 MB", "1 TB", 3000), rate=sm.geomspace("1 MB/s", "1 GB/s", 3000),
    )  # fmt: skip
    assert found.provenance["method"] == "bounds"
    assert found.provenance["evaluated"] < 10_000
    assert found.values[0] == sum(reading_time.kernel(1e6, 1e9))


def test_function_without_source_is_compiled_in_memory():
    space = {"math": math}
    exec("def hidden(x):\n    return math.sqrt(x) + 1.0", space)
    hidden = sm.model(returns="1", x="number")(space["hidden"])
    grid = sm.sweep(hidden, x=np.array([0.0, 4.0, 9.0]))
    assert grid.values.tolist() == [1.0, 3.0, 4.0]


def test_closure_keeps_its_values():
    def make(factor):
        @sm.model(returns="1", x="number")
        def scaled(x):
            return factor * x

        return scaled

    two, three = make(2.0), make(3.0)
    assert sm.sweep(two, x=[1.0, 2.0]).values.tolist() == [2.0, 4.0]
    assert sm.sweep(three, x=[1.0, 2.0]).values.tolist() == [3.0, 6.0]


def test_exception_inside_is_one_clear_error():
    @sm.model(returns="1", x="number")
    def picky(x):
        if x > 2.0:
            raise ValueError("too much")
        return x

    out = np.zeros(3)
    with pytest.raises(ArgumentError, match=r"picky failed inside the sweep: ValueError: too much"):
        sm.sweep(picky, x=[1.0, 2.0, 3.0], out=out)


def test_unsuited_function_is_one_clear_error():
    def textual(x):
        return float(f"{x}")

    with pytest.raises(ArgumentError, match="cannot be compiled"):
        sm.model(returns="1", x="number")(textual)

    table = {1.0: 2.0}

    @sm.model(returns="1", x="number")
    def looking_up(x):
        return LOOKUP[x]

    with pytest.raises(ArgumentError, match="LOOKUP"):
        sm.sweep(looking_up, x=[1.0, 2.0])
    assert table


LOOKUP = {1.0: 2.0}


def test_public_function_inside_points_to_its_kernel():
    @sm.model(returns="s", x="number")
    def wrong(x):
        return allreduce(x)

    with pytest.raises(ArgumentError, match="call its kernel"):
        sm.sweep(wrong, x=[1.0])


allreduce = sm.allreduce


def test_missing_declarations_are_named():
    with pytest.raises(ArgumentError, match="declare the unit of rate"):
        sm.model(returns="s", size="byte")(lambda size, rate: size / rate)
    with pytest.raises(ArgumentError, match="rises and falls"):
        sm.model(returns="s", size="byte", rises="sise")(lambda size: size)


def test_a_file_that_changed_since_it_was_read(tmp_path, monkeypatch):
    text = "def cost(x):\n    return {} * x + math.sqrt(x)\n"
    file = tmp_path / "changing_costs.py"
    file.write_text("import math\n\n\n" + text.format("2.0"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("changing_costs")
    model = sm.model(returns="1", x="number")(module.cost)
    file.write_text("import math\n\n\n" + text.format("3.0"), encoding="utf-8")
    linecache.checkcache(str(file))
    grid = sm.sweep(model, arithmetic="strict", x=[1.0, 4.0, 9.0])
    assert grid.values.tolist() == [module.cost(x) for x in (1.0, 4.0, 9.0)]
    file.write_text("import math\n\n\ndef other(y):\n    return y\n", encoding="utf-8")
    linecache.checkcache(str(file))
    again = sm.model(returns="1", x="number")(module.cost)
    assert sm.sweep(again, x=[16.0, 25.0]).values.tolist() == [36.0, 55.0]
