"""What was asked for: a model, its axes, what is fixed, and the wiring that follows."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen

from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.model import Model, Parameter
from scalemath.sweeps.axes import (
    Array,
    Axis,
    Coordinate,
    Dependent,
    Zipped,
    is_axis,
    make_coordinate,
)
from scalemath.sweeps.expressions import Formula, parse_formula
from scalemath.sweeps.program import Output, Selection, Wiring, needed_steps
from scalemath.units import convert


@frozen(eq=False)
class Problem:
    """A model with everything that varies and everything that does not.

    Attributes
    ----------
    model : Model
        What is evaluated.
    axes : tuple of Axis
        Dimensions, slowest first.
    coordinates : mapping of str to Coordinate
        Parameters that vary (and labels of zipped axes).
    fixed : mapping
        SI value or name of every other parameter.
    selections : tuple of Selection
        How each choice is made.
    derived : tuple
        Parameters computed at each point: (name, formula, whole).
    where : Formula or None
        Constraint.
    """

    model: Model
    axes: tuple[Axis, ...]
    coordinates: Mapping[str, Coordinate]
    fixed: Mapping[str, float | str]
    selections: tuple[Selection, ...]
    derived: tuple[tuple[str, Formula, bool], ...] = ()
    where: Formula | None = None

    @property
    def grid(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(axis.length for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @property
    def best(self) -> dict[str, Selection]:
        """Choices that are decided at each point."""
        return {s.parameter: s for s in self.selections if s.mode == "best"}

    def units(self) -> dict[str, str]:
        """SI unit of every number that a point has: parameters, outputs, terms."""
        return dict(self._units)

    @cached_property
    def _units(self) -> dict[str, str]:
        found = {p.name: p.unit for p in self.model.parameters if p.kind != "choice"}
        found.update({n: c.unit for n, c in self.coordinates.items() if not c.is_names})
        found.update(self.model.outputs())
        return found

    def check_output(self, name: str) -> str:
        """Return the name of an output, term, parameter or best choice; refuse any other."""
        known = [*self.units(), *self.best]
        if name in known:
            return name
        near = difflib.get_close_matches(name, known, n=2, cutoff=0.4)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ArgumentError(
            f"{self.model.name} has no output {name!r}; there are {', '.join(known)}{hint}"
        )

    def wiring(self, outputs: Iterable[Output]) -> Wiring:
        """Return the scalar program for some outputs.

        Parameters
        ----------
        outputs : iterable of Output
            What is to be computed.

        Returns
        -------
        Wiring
            With only those inputs that matter.
        """
        wanted = tuple(outputs)
        draft = Wiring(self.model, (), self.selections, wanted, self.derived, self.where)
        needed = {o.name for o in wanted} | {o.along for o in wanted if o.along}
        needed.update(self.where.names if self.where else ())
        chosen = {s.parameter: s.names for s in self.selections}
        for step in needed_steps(draft):
            for name in chosen.get(step.choice, ("",)):
                needed.update(step.arguments(step.kernels[name]))
        derived = {name for name, _, _ in self.derived}
        for _, formula, _ in self.derived:
            needed.update(formula.names)
        numbers = [p.name for p in self.model.parameters if p.kind != "choice"]
        numbers += [n for n, c in self.coordinates.items() if n not in numbers and not c.is_names]
        inputs = tuple(n for n in numbers if n in needed and n not in derived)
        return Wiring(self.model, inputs, self.selections, wanted, self.derived, self.where)

    def arrays(self, wiring: Wiring) -> list[Array]:
        """Values of the inputs, then codes of the choices on axes, ready to broadcast."""
        found = [self._numbers(name) for name in wiring.inputs]
        return found + [self._codes(s) for s in wiring.selections if s.mode == "axis"]

    def barred(self) -> set[int]:
        """Axes along which kernels are chosen; they never form part of a row."""
        found: set[int] = set()
        for selection in self.selections:
            coordinate = self.coordinates.get(selection.parameter)
            if selection.mode == "axis" and coordinate is not None:
                found.update(self.names.index(a) for a in coordinate.axes)
        return found

    def _numbers(self, name: str) -> Array:
        coordinate = self.coordinates.get(name)
        if coordinate is not None:
            return self._spread(coordinate.axes, coordinate.values)
        return np.array([self.fixed[name]], dtype=np.float64)

    def _codes(self, selection: Selection) -> Array:
        coordinate = self.coordinates.get(selection.parameter)
        if coordinate is None:
            return np.zeros(1)
        codes = {name: float(code) for code, name in enumerate(selection.names)}
        flat = np.array([codes[str(n)] for n in coordinate.values.ravel()])
        return self._spread(coordinate.axes, flat.reshape(coordinate.values.shape))

    def _spread(self, axes: tuple[str, ...], values: Array) -> Array:
        shape = [1] * len(self.axes)
        for axis, length in zip(axes, values.shape, strict=True):
            shape[self.names.index(axis)] = length
        order = sorted(range(len(axes)), key=lambda i: self.names.index(axes[i]))
        return values.transpose(order).reshape(shape)

    def shown(self) -> dict[str, tuple[Any, str]]:
        """Fixed parameters with their units, as a result shows them."""
        units = self.units()
        units.update({p.name: f"{p.unit}/dir" for p in self.model.parameters if p.kind == "rate"})
        return {
            name: (value, units.get(name, "1"))
            for name, value in self.fixed.items()
            if isinstance(value, str) or not np.isnan(value)
        }

    def point(self, place: tuple[int, ...]) -> dict[str, float | str]:
        """SI values of every parameter at one point of the grid (derived ones left out)."""
        values = dict(self.fixed)
        for name, coordinate in self.coordinates.items():
            index = tuple(place[self.names.index(axis)] for axis in coordinate.axes)
            value = coordinate.values[index]
            values[name] = str(value) if coordinate.is_names else float(value)
        return values


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

    def read(self, name: str, value: Any) -> None:
        """Take in one argument."""
        if isinstance(value, Zipped):
            self.zipped(name, value)
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

    def parameter(self, name: str) -> Parameter:
        """Parameter of that name, or the error with near matches."""
        found = self.parameters.get(name)
        if found is not None:
            return found
        near = difflib.get_close_matches(name, self.parameters, n=2, cutoff=0.4)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ArgumentError(
            f"{name} is no parameter of {self.model.name}; there are "
            f"{', '.join(self.parameters)}{hint}"
        )

    def once(self, name: str) -> None:
        """Refuse a name that is taken."""
        if name in self.coordinates or name in self.fixed or name in self.dependent:
            raise ArgumentError(f"{name} is given twice")

    def axis(self, parameter: Parameter, axis: str, values: Any) -> None:
        """Add an axis of one parameter."""
        coordinate = make_coordinate(parameter, values, axis)
        self.coordinates[parameter.name] = coordinate
        self.axes.append(Axis(axis, coordinate.values.size, (coordinate,)))

    def zipped(self, axis: str, given: Zipped) -> None:
        """Add an axis along which several parameters move."""
        found: list[Coordinate] = []
        for name, values in given.members.items():
            parameter = self.parameter(name)
            self.once(name)
            found.append(make_coordinate(parameter, values, axis, together=True))
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
            if parameter.kind == "choice":
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
        for name, text in self.dependent.items():
            usable = {n: u for n, u in units.items() if n not in self.dependent}
            usable.update({n: units[n] for n, _, _ in derived})
            formula = parse_formula(text, usable, False, f"dependent axis {name}")
            derived.append((name, formula, self.parameters[name].kind == "count"))
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
        )

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
            self.problems.append(ArgumentError(text))
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
