"""Grids as text and as HTML: axes with their ends, outputs with their range, points as a table."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from scalemath.core.errors import ReadError
from scalemath.units import display

ROWS = 12
"""Points of a table that are shown; the rest is counted."""
READ = 1 << 20
"""Numbers that stay on disk are read for their range up to so many."""


def text(grid: Any) -> str:
    """Several lines that say what a grid holds."""
    lengths = ", ".join(f"{a}: {n}" for a, n in zip(grid.axes, grid.shape, strict=True))
    lines = [f"Grid of {grid.model} ({lengths or 'one point'})"]
    if grid.axes == ("point",) and grid.size:
        lines += _columns(grid)
    else:
        lines += [f"  {n:<18} {c.summary()}" for n, c in grid.coordinates.items()]
        lines += [f"  -> {name:<15} {summary(grid, name)}" for name in grid.outputs]
    if grid.fixed:
        told = ", ".join(f"{n} = {shown(v, u)}" for n, (v, u) in grid.fixed.items())
        lines.append(f"  fixed: {told}")
    if "assumed" in grid.provenance:
        lines.append(f"  assumed: {grid.provenance['assumed']}")
    return "\n".join(lines)


def markup(grid: Any) -> str:
    """The same as an HTML table."""

    def row(name: str, told: str) -> str:
        return f"<tr><th>{html.escape(name)}</th><td>{html.escape(told)}</td></tr>"

    lengths = " x ".join(f"{n} {a}" for a, n in zip(grid.axes, grid.shape, strict=True))
    caption = f"<caption>{html.escape(f'{grid.model}: ' + (lengths or 'one point'))}</caption>"
    fixed = [row(n, shown(v, u)) for n, (v, u) in grid.fixed.items()]
    if "assumed" in grid.provenance:
        fixed.append(row("assumed", grid.provenance["assumed"]))
    if grid.axes == ("point",) and grid.size:
        head, *body = _cells(grid)
        rows = ["<tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in head) + "</tr>"]
        rows += [
            "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>"
            for cells in body
        ]
        notes = "".join(
            f"<br><small>{html.escape(f'{n} = {shown(v, u)}')}</small>"
            for n, (v, u) in grid.fixed.items()
        )
        return f"<table>{caption}<tbody>{''.join(rows)}</tbody></table>{notes}"
    rows = [row(n, c.summary()) for n, c in grid.coordinates.items()]
    rows += [row(f"{n} (result)", summary(grid, n)) for n in grid.outputs]
    return f"<table>{caption}<tbody>{''.join(rows + fixed)}</tbody></table>"


def summary(grid: Any, name: str) -> str:
    """Range of an output, or the names that occur in it."""
    stored = grid.outputs[name]
    if not isinstance(stored, np.ndarray) and stored.size > READ:
        size, unit = display(float(stored.nbytes), "byte"), grid.units[name] or "name"
        return f"[{unit}] {size} in {stored.path.name}"
    try:
        array = grid.loaded(name)
    except ReadError as error:  # to show a grid never fails
        return f"cannot be read any more: {error}"
    if name in grid.names:
        used = np.unique(array)
        words = [word for code, word in enumerate(grid.names[name]) if code in used]
        return words[0] if len(words) == 1 else "one of " + ", ".join(words)
    unit = grid.units[name]
    if array.size == 0:
        return f"[{unit}]"
    low, high = np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)
    if array.ndim == 0 or low == high:
        return display(float(low), unit)
    return f"{display(float(low), unit)} ... {display(float(high), unit)}"


def shown(value: Any, unit: str) -> str:
    """One value with its unit."""
    return value if isinstance(value, str) else display(float(value), unit)


def _cells(grid: Any) -> list[list[str]]:
    """Head and rows of a table of points."""
    columns = {n: np.asarray(a) for n, a in grid.outputs.items() if n not in grid.coordinates}
    rows = [["", *grid.coordinates, *columns]]
    for i in range(min(grid.size, ROWS)):
        cells = [str(i + 1), *(c.label(i) for c in grid.coordinates.values())]
        for name, column in columns.items():
            cells.append(
                str(grid[name][i]) if name in grid.names else shown(column[i], grid.units[name])
            )
        rows.append(cells)
    return rows


def _columns(grid: Any) -> list[str]:
    """Lines of a table of points."""
    rows = _cells(grid)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    left = grid.size - ROWS
    return lines + ([f"  ... and {left} more"] if left > 0 else [])
