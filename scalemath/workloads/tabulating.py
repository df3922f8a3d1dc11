"""Lowering over axes: every number a kernel needs, along exactly those axes that decide it.

Each function that lowers objects comes with the fields it reads. It is called once for every
combination of names and whole numbers among them, with arrays in place of the numbers that enter
it by arithmetic alone. It is given nothing but what it reads, so that a field that was not named
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
from scalemath.workloads.step_fields import FIELDS, VECTORS, changed

Floats = dict[str, float]

Job = SimpleNamespace
"""What is lowered: objects and plain values by the names of arguments."""


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


class Impossible(Exception):
    """Objects that their constructor refuses together."""


def tabulated(
    base: Mapping[str, Any], axes: Sequence[Moving], lowerings: Sequence[Lowering]
) -> dict[str, Coordinate]:
    """Every number the kernels need, along the axes that decide it.

    Parameters
    ----------
    base : mapping
        Objects and plain values, from which fields without an axis come.
    axes : sequence of Moving
        Axes in order.
    lowerings : sequence of Lowering
        How objects become numbers; later ones take precedence.

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
    for lowering in lowerings:
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


def _table(lowering: Lowering, base: Mapping[str, Any], axes: Sequence[Moving]) -> dict[str, Array]:
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


def _job(base: Mapping[str, Any], values: Mapping[str, Any]) -> Job:
    """Job with other values of some fields, or with other objects."""
    given = {**base, **{f: v for f, v in values.items() if f in base}}
    for owner, whole in list(given.items()):
        own = {f.partition(".")[2]: v for f, v in values.items() if f.startswith(f"{owner}.")}
        try:
            given[owner] = changed(whole, own)
        except ScalemathError as error:
            raise Impossible(str(error)) from error
    return Job(**given)


def _restricted(job: Job, reads: Sequence[str]) -> Job:
    """Job that holds nothing but what a lowering is said to read."""
    kept: dict[str, Any] = {}
    for owner in vars(job):
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


def _possible(base: Mapping[str, Any], axes: Sequence[Moving]) -> Array:
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
                f"value {int(never[0]) + 1} of axis {axes[place].name} "
                f"goes with no value of the others: {cause}"
            )
    shape = [1] * len(axes)
    for place, _ in own:
        shape[place] = axes[place].length
    return found.reshape(shape)
