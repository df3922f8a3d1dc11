"""Speed of sweeps against NumPy, C, numexpr, JAX and a plain memory fill, in one interleaved run.

Run as ``python benchmarks/sweeps.py [--rounds N] [--long] [--wall]``. Times on one thread are
processor time of that thread, so that a busy machine disturbs them little; ``--wall`` takes
the clock instead. NumPy counts by its best time, everything else by its median. The table says
what was reached and what was wanted. numexpr comes with the group ``bench`` of `pyproject.toml`,
JAX with the group ``peers``; without them their lines are left out.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sweeps_numpy as twins
import sweeps_peers as peers

import scalemath as sm
from scalemath import sweeps
from scalemath.core.kernel import kernel, kernel_of
from scalemath.core.model import Model, Parameter, Step
from scalemath.kernels.scaling import strong_scaling_step

HERE = Path(__file__).parent
FAST = sm.allreduce.kernels
NAMES = ("ring", "recursive-doubling", "rabenseifner", "binomial-tree", "chain", "binary-tree",
         "double-binary-tree")  # fmt: skip


@kernel(
    unit="1",
    rises="work",
    falls="ranks time",
    source="definition",
    formula="work / (ranks * time)",
)
def step_efficiency(work: float, ranks: float, time: float) -> float:
    """Scaling efficiency [1] of a step against one rank."""
    return work / (ranks * time)


@kernel(
    unit="byte/s",
    rises="bandwidth efficiency",
    falls="oversubscription",
    source="definition",
    formula="bandwidth * efficiency / oversubscription",
)
def usable_bandwidth(bandwidth: float, efficiency: float, oversubscription: float) -> float:
    """Rate [byte/s] left by protocol efficiency and a thinned fabric."""
    return bandwidth * efficiency / oversubscription


STEP = Model(
    "training_step",
    (
        Parameter("ranks", "count", low=1.0),
        Parameter("size", unit="byte"),
        Parameter("bandwidth", "rate", "byte/s", low_open=True),
        Parameter("share", "number", high=1.0, low_open=True),
        Parameter("oversubscription", "number", low=1.0),
        Parameter("latency", unit="s"),
        Parameter("work", unit="s", required=False, default=0.1),
        Parameter("overlap", "number", high=1.0, required=False, default=0.5),
        Parameter("reduction_rate", unit="byte/s", required=False, default=float("inf")),
        Parameter("algorithm", "choice", required=False, default="ring", choices=NAMES),
    ),
    (
        Step("rate", {"": kernel_of(usable_bandwidth)}, "byte/s", rename={"efficiency": "share"}),
        Step(
            "communication",
            {n: kernel_of(FAST[n]) for n in NAMES},
            "s",
            choice="algorithm",
            rename={"bandwidth": "rate"},
        ),
        Step("time", {"": kernel_of(strong_scaling_step)}, "s", rename={"time_one": "work"}),
        Step("efficiency", {"": kernel_of(step_efficiency)}, "1"),
    ),
    "time",
)

RING = {
    "ranks": range(2, 34),
    "size": sm.geomspace("1 MB", "1 GB", 64),
    "bandwidth": sm.geomspace("10 GB/s/dir", "1 TB/s/dir", 64),
    "latency": sm.linspace("0.1 us", "10 us", 512),
}
HEAVY = {
    "ranks": [2, 3, 8, 24, 64, 100, 512, 1000],
    "size": sm.geomspace("1 kB", "10 GB", 16),
    "bandwidth": sm.geomspace("10 GB/s/dir", "1 TB/s/dir", 16),
    "share": np.linspace(0.5, 1.0, 4),
    "oversubscription": np.linspace(1.0, 4.0, 4),
    "latency": sm.linspace("0.1 us", "10 us", 256),
}


@sm.model(returns="1", x="number", y="number")
def one_root(x: float, y: float) -> float:
    """A square root that cannot be moved out of the loop."""
    return math.sqrt(x * y)


@sm.model(returns="1", x="number", y="number")
def two_roots(x: float, y: float) -> float:
    """Two of them."""
    return math.sqrt(x * y) + math.sqrt(x + y)


ROOTS, ONE_ROOT = two_roots, one_root


class Race:
    """Contenders that are timed in turns."""

    def __init__(self, rounds: int, clock: Callable[[], float]) -> None:
        self.rounds, self.clock = rounds, clock
        self.runs: dict[str, Callable[[], Any]] = {}
        self.times: dict[str, list[float]] = {}
        self.clocks: dict[str, Callable[[], float]] = {}

    def add(self, name: str, run: Callable[[], Any] | None, whole_process: bool = False) -> None:
        """Enter a contender, if there is one, and let it warm up.

        One that computes on threads of its own is timed by the processor time of the process.
        """
        if run is None:
            return
        run()
        self.runs[name] = run
        if whole_process and self.clock is time.thread_time:
            self.clocks[name] = time.process_time

    def go(self) -> None:
        """Run everybody once per round, each round in another order of neighbours."""
        order = list(self.runs)
        for number in range(self.rounds):
            random.Random(number).shuffle(order)
            for name in order:
                run = self.runs[name]
                clock = self.clocks.get(name, self.clock)
                begin = clock()
                run()
                self.times.setdefault(name, []).append(clock() - begin)

    def median(self, name: str) -> float:
        """Median time."""
        return statistics.median(self.times[name])

    def best(self, name: str) -> float:
        """Best time."""
        return min(self.times[name])


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


def check(what: str, value: float, wanted: float, at_most: bool = False) -> None:
    """Print what was reached beside what was wanted."""
    good = value <= wanted if at_most else value >= wanted
    sign = "<=" if at_most else ">="
    print(f"{what:64} {value:9.3g}  {sign} {wanted:<6g} {'ok' if good else 'MISSED'}")


def show(what: str, value: str) -> None:
    """Print a figure."""
    print(f"{what:64} {value:>12}")


def si(axes: dict[str, Any], model: Any) -> dict[str, np.ndarray[Any, Any]]:
    """SI values of every axis."""
    grid = sm.sweep(model, reduce=sweeps.count("time", above="0 s"), **axes, threads=1)
    del grid
    found = sm.sweep(model, **{n: v[:1] for n, v in axes.items()}).coordinates
    return {n: sweeps_values(n, v, found[n].unit) for n, v in axes.items()}


def sweeps_values(name: str, values: Any, unit: str) -> np.ndarray[Any, Any]:
    """SI floats of one axis."""
    if hasattr(values, "magnitude"):
        target = "byte/s/dir" if unit == "byte/s" else unit
        return np.asarray(sm.units.to_si(values, target, name), dtype=float)
    return np.asarray(list(values), dtype=float)


def compiled_c(folder: Path, flags: list[str]) -> ctypes.CDLL | None:
    """Compile the C twins; None where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    library = folder / ("sweeps" + "".join(flags).replace("-", "_").replace("=", "") + ".so")
    command = [compiler, *flags, "-march=native", "-fPIC", "-shared", "-o", str(library)]
    subprocess.run([*command, str(HERE / "sweeps.c"), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def pointer(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    """Address of an array."""
    return ctypes.c_void_p(array.ctypes.data)


def ring_race(race: Race, libraries: dict[str, ctypes.CDLL]) -> None:
    """A cheap model: bound by memory when stored, by nothing when reduced."""
    values = si(RING, sm.allreduce)
    shape = tuple(v.size for v in values.values())
    points = float(np.prod(shape))
    other, reference = np.zeros(shape), np.zeros(shape)
    grid = sm.sweep(sm.allreduce, **RING)
    out = grid.values
    columns = [values[n] for n in ("ranks", "size", "bandwidth", "latency")]
    sparse = np.meshgrid(*columns, indexing="ij", sparse=True)
    race.add("fill", lambda: other.fill(1.0))
    race.add("sweep", lambda: sm.sweep(sm.allreduce, out=grid, threads=1, **RING))
    race.add("sweep, fresh array", lambda: sm.sweep(sm.allreduce, threads=1, **RING))
    every = sweeps.maximum(bounds=False)
    race.add("max", lambda: sm.sweep(sm.allreduce, reduce=every, threads=1, **RING))
    race.add("numpy, out=", lambda: twins.ring(*sparse, out=reference))
    race.add("numpy", lambda: twins.ring(*sparse))
    for name, library in libraries.items():
        sizes = [ctypes.c_int(n) for n in shape]
        arguments = [*sizes, *map(pointer, columns), ctypes.c_double(np.inf), pointer(other)]
        race.add(f"C {name}", lambda library=library, a=arguments: library.ring_grid(*a))
    race.add("numexpr, out=", peers.numexpr_ring(sparse, reference))
    race.add("JAX", peers.jax_ring(sparse), whole_process=True)
    race.go()
    assert np.allclose(out, twins.ring(*sparse), rtol=1e-12, atol=0)
    heading(f"Ring allreduce, {points:.3g} points, four axes, one thread")
    for name in race.runs:
        show(name, f"{race.median(name) / points * 1e9:.3f} ns/pt")
    check("sweep over memory fill (rate)", race.median("fill") / race.median("sweep"), 0.9)
    for name in libraries:
        check(f"sweep over C {name} (rate)", race.median(f"C {name}") / race.median("sweep"), 0.9)
    check("sweep over numpy with out= (best)", race.best("numpy, out=") / race.median("sweep"), 2.5)
    fresh = race.best("numpy") / race.best("sweep, fresh array")
    show("fresh sweep over fresh numpy (best)", f"{fresh:.3g}")
    check("sweep over fresh numpy (best)", race.best("numpy") / race.median("sweep"), 4.0)
    check("reduction over memory fill (points)", race.median("fill") / race.median("max"), 2.5)
    for name in ("numexpr, out=", "JAX"):
        if name in race.runs:
            show(f"sweep over {name} (rate)", f"{race.median(name) / race.median('sweep'):.3g}")


def heavy_race(race: Race, libraries: dict[str, ctypes.CDLL]) -> None:
    """Best of seven algorithms, which one, step time and efficiency."""
    values = si(HEAVY, STEP)
    names = tuple(HEAVY)
    shape = tuple(values[n].size for n in names)
    points = float(np.prod(shape))
    wanted = ["time", "efficiency", "algorithm"]
    grid = sm.sweep(STEP, algorithm="best", outputs=wanted, **HEAVY)
    out = grid.outputs
    kept = {n: np.zeros_like(a) for n, a in out.items()}
    columns = [values[n] for n in names]
    sparse = np.meshgrid(*columns, indexing="ij", sparse=True)
    common = {"algorithm": "best", "threads": 1, **HEAVY}
    race.add("sweep", lambda: sm.sweep(STEP, outputs=wanted, out=grid, **common))
    race.add(
        "sweep, strict",
        lambda: sm.sweep(STEP, outputs=wanted, out=grid, arithmetic="strict", **common),
    )
    race.add(
        "compute only", lambda: sm.sweep(STEP, reduce=sweeps.count("time", above="1 s"), **common)
    )
    race.add("top 100", lambda: sm.sweep(STEP, reduce=sweeps.top(100, bounds=False), **common))
    race.add("numpy", lambda: twins.best_step(*sparse))
    race.add("numpy, chunked", lambda: twins.best_step_chunked(sparse, kept))
    for name, library in libraries.items():
        sizes = [ctypes.c_int(n) for n in shape]
        arguments = [*sizes, *map(pointer, columns), ctypes.c_double(np.inf),
                     *(pointer(kept[n]) for n in wanted)]  # fmt: skip
        race.add(f"C {name}", lambda library=library, a=arguments: library.best_grid(*a))
    race.add("numexpr", peers.numexpr_best(sparse))
    race.add("JAX", peers.jax_best(sparse), whole_process=True)
    race.go()
    time_, efficiency, code = twins.best_step(*sparse)
    assert np.allclose(out["time"], time_, rtol=1e-12, atol=0)
    assert np.allclose(out["efficiency"], efficiency, rtol=1e-12, atol=0)
    assert np.mean(out["algorithm"] != code) < 1e-3  # only where two agree to the last digit
    for name in ("numexpr", "JAX"):
        if name in race.runs:
            assert np.allclose(race.runs[name]()[0], time_, rtol=1e-12, atol=0), name
    heading(f"Best of {len(NAMES)} allreduce algorithms, {points:.3g} points, six axes, one thread")
    for name in race.runs:
        show(name, f"{race.median(name) / points * 1e9:.3f} ns/pt")
    check("sweep over numpy (best)", race.best("numpy") / race.median("sweep"), 15)
    check("sweep over numpy, chunked (best)", race.best("numpy, chunked") / race.median("sweep"), 9)
    chunked = race.best("numpy, chunked") / race.best("sweep")
    show("best of the sweep over best of numpy, chunked", f"{chunked:.3g}")
    for name in libraries:
        check(f"sweep over C {name} (rate)", race.median(f"C {name}") / race.median("sweep"), 0.95)
    for name in ("numexpr", "JAX"):
        if name in race.runs:
            show(f"sweep over {name} (rate)", f"{race.median(name) / race.median('sweep'):.3g}")
    check("top 100 over compute only", race.median("compute only") / race.median("top 100"), 0.9)
    # in roots; a division is about half of one
    taken = race.median("sweep") / points / root_seconds(race.clock)
    check("over the time of 6 roots and 1 division, as the formulas stand", 6.5 / taken, 0.85)
    show("over the time of 1 root and 1 division, as compiled", f"{1.5 / taken:.3g}")


def root_seconds(clock: Callable[[], float]) -> float:
    """Seconds that one more square root per point costs on this machine."""
    axes = {"x": np.linspace(1.0, 2.0, 4096), "y": np.linspace(1.0, 2.0, 2048)}
    took = []
    for model in (ROOTS, ONE_ROOT):
        times = []
        for _ in range(6):
            begin = clock()
            sm.sweep(model, reduce=sweeps.count(model.model.name, above=1e9), threads=1, **axes)
            times.append((clock() - begin) / (4096 * 2048))
        took.append(min(times))
    return took[0] - took[1]


def thread_race(rounds: int) -> None:
    """Two threads against one, by the clock."""
    race = Race(rounds, time.perf_counter)
    axes = {**HEAVY, "latency": sm.linspace("0.1 us", "10 us", 1024)}
    reduce = sweeps.top(100, bounds=False)
    for threads in (1, 2):
        race.add(str(threads), lambda k=threads: sm.sweep(STEP, algorithm="best", reduce=reduce,
                                                          threads=k, **axes))  # fmt: skip
    race.go()
    heading("Threads (by the clock; needs a quiet machine)")
    show("load average during the run", f"{os.getloadavg()[0]:.1f}")
    check("two threads over one", race.best("1") / race.best("2"), 1.7)


def bounds_race() -> None:
    """Branch and bound against looking at every point, on a public model."""
    heading("Branch and bound on strong_scaling")

    def axes(n: int) -> dict[str, Any]:
        return {
            "time_one": sm.geomspace("0.1 s", "100 s", n),
            "ranks": range(2, 2 + n),
            "size": sm.geomspace("1 MB", "10 GB", n),
            "bandwidth": sm.geomspace("10 GB/s/dir", "1 TB/s/dir", n),
            "latency": sm.geomspace("0.1 us", "100 us", n),
            "overlap": np.linspace(0.0, 1.0, n),
        }

    def timed(n: int, quick: bool) -> tuple[float, Any]:
        grid, reduction = axes(n), sweeps.top(100, bounds=None if quick else False)
        begin = time.perf_counter()
        found = sm.sweep(sm.strong_scaling, reduce=reduction, **grid)
        return time.perf_counter() - begin, found

    for quick in (True, False):
        timed(16, quick)
    slow_runs, fast_runs = [], []
    for _ in range(9):
        slow, full = timed(24, False)
        fast, found = timed(24, True)
        slow_runs.append(slow)
        fast_runs.append(fast)
    slow, fast = statistics.median(slow_runs), statistics.median(fast_runs)
    same = all(np.array_equal(found.outputs[n], full.outputs[n]) for n in full.outputs) and all(
        np.array_equal(found.coordinates[n].values, c.values) for n, c in full.coordinates.items()
    )
    show("24^6 points, every one evaluated", f"{slow:.3f} s")
    show("24^6 points, by bounds", f"{fast * 1e3:.1f} ms")
    show("evaluations", f"{found.provenance['evaluated']}")
    show("identical", str(same))
    check("bounds over every point", slow / fast, 30)
    seconds, found = timed(100, True)
    check("10^12 points, seconds", seconds, 10, at_most=True)
    show("evaluations", f"{found.provenance['evaluated']}")


def first_calls() -> None:
    """What the first sweep of a process costs."""
    heading("First call after a fresh start")
    # where SciPy is installed numba loads it on first use, which is not the sweep's doing either
    code = """
import sys
sys.modules["scipy"] = None
import time, scalemath as sm
import scalemath.sweeps._jit  # the import of the compiler is not the sweep's doing
sm.sweep; sm.allreduce
begin = time.{clock}()
sm.sweep(sm.allreduce, algorithm={algorithm!r}, ranks=[2, 8], size=['1 MB', '1 GB'],
         bandwidth='100 GB/s/dir')
print(time.{clock}() - begin)
"""
    for algorithm, wanted in (("ring", 2.0), ("best", 6.0)):
        with tempfile.TemporaryDirectory() as folder:
            for filled in (False, True):
                text = code.format(algorithm=algorithm, clock="process_time")
                taken = []
                for _ in range(5 if filled else 1):
                    found = subprocess.run(
                        [sys.executable, "-c", text], env={**os.environ, "SCALEMATH_CACHE": folder},
                        capture_output=True, text=True, check=True,
                    )  # fmt: skip
                    taken.append(float(found.stdout))
                seconds = statistics.median(taken)
                words = "filled cache" if filled else "compile included"
                limit = 0.3 if filled else wanted
                check(f"{algorithm}, {words}, seconds of processor", seconds, limit, at_most=True)


def growth(long: bool) -> None:
    """How cost grows with points, axes and algorithms."""
    heading("Growth: top 100 of the best algorithm, all threads, by the clock")
    for power in range(3, 11 if long else 9):
        counts = {"ranks": 8, "size": 10, "bandwidth": 10}
        left = 10**power / 800
        axes = {
            "ranks": HEAVY["ranks"],
            "size": sm.geomspace("1 kB", "10 GB", counts["size"]),
            "bandwidth": sm.geomspace("10 GB/s/dir", "1 TB/s/dir", counts["bandwidth"]),
            "share": np.linspace(0.5, 1.0, max(1, round(left**0.5))),
            "oversubscription": 1.0,
            "latency": sm.geomspace("0.1 us", "10 us", max(1, round(left**0.5))),
        }
        before = resident()
        run = lambda axes=axes: sm.sweep(  # noqa: E731
            STEP, algorithm="best", reduce=sweeps.top(100, bounds=False), **axes
        )
        if power < 9:
            run()
        begin = time.perf_counter()
        found = run()
        seconds = time.perf_counter() - begin
        points = found.provenance["points"]
        show(f"{points:.3g} points: million points/s, memory grown by",
             f"{points / seconds / 1e6:.4g}, {resident() - before:.0f} MB")  # fmt: skip
    if long:
        check("memory grown by the last, MB", resident() - before, 150, at_most=True)
        begin = time.perf_counter()
        sm.sweep(STEP, algorithm="best", reduce=sweeps.count("time", above="1 s"), **axes)
        only = time.perf_counter() - begin
        check("rate of the last over computing only", only / seconds, 0.9)
    heading("Growth with axes (2^20 points, time stored) and with algorithms, ns/pt, one thread")
    order = ["latency", "size", "bandwidth", "ranks", "share", "oversubscription"]
    for count in range(1, 7):
        each = round(2 ** (20 / count))
        axes = {n: HEAVY[n] if n == "ranks" else HEAVY[n][:1] for n in order}
        lengths = {"latency": sm.geomspace("0.1 us", "10 us", each),
                   "size": sm.geomspace("1 kB", "10 GB", each),
                   "bandwidth": sm.geomspace("10 GB/s/dir", "1 TB/s/dir", each),
                   "ranks": range(2, 2 + each), "share": np.linspace(0.5, 1.0, each),
                   "oversubscription": np.linspace(1.0, 4.0, each)}  # fmt: skip
        axes = {n: lengths[n] if i < count else lengths[n][-1:] for i, n in enumerate(order)}
        axes = dict(reversed(axes.items()))
        show(f"{count} axes of {each}", f"{per_point(axes, 'ring'):.2f}")
    for count in range(1, len(NAMES) + 1):
        show(f"{count} algorithms on an axis", f"{per_point(HEAVY, list(NAMES[:count])):.2f}")


def per_point(axes: dict[str, Any], algorithm: Any) -> float:
    """Nanoseconds of processor per point."""
    run = lambda: sm.sweep(STEP, algorithm=algorithm, threads=1, **axes)  # noqa: E731
    out = run().values
    out = np.ascontiguousarray(out)
    times = []
    for _ in range(3):
        begin = time.thread_time()
        run()
        times.append(time.thread_time() - begin)
    return min(times) / out.size * 1e9


def resident() -> float:
    """Resident memory of this process in MB."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return float("nan")


def dask_race() -> None:
    """Two local workers against two threads."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return
    heading("dask.distributed: two local workers against two threads, by the clock")
    axes = {**HEAVY, "latency": sm.linspace("0.1 us", "10 us", 4096)}
    reduce = sweeps.top(100, bounds=False)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for shares in (16, 64):
            race = Race(3, time.perf_counter)
            more = {**axes, "share": np.linspace(0.5, 1.0, shares)}
            for name, where in (("threads", {"threads": 2}), ("dask", {"backend": client})):
                race.add(name, lambda where=where, more=more: sm.sweep(
                    STEP, algorithm="best", reduce=reduce, **where, **more))  # fmt: skip
            race.go()
            ratio = race.best("threads") / race.best("dask")
            check(f"dask over threads, {shares * 3.36e7:.2g} points", ratio, 0.75)


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--long", action="store_true", help="grids up to 10^10 points")
    parser.add_argument("--wall", action="store_true", help="time by the clock")
    options = parser.parse_args()
    clock = time.perf_counter if options.wall else time.thread_time
    with tempfile.TemporaryDirectory() as folder:
        libraries = {}
        for name in ("-O3", "-Ofast"):
            library = compiled_c(Path(folder), [name])
            if library is not None:
                libraries[name] = library
        ring_race(Race(options.rounds, clock), libraries)
        heavy_race(Race(options.rounds, clock), libraries)
    thread_race(min(options.rounds, 5))
    bounds_race()
    first_calls()
    dask_race()
    growth(options.long)


if __name__ == "__main__":
    main()
