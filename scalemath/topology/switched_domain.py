"""A scale-up domain: every endpoint has links to every switch chip, one stage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import field

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.hardware.closure import must_close
from scalemath.hardware.counts import counts_close, figure
from scalemath.hardware.fields import changed, frozen, given, si
from scalemath.kernels.fabric_traffic import traffic_incast, traffic_worst_permutation
from scalemath.topology.counts import Counts, check_loss
from scalemath.topology.fabric import Fabric
from scalemath.topology.graph import Edge


@frozen
class SwitchedDomain(Fabric):
    """Single-stage switched network, as NVLink switches build it.

    Links and ports must close: every link of an endpoint needs a port of a switch, and is
    `links_per_endpoint` / `switch_chips` links to each chip.

    Parameters
    ----------
    endpoints : int
        Accelerators.
    links_per_endpoint : int
        Links of one accelerator.
    switch_chips : int
        Switch chips.
    ports_per_chip : int
        Ports of one chip.
    link_rate : Quantity [byte/s/dir], optional
        Rate of one link; or give `port_rate`.
    port_rate : Quantity [byte/s/dir], optional
        Rate of all links of one accelerator; both given must close.
    endpoints_per_tray, chips_per_tray : int, optional
        How accelerators and chips are packed.
    pairs_per_link : int
        Differential pairs of one link, both directions.
    copper : bool
        Whether all links are copper, without optical modules.

    Examples
    --------
    >>> nvl72 = SwitchedDomain(endpoints=72, links_per_endpoint=18, switch_chips=18,
    ...     ports_per_chip=72, link_rate="50 GB/s/dir")
    >>> nvl72.non_blocking, nvl72.links["endpoint"]
    (True, 1296)
    """

    endpoints: int = given("count >= 1")
    links_per_endpoint: int = given("count >= 1")
    switch_chips: int = given("count >= 1")
    ports_per_chip: int = given("count >= 1")
    link_rate: Any = given("byte/s/dir > 0", None)
    port_rate: Any = given("byte/s/dir > 0", None)
    endpoints_per_tray: int | None = given("count >= 1", None)
    chips_per_tray: int | None = given("count >= 1", None)
    pairs_per_link: int = given("count >= 1", 4)
    copper: bool = field(default=True, kw_only=True)
    lost_chips: int = given("count", 0)
    lost_links: int = given("count", 0)

    def __attrs_post_init__(self) -> None:
        links, ports = (
            self.endpoints * self.links_per_endpoint,
            self.switch_chips * self.ports_per_chip,
        )
        if links > ports:
            raise ContradictionError(
                f"SwitchedDomain: {self.endpoints} endpoints x {self.links_per_endpoint} links = "
                f"{links}, but {self.switch_chips} chips x {self.ports_per_chip} ports = {ports}; "
                f"{links - ports} links have no port"
            )
        if self.links_per_endpoint < self.switch_chips:
            raise ContradictionError(
                f"SwitchedDomain: {self.links_per_endpoint} links do not reach all of "
                f"{self.switch_chips} chips, so endpoints on different chips would not meet"
            )
        least = -(-self.links_per_endpoint // self.switch_chips) * self.endpoints
        if least > self.ports_per_chip:
            raise ContradictionError(
                f"SwitchedDomain: {self.links_per_endpoint} links over {self.switch_chips} chips "
                f"put {least} links on one chip, which has {self.ports_per_chip} ports"
            )
        if None not in (self.link_rate, self.port_rate):
            must_close(
                "SwitchedDomain: port_rate",
                self.link_rate * self.links_per_endpoint,
                f"{self.links_per_endpoint} links x {self.link_rate:~P}",
                self.port_rate,
                {"a link was taken for all of them": float(self.links_per_endpoint)},
            )
        for what, tray in (
            ("endpoints", self.endpoints_per_tray),
            ("switch_chips", self.chips_per_tray),
        ):
            if tray is not None and getattr(self, what) % tray:
                raise ContradictionError(
                    f"SwitchedDomain: {getattr(self, what)} {what} do not fill trays of {tray}"
                )

    # --- counts ---------------------------------------------------------------------------

    @property
    def non_blocking(self) -> bool:
        """Whether every link ends at a port: always so for a domain that could be made."""
        return self.endpoints * self.links_per_endpoint <= self.switch_chips * self.ports_per_chip

    @property
    def links_to_each_chip(self) -> float:
        """Links of one endpoint to one chip; broken where they are spread unevenly [1]."""
        return self.links_per_endpoint / self.switch_chips

    @property
    def switches(self) -> Counts:
        """Switch chips that run."""
        return Counts(chip=self.switch_chips - self.lost_chips)

    @property
    def links(self) -> Counts:
        """Links between accelerators and chips."""
        lost = self.lost_chips * self.links_to_each_chip * self.endpoints + self.lost_links
        return Counts(endpoint=self.endpoints * self.links_per_endpoint - lost)

    @property
    def ports(self) -> dict[str, tuple[int, int]]:
        """Ports of all chips, and how many of them carry a link."""
        return {"chip": (self.switches["chip"] * self.ports_per_chip, self.links["endpoint"])}

    def transceivers(self, copper: Any = ()) -> Counts:
        """Optical modules: none in copper, else two per link."""
        return super().transceivers(("endpoint",) if self.copper else copper)

    @property
    def trays(self) -> Counts:
        """Trays of accelerators and of chips, where their packing is known."""
        found = {}
        if self.endpoints_per_tray:
            found["compute"] = self.endpoints / self.endpoints_per_tray
        if self.chips_per_tray:
            found["switch"] = self.switch_chips / self.chips_per_tray
        return Counts(**found)

    @property
    def differential_pairs(self) -> dict[str, int]:
        """Copper pairs by scope: link, endpoint, tray, switch tray, domain."""
        endpoint = self.pairs_per_link * self.links_per_endpoint
        found = {"link": self.pairs_per_link, "endpoint": endpoint}
        if self.endpoints_per_tray:
            found["tray"] = endpoint * self.endpoints_per_tray
        if self.chips_per_tray:
            found["switch_tray"] = (
                self.endpoints * endpoint * self.chips_per_tray // self.switch_chips
            )
        found["domain"] = endpoint * self.endpoints
        return found

    def check_pairs(self, *, per_tray: int, trays: int, domain: int) -> int:
        """Compare printed pair counts with each other.

        Parameters
        ----------
        per_tray, trays, domain : int
            Pairs of one compute tray, number of trays, pairs of the domain.

        Returns
        -------
        int
            The product.

        Raises
        ------
        ContradictionError
            For instance for 72 pairs per tray, which are those of one accelerator.
        """
        return counts_close(domain, pairs_per_tray=per_tray, trays=trays)

    @property
    def rate_per_pair(self) -> Any:
        """Rate of one differential pair, which carries one direction."""
        pairs = self.pairs_per_link * self.links_per_endpoint / 2
        return figure(self._whole_port() / pairs, "byte/s", "Gbit/s")

    @property
    def diameter(self) -> int:
        """Longest shortest path between two chips an endpoint hangs on [links]."""
        return 0

    def hops(self, a: int, b: int) -> int:
        """Chips a message passes: one.

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

    # --- bandwidth ------------------------------------------------------------------------

    def _whole_port(self) -> float:
        if self.port_rate is not None:
            return si(self, "port_rate")
        if self.link_rate is None:
            raise ArgumentError(
                "SwitchedDomain: link_rate is missing; write link_rate='50 GB/s/dir'"
            )
        return si(self, "link_rate") * self.links_per_endpoint

    def lower_port(self) -> float:
        """Rate of the worst-off accelerator per direction [byte/s]."""
        kept = self.links_per_endpoint - self.lost_links
        kept_share = kept / self.links_per_endpoint - self.lost_chips / self.switch_chips
        return self._whole_port() * kept_share

    def lower_traffic(self, pattern: str, senders: int) -> float:
        """Bandwidth per accelerator [byte/s]: a non-blocking stage leaves all but incast whole."""
        everyone = float(self.endpoints)
        chosen = traffic_incast if pattern == "incast" else traffic_worst_permutation
        port = self.lower_port()
        return float(chosen(port, everyone, everyone, 0.0, everyone, 0.0, 1.0, float(senders)))

    def lower_bisection(self) -> float:
        """One-way bisection [byte/s]."""
        return self.endpoints / 2.0 * self.lower_port()

    @property
    def injection_bandwidth(self) -> Any:
        """Rate of one accelerator into the network, all of it to one peer if need be."""
        return figure(self.lower_port(), "byte/s/dir", "GB/s/dir")

    @property
    def per_peer_bandwidth(self) -> Any:
        """Rate to each peer when all are served at once."""
        peers = max(self.endpoints - 1, 1)
        return figure(self.lower_port() / peers, "byte/s/dir", "GB/s/dir")

    @property
    def bandwidth(self) -> dict[str, Any]:
        """Rates by scope, both directions, as such systems are advertised."""
        port = self.lower_port()
        chip = self.endpoints * port / self.switch_chips
        scopes = {"endpoint": port, "chip": chip}
        if self.endpoints_per_tray:
            scopes["tray"] = port * self.endpoints_per_tray
        if self.chips_per_tray:
            scopes["switch_tray"] = chip * self.chips_per_tray
        scopes["domain"] = port * self.endpoints
        return {name: figure(v, "byte/s/dir", "TB/s/bidir") for name, v in scopes.items()}

    def without(self, *, switches: int = 0, links: int = 0) -> SwitchedDomain:
        """Return the domain after a loss, seen by the worst-off accelerator.

        Parameters
        ----------
        switches : int
            Chips lost.
        links : int
            Links lost, all of one accelerator.

        Returns
        -------
        SwitchedDomain
            The same domain with less.
        """
        check_loss("switches", switches)
        check_loss("links", links)
        chips, wires = self.lost_chips + switches, self.lost_links + links
        if chips >= self.switch_chips or wires >= self.links_per_endpoint:
            raise RangeError(
                f"without: {chips} of {self.switch_chips} chips and {wires} of "
                f"{self.links_per_endpoint} links; something must be left"
            )
        copy: SwitchedDomain = changed(self, lost_chips=chips, lost_links=wires)
        return copy

    # --- graph and words ------------------------------------------------------------------

    def switch_names(self) -> Iterator[str]:
        """Names of the chips."""
        return (f"chip{i}" for i in range(self.switches["chip"]))

    def edges(self) -> Iterator[Edge]:
        """Edges of the graph: the links of an endpoint, chip by chip."""
        base, more = divmod(self.links_per_endpoint, self.switch_chips)
        for i in range(self.endpoints):
            for chip in range(self.switches["chip"]):
                # an uneven split is the same for all: 18 links on four chips are 5, 5, 4, 4
                links = base + (chip < more)
                rate = links / self.links_per_endpoint
                yield Edge(f"e{i}", f"chip{chip}", links, rate, "endpoint")

    def __str__(self) -> str:
        return (
            f"switched domain, {self.endpoints} endpoints x {self.links_per_endpoint} links on "
            f"{self.switch_chips} chips x {self.ports_per_chip} ports"
        )
