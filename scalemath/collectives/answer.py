"""The one implementation behind all collective functions, on SI floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from scalemath.collectives.algorithms import (
    LEVELS,
    MULTICAST,
    REDUCTION,
    TORUS,
    Algorithm,
    algorithm_named,
    candidates,
)
from scalemath.collectives.cost import CollectiveCost, Contender
from scalemath.collectives.lowering import TIERS
from scalemath.collectives.operations import Operation
from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import total
from scalemath.units.checks import taken_as_zero

ESTIMATORS = ("bound", "alpha-beta", "envelope", "calibrated", "nccl")
BEST = "best"
IN_NETWORK: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "reduction": frozenset((REDUCTION,)),
    "multicast": frozenset((MULTICAST,)),
}
_ELSEWHERE = {
    "envelope": ("scalemath.collectives.protocols", "answer_envelope"),
    "calibrated": ("scalemath.collectives.protocols", "answer_calibrated"),
    "nccl": ("scalemath.collectives.nccl.answer", "answer_nccl"),
}
_FREE_REDUCTION = ("reduction costs nothing (reduction_rate not given)",)
_FREE_SWITCHES = taken_as_zero("switch_latency")


def stated_needs(values: Mapping[str, Any]) -> frozenset[str]:
    """What the network is said to offer beyond one port per rank."""
    stated = IN_NETWORK[values.get("in_network", "none")]
    if values.get("ring_hops", math.nan) >= 0.0:
        stated |= {TORUS}
    if values.get("inner_ranks", math.nan) >= 1.0:
        stated |= {LEVELS}
    return stated


def answer(
    operation: Operation, values: dict[str, Any], assumed: tuple[str, ...]
) -> CollectiveCost:
    """Cost of an operation from SI floats.

    Parameters
    ----------
    operation : Operation
        What is done.
    values : dict
        SI floats by name, `algorithm` and `estimator` as text.
    assumed : tuple of str
        Assumptions made at the boundary.

    Returns
    -------
    CollectiveCost
        Time with its terms.
    """
    estimator = values["estimator"]
    name = values["algorithm"]
    if estimator == "alpha-beta" and name != BEST:
        return _one(operation, algorithm_named(operation.name, name), values, assumed)
    if estimator == "bound":
        return _bound(operation, values, assumed)
    if estimator == "alpha-beta":
        return _best(operation, values, assumed)
    return _elsewhere(estimator)(operation, values, assumed)


def _elsewhere(estimator: str) -> Callable[..., CollectiveCost]:
    module, function = _ELSEWHERE[estimator]
    found: Callable[..., CollectiveCost] = getattr(import_module(module), function)
    return found


def _one(
    operation: Operation,
    algorithm: Algorithm,
    values: dict[str, Any],
    assumed: tuple[str, ...],
    contenders: tuple[Contender, ...] = (),
) -> CollectiveCost:
    """Cost by one algorithm."""
    if algorithm.assumed:
        assumed += algorithm.assumed
    if algorithm.needs:
        _check(algorithm, values)
    if _FREE_SWITCHES in assumed and not algorithm.in_network:
        assumed = tuple(text for text in assumed if text != _FREE_SWITCHES)
    if operation.reduces and values["reduction_rate"] == math.inf and not algorithm.in_network:
        assumed += _FREE_REDUCTION
    return CollectiveCost(
        operation_record=operation,
        algorithm_record=algorithm,
        given=values,
        split=algorithm.kernel.function(*algorithm.pick(values)),
        contenders=contenders,
        assumptions=assumed,
    )


def _check(algorithm: Algorithm, values: dict[str, Any]) -> None:
    """Refuse an algorithm whose numbers of the network are not there."""
    if algorithm.needs == TORUS and not values.get("ring_hops", math.nan) >= 0.0:
        raise ArgumentError(
            f"{algorithm.operation}: {algorithm.name} needs the sides of the torus; "
            "write shape=(8, 8) in place of ranks"
        )
    if algorithm.needs == LEVELS and not values.get("inner_ranks", math.nan) >= 1.0:
        raise ArgumentError(
            f"{algorithm.operation}: {algorithm.name} needs the levels; write "
            "hierarchy=[(8, '900 GB/s/dir', '1 us'), (9, '100 GB/s/dir', '5 us')]"
        )


def _best(operation: Operation, values: dict[str, Any], assumed: tuple[str, ...]) -> CollectiveCost:
    """Cost by the fastest algorithm whose needs the network states."""
    offered = candidates(operation.name, stated_needs(values))
    timed = sorted(
        ((total(a.kernel.function(*a.pick(values))), i) for i, a in enumerate(offered)),
    )
    contenders = tuple(Contender(name=offered[i].name, seconds=time) for time, i in timed)
    return _one(operation, offered[timed[0][1]], values, assumed, contenders)


def _bound(
    operation: Operation, values: dict[str, Any], assumed: tuple[str, ...]
) -> CollectiveCost:
    """What no algorithm can beat on the network as it is stated."""
    stated = stated_needs(values)
    helped = not stated.isdisjoint((REDUCTION, MULTICAST))
    if values["algorithm"] not in (BEST, operation.default):
        helped = helped or algorithm_named(operation.name, values["algorithm"]).in_network
    ports = 2.0 * values["dimensions"] if TORUS in stated else 1.0
    record = operation.in_network_bound if helped else operation.bound
    kind = "with the help of switches" if helped else "between endpoints"
    full = {**values, "ports": ports}
    if LEVELS in stated:
        full |= _all_levels(values)
    return CollectiveCost(
        operation_record=operation,
        algorithm_record=record,
        given=full,
        split=record.kernel.function(*record.pick(full)),
        estimator="bound",
        assumptions=(
            *assumed,
            f"lower bound {kind}; its terms show the one bound that binds",
        ),
    )


def _all_levels(values: dict[str, Any]) -> dict[str, float]:
    """One port with the rate of all levels together and the least of their latencies."""
    used = [tier for tier in TIERS if values[f"{tier}_ranks"] > 1.0]
    return {
        "bandwidth": sum(values[f"{tier}_bandwidth"] for tier in used) or math.inf,
        "latency": min((values[f"{tier}_latency"] for tier in used), default=0.0),
    }
