"""Sides of a torus, and networks inside networks, as the plain numbers kernels take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scalemath.core.errors import ArgumentError, ContradictionError

TIERS = ("inner", "middle", "outer")


def with_shape(name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Replace the sides of a torus in the arguments of a call by what kernels take.

    Parameters
    ----------
    name : str
        Function that was called.
    kwargs : dict
        Its arguments, `shape` among them.

    Returns
    -------
    dict
        Arguments with `ranks`, `ring_hops`, `half_hops`, `dimensions` and `longest`.
    """
    shape = kwargs["shape"]
    sides = list(shape) if isinstance(shape, Sequence) and not isinstance(shape, str) else []
    if not sides or not all(isinstance(side, int) and side >= 1 for side in sides):
        raise ArgumentError(
            f"{name}: shape is {shape!r}; write the sides of the torus as whole numbers, as in "
            "(8, 8)"
        )
    lowered = {
        "ranks": _agreed(name, kwargs, "shape", math.prod(sides)),
        "ring_hops": sum(side - 1 for side in sides),
        "half_hops": sum(side // 2 for side in sides),
        "dimensions": max(1, sum(side > 1 for side in sides)),
        "longest": max(sides),
    }
    return {k: v for k, v in kwargs.items() if k != "shape"} | lowered


def with_hierarchy(name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Replace networks inside networks in the arguments of a call by what kernels take.

    Parameters
    ----------
    name : str
        Function that was called.
    kwargs : dict
        Its arguments, `hierarchy` among them: two or three of (ranks, bandwidth, latency),
        the innermost first.

    Returns
    -------
    dict
        Arguments with `ranks` and the ranks, bandwidth and latency of three levels; a level
        that is not there has one rank.
    """
    levels = kwargs["hierarchy"]
    usable = isinstance(levels, Sequence) and len(levels) in (2, 3)
    if not usable or not all(isinstance(x, Sequence) and len(x) in (2, 3) for x in levels):
        raise ArgumentError(
            f"{name}: hierarchy is {levels!r}; write two or three of (ranks, bandwidth, latency), "
            "the innermost first, as in [(8, '900 GB/s/dir', '1 us'), (9, '100 GB/s/dir', '5 us')]"
        )
    twice = [n for n in ("bandwidth", "latency") if kwargs.get(n) is not None]
    if twice:
        raise ArgumentError(
            f"{name}: {', '.join(twice)} given together with hierarchy, which states it already"
        )
    three = [levels[0], (1, levels[0][1]), levels[1]] if len(levels) == 2 else list(levels)
    lowered: dict[str, Any] = {}
    for tier, level in zip(TIERS, three, strict=True):
        ranks, bandwidth, *rest = level
        lowered |= {
            f"{tier}_ranks": ranks,
            f"{tier}_bandwidth": bandwidth,
            f"{tier}_latency": rest[0] if rest else "0 s",
        }
    ranks = math.prod(level[0] for level in three)
    lowered["ranks"] = _agreed(name, kwargs, "hierarchy", ranks)
    lowered["bandwidth"] = lowered["inner_bandwidth"]
    lowered["latency"] = lowered["inner_latency"]
    kept = {k: v for k, v in kwargs.items() if k != "hierarchy"}
    return {"algorithm": "hierarchical"} | kept | lowered


def _agreed(name: str, kwargs: dict[str, Any], stated_by: str, ranks: int) -> int:
    """Refuse a rank count that contradicts what states it."""
    if kwargs.get("ranks") not in (None, ranks):
        raise ContradictionError(
            f"{name}: ranks is {kwargs['ranks']}, but {stated_by} holds {ranks}; leave ranks out"
        )
    return ranks
