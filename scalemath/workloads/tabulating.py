"""Lowering over axes: every number a kernel needs, along exactly those axes that decide it.

Each function that lowers objects stands here with the fields it reads. It is called once for every
combination of names and whole numbers among them, with arrays in place of the numbers that enter
it by arithmetic alone. It is given nothing but what it reads, so that a field that is missing here
is an error and never a wrong number.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from scalemath.core.errors import ScalemathError
from scalemath.sweeps.axes import Array, Coordinate
from scalemath.workloads.flops import flops_floats
from scalemath.workloads.memory_inputs import (
    default_classes,
    end_layers,
    gathered_floats,
    runtime_floats,
    saved_floats,
    state_floats,
    widest_floats,
)
from scalemath.workloads.step_fields import FIELDS, OBJECTS, VECTORS, changed, read
from scalemath.workloads.step_inputs import (
    SIZES,
    Floats,
    machine_floats,
    model_floats,
    policy_floats,
    recompute_floats,
    stack_floats,
)
from scalemath.workloads.swept_step import chunk_floats, rate_floats, split_floats


class Job(NamedTuple):
    """What is lowered: a training step with its objects."""

    transformer: Any
    plan: Any
    machine: Any
    stack: Any
    sequence: Any


class Lowering(NamedTuple):
    """A function of a job, and the fields it reads.

    ``"stack.*"`` stands for all fields of a stack that enter by arithmetic, ``"transformer"`` for
    the whole object.
    """

    function: Callable[[Job], Floats]
    reads: tuple[str, ...]


class Moving(NamedTuple):
    """An axis: its name, its length, and the values of each field that moves along it."""

    name: str
    length: int
    fields: Mapping[str, Sequence[Any] | Array]


def _one(name: str, field: str) -> Lowering:
    """Lowering of a whole number that kernels take as it is; formulas name it by its field."""
    return Lowering(lambda job: dict.fromkeys((name, field), float(read(job, field))), (field,))


def _named(owner: str, reads: str) -> Lowering:
    """Numeric fields of an object under the names by which formulas read them."""
    names = [n for n, p in FIELDS.items() if n.startswith(f"{owner}.") and p.kind != "choice"]
    own = [n for n in names if owner == "transformer" or n in VECTORS]
    return Lowering(lambda job: {n: read(job, n) for n in own}, (reads,))


LOWERINGS: tuple[Lowering, ...] = (
    Lowering(
        lambda j: model_floats(j.transformer, j.stack, j.plan.pipeline),
        ("transformer", "stack.*", "stack.dropout", "plan.pipeline"),
    ),
    Lowering(lambda j: recompute_floats(j.plan), ("plan.recompute",)),
    Lowering(
        lambda j: policy_floats(j.plan, j.stack),
        ("plan.sharding", "plan.sequence_parallel", "plan.keep_weights", "plan.schedule",
         "stack.*", "stack.precision"),
    ),
    Lowering(
        lambda j: machine_floats(j.machine, j.stack),
        ("machine.*", "stack.*", "stack.precision", "stack.attention"),
    ),
    Lowering(
        lambda j: stack_floats(j.stack), ("stack.*", "stack.context", "stack.hand_over_gather")
    ),
    Lowering(
        lambda j: saved_floats(j.transformer, j.plan, j.stack),
        ("transformer", "plan.recompute", "stack.*", "stack.attention", "stack.dropout"),
    ),
    Lowering(
        lambda j: state_floats(default_classes(j.transformer, j.plan)),
        ("transformer", "plan.sharding", "plan.keep_weights"),
    ),
    Lowering(lambda j: gathered_floats(j.plan), ("plan.sharding", "plan.keep_weights")),
    Lowering(lambda j: widest_floats(j.transformer), ("transformer",)),
    Lowering(lambda j: end_layers(j.transformer, j.plan), ("transformer", "plan.pipeline")),
    Lowering(lambda j: runtime_floats(j.stack), ("stack.*",)),
    Lowering(lambda j: split_floats(j.transformer), ("transformer",)),
    Lowering(lambda j: flops_floats(j.transformer), ("transformer",)),
    Lowering(lambda j: rate_floats(j.machine), ("machine.*",)),
    Lowering(lambda j: chunk_floats(j.plan), ("plan.sharding", "plan.keep_weights")),
    _named("transformer", "transformer"),
    _named("machine", "machine.*"),
    _named("stack", "stack.*"),
    *(_one(name, f"plan.{name}") for name in SIZES),
    _one("sequence", "sequence"),
    _one("node_ranks", "machine.node_ranks"),
)  # fmt: skip
"""Later ones take precedence, as a whole number that is read by itself does."""


class Impossible(Exception):
    """Objects that their constructor refuses together."""


def tabulated(base: Job, axes: Sequence[Moving]) -> dict[str, Coordinate]:
    """Every number the kernels need, along the axes that decide it.

    Parameters
    ----------
    base : Job
        Where fields without an axis come from.
    axes : sequence of Moving
        Axes in order.

    Returns
    -------
    dict of str to Coordinate
        SI floats; along no axis where nothing moves them.

    Raises
    ------
    ScalemathError
        What a constructor says of a value that fits none of the others.
    """
    found: dict[str, Coordinate] = {}
    for lowering in LOWERINGS:
        for name, values in _table(lowering, base, axes).items():
            found[name] = _narrowed(name, values, axes)
    found["possible"] = _narrowed("possible", _possible(base, axes), axes)
    return found


def touches(field: str, wanted: str) -> bool:
    """Whether a field is among those that a lowering reads."""
    if wanted.endswith(".*"):
        owner = wanted.removesuffix(".*")
        return field == owner or (field in VECTORS and field.startswith(f"{owner}."))
    return field == wanted or field.startswith(f"{wanted}.") or wanted.startswith(f"{field}.")


def _table(lowering: Lowering, base: Job, axes: Sequence[Moving]) -> dict[str, Array]:
    """Values of a lowering over all axes; those that do not touch it have length one."""
    vectors: dict[str, Any] = {}
    counted: list[tuple[int, dict[str, Any]]] = []
    for place, axis in enumerate(axes):
        own = {f: v for f, v in axis.fields.items() if any(touches(f, r) for r in lowering.reads)}
        if own and own.keys() <= VECTORS:
            shape = [1] * len(axes)
            shape[place] = axis.length
            vectors.update({f: np.asarray(v).reshape(shape) for f, v in own.items()})
        elif own:
            counted.append((place, own))
    collected: dict[str, dict[tuple[int, ...], Any]] = {}
    for places in itertools.product(*(range(axes[p].length) for p, _ in counted)):
        values = dict(vectors)
        for place, (_, own) in zip(places, counted, strict=True):
            values.update({f: v[place] for f, v in own.items()})
        try:
            job = _job(base, values)
        except Impossible:
            job = _job(base, {f: v for f, v in values.items() if _owner(f) != "transformer"})
        for name, number in lowering.function(_restricted(job, lowering.reads)).items():
            collected.setdefault(name, {})[places] = number
    where = [p for p, _ in counted]
    return {n: _joined(numbers, where, axes) for n, numbers in collected.items()}


def _joined(
    numbers: Mapping[tuple[int, ...], Any], where: Sequence[int], axes: Sequence[Moving]
) -> Array:
    """One array of numbers, or of arrays, that belong to places on some of the axes."""
    parts = [np.asarray(n, dtype=np.float64) for n in numbers.values()]
    shape = [1] * len(axes)
    for part in parts:
        if part.ndim:
            shape = [max(a, b) for a, b in zip(shape, part.shape, strict=True)]
    for place in where:
        shape[place] = axes[place].length
    found = np.empty(shape)
    for places, part in zip(numbers, parts, strict=True):
        index: list[Any] = [slice(None)] * len(axes)
        for place, own in zip(where, places, strict=True):
            index[place] = slice(own, own + 1)
        found[tuple(index)] = part
    return found


def _narrowed(name: str, values: Array, axes: Sequence[Moving]) -> Coordinate:
    """Coordinate along those axes along which the values differ."""
    kept = []
    for place, axis in enumerate(axes):
        first = values.take([0], axis=place)
        if values.shape[place] > 1 and not np.array_equal(
            np.broadcast_to(first, values.shape), values, equal_nan=True
        ):
            kept.append(axis.name)
        else:
            values = first
    lengths = [n for n in values.shape if n > 1]
    unit = FIELDS[name].unit if name in FIELDS else "1"
    return Coordinate(name, tuple(kept), values.reshape(lengths), unit, inner=True)


def _owner(field: str) -> str:
    return field.partition(".")[0]


def _job(base: Job, values: Mapping[str, Any]) -> Job:
    """Job with other values of some fields, or with other objects."""
    given: dict[str, Any] = base._asdict()
    given.update({f: v for f, v in values.items() if f in given})
    for owner in OBJECTS:
        own = {f.partition(".")[2]: v for f, v in values.items() if f.startswith(f"{owner}.")}
        try:
            given[owner] = changed(given[owner], own)
        except ScalemathError as error:
            raise Impossible(str(error)) from error
    return Job(**given)


def _restricted(job: Job, reads: Sequence[str]) -> Job:
    """Job that holds nothing but what a lowering is said to read."""
    kept: dict[str, Any] = dict.fromkeys(Job._fields)
    for owner in kept:
        if owner in reads or (f"{owner}.*" in reads and owner == "machine"):
            kept[owner] = getattr(job, owner)
            continue
        whole = getattr(job, owner)
        names = [r.partition(".")[2] for r in reads if r.startswith(f"{owner}.") and r[-1] != "*"]
        if f"{owner}.*" in reads:
            names += [n.partition(".")[2] for n in VECTORS if n.startswith(f"{owner}.")]
        if names:
            kept[owner] = SimpleNamespace(**{n: getattr(whole, n) for n in names})
    return Job(**kept)


def _possible(base: Job, axes: Sequence[Moving]) -> Array:
    """Where the constructor of the transformer accepts what is asked for: 1, else 0."""
    own = [
        (p, {f: v for f, v in axis.fields.items() if _owner(f) == "transformer"})
        for p, axis in enumerate(axes)
    ]
    own = [(p, fields) for p, fields in own if fields]
    found = np.ones([axes[p].length for p, _ in own])
    refused: dict[tuple[int, ...], Impossible] = {}
    for places in np.ndindex(*found.shape):
        values = {
            f: v[i] for i, (_, fields) in zip(places, own, strict=True) for f, v in fields.items()
        }
        try:
            _job(base, values)
        except Impossible as error:
            found[places] = 0.0
            refused[places] = error
    for number, (place, _) in enumerate(own):
        others = tuple(i for i in range(len(own)) if i != number)
        never = np.flatnonzero(found.max(axis=others) == 0.0)
        if never.size:
            first = next(e for at, e in refused.items() if at[number] == never[0])
            cause = first.__cause__
            assert isinstance(cause, ScalemathError)
            raise type(cause)(
                f"sweep of training_step: value {int(never[0]) + 1} of axis {axes[place].name} "
                f"goes with no value of the others: {cause}"
            )
    shape = [1] * len(axes)
    for place, _ in own:
        shape[place] = axes[place].length
    return found.reshape(shape)
