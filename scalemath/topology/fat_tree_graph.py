"""The explicit links of a fat tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scalemath.topology.graph import Edge

if TYPE_CHECKING:
    from scalemath.topology.fat_tree import FatTree


def fat_tree_edges(tree: FatTree) -> Iterator[Edge]:
    """Edges of every plane that is left, made one by one.

    Parameters
    ----------
    tree : FatTree
        The fabric.

    Yields
    ------
    Edge
        Rates are in units of one endpoint's port over all planes.
    """
    shape, parts = tree.layout, tree.planes * tree.homes
    up_rate = tree.uplink_width / parts
    for plane in range(tree.planes - tree.lost.planes):
        mark = f"p{plane}."
        for i in range(tree.endpoints):
            for home in range(tree.homes):
                leaf = f"{mark}leaf{tree.leaf_of(i, home)}"
                yield Edge(f"e{i}", leaf, 1, 1.0 / parts, "endpoint")
        if tree.tiers == 1:
            continue
        per_pod, spines = int(shape.leaves_per_pod), int(shape.spines_per_pod)
        width = tree.leaf_up // spines
        for number in range(int(shape.leaves)):
            for s in range(spines):
                spine = f"{mark}spine{number // per_pod * spines + s}"
                yield Edge(f"{mark}leaf{number}", spine, width, width * up_rate, "leaf_spine")
        if tree.tiers == 2:
            continue
        cores, up = int(shape.cores), int(shape.spine_up)
        for number in range(int(shape.spines)):
            first = number % spines * up
            widths = Counter((first + port) % cores for port in range(up))
            for core, links in widths.items():
                rate = links * up_rate
                yield Edge(f"{mark}spine{number}", f"{mark}core{core}", links, rate, "spine_core")
