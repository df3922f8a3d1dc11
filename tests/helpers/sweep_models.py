"""Small models with kernels of their own, for tests of the sweep engine."""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.kernel import KERNELS, kernel, kernel_of
from scalemath.core.model import Model, Parameter, Step
from scalemath.kernels.primitives import ceil_log2

WIDTH = 0.25


class ToyTerms(NamedTuple):
    """Terms of the toy collective."""

    latency: float
    bandwidth: float


def _half(x: float) -> float:
    """Half; an unregistered helper that the engine must carry along."""
    return x * 0.5


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source="made up for tests",
    formula="2 (ranks - 1) latency + size / bandwidth",
)
def toy_ring(size: float, ranks: float, bandwidth: float, latency: float) -> ToyTerms:
    """Ring-like time."""
    return ToyTerms(2.0 * (ranks - 1.0) * latency, size / bandwidth)


@kernel(
    unit="s",
    rises="size latency",
    falls="bandwidth",
    free="ranks",
    free_because="impossible unless ranks is a power of two",
    source="made up for tests",
    formula="ceil(log2 ranks) (latency + size / bandwidth)",
)
def toy_tree(size: float, ranks: float, bandwidth: float, latency: float) -> ToyTerms:
    """Tree-like time, impossible for ranks that are no power of two."""
    steps = ceil_log2(ranks)
    if 2.0**steps != ranks:
        return ToyTerms(math.inf, 0.0)
    return ToyTerms(steps * latency, _half(steps) * size / bandwidth)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source="made up for tests",
    formula="latency + size ranks^(1/4) / bandwidth",
)
def toy_direct(size: float, ranks: float, bandwidth: float, latency: float) -> float:
    """A kernel without terms, using a constant of its module."""
    return latency + size * math.sqrt(ranks) * WIDTH / bandwidth


@kernel(
    unit="1",
    rises="speed",
    falls="time",
    source="made up for tests",
    formula="speed / (speed + time)",
)
def toy_efficiency(time: float, speed: float) -> float:
    """Share between zero and one."""
    if time <= 0.0:
        return 1.0
    return speed / (speed + time)


TABLE = {
    "ring": kernel_of(toy_ring),
    "tree": kernel_of(toy_tree),
    "direct": kernel_of(toy_direct),
}
PARAMETERS = (
    Parameter("size", unit="byte"),
    Parameter("ranks", "count", low=1.0),
    Parameter("bandwidth", "rate", "byte/s", low_open=True),
    Parameter("latency", unit="s", required=False, default=0.0),
    Parameter(
        "algorithm", "choice", required=False, default="ring", choices=("ring", "tree", "direct")
    ),
    Parameter("speed", unit="s", required=False, default=0.01, low_open=True),
)
TOY = Model(
    "toy",
    PARAMETERS,
    (
        Step("time", TABLE, "s", choice="algorithm"),
        Step("efficiency", {"": KERNELS["toy_efficiency"]}, "1"),
        Step(
            "latency_share",
            {"": KERNELS["toy_efficiency"]},
            "1",
            rename={"time": "time.bandwidth", "speed": "time.latency"},
        ),
    ),
    "time",
)
