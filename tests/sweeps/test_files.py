"""Files of others are never replaced, and damaged or overwritten files never give numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers.sweep_models import TOY

from scalemath import sweeps
from scalemath.core.errors import ArgumentError, ReadError
from scalemath.sweeps import slabs, sweep, targets, zipped
from scalemath.units import Q_

zarr = pytest.importorskip("zarr")

RATES = Q_(np.geomspace(1.0, 100.0, 40), "GB/s/dir")
AXES = {"size": Q_(np.geomspace(1e3, 1e9, 30), "B"), "ranks": [2, 4], "bandwidth": RATES}
BEST = {**AXES, "algorithm": "best", "outputs": ["time", "algorithm"]}


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(slabs, "SLAB_POINTS", 1 << 9)
    monkeypatch.setattr(slabs, "CHUNK_POINTS", 1 << 7)


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# --- what is replaced --------------------------------------------------------------------


def test_a_group_of_somebody_else_stays(tmp_path):
    path = tmp_path / "own.zarr"
    group = zarr.open_group(path, mode="w")
    group.create_array("mine", data=np.arange(5.0))
    (path / "notes.txt").write_text("dear")
    before = contents(tmp_path)
    with pytest.raises(ArgumentError, match=r"own\.zarr.*Zarr group that no sweep wrote.*not repl"):
        sweep(TOY, out=path, **AXES)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "added",
    ["notes.txt", "mine/zarr.json", "time/notes.txt", "time/c/notes.txt", "scalemath/x/zarr.json",
     "size/c/x/0"],
)  # fmt: skip
def test_a_grid_to_which_something_was_added_stays(added, tmp_path, small_chunks):
    path = tmp_path / "grid.zarr"
    sweep(TOY, out=path, **BEST)
    (path / added).parent.mkdir(exist_ok=True, parents=True)
    (path / added).write_text("dear")
    before = contents(tmp_path)
    with pytest.raises(ArgumentError, match=r"grid\.zarr.*which no sweep wrote"):
        sweep(TOY, out=path, **BEST)
    assert contents(tmp_path) == before
    assert (path / added).read_text() == "dear"


@pytest.mark.parametrize(
    "arguments",
    [
        BEST,
        {**AXES, "size": "1 GB", "ranks": 2, "bandwidth": "1 GB/s/dir"},
        {"places": zipped(["a", "b"], ranks=[2, 8]), "size": "1 GB", "bandwidth": RATES},
    ],
    ids=["best", "one point", "labels"],
)
def test_a_grid_and_an_empty_folder_are_replaced(arguments, tmp_path, small_chunks):
    path = tmp_path / "grid.zarr"
    path.mkdir()
    for latency in ("1 us", "2 us"):
        grid = sweep(TOY, out=path, latency=latency, **arguments)
        assert np.array_equal(grid.values, sweep(TOY, latency=latency, **arguments).values)
    assert [p.name for p in tmp_path.iterdir()] == ["grid.zarr"]


def test_a_file_that_is_no_numpy_file_stays(tmp_path):
    path = tmp_path / "grid.npy"
    path.write_text("dear")
    with pytest.raises(ArgumentError, match=r"grid\.npy' exists and is no NumPy file"):
        sweep(TOY, out=path, **AXES)
    assert path.read_text() == "dear"
    path.write_bytes(b"")
    assert sweep(TOY, out=path, **AXES).shape == (30, 2, 40)
    (tmp_path / "two.time.npy").write_text("dear")
    with pytest.raises(ArgumentError, match=r"two\.time\.npy' exists"):
        sweep(TOY, out=tmp_path / "two.npy", **{**AXES, "outputs": ["time", "efficiency"]})


def test_an_error_of_the_disk_names_the_file_of_the_user(tmp_path, monkeypatch):
    def refused(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(targets.np.lib.format, "open_memmap", refused)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*/grid\.npy'"):
        sweep(TOY, out=tmp_path / "grid.npy", **AXES)


# --- what is read ------------------------------------------------------------------------


def test_a_grid_that_was_replaced_is_not_read(tmp_path):
    path = tmp_path / "grid.zarr"
    first = sweep(TOY, out=path, **AXES)
    opened, part = sweeps.load(path), first.isel(ranks=0)
    second = sweep(TOY, out=path, **{**AXES, "ranks": [64, 128]})
    for grid in (first, opened, part):
        for ask in (lambda grid: grid["time"], lambda grid: grid.max("size"), np.asarray):
            with pytest.raises(ReadError, match=r"grid\.zarr: holds another grid now"):
                ask(grid)
        assert "holds another grid now" in repr(first)  # to show one never fails
    assert np.array_equal(second.values, sweep(TOY, **{**AXES, "ranks": [64, 128]}).values)
    path.rename(tmp_path / "moved.zarr")
    with pytest.raises(ReadError, match=r"grid\.zarr: is no longer there"):
        np.asarray(second.values)
    moved = sweeps.load(tmp_path / "moved.zarr")
    assert np.array_equal(moved.values, sweep(TOY, **{**AXES, "ranks": [64, 128]}).values)


def test_a_replacement_while_reading_is_seen(tmp_path, monkeypatch):
    path = tmp_path / "grid.zarr"
    first = sweep(TOY, out=path, **AXES)
    opened = sweeps.stored.Stored._open

    def late(self):
        array = opened(self)
        sweep(TOY, out=path, **{**AXES, "latency": "5 us"})
        return array

    monkeypatch.setattr(sweeps.stored.Stored, "_open", late)
    with pytest.raises(ReadError, match="holds another grid now"):
        np.asarray(first.values)


def chunks_of(path, name):
    return sorted(p for p in (path / name / "c").rglob("*") if p.is_file())


@pytest.mark.parametrize("name", ["time", "algorithm"])
def test_every_flipped_byte_cut_and_lost_chunk_is_seen(name, tmp_path, small_chunks):
    path = tmp_path / "grid.zarr"
    grid = sweep(TOY, out=path, **BEST)
    files = chunks_of(path, name)
    assert len(files) > 10
    file = files[3]
    whole = file.read_bytes()
    spoiled = [whole[:n] for n in (0, 1, 3, 4, len(whole) // 2, len(whole) - 1)]
    places = range(0, len(whole), max(1, len(whole) // 40))
    spoiled += [whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :] for at in places]
    spoiled.append(whole + b"\0")
    for own in spoiled:
        file.write_bytes(own)
        with pytest.raises(ReadError, match=f"{file}: is damaged"):
            np.asarray(sweeps.load(path).outputs[name])
    file.unlink()
    with pytest.raises(ReadError, match=f"{file}: is missing"):
        np.asarray(grid.outputs[name])
    with pytest.raises(ReadError, match=f"{file}: is missing"):
        grid.isel(size=slice(None, None, -1)).loaded(name)
    file.write_bytes(whole)
    assert np.array_equal(grid.outputs[name], sweep(TOY, **BEST).outputs[name])


def test_parts_need_their_own_chunks_only(tmp_path, small_chunks):
    path = tmp_path / "grid.zarr"
    grid, wanted = sweep(TOY, out=path, **AXES), sweep(TOY, **AXES)
    chunks = slabs.cut(wanted.shape).chunk
    for file in chunks_of(path, "time"):
        at = [int(n) for n in file.relative_to(path / "time" / "c").parts]
        region = tuple(
            list(range(a * c, min(n, (a + 1) * c)))
            for a, c, n in zip(at, chunks, wanted.shape, strict=True)
        )
        own = dict(zip(wanted.axes, region, strict=True))
        whole = file.read_bytes()
        file.unlink()
        with pytest.raises(ReadError, match="is missing"):
            np.asarray(grid.isel(**own))
        for axis, places in own.items():
            others = [i for i in range(wanted.shape[wanted.axes.index(axis)]) if i not in places]
            if others:
                assert np.array_equal(grid.isel(**{axis: others}), wanted.isel(**{axis: others}))
        file.write_bytes(whole)


def test_excluded_and_impossible_points_are_written(tmp_path, small_chunks):
    path = tmp_path / "grid.zarr"
    grid = sweep(TOY, out=path, where="ranks > 1000", **AXES)
    assert np.isnan(grid.values).all()
    (chunk, *_) = chunks_of(path, "time")
    chunk.unlink()
    with pytest.raises(ReadError, match="is missing"):
        np.asarray(grid.values)


def test_damage_of_axes_and_header_is_seen(tmp_path):
    path = tmp_path / "grid.zarr"
    places = zipped(["a", "b"], ranks=[2, 8])
    sweep(TOY, out=path, places=places, size="1 GB", bandwidth=RATES)
    files = [p for p in (path / "scalemath").rglob("*") if p.is_file()]
    assert len(files) > 5
    kept = sweeps.load(path)
    for file in files:
        whole = file.read_bytes()
        if file.name != "zarr.json":
            file.unlink()
            with pytest.raises(ReadError, match="is missing"):
                sweeps.load(path)
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x04]) + whole[at + 1 :])
            try:
                back = sweeps.load(path)
            except ReadError:
                continue
            for name, coordinate in kept.coordinates.items():
                assert np.array_equal(back.coordinates[name].values, coordinate.values)
            assert dict(back.fixed) == dict(kept.fixed)
        file.write_bytes(whole)
    told = json.loads((path / "time" / "zarr.json").read_text())
    told["shape"] = [3, 40]
    (path / "time" / "zarr.json").write_text(json.dumps(told))
    with pytest.raises(ReadError, match="is damaged, time has the shape"):
        sweeps.load(path)


def test_one_memory_for_two_outputs_is_refused():
    both = {**AXES, "outputs": ["time", "time.latency"]}
    shape = sweep(TOY, **AXES).shape
    store = np.empty((3, *shape))
    flat = store.ravel()
    size = store[0].size
    for one, two in [
        (store[0], store[0]),
        (store[0], flat[size - 1 : 2 * size - 1].reshape(shape)),
    ]:
        with pytest.raises(ArgumentError, match=r"time\.latency and out for time share memory"):
            sweep(TOY, out={"time": one, "time.latency": two}, **both)
    grid = sweep(TOY, out={"time": store[0], "time.latency": store[1]}, **both)
    wanted = sweep(TOY, **both)
    for name, array in wanted.outputs.items():
        assert np.array_equal(grid.outputs[name], array)
