"""From places in a grid back to parameters and outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import evolve

from scalemath.sweeps.axes import Array, Axis, Coordinate, visible
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.plain import plain_function
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output

FEW = 4096
"""Up to so many points are evaluated one by one in plain Python, without compiling anything."""


def table(
    problem: Problem, places: Array, values: dict[str, Array], also: Sequence[Output]
) -> Grid:
    """Make a table of points.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    places : numpy.ndarray
        Places of the points in the grid's own order.
    values : dict of str to numpy.ndarray
        What is known of them already.
    also : sequence of Output
        What to evaluate in addition.

    Returns
    -------
    Grid
        With the axis ``point``, every varying parameter as a coordinate along it.
    """
    indices = np.unravel_index(places, problem.grid) if problem.grid else ()
    picked = dict(enumerate(indices))
    coordinates = {
        name: _taken(problem, coordinate, picked, ("point",))
        for name, coordinate in problem.coordinates.items()
    }
    part = evolve(
        problem,
        axes=(Axis("point", int(places.size), ()),),
        coordinates=coordinates,
    )
    units = problem.units()
    found = {**values, **evaluate(part, also)}
    labels = [*values]
    return Grid(
        model=problem.model.name,
        axes=("point",),
        coordinates=coordinates,
        outputs=found,
        units={
            **{n: units.get(n, "1") for n in labels},
            **{o.label: "1" if o.along else units.get(o.name, "") for o in also},
        },
        names={n: s.names for n, s in problem.best.items() if n in found},
        fixed=problem.shown(),
        provenance=problem.provenance(),
    )


def labelled_places(
    problem: Problem,
    kept: Sequence[int],
    folded: Sequence[int],
    places: Array,
    output: Output | None,
    values: Array | None,
    also: Sequence[Output],
) -> Grid:
    """Label the places found along folded axes, for every point of the kept axes.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    kept, folded : sequence of int
        Axes that stay and axes that went.
    places : numpy.ndarray
        Place among the folded points; -1 for none.
    output, values : Output, numpy.ndarray
        What was looked at, and its value there.
    also : sequence of Output
        What to evaluate in addition at the places found.

    Returns
    -------
    Grid
        Over the kept axes, with one output per parameter that varies along the folded axes.
    """
    axes = tuple(problem.names[a] for a in kept)
    lengths = tuple(problem.grid[a] for a in folded)
    nowhere = places < 0
    indices = np.unravel_index(np.where(nowhere, 0, places), lengths) if lengths else ()
    picked = dict(zip(folded, indices, strict=True))
    units = problem.units()
    coordinates: dict[str, Coordinate] = {}
    moved: dict[str, Coordinate] = {}
    for name, coordinate in problem.coordinates.items():
        if all(axis in axes for axis in coordinate.axes):
            coordinates[name] = coordinate
        else:
            moved[name] = _taken(problem, coordinate, picked, axes)
    outputs: dict[str, Array] = {}
    found_units: dict[str, str] = {}
    names: dict[str, tuple[str, ...]] = {}
    if output is not None and values is not None:
        outputs[output.label] = values
        found_units[output.label] = "1" if output.along else units[output.name]
    for name, coordinate in visible(moved).items():
        found_units[name] = coordinate.unit
        if coordinate.is_names:
            words = tuple(dict.fromkeys(str(n) for n in problem.coordinates[name].values.ravel()))
            codes = {word: code for code, word in enumerate(words)}
            flat = np.array([codes[str(n)] for n in coordinate.values.ravel()], dtype=np.int64)
            outputs[name] = np.where(nowhere, len(words), flat.reshape(coordinate.values.shape))
            names[name] = words
        else:
            outputs[name] = np.where(nowhere, math.nan, coordinate.values)
    if also:
        part = evolve(
            problem,
            axes=tuple(Axis(problem.names[a], problem.grid[a], ()) for a in kept),
            coordinates={**coordinates, **moved},
        )
        for o in also:
            names.update({n: s.names for n, s in problem.best.items() if n == o.label})
            found_units[o.label] = "1" if o.along else units.get(o.name, "")
        for label, array in evaluate(part, also).items():
            gone = len(names[label]) if label in names else math.nan
            outputs[label] = np.where(nowhere, gone, array)
            if label in names:
                outputs[label] = outputs[label].astype(np.int64)
    return Grid(
        model=problem.model.name,
        axes=axes,
        coordinates=coordinates,
        outputs={n: np.asarray(a) for n, a in outputs.items()},
        units=found_units,
        names=names,
        fixed=problem.shown(),
        provenance=problem.provenance(),
    )


def evaluate(problem: Problem, outputs: Sequence[Output]) -> dict[str, Array]:
    """Evaluate outputs at all points of a small problem, plainly; compiled where it is large."""
    if not outputs:
        return {}
    if math.prod(problem.grid) > FEW:
        from scalemath.sweeps.dense import dense

        arrays = dense(problem, list(outputs), None, np.dtype(np.float64), 1, "strict", False)
        return {o.label: a for o, a in zip(outputs, arrays, strict=True)}
    wiring = problem.wiring(outputs)
    function = plain_function(wiring)
    given = problem.arrays(wiring)
    inputs = [np.broadcast_to(a, problem.grid).ravel() for a in given]
    rows = [function(*point) for point in zip(*inputs, strict=True)] if inputs else []
    if not inputs:
        rows = [function()] * math.prod(problem.grid)
    table_of: Any = np.array(rows, dtype=float).reshape(-1, len(outputs))
    return {
        o.label: table_of[:, i]
        .reshape(problem.grid)
        .astype(int if o.name in problem.best else float)
        for i, o in enumerate(outputs)
    }


def _taken(
    problem: Problem, coordinate: Coordinate, picked: dict[int, Any], axes: tuple[str, ...]
) -> Coordinate:
    """Coordinate at chosen places along some axes, spread over the axes that stay."""
    index: list[Any] = []
    for axis in coordinate.axes:
        number = problem.names.index(axis)
        if number in picked:
            index.append(picked[number])
        else:
            shape = [1] * len(axes)
            shape[axes.index(axis)] = -1
            index.append(np.arange(problem.grid[number]).reshape(shape))
    values = coordinate.values[tuple(index)] if index else coordinate.values
    values = np.asarray(values, dtype=coordinate.values.dtype)
    return evolve(coordinate, axes=axes, values=values)
