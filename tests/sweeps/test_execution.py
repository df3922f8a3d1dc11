"""Threads, progress, interruption, the disk cache, processes."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import stat
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from helpers.sweep_models import TOY

import scalemath as sm
from scalemath import sweeps
from scalemath.sweeps import _jit, cache, sweep
from scalemath.units import Q_

AXES = {
    "size": Q_(np.geomspace(1e3, 1e9, 64), "B"),
    "ranks": range(1, 65),
    "bandwidth": Q_(np.geomspace(1.0, 100.0, 32), "GB/s/dir"),
    "latency": Q_(np.linspace(0.0, 10.0, 32), "us"),
}


def run_python(code, **environment):
    """Run a piece of Python in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False,
        env={**os.environ, **environment}, timeout=240,
    )  # fmt: skip


def test_second_call_of_the_same_shape_compiles_nothing():
    sweep(TOY, **AXES)
    before = len(_jit.compiled)
    other = {**AXES, "size": Q_(np.geomspace(2e3, 5e9, 70), "B"), "ranks": [2, 5]}
    sweep(TOY, **other)
    assert len(_jit.compiled) == before


def test_progress_counts_every_point():
    seen = []
    sweep(TOY, progress=lambda done, points: seen.append((done, points)), **AXES)
    points = 64 * 64 * 32 * 32
    assert seen[-1] == (points, points)
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_progress_without_tqdm_is_a_plain_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    sweep(TOY, progress=True, **AXES)
    assert "toy: 100.0 %" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="tqdm is not installed")
@pytest.mark.filterwarnings("ignore")
def test_progress_with_tqdm(capsys):
    sweep(TOY, progress=True, **AXES)
    assert "toy" in capsys.readouterr().err


def test_an_exception_of_the_callback_stops_the_sweep():
    def stop(done, points):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        sweep(TOY, progress=stop, **AXES)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_ends_a_sweep_of_a_minute_at_once(interrupt_in):
    many = {**AXES, "speed": Q_(np.geomspace(1e-3, 1.0, 5000), "s")}
    sweep(TOY, reduce=sweeps.top(3, "efficiency", bounds=False), **AXES)
    sent = interrupt_in(0.5)
    with pytest.raises(KeyboardInterrupt):
        sweep(TOY, reduce=sweeps.top(3, "efficiency", bounds=False), **many)
    taken = time.perf_counter() - sent[-1]
    interrupt_in(0.0)
    assert taken < 2.0  # 0.2 s at rest; the whole sweep has 2e10 points


CODE = """
    import scalemath as sm
    from scalemath.sweeps import _jit
    grid = sm.sweep(sm.allreduce, ranks=[2, 8], size=["1 MB", "1 GB"], bandwidth="100 GB/s/dir")
    driver = next(iter(_jit._drivers.values()))
    print(sum(driver.stats.cache_hits.values()), float(grid.values.sum()))
"""


def test_disk_cache_serves_the_next_process(tmp_path):
    folder = tmp_path / "cache"
    first = run_python(CODE, SCALEMATH_CACHE=str(folder))
    assert first.returncode == 0, first.stderr
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    second = run_python(CODE, SCALEMATH_CACHE=str(folder))
    assert first.stdout.split()[0] == "0"
    assert second.stdout.split()[0] == "1"
    assert first.stdout.split()[1] == second.stdout.split()[1]


def test_cache_can_be_turned_off(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for word in ("0", "off"):
        monkeypatch.setenv("SCALEMATH_CACHE", word)
        assert cache.cache_folder() is None
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delenv("SCALEMATH_CACHE")
    found = cache.cache_folder()
    if sys.platform.startswith("linux"):
        assert found == tmp_path / "scalemath"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners and modes")
def test_folders_that_others_can_write_to_are_not_used(monkeypatch, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("SCALEMATH_CACHE", str(shared))
    assert cache.cache_folder() is None
    shared.chmod(0o700)
    assert cache.cache_folder() == shared
    (shared / "__pycache__").chmod(0o777)
    assert cache.cache_folder() is None
    (shared / "__pycache__").chmod(0o700)
    link = tmp_path / "link"
    link.symlink_to(shared)
    monkeypatch.setenv("SCALEMATH_CACHE", str(link))
    assert cache.cache_folder() is None
    monkeypatch.setenv("SCALEMATH_CACHE", str(shared))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert cache.cache_folder() is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners and modes")
def test_files_of_others_are_not_trusted(tmp_path):
    path = cache.write_driver(tmp_path, "smk_1", "x = 1\n")
    assert path is not None
    assert cache.write_driver(tmp_path, "smk_1", "x = 1\n") == path
    assert cache.write_driver(tmp_path, "smk_1", "x = 2\n") is None
    path.chmod(0o666)
    assert cache.write_driver(tmp_path, "smk_1", "x = 1\n") is None


def test_a_folder_that_cannot_be_made_is_no_hindrance(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    result = run_python(CODE, SCALEMATH_CACHE=str(blocked / "cache"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("0 ")


def test_a_damaged_cache_is_made_good(tmp_path):
    folder = tmp_path / "cache"
    run_python(CODE, SCALEMATH_CACHE=str(folder))
    damaged = list((folder / "__pycache__").glob("*.nb[ci]"))
    assert damaged
    for path in damaged:
        path.write_bytes(b"nothing")
    result = run_python(CODE, SCALEMATH_CACHE=str(folder))
    assert result.returncode == 0, result.stderr


def test_processes_racing_for_one_folder(tmp_path):
    folder = tmp_path / "cache"
    environment = {**os.environ, "SCALEMATH_CACHE": str(folder)}
    running = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(CODE)], env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]  # fmt: skip
    answers = {process.communicate(timeout=240)[0].split()[1] for process in running}
    assert len(answers) == 1
    assert not list(folder.glob("*.part"))


def one_value(ranks):
    """Sweep in a fresh process and send the grid back."""
    return sm.sweep(sm.allreduce, ranks=ranks, size="1 GB", bandwidth="100 GB/s/dir")


def test_spawned_processes_send_grids_back():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        grid = pool.apply(one_value, ([2, 8],))
    assert np.array_equal(grid.values, one_value([2, 8]).values)
    assert grid.coordinates["ranks"].values.tolist() == [2.0, 8.0]


def test_scalar_use_leaves_the_compiler_unloaded():
    result = run_python(
        """
        import sys
        import scalemath as sm
        sm.allreduce(size="1 GB", ranks=8, bandwidth="100 GB/s/dir")
        sm.geomspace("1 MB", "1 GB", 4)
        sm.sweep
        sys.exit("numba" in sys.modules)
        """
    )
    assert result.returncode == 0, result.stderr
