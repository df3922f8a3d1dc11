"""What remains of a fat tree when planes, switches or links fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scalemath.core.errors import RangeError
from scalemath.kernels.fat_tree import FatTreeLoads
from scalemath.topology.counts import check_loss

if TYPE_CHECKING:
    from scalemath.topology.fat_tree import FatTree


class Losses(NamedTuple):
    """What failed; several losses of a kind hit the same endpoints."""

    planes: int = 0
    spines: int = 0
    leaves: int = 0
    uplinks: int = 0
    endpoint_links: int = 0

    def port_share(self, tree: FatTree) -> float:
        """Share of its port that the worst-off endpoint keeps."""
        parts = tree.planes * tree.homes
        gone = self.planes * tree.homes + self.leaves + self.endpoint_links
        return max(parts - gone, 0) / parts

    def __str__(self) -> str:
        parts = [f"{n} {name.replace('_', ' ')}" for name, n in self._asdict().items() if n]
        return ", ".join(parts) or "nothing"


def losses(
    tree: FatTree, planes: int, spines: int, leaves: int, uplinks: int, endpoint_links: int
) -> Losses:
    """Add losses to those a fat tree has already, and check that there is as much to lose.

    Parameters
    ----------
    tree : FatTree
        The fabric before.
    planes, spines, leaves, uplinks, endpoint_links : int
        What fails.

    Returns
    -------
    Losses
        All losses together.

    Raises
    ------
    RangeError
        If there is not that much of it, or an endpoint would be cut off.
    """
    asked = Losses(planes, spines, leaves, uplinks, endpoint_links)
    for lost_name, number in asked._asdict().items():
        check_loss(lost_name, number)
    total = Losses(*(a + b for a, b in zip(asked, tree.lost, strict=True)))
    shape = tree.layout
    there = Losses(
        tree.planes,
        int(shape.spines_per_pod),
        int(shape.leaves),
        tree.leaf_up,
        tree.planes * tree.homes,
    )
    for name, lost, most in zip(Losses._fields, total, there, strict=True):
        if lost and lost >= most:
            raise RangeError(
                f"without: {lost} of {most} {name.replace('_', ' ')} lost leaves endpoints "
                "without a path"
            )
    if total.port_share(tree) <= 0.0:
        raise RangeError(
            f"without: {total} cut off {tree.leaf_down} endpoints, which have "
            f"{tree.planes * tree.homes} link(s) each; the others keep their bandwidth"
        )
    return total


def remaining(tree: FatTree, whole: FatTreeLoads) -> FatTreeLoads:
    """Take losses off the uplinks, in units of the port that remains.

    Parameters
    ----------
    tree : FatTree
        The fabric with its losses.
    whole : FatTreeLoads
        What it had before.

    Returns
    -------
    FatTreeLoads
        What the worst-off leaf and pod have left.
    """
    lost = tree.lost
    if lost == Losses():
        return whole
    kept = (tree.planes - lost.planes) / tree.planes
    share = lost.port_share(tree)
    parts = tree.planes * tree.homes
    by_spines = lost.spines / max(tree.layout.spines_per_pod, 1.0) / tree.planes
    by_links = lost.uplinks / max(tree.leaf_up, 1) / parts
    by_leaves = lost.leaves / parts
    leaf = whole.leaf_uplinks * (kept - by_spines - by_links - by_leaves)
    pod = whole.pod_uplinks * (kept - by_spines)
    return FatTreeLoads(whole.leaf_endpoints, leaf / share, whole.pod_endpoints, pod / share)
