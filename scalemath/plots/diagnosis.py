"""Pictures of a diagnosis: the measured curve against what is expected."""

from __future__ import annotations

import math
from typing import Any


def measured_curve(shown: Any, *, ax: Any = None) -> Any:
    """Draw measured bus bandwidth by size with the usual range and the bound.

    Parameters
    ----------
    shown : Diagnosis
        What to draw.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The picture; sizes in MB, bandwidths in GB/s.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(7, 4), layout="constrained")[1]
    sizes, rates = shown.curve.sizes / 1e6, shown.curve.rates / 1e9
    ax.plot(sizes, rates, marker="o", markersize=3, label="measured")
    expected = shown.expected
    if expected is not None:
        ax.plot(sizes, shown.usual_rates() / 1e9, color="grey", label="usual")
        ax.axhspan(expected.low / 1e9, expected.high / 1e9, alpha=0.2, label="usual peak")
        ax.axhline(expected.limit / 1e9, linestyle="--", color="black", label="bound")
    for region in shown.regions[1:]:
        ax.axvline(region.smallest / 1e6, linestyle=":", color="grey", linewidth=1)
    ax.set_xscale("log")
    if rates.size and math.isfinite(float(rates.max())) and float(rates.max()) > 0.0:
        ax.set_ylim(bottom=0.0)
    ax.set_xlabel("size [MB]")
    ax.set_ylabel("bus bandwidth [GB/s]")
    ax.set_title(f"{shown.setting.operation} over {shown.setting.ranks} ranks: {shown.verdict}")
    ax.legend()
    return ax


def calibrated_curves(shown: Any, *, ax: Any = None) -> Any:
    """Draw the fitted and the measured times of a calibration.

    Parameters
    ----------
    shown : Calibration
        What to draw.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The picture; sizes in MB, times in microseconds.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(7, 4), layout="constrained")[1]
    for fit in shown.fits:
        sizes = fit.sizes
        (line,) = ax.plot(sizes / 1e6, fit.times * 1e6, "o", markersize=3)
        fitted = [fit.seconds(float(size)) * 1e6 for size in sizes]
        ax.plot(sizes / 1e6, fitted, color=line.get_color(), label=fit.name)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("size [MB]")
    ax.set_ylabel("time [us]")
    ax.set_title("calibrated (lines) and measured (points)")
    ax.legend()
    return ax
