"""Sweeps: any model over any axes, from the kernels of the scalar call, compiled."""

from scalemath.sweeps.axes import dependent, geomspace, linspace, zipped
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.sweep import array_call, sweep

__all__ = [
    "Grid",
    "array_call",
    "dependent",
    "geomspace",
    "linspace",
    "sweep",
    "zipped",
]
