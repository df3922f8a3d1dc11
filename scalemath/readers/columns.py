"""Typed columns: arrays with one unit each, and rows made on access."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.units import display, quantity

Array = npt.NDArray[Any]


@frozen(eq=False)
class Row:
    """One row of a table: attributes by column, quantities where the column has a unit."""

    columns: Columns = field(repr=False)
    place: int

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.columns.cell(name, self.place)
        except ArgumentError as error:
            raise AttributeError(str(error)) from None

    def as_dict(self) -> dict[str, Any]:
        """Cells by column."""
        return {name: self.columns.cell(name, self.place) for name in self.columns.names}

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns.names]

    def __str__(self) -> str:
        return ", ".join(self.columns.shown(name, self.place) for name in self.columns.names)


@frozen(eq=False)
class Columns:
    """A table of measurements; every numeric column is one array in one unit.

    Attributes
    ----------
    arrays : mapping of str to numpy.ndarray
        Columns of equal length, in SI units where they have one.
    units : mapping of str to str
        Unit of each numeric column; "1" for plain numbers, "" for text.

    Examples
    --------
    >>> table = Columns({"size": np.array([8.0, 16.0])}, {"size": "byte"})
    >>> print(table[1].size)
    16 B
    """

    arrays: Mapping[str, Array]
    units: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.arrays)

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values()))) if self.arrays else 0

    def si(self, name: str) -> Array:
        """Bare array of a column in SI units."""
        found = self.arrays.get(name)
        if found is None:
            raise ArgumentError(f"no column {name!r}; there are {', '.join(self.names)}")
        return found

    def __getitem__(self, key: str | int) -> Any:
        """Column by name (a quantity with an array in it), or row by number."""
        if isinstance(key, str):
            values, unit = self.si(key), self.units[key]
            return quantity(values, unit) if unit not in ("1", "") else values
        return Row(self, range(len(self))[key])

    def __iter__(self) -> Iterator[Row]:
        return (Row(self, i) for i in range(len(self)))

    def cell(self, name: str, place: int) -> Any:
        """One cell: text, a number or a quantity."""
        value, unit = self.si(name)[place], self.units[name]
        if unit == "":
            return str(value)
        return float(value) if unit == "1" else quantity(float(value), unit)

    def shown(self, name: str, place: int) -> str:
        """One cell as readable text with its name."""
        value, unit = self.si(name)[place], self.units[name]
        if unit == "":
            return f"{name} {value}"
        return f"{name} {value:g}" if unit == "1" else f"{name} {display(float(value), unit)}"

    def where(self, mask: Array) -> Columns:
        """Rows for which the mask is true."""
        return Columns({name: array[mask] for name, array in self.arrays.items()}, self.units)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain lists with their units."""
        return {
            name: {"values": array.tolist(), "unit": self.units[name]}
            for name, array in self.arrays.items()
        }

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{n} [{self.units[n] or 'text'}]</th>" for n in self.names)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(str(self.arrays[n][i]))}</td>" for n in self.names)
            + "</tr>"
            for i in range(min(len(self), 200))
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def columns_of(rows: list[tuple[Any, ...]], **units: str) -> Columns:
    """Build columns from rows of SI numbers and texts, one unit named per column."""
    arrays: dict[str, Array] = {}
    for place, (name, unit) in enumerate(units.items()):
        cells = [row[place] for row in rows]
        arrays[name] = np.array(cells, dtype=np.str_ if unit == "" else np.float64)
    return Columns(arrays, units)
