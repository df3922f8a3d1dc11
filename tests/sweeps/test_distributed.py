"""The same blocks on two dask workers give the same answers."""

from __future__ import annotations

import linecache
import os
import signal

import numpy as np
import pytest

import scalemath as sm
from scalemath import sweeps
from scalemath.core.errors import ArgumentError
from scalemath.sweeps.source import collect

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")

AXES = {
    "ranks": [2, 8, 64],
    "size": sm.geomspace("1 kB", "1 GB", 40),
    "bandwidth": sm.geomspace("10 GB/s/dir", "1 TB/s/dir", 30),
    "latency": sm.linspace("1 us", "9 us", 70),
}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@sm.model(returns="s", size="byte", latency="s")
def own_time(size, latency):
    return 3.0 * latency + size * 1e-9


def test_answers_are_identical(client, monkeypatch):
    monkeypatch.setattr("scalemath.sweeps.distributed.FIRST_POINTS", 1 << 14)
    for reduce in (
        None,
        "min",
        "mean",
        sweeps.best("ranks"),
        sweeps.top(20, bounds=False),
        sweeps.pareto("time", maximize=("size", "ranks")),
        sweeps.first("time", along="ranks", above="1 ms"),
    ):
        here = sm.sweep(sm.allreduce, reduce=reduce, **AXES)
        there = sm.sweep(sm.allreduce, reduce=reduce, backend=client, **AXES)
        for name, values in here.outputs.items():
            assert np.array_equal(there.outputs[name], values, equal_nan=True), (reduce, name)


def test_active_client_and_own_function(client):
    here = sm.sweep(own_time, size=AXES["size"], latency=AXES["latency"])
    there = sm.sweep(own_time, size=AXES["size"], latency=AXES["latency"], backend="dask")
    assert np.array_equal(here.values, there.values)


def test_a_lost_worker_is_made_good(client, monkeypatch):
    monkeypatch.setattr("scalemath.sweeps.distributed.FIRST_POINTS", 1 << 12)
    workers = client.run(os.getpid)
    killed = []

    def kill_one(done, points):
        if not killed:
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    reduce = sweeps.top(20, bounds=False)
    here = sm.sweep(sm.allreduce, reduce=reduce, **AXES)
    there = sm.sweep(sm.allreduce, reduce=reduce, backend=client, progress=kill_one, **AXES)
    assert np.array_equal(there.values, here.values)
    assert killed


def test_wrong_backends_are_named():
    with pytest.raises(ArgumentError, match="wanted 'threads', 'dask' or a dask client"):
        sm.sweep(sm.allreduce, backend="spark", **AXES)


def test_a_function_keeps_its_text_in_another_process():
    import pickle

    cloudpickle = pytest.importorskip("cloudpickle")
    space: dict = {"__name__": "__main__"}
    text = "def cost(x):\n    return 2.0 * x\n"
    file = "<a cell that is known here only>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    model = sm.model(returns="1", x="number")(space["cost"])
    kernel = model.model.steps[0].kernels[""].function
    del linecache.cache[file]
    there = pickle.loads(cloudpickle.dumps(kernel))
    assert not collect([there]).objects  # its text came along: compiled once, kept on disk
