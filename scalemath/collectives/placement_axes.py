"""Fields of a placement as axes: defaults follow and combinations are refused as when one is made.

A sweep sees numbers. Here the fields that move are put beside those that do not, every combination
is checked by the rules of `Placement`, and what is left out takes the value that `Placement`
would give it at each point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np

from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.model import Model, Parameter
from scalemath.sweeps.axes import Array, Axis, Coordinate, Dependent, Zipped, is_axis
from scalemath.sweeps.axes import make_coordinate as converted
from scalemath.topology.placement import Placement, faults
from scalemath.units import convert, quantity

COUPLED = ("nodes", "ranks_per_node", "domain")
"""Whole numbers that must fit each other."""
OWNER = "placement."
BLOCK = 1 << 22
"""Combinations that are checked at once."""


class _Field(NamedTuple):
    """A field that is given beside the placement: along an axis, once, or by a formula."""

    axis: str
    values: Array | None


class _Unreadable(Exception):
    """The reader of sweeps finds the same fault, and tells it together with all others."""


def with_placement(model: Model, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Replace a placement in the arguments of a sweep by its numbers.

    Parameters
    ----------
    model : Model
        Operation on a placement.
    arguments : mapping
        Axes and values, a `Placement` or fields of one among them.

    Returns
    -------
    dict
        The same with a number for every field that was not given beside the placement.

    Raises
    ------
    ScalemathError
        For the first combination of fields that `Placement` refuses.
    """
    parameters = {p.name: p for p in model.parameters if p.name.startswith(OWNER)}
    whole = arguments.get("placement")
    if "placement" in arguments and not isinstance(whole, Placement):
        raise ArgumentError(
            f"sweep of {model.name}: placement is {str(whole)[:80]!r}, wanted a Placement; its "
            f"fields may be axes, as in **{{'{OWNER}nodes': [1, 2, 4]}}"
        )
    try:
        own = _given(model.name, parameters, arguments)
    except _Unreadable:
        return dict(sorted(arguments.items(), key=lambda item: item[0] == "placement"))
    stated: dict[str, Any] = {}
    if whole is not None:
        stated = {f.name: getattr(whole, f.name) for f in attrs.fields(Placement)}
    for name, field in own.items():
        first = 1.0 if field.values is None else field.values.flat[0]
        stated[name] = _as_given(parameters[OWNER + name], first)
    base = _checked(model.name, stated, own)
    found = {n: v for n, v in arguments.items() if n != "placement"}
    for name, number in _numbers(base, own).items():
        if name not in own:
            unit, inner = parameters[OWNER + name].unit, "efficiency" in name and number == 1.0
            found[OWNER + name] = Coordinate(
                OWNER + name, (), np.array(number, dtype=np.float64), unit, inner=inner
            )
    ranks = own.get("ranks_per_node")
    if base.domain is None and ranks is not None and ranks.axis and ranks.values is not None:
        name = f"{OWNER}domain"
        found[name] = Coordinate(name, (ranks.axis,), ranks.values, inner=True)
    return found


def _given(
    model: str, parameters: Mapping[str, Parameter], arguments: Mapping[str, Any]
) -> dict[str, _Field]:
    """Fields that are given beside the placement, as SI numbers."""
    found: dict[str, _Field] = {}
    for group, name, value in _members(arguments):
        own = name.removeprefix(OWNER)
        if name not in parameters or own in found:
            raise _Unreadable
        if isinstance(value, (Axis, Coordinate)):
            raise ArgumentError(f"sweep of {model}: {name} is a {type(value).__name__}")
        if isinstance(value, Dependent):
            if own in COUPLED:
                raise ArgumentError(
                    f"sweep of {model}: {name} cannot be computed at each point, because a "
                    "placement is checked before; zip it with what it depends on, as in "
                    f"zipped(**{{{name!r}: [...], ...}})"
                )
            found[own] = _Field("", None)
            continue
        try:
            axis = group or (name if is_axis(value) else "")
            if axis:
                values = converted(parameters[name], value, axis, together=True).values
            else:
                values = np.asarray(convert(parameters[name], value), dtype=np.float64)
        except ScalemathError:
            raise _Unreadable from None
        if any(f.axis == axis != "" and f.values is not None and f.values.size != values.size
               for f in found.values()):  # fmt: skip
            raise _Unreadable
        found[own] = _Field(axis, values)
    return found


def _members(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Axis, name and value of every field; the axis is empty where the field stands alone."""
    for name, value in arguments.items():
        if isinstance(value, Zipped):
            yield from ((name, n, v) for n, v in value.members.items() if n.startswith(OWNER))
        elif name.startswith(OWNER):
            yield "", name, value


def _as_given(parameter: Parameter, number: float) -> Any:
    """Value as the constructor takes it."""
    if parameter.kind == "count":
        return int(number)
    if parameter.kind == "number":
        return float(number)
    return quantity(float(number), "byte/s/dir" if parameter.kind == "rate" else parameter.unit)


def _checked(model: str, stated: Mapping[str, Any], own: Mapping[str, _Field]) -> Placement:
    """Placement of the first values; refuse what no placement can be."""
    moving = [name for name in COUPLED if name in own and own[name].axis]
    base = _made(model, stated, moving)
    lines = list(dict.fromkeys(own[name].axis for name in moving))
    arrays: dict[str, Array] = {}
    for name in moving:
        shape = [1] * len(lines)
        shape[lines.index(own[name].axis)] = -1
        arrays[name] = np.asarray(own[name].values).reshape(shape)
    for block in _blocks(arrays):
        nodes = block.get("nodes", base.nodes)
        ranks = block.get("ranks_per_node", base.ranks_per_node)
        domain = block.get("domain", base.domain or 0.0)
        rates = base.domain_bandwidth is not None, base.nic_bandwidth is not None
        joined = np.minimum(np.where(np.equal(domain, 0.0), ranks, domain), nodes * ranks)
        wrong = np.logical_or.reduce(
            np.broadcast_arrays(*faults(nodes, ranks, domain, joined, *rates))
        )
        if wrong.any():
            place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            at = {n: int(np.broadcast_to(v, wrong.shape)[place]) for n, v in block.items()}
            _made(model, {**stated, **at}, moving)
    return base


def _blocks(arrays: Mapping[str, Array]) -> Iterator[Mapping[str, Array]]:
    """All combinations, cut along the first axis where they are many."""
    if not arrays:
        return
    shape = np.broadcast_shapes(*(a.shape for a in arrays.values()))
    step = max(1, BLOCK // math.prod(shape[1:]))
    for first in range(0, shape[0], step):
        yield {
            n: a[first : first + step] if a.shape[0] > 1 else a for n, a in arrays.items()
        }  # fmt: skip


def _made(model: str, stated: Mapping[str, Any], moving: Sequence[str]) -> Placement:
    """Make a placement, or say which combination of a sweep cannot be one."""
    try:
        return Placement(**stated)
    except ScalemathError as error:
        where = ", ".join(f"{OWNER}{name}={stated[name]}" for name in moving)
        hint = "; fields that belong together move together with zipped()" if moving else ""
        text = f"sweep of {model}: {f'{where}: ' if where else ''}{error}{hint}"
        raise type(error)(text) from None


def _numbers(base: Placement, own: Mapping[str, _Field]) -> dict[str, float]:
    """Numbers of every field; rates as stated, a domain as large as it may become."""
    low = base.lower()
    domain = low.domain
    if any(name in own and own[name].axis for name in COUPLED):
        domain = float(base.domain or base.ranks_per_node)
    return {
        "nodes": low.nodes,
        "ranks_per_node": low.ranks_per_node,
        "domain": domain,
        "nics_per_node": low.nics_per_node,
        "domain_bandwidth": base.stated_rate("domain_bandwidth"),
        "nic_bandwidth": base.stated_rate("nic_bandwidth"),
        "domain_latency": low.domain_latency,
        "nic_latency": low.nic_latency,
        "domain_efficiency": base.domain_efficiency,
        "nic_efficiency": base.nic_efficiency,
    }
