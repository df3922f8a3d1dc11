"""Pictures of sweeps: lines, heat maps, maps of winners, histograms, fronts."""

from __future__ import annotations

from typing import Any

import numpy as np

from scalemath.core.errors import ArgumentError
from scalemath.sweeps.axes import Coordinate
from scalemath.sweeps.grid import Grid

FAMILY = 8
"""An axis with at most so many values becomes a family of lines."""
_COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999",
    "#332288", "#882255", "#44aa99", "#117733",
)  # fmt: skip


def picture(grid: Grid, *, output: str = "", kind: str = "", ax: Any = None) -> Any:
    """Draw a grid of one or two axes, a histogram or a table of points.

    Parameters
    ----------
    grid : Grid
        What is drawn; pick with `sel` until no more than two axes are left.
    output : str
        Output to draw; by default the names of the winners where there are some and the
        grid has two axes, else the first output.
    kind : str
        "line", "heat" or "map"; by default what fits.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The picture, its axes labelled with units.

    Raises
    ------
    ArgumentError
        If the grid has no or more than two axes, or the kind does not fit.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    if grid.axes == ("bin",):
        return _bars(grid, ax)
    if grid.axes == ("point",):
        return _points(grid, ax)
    if len(grid.axes) not in (1, 2):
        raise ArgumentError(
            f"a picture shows one or two axes, the grid has {len(grid.axes)} "
            f"({', '.join(grid.axes) or 'a single point'}); pick with sel() or reduce first"
        )
    if not output:
        named = [n for n in grid.outputs if n in grid.names]
        output = named[0] if named and len(grid.axes) == 2 and kind in ("", "map") else grid.output
    if output not in grid.outputs:
        raise ArgumentError(
            f"the grid has no output {output!r}; there are {', '.join(grid.outputs)}"
        )
    if output in grid.names:
        kind = kind or "map"
    if not kind:
        short = min(grid.shape) <= FAMILY
        kind = "line" if len(grid.axes) == 1 or short else "heat"
    if kind == "line":
        return _lines(grid, output, ax)
    if kind not in ("heat", "map") or len(grid.axes) != 2:
        raise ArgumentError(f"kind is {kind!r}; wanted 'line', or 'heat' or 'map' over two axes")
    if (kind == "map") != (output in grid.names):
        raise ArgumentError(
            f"{output} is {'' if output in grid.names else 'not '}a choice of names"
        )
    return _field(grid, output, ax)


def _coordinate(grid: Grid, axis: str) -> Coordinate:
    """Coordinate that labels an axis."""
    if axis in grid.coordinates:
        return grid.coordinates[axis]
    for coordinate in grid.coordinates.values():
        if coordinate.axes == (axis,):
            return coordinate
    return Coordinate(axis, (axis,), np.arange(grid.shape[grid.axes.index(axis)]))


def _label(name: str, unit: str) -> str:
    return name.replace("_", " ") + (f", {unit}" if unit not in ("", "1") else "")


def _is_logarithmic(values: Any) -> bool:
    """Whether positive values spread over more than a factor of thirty."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() > 0 and finite.max() > 30 * finite.min())


def _along(ax: Any, which: str, coordinate: Coordinate) -> None:
    """Label one side of the picture."""
    getattr(ax, f"set_{which}label")(_label(coordinate.name, coordinate.shown))
    if coordinate.is_names:
        places = np.arange(coordinate.values.size)
        getattr(ax, f"set_{which}ticks")(places, labels=[str(n) for n in coordinate.values])
    elif _is_logarithmic(np.asarray(coordinate.magnitudes, dtype=float)):
        getattr(ax, f"set_{which}scale")("log")


def _positions(coordinate: Coordinate) -> Any:
    if coordinate.is_names:
        return np.arange(coordinate.values.size)
    return np.asarray(coordinate.magnitudes, dtype=float)


def _lines(grid: Grid, output: str, ax: Any) -> Any:
    """One line, or one for every value of the shorter axis."""
    values = np.asarray(grid.outputs[output], dtype=float)
    values = np.where(np.isfinite(values), values, np.nan)
    across = 0 if len(grid.axes) == 1 else int(np.argmax(grid.shape))
    coordinate = _coordinate(grid, grid.axes[across])
    if len(grid.axes) == 1:
        ax.plot(_positions(coordinate), values, color=_COLOURS[0])
    else:
        family = _coordinate(grid, grid.axes[1 - across])
        for i in range(family.values.size):
            line = values[:, i] if across == 0 else values[i]
            colour = _COLOURS[i % len(_COLOURS)]
            ax.plot(_positions(coordinate), line, color=colour, label=family.label(i))
        ax.legend(title=family.name.replace("_", " "), frameon=False, fontsize=8)
    _along(ax, "x", coordinate)
    ax.set_ylabel(_label(output, grid.units[output]))
    if _is_logarithmic(values):
        ax.set_yscale("log")
    return _finish(grid, ax)


def _field(grid: Grid, output: str, ax: Any) -> Any:
    """Heat map of numbers, or map of names."""
    vertical, across = (_coordinate(grid, axis) for axis in grid.axes)
    values = grid.outputs[output]
    if output in grid.names:
        from matplotlib.colors import BoundaryNorm, ListedColormap
        from matplotlib.patches import Patch

        words = grid.names[output]
        used = [code for code in range(len(words)) if (values == code).any()]
        shown = np.full(values.shape, np.nan)
        for place, code in enumerate(used):
            shown[values == code] = place
        colours = [_COLOURS[i % len(_COLOURS)] for i in range(max(len(used), 1))]
        norm = BoundaryNorm(np.arange(len(colours) + 1) - 0.5, len(colours))
        ax.pcolormesh(
            _positions(across), _positions(vertical), shown, cmap=ListedColormap(colours),
            norm=norm, shading="nearest",
        )  # fmt: skip
        patches = [Patch(color=colours[i], label=words[code]) for i, code in enumerate(used)]
        ax.legend(handles=patches, title=output, fontsize=8, loc="upper left",
                  bbox_to_anchor=(1.0, 1.0), frameon=False)  # fmt: skip
    else:
        from matplotlib.colors import LogNorm

        finite = np.where(np.isfinite(values), values, np.nan)
        scale = LogNorm() if _is_logarithmic(finite) else None
        mesh = ax.pcolormesh(
            _positions(across), _positions(vertical), finite, norm=scale, shading="nearest"
        )
        ax.figure.colorbar(mesh, ax=ax, label=_label(output, grid.units[output]))
    _along(ax, "x", across)
    _along(ax, "y", vertical)
    return _finish(grid, ax)


def _bars(grid: Grid, ax: Any) -> Any:
    """Histogram."""
    low, high = grid.coordinates.values()
    left, right = np.asarray(low.values), np.asarray(high.values)
    ax.bar(left, grid.values, width=right - left, align="edge", color=_COLOURS[0])
    ax.set_xlabel(_label(low.name.removesuffix("_low"), low.shown or low.unit))
    ax.set_ylabel("points")
    ratio = right / left if (left > 0).all() else np.ones(1)
    if ratio.size > 1 and np.allclose(ratio, ratio[0], rtol=1e-6):
        ax.set_xscale("log")
    return _finish(grid, ax)


def _points(grid: Grid, ax: Any) -> Any:
    """Points by their first two outputs, or by rank where there is one output."""
    numeric = [n for n in grid.outputs if n not in grid.names]
    if len(numeric) == 1:
        ax.plot(np.arange(1, grid.size + 1), grid.outputs[numeric[0]], "o", color=_COLOURS[0])
        ax.set_xlabel("place in the ranking")
        ax.set_ylabel(_label(numeric[0], grid.units[numeric[0]]))
        return _finish(grid, ax)
    first, second = (np.asarray(grid.outputs[n], dtype=float) for n in numeric[:2])
    ax.plot(first, second, "o", color=_COLOURS[0], markersize=4)
    for which, name, values in zip("xy", numeric, (first, second), strict=False):
        getattr(ax, f"set_{which}label")(_label(name, grid.units[name]))
        if _is_logarithmic(values):
            getattr(ax, f"set_{which}scale")("log")
    return _finish(grid, ax)


def _finish(grid: Grid, ax: Any) -> Any:
    ax.set_title(grid.model.replace("_", " "), loc="left", fontsize=10)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
