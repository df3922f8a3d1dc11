"""What reductions share: reading names, thresholds and axes, and labelling what is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import evolve

from scalemath.core.errors import ArgumentError
from scalemath.sweeps.axes import Array, as_si
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output


def output_of(problem: Problem, given: str | Output) -> Output:
    """Return the output that a reduction names; the model's main one when it names none."""
    output = given if isinstance(given, Output) else Output(given or problem.model.default_output)
    problem.check_output(output.name)
    if output.name in problem.best:
        raise ArgumentError(f"{output.name} is a name; a reduction needs a number")
    if output.along:
        check_elasticity(problem, output)
    return output


def check_elasticity(problem: Problem, output: Output) -> None:
    """Refuse an elasticity by something that cannot vary continuously."""
    parameter = problem.model.parameter(output.along)
    if parameter.kind in ("count", "choice"):
        raise ArgumentError(
            f"elasticity by {output.along}: it is a {parameter.kind}, which has no small change; "
            "sweep over its values and use Grid.elasticity"
        )
    if any(name == output.along for name, _, _ in problem.derived):
        raise ArgumentError(f"elasticity by {output.along}: it depends on other parameters here")


def axes_of(problem: Problem, names: Sequence[str]) -> tuple[int, ...]:
    """Places of named axes, all of them when none is named."""
    found = []
    for name in names:
        axis = name
        if axis not in problem.names and name in problem.coordinates:
            axis = problem.coordinates[name].axes[0]
        if axis not in problem.names:
            raise ArgumentError(
                f"the sweep has no axis {name!r} to reduce over; there are "
                f"{', '.join(problem.names) or 'none'}"
            )
        found.append(problem.names.index(axis))
    if len(set(found)) != len(found):
        raise ArgumentError(f"an axis is named twice: {', '.join(names)}")
    return tuple(sorted(found)) if found else tuple(range(len(problem.grid)))


def unit_of(problem: Problem, output: Output) -> str:
    """SI unit of an output."""
    return "1" if output.along else problem.units()[output.name]


def threshold_of(problem: Problem, output: Output, given: Any) -> float:
    """SI value of a threshold for an output."""
    found = as_si(given, unit_of(problem, output), f"threshold for {output.label}")
    if not math.isfinite(found):
        raise ArgumentError(f"threshold for {output.label} is {found}; it must be finite")
    return found


def kept_grid(
    problem: Problem, kept: Sequence[int], outputs: dict[str, Array], units: dict[str, str]
) -> Grid:
    """Label arrays over the axes that stay."""
    axes = tuple(problem.names[a] for a in kept)
    coordinates = {
        n: c for n, c in problem.coordinates.items() if all(axis in axes for axis in c.axes)
    }
    return Grid(
        model=problem.model.name,
        axes=axes,
        coordinates=coordinates,
        outputs={n: np.asarray(a) for n, a in outputs.items()},
        units=units,
        fixed=problem.shown(),
        provenance=problem.provenance(),
    )


def with_method(grid: Grid, method: str, evaluated: int) -> Grid:
    """Note how an answer was found and how many points were evaluated for it."""
    told = {**grid.provenance, "method": method, "evaluated": evaluated}
    return evolve(grid, provenance=told)
