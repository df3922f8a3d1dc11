"""Dragonfly: groups of fully joined routers, joined by long links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from scalemath.core.errors import RangeError
from scalemath.hardware.fields import frozen, given
from scalemath.kernels import direct_networks as kernels
from scalemath.topology.counts import Counts
from scalemath.topology.routers import RouterFabric


@frozen
class Dragonfly(RouterFabric):
    """Groups of routers; inside a group all are joined, groups are joined by global links.

    Global ports are all used; with fewer groups than fit, pairs of groups have more than one
    link, spread evenly.

    Parameters
    ----------
    groups : int
        Number of groups.
    routers_per_group : int
        Routers of a group, usually called a.
    endpoints_per_router : int
        Endpoints of a router, p.
    global_ports : int
        Ports of a router to other groups, h; balanced networks have a = 2p = 2h.
    port_rate : Quantity [byte/s/dir], optional
        Rate of every link; a bare rate counts per direction.
    radix : int, optional
        Ports of a router, if more than are used.

    References
    ----------
    Described in [Kim2008]_.

    Examples
    --------
    >>> small = Dragonfly(groups=9, routers_per_group=4, endpoints_per_router=2, global_ports=2)
    >>> small.endpoints, small.ports_per_router, small.links["between"]
    (72, 7, 36)
    """

    groups: int = given("count >= 1")
    routers_per_group: int = given("count >= 1")
    endpoints_per_router: int = given("count >= 1")
    global_ports: int = given("count >= 1")
    port_rate: Any = given("byte/s/dir > 0", None)
    radix: int | None = given("count >= 2", None)

    def __attrs_post_init__(self) -> None:
        most = self.routers_per_group * self.global_ports + 1
        if self.groups > most:
            raise RangeError(
                f"Dragonfly: {self.groups} groups, but {self.routers_per_group} routers with "
                f"{self.global_ports} global ports each reach {most - 1} others: at most "
                f"{most} groups"
            )
        self.check_radix()

    @classmethod
    def balanced(cls, radix: int, *, groups: int | None = None, port_rate: Any = None) -> Dragonfly:
        """Largest dragonfly of a radix with a = 2p = 2h.

        Parameters
        ----------
        radix : int
            Ports of a router.
        groups : int, optional
            Groups, if fewer than fit.
        port_rate : Quantity [byte/s/dir], optional
            Rate of every link.

        Returns
        -------
        Dragonfly
            With p = h = floor((radix + 1) / 4).
        """
        half = (radix + 1) // 4
        return cls(
            groups=2 * half * half + 1 if groups is None else groups,
            routers_per_group=2 * half,
            endpoints_per_router=half,
            global_ports=half,
            port_rate=port_rate,
            radix=radix,
        )

    def _sizes(self) -> tuple[float, float, float, float]:
        return (
            float(self.groups),
            float(self.routers_per_group),
            float(self.endpoints_per_router),
            float(self.global_ports),
        )

    @property
    def routers(self) -> int:
        """Number of routers."""
        return self.groups * self.routers_per_group

    @property
    def ports_per_router(self) -> int:
        """Ports a router uses."""
        long = self.global_ports if self.groups > 1 else 0
        return self.endpoints_per_router + self.routers_per_group - 1 + long

    @property
    def links(self) -> Counts:
        """Links by tier: endpoint, within groups, between groups."""
        return Counts(**kernels.dragonfly_links(*self._sizes())._asdict())

    @property
    def uniform_load(self) -> float:
        """Flow on the busiest link when every endpoint sends 1 to all others [1]."""
        return kernels.dragonfly_load(*self._sizes())

    @property
    def worst_load(self) -> float:
        """Flow on the busiest link that no permutation exceeds with two random phases [1]."""
        return kernels.dragonfly_valiant_load(*self._sizes())

    @property
    def cut_links(self) -> float:
        """Links between halves of the groups [1]."""
        groups, routers, _, ports = self._sizes()
        return kernels.dragonfly_bisection_links(groups, routers, ports)

    @property
    def diameter(self) -> int:
        """Longest shortest path between two routers [links]: local, global, local."""
        local = int(self.routers_per_group > 1)
        return local if self.groups == 1 else 1 + 2 * local

    def between(self, one: int, other: int) -> list[tuple[int, int]]:
        """Pairs of routers that join two groups.

        All pairs of groups get equally many links; what is left over goes in circles of growing
        step, and a last odd port per group to the group opposite.

        Parameters
        ----------
        one, other : int
            Numbers of two different groups.

        Returns
        -------
        list of tuple of int
            Router of the first group, router of the second; one pair per link.
        """
        if one > other:
            return [(x, y) for y, x in self.between(other, one)]
        groups, gap = self.groups, other - one
        base, rest = divmod(self.routers_per_group * self.global_ports, groups - 1)
        ports = [(k * (groups - 1) + other - 1, k * (groups - 1) + one) for k in range(base)]
        first = base * (groups - 1)
        for step, start, end in ((gap, one, other), (groups - gap, other, one)):
            if step <= rest // 2:
                begin = first + 2 * (step - 1)
                mine = begin + ((start - step) % groups < start)
                theirs = begin + (end < start)
                ports.append((mine, theirs) if start == one else (theirs, mine))
        opposite = gap == groups // 2 if groups % 2 == 0 else gap == 1 and one % 2 == 0
        if rest % 2 and opposite:
            last = first + 2 * (rest // 2)
            ports.append((last, last))
        size, each = self.routers_per_group, self.global_ports
        return [(one * size + i // each, other * size + j // each) for i, j in ports]

    def hops(self, a: int, b: int) -> int:
        """Routers a message passes on the shortest local-global-local path.

        Parameters
        ----------
        a, b : int
            Numbers of two endpoints.

        Returns
        -------
        int
            0 for an endpoint and itself, up to 4.
        """
        self.check_endpoint(a, b)
        one, other = self.router_of(a), self.router_of(b)
        if a == b or one == other:
            return int(a != b)
        first, second = one // self.routers_per_group, other // self.routers_per_group
        if first == second:
            return 2
        far = self.between(first, second)
        return min(2 + (x not in (one, other)) + (y not in (one, other)) for x, y in far)

    def router_links(self) -> Iterator[tuple[int, int, int, str]]:
        """Links between routers as two numbers, a count and a tier."""
        size = self.routers_per_group
        for group in range(self.groups):
            for i in range(size):
                for j in range(i + 1, size):
                    yield group * size + i, group * size + j, 1, "within"
        for first in range(self.groups):
            for second in range(first + 1, self.groups):
                for (one, other), links in Counter(self.between(first, second)).items():
                    yield one, other, links, "between"

    def describe_size(self) -> str:
        """Say how many groups fit."""
        most = self.routers_per_group * self.global_ports + 1
        full = most * self.routers_per_group * self.endpoints_per_router
        return f"{self.groups:,} of at most {most:,} groups ({full:,} endpoints)"

    def __str__(self) -> str:
        return (
            f"dragonfly, {self.endpoints:,} endpoints, {self.groups:,} groups of "
            f"{self.routers_per_group} routers with {self.endpoints_per_router} endpoints and "
            f"{self.global_ports} global ports"
        )
