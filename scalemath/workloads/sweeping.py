"""Sweeps of functions of objects: reads objects, their fields and axes, and lowers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.model import Model, Parameter
from scalemath.core.wording import resembles
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
from scalemath.workloads.step_fields import REACHED, changed
from scalemath.workloads.tabulating import Lowering, Moving, tabulated


@frozen(kw_only=True, eq=False)
class Subject:
    """A function of objects, as sweeps take it.

    Attributes
    ----------
    name : str
        Name of the function.
    model : Model
        Kernels behind it, whose parameters are fields and lowered numbers.
    owners : mapping of str to type
        Arguments that are objects.
    fields : mapping of str to Parameter
        Fields of objects by dotted name, and plain arguments.
    truths : frozenset of str
        Fields that are true or false.
    defaults : mapping
        Objects and plain values where none is given.
    flags : mapping
        Arguments that are true or false for the whole sweep: the number kernels take, its value
        for False and for True, and the default.
    dependent : mapping of str to str
        Fields that may be computed at each point, and the number that kernels take of each.
    lowerings : tuple of Lowering
        How objects become numbers.
    """

    name: str
    model: Model
    owners: Mapping[str, type]
    fields: Mapping[str, Parameter]
    truths: frozenset[str]
    defaults: Mapping[str, Any]
    flags: Mapping[str, tuple[str, float, float, bool]]
    dependent: Mapping[str, str]
    lowerings: tuple[Lowering, ...]

    @property
    def plain(self) -> tuple[str, ...]:
        """Arguments that are no objects."""
        return tuple(name for name in self.fields if "." not in name)

    def known(self, name: str) -> bool:
        """Whether a name is an argument or a field that may be an axis."""
        return any(name in names for names in (self.owners, self.fields, self.truths, self.flags))


def prepared(subject: Subject, arguments: Mapping[str, Any]) -> tuple[Model, dict[str, Any]]:
    """Model and arguments of a sweep once the objects have been lowered.

    Parameters
    ----------
    subject : Subject
        What is swept.
    arguments : mapping
        Objects, lists of them, fields by dotted name, zipped and dependent fields.

    Returns
    -------
    tuple of Model and dict
        The model, and axes and numbers for it.

    Raises
    ------
    ScalemathError
        One error that names everything that is wrong.
    """
    reader = _Reader(subject)
    for name, value in arguments.items():
        reader.take(name, value)
    for name in (*subject.owners, *subject.plain):
        if name not in reader.given and name not in subject.defaults:
            reader.problems.append(ArgumentError(f"{name} is missing"))
    reader.raise_problems()
    return subject.model, reader.finish()


class _Reader:
    """Collects objects, single fields and axes, and everything that is wrong with them."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.objects = {n: v for n, v in subject.defaults.items() if n in subject.owners}
        self.single: dict[str, Any] = {}
        self.axes: list[Axis] = []
        self.moving: list[Moving] = []
        self.dependent: dict[str, Dependent] = {}
        self.flags = {name: flag[-1] for name, flag in subject.flags.items()}
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
            if name not in self.subject.dependent:
                raise ArgumentError(
                    f"{name} cannot depend on others at each point; zip it with them, as in "
                    f"zipped(**{{{name!r}: [...], ...}})"
                )
            self.dependent[name] = value
        elif name in self.subject.owners and not is_axis(value):
            if value is not None or name not in self.subject.defaults:
                self.objects[name] = self.checked(name, value)
        elif is_axis(value):
            coordinate, values = self.values(name, value, name)
            self.axis(name, (coordinate,), {name: values})
        elif name in self.subject.truths:
            self.single[name] = _truth(name, value)
        else:
            try:
                self.single[name] = self.taken(name, convert(self.subject.fields[name], value))
            except ScalemathError as error:
                raise type(error)(f"{name} {error}") from None

    def once(self, name: str) -> None:
        """Refuse a name that is unknown, given twice, or given in two ways."""
        if not self.subject.known(name):
            raise self.unknown(name)
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
            coordinate, fields[name] = self.values(name, values, axis, together=True)
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

    def raise_problems(self) -> None:
        """Raise what is wrong, all in one."""
        if not self.problems:
            return
        lines = [str(problem) for problem in self.problems]
        head = f"sweep of {self.subject.name}: "
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
            if self.subject.dependent[name] != name:
                found[self.subject.dependent[name]] = Dependent(name)
        told = self.told(base)
        found.update({n: v for n, v in told.items() if n not in found and n not in shown})
        for name, coordinate in tabulated(base, self.moving, self.subject.lowerings).items():
            if name not in found and name not in shown:
                found[name] = coordinate
        constants = {
            p.name: p.default
            for p in self.subject.model.parameters
            if p.default == p.default and p.name not in self.subject.fields
        }
        flags = {
            number: after if self.flags[flag] else before
            for flag, (number, before, after, _) in self.subject.flags.items()
        }
        for name, number in {**constants, **flags}.items():
            found[name] = _single(name, number, inner=True)
        return found

    def base(self) -> dict[str, Any]:
        """Objects with every field that has a single value, and plain arguments."""
        owners, plain = self.subject.owners, self.subject.plain
        first = {n: v[0] for m in self.moving for n, v in m.fields.items() if "." not in n}
        found = {**self.subject.defaults, **self.objects, **first}
        found.update({name: self.single[name] for name in plain if name in self.single})
        for owner in owners:
            own = {
                n.partition(".")[2]: v for n, v in self.single.items() if n.startswith(f"{owner}.")
            }
            if owner in first and own:
                raise ArgumentError(
                    f"sweep of {self.subject.name}: {owner} is an axis, so {owner}."
                    f"{next(iter(own))} cannot be set once for all; give it as a list"
                )
            found[owner] = changed(found[owner], own)
        return found

    def told(self, base: Mapping[str, Any]) -> dict[str, Coordinate]:
        """What a result says of everything that does not move: names, and what is no default."""
        moved = {f for m in self.moving for f in m.fields} | set(self.dependent)
        moved.update(part for rate in moved & REACHED.keys() for part in REACHED[rate])
        found: dict[str, Coordinate] = {}
        for owner in (n for n in self.subject.owners if n not in moved):
            whole = base[owner]
            if owner != "plan":
                found[owner] = _single(owner, whole.name)
            for own in attrs.fields(type(whole)):
                name, value = f"{owner}.{own.name}", getattr(whole, own.name)
                wanted = owner == "plan" or value != own.default
                if wanted and name not in moved and self.subject.known(name):
                    found[name] = _single(name, value)
        for name in (n for n in self.subject.plain if n not in moved):
            found[name] = _single(name, base[name])
        return found

    def unknown(self, name: str) -> ArgumentError:
        """Error for a name that is no argument or field, with near matches."""
        subject = self.subject
        owner, _, own = name.partition(".")
        fields = sorted(n for n in (*subject.fields, *subject.truths) if "." in n)
        if owner in subject.owners:
            near = [n for n in fields if n.startswith(f"{owner}.")]
            kind = subject.owners[owner]
            if own in {f.name for f in attrs.fields(kind)}:
                text = f"{name} enters no number of {subject.name}"
            else:
                text = f"{name} is no field of a {kind.__name__}"
        else:
            plain = [*subject.owners, *subject.plain, *subject.flags]
            near = [*plain, *fields]
            text = (
                f"{name} is no argument of {subject.name}; there are {', '.join(plain)}, and "
                f"fields such as {fields[0]}"
            )
        return ArgumentError(text + resembles(name, near))

    def checked(self, name: str, value: Any) -> Any:
        """Return an object of the kind that is wanted; a cluster as a machine."""
        kind = self.subject.owners[name]
        if kind is Machine and isinstance(value, Cluster):
            return as_machine(value)
        if isinstance(value, kind):
            return value
        wanted = "a Machine or a Cluster" if kind is Machine else f"a {kind.__name__}"
        raise ArgumentError(f"{name} is {str(value)[:60]!r}, wanted {wanted}")

    def taken(self, name: str, value: Any) -> Any:
        """Value as a constructor takes it: counts are whole numbers."""
        return int(value) if self.subject.fields[name].kind == "count" else value

    def values(
        self, name: str, given: Any, axis: str, together: bool = False
    ) -> tuple[Coordinate, Sequence[Any] | Any]:
        """Coordinate of an axis as it is shown, and the values that fields or objects take."""
        if name in self.subject.owners:
            return _whole(name, [self.checked(name, v) for v in given], axis, together)
        if name in self.subject.truths:
            truths = [_truth(name, v) for v in given]
            if not truths:
                raise ArgumentError(f"axis {name} is empty; give at least one value")
            if len(set(truths)) != len(truths) and not together:
                raise ArgumentError(f"axis {name} names a value twice")
            names = np.array([str(truth) for truth in truths], dtype=object)
            return Coordinate(name, (axis,), names, ""), truths
        parameter = self.subject.fields[name]
        coordinate = make_coordinate(parameter, given, axis, together)
        if parameter.kind in ("count", "choice"):
            return coordinate, [self.taken(name, v) for v in coordinate.values.tolist()]
        return coordinate, coordinate.values


def _single(name: str, value: float | str | bool, inner: bool = False) -> Coordinate:
    """A number or a name along no axis; truth values are names."""
    named = isinstance(value, (str, bool))
    array = np.array(str(value), dtype=object) if named else np.array(value, dtype=np.float64)
    return Coordinate(name, (), array, inner=inner)


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
