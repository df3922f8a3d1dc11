"""Sweeps of a training step: reads objects, their fields and axes, and lowers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.model import Model
from scalemath.sweeps.axes import (
    Axis,
    Coordinate,
    Dependent,
    Zipped,
    is_axis,
    make_coordinate,
)
from scalemath.topology.cluster import Cluster
from scalemath.units import convert
from scalemath.workloads.clusters import as_machine
from scalemath.workloads.machine import Machine
from scalemath.workloads.stack import Stack
from scalemath.workloads.step_fields import (
    FIELDS,
    OBJECTS,
    REACHED,
    TRUTHS,
    changed,
    known,
    unknown,
)
from scalemath.workloads.step_inputs import SIZES
from scalemath.workloads.swept_step import SWEPT_STEP
from scalemath.workloads.tabulating import Job, Moving, tabulated

DEPENDENT = {f"plan.{name}": name for name in SIZES if name != "pipeline"} | {
    "sequence": "sequence",
    "machine.node_ranks": "node_ranks",
}
"""Fields that may be computed at each point, and the number that kernels take of each."""

NEEDED = ("transformer", "plan", "machine", "sequence")


def prepared_step(arguments: Mapping[str, Any]) -> tuple[Model, dict[str, Any]]:
    """Model and arguments of a sweep of `training_step` once its objects have been lowered.

    Parameters
    ----------
    arguments : mapping
        Objects, lists of them, fields by dotted name, zipped and dependent fields.

    Returns
    -------
    tuple of Model and dict
        The step with the rules of a plan, and axes and numbers for it.

    Raises
    ------
    ScalemathError
        One error that names everything that is wrong.
    """
    reader = _StepReader()
    for name, value in arguments.items():
        reader.take(name, value)
    for name in NEEDED:
        if not reader.has(name):
            reader.problems.append(ArgumentError(f"{name} is missing"))
    reader.raise_problems()
    return SWEPT_STEP, reader.finish()


class _StepReader:
    """Collects objects, single fields and axes, and everything that is wrong with them."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {"stack": Stack()}
        self.single: dict[str, Any] = {}
        self.axes: list[Axis] = []
        self.moving: list[Moving] = []
        self.dependent: dict[str, Dependent] = {}
        self.flags = {"strict": True, "causal_flops": False}
        self.given: set[str] = set()
        self.problems: list[ScalemathError] = []

    def take(self, name: str, value: Any) -> None:
        """Take in one argument, or note what is wrong with it."""
        try:
            self.read(name, value)
        except ScalemathError as error:
            self.problems.append(error)

    def read(self, name: str, value: Any) -> None:
        """Take in one argument."""
        if isinstance(value, Zipped):
            self.zipped(name, value)
            return
        self.once(name)
        if name in self.flags:
            self.flags[name] = _truth(name, value)
        elif isinstance(value, Dependent):
            if name not in DEPENDENT:
                raise ArgumentError(
                    f"{name} cannot depend on others at each point; zip it with them, as in "
                    "zipped(**{'plan.pipeline': [...], 'plan.data': [...]})"
                )
            self.dependent[name] = value
        elif name in OBJECTS and not is_axis(value):
            if value is not None or name != "stack":
                self.objects[name] = _checked(name, value)
        elif is_axis(value):
            coordinate, values = _values(name, value, name)
            self.axis(name, (coordinate,), {name: values})
        elif name in TRUTHS:
            self.single[name] = _truth(name, value)
        else:
            try:
                self.single[name] = convert(FIELDS[name], value)
            except ScalemathError as error:
                raise type(error)(f"{name} {error}") from None

    def once(self, name: str) -> None:
        """Refuse a name that is unknown, given twice, or given in two ways."""
        if name not in (*OBJECTS, *self.flags) and not known(name):
            raise unknown(name)
        if name in self.given:
            raise ArgumentError(f"{name} is given twice")
        for rate, parts in REACHED.items():
            for part in parts:
                if {name, *self.given} >= {rate, part} and name in (rate, part):
                    raise ArgumentError(f"{rate} and {part} are given; one follows from the other")
        self.given.add(name)

    def zipped(self, axis: str, given: Zipped) -> None:
        """Take in fields that move together."""
        fields: dict[str, Any] = {}
        coordinates: list[Coordinate] = []
        if given.labels is not None:
            labels = np.array([str(label) for label in given.labels], dtype=object)
            coordinates.append(Coordinate(axis, (axis,), labels, ""))
        for name, values in given.members.items():
            self.once(name)
            coordinate, fields[name] = _values(name, values, axis, together=True)
            coordinates.append(coordinate)
        if len({c.values.size for c in coordinates}) != 1:
            told = ", ".join(f"{c.name} has {c.values.size}" for c in coordinates)
            raise ArgumentError(f"zipped axis {axis}: values must be equally many, but {told}")
        self.axis(axis, tuple(coordinates), fields)

    def axis(
        self, name: str, coordinates: tuple[Coordinate, ...], fields: Mapping[str, Any]
    ) -> None:
        """Add an axis with what moves along it."""
        length = coordinates[0].values.size
        self.axes.append(Axis(name, length, coordinates))
        self.moving.append(Moving(name, length, fields))

    def has(self, name: str) -> bool:
        """Whether an object is there in any form, or was refused already."""
        return (
            name in self.objects or name in self.given or any(name in m.fields for m in self.moving)
        )

    def raise_problems(self) -> None:
        """Raise what is wrong, all in one."""
        if not self.problems:
            return
        lines = [str(problem) for problem in self.problems]
        head = "sweep of training_step: "
        if len(lines) > 1:
            head += f"{len(lines)} arguments are wrong: "
        raise type(self.problems[0])(head + "; ".join(lines))

    def finish(self) -> dict[str, Any]:
        """Lower everything over its axes."""
        base = self.base()
        found: dict[str, Any] = {axis.name: axis for axis in self.axes}
        shown = {c.name for axis in self.axes for c in axis.coordinates}
        for name, value in self.dependent.items():
            found[name] = value
            if DEPENDENT[name] != name:
                found[DEPENDENT[name]] = Dependent(name)
        told = self.told(base)
        found.update({n: v for n, v in told.items() if n not in found and n not in shown})
        for name, coordinate in tabulated(base, self.moving).items():
            if name not in found and name not in shown:
                found[name] = coordinate
        constants = {p.name: p.default for p in SWEPT_STEP.parameters if p.default == p.default}
        flags = {
            "strict": float(self.flags["strict"]),
            "pair_share": 0.5 if self.flags["causal_flops"] else 1.0,
        }
        for name, number in {**constants, **flags}.items():
            found[name] = _single(name, number, inner=True)
        return found

    def base(self) -> Job:
        """Objects with every field that has a single value."""
        first = {n: v[0] for m in self.moving for n, v in m.fields.items() if n in OBJECTS}
        objects = {**self.objects, **first}
        for owner in OBJECTS:
            own = {
                n.partition(".")[2]: _plain(n, v)
                for n, v in self.single.items()
                if n.startswith(f"{owner}.")
            }
            if owner in first and own:
                raise ArgumentError(
                    f"sweep of training_step: {owner} is an axis, so {owner}.{next(iter(own))} "
                    "cannot be set once for all; give it as a list"
                )
            objects[owner] = changed(objects[owner], own)
        sequence = int(self.single.get("sequence", 1))
        return Job(**{owner: objects[owner] for owner in OBJECTS}, sequence=sequence)

    def told(self, base: Job) -> dict[str, Coordinate]:
        """What a result says of everything that does not move: names, and what is no default."""
        moved = {f for m in self.moving for f in m.fields} | set(self.dependent)
        moved.update(part for rate in moved & REACHED.keys() for part in REACHED[rate])
        found: dict[str, Coordinate] = {}
        for owner in (n for n in OBJECTS if n not in moved):
            whole = getattr(base, owner)
            if owner != "plan":
                found[owner] = _single(owner, whole.name)
            for own in attrs.fields(type(whole)):
                name, value = f"{owner}.{own.name}", getattr(whole, own.name)
                if known(name) and name not in moved and (owner == "plan" or value != own.default):
                    number = not isinstance(value, (bool, str))
                    found[name] = _single(name, float(value) if number else str(value))
        if "sequence" not in moved:
            found["sequence"] = _single("sequence", float(base.sequence))
        return found


def _single(name: str, value: float | str, inner: bool = False) -> Coordinate:
    """A number or a name along no axis."""
    kind = object if isinstance(value, str) else np.float64
    return Coordinate(name, (), np.array(value, dtype=kind), inner=inner)


def _checked(name: str, value: Any) -> Any:
    """Return an object of the kind that is wanted; a cluster as a machine."""
    if name == "machine" and isinstance(value, Cluster):
        return as_machine(value)
    kind = OBJECTS[name]
    if isinstance(value, kind):
        return value
    wanted = "a Machine or a Cluster" if kind is Machine else f"a {kind.__name__}"
    raise ArgumentError(f"{name} is {str(value)[:60]!r}, wanted {wanted}")


def _values(
    name: str, given: Any, axis: str, together: bool = False
) -> tuple[Coordinate, Sequence[Any] | Any]:
    """Coordinate of an axis as it is shown, and the values that fields or objects take."""
    if name in OBJECTS:
        return _whole(name, [_checked(name, v) for v in given], axis, together)
    if name in TRUTHS:
        truths = [_truth(name, v) for v in given]
        if not truths:
            raise ArgumentError(f"axis {name} is empty; give at least one value")
        if len(set(truths)) != len(truths) and not together:
            raise ArgumentError(f"axis {name} names a value twice")
        return Coordinate(name, (axis,), np.array(list(map(str, truths)), dtype=object), ""), truths
    coordinate = make_coordinate(FIELDS[name], given, axis, together)
    if FIELDS[name].kind in ("count", "choice"):
        return coordinate, [_plain(name, v) for v in coordinate.values.tolist()]
    return coordinate, coordinate.values


def _whole(
    name: str, objects: list[Any], axis: str, together: bool
) -> tuple[Coordinate, Sequence[Any]]:
    """Objects along an axis, told apart by their names; plans, which have none, by number."""
    if not objects:
        raise ArgumentError(f"axis {name} is empty; give at least one object")
    if name == "plan":
        return Coordinate(name, (axis,), np.arange(len(objects), dtype=np.float64)), objects
    names = [each.name for each in objects]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice and not together:
        raise ArgumentError(
            f"axis {name}: {', '.join(twice)} stands there twice; give each a name of its own, "
            "as in attrs.evolve(machine, name='H100 slow')"
        )
    return Coordinate(name, (axis,), np.array(names, dtype=object), ""), objects


def _truth(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ArgumentError(f"{name} is {value!r}, wanted True or False")


def _plain(name: str, value: Any) -> Any:
    """Value as a constructor takes it: counts are whole numbers."""
    return int(value) if name in FIELDS and FIELDS[name].kind == "count" else value
