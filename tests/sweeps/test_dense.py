"""The full grid: compiled equals plain, whatever the axes, their order, or the threads."""

from __future__ import annotations

import itertools
import math
import threading

import numpy as np
import pytest
from helpers.sweep_models import TOY
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from scalemath.core.errors import ArgumentError, RangeError, ScalemathError
from scalemath.sweeps import dependent, sweep, zipped
from scalemath.units import Q_

SIZES = Q_(np.geomspace(1e3, 1e9, 7), "B")
RATES = Q_(np.geomspace(1.0, 100.0, 5), "GB/s/dir")
LATENCIES = Q_(np.linspace(0.0, 10.0, 6), "us")
AXES = {
    "size": SIZES,
    "ranks": [1, 2, 3, 4, 8, 9, 64],
    "bandwidth": RATES,
    "latency": LATENCIES,
    "algorithm": ["direct", "ring", "tree"],
}
OUTPUTS = ["time", "time.latency", "efficiency"]


def plain(grid, place, outputs):
    """Evaluate one point of a grid by the plain model."""
    values = {n: v for n, (v, _) in grid.fixed.items()}
    for name, coordinate in grid.coordinates.items():
        index = tuple(place[grid.axes.index(a)] for a in coordinate.axes)
        values[name] = coordinate.values[index]
    found = TOY.evaluate(values)
    return [found.get(output, 0.0) for output in outputs]


def assert_equal_everywhere(grid, outputs, exact=False):
    for place in itertools.product(*(range(n) for n in grid.shape)):
        for output, wanted in zip(outputs, plain(grid, place, outputs), strict=True):
            found = grid.outputs[output][place]
            if exact or not math.isfinite(wanted):
                assert found == wanted, (output, place)
            else:
                assert found == pytest.approx(wanted, rel=1e-12, abs=0), (output, place)


@settings(max_examples=6, deadline=None, phases=(Phase.generate,))
@given(
    order=st.permutations(list(AXES)),
    lengths=st.lists(st.integers(1, 5), min_size=5, max_size=5),
    threads=st.integers(1, 3),
    data=st.data(),
)
def test_compiled_equals_plain_for_any_order_of_axes(order, lengths, threads, data):
    axes = {
        name: AXES[name][: min(k, len(AXES[name]))] for name, k in zip(order, lengths, strict=True)
    }
    grid = sweep(TOY, outputs=OUTPUTS, threads=threads, **axes)
    assert grid.axes == tuple(order)
    assert_equal_everywhere(grid, OUTPUTS)


def test_strict_arithmetic_is_bit_equal():
    grid = sweep(TOY, outputs=OUTPUTS, arithmetic="strict", **AXES)
    assert_equal_everywhere(grid, OUTPUTS, exact=True)


def test_long_inner_axis_is_cut_into_tiles():
    sizes = Q_(np.linspace(1.0, 2.0, 5003), "GB")
    grid = sweep(TOY, ranks=[2, 4, 8], size=sizes, bandwidth="1 GB/s/dir", threads=2)
    wanted = sizes.to("B").magnitude / 1e9
    assert np.allclose(grid.values, np.broadcast_to(wanted, (3, 5003)), rtol=1e-12, atol=0)


def test_best_gives_the_least_and_its_name():
    rest = {n: v for n, v in AXES.items() if n != "algorithm"}
    every = sweep(TOY, outputs=OUTPUTS, **AXES)
    best = sweep(TOY, algorithm="best", outputs=[*OUTPUTS, "algorithm"], **rest)
    place = best.outputs["algorithm"].astype(int)
    assert best.outputs["algorithm"].dtype == np.uint8
    names = np.asarray(best.names["algorithm"])[place]
    assert np.array_equal(best["algorithm"], names)
    assert np.allclose(best.values, every.values.min(axis=-1), rtol=1e-13, atol=0)
    order = [list(AXES["algorithm"]).index(n) for n in best.names["algorithm"]]
    chosen = np.array(order)[place][..., None]
    for output in OUTPUTS:
        wanted = np.take_along_axis(every.outputs[output], chosen, -1)[..., 0]
        assert np.allclose(best.outputs[output], wanted, rtol=1e-12, atol=0), output


def test_given_buffers_are_filled_in_place():
    axes = {"algorithm": AXES["algorithm"], "ranks": [2, 4], "size": SIZES}
    for order in itertools.permutations(axes):
        ordered = {n: axes[n] for n in order}
        wanted = sweep(TOY, bandwidth="1 GB/s/dir", latency="1 us", **ordered)
        out = np.full(wanted.shape, -1.0)
        grid = sweep(TOY, bandwidth="1 GB/s/dir", latency="1 us", out=out, **ordered)
        assert grid.values is out
        assert np.allclose(out, wanted.values, rtol=1e-14, atol=0)


def test_float32_holds_the_rounded_numbers():
    small = sweep(TOY, dtype="float32", **AXES)
    full = sweep(TOY, **AXES)
    assert small.values.dtype == np.float32
    assert np.array_equal(small.values, full.values.astype(np.float32))


def test_memory_mapped_file(tmp_path):
    path = tmp_path / "grid.npy"
    grid = sweep(TOY, out=path, **AXES)
    assert np.allclose(np.load(path), sweep(TOY, **AXES).values, rtol=1e-14, atol=0)
    assert isinstance(grid.values, np.memmap)


def test_zipped_axis_moves_together():
    system = zipped(["a", "b"], bandwidth=["1 GB/s/dir", "4 GB/s/dir"], latency=["1 us", "9 us"])
    grid = sweep(TOY, system=system, size=SIZES, ranks=4)
    for i, (rate, latency) in enumerate([(1e9, 1e-6), (4e9, 9e-6)]):
        for j, size in enumerate(SIZES.magnitude):
            values = {"size": size, "ranks": 4.0, "bandwidth": rate, "latency": latency}
            wanted = TOY.evaluate(values)["time"]
            assert grid.values[i, j] == pytest.approx(wanted, rel=1e-12)
    assert grid.sel(system="b").fixed["latency"] == (9e-6, "s")
    assert grid.sel(latency="9 us").axes == ("size",)


def test_zipped_axis_may_choose_kernels():
    pair = zipped(algorithm=["ring", "tree", "ring"], ranks=[3, 4, 5])
    grid = sweep(TOY, pair=pair, size=SIZES, bandwidth="1 GB/s/dir", latency="1 us")
    for i, (name, ranks) in enumerate([("ring", 3.0), ("tree", 4.0), ("ring", 5.0)]):
        values = {"size": 1e3, "ranks": ranks, "bandwidth": 1e9, "latency": 1e-6}
        wanted = TOY.evaluate({**values, "algorithm": name})["time"]
        assert grid.values[i, 0] == pytest.approx(wanted, rel=1e-12)


def test_dependent_axis_and_whole_numbers():
    grid = sweep(
        TOY,
        size="1 GB",
        ranks=dependent("gpus / tensor", gpus=[8, 12], tensor=[1, 3, 4]),
        bandwidth="1 GB/s/dir",
        latency="1 ms",
    )
    assert grid.axes == ("gpus", "tensor")
    ranks = np.array([[8, 8 / 3, 2], [12, 4, 3]])
    wanted = np.where(ranks == np.floor(ranks), 1.0 + 2e-3 * (ranks - 1), np.nan)
    assert np.allclose(grid.values, wanted, rtol=1e-12, atol=0, equal_nan=True)


def test_constraint_makes_points_nan():
    where = "ranks * size <= '4 GB' and time < '1 s'"
    grid = sweep(TOY, where=where, **AXES)
    full = sweep(TOY, **AXES)
    size = SIZES.magnitude[:, None, None, None, None]
    ranks = np.array(AXES["ranks"])[None, :, None, None, None]
    allowed = (ranks * size <= 4e9) & (full.values < 1.0)
    assert np.array_equal(np.isnan(grid.values), ~np.broadcast_to(allowed, grid.shape))
    assert np.array_equal(grid.values[allowed], full.values[allowed])


def test_two_threads_sweep_at_once():
    answers = {}

    def one(key, ranks):
        answers[key] = sweep(TOY, ranks=ranks, size=SIZES, bandwidth=RATES).values

    workers = [threading.Thread(target=one, args=(k, [k + 1, k + 2])) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for k, found in answers.items():
        wanted = sweep(TOY, ranks=[k + 1, k + 2], size=SIZES, bandwidth=RATES, threads=1).values
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"size": []}, ArgumentError, "axis size is empty"),
        ({"sise": ["1 GB"]}, ArgumentError, "did you mean size"),
        ({"size": ["1 GB", "2 us"]}, ScalemathError, "axis size"),
        ({"size": Q_(np.array([1.0, math.nan]), "B")}, RangeError, "axis size"),
        ({"size": Q_(np.array([1.0, math.inf]), "B")}, RangeError, "axis size"),
        ({"algorithm": ["ring", "ring"]}, ArgumentError, "twice"),
        ({"algorithm": ["rong"]}, ArgumentError, "did you mean ring"),
        ({"size": None}, ScalemathError, "size"),
        ({"ranks": [2.5]}, RangeError, "axis ranks"),
        ({"size": np.ones((2, 2))}, ArgumentError, "2 dimensions"),
        ({"outputs": "tim"}, ArgumentError, "did you mean time"),
        ({"outputs": []}, ArgumentError, "outputs is empty"),
        ({"where": "ranks <"}, ArgumentError, "cannot be read"),
        ({"where": "rank < 3"}, ArgumentError, "did you mean ranks"),
        ({"where": "size < 3"}, ScalemathError, "mixes"),
        ({"where": "ranks + 1"}, ArgumentError, "wanted a condition"),
        ({"where": "__import__('os')"}, ArgumentError, "is no function here"),
        ({"dtype": "int8"}, ArgumentError, "dtype"),
        ({"threads": 0}, ArgumentError, "threads"),
        ({"arithmetic": "sloppy"}, ArgumentError, "arithmetic"),
        ({"out": np.zeros(3)}, ArgumentError, "wanted a C-contiguous"),
        ({"out": "grid.txt"}, ArgumentError, ".npy"),
        ({"pair": zipped(ranks=[1, 2], latency=["1 us"])}, ArgumentError, "equally many"),
        ({"pair": zipped(size=["1 GB"])}, ArgumentError, "given twice"),
    ],
)
def test_bad_input_is_one_clear_error(arguments, error, words):
    given_axes = {"size": SIZES, "ranks": [2, 4], "bandwidth": "1 GB/s/dir", **arguments}
    if "pair" in arguments and "ranks" in arguments["pair"].members:
        del given_axes["ranks"]
    with pytest.raises(error, match=words.replace("(", r"\(")):
        sweep(TOY, **given_axes)


def test_all_faults_are_named_at_once():
    with pytest.raises(ScalemathError) as caught:
        sweep(TOY, sise=["1 GB"], ranks=[], bandwidth="1 s")
    for word in ("sise", "ranks", "bandwidth", "size is missing"):
        assert word in str(caught.value)


def test_a_grid_that_does_not_fit_is_refused_with_its_size():
    with pytest.raises(RangeError, match=r"TB|GB.*reduce=.*out="):
        sweep(
            TOY,
            size=Q_(np.linspace(1, 2, 10_000), "GB"),
            ranks=range(1, 10_001),
            bandwidth=Q_(np.linspace(1, 2, 10_000), "GB/s/dir"),
        )


def test_only_models_are_swept():
    with pytest.raises(ArgumentError, match="cannot be swept"):
        sweep(len, size=SIZES)
