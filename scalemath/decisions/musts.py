"""Four cases in which a job must scale out, five in which it must not, each as a predicate."""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.decisions.path import Case
from scalemath.units import display

FRONTIER = 400e9
"""Parameters from which the text holds two boxes necessary for production latency."""
DENSE_LIMIT = 72e9
"""Largest model of the class that the text gives to a single node."""


class Told(NamedTuple):
    """A case: what it says, whether it holds here, and the numbers."""

    name: str
    holds: bool
    numbers: str


def must_scale(case: Case, *, production: bool, request_rate: float) -> tuple[Told, ...]:
    """Return the four cases for scaling out.

    Parameters
    ----------
    case : Case
        The numbers.
    production : bool
        Whether people wait for each token.
    request_rate : float
        Requests per second; 0 when unknown.

    Returns
    -------
    tuple of Told
        Every case, whether it holds or not.
    """
    state = f"{100 * case.share:.6g} % of one node"
    time = (
        f"{display(case.training_time, 's')} on one node, wanted in {display(case.deadline, 's')}"
        if case.training_time
        else "no tokens given"
    )
    rate = (
        f"{request_rate:.6g} request/s = {case.demand:.6g} token/s, {case.replicas:.0f} nodes"
        if case.demand and math.isfinite(case.node_rate)
        else "no rate given"
    )
    pretrains = case.kind == "pretraining"
    return (
        Told("pretraining beyond one node's time", pretrains and not case.in_time, time),
        Told("training state beyond one node's memory", case.trains and case.share > 1.0, state),
        Told(
            "a model of the 405B class with production latency",
            case.kind == "inference" and case.parameters >= FRONTIER and production,
            f"{case.parameters / 1e9:.4g}B parameters, weights {state}",
        ),
        Told(
            "more requests than one node answers",
            not case.trains and case.replicas > 1.0,
            rate,
        ),
    )


def must_not_scale(case: Case, *, requests: float) -> tuple[Told, ...]:
    """Return the five cases against scaling out.

    Parameters
    ----------
    case : Case
        The numbers.
    requests : float
        Requests at the same time; 0 when unknown.

    Returns
    -------
    tuple of Told
        Every case, whether it holds or not.
    """
    state = f"{100 * case.share:.6g} % of one node"
    held = case.holds or case.holds_in_four_bits
    alone = held and case.replicas <= 1.0
    serves = case.kind == "inference"
    batch = (
        f"{case.demand:.6g} token/s wanted, one node makes {case.node_rate:.6g}"
        if case.demand
        else "no tokens or deadline given"
    )
    return (
        Told("a tensor group that fits one box", serves and case.holds, state),
        Told(
            "requests whose cache fits beside the weights",
            serves and alone and case.cache > 0.0,
            f"{requests:.0f} requests, cache {display(case.cache, 'byte')}",
        ),
        Told(
            "a model of 7B to 72B, not fully trained",
            not case.trains and held and case.parameters <= 1.02 * DENSE_LIMIT,
            f"{case.parameters / 1e9:.4g}B parameters, {state}",
        ),
        Told("adapters on a base that fits", case.kind in ("lora", "qlora") and held, state),
        Told(
            "a batch that one node finishes in time",
            case.kind == "batch inference" and alone and case.demand > 0.0,
            batch,
        ),
    )
