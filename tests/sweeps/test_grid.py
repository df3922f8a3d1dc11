"""The labelled result: picking, units, reducing, other forms, disk."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from helpers.sweep_models import TOY

from scalemath import sweeps
from scalemath.core.errors import ArgumentError, RangeError, ReadError, UnitsError
from scalemath.sweeps import geomspace, linspace, sweep, zipped
from scalemath.units import Q_
from scalemath.units.digits import fifteen_digits

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


@pytest.fixture(scope="module")
def grid(uncompiled):
    return sweep(
        TOY, outputs=["time", "efficiency", "algorithm"], algorithm="best", latency="1 us",
        ranks=[2, 8, 72], size=["1 MB", "1 GB"], bandwidth=Q_(np.array([100.0, 900.0]), "GB/s/dir"),
    )  # fmt: skip


def test_pick_by_value_in_any_unit(grid):
    picked = grid.sel(ranks=72, size="1000 MB", bandwidth="0.9 TB/s/dir")
    assert picked.shape == ()
    assert picked.item().to("s").magnitude == grid.values[2, 1, 1]
    assert picked.fixed["size"] == (1e9, "byte")
    both = grid.sel(bandwidth="1.8 TB/s/bidir")
    assert np.array_equal(both.values, grid.values[:, :, 1])


def test_pick_lists_and_ranges(grid):
    assert np.array_equal(grid.sel(ranks=[72, 2]).values, grid.values[[2, 0]])
    assert np.array_equal(grid.sel(ranks=slice(3, None)).values, grid.values[1:])
    assert grid.sel(size=slice("1 MB", "1 GB")).shape == grid.shape
    assert np.array_equal(grid.isel(ranks=slice(0, 2)).values, grid.values[:2])
    assert np.array_equal(grid.sel(ranks=70, nearest=True).values, grid.values[2])


def test_a_pick_of_nothing_or_near_to_nothing_is_refused(grid):
    for empty in (slice(5, 9), slice(2, 1), []):
        with pytest.raises(RangeError, match=r"ranks.*(none of the 3 values|is empty)"):
            grid.isel(ranks=empty)
    for empty in ([], (), np.array([]), range(0)):
        with pytest.raises(RangeError, match="ranks is empty"):
            grid.sel(ranks=empty)
    for wrong in (True, np.False_, float("nan"), float("inf"), [8, True], slice(float("nan"), 9)):
        with pytest.raises(ArgumentError, match=r"truth value|no number|not on the axis"):
            grid.sel(ranks=wrong, nearest=True)
    with pytest.raises(ArgumentError, match="size=nan"):
        grid.sel(size=Q_(float("nan"), "B"), nearest=True)


def test_an_array_of_a_grid_is_its_first_output(grid):
    assert np.asarray(grid) is grid.values
    assert np.array_equal(np.array(grid, dtype="float32"), grid.values.astype("float32"))
    assert np.array(grid) is not grid.values
    assert np.asarray(grid.isel(ranks=0, size=0, bandwidth=0)).shape == ()
    names = sweep(
        TOY, outputs="algorithm", algorithm="best", size="1 MB", ranks=[2, 8],
        bandwidth="1 GB/s/dir",
    )  # fmt: skip
    assert list(np.asarray(names)) == list(names["algorithm"])


def test_wrong_names_of_files_are_told_as_they_were_given(grid, tmp_path):
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(ArgumentError, match=r"folder\.npz: is a folder"):
        grid.save(tmp_path / "folder")
    with pytest.raises(ArgumentError, match=r"none.result\.npz: the folder .* does not exist"):
        grid.save(tmp_path / "none" / "result")
    np.save(tmp_path / "e.npy", np.arange(3.0))
    with pytest.raises(ReadError, match=r"e\.npy: holds one array without axes"):
        sweeps.load(tmp_path / "e.npy")
    whole = grid.save(tmp_path / "whole.npz").read_bytes()
    for place in range(0, len(whole), 97):
        spoiled = bytearray(whole)
        spoiled[place] ^= 0x55
        (tmp_path / "spoiled.npz").write_bytes(spoiled)
        try:
            back = sweeps.load(tmp_path / "spoiled.npz")
        except ReadError:
            continue
        assert np.array_equal(back.values, grid.values)
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadError, match=r"cut\.npz"):
        sweeps.load(tmp_path / "cut.npz")


def test_wrong_picks_say_what_there_is(grid):
    with pytest.raises(ArgumentError, match="nearest value is 72"):
        grid.sel(ranks=70)
    with pytest.raises(ArgumentError, match="no axis 'rank'"):
        grid.sel(rank=8)
    with pytest.raises(UnitsError, match="size"):
        grid.sel(size="1 s")
    with pytest.raises(ArgumentError, match="no output or coordinate 'tim'"):
        grid["tim"]
    with pytest.raises(ArgumentError, match="12 points"):
        grid.item()


def test_units_of_outputs(grid):
    assert np.allclose(grid.to("ms").values, grid.values * 1e3, rtol=1e-15)
    assert grid.to("ms").unit == "ms"
    assert grid["time"].to("us").magnitude[0, 0, 0] == pytest.approx(grid.values[0, 0, 0] * 1e6)
    with pytest.raises(UnitsError, match="no output can be given in GB"):
        grid.to("GB")


def test_reducing(grid):
    assert np.array_equal(grid.max("bandwidth").values, grid.values.max(axis=2))
    assert np.array_equal(grid.min("size").values, grid.values.min(axis=1))
    assert np.allclose(grid.mean("ranks").values, grid.values.mean(axis=0))
    assert (grid.where_min("bandwidth").to("GB/s/dir").magnitude == 900).all()
    assert (grid.where_max("ranks", "efficiency") == 2).all()
    with pytest.raises(ArgumentError, match="no axis 'rails'"):
        grid.max("rails")


def test_excluded_points_do_not_count():
    part = sweep(TOY, ranks=[2, 8, 72], size=["1 MB", "1 GB"], bandwidth="1 GB/s/dir",
                 where="ranks * size < '50 GB'")  # fmt: skip
    assert np.isnan(part.values[2, 1])
    assert part.max("size").values[2] == part.values[2, 0]
    assert part.mean("ranks").values[1] == pytest.approx(part.values[:2, 1].mean())


def test_elasticity_between_neighbours():
    sizes = geomspace("1 MB", "1 GB", 4)
    part = sweep(TOY, ranks=2, size=sizes, bandwidth="1 GB/s/dir", latency="0 s")
    assert np.allclose(part.elasticity("size").values, 1.0, rtol=1e-12)


def test_shows_itself(grid):
    text = repr(grid)
    assert "Grid of toy (ranks: 3, size: 2, bandwidth: 2)" in text
    assert "100, 900 GB/s/dir" in text
    html = grid._repr_html_()
    assert html.startswith("<table>")
    assert "efficiency" in html


def test_points_are_shown_as_a_table():
    found = sweep(TOY, ranks=[2, 8], size=geomspace("1 MB", "1 GB", 10), bandwidth="1 GB/s/dir",
                  latency="1 us", reduce=sweeps.top(15))  # fmt: skip
    lines = repr(found).splitlines()
    assert lines[1].split() == ["ranks", "size", "time"]
    assert lines[2].split() == ["1", "2", "1", "MB", "1.002", "ms"]
    assert "... and 3 more" in lines[14]
    assert found._repr_html_().count("<tr>") == 13


def test_pickle_and_copy(grid):
    for other in (pickle.loads(pickle.dumps(grid)), copy.deepcopy(grid)):
        assert np.array_equal(other.values, grid.values)
        assert other.axes == grid.axes
        assert other.sel(ranks=8).to("ms").unit == "ms"


def test_save_and_load(grid, tmp_path):
    path = grid.save(tmp_path / "result")
    assert path.name == "result.npz"
    back = sweeps.load(path)
    assert repr(back) == repr(grid)
    assert dict(back.provenance) == dict(grid.provenance)
    assert np.array_equal(back["algorithm"], grid["algorithm"])
    assert [p.name for p in tmp_path.iterdir()] == ["result.npz"]
    (tmp_path / "bad.npz").write_text("nothing")
    with pytest.raises(ReadError, match=r"bad\.npz"):
        sweeps.load(tmp_path / "bad.npz")


def test_zipped_labels_survive(tmp_path):
    system = zipped(["a", "b"], bandwidth=["1 GB/s/dir", "2 GB/s/dir"], latency=["1 us", "2 us"])
    part = sweep(TOY, system=system, ranks=[2, 4], size="1 MB")
    back = sweeps.load(part.save(tmp_path / "zipped.npz"))
    assert back.sel(system="b", ranks=4).item() == part.sel(system="b", ranks=4).item()


def test_to_xarray(grid):
    xarray = pytest.importorskip("xarray")
    data = grid.to("ms").to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert data["time"].attrs["units"] == "ms"
    assert data["bandwidth"].attrs["units"] == "GB/s/dir"
    assert data["time"].sel(ranks=72).shape == (2, 2)


def test_to_pandas_and_parquet(grid, tmp_path):
    pytest.importorskip("pandas")
    frame = grid.to_pandas()
    assert len(frame) == grid.size
    assert frame.attrs["units"]["time"] == "s"
    row = frame[(frame.ranks == 72) & (frame.bandwidth == 900)].iloc[1]
    assert row.time == grid.values[2, 1, 1]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(grid.to_parquet(tmp_path / "grid.parquet"))
    assert table.column("time").to_pylist() == grid.values.ravel().tolist()
    assert b"units" in table.schema.metadata


def test_spaces():
    assert geomspace(2, 1024, 10).tolist() == [2**k for k in range(1, 11)]
    assert geomspace(1, 8, 20).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert linspace(10, 1, 4).tolist() == [10, 7, 4, 1]
    sizes = geomspace("1 MB", "1 GB", 4)
    assert f"{sizes.units:~P}" == "MB"
    assert sizes.magnitude.tolist() == [1.0, 10.0, 100.0, 1000.0]
    assert linspace("1 GB/s", "8 Gbit/s", 3).magnitude.tolist() == [1.0, 1.0, 1.0]
    for wrong in (("1 MB", "1 s"), ("1 MB", 3), (0, 5), ("1 MB", "1 GB", 0), (1.0, float("inf"))):
        with pytest.raises((ArgumentError, UnitsError)):
            geomspace(*wrong)


def test_axes_are_rounded_as_scalars_are():
    dice = np.random.default_rng(1)
    for low, high in ((-9, -3), (0, 12), (-300, 300)):
        values = 10.0 ** dice.uniform(low, high, 20_000) * dice.choice([-1.0, 1.0], 20_000)
        wanted = [float(f"{v:.15g}") for v in values]
        assert np.array_equal(fifteen_digits(values), wanted)
    halves = (dice.integers(10**14, 10**15, 5000) + 0.5) / 10.0 ** dice.integers(0, 10, 5000)
    ends = [10.0**k for k in range(-20, 21)]
    ends += [float(np.nextafter(x, way)) for x in ends for way in (0.0, 1e300)]
    odd = [0.0, -0.0, 5e-324, 1.7e308, 999999999999999.5, 99999999999999.95, np.inf, -np.inf]
    values = np.array([*halves, *ends, *odd, *np.arange(0.125, 100.0, 0.125)])
    wanted = np.array([float(f"{v:.15g}") for v in values])
    found = fifteen_digits(values)
    assert np.array_equal(found, wanted)
    assert np.array_equal(np.signbit(found), np.signbit(wanted))
    assert np.isnan(fifteen_digits(np.array([np.nan]))).all()
    assert fifteen_digits(np.zeros((2, 0, 3))).shape == (2, 0, 3)
