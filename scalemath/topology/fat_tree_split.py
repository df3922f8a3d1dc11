"""How the ports of a leaf are shared out between endpoints and uplinks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.hardware.fields import si
from scalemath.kernels.fat_tree import tier_uplinks

if TYPE_CHECKING:
    from scalemath.topology.fat_tree import FatTree


class LeafSplit(NamedTuple):
    """Ports of a leaf: `down` endpoint links and `up` uplinks.

    `ports_per_uplink` is the rate of an uplink over that of an endpoint's link,
    `spine_radix` the ports of the switches above at the uplink's rate.
    """

    down: int
    up: int
    ports_per_uplink: float
    spine_radix: int

    @staticmethod
    def full(radix: int, oversubscription: float) -> LeafSplit:
        """Share out all ports of a leaf at a ratio, rounded down to whole uplinks."""
        up = int(tier_uplinks(float(radix), oversubscription))
        return LeafSplit(int(up * oversubscription + 1e-9), up, 1.0, radix)

    def capacity(self, tiers: int, homes: int, spine_ratio: float) -> int:
        """Endpoints that fit below the switches of a number of tiers."""
        if tiers == 1:
            return self.down
        leaves = self.spine_radix
        if tiers == 3:
            up = int(tier_uplinks(float(self.spine_radix), spine_ratio))
            leaves *= int(up * spine_ratio + 1e-9)
        return self.down * (leaves // homes)


def leaf_split(tree: FatTree, tiers: int) -> LeafSplit:
    """Share out the ports of a leaf as the fields of a fat tree ask for it.

    Parameters
    ----------
    tree : FatTree
        Fields as given.
    tiers : int
        Number of tiers to be built.

    Returns
    -------
    LeafSplit
        Whole numbers of ports.

    Raises
    ------
    ContradictionError
        If the uplinks come out broken, or the ports are more than the switch has.
    """
    share = _uplink_share(tree)
    spine_radix = tree.spine_radix or int(tree.radix / share + 1e-9)
    ratio = tree.oversubscription[0]
    down, up = tree.endpoints_per_leaf, tree.uplinks_per_leaf
    if tiers == 1:
        return LeafSplit(min(down or tree.radix, tree.radix), 0, share, spine_radix)
    if down is not None and up is not None:
        stated = down / (up * share)
        if ratio not in (1.0, stated) and abs(stated / ratio - 1.0) > 1e-3:
            raise ContradictionError(
                f"FatTree: {down} endpoints over {up} uplinks are down:up {stated:.6g}:1, "
                f"not {ratio:g}:1; leave oversubscription or one of the counts out"
            )
    elif down is not None:
        up = _whole(down / (ratio * share), f"{down} endpoints per leaf at down:up {ratio:g}:1")
    elif up is not None:
        down = _whole(up * share * ratio, f"{up} uplinks per leaf at down:up {ratio:g}:1")
    else:
        up = int(tree.radix / (share * (1.0 + ratio)) + 1e-9)
        exact = up * share * ratio
        if abs(exact - round(exact)) > 1e-6:
            raise _broken(tree, ratio, share, up, exact)
        down = round(exact)
    if down < 1 or up < 1:
        raise RangeError(
            f"FatTree: a leaf of {tree.radix} ports at down:up {ratio:g}:1 has no port left "
            "for one of the two sides"
        )
    used = down + up * share
    if used > tree.radix + 1e-9:
        raise ContradictionError(
            f"FatTree: {down} endpoints and {up} uplinks take {used:g} ports of a leaf that has "
            f"{tree.radix}"
        )
    return LeafSplit(down, up, share, spine_radix)


def _uplink_share(tree: FatTree) -> float:
    """Rate of an uplink over the rate of an endpoint's link."""
    if tree.uplink_rate is None:
        return 1.0
    if tree.port_rate is None:
        raise ArgumentError("FatTree: uplink_rate is given, so port_rate is needed as well")
    link = si(tree, "port_rate") / (tree.planes * tree.homes)
    return si(tree, "uplink_rate") / link


def _whole(value: float, how: str) -> int:
    if abs(value - round(value)) > 1e-6 or value < 0.5:
        raise ContradictionError(
            f"FatTree: {how} do not divide: {value:.6g} links; choose counts that divide"
        )
    return round(value)


def _broken(tree: FatTree, ratio: float, share: float, up: int, exact: float) -> ContradictionError:
    fits = (n for n in range(up, 0, -1) if abs(n * share * ratio % 1.0) < 1e-6)
    best = next(fits, None)
    hint = ""
    if best is not None:
        hint = (
            f"; write endpoints_per_leaf={round(best * share * ratio)}, which takes {best} uplinks"
        )
    return ContradictionError(
        f"FatTree: {tree.radix} ports do not divide at down:up {ratio:g}:1: {up} uplinks would "
        f"serve {exact:.6g} endpoints{hint}"
    )


def no_fit(tree: FatTree, tiers: int, split: LeafSplit) -> RangeError:
    """Say by how much the endpoints are too many.

    Parameters
    ----------
    tree : FatTree
        Fields as given.
    tiers : int
        Largest number of tiers tried.
    split : LeafSplit
        Ports of a leaf.

    Returns
    -------
    RangeError
        The error to raise.
    """
    fits = split.capacity(tiers, tree.homes, tree.oversubscription[1])
    if tree.endpoints > fits:
        return RangeError(
            f"FatTree: {tree.endpoints:,} endpoints do not fit into {tiers} tier(s) of radix "
            f"{tree.radix}, which hold {fits:,}; take more tiers, a larger radix or more planes"
        )
    return RangeError(
        f"FatTree: {tree.endpoints:,} endpoints on {tree.rails} rails with {tree.homes} home(s) "
        f"and pods of {tree.leaves_per_pod or 'any'} leaves do not fit into {tiers} tier(s) of "
        f"radix {tree.radix}: rails and pods need whole leaves"
    )
