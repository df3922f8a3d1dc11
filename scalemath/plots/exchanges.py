"""Pictures of collectives: who sends to whom, and which algorithm is fastest where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from scalemath.collectives.algorithms import algorithm_named, candidates
from scalemath.collectives.crossing import seconds
from scalemath.collectives.lowering import with_shape
from scalemath.collectives.movement import rounds
from scalemath.units import QuantityLike, to_si


def movement(operation: str, algorithm: str, *, ranks: int = 8, ax: Any = None) -> Any:
    """Draw the messages of an algorithm, one column of arrows per round.

    Parameters
    ----------
    operation, algorithm : str
        Names as in the table of algorithms.
    ranks : int
        Participants.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The picture; the width of an arrow grows with the share of the size it carries.
    """
    ax = _axes(ax)
    found = rounds(operation, algorithm, ranks)
    most = max((m.share for one in found for m in one), default=0.0) or 1.0
    places = range(1 + max((max(m[:2]) for one in found for m in one), default=ranks - 1))
    for step, one in enumerate(found):
        for message in one:
            share = message.share / most
            ax.annotate(
                "",
                xy=(step + 0.94, message.target),
                xytext=(step + 0.06, message.source),
                arrowprops={
                    "arrowstyle": "-|>",
                    "linewidth": 0.5 + 2.0 * share,
                    "color": f"C{message.source % 10}",
                    "shrinkA": 0,
                    "shrinkB": 0,
                    "mutation_scale": 7,
                },
            )
    for step in range(len(found) + 1):
        ax.plot([step] * len(places), list(places), "o", color="0.35", markersize=3)
    ax.set_xlim(-0.3, len(found) + 0.3)
    ax.set_ylim(len(places) - 0.5, -0.5)
    names = [str(place) if place < ranks else "switch" for place in places]
    ax.set_yticks(list(places), names)
    ax.set_xticks([step + 0.5 for step in range(len(found))], range(1, len(found) + 1))
    ax.set_xlabel("round")
    ax.set_ylabel("rank")
    ax.set_title(f"{operation} by {algorithm}")
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    return ax


def fastest(
    operation: str,
    algorithms: Sequence[str] = (),
    *,
    ranks: int,
    bandwidth: QuantityLike,
    latency: QuantityLike,
    shape: Sequence[int] = (),
    ax: Any = None,
) -> Any:
    """Draw the time of algorithms over the size, and mark where the fastest changes.

    Parameters
    ----------
    operation : str
        Public name of the collective.
    algorithms : sequence of str
        Which to draw; all that need nothing of the network when left out.
    ranks : int
        Participants.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    latency : Quantity [s]
        One-way time of an empty message.
    shape : sequence of int
        Sides of a torus, for algorithms that need one.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The picture, both axes logarithmic.
    """
    ax = _axes(ax)
    chosen = [algorithm_named(operation, name) for name in algorithms]
    chosen = chosen or list(candidates(operation, frozenset()))
    values: Mapping[str, float] = {
        "ranks": float(ranks),
        "bandwidth": to_si(bandwidth, "byte/s/dir", "bandwidth"),
        "latency": to_si(latency, "s", "latency"),
        "reduction_rate": math.inf,
        "switch_latency": 0.0,
        "levels": 1.0,
        "bruck_radix": 4.0,
        **(
            {k: float(v) for k, v in with_shape(operation, {"shape": shape}).items()}
            if shape
            else {}
        ),
    }
    sizes = [2.0 ** (k / 4) for k in range(4 * 3, 4 * 34)]
    times = {a.name: [seconds(a, values, size=s) for s in sizes] for a in chosen}
    for name, one in times.items():
        ax.loglog(sizes, one, label=name, linewidth=1.4)
    best = [min(times, key=lambda name: times[name][i]) for i in range(len(sizes))]
    for place in range(1, len(sizes)):
        if best[place] != best[place - 1]:
            ax.axvline(sizes[place], color="0.7", linewidth=0.8, linestyle=":")
    ax.set_xlabel("size [byte]")
    ax.set_ylabel("time [s]")
    ax.set_title(f"{operation} over {ranks} ranks")
    ax.legend(fontsize="small")
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(7.0, 3.2), layout="constrained")[1]
