"""Carrying a fit to another collective or number of ranks, and setting it against a bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from attrs import evolve

from scalemath.collectives.operations import Operation, operation_named
from scalemath.diagnosis.fit import CollectiveFit

LAUNCH = 0.5
"""Share of the least time that does not grow with the number of steps [1]: starting a kernel and
synchronising; by what measured all-gathers take of measured allreduces."""


def ring_steps(operation: str, ranks: int) -> float:
    """Steps of a ring."""
    return (2.0 if operation == "allreduce" else 1.0) * (ranks - 1)


def nodes_of(fit: CollectiveFit, ranks: int) -> int:
    """Machines for another number of ranks, with as many ranks each."""
    each = max(1, fit.ranks // fit.nodes)
    return max(1, -(-ranks // each))


def carried(
    fit: CollectiveFit, operation: str, ranks: int, nodes: int
) -> tuple[CollectiveFit, tuple[str, ...]]:
    """Carry a fit to another collective or number of ranks.

    Bandwidths keep their bus bandwidth. Half of a latency stays, as launching does; the other
    half goes with the depth of the tree and, between collectives, with the passes of a ring.
    """
    here, there = fit.factor, float(operation_named(operation).factor.function(float(ranks)))
    passes = ring_steps(operation, 2) / ring_steps(fit.operation, 2)
    depth = math.log2(max(ranks, 2)) / math.log2(max(fit.ranks, 2))
    slower = LAUNCH + (1.0 - LAUNCH) * passes * depth
    shift = there / here
    lines = tuple(
        evolve(
            line,
            latency_seconds=line.latency_seconds * slower,
            bandwidth_bytes_per_second=line.bandwidth_bytes_per_second / shift,
        )
        for line in fit.envelope.lines
    )
    made = evolve(
        fit,
        operation=operation,
        ranks=ranks,
        nodes=nodes,
        envelope=evolve(fit.envelope, lines=lines),
        sizes=fit.sizes / shift,
        errors=np.array([]),
    )
    return made, (
        f"carried over from {fit.name}: bus bandwidth kept, latencies times {slower:.3g}; no "
        "log of its own",
    )


def below_bound(operation: Operation, values: dict[str, Any], time: float) -> tuple[str, ...]:
    """Say by how much a calibrated time lies below the bound of the stated network."""
    full = {"reduction_rate": math.inf, "switch_latency": 0.0, "levels": 1.0, "latency": 0.0}
    full |= {"ports": 1.0, **{k: v for k, v in values.items() if isinstance(v, float)}}
    record = operation.bound
    try:
        bound = sum(record.kernel.function(*record.pick(full)))
    except KeyError:
        return ()
    if not time < bound:
        return ()
    return (
        f"{1.0 - time / bound:.0%} below the bound between endpoints at the stated bandwidth: "
        "switches reduce, or the port is faster",
    )
