"""The numbers of the tour, as plain data with a unit beside each value."""

from __future__ import annotations

from typing import Any

import scalemath as sm
from scalemath.tour.networks import DTYPE, INNER, PEAK, RANKS, SHAPE, Network, networks
from scalemath.tour.question import Progress, largest_ranks

Figure = dict[str, Any]


def figures(progress: Progress | bool = False) -> Figure:
    """Compute everything that the tour shows.

    Parameters
    ----------
    progress : callable or bool
        Called with done and all points while the sweep runs.

    Returns
    -------
    dict
        One entry per section; numbers stand as ``{"value": ..., "unit": ...}``.
    """
    nets = networks()
    size = sm.tensor_size(SHAPE, DTYPE)
    work = sm.gemm_flops(SHAPE[0] * SHAPE[1], SHAPE[2], INNER)
    return {
        "scalemath": sm.__version__,
        "unit_trap": unit_trap(nets[0], nets[1]),
        "allreduce": allreduce(nets, size),
        "strong_scaling": strong_scaling(nets, size, work),
        "sweep": largest_ranks(nets, work, progress),
    }


def figure(value: float, unit: str) -> Figure:
    """One number with its unit."""
    return {"value": float(value), "unit": unit}


def unit_trap(first: Network, second: Network) -> Figure:
    """Compare two links like for like, and as their printed digits would have it."""
    rates = [network.link.bandwidth for network in (first, second)]
    return {
        "links": [
            {
                "name": network.name,
                "printed": network.printed,
                "bandwidth": figure(rate.m_as("GB/s/dir"), "GB/s/dir"),
            }
            for network, rate in zip((first, second), rates, strict=True)
        ],
        "ratio": figure((rates[0] / rates[1]).m_as(""), "1"),
        "ratio_of_the_digits": figure(
            rates[0].m_as("GB/s/bidir") / rates[1].m_as("Gbit/s/dir"), "1"
        ),
    }


def allreduce(nets: tuple[Network, ...], size: Any) -> Figure:
    """Time of one activation's allreduce on every network, latency left out."""
    rows = []
    for ranks in RANKS:
        results = [sm.allreduce(size=size, ranks=ranks, bandwidth=n.link.bandwidth) for n in nets]
        rows.append(
            {
                "ranks": ranks,
                "time": [figure(r.time.m_as("ms"), "ms") for r in results],
                "algorithm_bandwidth": [
                    figure(r.algorithm_bandwidth.m_as("GB/s"), "GB/s") for r in results
                ],
            }
        )
    return {
        "size": figure(size.m_as("byte"), "byte"),
        "shape": list(SHAPE),
        "dtype": DTYPE,
        "networks": [n.name for n in nets],
        "bandwidths": [figure(n.link.bandwidth.m_as("GB/s/dir"), "GB/s/dir") for n in nets],
        "rows": rows,
        "assumptions": ["ring", "latency left out"],
    }


def strong_scaling(nets: tuple[Network, ...], size: Any, work: Any) -> Figure:
    """Return the step that makes the activation and reduces it, shared by more and more ranks."""
    found = []
    for network in nets:
        results = [
            sm.strong_scaling(
                flops=work, peak=PEAK, ranks=ranks, size=size, bandwidth=network.link.bandwidth
            )
            for ranks in RANKS
        ]
        found.append(
            {
                "network": network.name,
                "ceiling": figure(results[0].ceiling, "1"),
                "wall": figure(results[0].wall, "1"),
                "rows": [
                    {
                        "ranks": r.ranks,
                        "computation": figure(r.computation.m_as("ms"), "ms"),
                        "communication": figure(r.communication.m_as("ms"), "ms"),
                        "time": figure(r.time.m_as("ms"), "ms"),
                        "speedup": figure(r.speedup, "1"),
                        "scaling_efficiency": figure(r.scaling_efficiency, "1"),
                        "communication_share": figure(r.communication_share, "1"),
                        "slows_down": bool(r.slows_down),
                    }
                    for r in results
                ],
            }
        )
    return {
        "flops": figure(work.m_as("flop"), "flop"),
        "peak": figure(sm.Q_(PEAK).m_as("flop/s"), "flop/s"),
        "time_one": figure((work / sm.Q_(PEAK)).m_as("s"), "s"),
        "networks": found,
    }
