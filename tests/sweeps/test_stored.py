"""Grids written to disk: the same numbers, whole or not at all, read only as far as needed."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import sys

import numpy as np
import pytest
from helpers.sweep_models import TOY
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath import sweeps
from scalemath.core.errors import ArgumentError, RangeError, ReadError
from scalemath.sweeps import along, dense, dependent, slabs, sweep, targets, zipped
from scalemath.sweeps.stored import Stored
from scalemath.units import Q_

zarr = pytest.importorskip("zarr")

SIZES = Q_(np.geomspace(1e3, 1e9, 61), "B")
RATES = Q_(np.geomspace(1.0, 100.0, 53), "GB/s/dir")
LATENCIES = Q_(np.linspace(0.0, 10.0, 17), "us")
AXES = {"ranks": [2, 3, 4], "size": SIZES, "bandwidth": RATES, "latency": LATENCIES}
LONG = Q_(np.linspace(1.0, 2.0, 3 * (1 << 14) + 1), "GB")
PLACES = zipped(["a", "b"], bandwidth=["1 GB/s/dir", "4 GB/s/dir"], latency=["1 us", "9 us"])
FEW = {"size": SIZES, "ranks": [2, 4], "bandwidth": RATES, "latency": "1 us"}


@pytest.fixture
def small_slabs(monkeypatch):
    """Many slabs and chunks without many points."""
    monkeypatch.setattr(slabs, "SLAB_POINTS", 1 << 14)
    monkeypatch.setattr(slabs, "CHUNK_POINTS", 1 << 11)


def both(path, **arguments):
    """Return a sweep in memory and the same on disk."""
    return sweep(TOY, **arguments), sweep(TOY, out=path, **arguments)


def assert_same(stored, wanted):
    assert stored.axes == wanted.axes
    assert stored.shape == wanted.shape
    assert list(stored.outputs) == list(wanted.outputs)
    for name, array in wanted.outputs.items():
        found = np.asarray(stored.outputs[name])
        assert found.dtype == array.dtype
        assert np.array_equal(found, array, equal_nan=name not in wanted.names), name


# --- the same numbers --------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"outputs": ["time", "efficiency", "algorithm"], "algorithm": "best", **AXES},
        {"dtype": "float32", **AXES},
        {"where": "ranks * size <= '1 GB' and time < '0.1 s'", **AXES},
        {"algorithm": ["direct", "ring", "tree"], **AXES},
        {**AXES, "algorithm": ["direct", "ring", "tree"]},
        {"places": PLACES, "ranks": range(2, 20), "size": LONG[:5003]},
        {
            "ranks": dependent("gpus / tensor", gpus=range(8, 72), tensor=[1, 3, 4]),
            "size": SIZES, "bandwidth": RATES,
        },
        {"size": LONG, "ranks": 4, "bandwidth": "1 GB/s/dir", "latency": "1 us"},
        {"ranks": 4, "bandwidth": [1e9, 3e9] * sm.Q_(1, "B/s/dir"), "size": LONG},
        {"size": "1 GB", "ranks": 4, "bandwidth": "1 GB/s/dir", "algorithm": "best"},
    ],
    ids=[
        "several outputs", "float32", "constraint", "kernels first", "kernels last", "zipped",
        "dependent", "one long axis", "two axes", "one point",
    ],
)  # fmt: skip
def test_bit_for_bit_as_in_memory(arguments, tmp_path, small_slabs):
    wanted, stored = both(tmp_path / "grid.zarr", threads=2, **arguments)
    assert all(isinstance(array, Stored) for array in stored.outputs.values())
    assert_same(stored, wanted)
    assert dict(stored.provenance) == dict(wanted.provenance)
    assert dict(stored.fixed) == dict(wanted.fixed)
    assert [p.name for p in tmp_path.iterdir()] == ["grid.zarr"]


def test_a_remainder_of_one_value_rounds_as_the_whole_does(tmp_path, monkeypatch):
    plan = slabs.Cut((53, 5001), 1, 1000, (1, 500))
    assert [r[1].stop - r[1].start for r in plan.regions()][:6] == [1000] * 5 + [1]
    monkeypatch.setattr(slabs, "cut", lambda _: plan)
    wanted, stored = both(
        tmp_path / "g.zarr", bandwidth=RATES, size=LONG[:5001], ranks=7, latency="3 us",
        outputs=["time", "efficiency", "latency_share"],
    )  # fmt: skip
    assert_same(stored, wanted)


@settings(max_examples=30, deadline=None)
@given(grid=st.lists(st.integers(1, 40), max_size=5).map(tuple), slab=st.sampled_from([64, 1000]))
def test_slabs_cover_the_grid_once_and_begin_where_chunks_begin(grid, slab):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slabs, "SLAB_POINTS", slab)
        patch.setattr(slabs, "CHUNK_POINTS", slab // 8)
        plan = slabs.cut(grid)
    counted = np.zeros(grid, dtype=int)
    for region in plan.regions():
        counted[region] += 1
        assert math.prod(s.stop - s.start for s in region) <= 2 * slab
        for own, chunk, length in zip(region, plan.chunk, grid, strict=True):
            assert own.start % chunk == 0
            assert own.stop % chunk == 0 or own.stop == length
    assert (counted == 1).all()
    assert math.prod(plan.chunk) <= slab // 8


def test_chunks_of_large_grids_are_one_to_eight_megabytes():
    for grid in [(1000, 1000, 1000), (10**9,), (10**6, 7, 11), (5, 10**7, 3), (100,) * 6]:
        plan = slabs.cut(grid)
        assert 1e6 <= math.prod(plan.chunk) * 8 <= 8.4e6
        first = next(plan.regions())
        assert math.prod(s.stop - s.start for s in first) <= 1.1 * slabs.SLAB_POINTS


def test_no_slab_is_larger_than_asked_and_progress_counts_each_point_once(
    tmp_path, small_slabs, monkeypatch
):
    seen, sizes, whole = [], [], dense.dense

    def watched(problem, *args):
        sizes.append(math.prod(problem.grid))
        return whole(problem, *args)

    monkeypatch.setattr(dense, "dense", watched)
    grid = sweep(TOY, out=tmp_path / "grid.zarr", progress=lambda *told: seen.append(told), **AXES)
    assert len(sizes) > 5
    assert max(sizes) <= 1.1 * (1 << 14)
    assert seen[-1] == (grid.size, grid.size)
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


# --- parts -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slabs, "SLAB_POINTS", 1 << 14)
        patch.setattr(slabs, "CHUNK_POINTS", 1 << 11)
        return both(
            folder / "grid.zarr", outputs=["time", "efficiency", "algorithm"], algorithm="best",
            **AXES,
        )  # fmt: skip


def index_of(length):
    place = st.integers(-length, length - 1)
    end = st.none() | place
    step = st.sampled_from([None, 1, 2, -1, -3])
    return place | st.builds(slice, end, end, step) | st.lists(place, max_size=4)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_parts_are_those_of_the_array(pair, data):
    array, stored = pair[0].values, pair[1].values
    for _ in range(data.draw(st.integers(1, 4))):
        if array.ndim and data.draw(st.booleans()):
            order = data.draw(st.permutations(range(array.ndim)))
            array, stored = array.transpose(order), stored.transpose(order)
        elif array.ndim and 0 not in array.shape:
            axis = data.draw(st.integers(0, array.ndim - 1))
            own = data.draw(index_of(array.shape[axis]))
            index = (slice(None),) * axis + (
                np.asarray(own, int) if isinstance(own, list) else own,
            )
            array, stored = np.asarray(array[index]), stored[index]
    assert (stored.shape, stored.ndim, stored.size) == (array.shape, array.ndim, array.size)
    assert stored.nbytes == array.nbytes
    assert np.array_equal(np.asarray(stored), array)


def test_an_ellipsis_and_masks_and_wrong_indices(pair):
    array, stored = pair[0].values, pair[1].values
    assert np.array_equal(stored[..., 3], array[..., 3])
    assert np.array_equal(stored[1, ..., -1], array[1, ..., -1])
    assert np.array_equal(stored[np.array([True, False, True])], array[[0, 2]])
    assert len(stored) == 3
    assert sum(1 for _ in stored) == 3
    for wrong in (3, (0,) * 5, "a", 0.5, None, [[0, 1]], (..., ...)):
        with pytest.raises((IndexError, TypeError)):
            stored[wrong]


def test_arithmetic_reads(pair):
    array, stored = pair[0].values, pair[1].values
    assert np.array_equal(stored * 2.0 + 1.0, array * 2.0 + 1.0)
    assert np.array_equal(stored < stored[0, 0, 0, 0], array < array[0, 0, 0, 0])
    assert np.array_equal(np.add.reduce(stored, axis=1), np.add.reduce(array, axis=1))
    assert float(stored[0, 1, 2, 3]) == array[0, 1, 2, 3]


def test_a_grid_on_disk_does_what_a_grid_does(pair, tmp_path):
    wanted, stored = pair
    picks = {"ranks": 3, "latency": slice("2 us", "8 us")}
    assert_same(stored.sel(**picks), wanted.sel(**picks))
    assert_same(stored.isel(size=[5, 1], bandwidth=-1), wanted.isel(size=[5, 1], bandwidth=-1))
    assert_same(stored.transpose(), wanted.transpose())
    assert_same(stored.to("ms").to("us"), wanted.to("ms").to("us"))
    for name in ("max", "min", "mean"):
        for axis in wanted.axes:
            assert_same(getattr(stored, name)(axis), getattr(wanted, name)(axis))
    assert_same(stored.elasticity("size"), wanted.elasticity("size"))
    found = stored.where_min("bandwidth").magnitude
    assert np.array_equal(found, wanted.where_min("bandwidth").magnitude)
    point = {"ranks": 4, "size": 7, "bandwidth": 5, "latency": 2}
    place = {**point, "ranks": 2}
    assert stored.isel(**place).item() == wanted.isel(**place).item()
    assert stored.isel(**place)["algorithm"] == wanted.isel(**place)["algorithm"]
    assert np.array_equal(stored["time"].magnitude, wanted.values)
    assert np.array_equal(stored["algorithm"], wanted["algorithm"])
    assert repr(stored) == repr(wanted)
    assert stored._repr_html_() == wanted._repr_html_()
    assert_same(sweeps.load(stored.save(tmp_path / "copy")), wanted)


def test_a_large_grid_shows_itself_without_reading(pair, monkeypatch):
    monkeypatch.setattr("scalemath.sweeps.showing.READ", 1000)
    monkeypatch.setattr(Stored, "_read", None)
    text = repr(pair[1])
    assert "-> time            [s] 1.31906 MB in grid.zarr" in text
    assert "grid.zarr" in repr(pair[1].values)


@pytest.mark.parametrize("picks", [{}, {"size": slice(3, 50), "latency": [0, 9, 4]}])
@pytest.mark.parametrize("points", [8192, 30_000])
def test_reductions_read_blocks_of_chunks(pair, picks, points, monkeypatch):
    wanted, stored = (grid.isel(**picks) for grid in pair)
    sizes, read = [], Stored._read

    def watched(self):
        sizes.append(self.size)
        return read(self)

    monkeypatch.setattr(along, "PIECE_POINTS", points)
    monkeypatch.setattr(Stored, "_read", watched)
    for axis in ("ranks", "size", "latency"):
        del sizes[:]
        assert_same(stored.max(axis), wanted.max(axis))
        assert max(sizes) <= points
        assert sum(sizes) == 2 * wanted.size
        assert_same(stored.min(axis), wanted.min(axis))
        for name in ("time", "efficiency"):
            found, mean = stored.mean(axis).outputs[name], wanted.mean(axis).outputs[name]
            assert np.allclose(found, mean, rtol=1e-13, atol=0)
            for ask in ("where_min", "where_max"):
                place, told = (getattr(grid, ask)(axis, name) for grid in (stored, wanted))
                assert (place == told).all()


def test_blocks_are_whole_chunks():
    shape, chunks = (400, 100, 200, 30), (7, 50, 100, 30)
    steps = along.block(shape, chunks)
    assert math.prod(steps) <= along.PIECE_POINTS
    assert all(s % c == 0 or s == n for s, c, n in zip(steps, chunks, shape, strict=True))
    assert along.block((10,), (3,)) == (10,)


def test_reductions_leave_nan_out_of_account(tmp_path, small_slabs, monkeypatch):
    where = "ranks * size <= '1 GB' and time < '0.01 s'"
    wanted, stored = both(tmp_path / "grid.zarr", where=where, **AXES)
    assert np.isnan(wanted.values).all(axis=0).any()
    monkeypatch.setattr(along, "PIECE_POINTS", 4096)
    for axis in wanted.axes:
        assert_same(stored.min(axis), wanted.min(axis))
        assert np.allclose(stored.mean(axis).values, wanted.mean(axis).values, equal_nan=True)
        assert (stored.where_min(axis) == wanted.where_min(axis)).all()


def test_other_forms(pair):
    wanted, stored = (grid.isel(bandwidth=slice(0, 5)) for grid in pair)
    pytest.importorskip("xarray")
    assert stored.to_xarray().identical(wanted.to_xarray())
    pytest.importorskip("pandas")
    assert stored.to_pandas().equals(wanted.to_pandas())


def test_pictures(pair):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    part = pair[1].isel(ranks=0, latency=3)
    for picked in (part, part.isel(size=0)):
        assert picked.plot(output="time").get_title(loc="left") == "toy"
    assert part.plot(kind="map").get_legend() is not None
    plt.close("all")


def test_pickle_and_copy(pair):
    for other in (pickle.loads(pickle.dumps(pair[1])), copy.deepcopy(pair[1])):
        assert_same(other.sel(ranks=3), pair[0].sel(ranks=3))


def test_a_pick_after_a_pick_reads_only_its_own_chunks(tmp_path, small_slabs):
    wanted, stored = both(tmp_path / "grid.zarr", **AXES)
    chunk = slabs.cut(wanted.shape).chunk
    place = (2, 40, 30, 16)
    own = "/".join(str(p // c) for p, c in zip(place, chunk, strict=True))
    folder = tmp_path / "grid.zarr" / "time" / "c"
    spoiled = 0
    for file in folder.rglob("*"):
        if file.is_file() and file.relative_to(folder).as_posix() != own:
            file.write_bytes(b"spoiled")
            spoiled += 1
    assert spoiled > 50
    picked = stored.isel(ranks=place[0]).isel(latency=place[3]).isel(size=place[1])
    assert picked.isel(bandwidth=place[2]).item().magnitude == wanted.values[place]
    with pytest.raises(Exception, match=r"."):
        np.asarray(stored.values)


def test_a_part_larger_than_the_memory_is_refused(pair, monkeypatch):
    monkeypatch.setattr("scalemath.sweeps.stored.free_memory", lambda: 1e5)
    with pytest.raises(RangeError, match=r"time of grid.zarr.*sel\(\) or isel\(\)"):
        np.asarray(pair[1].values)
    assert pair[1].isel(ranks=0, latency=0)["time"].shape == (61, 53)


# --- other readers -----------------------------------------------------------------------


def test_xarray_opens_it_with_all_labels(tmp_path, small_slabs):
    xarray = pytest.importorskip("xarray")
    grid = sweep(
        TOY, out=tmp_path / "grid.zarr", outputs=["time", "algorithm"], algorithm="best",
        places=PLACES, size=SIZES, ranks=[2, 8], speed="3 s",
    )  # fmt: skip
    chunks = {"chunks": None}
    data = xarray.open_zarr(tmp_path / "grid.zarr", consolidated=False, **chunks)
    told = grid.to_xarray()
    assert data.attrs == told.attrs
    assert data.attrs["speed"] == "3 s"
    assert set(data.coords) == set(told.coords)
    assert dict(data.sizes) == dict(told.sizes)
    for name in told.coords:
        assert data[name].dims == told[name].dims
        assert data[name].attrs == told[name].attrs
        assert data[name].values.tolist() == told[name].values.tolist()
    assert data["time"].dims == ("places", "size", "ranks")
    assert data["time"].identical(told["time"]) or data["time"].attrs == {"units": "s"}
    assert np.array_equal(data["time"].values, told["time"].values)
    codes = data["algorithm"]
    assert codes.dtype == np.uint8
    words = codes.attrs["flag_meanings"].split()
    assert words == codes.attrs["names"]
    assert codes.attrs["flag_values"] == list(range(len(words)))
    assert np.array_equal(np.array(words, object)[codes.values], told["algorithm"].values)
    assert data["time"].sel(places="b", ranks=8).shape == (61,)


def test_load_gives_the_grid_back(pair, tmp_path, small_slabs):
    folder = pair[1].values.path
    for path in (folder, str(folder)):
        back = sweeps.load(path)
        assert_same(back, pair[0])
        assert repr(back) == repr(pair[1])
        assert dict(back.provenance) == dict(pair[0].provenance)
        assert dict(back.fixed) == dict(pair[0].fixed)
        for name, coordinate in pair[0].coordinates.items():
            assert np.array_equal(back.coordinates[name].values, coordinate.values)
    wanted, _ = both(tmp_path / "z.zarr", places=PLACES, size=SIZES, ranks=[2, 4])
    back = sweeps.load(tmp_path / "z.zarr")
    assert back.sel(places="b", ranks=4, size="1 kB").item() == wanted.values[1, 0, 1] * Q_(1, "s")


def test_load_refuses_what_is_no_grid(tmp_path):
    (tmp_path / "folder.zarr").mkdir()
    with pytest.raises(ReadError, match=r"folder\.zarr: is a folder, and no Zarr group"):
        sweeps.load(tmp_path / "folder.zarr")
    zarr.open_group(tmp_path / "other.zarr", mode="w")
    with pytest.raises(ReadError, match=r"other\.zarr: is no grid"):
        sweeps.load(tmp_path / "other.zarr")
    sweep(TOY, out=tmp_path / "broken.zarr", **FEW)
    (tmp_path / "broken.zarr" / "time" / "zarr.json").unlink()
    with pytest.raises(ReadError, match=r"broken\.zarr: is no grid"):
        sweeps.load(tmp_path / "broken.zarr")
    for name in ("missing.zarr", "missing.npz"):
        with pytest.raises(ReadError, match=f"{name}: there is no such file"):
            sweeps.load(tmp_path / name)


# --- whole or not at all -----------------------------------------------------------------


def interrupted(done, points):
    raise KeyboardInterrupt


def no_room(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
@pytest.mark.parametrize("name", ["grid.npy", "grid.zarr"])
@pytest.mark.parametrize("outputs", [["time"], ["time", "efficiency"]], ids=["one", "two"])
def test_an_interruption_leaves_what_was(name, old, outputs, tmp_path, small_slabs):
    path = tmp_path / name
    if old:
        sweep(TOY, out=path, outputs=outputs, **{**FEW, "latency": "2 us"})
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(KeyboardInterrupt):
        sweep(TOY, out=path, outputs=outputs, progress=interrupted, **FEW)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    assert old or not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["grid.npy", "grid.zarr"])
def test_an_interruption_at_any_time_leaves_nothing(name, tmp_path, small_slabs, interrupt_in):
    many = {**AXES, "speed": Q_(np.geomspace(1e-3, 1.0, 9), "s")}
    sweep(TOY, outputs="efficiency", **many)
    stopped = 0
    for delay in (0.003, 0.01, 0.02, 0.05, 0.1, 0.2):
        interrupt_in(delay)
        try:
            sweep(TOY, out=tmp_path / name, outputs="efficiency", **many)
            interrupt_in(0.0)
        except KeyboardInterrupt:
            interrupt_in(0.0)
            stopped += 1
        assert {p.name for p in tmp_path.iterdir()} <= {name}
    assert stopped


@pytest.mark.parametrize("name", ["grid.npy", "grid.zarr"])
def test_an_error_in_an_own_function_leaves_what_was(name, tmp_path, small_slabs):
    @sm.model(returns="s", size="byte", share="number")
    def failing(size, share):
        if share > 0.9:
            raise ValueError("no such share")
        return size * share

    path = tmp_path / name
    sizes = SIZES[:50]
    sm.sweep(failing, out=path, size=sizes, share=np.linspace(0.0, 0.5, 1000))
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(ArgumentError, match="no such share"):
        sm.sweep(failing, out=path, size=sizes, share=np.linspace(0.0, 1.0, 1000))
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_a_full_disk_leaves_what_was(tmp_path, monkeypatch, small_slabs):
    for name in ("grid.npy", "grid.zarr"):
        sweep(TOY, out=tmp_path / name, **FEW)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    monkeypatch.setattr(targets.os, "posix_fallocate", no_room, raising=False)
    monkeypatch.setattr(zarr.Array, "__setitem__", no_room)
    for name in ("grid.npy", "grid.zarr"):
        with pytest.raises(OSError, match="No space left"):
            sweep(TOY, out=tmp_path / name, **{**FEW, "latency": "2 us"})
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_the_last_rename_failing_undoes_those_before(tmp_path, monkeypatch):
    arguments = {**FEW, "outputs": ["time", "efficiency"]}
    sweep(TOY, out=tmp_path / "grid.npy", **arguments)
    before = {p: p.read_bytes() for p in tmp_path.iterdir()}
    assert sorted(p.name for p in before) == ["grid.efficiency.npy", "grid.time.npy"]
    rename = targets.Path.rename

    def failing(self, target):
        if self.name.endswith(".part") and "efficiency" in self.name:
            raise PermissionError("locked")
        return rename(self, target)

    monkeypatch.setattr(targets.Path, "rename", failing)
    with pytest.raises(PermissionError, match="locked"):
        sweep(TOY, out=tmp_path / "grid.npy", **{**arguments, "latency": "2 us"})
    assert {p: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("outputs", [["time"], ["time", "efficiency"]], ids=["one", "two"])
def test_a_new_file_takes_the_place_of_the_old(outputs, tmp_path):
    for name in ("grid.npy", "grid.zarr"):
        first = sweep(TOY, out=tmp_path / name, outputs=outputs, **FEW)
        kept = np.asarray(first.values).copy()
        again = sweep(TOY, out=tmp_path / name, outputs=outputs, **{**FEW, "latency": "2 us"})
        wanted = sweep(TOY, outputs=outputs, **{**FEW, "latency": "2 us"})
        for label, array in wanted.outputs.items():
            assert np.allclose(np.asarray(again.outputs[label]), array, rtol=1e-14, atol=0)
        assert not np.array_equal(kept, again.values)
        if name == "grid.npy":
            assert isinstance(again.values, np.memmap)
            assert np.array_equal(first.values, kept)  # the old file stays mapped
            own = "grid.npy" if len(outputs) == 1 else "grid.time.npy"
            assert again.values.filename == (tmp_path / own).resolve()
            again.values[0, 0, 0] = 7.0
            again.values.flush()
            assert np.load(tmp_path / own)[0, 0, 0] == 7.0
    assert len(list(tmp_path.iterdir())) == len(outputs) + 1


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    for name in ("grid.npy", "grid.zarr"):
        sweep(TOY, out=tmp_path / "disk" / name, **FEW)
        (tmp_path / name).symlink_to(tmp_path / "disk" / name)
        sweep(TOY, out=tmp_path / name, **{**FEW, "latency": "2 us"})
        assert (tmp_path / name).is_symlink()
    assert sweeps.load(tmp_path / "disk" / "grid.zarr").fixed["latency"] == (2e-6, "s")


# --- refusals ----------------------------------------------------------------------------


def test_wrong_names_are_refused_before_anything_is_computed(tmp_path):
    (tmp_path / "full.zarr").mkdir()
    (tmp_path / "full.zarr" / "letter.txt").write_text("dear")
    (tmp_path / "file.zarr").write_text("dear")
    (tmp_path / "array.zarr").mkdir()
    (tmp_path / "array.zarr" / "zarr.json").write_text(json.dumps({"node_type": "array"}))
    (tmp_path / "folder.npy").mkdir()
    for name, said in [
        ("grid.txt", r"ending in \.npy or \.zarr"),
        ("grid", r"ending in \.npy or \.zarr"),
        ("none/grid.zarr", "the folder .* does not exist"),
        ("none/grid.npy", "the folder .* does not exist"),
        ("full.zarr", "no Zarr group"),
        ("file.zarr", "no Zarr group"),
        ("array.zarr", "no Zarr group"),
        ("folder.npy", "is a folder"),
    ]:
        with pytest.raises(ArgumentError, match=said):
            sweep(TOY, out=tmp_path / name, progress=interrupted, **FEW)
    assert (tmp_path / "full.zarr" / "letter.txt").read_text() == "dear"
    with pytest.raises(ArgumentError, match="a reduction returns its own answer"):
        sweep(TOY, out=tmp_path / "grid.zarr", reduce="min", **FEW)
    assert len(list(tmp_path.iterdir())) == 4


def test_without_zarr_the_extra_is_named(tmp_path, monkeypatch, pair):
    monkeypatch.setitem(sys.modules, "zarr", None)
    for ask in (
        lambda: sweep(TOY, out=tmp_path / "grid.zarr", **FEW),
        lambda: sweeps.load(pair[1].values.path),
        lambda: np.asarray(pair[1].values),
    ):
        with pytest.raises(ImportError, match=r"pip install 'scalemath\[zarr\]'"):
            ask()
    assert not list(tmp_path.iterdir())


def test_a_stored_grid_is_no_array_to_reuse(pair):
    with pytest.raises(ArgumentError, match="no array for time"):
        sweep(TOY, out=pair[1], **AXES)


def test_two_axes_of_a_slab_taken_value_by_value(tmp_path, monkeypatch):
    monkeypatch.setattr(slabs, "SLAB_POINTS", 1 << 9)
    monkeypatch.setattr(slabs, "CHUNK_POINTS", 1 << 8)
    arguments = {"ranks": [2, 3], "latency": LATENCIES[:3], "size": SIZES, "bandwidth": RATES}
    plan = slabs.cut((2, 3, 61, 53))
    assert plan.axis == 2
    lead = {tuple(s.start for s in r[:2]) for r in plan.regions()}
    assert lead == set(itertools.product(range(2), range(3)))
    wanted, stored = both(tmp_path / "grid.zarr", arithmetic="strict", **arguments)
    assert_same(stored, wanted)
