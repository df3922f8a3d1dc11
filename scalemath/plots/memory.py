"""Pictures of memory: a budget as a stacked bar under what the device has."""

from __future__ import annotations

import math
from typing import Any

from scalemath.workloads.memory_budget import MemoryBudget

_COLOURS = {
    "weights": "#0072b2",
    "cache": "#009e73",
    "gradients": "#56b4e9",
    "optimizer": "#cc79a7",
    "activations": "#e69f00",
    "workspace": "#f0e442",
    "runtime": "#999999",
    "margin": "#d5d5d5",
}


def stacked(budget: MemoryBudget, *, ax: Any = None) -> Any:
    """Draw the lines of a budget as one stacked bar, with a rule at the capacity.

    Parameters
    ----------
    budget : MemoryBudget
        What is drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The picture, in GB.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(8, 2.2), layout="constrained")
    left = 0.0
    named: set[str] = set()
    for line in budget.lines:
        width = line.size / 1e9
        label = line.kind if line.kind not in named else "_" + line.name
        named.add(line.kind)
        ax.barh(0, width, left=left, color=_COLOURS.get(line.kind, "0.5"), edgecolor="white",
                linewidth=0.8, label=label)  # fmt: skip
        left += width
    limit = budget.usable / 1e9
    if not math.isnan(limit):
        ax.axvline(limit, color="black", linewidth=1.5)
        ax.annotate(f"{limit:.4g} GB", (limit, 0.45), ha="right", va="bottom", fontsize=8,
                    xytext=(-3, 0), textcoords="offset points")  # fmt: skip
        ax.set_xlim(0, 1.05 * max(left, limit))
    ax.set_yticks([])
    ax.set_ylim(-0.5, 0.7)
    ax.set_xlabel("memory of one device, GB")
    ax.set_title(budget.subject, loc="left", fontsize=10)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.legend(ncols=4, fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.35))
    return ax
