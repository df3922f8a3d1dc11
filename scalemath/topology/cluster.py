"""A cluster: nodes or racks with a scale-up network each, joined by a scale-out fabric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from attrs import field

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import changed, frozen, given
from scalemath.hardware.link import per_direction
from scalemath.hardware.node import Node, Rack
from scalemath.topology.cluster_results import ClusterPower, TierComparison
from scalemath.topology.fabric import Fabric
from scalemath.topology.placement import Placement
from scalemath.units import QuantityLike, to_si


class LoweredCluster(NamedTuple):
    """A cluster as the plain floats kernels take; bandwidths per direction in byte/s."""

    nodes: float
    accelerators_per_node: float
    accelerators: float
    domain: float
    nics_per_node: float
    domain_bandwidth: float
    nic_bandwidth: float
    fabric_bandwidth: float


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    found = tuple(names)
    for name in found:
        if found.count(name) > 1:
            raise ContradictionError(
                f"names: {name!r} is listed {found.count(name)} times; every node or rack once"
            )
    return found


@frozen
class Cluster:
    """Equal nodes (or racks) joined by a scale-out fabric.

    Parameters
    ----------
    nodes : int
        Number of nodes, or of racks when `node` is a rack.
    node : Node or Rack
        What stands there many times.
    fabric : Fabric, optional
        Scale-out network; it needs one endpoint per network interface.
    scale_up : Fabric, optional
        Network of one scale-up domain.
    name : str
        What it is called.
    names : sequence of str, optional
        Names of the nodes; each is listed once.
    trays_per_node : int
        Trays of a node, for comparisons per tray.

    Examples
    --------
    >>> server = Node(accelerators=8, nics=8, nic_rate="50 GB/s/dir")
    >>> Cluster(nodes=128, node=server).accelerators
    1024
    """

    nodes: int = given("count >= 1")
    node: Node | Rack = field(kw_only=True)
    fabric: Fabric | None = field(default=None, kw_only=True)
    scale_up: Fabric | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)
    names: tuple[str, ...] = field(default=(), converter=_unique, kw_only=True)
    trays_per_node: int = given("count >= 1", 1)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.node, (Node, Rack)):
            raise ArgumentError(f"Cluster: node is {self.node!r}; wanted a Node or a Rack")
        if self.names and len(self.names) != self.nodes:
            raise ContradictionError(f"Cluster: {len(self.names)} names for {self.nodes} nodes")
        if self.scale_up is not None and self.scale_up.endpoints != self.domain:
            raise ContradictionError(
                f"Cluster: the scale-up network has {self.scale_up.endpoints} endpoints, the "
                f"domain of a node {self.domain}; a rack that is the node already is not "
                "counted again"
            )
        if self.node.accelerators % self.trays_per_node:
            raise ContradictionError(
                f"Cluster: {self.node.accelerators} accelerators do not fill "
                f"{self.trays_per_node} trays"
            )
        if self.fabric is not None and self.fabric.endpoints < self.nodes * self.nics_per_node:
            raise ContradictionError(
                f"Cluster: {self.nodes} nodes x {self.nics_per_node} interfaces = "
                f"{self.nodes * self.nics_per_node}, but the fabric has "
                f"{self.fabric.endpoints} endpoints"
            )

    # --- counts ---------------------------------------------------------------------------

    @property
    def accelerators(self) -> int:
        """All accelerators."""
        return self.nodes * self.node.accelerators

    @property
    def domain(self) -> int:
        """Accelerators of one scale-up domain."""
        if isinstance(self.node, Node):
            return self.node.domain or self.node.accelerators
        return self.node.accelerators

    @property
    def domains(self) -> int:
        """Scale-up domains."""
        return self.accelerators // self.domain

    @property
    def nics_per_node(self) -> int:
        """Network interfaces of a node."""
        return self.node.nics or 0

    @property
    def counts(self) -> dict[str, int]:
        """What is counted in the cluster, from nodes to switches."""
        found = {
            "nodes": self.nodes,
            "trays": self.nodes * self.trays_per_node,
            "accelerators": self.accelerators,
            "domains": self.domains,
            "nics": self.nodes * self.nics_per_node,
        }
        if self.scale_up is not None:
            found["scale_up_switches"] = self.domains * self.scale_up.switches.total
        if self.fabric is not None:
            found |= {f"{role}_switches": n for role, n in self.fabric.switches.items()}
        return found

    # --- bandwidth ------------------------------------------------------------------------

    def _up(self) -> float:
        """Scale-up rate of one accelerator per direction [byte/s]."""
        if self.node.link is not None:
            return float(to_si(self.node.link.bandwidth, "byte/s/dir"))
        if self.scale_up is not None:
            return self.scale_up.lower_port()
        return 0.0

    def _nic(self) -> float:
        """Rate of one interface per direction [byte/s]."""
        rate = self.node.nic_rate if isinstance(self.node, Node) else None
        if rate is not None:
            return float(to_si(per_direction(rate), "byte/s/dir"))
        if isinstance(self.node, Rack) and self.node.uplinks and self.nics_per_node:
            return float(to_si(self.node.scale_out, "byte/s/dir")) / self.nics_per_node
        if self.fabric is not None and self.fabric.port_rate is not None:
            return self.fabric.lower_port()
        return 0.0

    def lower(self, traffic: str | None = None) -> LoweredCluster:
        """Return the plain SI floats kernels take.

        Parameters
        ----------
        traffic : str, optional
            Pattern under which the fabric is loaded; its port rate by default.

        Returns
        -------
        LoweredCluster
            Counts and rates per direction [byte/s].
        """
        network = float("inf")
        if self.fabric is not None and self.fabric.port_rate is not None:
            network = self.fabric.lower_port()
            if traffic is not None:
                network = float(to_si(self.fabric.effective_bandwidth(traffic), "byte/s/dir"))
        return LoweredCluster(
            nodes=float(self.nodes),
            accelerators_per_node=float(self.node.accelerators),
            accelerators=float(self.accelerators),
            domain=float(self.domain),
            nics_per_node=float(self.nics_per_node),
            domain_bandwidth=self._up(),
            nic_bandwidth=self._nic(),
            fabric_bandwidth=network,
        )

    def placement(
        self,
        *,
        nodes: int | None = None,
        ranks_per_node: int | None = None,
        nics_per_node: int | None = None,
        traffic: str | None = None,
        domain_latency: QuantityLike = "0 s",
        nic_latency: QuantityLike = "0 s",
        domain_efficiency: float = 1.0,
        nic_efficiency: float = 1.0,
    ) -> Placement:
        """Place ranks on the cluster, all of it by default.

        Parameters
        ----------
        nodes, ranks_per_node, nics_per_node : int, optional
            Part of the cluster that is used.
        traffic : str, optional
            Pattern that the fabric carries; its effective bandwidth then limits an interface.
        domain_latency, nic_latency : Quantity [s]
            One-way time of an empty message inside a domain and between domains.
        domain_efficiency, nic_efficiency : float
            Usable share of the rates [1].

        Returns
        -------
        Placement
            What collectives take as `placement=`.
        """
        used = self.nodes if nodes is None else nodes
        ranks = self.node.accelerators if ranks_per_node is None else ranks_per_node
        nics = (self.nics_per_node or 1) if nics_per_node is None else nics_per_node
        for what, asked, there in (
            ("nodes", used, self.nodes),
            ("ranks_per_node", ranks, self.node.accelerators),
            ("nics_per_node", nics, self.nics_per_node or 1),
        ):
            if not 1 <= asked <= there:
                raise RangeError(f"placement: {what} is {asked}; the cluster has {there}")
        low = self.lower(traffic)
        nic = min(low.nic_bandwidth or low.fabric_bandwidth, low.fabric_bandwidth)
        return Placement(
            nodes=used,
            ranks_per_node=ranks,
            domain=min(self.domain, ranks)
            if self.domain <= self.node.accelerators
            else min(self.domain, used * ranks),
            nics_per_node=nics,
            domain_bandwidth=figure(low.domain_bandwidth, "byte/s/dir", "GB/s/dir")
            if low.domain_bandwidth
            else None,
            nic_bandwidth=figure(nic, "byte/s/dir", "GB/s/dir") if 0 < nic < float("inf") else None,
            domain_latency=domain_latency,
            nic_latency=nic_latency,
            domain_efficiency=domain_efficiency,
            nic_efficiency=nic_efficiency,
        )

    def compare_tiers(self) -> dict[str, TierComparison]:
        """Compare scale-up with scale-out per accelerator, tray, node and cluster.

        Returns
        -------
        dict of str to TierComparison
            Both rates per direction and their ratio, the same at every scope.
        """
        up, per_node = self._up(), self._nic() * self.nics_per_node
        if not (up and per_node):
            raise ArgumentError(
                "compare_tiers: the node needs a scale-up link and interfaces with a rate"
            )
        out = per_node / self.node.accelerators
        tray = self.node.accelerators // self.trays_per_node
        scopes = {"accelerator": 1, "tray": tray, "node": self.node.accelerators}
        if isinstance(self.node, Rack):
            scopes["rack"] = scopes.pop("node")
        scopes["cluster"] = self.accelerators
        return {s: TierComparison(scope=s, up=n * up, out=n * out) for s, n in scopes.items()}

    def power(
        self,
        *,
        node_power: QuantityLike | None = None,
        accelerator_power: QuantityLike | None = None,
        usage_effectiveness: float = 1.0,
        **fabric_parts: Any,
    ) -> ClusterPower:
        """Power of nodes and fabric.

        Parameters
        ----------
        node_power : Quantity [W], optional
            Largest power of one node with everything in it; that of `node` by default.
        accelerator_power : Quantity [W], optional
            Power of one accelerator alone (TDP), instead of the node's.
        usage_effectiveness : float
            PUE, applied once to the sum [1].
        **fabric_parts
            As for `Fabric.power`: switch, transceiver, cable, copper, ideal.

        Returns
        -------
        ClusterPower
            IT power, interconnect share and power at the meter.
        """
        if not usage_effectiveness >= 1.0:
            raise RangeError(f"usage_effectiveness is {usage_effectiveness}; a PUE is at least 1")
        if node_power is not None and accelerator_power is not None:
            raise ContradictionError(
                "power: node_power and accelerator_power count the accelerators twice; give one"
            )
        cautions: tuple[str, ...] = ()
        if accelerator_power is not None:
            watts = to_si(accelerator_power, "W") * self.node.accelerators
            cautions = (
                "accelerators alone (TDP): processors, memory, fans and supplies are not in it; "
                "the largest power of the node is what a rack must feed",
            )
        elif node_power is not None or self.node.power is not None:
            watts = to_si(self.node.power if node_power is None else node_power, "W")
        else:
            raise ArgumentError("power: the node has no power; write node_power='10.2 kW'")
        fabric = 0.0
        assumptions: tuple[str, ...] = ()
        if self.fabric is not None and fabric_parts:
            found = self.fabric.power(**fabric_parts)
            fabric, assumptions = found.si("it_power"), found.assumptions
        elif fabric_parts:
            raise ArgumentError("power: parts of a fabric are given, but the cluster has none")
        return ClusterPower(
            nodes=self.nodes * float(watts),
            fabric=fabric,
            usage_effectiveness=usage_effectiveness,
            assumptions=assumptions,
            cautions=cautions,
        )

    def with_(self, **changes: Any) -> Cluster:
        """Return a copy with some fields replaced and all checks repeated."""
        copy: Cluster = changed(self, **changes)
        return copy

    def __str__(self) -> str:
        fabric = f"; {self.fabric}" if self.fabric is not None else ""
        whole = f"{self.nodes:,} x {self.node.accelerators} = {self.accelerators:,} accelerators"
        domains = f"{self.domains:,} domains of {self.domain}"
        return f"{self.name or 'cluster'}: {whole} in {domains}{fabric}"
