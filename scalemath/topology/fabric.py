"""What every fabric answers: the common protocol, and the parts that follow from its counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.hooks import hook
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import changed, si
from scalemath.topology.counts import Counts
from scalemath.topology.graph import Edge, FabricGraph, build
from scalemath.topology.traffic import traffic as read_traffic

if TYPE_CHECKING:
    from scalemath.topology.bill import BillOfMaterials
    from scalemath.topology.latency import LatencyBudget
    from scalemath.topology.power import FabricPower


class Fabric(ABC):
    """Base of all topologies.

    A subclass states its counts and its traffic; counting cables, modules, watts, latencies
    and bills is done here once. `hops` counts the switches a message passes (in networks whose
    endpoints forward, the links); `diameter` is the longest shortest path between two switches.
    """

    __slots__ = ()

    endpoints: int
    port_rate: Any
    forwarding_endpoints = False
    """Whether endpoints are the switches, as in a torus."""

    # --- what a subclass states -----------------------------------------------------------

    @property
    @abstractmethod
    def switches(self) -> Counts:
        """Switches by role."""

    @property
    @abstractmethod
    def links(self) -> Counts:
        """Links by tier; "endpoint" holds those between endpoints and switches."""

    @property
    @abstractmethod
    def ports(self) -> dict[str, tuple[int, int]]:
        """Ports of all switches of a role, and how many of them carry a link."""

    @property
    @abstractmethod
    def diameter(self) -> int:
        """Longest shortest path between two switches [links]."""

    @abstractmethod
    def hops(self, a: int, b: int) -> int:
        """Switches a message passes between two endpoints."""

    @abstractmethod
    def lower_traffic(self, pattern: str, senders: int) -> float:
        """Bandwidth per endpoint under a traffic pattern [byte/s]."""

    @abstractmethod
    def lower_bisection(self) -> float:
        """One-way bisection [byte/s]."""

    def switch_names(self) -> Iterator[str]:
        """Names of the switches in the graph."""
        return iter(())

    @abstractmethod
    def edges(self) -> Iterator[Edge]:
        """Edges of the graph, made one by one."""

    # --- cables and modules ---------------------------------------------------------------

    @property
    def split(self) -> dict[str, int]:
        """Links that share one cable and one port of the upper switch, by tier."""
        return {}

    @property
    def cables(self) -> Counts:
        """Cables by tier; a split cable carries several links and counts once."""
        split = self.split
        return Counts(**{t: -(-n // split.get(t, 1)) for t, n in self.links.items()})

    def transceivers(self, copper: Iterable[str] = ()) -> Counts:
        """Optical modules by tier: two ends per link, one end shared where a cable splits.

        Parameters
        ----------
        copper : iterable of str
            Tiers cabled in copper, which have none.

        Returns
        -------
        Counts
            Modules by tier.
        """
        links, cables = self.links, self.cables
        without = self._tiers(copper)
        return Counts(**{t: 0 if t in without else links[t] + cables[t] for t in links})

    def _tiers(self, names: Iterable[str]) -> set[str]:
        given = {names} if isinstance(names, str) else set(names)
        unknown = given - set(self.links)
        if unknown:
            raise ArgumentError(
                f"{type(self).__name__} has no tier {', '.join(sorted(unknown))}; "
                f"there is {', '.join(self.links)}"
            )
        return given

    # --- bandwidth ------------------------------------------------------------------------

    def lower_port(self) -> float:
        """Rate of one endpoint per direction [byte/s]."""
        if self.port_rate is None:
            raise ArgumentError(
                f"{type(self).__name__}: port_rate is missing; write port_rate='800 Gb/s/dir'"
            )
        return si(self, "port_rate")

    def effective_bandwidth(
        self,
        traffic: str = "worst permutation",
        senders: int | None = None,
        *,
        efficiency: float = 1.0,
    ) -> Any:
        """Bandwidth per endpoint and direction that remains under a traffic pattern.

        Routing spreads flows evenly; the slowest endpoint counts.

        Parameters
        ----------
        traffic : str
            Name of the pattern, one of `topology.traffic.PATTERNS`.
        senders : int, optional
            Senders of an incast.
        efficiency : float
            Usable share of the links' rates [1], as of protocol or imperfect spraying.

        Returns
        -------
        Quantity [byte/s/dir]
            What every endpoint keeps at the same time.
        """
        if not 0.0 < efficiency <= 1.0:
            raise RangeError(f"efficiency is {efficiency}; wanted above 0 and at most 1")
        wanted = read_traffic(traffic, senders)
        if wanted.senders >= self.endpoints > 1:
            raise RangeError(
                f"traffic: {wanted.senders} senders and a receiver are more than the "
                f"{self.endpoints} endpoints"
            )
        kept = efficiency * self.lower_traffic(*wanted)
        return figure(kept, "byte/s/dir", "GB/s/dir")

    def bisection_bandwidth(self, *, both_directions: bool = False) -> Any:
        """Bandwidth across the even worst-case split.

        Parameters
        ----------
        both_directions : bool
            Sum of both ways over the cut, twice the one-way figure.

        Returns
        -------
        Quantity [byte/s]
            One-way bandwidth of the cut, or the sum of both ways.
        """
        ways = 2.0 if both_directions else 1.0
        value = ways * self.lower_bisection()
        return figure(value, "byte/s", "PB/s" if value >= 1e14 else "TB/s")

    @property
    def bisection_per_endpoint(self) -> Any:
        """One-way bisection over the endpoints of one half."""
        return figure(2.0 * self.lower_bisection() / self.endpoints, "byte/s/dir", "GB/s/dir")

    # --- ports ----------------------------------------------------------------------------

    @property
    def dark_ports(self) -> Counts:
        """Switch ports without a link, by role."""
        return Counts(**{role: there - used for role, (there, used) in self.ports.items()})

    # --- reports made elsewhere -----------------------------------------------------------

    def latency_budget(self, **parts: Any) -> LatencyBudget:
        """One-way and round-trip latency by part; see `topology.latency.latency_budget`."""
        from scalemath.topology.latency import latency_budget

        return latency_budget(self, **parts)

    def power(self, **parts: Any) -> FabricPower:
        """Power by part; see `topology.power.fabric_power`."""
        from scalemath.topology.power import fabric_power

        return fabric_power(self, **parts)

    def bill_of_materials(self, copper: Iterable[str] = ()) -> BillOfMaterials:
        """Everything to be bought, with the arithmetic that shows that it closes."""
        from scalemath.topology.bill import bill_of_materials

        return bill_of_materials(self, copper)

    def graph(self) -> FabricGraph:
        """Explicit graph; refused where it is too large to be of use."""
        return build(
            self.links.total,
            (f"e{i}" for i in range(self.endpoints)),
            self.switch_names(),
            self.edges(),
        )

    def plot(self, **options: Any) -> Any:
        """Draw the fabric (needs the plot extra)."""
        return hook("plot")(self, **options)

    def with_(self, **changes: Any) -> Any:
        """Return a copy with some fields replaced and all checks repeated."""
        return changed(self, **changes)

    def describe_size(self) -> str:
        """Say how far the fabric can grow; empty where that has no meaning."""
        return ""

    def describe_ratio(self) -> str:
        """Say how down-capacity compares with up-capacity; empty where there is no tree."""
        return ""

    def check_endpoint(self, *numbers: int) -> None:
        """Refuse endpoint numbers that do not exist."""
        for number in numbers:
            if not 0 <= number < self.endpoints or int(number) != number:
                raise RangeError(
                    f"{type(self).__name__}: there is no endpoint {number}; "
                    f"they are numbered 0 to {self.endpoints - 1}"
                )
