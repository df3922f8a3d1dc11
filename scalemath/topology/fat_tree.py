"""Fat trees of one to three tiers: any size, oversubscribed, with rails, planes and two homes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from attrs import field

from scalemath.core.errors import ContradictionError, RangeError
from scalemath.hardware.fields import changed, frozen, given
from scalemath.kernels import fabric_traffic
from scalemath.kernels.fat_tree import FatTreeLayout, FatTreeLoads, fat_tree_layout
from scalemath.topology.counts import Counts
from scalemath.topology.fabric import Fabric
from scalemath.topology.fat_tree_fields import down_up_ratios, tier_count
from scalemath.topology.fat_tree_graph import fat_tree_edges
from scalemath.topology.fat_tree_losses import Losses, losses, remaining
from scalemath.topology.fat_tree_split import LeafSplit, leaf_split, no_fit
from scalemath.topology.graph import Edge

TRAFFIC = {
    "leaf-contiguous ring": fabric_traffic.traffic_leaf_ring,
    "random permutation": fabric_traffic.traffic_random_permutation,
    "worst permutation": fabric_traffic.traffic_worst_permutation,
    "uniform all-to-all": fabric_traffic.traffic_uniform,
    "incast": fabric_traffic.traffic_incast,
    "rail-aligned all-to-all": fabric_traffic.traffic_rail_aligned,
}
"""Kernel of every traffic pattern."""


@frozen
class FatTree(Fabric):
    """A folded Clos network as it is built from whole switches.

    Leaves have their endpoints below and their uplinks above; the uplinks of a leaf spread
    evenly over the spines of its pod, so the number of spines divides them. Every switch of a
    tier is cabled alike, the last one may be partly filled.

    Parameters
    ----------
    endpoints : int
        Network ports to be joined, as many as there are NICs or GPUs; with planes each is
        split over all planes.
    radix : int
        Ports of a switch, counted at the rate of one plane's link.
    tiers : int or "auto"
        1, 2 or 3; the fewest that hold the endpoints by default.
    oversubscription : float, str or pair
        Down-capacity over up-capacity of a leaf, as 4 or "4:1"; a pair gives leaf and spine.
    planes : int
        Independent copies over which every endpoint's port is split.
    rails : int
        Leaf groups: endpoint i sits on rail i mod `rails`, and a leaf serves one rail.
    port_rate : Quantity [byte/s/dir], optional
        Rate of one endpoint over all planes; a bare rate counts per direction.
    endpoints_per_leaf, uplinks_per_leaf : int, optional
        Ports of a leaf used below and above, when not all are.
    uplink_rate : Quantity [byte/s/dir], optional
        Rate of a link above the leaf, when it is not that of an endpoint's link.
    homes : int
        Leaves of one plane that every endpoint is connected to (2 for dual ToR).
    leaves_per_pod, spines_per_pod : int, optional
        Size of a pod, when it is not the one that follows.
    spine_radix : int, optional
        Ports of spine and core switches at the uplink's rate.
    endpoint_split : int
        Endpoint links that share one switch port and cable (2 for one 400G port to two 200G).

    Examples
    --------
    >>> fabric = FatTree(endpoints=2048, radix=64, port_rate="400 Gb/s")
    >>> fabric.tiers, fabric.switches["leaf"], fabric.switches["spine"]
    (2, 64, 32)
    """

    endpoints: int = given("count >= 1")
    radix: int = given("count >= 2")
    tiers: Any = field(default="auto", converter=tier_count, kw_only=True)
    oversubscription: Any = field(default=1, converter=down_up_ratios, kw_only=True)
    planes: int = given("count >= 1", 1)
    rails: int = given("count >= 1", 1)
    port_rate: Any = given("byte/s/dir > 0", None)
    endpoints_per_leaf: int | None = given("count >= 1", None)
    uplinks_per_leaf: int | None = given("count >= 1", None)
    uplink_rate: Any = given("byte/s/dir > 0", None)
    homes: int = given("count >= 1", 1)
    leaves_per_pod: int | None = given("count >= 1", None)
    spines_per_pod: int | None = given("count >= 1", None)
    spine_radix: int | None = given("count >= 2", None)
    endpoint_split: int = given("count >= 1", 1)
    lost: Losses = field(default=Losses(), kw_only=True)
    _shape: FatTreeLayout = field(init=False, eq=False, repr=False)
    _leaf: LeafSplit = field(init=False, eq=False, repr=False)
    _auto: bool = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.radix % 2:
            raise RangeError(
                f"FatTree: radix is {self.radix}; a switch has an even number of ports, "
                f"write radix={self.radix - 1} or radix={self.radix + 1}"
            )
        if self.rails > self.endpoints:
            raise RangeError(
                f"FatTree: {self.rails} rails are more than the {self.endpoints} endpoints"
            )
        set_once = object.__setattr__
        wanted = self.tiers
        set_once(self, "_auto", not wanted)
        simple = self.rails == 1 and self.homes == 1 and self.endpoints_per_leaf is None
        tries = (wanted,) if wanted else ((1, 2, 3) if simple else (2, 3))
        for tiers in tries:
            split = leaf_split(self, tiers)
            shape = self._layout(tiers, split)
            if shape.leaves < math.inf:
                set_once(self, "tiers", tiers)
                set_once(self, "_leaf", split)
                set_once(self, "_shape", shape)
                return
        raise no_fit(self, tries[-1], leaf_split(self, tries[-1]))

    def _layout(self, tiers: int, split: LeafSplit) -> FatTreeLayout:
        spines = float(self.spines_per_pod or 0)
        if spines and split.up % spines:
            raise ContradictionError(
                f"FatTree: {split.up} uplinks of a leaf do not divide over {spines:g} spines; "
                f"spines_per_pod must divide {split.up}"
            )
        return fat_tree_layout(
            float(self.endpoints),
            float(self.rails),
            float(self.homes),
            float(tiers),
            float(split.down),
            float(split.up),
            float(split.spine_radix),
            self.oversubscription[1],
            float(self.leaves_per_pod or 0),
            spines,
        )

    # --- counts ---------------------------------------------------------------------------

    @property
    def leaf_down(self) -> int:
        """Endpoint links a full leaf has below."""
        return self._leaf.down

    @property
    def leaf_up(self) -> int:
        """Uplinks every leaf has."""
        return self._leaf.up if self.tiers > 1 else 0

    @property
    def pods(self) -> int:
        """Pods of one plane; 1 below three tiers."""
        return int(self._shape.pods)

    @property
    def layout(self) -> FatTreeLayout:
        """Counts of one plane: leaves, spines, cores, pods and ports in use."""
        return self._shape

    @property
    def switches(self) -> Counts:
        """Switches by role: leaf, spine, core."""
        planes, shape, lost = self.planes - self.lost.planes, self._shape, self.lost
        found: dict[str, float] = {"leaf": planes * shape.leaves - lost.leaves}
        if self.tiers > 1:
            found["spine"] = planes * shape.spines - lost.spines
        if self.tiers > 2:
            found["core"] = planes * shape.cores
        return Counts(**found)

    @property
    def links(self) -> Counts:
        """Links by tier: endpoint, leaf_spine, spine_core."""
        planes, shape = self.planes - self.lost.planes, self._shape
        links = planes * self.homes * self.endpoints - self.lost.endpoint_links
        found: dict[str, float] = {"endpoint": links}
        if self.tiers > 1:
            found["leaf_spine"] = planes * shape.leaves * self._leaf.up - self.lost.uplinks
        if self.tiers > 2:
            found["spine_core"] = planes * shape.spines * shape.spine_up
        return Counts(**found)

    @property
    def ideal_links(self) -> Counts:
        """Links if switches came in fractions: the usual rule of thumb, endpoints per tier."""
        each = self.endpoints * self.planes * self.homes
        over = self.oversubscription
        counts = {"endpoint": float(each)}
        if self.tiers > 1:
            counts["leaf_spine"] = each / over[0]
        if self.tiers > 2:
            counts["spine_core"] = each / over[0] / over[1]
        return Counts(**counts)

    @property
    def split(self) -> dict[str, int]:
        """Links that share one cable, by tier."""
        return {"endpoint": self.endpoint_split} if self.endpoint_split > 1 else {}

    @property
    def ports(self) -> dict[str, tuple[int, int]]:
        """Ports of all switches of a role, and how many of them carry a link."""
        links, switches = self.links, self.switches
        per_up = self._leaf.ports_per_uplink
        up, top = links.get("leaf_spine", 0), links.get("spine_core", 0)
        found = {"leaf": (switches["leaf"] * self.radix, links["endpoint"] + round(up * per_up))}
        for role, used in (("spine", up + top), ("core", top)):
            if role in switches:
                found[role] = (switches[role] * self._leaf.spine_radix, used)
        return found

    @property
    def capacity(self) -> int:
        """Endpoints the same switches, ratio and number of tiers could hold at most."""
        return self._leaf.capacity(self.tiers, self.homes, self.oversubscription[1])

    @property
    def diameter(self) -> int:
        """Longest shortest path between two switches that serve endpoints [links]."""
        if self._shape.leaves <= 1:
            return 0
        return 4 if self.pods > 1 else 2

    def hops(self, a: int, b: int) -> int:
        """Switches a message passes: 1 under one leaf, 3 in one pod, 5 across pods.

        Parameters
        ----------
        a, b : int
            Numbers of two endpoints.

        Returns
        -------
        int
            0 for an endpoint and itself.
        """
        self.check_endpoint(a, b)
        if a == b:
            return 0
        one, other = self.leaf_of(a), self.leaf_of(b)
        if one == other:
            return 1
        per_pod = int(self._shape.leaves_per_pod)
        return 3 if one // per_pod == other // per_pod else 5

    def leaf_of(self, endpoint: int, home: int = 0) -> int:
        """Number of the leaf an endpoint is connected to.

        Parameters
        ----------
        endpoint : int
            Number of the endpoint.
        home : int
            Which of its leaves, with more than one.

        Returns
        -------
        int
            Leaf number within a plane.
        """
        rail, place = endpoint % self.rails, endpoint // self.rails
        return ((place // self._leaf.down) * self.rails + rail) * self.homes + home

    # --- bandwidth ------------------------------------------------------------------------

    @property
    def uplink_width(self) -> float:
        """Rate of an uplink over that of an endpoint's link [1]."""
        return self._leaf.ports_per_uplink

    def lower(self) -> FatTreeLoads:
        """Endpoints below and uplinks above the fullest leaf and pod, losses taken off."""
        shape, leaf = self._shape, self._leaf
        full = min(leaf.down, math.ceil(self.endpoints / self.rails))
        if self.tiers == 1:
            return FatTreeLoads(float(self.endpoints), 0.0, float(self.endpoints), 0.0)
        pod, top = float(self.endpoints), 0.0
        if self.pods > 1:
            pod = min(pod, shape.leaves_per_pod * full / self.homes)
            top = shape.spines_per_pod * shape.spine_up * leaf.ports_per_uplink / self.homes
        whole = FatTreeLoads(float(full), leaf.up * leaf.ports_per_uplink, pod, top)
        return remaining(self, whole)

    def lower_port(self) -> float:
        """Rate of the worst-off endpoint per direction [byte/s], losses taken off."""
        return super().lower_port() * self.lost.port_share(self)

    def lower_traffic(self, pattern: str, senders: int) -> float:
        """Bandwidth per endpoint under a traffic pattern [byte/s]."""
        port, loads = self.lower_port(), self.lower()
        return float(
            TRAFFIC[pattern](port, float(self.endpoints), *loads, float(self.rails), float(senders))
        )

    def lower_bisection(self) -> float:
        """One-way bisection [byte/s]: half the endpoints at the worst permutation's rate."""
        return fabric_traffic.fat_tree_bisection(
            self.lower_port(), float(self.endpoints), *self.lower()
        )

    def without(
        self,
        *,
        planes: int = 0,
        spines: int = 0,
        leaves: int = 0,
        uplinks: int = 0,
        endpoint_links: int = 0,
    ) -> FatTree:
        """Return the fabric after a loss, seen by the worst-off endpoint.

        Parameters
        ----------
        planes : int
            Planes lost.
        spines : int
            Spines lost, all in one pod of one plane.
        leaves : int
            Leaves lost, all of them leaves of the same endpoints where there are several.
        uplinks, endpoint_links : int
            Links lost, all at one leaf or one endpoint.

        Returns
        -------
        FatTree
            The same fabric with less; `lost` says what.
        """
        more = losses(self, planes, spines, leaves, uplinks, endpoint_links)
        copy: FatTree = changed(self, tiers=self.tiers, lost=more)
        return copy

    # --- graph and words ------------------------------------------------------------------

    def switch_names(self) -> Iterator[str]:
        """Names of the switches: plane, role, number."""
        for plane in range(self.planes - self.lost.planes):
            for role, count in zip(("leaf", "spine", "core"), self._shape[:3], strict=True):
                yield from (f"p{plane}.{role}{i}" for i in range(int(count)))

    def edges(self) -> Iterator[Edge]:
        """Edges of the graph; losses other than planes are not drawn."""
        return fat_tree_edges(self)

    def describe_ratio(self) -> str:
        """Say down:up in words at every tier, as built."""
        if self.tiers == 1:
            return "no tier above the switch"
        leaf = self._leaf.down / (self._leaf.up * self._leaf.ports_per_uplink)
        text = f"down:up {leaf:.4g}:1 at the leaf"
        if self.tiers > 2:
            text += f", {self._shape.spine_down / self._shape.spine_up:.4g}:1 at the spine"
        return text

    def describe_size(self) -> str:
        """Say how many endpoints fit, and what the next size up is."""
        text = f"{self.endpoints:,} of at most {self.capacity:,} endpoints in {self.tiers} tier(s)"
        if self.tiers < 3:
            simple = LeafSplit.full(self.radix, self.oversubscription[0])
            larger = simple.capacity(self.tiers + 1, self.homes, self.oversubscription[1])
            text += f"; next size up: {self.tiers + 1} tiers, up to {larger:,}"
        return text

    def with_(self, **changes: Any) -> FatTree:
        """Return a copy with some fields replaced; tiers found automatically are found anew."""
        if self._auto:
            changes.setdefault("tiers", "auto")
        copy: FatTree = changed(self, **changes)
        return copy

    def __str__(self) -> str:
        planes = f"{self.planes} planes, " if self.planes > 1 else ""
        rails = f"{self.rails} rails, " if self.rails > 1 else ""
        gone = f", lost: {self.lost}" if self.lost != Losses() else ""
        return (
            f"fat tree, {self.endpoints:,} endpoints, {self.tiers} tier(s), {planes}{rails}"
            f"switches {self.switches}, {self.describe_ratio()}{gone}"
        )
