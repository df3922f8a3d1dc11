"""Random arguments for kernels, chosen by the name of the parameter.

Plain seeded draws: kernels take up to a dozen floats, and thousands of points a kernel are
cheaper this way than a few dozen elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any

from scalemath.core.kernel import KERNELS, Kernel

_SMALL = ("longest", "least_segments", "ports", "dimensions", "levels", "passes", "segments")
_SIZES = ("size", "port_bytes", "cut_bytes", "largest_send", "largest_receive", "sum_of_steps")
_RATES = ("reduction_rate", "rate")
_TIMES = ("overhead", "gap", "reduction", "service_time", "time")
_PLAIN = ("factor", "distance", "delay_per_metre", "duration", "frequency", "step_time")


def _spread(random: Random, low: float, high: float) -> float:
    return math.exp(random.uniform(math.log(low), math.log(high)))


def is_rate(name: str) -> bool:
    """Whether a parameter is in bytes per second."""
    return "bandwidth" in name or name in _RATES


def is_time(name: str) -> bool:
    """Whether a parameter is in seconds (per byte, per metre)."""
    return "latency" in name or name in (*_TIMES, "gap_per_byte", "delay_per_metre")


def is_count(name: str) -> bool:
    """Whether a parameter counts whole things."""
    return not (
        is_rate(name) or is_time(name) or name in (*_SIZES, *_PLAIN) or name == "utilisation"
    )


def draw(name: str, random: Random) -> float:
    """A value that a parameter of this name may take; edges come up often."""
    edge = random.random() < 0.1
    if name in _SIZES:
        return 0.0 if edge else _spread(random, 1.0, 1e13)
    if is_rate(name):
        return _spread(random, 1e6, 1e13)
    if name == "gap_per_byte":
        return _spread(random, 1e-13, 1e-6)
    if name == "delay_per_metre" or name in _PLAIN:
        return _spread(random, 1e-6, 1e6)
    if is_time(name):
        return 0.0 if edge else _spread(random, 1e-9, 1e-3)
    if name == "utilisation":
        return random.uniform(0.0, 0.999)
    if name == "bruck_radix":
        return float(random.randint(2, 64))
    if name in _SMALL:
        return float(random.randint(1, 12))
    return float(
        1
        if edge
        else random.randint(1, 40)
        if random.random() < 0.5
        else round(_spread(random, 2, 5000))
    )


def draws(kernel: Kernel, count: int, seed: int = 1) -> Iterator[tuple[Random, dict[str, float]]]:
    """Arguments of a kernel by name, and the generator for further draws."""
    random = Random(f"{kernel.name} {seed}")
    for _ in range(count):
        yield random, {name: draw(name, random) for name in kernel.parameters}


def kernels_of(*modules: Any) -> list[Kernel]:
    """Kernels that are defined in the given modules."""
    names = {module.__name__ for module in modules}
    return [k for k in KERNELS.values() if k.function.__module__ in names]
