"""Fields of the objects behind a training step, as axes of a sweep: units, ranges, names."""

from __future__ import annotations

from typing import Any

import attrs

from scalemath.core.model import Parameter
from scalemath.units.declaration import parse
from scalemath.workloads.machine import Curve, Machine
from scalemath.workloads.plan import RECOMPUTE, SCHEDULES, SHARDING, ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.step_inputs import SIZES
from scalemath.workloads.transformer import Transformer

OBJECTS: dict[str, type] = {
    "transformer": Transformer,
    "plan": ParallelPlan,
    "machine": Machine,
    "stack": Stack,
}

_PLAN = dict.fromkeys(SIZES, "count >= 1") | {
    "sharding": f"choice {' '.join(SHARDING)}",
    "recompute": f"choice {' '.join(RECOMPUTE)}",
    "schedule": f"choice {' '.join(SCHEDULES)}",
}
_RATE, _POSITIVE, _SHARE = "byte/s/dir > 0", "number > 0", "number <= 1"
_MACHINE = {
    "peak": "flop/s > 0",
    "memory_bandwidth": "byte/s > 0",
    "memory_rate": "byte/s > 0",
    "memory": "byte > 0",
    "matmul_share": _POSITIVE,
    "attention_share": _POSITIVE,
    "memory_share": _POSITIVE,
    "node_ranks": "count >= 1",
    "nic_bandwidth": _RATE,
    "nic_rate": _RATE,
    "rails": _POSITIVE,
    "nic_share": _POSITIVE,
    "network_latency": "s",
    "hand_over_latency": "s",
    "straggler_share": "number",
    "power": "W",
}
_CURVE = {"startup": "s", "bandwidth": _RATE, "pair_factor": _POSITIVE}
_CURVES = ("allreduce", "gather", "exchange")
_MACHINE |= {f"{kind}.{name}": text for kind in _CURVES for name, text in _CURVE.items()}
_STACK = {
    "attention": "choice fused unfused",
    "attention_gain": _POSITIVE,
    "element_factor": "number",
    "precision": "choice 16-bit 8-bit",
    "low_precision_gain": _POSITIVE,
    "cast_bytes": "byte",
    "expert_capacity": _POSITIVE,
    "expert_share": _POSITIVE,
    "operand_exposed": "number",
    "loss_bytes": "byte",
    "output_share": "number",
    "tensor_overlap": _SHARE,
    "gradient_overlap": _SHARE,
    "expert_overlap": _SHARE,
    "context_overlap": _SHARE,
    "hand_over_overlap": _SHARE,
    "context": "choice exchange ring gather",
    "context_loss": "number",
    "gather_bytes": "byte",
    "scatter_bytes": "byte",
    "gather_hidden": _SHARE,
    "interference": "number",
    "gradient_bytes": "byte",
    "state_bytes": "byte",
    "whole_bytes": "byte",
    "host_floor": "s",
    "logit_bytes": "byte",
    "transient_bytes": "byte",
    "fixed_memory": "byte",
    "memory_reserve": "number",
    "live_layers": "number",
    "moments_added": "number",
}
_LEAST_ONE = ("layers", "hidden", "heads", "vocabulary")
_TRANSFORMER = {
    f.name: f"count >= {int(f.name in _LEAST_ONE)}"
    for f in attrs.fields(Transformer)
    if str(f.type) == "int"
} | {"norm": "choice rmsnorm layernorm"}

DECLARED = {
    f"{name}.{own}": text
    for name, fields in (
        ("plan", _PLAN),
        ("machine", _MACHINE),
        ("stack", _STACK),
        ("transformer", _TRANSFORMER),
    )
    for own, text in fields.items()
} | {"sequence": "count >= 1"}
"""Declaration of every field that may be an axis, truth values left out."""

FIELDS: dict[str, Parameter] = {
    name: attrs.evolve(parse(name, text), required=False) for name, text in DECLARED.items()
}

TRUTHS = frozenset(
    f"{name}.{f.name}" for name, kind in OBJECTS.items() for f in attrs.fields(kind)
    if str(f.type) == "bool"
)  # fmt: skip
"""Fields that are true or false."""

VECTORS = frozenset(
    name
    for name, parameter in FIELDS.items()
    if name.partition(".")[0] in ("machine", "stack") and parameter.kind not in ("choice", "count")
)
"""Fields that enter the lowering by arithmetic alone: arrays go through it as numbers do."""

REACHED = {
    "machine.nic_rate": ("machine.nic_bandwidth", "machine.nic_share"),
    "machine.memory_rate": ("machine.memory_bandwidth", "machine.memory_share"),
}
"""Rates that are a product of two fields; one that is given takes the place of both."""


def read(base: Any, name: str) -> Any:
    """Value of a field of an object, by the part of its dotted name behind the object."""
    for part in name.split("."):
        base = getattr(base, part)
    return base


def changed(base: Any, values: dict[str, Any]) -> Any:
    """Return an object with other values of some of its fields.

    Parameters
    ----------
    base : Transformer, ParallelPlan, Machine or Stack
        Where everything else comes from.
    values : dict
        By the part of the dotted name behind the object.

    Returns
    -------
    object
        Made by its own constructor, which may refuse.
    """
    if not values:
        return base
    plain: dict[str, Any] = {}
    for name, value in values.items():
        first, _, inner = name.partition(".")
        if inner:
            curve: Curve = plain.get(first, getattr(base, first))
            plain[first] = curve._replace(**{inner: value})
        else:
            plain[first] = value
    for rate in ("nic", "memory"):
        if f"{rate}_rate" in plain and isinstance(base, Machine):
            plain[f"{rate}_bandwidth"] = plain.pop(f"{rate}_rate")
            plain[f"{rate}_share"] = 1.0
    return attrs.evolve(base, **plain)
