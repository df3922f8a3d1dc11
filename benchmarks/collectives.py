"""What a scalar call of a collective costs, by algorithm, and what of it is the boundary.

``python benchmarks/collectives.py [--rounds N]``

One interleaved run: every round times each call once, and the median over rounds is printed, so
that a busy machine slows all lines alike; processor time is counted, not the clock on the wall.
"kernel" is the bare function on floats, "over" the rest: three quantities converted and checked,
the result made. The goal is below 10 us over the kernel's own time for three quantity arguments
on a quiet machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
import timeit
from collections.abc import Callable

import scalemath as sm
from scalemath.collectives.algorithms import LEVELS, TABLE, TORUS, Algorithm

CALLS = 2000
SIZE, RATE, LATENCY = sm.Q_(64.0, "MiB"), sm.Q_(900.0, "GB/s/dir"), sm.Q_(2.0, "us")
SERVERS = sm.Placement(
    nodes=9,
    ranks_per_node=8,
    nics_per_node=8,
    domain_bandwidth="900 GB/s/dir",
    nic_bandwidth="100 GB/s/dir",
)
VALUES = {
    "size": 2.0**26,
    "ranks": 72.0,
    "bandwidth": 9e11,
    "latency": 2e-6,
    "reduction_rate": float("inf"),
    "switch_latency": 0.0,
    "levels": 1.0,
    "bruck_radix": 4.0,
    "largest_send": 2.0**26,
    "largest_receive": 2.0**26,
    "sum_of_steps": 0.0,
    "ring_hops": 16.0,
    "half_hops": 8.0,
    "dimensions": 2.0,
    "longest": 9.0,
}


def public(algorithm: Algorithm) -> Callable[[], object]:
    """A scalar call of the public function."""
    function = getattr(sm, algorithm.operation)
    given: dict[str, object] = {"ranks": 72, "latency": LATENCY, "algorithm": algorithm.name}
    if algorithm.operation != "barrier":
        given["bandwidth"] = RATE
        given["size" if algorithm.operation != "all_to_all_v" else "largest_send"] = SIZE
    if algorithm.needs == TORUS:
        given["shape"] = (8, 9)
        del given["ranks"]
    return lambda: function(**given)


def calls() -> dict[str, Callable[[], object]]:
    """Everything that is timed, by the text it is printed under."""
    found: dict[str, Callable[[], object]] = {}
    for table in TABLE.values():
        for algorithm in table.values():
            if algorithm.needs == LEVELS:
                continue
            name = f"{algorithm.operation} {algorithm.name}"
            arguments = algorithm.pick(VALUES)
            found[f"{name}|kernel"] = lambda a=algorithm, x=arguments: a.kernel.function(*x)
            found[f"{name}|call"] = public(algorithm)
    for operation in ("allreduce", "all_gather", "broadcast", "all_to_all"):
        function = getattr(sm, operation)
        given = {"size": SIZE, "ranks": 72, "bandwidth": RATE, "latency": LATENCY}
        found[f"{operation} best|call"] = lambda f=function, g=given: f(**g, algorithm="best")
    found["allreduce default|call"] = lambda: sm.allreduce(
        size=SIZE, ranks=72, bandwidth=RATE, latency=LATENCY
    )
    found["allreduce of text|call"] = lambda: sm.allreduce(
        size="64 MiB", ranks=72, bandwidth="900 GB/s/dir", latency="2 us"
    )
    found["allreduce rails|call"] = lambda: sm.allreduce(
        size=SIZE, placement=SERVERS, schedule="rails"
    )
    found["allreduce bound|call"] = lambda: sm.allreduce(
        size=SIZE, ranks=72, bandwidth=RATE, latency=LATENCY, estimator="bound"
    )
    found["message_time|call"] = lambda: sm.message_time(size=SIZE, bandwidth=RATE, latency=LATENCY)
    return found


def main() -> None:
    """Time all calls in turn and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    timed = calls()
    times: dict[str, list[float]] = {name: [] for name in timed}
    for call in timed.values():
        call()
    for _ in range(rounds):
        for name, call in timed.items():
            times[name].append(
                timeit.timeit(call, number=CALLS, timer=time.process_time) / CALLS * 1e6
            )
    middle = {name: statistics.median(one) for name, one in times.items()}
    print(f"{'us per call':44}{'kernel':>9}{'call':>9}{'over':>9}")
    for name in dict.fromkeys(key.partition("|")[0] for key in timed):
        kernel, call = middle.get(f"{name}|kernel"), middle[f"{name}|call"]
        own = "" if kernel is None else f"{kernel:9.2f}"
        over = "" if kernel is None else f"{call - kernel:9.2f}"
        print(f"{name:44}{own:>9}{call:9.2f}{over:>9}")


if __name__ == "__main__":
    main()
