"""The buyer's question of the tour: how many GPUs at an efficiency above 60 %, by a sweep."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import scalemath as sm
from scalemath.tour.networks import PEAK, Network

Figure = dict[str, Any]
Progress = Callable[[int, int], None]

EFFICIENCY = 0.6
RANKS = 8192
LATENCIES = 12
ASKED = ("16 MiB", "128 MiB", "512 MiB", "2 GiB")
SIZES = 64
BANDWIDTHS = 16


def largest_ranks(
    nets: tuple[Network, ...], work: Any, progress: Progress | bool = False
) -> Figure:
    """Sweep ranks, size, bandwidth and latency; find the last rank above the efficiency.

    Parameters
    ----------
    nets : tuple of Network
        Networks asked about; their bandwidths and latencies are points of the axes.
    work : Quantity [flop]
        Work that is shared.
    progress : callable, optional
        Called with done and all points.

    Returns
    -------
    dict
        Axes, points, time, rate, and the answers by network and size.
    """
    axes = {
        "size": _axis(ASKED, "byte", SIZES),
        "bandwidth": _axis([n.link.bandwidth for n in nets], "byte/s/dir", BANDWIDTHS),
        "latency": _axis([n.latency for n in nets], "s", LATENCIES),
        "ranks": np.arange(1, RANKS + 1),
    }
    begin = time.perf_counter()
    _last_ranks(work, axes | {"ranks": axes["ranks"][:2]}, False)  # compiles what follows
    ready = time.perf_counter()
    grid = _last_ranks(work, axes, progress)
    spent = time.perf_counter() - ready
    lengths = {name: len(values) for name, values in axes.items()}
    points = math.prod(lengths.values())
    return {
        "question": "largest number of GPUs at which the scaling efficiency stays above",
        "efficiency": {"value": EFFICIENCY, "unit": "1"},
        "axes": lengths,
        "points": points,
        "preparation": {"value": ready - begin, "unit": "s"},
        "time": {"value": spent, "unit": "s"},
        "rate": {"value": points / spent, "unit": "1/s"},
        "sizes": [{"value": sm.Q_(s).m_as("byte"), "unit": "byte"} for s in ASKED],
        "answers": [_answer(grid, network) for network in nets],
    }


def _last_ranks(work: Any, axes: Figure, progress: Progress | bool) -> Any:
    """Return the last number of ranks above the efficiency, over the other axes."""
    return sm.sweep(
        sm.strong_scaling,
        flops=work,
        peak=PEAK,
        reduce=sm.sweeps.last("scaling_efficiency", above=EFFICIENCY, along="ranks"),
        progress=progress,
        **axes,
    )


def _axis(named: Any, unit: str, count: int) -> Any:
    """Named values, and others evenly in logarithm between the least and the largest."""
    exact = [float(sm.Q_(value).m_as(unit)) for value in named]
    between = np.geomspace(min(exact), max(exact), count - len(set(exact)) + 2)[1:-1]
    return sm.Q_(np.unique([*exact, *between]), unit)


def _answer(grid: Any, network: Network) -> Figure:
    """Largest ranks for every size asked, at the bandwidth and latency of one network."""
    found = []
    for size in ASKED:
        point = grid.sel(size=size, bandwidth=network.link.bandwidth, latency=network.latency)
        ranks = int(point.item())
        found.append({"ranks": ranks, "at_end_of_axis": ranks == RANKS})
    return {
        "network": network.name,
        "bandwidth": {"value": network.link.bandwidth.m_as("GB/s/dir"), "unit": "GB/s/dir"},
        "latency": {"value": sm.Q_(network.latency).m_as("s"), "unit": "s"},
        "largest_ranks": found,
    }
