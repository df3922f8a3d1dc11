"""Protocols of a library around a closed form: ``estimator="envelope"``."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from attrs import evolve

from scalemath.collectives.answer import answer
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.operations import Operation
from scalemath.core.errors import ArgumentError

CALIBRATION: ContextVar[Any] = ContextVar("calibration", default=None)
"""What answers ``estimator="calibrated"`` inside ``with calibrate(log):``."""

PROTOCOLS = (
    ("LL", 1.0, 0.5),
    ("LL128", 1.9 / 0.6, 120.0 / 128.0),
    ("Simple", 3.4 / 0.6, 1.0),
)
"""Protocol, latency over that of the fastest, payload over line rate: NCCL's NVLink ring hops of
0.6, 1.9 and 3.4 us, and 4 of 8, 120 of 128 and all bytes being payload (tuning.cc, v2.30.7)."""


def under_protocol(values: dict[str, Any], slower: float, share: float) -> dict[str, Any]:
    """Values with every latency and every bandwidth of the network as a protocol has them."""
    changed = dict(values)
    for name, value in values.items():
        if name.endswith("latency") and name != "switch_latency":
            changed[name] = value * slower
        elif name.endswith("bandwidth"):
            changed[name] = value * share
    return changed


def protocol_note(protocol: str) -> str:
    """What a protocol does to the stated numbers, for the assumptions of a result."""
    slower, share = next((s, b) for name, s, b in PROTOCOLS if name == protocol)
    return (
        f"protocol {protocol}: latency {slower:.3g} times and bandwidth {share:.3g} times "
        "the stated one"
    )


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
        changed = under_protocol(values, slower, share) | {"estimator": "alpha-beta"}
        costs.append(answer(operation, changed, (*assumed, protocol_note(protocol))))
    best = min(costs, key=lambda cost: cost.si("time"))
    return evolve(best, estimator="envelope")


def answer_calibrated(
    operation: Operation, values: dict[str, Any], assumed: tuple[str, ...]
) -> CollectiveCost:
    """Cost by constants of the user's own logs, those of the calibration in force."""
    calibration = CALIBRATION.get()
    if calibration is None:
        raise ArgumentError(
            f'{operation.name}: estimator="calibrated" needs times of your own; write '
            "with calibrate(log): before the call, or fit_envelope(sizes, times).time(size) with "
            "the sizes and times of your log"
        )
    cost: CollectiveCost = calibration.answer(operation, values, assumed)
    return cost
