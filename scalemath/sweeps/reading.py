"""Reads the arguments of a sweep against a model, and says everything that is wrong at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.model import Model, Parameter
from scalemath.core.wording import offered
from scalemath.sweeps.axes import (
    Axis,
    Coordinate,
    Dependent,
    Zipped,
    is_axis,
    make_coordinate,
)
from scalemath.sweeps.expressions import Formula, in_unit, names_in, parse_formula
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Selection
from scalemath.units import convert
from scalemath.units.checks import taken_as_zero, taken_per_direction, undirected


def model_of(given: Any) -> Model:
    """Return the model behind a public function, or a model itself."""
    found = given if isinstance(given, Model) else getattr(given, "model", None)
    if not isinstance(found, Model):
        raise ArgumentError(
            f"{getattr(given, '__name__', given)!r} cannot be swept: wanted a public function of "
            "scalemath, or your own function under @sm.model(...)"
        )
    if not found.steps:
        raise ArgumentError(f"{found.name} cannot be swept: it declares no kernels")
    return found


def state(given: Any, arguments: Mapping[str, Any], where: str | None = None) -> Problem:
    """Read a sweep's arguments against a model.

    Parameters
    ----------
    given : callable or Model
        Public function or model.
    arguments : mapping
        Axes, zipped axes, dependent parameters and single values by name.
    where : str, optional
        Constraint.

    Returns
    -------
    Problem
        Checked and converted.

    Raises
    ------
    ScalemathError
        One error that names everything that is wrong.
    """
    prepared = getattr(given, "prepared", None)
    if prepared is not None:
        given, arguments = prepared(arguments)
    model = model_of(given)
    reader = _Reader(model)
    for name, value in arguments.items():
        try:
            reader.read(name, value)
        except ScalemathError as error:
            reader.problems.append(error)
            reader.refused.add(name)
    return reader.finish(where)


def state_si(
    model: Model,
    fixed: Mapping[str, Any],
    coordinates: Mapping[str, Coordinate],
    axes: Iterable[Axis],
) -> Problem:
    """Make a problem from values that have passed the boundary already.

    Parameters
    ----------
    model : Model
        Model.
    fixed : mapping
        SI floats and names; lowered objects; anything else that is no parameter is ignored.
    coordinates : mapping of str to Coordinate
        Parameters that vary.
    axes : iterable of Axis
        Dimensions.

    Returns
    -------
    Problem
        Complete with defaults.
    """
    reader = _Reader(model_of(model))
    reader.axes = list(axes)
    reader.coordinates = dict(coordinates)
    for name, value in fixed.items():
        if name in reader.parameters:
            reader.fixed[name] = np.nan if value is None else value
        elif hasattr(value, "lower") and not isinstance(value, str):
            reader.lowered(name, value)
    return reader.finish(None)


class _Reader:
    """Collects axes and fixed values, and everything that is wrong with them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.parameters = {p.name: p for p in model.parameters}
        self.axes: list[Axis] = []
        self.coordinates: dict[str, Coordinate] = {}
        self.fixed: dict[str, float | str] = {}
        self.best: dict[str, tuple[str, ...]] = {}
        self.dependent: dict[str, str] = {}
        self.problems: list[ScalemathError] = []
        self.refused: set[str] = set()
        self.missing: set[str] = set()
        self.hidden: set[str] = set()
        self.assumed: list[str] = []

    def read(self, name: str, value: Any) -> None:
        """Take in one argument."""
        if isinstance(value, Zipped):
            self.refused.update(value.members)  # one complaint is enough
            self.zipped(name, value)
            return
        if isinstance(value, (Axis, Coordinate)):
            self.made(name, value)
            return
        if name not in self.parameters and not isinstance(value, str) and hasattr(value, "lower"):
            self.lowered(name, value)
            return
        parameter = self.parameter(name)
        self.once(name)
        if isinstance(value, Dependent):
            for own, values in value.own.items():
                if own in self.parameters:
                    raise ArgumentError(
                        f"{name}: {own} is a parameter of {self.model.name} already"
                    )
                self.axis(Parameter(own, "number", low=-np.inf), own, values)
            self.dependent[name] = value.formula
        elif parameter.kind == "choice" and value == "best":
            self.best[name] = self.candidates(parameter)
        elif is_axis(value):
            self.axis(parameter, name, value)
        else:
            try:
                self.fixed[name] = convert(parameter, value)
            except ScalemathError as error:
                raise type(error)(f"{name} {error}") from None
            self.assume(parameter, value)

    def parameter(self, name: str) -> Parameter:
        """Parameter of that name, or the error with near matches."""
        found = self.parameters.get(name)
        if found is not None:
            return found
        raise ArgumentError(
            f"{name} is no parameter of {self.model.name}; there are "
            f"{offered(name, self.parameters)}"
        )

    def once(self, name: str) -> None:
        """Refuse a name that is taken."""
        if name in self.coordinates or name in self.fixed or name in self.dependent:
            raise ArgumentError(f"{name} is given twice")

    def axis(self, parameter: Parameter, axis: str, values: Any) -> None:
        """Add an axis of one parameter."""
        coordinate = make_coordinate(parameter, values, axis)
        self.assume(parameter, values)
        self.coordinates[parameter.name] = coordinate
        self.axes.append(Axis(axis, coordinate.values.size, (coordinate,)))

    def assume(self, parameter: Parameter, given: Any) -> None:
        """Note that a rate was given without a direction, in the words of the single call."""
        if undirected(parameter, given):
            self.assumed.append(taken_per_direction(parameter.name))

    def made(self, name: str, value: Axis | Coordinate) -> None:
        """Take in an axis with what varies along it, or numbers along axes, made beforehand.

        A coordinate along no axis is a single number; one that is inner is not shown.
        """
        if isinstance(value, Axis):
            self.axes.append(value)
            self.coordinates.update({c.name: c for c in value.coordinates})
            return
        self.once(name)
        if value.axes:
            self.coordinates[name] = value
            return
        self.fixed[name] = value.values.item()
        if value.inner:
            self.hidden.add(name)

    def zipped(self, axis: str, given: Zipped) -> None:
        """Add an axis along which several parameters move."""
        found: list[Coordinate] = []
        for name, values in given.members.items():
            parameter = self.parameter(name)
            self.once(name)
            found.append(make_coordinate(parameter, values, axis, together=True))
            self.assume(parameter, values)
        if given.labels is not None:
            if axis in self.parameters:
                raise ArgumentError(f"{axis}: labels need an axis name that is no parameter")
            labels = np.array([str(label) for label in given.labels], dtype=object)
            found.insert(0, Coordinate(axis, (axis,), labels, ""))
        lengths = {c.name: c.values.size for c in found}
        if len(set(lengths.values())) != 1:
            told = ", ".join(f"{n} has {k}" for n, k in lengths.items())
            raise ArgumentError(f"zipped axis {axis}: values must be equally many, but {told}")
        self.coordinates.update({c.name: c for c in found})
        self.axes.append(Axis(axis, found[0].values.size, tuple(found)))

    def lowered(self, name: str, value: Any) -> None:
        """Take the numbers of a lowered object, except those that have an axis."""
        fields = value.lower()._asdict()
        used = False
        for key, number in fields.items():
            full = f"{name}.{key}"
            if full in self.parameters:
                used = True
                if full not in self.coordinates and full not in self.fixed:
                    self.fixed[full] = float(number)
        if not used:
            self.parameter(name)

    def candidates(self, parameter: Parameter) -> tuple[str, ...]:
        """Names among which the best is sought."""
        offered = parameter.candidates or tuple(n for n in parameter.choices if n != "best")
        for step in self.model.steps:
            if step.choice == parameter.name:
                offered = tuple(n for n in offered if n in step.kernels)
        if not offered:
            raise ArgumentError(f"{parameter.name}: there is nothing to choose the best from")
        return offered

    def finish(self, where: str | None) -> Problem:
        """Complete with defaults and raise what is wrong."""
        for parameter in self.model.parameters:
            self.default(parameter)
        selections: list[Selection] = []
        for parameter in self.model.parameters:
            if parameter.kind == "choice" and parameter.name not in self.missing:
                try:
                    selections.append(self.selection(parameter))
                except ScalemathError as error:
                    self.problems.append(error)
        for selection in selections:
            self.needed(selection)
        if self.problems:
            lines = [str(problem) for problem in self.problems]
            head = f"sweep of {self.model.name}: "
            if len(lines) > 1:
                head += f"{len(lines)} arguments are wrong: "
            raise type(self.problems[0])(head + "; ".join(lines))
        names = [axis.name for axis in self.axes]
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise ArgumentError(f"sweep of {self.model.name}: {', '.join(twice)} names two axes")
        for full in [n for n in self.fixed if n in self.coordinates]:
            del self.fixed[full]
        units = {p.name: p.unit for p in self.model.parameters if p.kind != "choice"}
        units.update({n: c.unit for n, c in self.coordinates.items() if not c.is_names})
        derived: list[tuple[str, Formula, bool]] = []
        for name, text in self.in_order():
            usable = {n: u for n, u in units.items() if n not in self.dependent}
            usable.update({n: units[n] for n, _, _ in derived})
            what = f"dependent axis {name}"
            formula = parse_formula(text, usable, False, what)
            derived.append((name, in_unit(formula, units[name], what), True))
        units.update(self.model.outputs())
        condition = parse_formula(where, units, True, "constraint") if where else None
        return Problem(
            self.model,
            tuple(self.axes),
            self.coordinates,
            self.fixed,
            tuple(selections),
            tuple(derived),
            condition,
            frozenset(self.hidden),
            tuple(self.assumed),
        )

    def in_order(self) -> list[tuple[str, str]]:
        """Return the dependent parameters, each after those that it follows from."""
        needs = {n: names_in(text) & set(self.dependent) for n, text in self.dependent.items()}
        try:
            order = list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            circle = " from ".join(reversed(error.args[1]))
            raise ArgumentError(
                f"sweep of {self.model.name}: dependent parameters go in a circle, {circle}; "
                "give one of them as values"
            ) from None
        return [(name, self.dependent[name]) for name in order]

    def default(self, parameter: Parameter) -> None:
        """Take the default of a parameter that was not given."""
        name = parameter.name
        if name in self.fixed or name in self.coordinates or name in self.dependent:
            return
        if name in self.best:
            return
        value = parameter.default
        missing = isinstance(value, float) and math.isnan(value)
        other = parameter.unless
        covered = other and (other in self.fixed or other in self.coordinates)
        wanted = parameter.required or (other and not covered)
        if missing and wanted and name not in self.refused:
            text = f"{name} is missing" + (f", or give {other}" if other else "")
            if parameter.kind == "choice":
                text += f"; write one of {', '.join(parameter.choices)}"
            self.problems.append(ArgumentError(text))
            self.missing.add(name)
        if value == 0 and parameter.kind == "quantity":
            self.assumed.append(taken_as_zero(name))
        given: Any = value  # a signature may say None
        self.fixed[name] = math.nan if given is None else given

    def needed(self, selection: Selection) -> None:
        """Refuse a named kernel for which a parameter without a default was not given."""
        if selection.mode == "best":
            return
        for step in self.model.steps:
            if step.choice != selection.parameter:
                continue
            for name in selection.names:
                kernel = step.kernels.get(name)
                asked = step.arguments(kernel) if kernel else ()
                lacking = [n for n in asked if self.lacks(n)]
                if lacking:
                    self.problems.append(
                        ArgumentError(
                            f"{selection.parameter}={name!r} needs {', '.join(lacking)}; describe "
                            "the network as a single call with it asks for"
                        )
                    )

    def lacks(self, name: str) -> bool:
        """Whether a parameter has neither a value nor a default, and was not refused already."""
        value = self.fixed.get(name)
        parameter = self.parameters.get(name)
        return (
            isinstance(value, float)
            and math.isnan(value)
            and parameter is not None
            and not parameter.required
            and not parameter.unless
        )

    def selection(self, parameter: Parameter) -> Selection:
        """How the sweep treats a choice."""
        name = parameter.name
        if name in self.best:
            return Selection(name, self.best[name], "best")
        if name in self.coordinates:
            used = tuple(dict.fromkeys(str(n) for n in self.coordinates[name].values.ravel()))
        else:
            used = (str(self.fixed.get(name, "")),)
        if "best" in used:
            if len(used) > 1:
                raise ArgumentError(f"{name}: 'best' stands alone, it cannot be one of a list")
            self.fixed.pop(name, None)
            return Selection(name, self.candidates(parameter), "best")
        for step in self.model.steps:
            if step.choice == name:
                lacking = [n for n in used if n not in step.kernels]
                if lacking:
                    raise ArgumentError(
                        f"{name}={lacking[0]!r} is not available in a sweep of {self.model.name}; "
                        f"there are {', '.join(step.kernels)}"
                    )
        return Selection(name, used, "axis")
