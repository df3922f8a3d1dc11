"""What was asked for: a model, its axes, what is fixed, and the wiring that follows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from attrs import evolve, frozen

from scalemath import __version__
from scalemath.core.errors import ArgumentError
from scalemath.core.model import Model
from scalemath.core.wording import offered
from scalemath.sweeps.axes import (
    Array,
    Axis,
    Coordinate,
)
from scalemath.sweeps.expressions import Formula
from scalemath.sweeps.program import Output, Selection, Wiring

_wirings: dict[tuple[Any, ...], Wiring] = {}


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
        Parameters computed at each point: (name, formula, checked).
    where : Formula or None
        Constraint.
    hidden : frozenset of str
        Fixed parameters that only feed kernels and are not shown.
    assumed : tuple of str
        What was taken for granted in reading the arguments.
    """

    model: Model
    axes: tuple[Axis, ...]
    coordinates: Mapping[str, Coordinate]
    fixed: Mapping[str, float | str]
    selections: tuple[Selection, ...]
    derived: tuple[tuple[str, Formula, bool], ...] = ()
    where: Formula | None = None
    hidden: frozenset[str] = frozenset()
    assumed: tuple[str, ...] = ()

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

    def provenance(self) -> dict[str, Any]:
        """What is needed to repeat a sweep, and what was taken for granted."""
        found: dict[str, Any] = {"version": __version__, "points": math.prod(self.grid)}
        if self.where is not None:
            found["where"] = self.where.text
        found.update({f"dependent {n}": f.text for n, f, _ in self.derived})
        if self.assumed:
            found["assumed"] = "; ".join(self.assumed)
        return found

    def check_output(self, name: str) -> str:
        """Return the name of an output, term, parameter or best choice; refuse any other."""
        known = [*self.units(), *self.best]
        if name in known:
            return name
        told = dict.fromkeys([*self.model.outputs(), *known])  # parameters last
        raise ArgumentError(
            f"{self.model.name} has no output {name!r}; there are {offered(name, told)}"
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
        numeric = tuple(n for n, c in self.coordinates.items() if not c.is_names)
        key = (*draft.key(), numeric)
        if key not in _wirings:  # what is kept holds its model, whose identity is in the key
            _wirings[key] = self._wired(draft, numeric)
        return _wirings[key]

    def _wired(self, draft: Wiring, numeric: tuple[str, ...]) -> Wiring:
        """Complete a wiring with the inputs that matter."""
        wanted = draft.outputs
        self._check_read(draft)
        needed = {o.name for o in wanted} | {o.along for o in wanted if o.along}
        needed.update(self.where.names if self.where else ())
        chosen = {s.parameter: s.names for s in self.selections}
        for step in draft.needed:
            for name in chosen.get(step.choice, ("",)):
                needed.update(step.arguments(step.kernels[name]))
        derived = {name for name, _, _ in self.derived}
        for _, formula, _ in self.derived:
            needed.update(formula.names)
        numbers = [p.name for p in self.model.parameters if p.kind != "choice"]
        numbers += [n for n in numeric if n not in numbers]
        return evolve(draft, inputs=tuple(n for n in numbers if n in needed and n not in derived))

    def _check_read(self, draft: Wiring) -> None:
        """Refuse an elasticity by a parameter that no kernel reads itself."""
        read = {name for _, formula, _ in draft.derived for name in formula.names}
        for step in draft.needed:
            for kernel in step.kernels.values():
                read.update(step.arguments(kernel))
        for output in draft.outputs:
            if output.along and output.along not in {*read, output.name}:
                raise ArgumentError(
                    f"elasticity by {output.along}: kernels read what is made of it, not itself; "
                    "sweep over its values and use Grid.elasticity"
                )

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
        return np.full((1,) * min(1, len(self.axes)), self.fixed[name], dtype=np.float64)

    def _codes(self, selection: Selection) -> Array:
        coordinate = self.coordinates.get(selection.parameter)
        if coordinate is None:
            return np.zeros((1,) * min(1, len(self.axes)))
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
            if name not in self.hidden and (isinstance(value, str) or not np.isnan(value))
        }

    def point(self, place: tuple[int, ...]) -> dict[str, float | str]:
        """SI values of every parameter at one point of the grid (derived ones left out)."""
        values = dict(self.fixed)
        for name, coordinate in self.coordinates.items():
            index = tuple(place[self.names.index(axis)] for axis in coordinate.axes)
            value = coordinate.values[index]
            values[name] = str(value) if coordinate.is_names else float(value)
        return values
