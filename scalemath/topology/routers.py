"""What dragonfly, slim fly and HyperX share: endpoints on routers, all links at one rate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.kernels.direct_networks import load_bandwidth
from scalemath.topology.counts import Counts
from scalemath.topology.fabric import Fabric
from scalemath.topology.graph import Edge


class RouterFabric(Fabric):
    """Base of networks whose routers all have endpoints.

    A subclass states routers, ports per router, the links between routers, and the flow a unit
    of traffic puts on the busiest link: `uniform_load` on minimal paths, `worst_load` when
    every flow first goes to a random router (Valiant), which bounds every permutation.
    """

    __slots__ = ()

    endpoints_per_router: int | None
    radix: int | None

    @property
    @abstractmethod
    def routers(self) -> int:
        """Number of routers."""

    @property
    @abstractmethod
    def ports_per_router(self) -> int:
        """Ports a router uses, endpoints included."""

    @property
    @abstractmethod
    def uniform_load(self) -> float:
        """Flow on the busiest link when every endpoint sends 1 to all others [1]."""

    @property
    @abstractmethod
    def worst_load(self) -> float:
        """Flow on the busiest link that no permutation exceeds with two random phases [1]."""

    @property
    @abstractmethod
    def cut_links(self) -> float:
        """Links over the even worst-case cut between routers [1]."""

    @abstractmethod
    def router_links(self) -> Iterator[tuple[int, int, int, str]]:
        """Links between routers as two numbers, a count and a tier."""

    @property
    def attached(self) -> int:
        """Endpoints of one router."""
        return self.endpoints_per_router or 0

    @property
    def endpoints(self) -> int:  # type: ignore[override]
        """Number of endpoints."""
        return self.routers * self.attached

    @property
    def switches(self) -> Counts:
        """Routers."""
        return Counts(router=self.routers)

    @property
    def ports(self) -> dict[str, tuple[int, int]]:
        """Ports of all routers, and how many of them carry a link."""
        links = self.links
        used = links["endpoint"] + 2 * (links.total - links["endpoint"])
        return {"router": (self.routers * (self.radix or self.ports_per_router), used)}

    def check_radix(self) -> None:
        """Refuse a router with fewer ports than the network needs."""
        if self.radix is not None and self.radix < self.ports_per_router:
            raise RangeError(
                f"{type(self).__name__}: a router needs {self.ports_per_router} ports, the radix "
                f"is {self.radix}"
            )

    def router_of(self, endpoint: int) -> int:
        """Router an endpoint is connected to.

        Parameters
        ----------
        endpoint : int
            Number of the endpoint.

        Returns
        -------
        int
            Number of the router.
        """
        return endpoint // self.attached

    def lower_traffic(self, pattern: str, senders: int) -> float:
        """Bandwidth per endpoint [byte/s] with routing that balances links."""
        port = self.lower_port()
        if pattern == "incast":
            return port / senders
        if pattern == "leaf-contiguous ring":
            return port
        if pattern == "uniform all-to-all":
            return load_bandwidth(port, self.uniform_load, 1.0)
        if pattern == "worst permutation":
            return load_bandwidth(port, self.worst_load, 1.0)
        raise ArgumentError(
            f"traffic {pattern!r} has no closed form in a {type(self).__name__}; permutations "
            "lie between 'worst permutation' and 'uniform all-to-all', and there are no rails"
        )

    def lower_bisection(self) -> float:
        """One-way bisection [byte/s], at most what half the endpoints send."""
        return self.lower_port() * min(self.cut_links, self.endpoints / 2.0)

    def switch_names(self) -> Iterator[str]:
        """Names of the routers."""
        return (f"router{i}" for i in range(self.routers))

    def edges(self) -> Iterator[Edge]:
        """Edges of the graph, in units of one endpoint's port."""
        for i in range(self.endpoints):
            yield Edge(f"e{i}", f"router{self.router_of(i)}", 1, 1.0, "endpoint")
        for one, other, links, tier in self.router_links():
            yield Edge(f"router{one}", f"router{other}", links, float(links), tier)
