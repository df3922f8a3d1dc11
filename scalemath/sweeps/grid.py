"""`Grid`: the labelled answer of a sweep, arrays with axes, units and where they came from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from scalemath.core.errors import ArgumentError, RangeError, UnitsError
from scalemath.core.hooks import hook
from scalemath.sweeps import along, showing
from scalemath.sweeps.axes import Array, Coordinate, visible
from scalemath.sweeps.picking import positions
from scalemath.sweeps.stored import Stored, picked, scaled
from scalemath.units import Q_, Quantity, to_si


@frozen(eq=False, repr=False)
class Grid:
    """Numbers over named axes, with units.

    Attributes
    ----------
    model : str
        Name of the model that was swept.
    axes : tuple of str
        Names of the axes, slowest first.
    coordinates : mapping of str to Coordinate
        What varies along the axes.
    outputs : mapping of str to numpy.ndarray
        Magnitudes of every output in its unit; codes for choices. Those of a sweep to a ``.zarr``
        folder stay there until they are needed, as `Stored`.
    units : mapping of str to str
        Unit of every output; "1" for plain numbers, empty for choices.
    names : mapping of str to tuple of str
        Names behind the codes of a choice.
    fixed : mapping
        Parameters that did not vary: (SI value or name, unit).
    provenance : mapping
        Version, arithmetic, constraint and what else is needed to repeat the sweep.

    Notes
    -----
    nan marks a point that a constraint excluded, inf one that the model calls impossible.
    """

    model: str
    axes: tuple[str, ...]
    coordinates: Mapping[str, Coordinate] = field(converter=visible)
    outputs: Mapping[str, Array | Stored]
    units: Mapping[str, str]
    names: Mapping[str, tuple[str, ...]] = field(factory=dict)
    fixed: Mapping[str, tuple[Any, str]] = field(factory=dict)
    provenance: Mapping[str, Any] = field(factory=dict)

    # --- reading -------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        shape: tuple[int, ...] = next(iter(self.outputs.values())).shape
        return shape

    @property
    def size(self) -> int:
        """Number of points."""
        return math.prod(self.shape)

    @property
    def output(self) -> str:
        """Name of the first output."""
        return next(iter(self.outputs))

    @property
    def values(self) -> Any:
        """Magnitudes of the first output, in `unit`."""
        return self.outputs[self.output]

    @property
    def unit(self) -> str:
        """Unit of the first output."""
        return self.units[self.output]

    @property
    def quantity(self) -> Any:
        """First output as a Quantity."""
        return self[self.output]

    def __getitem__(self, name: str) -> Any:
        """Output or coordinate as a Quantity; names and plain numbers as arrays."""
        if name in self.outputs:
            if name in self.names:
                return self._named(name)
            array, unit = self.loaded(name), self.units[name]
            value: Any = float(array) if array.ndim == 0 else array
            return value if unit == "1" else Quantity(value, unit)
        if name in self.coordinates:
            return self.coordinates[name].quantity
        known = ", ".join([*self.outputs, *self.coordinates])
        raise ArgumentError(f"the grid has no output or coordinate {name!r}; there are {known}")

    def loaded(self, name: str) -> Array:
        """Magnitudes of an output in memory, read from disk where they are there."""
        array = self.outputs[name]
        return array if isinstance(array, np.ndarray) else np.asarray(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        own = self.outputs[self.output]
        made = self._named(self.output) if self.output in self.names else self.loaded(self.output)
        found = np.asarray(made, dtype)
        if found is own:
            return found.copy() if copy else found
        if copy is False:
            raise ValueError("these values of a grid are made anew; they cannot be had uncopied")
        return found

    def _named(self, name: str) -> Any:
        words = np.array([*self.names[name], ""], dtype=object)
        codes = np.minimum(self.loaded(name), len(words) - 1)
        return words[codes] if codes.ndim else str(words[int(codes)])

    def item(self) -> Any:
        """Return the only value as a Quantity or number."""
        if self.size != 1:
            raise ArgumentError(f"the grid holds {self.size} points; pick one with sel() or isel()")
        return self.isel(**dict.fromkeys(self.axes, 0))[self.output]

    # --- picking -------------------------------------------------------------------------

    def isel(self, **places: Any) -> Grid:
        """Pick by position.

        Parameters
        ----------
        **places
            For each axis an integer (the axis goes away), a slice or a list of integers.

        Returns
        -------
        Grid
            The part picked.
        """
        grid = self
        for axis, place in places.items():
            position = grid._axis(axis)
            length = grid.shape[grid.axes.index(position)]
            listed = np.asarray([] if isinstance(place, slice) else place)
            if isinstance(place, slice) and not range(length)[place]:
                raise RangeError(f"isel: {axis}={place!r} picks none of the {length} values")
            if listed.dtype.kind == "b" or (listed.size and listed.dtype.kind not in "iu"):
                raise ArgumentError(f"isel: {axis}={place!r}, wanted a position, a list or a slice")
            if not isinstance(place, slice) and not listed.size:
                raise RangeError(f"isel: {axis} is empty; give at least one position")
            if listed.size and not (-length <= listed.min() and listed.max() < length):
                raise RangeError(f"isel: {axis}={place!r}, but the axis has {length} values")
            grid = grid._pick(position, place)
        return grid

    def sel(self, *, nearest: bool = False, **values: Any) -> Grid:
        """Pick by value.

        Parameters
        ----------
        nearest : bool
            Take the nearest value where the exact one is not on the axis.
        **values
            For each coordinate a value with its unit, a name, a list of them, or
            ``slice(low, high)`` with both ends included.

        Returns
        -------
        Grid
            The part picked.

        Raises
        ------
        ArgumentError
            If a value is not on its axis, naming the nearest.
        """
        grid = self
        for name, value in values.items():
            coordinate = grid.coordinates.get(name)
            if coordinate is None or len(coordinate.axes) != 1:
                known = ", ".join(n for n, c in grid.coordinates.items() if len(c.axes) == 1)
                raise ArgumentError(f"sel: the grid has no axis {name!r}; there are {known}")
            place = positions(coordinate, value, nearest)
            grid = grid._pick(coordinate.axes[0], place)
        return grid

    def _axis(self, name: str) -> str:
        if name in self.axes:
            return name
        coordinate = self.coordinates.get(name)
        if coordinate is not None and len(coordinate.axes) == 1:
            return coordinate.axes[0]
        raise ArgumentError(
            f"the grid has no axis {name!r}; there are {', '.join(self.axes) or 'none'}"
        )

    def _pick(self, axis: str, place: Any) -> Grid:
        number = self.axes.index(axis)
        gone = isinstance(place, (int, np.integer))
        index = (slice(None),) * number + (place,)
        fixed = dict(self.fixed)
        kept: dict[str, Coordinate] = {}
        for name, coordinate in self.coordinates.items():
            if axis not in coordinate.axes:
                kept[name] = coordinate
                continue
            where = coordinate.axes.index(axis)
            part = coordinate.take((slice(None),) * where + (place,))
            if gone and part.values.ndim == 0:
                value = part.values.item() if not part.is_names else str(part.values)
                fixed[name] = (value, part.unit or "1")
            elif gone:
                kept[name] = evolve(part, axes=tuple(a for a in part.axes if a != axis))
            else:
                kept[name] = part
        return evolve(
            self,
            axes=tuple(a for a in self.axes if not (gone and a == axis)),
            coordinates=kept,
            outputs={n: picked(a, index) for n, a in self.outputs.items()},
            fixed=fixed,
        )

    def transpose(self, *axes: str) -> Grid:
        """Reorder the axes; without arguments in reverse."""
        order = [self._axis(a) for a in axes] if axes else list(reversed(self.axes))
        if sorted(order) != sorted(self.axes):
            raise ArgumentError(f"transpose needs every axis once: {', '.join(self.axes)}")
        places = [self.axes.index(a) for a in order]
        outputs = {n: a.transpose(places) for n, a in self.outputs.items()}
        return evolve(self, axes=tuple(order), outputs=outputs)

    # --- units ---------------------------------------------------------------------------

    def to(self, unit: str, output: str = "") -> Grid:
        """Express outputs in another unit.

        Parameters
        ----------
        unit : str
            Unit wanted, such as "ms".
        output : str
            Which output; by default all of that dimension.

        Returns
        -------
        Grid
            With new arrays.

        Raises
        ------
        UnitsError
            If no output has that dimension.
        """
        wanted = Q_(1, unit)
        chosen = [output] if output else [n for n in self.outputs if n not in self.names]
        outputs, units = dict(self.outputs), dict(self.units)
        done = False
        for name in chosen:
            if name not in self.outputs:
                raise ArgumentError(f"the grid has no output {name!r}; there are {self._listed()}")
            own = Q_(1, "" if units[name] == "1" else units[name])
            if own.dimensionality == wanted.dimensionality:
                factor = float(to_si(own, unit))
                outputs[name], units[name], done = scaled(outputs[name], factor), unit, True
        if not done:
            raise UnitsError(f"no output can be given in {unit}; there are {self._listed()}")
        return evolve(self, outputs=outputs, units=units)

    def _listed(self) -> str:
        return ", ".join(f"{n} [{self.units[n] or 'name'}]" for n in self.outputs)

    # --- reducing ------------------------------------------------------------------------

    def max(self, axis: str) -> Grid:
        """Largest value along an axis; nan is left out of account."""
        return self._reduced(axis, along.largest)

    def min(self, axis: str) -> Grid:
        """Least value along an axis; nan is left out of account."""
        return self._reduced(axis, along.least)

    def mean(self, axis: str) -> Grid:
        """Mean along an axis; nan is left out of account."""
        return self._reduced(axis, along.mean)

    def _reduced(self, axis: str, function: along.Along) -> Grid:
        own = self._axis(axis)
        number = self.axes.index(own)
        outputs = {n: function(a, number) for n, a in self.outputs.items() if n not in self.names}
        return evolve(
            self,
            axes=tuple(a for a in self.axes if a != own),
            coordinates={n: c for n, c in self.coordinates.items() if own not in c.axes},
            outputs=outputs,
            names={},
            units={n: u for n, u in self.units.items() if n in outputs},
        )

    def where_min(self, axis: str, output: str = "") -> Any:
        """Return the coordinate at which an output is least along an axis."""
        return self._where(axis, output, along.place_of_least)

    def where_max(self, axis: str, output: str = "") -> Any:
        """Return the coordinate at which an output is largest along an axis."""
        return self._where(axis, output, along.place_of_largest)

    def _where(self, axis: str, output: str, function: along.Along) -> Any:
        own = self._axis(axis)
        places = function(self.outputs[output or self.output], self.axes.index(own))
        name = axis if axis in self.coordinates else own
        return self.coordinates[name].take(places).quantity

    def elasticity(self, axis: str, output: str = "") -> Grid:
        """Relative change of an output per relative change along an axis, between neighbours.

        Parameters
        ----------
        axis : str
            Axis of positive numbers, counts included.
        output : str
            Output; by default the first.

        Returns
        -------
        Grid
            d ln(output) / d ln(axis) by differences of neighbouring points.
        """
        own = self._axis(axis)
        coordinate = self.coordinates[axis if axis in self.coordinates else own]
        if coordinate.is_names or coordinate.values.size < 2 or not (coordinate.values > 0).all():
            raise ArgumentError(f"elasticity needs an axis of two or more positive numbers: {axis}")
        name = output or self.output
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.loaded(name))
            slope = np.gradient(logs, np.log(coordinate.values), axis=self.axes.index(own))
        label = f"elasticity({name}, {axis})"
        return evolve(self, outputs={label: np.asarray(slope)}, units={label: "1"}, names={})

    # --- other forms ---------------------------------------------------------------------

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` with units as attributes."""
        return _storage().to_xarray(self)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per point and ``attrs["units"]``."""
        return _storage().to_pandas(self)

    def to_parquet(self, path: Any) -> Any:
        """Write one row per point to a Parquet file, units in its metadata; return its path."""
        return _storage().to_parquet(self, path)

    def save(self, path: Any) -> Any:
        """Write everything to a ``.npz`` file for `scalemath.sweeps.load`; return its path."""
        return _storage().save(self, path)

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draw the grid: a line, a heat map or a map of names (needs matplotlib)."""
        return hook("plot")(self, *args, **kwargs)

    # --- showing -------------------------------------------------------------------------

    def __repr__(self) -> str:
        return showing.text(self)

    def _repr_html_(self) -> str:
        return showing.markup(self)


def _storage() -> Any:
    """Return the module that writes grids, which itself needs this one."""
    return import_module("scalemath.sweeps.storage")
