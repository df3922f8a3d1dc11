"""A full mesh: every pair of endpoints has its own links and no switch between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import changed, frozen, given, si
from scalemath.kernels.direct_networks import full_mesh_bisection_links, full_mesh_links
from scalemath.topology.counts import Counts, check_loss
from scalemath.topology.fabric import Fabric
from scalemath.topology.graph import Edge


@frozen
class FullMesh(Fabric):
    """Direct links between all pairs, as xGMI joins eight accelerators.

    Messages take the direct link: one peer gets the rate of one pair, not the sum of all.

    Parameters
    ----------
    endpoints : int
        Accelerators.
    link_rate : Quantity [byte/s/dir], optional
        Rate of one link per direction; a bare rate counts per direction.
    links_per_pair : int
        Parallel links of a pair.

    Examples
    --------
    >>> mesh = FullMesh(endpoints=8, link_rate="64 GB/s/dir")
    >>> print(mesh.injection_bandwidth, mesh.per_peer_bandwidth)
    448 GB/s/dir 64 GB/s/dir
    """

    endpoints: int = given("count >= 2")
    link_rate: Any = given("byte/s/dir > 0", None)
    links_per_pair: int = given("count >= 1", 1)
    lost_links: int = given("count", 0)

    forwarding_endpoints = True

    @property
    def port_rate(self) -> Any:
        """Rate of all links of one endpoint."""
        return None if self.link_rate is None else self.link_rate * self._ports_each

    @property
    def _ports_each(self) -> int:
        return (self.endpoints - 1) * self.links_per_pair

    @property
    def switches(self) -> Counts:
        """No switches."""
        return Counts()

    @property
    def links(self) -> Counts:
        """Links between endpoints."""
        whole = full_mesh_links(float(self.endpoints), float(self.links_per_pair))
        return Counts(mesh=whole - self.lost_links)

    @property
    def ports(self) -> dict[str, tuple[int, int]]:
        """No switch ports."""
        return {}

    @property
    def diameter(self) -> int:
        """Longest shortest path between two endpoints [links]."""
        return 1

    def hops(self, a: int, b: int) -> int:
        """Links a message passes: one.

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
        return int(a != b)

    def _pair(self) -> float:
        if self.link_rate is None:
            raise ArgumentError("FullMesh: link_rate is missing; write link_rate='64 GB/s/dir'")
        return si(self, "link_rate") * (self.links_per_pair - self.lost_links)

    def lower_port(self) -> float:
        """Rate of all links of one endpoint per direction [byte/s]."""
        self._pair()
        return si(self, "link_rate") * (self._ports_each - self.lost_links)

    def lower_traffic(self, pattern: str, senders: int) -> float:  # noqa: ARG002
        """Bandwidth per endpoint [byte/s] over direct links; each sender has its own."""
        pair = self._pair()
        if pattern in ("uniform all-to-all", "rail-aligned all-to-all"):
            return pair * (self.endpoints - 1)
        return pair

    def lower_bisection(self) -> float:
        """One-way bisection [byte/s]."""
        links = full_mesh_bisection_links(float(self.endpoints), float(self.links_per_pair))
        self._pair()
        return (links - self.lost_links) * si(self, "link_rate")

    @property
    def injection_bandwidth(self) -> Any:
        """Rate of one endpoint into all its links at once."""
        return figure(self.lower_port(), "byte/s/dir", "GB/s/dir")

    @property
    def per_peer_bandwidth(self) -> Any:
        """Rate to one peer, alone or while all others are served."""
        return figure(self._pair(), "byte/s/dir", "GB/s/dir")

    def without(self, *, links: int = 0) -> FullMesh:
        """Return the mesh after links of one pair fail.

        Parameters
        ----------
        links : int
            Links lost, all of one pair.

        Returns
        -------
        FullMesh
            The same mesh with less.
        """
        check_loss("links", links)
        lost = self.lost_links + links
        if lost >= self.links_per_pair:
            raise RangeError(
                f"without: {lost} of the {self.links_per_pair} link(s) of a pair; one must be "
                "left, for messages take the direct link"
            )
        copy: FullMesh = changed(self, lost_links=lost)
        return copy

    def edges(self) -> Iterator[Edge]:
        """Edges of the graph, in units of one endpoint's links together."""
        share = 1.0 / (self.endpoints - 1)
        for i in range(self.endpoints):
            for j in range(i + 1, self.endpoints):
                yield Edge(f"e{i}", f"e{j}", self.links_per_pair, share, "mesh")

    def __str__(self) -> str:
        return f"full mesh, {self.endpoints} endpoints, {self.links['mesh']:,} links"
