"""Sweeps: any model over any axes, from the kernels of the scalar call, compiled."""

from scalemath.sweeps.axes import dependent, zipped
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.own import model
from scalemath.sweeps.public import array_call, sweep
from scalemath.sweeps.reductions import (
    best,
    count,
    elasticity,
    first,
    histogram,
    last,
    maximum,
    mean,
    minimum,
    pareto,
    quantiles,
    top,
)
from scalemath.sweeps.spaces import geomspace, linspace
from scalemath.sweeps.storage import load

__all__ = [
    "Grid",
    "array_call",
    "best",
    "count",
    "dependent",
    "elasticity",
    "first",
    "geomspace",
    "histogram",
    "last",
    "linspace",
    "load",
    "maximum",
    "mean",
    "minimum",
    "model",
    "pareto",
    "quantiles",
    "sweep",
    "top",
    "zipped",
]
