"""Large grids are written past the caches: the same numbers, whatever the shape and alignment."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath.sweeps import dense

FORWARD = {"ranks": 8, "latency": "2 us"}


@pytest.fixture(autouse=True)
def every_grid_is_large(monkeypatch):
    monkeypatch.setattr(dense, "STREAM_BYTES", 1)


def axes(sizes, bandwidths):
    return {
        "size": sm.geomspace("1 MB", "1 GB", sizes),
        "bandwidth": sm.geomspace("1 GB/s/dir", "900 GB/s/dir", bandwidths),
    }


def by_hand(grid):
    """Ring allreduce over 8 ranks, 2 us, in NumPy."""
    size = grid.coordinates["size"].values[:, None]
    bandwidth = grid.coordinates["bandwidth"].values[None, :]
    return 2 * 7 * 2e-6 + 2 * 7 / 8 * size / bandwidth


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.integers(1, 40),
    bandwidths=st.integers(1, 300),
    shift=st.integers(0, 17),
    threads=st.integers(1, 3),
)
def test_a_given_array_of_any_shape_and_alignment(sizes, bandwidths, shift, threads):
    room = np.full(sizes * bandwidths + 40, -1.0)
    out = room[shift : shift + sizes * bandwidths].reshape(sizes, bandwidths)
    grid = sm.sweep(
        sm.allreduce, out=out, threads=threads, **axes(sizes, bandwidths), **FORWARD,
    )  # fmt: skip
    assert grid.values is out
    np.testing.assert_allclose(out, by_hand(grid), rtol=1e-14)
    assert (room[:shift] == -1.0).all()
    assert (room[shift + sizes * bandwidths :] == -1.0).all()


def test_numbers_that_lie_askew_in_memory():
    room = np.zeros(20 * 300 * 8 + 64, dtype=np.uint8)
    out = room[3 : 3 + 20 * 300 * 8].view(np.float64).reshape(20, 300)
    grid = sm.sweep(sm.allreduce, out=out, **axes(20, 300), **FORWARD)
    np.testing.assert_allclose(out, by_hand(grid), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_several_outputs_with_names_and_excluded_points(dtype, monkeypatch):
    more = {
        "algorithm": "best",
        "outputs": ["time", "time.bandwidth", "algorithm"],
        "where": "size <= '500 MB'",
        "dtype": dtype,
        **axes(37, 203),
        **FORWARD,
    }
    streamed = sm.sweep(sm.allreduce, **more)
    monkeypatch.setattr(dense, "STREAM_BYTES", 1 << 60)
    stored = sm.sweep(sm.allreduce, **more)
    assert streamed.outputs["algorithm"].dtype == np.uint8
    assert (streamed.outputs["algorithm"] == 255).any()
    for name, array in stored.outputs.items():
        np.testing.assert_array_equal(streamed.outputs[name], array)


def test_the_same_driver_serves_small_and_large_grids(monkeypatch):
    from scalemath.sweeps import _jit

    sm.sweep(sm.allreduce, **axes(5, 70), **FORWARD)
    known = len(_jit.compiled)
    monkeypatch.setattr(dense, "STREAM_BYTES", 1 << 60)
    sm.sweep(sm.allreduce, **axes(6, 80), **FORWARD)
    assert len(_jit.compiled) == known
