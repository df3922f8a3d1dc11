"""Pictures of fabrics, drawn from the object itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scalemath.topology.design import fat_tree_design
from scalemath.topology.dragonfly import Dragonfly
from scalemath.topology.fabric import Fabric
from scalemath.topology.fat_tree import FatTree
from scalemath.topology.hyperx import HyperX
from scalemath.topology.slim_fly import SlimFly
from scalemath.topology.torus import Torus
from scalemath.topology.traffic import PATTERNS
from scalemath.units import QuantityLike

Place = tuple[float, float]
MOST_LINKS = 4000
"""Links up to which every one is drawn; above, the tiers are drawn as boxes with counts."""


def fabric(shown: Fabric, *, ax: Any = None) -> Any:
    """Draw a fabric: every link where that can be seen, else its tiers as boxes.

    Parameters
    ----------
    shown : Fabric
        Any topology.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        The picture, with a legend of the tiers.
    """
    ax = _axes(ax)
    if shown.links.total > MOST_LINKS:
        _boxes(shown, ax)
    else:
        _links(shown, ax)
    ax.set_title(str(shown), fontsize=8, wrap=True)
    ax.set_axis_off()
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(8, 4.5), layout="constrained")[1]


def _links(shown: Fabric, ax: Any) -> None:
    from matplotlib.collections import LineCollection

    graph = shown.graph()
    places = _places(shown, graph.endpoints, graph.switches)
    tiers = list(dict.fromkeys(edge.tier for edge in graph.edges))
    for i, tier in enumerate(tiers):
        edges = [e for e in graph.edges if e.tier == tier]
        widest = max(e.links for e in edges)
        lines = LineCollection(
            [(places[e.one], places[e.other]) for e in edges],
            linewidths=[0.3 + 1.2 * e.links / widest for e in edges],
            colors=f"C{i}",
            alpha=max(0.15, min(0.9, 60 / len(edges))),
            label=tier.replace("_", "-"),
            zorder=1,
        )
        ax.add_collection(lines)
    for names, mark, size in ((graph.endpoints, "o", 10), (graph.switches, "s", 28)):
        if names:
            x, y = zip(*(places[n] for n in names), strict=True)
            ax.scatter(x, y, s=size, marker=mark, color="0.2", zorder=2)
    ax.autoscale_view()
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=4, fontsize=7, frameon=False)


def _row(names: Sequence[str], height: float) -> dict[str, Place]:
    """Places side by side, filling the width of one."""
    return {n: ((i + 0.5) / len(names), height) for i, n in enumerate(names)}


def _circle(names: Sequence[str], radius: float = 1.0, centre: Place = (0, 0)) -> dict[str, Place]:
    angles = (2 * math.pi * i / len(names) for i in range(len(names)))
    return {
        n: (centre[0] + radius * math.sin(a), centre[1] + radius * math.cos(a))
        for n, a in zip(names, angles, strict=True)
    }


def _places(shown: Fabric, endpoints: Sequence[str], switches: Sequence[str]) -> dict[str, Place]:
    for kind, placed in _PLACED:
        if isinstance(shown, kind):
            return placed(shown, endpoints, switches)
    if shown.forwarding_endpoints:
        return _circle(endpoints)
    return _row(endpoints, 0.0) | _row(switches, 1.0)


def _tree(shown: Any, endpoints: Sequence[str], switches: Sequence[str]) -> dict[str, Place]:
    ordered = sorted(endpoints, key=lambda n: (shown.leaf_of(int(n[1:])), int(n[1:])))
    found = _row(ordered, 0.0)
    for height, role in enumerate(("leaf", "spine", "core"), start=1):
        names = [s for s in switches if f".{role}" in s]
        if names:
            found |= _row(names, float(height))
    return found


def _grid(shape: Sequence[int], names: Sequence[str]) -> dict[str, Place]:
    """Two dimensions as they are, further ones shifted aside."""
    found = {}
    for number, name in enumerate(names):
        at: list[int] = []
        for size in reversed(shape):
            number, place = divmod(number, size)  # noqa: PLW2901
            at.append(place)
        x, y = float(at[0]), float(at[1]) if len(at) > 1 else 0.0
        # rows and columns are bent, so that links that skip a place can be seen
        y += 0.06 * (x - (shape[-1] - 1) / 2) ** 2
        x += 0.06 * (y - (shape[-2] - 1) / 2) ** 2 if len(at) > 1 else 0.0
        for depth, place in enumerate(at[2:], start=1):
            x, y = x + 0.35 * place, y + (0.27 + (depth - 1) * shape[-2]) * place
        found[name] = (x, y)
    return found


def _torus(shown: Any, endpoints: Sequence[str], _: Sequence[str]) -> dict[str, Place]:
    if len([s for s in shown.shape if s > 1]) == 1 and shown.wrap:
        return _circle(endpoints)
    return _grid(shown.shape, endpoints)


def _around(
    placed: dict[str, Place], shown: Any, endpoints: Sequence[str], reach: float
) -> dict[str, Place]:
    """Endpoints in a small circle around their router."""
    found = dict(placed)
    each = shown.attached
    for number, name in enumerate(endpoints):
        x, y = placed[f"router{shown.router_of(number)}"]
        angle = 2 * math.pi * (number % each) / each + 0.4
        found[name] = (x + reach * math.sin(angle), y + reach * math.cos(angle))
    return found


def _hyperx(shown: Any, endpoints: Sequence[str], routers: Sequence[str]) -> dict[str, Place]:
    return _around(_grid(shown.shape, routers), shown, endpoints, 0.12)


def _dragonfly(shown: Any, endpoints: Sequence[str], routers: Sequence[str]) -> dict[str, Place]:
    size = shown.routers_per_group
    groups = _circle([str(g) for g in range(shown.groups)], 1.0)
    reach = min(0.3, 2.0 / shown.groups)
    placed: dict[str, Place] = {}
    for group in range(shown.groups):
        placed |= _circle(routers[group * size : (group + 1) * size], reach, groups[str(group)])
    return _around(placed, shown, endpoints, reach / 3)


def _slim(shown: Any, endpoints: Sequence[str], routers: Sequence[str]) -> dict[str, Place]:
    q = shown.order
    placed = {
        name: (
            (number // q) % q / q + (1.4 if number >= q * q else 0.0),
            number % q / q,
        )
        for number, name in enumerate(routers)
    }
    return _around(placed, shown, endpoints, 0.25 / q)


_PLACED: tuple[tuple[type, Callable[..., dict[str, Place]]], ...] = (
    (FatTree, _tree),
    (Torus, _torus),
    (HyperX, _hyperx),
    (Dragonfly, _dragonfly),
    (SlimFly, _slim),
)


def _boxes(shown: Fabric, ax: Any) -> None:
    """Tiers as boxes with their counts, for fabrics with too many links to draw."""
    roles = [("endpoints", shown.endpoints), *shown.switches.items()]
    links = list(shown.links.items())
    for height, (role, count) in enumerate(roles):
        text = f"{count:,} {role}"
        if role in shown.ports:
            there, used = shown.ports[role]
            text += f"\n{used / max(count, 1):.4g} of {there // max(count, 1)} ports used"
        ax.text(
            0.5,
            height,
            text,
            ha="center",
            va="center",
            bbox={"boxstyle": "round,pad=0.5", "facecolor": "0.93", "edgecolor": "0.4"},
        )
    for height, (tier, count) in enumerate(links[: len(roles) - 1]):
        ax.plot([0.5, 0.5], [height + 0.22, height + 0.78], color=f"C{height}", linewidth=2)
        ax.text(0.53, height + 0.5, f"{count:,} links, {tier.replace('_', '-')}", va="center")
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.5, len(roles) - 0.5)


def traffic_map(
    *,
    endpoints: int,
    radix: int,
    port_rate: QuantityLike,
    ratios: Iterable[float] = (1, 2, 3, 4, 7, 8),
    rails: int = 1,
    senders: int = 8,
    ax: Any = None,
) -> Any:
    """Draw what oversubscription leaves of an endpoint's rate, by traffic pattern.

    Parameters
    ----------
    endpoints, radix : int
        Size of the fat tree and ports of a switch.
    port_rate : Quantity [byte/s/dir]
        Rate of an endpoint.
    ratios : iterable of float
        Down-capacity over up-capacity of a leaf [1].
    rails : int
        Rails of the fat tree.
    senders : int
        Senders of the incast.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes
        Heat map with the share of the port's rate in percent.
    """
    ax = _axes(ax)
    steps = [float(r) for r in ratios]
    rows = []
    for name in PATTERNS:
        row = []
        for ratio in steps:
            design = fat_tree_design(
                endpoints=endpoints,
                radix=radix,
                port_rate=port_rate,
                tiers=2,
                oversubscription=ratio,
                rails=rails,
                traffic=name.replace(" ", "_"),
                senders=senders,
            )
            row.append(100.0 * design.outputs["bandwidth"] / design.given["port_rate"])
        rows.append(row)
    ax.imshow(rows, cmap="viridis", vmin=0, vmax=100, aspect="auto")
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            shade = "white" if value < 60 else "black"
            ax.text(x, y, f"{value:.3g}", ha="center", va="center", color=shade)
    ax.set_xticks(range(len(steps)), [f"{r:g}:1" for r in steps])
    labels = [f"incast {senders}:1" if n == "incast" else n for n in PATTERNS]
    ax.set_yticks(range(len(labels)), labels)
    ax.set_xlabel("oversubscription, down:up")
    ax.set_title(f"share of {port_rate} left to each of {endpoints:,} endpoints [%]")
    return ax
