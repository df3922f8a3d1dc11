"""Pictures: functions that draw on an `Axes` of matplotlib, which they import when called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_DRAWN = {
    "Calibration": ("diagnosis", "calibrated_curves"),
    "Diagnosis": ("diagnosis", "measured_curve"),
    "Fabric": ("topology", "fabric"),
    "Grid": ("grids", "picture"),
    "MemoryBudget": ("memory", "stacked"),
}
"""Module and function that draw objects of a class, by its name."""


def plot(shown: Any, /, **options: Any) -> Any:
    """Draw an object by the function that belongs to its class.

    Parameters
    ----------
    shown : object
        What has a `plot` method, such as a fabric.
    **options
        As that function takes them, among them ``ax=``.

    Returns
    -------
    matplotlib Axes
        The picture.
    """
    for owner in type(shown).__mro__:
        if owner.__name__ in _DRAWN:
            module, name = _DRAWN[owner.__name__]
            return getattr(import_module(f"scalemath.plots.{module}"), name)(shown, **options)
    raise TypeError(f"there is no picture of a {type(shown).__name__}")
