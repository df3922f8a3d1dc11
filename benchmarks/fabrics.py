"""Speed of fabrics: one object, one formula, and a design grid of a million fabrics.

Run as ``python benchmarks/fabrics.py``; every line says what was done and what it took.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import scalemath as sm
from scalemath.core.kernel import KERNELS

ENDPOINTS = [2**k for k in range(7, 24)]
GRID: dict[str, Any] = {
    "radix": [32, 48, 64, 96, 128, 144, 192, 256, 384, 512],
    "tiers": [0, 1, 2, 3],
    "oversubscription": [1 + 0.25 * k for k in range(29)],
    "planes": [1, 2, 4, 8],
    "rails": [1, 2, 4, 8, 16],
    "endpoints": sorted({n + n // 8 * k for n in ENDPOINTS for k in range(3)}),
}


def seconds(run: Callable[[], Any], repeats: int) -> float:
    """Median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def line(what: str, value: str) -> None:
    """Print one finding."""
    print(f"{what:58} {value:>18}")


def main() -> None:
    """Measure and print."""
    small: dict[str, Any] = {"endpoints": 2000, "radix": 64, "port_rate": "800 Gb/s/dir"}
    large = sm.FatTree(endpoints=10_000_000, radix=512, port_rate="800 Gb/s/dir")
    kernel = KERNELS["fat_tree_plane"].function
    values = (100_000.0, 128.0, 3.0, 2.0, 4.0, 8.0)

    line(
        "FatTree(2000 endpoints), built",
        f"{1e6 * seconds(lambda: sm.FatTree(**small), 300):.0f} us",
    )
    build = seconds(lambda: sm.FatTree(**{**small, "endpoints": 10_000_000, "radix": 512}), 100)
    line("FatTree(10,000,000 endpoints), built", f"{1e6 * build:.0f} us")
    line(
        "its switches and links",
        f"{1e6 * seconds(lambda: (large.switches, large.links), 300):.0f} us",
    )
    worst = seconds(lambda: large.effective_bandwidth("uniform all-to-all"), 300)
    line("its bandwidth under uniform traffic", f"{1e6 * worst:.0f} us")
    once = seconds(lambda: [kernel(*values) for _ in range(1000)], 20) / 1000
    line("layout kernel, plain Python", f"{1e6 * once:.2f} us")

    points = 1
    for axis in GRID.values():
        points *= len(axis)
    for outputs in (["switches"], ["bandwidth"], ["switches", "links", "bandwidth", "bisection"]):

        def run(outputs: list[str] = outputs) -> Any:
            return sm.sweep(
                sm.fat_tree_design,
                **GRID,
                port_rate="800 Gb/s/dir",
                traffic="uniform_all-to-all",
                outputs=outputs,
            )

        first = seconds(run, 1)
        again = seconds(run, 3)
        name = ", ".join(outputs)
        line(f"{points:,} fabrics: {name}", f"{again:.2f} s")
        line("  per fabric", f"{1e9 * again / points:.0f} ns")
        line("  first call with compiling", f"{first:.1f} s")


if __name__ == "__main__":
    main()
