"""Which ranks sit where: nodes, scale-up domains, network interfaces and their rates."""

from __future__ import annotations

from typing import Any, NamedTuple

from scalemath.core.errors import ContradictionError, RangeError
from scalemath.core.hooks import hook
from scalemath.hardware.fields import changed, frozen, given, si


class LoweredPlacement(NamedTuple):
    """A placement as the plain floats kernels take.

    Bandwidths are per direction in byte/s with the efficiency applied, latencies one-way in s.
    A domain may span several nodes (a rack) or be a node; `domains` of them hold all ranks.
    """

    nodes: float
    ranks_per_node: float
    ranks: float
    domain: float
    domains: float
    nics_per_node: float
    nics_per_domain: float
    domain_bandwidth: float
    nic_bandwidth: float
    domain_latency: float
    nic_latency: float


class Faults(NamedTuple):
    """What keeps numbers from being a placement; each a truth value, or an array of them."""

    nodes_in_domain: Any
    domains_in_node: Any
    unfilled: Any
    remainder: Any
    no_domain_rate: Any
    no_nic_rate: Any


def faults(
    nodes: Any, ranks_per_node: Any, stated: Any, domain: Any, inside: bool, between: bool
) -> Faults:
    """Say what keeps numbers from being a placement.

    Parameters
    ----------
    nodes, ranks_per_node : int or array
        As in `Placement`.
    stated : int or array
        Ranks of a domain as they were stated, 0 where they were not.
    domain : int or array
        Ranks of a domain, never more than there are.
    inside, between : bool
        Whether the rates inside domains and between them are known.

    Returns
    -------
    Faults
        One truth value for each rule, elementwise for arrays.
    """
    ranks = nodes * ranks_per_node
    return Faults(
        (domain > ranks_per_node) & (domain % ranks_per_node != 0),
        (domain < ranks_per_node) & (ranks_per_node % domain != 0),
        (nodes > 1) & (stated > ranks),
        (ranks > domain) & (ranks % domain != 0),
        (domain > 1) & (not inside),
        (ranks > domain) & (not between),
    )


@frozen
class Placement:
    """Ranks of a collective on nodes joined by a scale-up and a scale-out network.

    Parameters
    ----------
    nodes : int
        Number of nodes.
    ranks_per_node : int
        Ranks on each node.
    domain : int, optional
        Ranks joined by one scale-up network; a node by default, 72 for a rack of that size.
    nics_per_node : int
        Network interfaces of a node that the collective may use.
    domain_bandwidth : Quantity [byte/s/dir]
        Rate of one rank's scale-up port per direction; a bare rate counts per direction.
    nic_bandwidth : Quantity [byte/s/dir]
        Rate of one network interface per direction.
    domain_latency, nic_latency : Quantity [s]
        One-way time of an empty message inside the domain, and between domains.
    domain_efficiency, nic_efficiency : float
        Usable share of the two rates [1].

    Raises
    ------
    ContradictionError
        If domains and nodes do not divide each other.

    Examples
    --------
    >>> nine = Placement(nodes=9, ranks_per_node=8, nics_per_node=8,
    ...     domain_bandwidth="900 GB/s/dir", nic_bandwidth="100 GB/s/dir")
    >>> nine.ranks
    72
    """

    nodes: int = given("count >= 1")
    ranks_per_node: int = given("count >= 1")
    domain: int | None = given("count >= 1", None)
    nics_per_node: int = given("count >= 1", 1)
    domain_bandwidth: Any = given("byte/s/dir > 0", None)
    nic_bandwidth: Any = given("byte/s/dir > 0", None)
    domain_latency: Any = given("s latency_kind: one-way", "0 s")
    nic_latency: Any = given("s latency_kind: one-way", "0 s")
    domain_efficiency: float = given("number > 0 <= 1", 1.0)
    nic_efficiency: float = given("number > 0 <= 1", 1.0)

    def __attrs_post_init__(self) -> None:
        domain = self.domain_ranks
        rates = self.domain_bandwidth is not None, self.nic_bandwidth is not None
        found = faults(self.nodes, self.ranks_per_node, self.domain or 0, domain, *rates)
        if found.nodes_in_domain:
            raise ContradictionError(
                f"Placement: a domain of {domain} ranks is not a whole number of nodes with "
                f"{self.ranks_per_node} ranks; write domain={domain - domain % self.ranks_per_node}"
            )
        if found.domains_in_node:
            raise ContradictionError(
                f"Placement: {self.ranks_per_node} ranks per node are not a whole number of "
                f"domains of {domain}"
            )
        if found.unfilled:
            raise ContradictionError(
                f"Placement: {self.ranks} ranks on {self.nodes} nodes do not fill one domain of "
                f"{self.domain}; write domain={self.ranks} where they are a part of a larger one"
            )
        if found.remainder:
            raise ContradictionError(
                f"Placement: {self.ranks} ranks are not a whole number of domains of {domain}; "
                f"write nodes={self.nodes - self.nodes % max(1, domain // self.ranks_per_node)}"
            )
        if found.no_domain_rate:
            raise RangeError(
                "Placement: domain_bandwidth is missing though a domain has "
                f"{domain} ranks; write domain_bandwidth='900 GB/s/dir'"
            )
        if found.no_nic_rate:
            raise RangeError(
                f"Placement: nic_bandwidth is missing though {self.ranks} ranks do not fit into "
                f"one domain of {domain}; write nic_bandwidth='100 GB/s/dir'"
            )

    @property
    def ranks(self) -> int:
        """All ranks."""
        return self.nodes * self.ranks_per_node

    @property
    def domain_ranks(self) -> int:
        """Ranks of one scale-up domain, never more than there are."""
        return min(self.domain or self.ranks_per_node, self.ranks)

    @property
    def domains(self) -> int:
        """Number of scale-up domains."""
        return -(-self.ranks // self.domain_ranks)

    @property
    def hierarchical_bandwidth(self) -> Any:
        """Rate per direction one rank sees when all interfaces of its domain share the work.

        The least of the scale-up port and of all interfaces of a domain together [byte/s].
        """
        low = self.lower()
        rate = low.domain_bandwidth
        if low.domains > 1.0:
            rate = min(rate, low.nics_per_domain * low.nic_bandwidth)
        return hook("quantity")(rate, "byte/s/dir")

    def lower(self) -> LoweredPlacement:
        """Return the plain SI floats kernels take."""
        domain = float(self.domain_ranks)
        return LoweredPlacement(
            nodes=float(self.nodes),
            ranks_per_node=float(self.ranks_per_node),
            ranks=float(self.ranks),
            domain=domain,
            domains=float(self.domains),
            nics_per_node=float(self.nics_per_node),
            nics_per_domain=self.nics_per_node * domain / self.ranks_per_node,
            domain_bandwidth=self.stated_rate("domain_bandwidth") * self.domain_efficiency,
            nic_bandwidth=self.stated_rate("nic_bandwidth") * self.nic_efficiency,
            domain_latency=si(self, "domain_latency"),
            nic_latency=si(self, "nic_latency"),
        )

    def stated_rate(self, name: str) -> float:
        """Rate as it was stated, without the efficiency; unlimited where it was not [byte/s]."""
        return si(self, name, float("inf"))

    def assumptions(self) -> tuple[str, ...]:
        """What the placement takes for granted, for the results that rest on it."""
        where = f"{self.nodes} nodes x {self.ranks_per_node} ranks, domains of {self.domain_ranks}"
        lines = [f"placement: {where}, {self.nics_per_node} NICs per node"]
        for level in ("domain", "nic"):
            efficiency = getattr(self, f"{level}_efficiency")
            if efficiency != 1.0:
                lines.append(f"{level} efficiency {efficiency:g} (given)")
        return tuple(lines)

    def with_(self, **changes: Any) -> Placement:
        """Return a copy with some fields replaced."""
        copy: Placement = changed(self, **changes)
        return copy

    def __str__(self) -> str:
        return (
            f"{self.ranks} ranks on {self.nodes} nodes, {self.domains} domains of "
            f"{self.domain_ranks}, {self.nics_per_node} NICs per node"
        )
