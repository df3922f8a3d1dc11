"""Protocols of a library around a closed form: ``estimator="envelope"``."""

from __future__ import annotations

import math
from typing import Any

from attrs import evolve

from scalemath.collectives.answer import answer
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.operations import Operation
from scalemath.core.errors import ArgumentError

PROTOCOLS = (
    ("LL", 1.0, 0.5),
    ("LL128", 1.9 / 0.6, 120.0 / 128.0),
    ("Simple", 3.4 / 0.6, 1.0),
)
"""Protocol, latency over that of the fastest, payload over line rate: NCCL's NVLink ring hops of
0.6, 1.9 and 3.4 us, and 4 of 8, 120 of 128 and all bytes being payload (tuning.cc, v2.30.7)."""


def answer_envelope(
    operation: Operation, values: dict[str, Any], assumed: tuple[str, ...]
) -> CollectiveCost:
    """Cost by the closed form under the protocol that is fastest at this size.

    The stated latency is that of the protocol with the least latency and the stated bandwidth
    that of the one with the greatest payload share, so no protocol beats the closed form's
    bounds.
    """
    costs = []
    for protocol, slower, share in PROTOCOLS:
        changed = {
            **values,
            "estimator": "alpha-beta",
            "latency": values["latency"] * slower,
            "bandwidth": values.get("bandwidth", math.inf) * share,
        }
        note = (
            f"protocol {protocol}: latency {slower:.3g} times and bandwidth {share:.3g} times "
            "the stated one"
        )
        costs.append(answer(operation, changed, (*assumed, note)))
    best = min(costs, key=lambda cost: cost.si("time"))
    return evolve(best, estimator="envelope")


def answer_calibrated(
    operation: Operation, _values: dict[str, Any], _assumed: tuple[str, ...]
) -> CollectiveCost:
    """Refuse: constants of a user's log are not among the arguments of a closed form."""
    raise ArgumentError(
        f'{operation.name}: estimator="calibrated" needs times of your own; write '
        "fit_envelope(sizes, times).time(size) with the sizes and times of your log"
    )
