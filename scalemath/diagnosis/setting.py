"""Where a collective ran: ranks, nodes, and the rates of the two networks."""

from __future__ import annotations

import math
from typing import Any

from attrs import field, frozen

from scalemath.catalog.objects import link
from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.diagnosis.hardware import KnownDevice, device_named
from scalemath.hardware.node import Node
from scalemath.topology.cluster import Cluster
from scalemath.topology.placement import Placement
from scalemath.units import quantity


@frozen(kw_only=True)
class Setting:
    """Where a collective ran, in SI floats.

    Attributes
    ----------
    operation : str
        Public name of the collective.
    ranks, nodes, domain : int
        Participants, machines, and ranks of one scale-up domain.
    domain_rate : float
        Rate of one rank's scale-up port per direction [byte/s]; nan when unknown.
    nics : int
        Interfaces of one node that may be used.
    nic_rate : float
        Rate of one interface per direction [byte/s]; nan when unknown.
    fabric, nic_fabric : str
        Links of the catalogue, "" when unknown.
    multicast, mesh : bool
        Whether switches of the domain reduce; whether there is no switch.
    box : int
        Accelerators of a box, for the links of a mesh; 0 when unknown.
    system : str
        Name of measured envelopes, "" for none.
    assumptions : tuple of str
        What was not stated.
    """

    operation: str
    ranks: int
    nodes: int = 1
    domain: int = 1
    domain_rate: float = math.nan
    nics: int = 1
    nic_rate: float = math.nan
    fabric: str = ""
    nic_fabric: str = ""
    multicast: bool = False
    mesh: bool = False
    box: int = 0
    system: str = ""
    assumptions: tuple[str, ...] = field(default=())

    @property
    def ranks_per_node(self) -> int:
        """Ranks on one node, rounded up."""
        return -(-self.ranks // self.nodes)

    @property
    def inside(self) -> bool:
        """Whether all ranks are in one scale-up domain."""
        return self.ranks <= self.domain

    @property
    def groups(self) -> int:
        """Scale-up domains."""
        return -(-self.ranks // min(self.domain, self.ranks))

    @property
    def known(self) -> bool:
        """Whether the rates that matter are known."""
        if self.inside:
            return self.domain_rate > 0.0
        return self.nic_rate > 0.0

    @property
    def network_rate(self) -> float:
        """Rate of all interfaces of one scale-up domain per direction [byte/s]."""
        nodes_of_domain = max(1, min(self.domain, self.ranks) // self.ranks_per_node)
        return self.nics * nodes_of_domain * self.nic_rate

    def placement(self, domain_efficiency: float = 1.0, nic_efficiency: float = 1.0) -> Placement:
        """Return the setting as the collectives take it."""
        inner = self.domain_rate if self.domain_rate > 0.0 else math.inf
        several = self.domain > 1 and self.ranks > 1
        return Placement(
            nodes=self.nodes,
            ranks_per_node=self.ranks_per_node,
            domain=min(self.domain, self.ranks),
            nics_per_node=max(1, self.nics),
            domain_bandwidth=quantity(min(inner, 1e15), "byte/s/dir") if several else None,
            nic_bandwidth=quantity(self.nic_rate, "byte/s/dir") if self.nic_rate > 0.0 else None,
            domain_efficiency=domain_efficiency,
            nic_efficiency=nic_efficiency,
        )


def setting_of(run: Any, cluster: Cluster | Placement | Node | str | None = None) -> Setting:
    """Settle where a run took place, from the log and what is said about the cluster.

    Parameters
    ----------
    run : CollectiveRun
        A reading of a collective test.
    cluster : Cluster, Placement, Node or str, optional
        What it ran on; a text is the name of a device such as "H100". Left out, the device list
        of the log and the usual box of that device count.

    Returns
    -------
    Setting
        Ranks and rates; what was assumed is listed.
    """
    ranks = run.ranks or 0
    name = cluster if isinstance(cluster, str) else run.hardware
    device = device_named(name)
    if isinstance(cluster, str) and device is None:
        raise ArgumentError(
            f'cluster is {cluster!r}: no such device is known; write a Cluster, or "H100", '
            '"A100", "B200", "GB300", "MI300X" ...'
        )
    nodes = run.nodes or 1
    assumed: tuple[str, ...] = ()
    if not run.nodes and device is not None and ranks > device.box and ranks % device.box == 0:
        nodes = ranks // device.box
        assumed = (f"{device.box} ranks per node, as the usual box has",)
    if isinstance(cluster, Placement):
        return _of_placement(run.collective, cluster, device)
    if isinstance(cluster, (Cluster, Node)):
        return _of_cluster(run.collective, ranks, run.nodes, cluster, device)
    if device is None:
        return Setting(operation=run.collective, ranks=ranks, nodes=nodes, domain=ranks)
    return _usual(run.collective, ranks, nodes, device, assumed)


def _usual(
    operation: str, ranks: int, nodes: int, device: KnownDevice, assumed: tuple[str, ...]
) -> Setting:
    """The usual box of a device."""
    each = -(-ranks // nodes) if ranks else device.box
    domain = device.domain if device.domain > device.box else each
    nics = max(1, min(device.nics, each * device.nics // device.box))
    several = ranks > domain
    if several:
        assumed += (f"{nics} interface(s) of the usual box per node ({device.nic_fabric})",)
    return Setting(
        operation=operation,
        ranks=ranks,
        nodes=nodes,
        domain=max(1, domain),
        domain_rate=_rate(device.fabric),
        nics=nics,
        nic_rate=_rate(device.nic_fabric),
        fabric=device.fabric,
        nic_fabric=device.nic_fabric,
        multicast=device.multicast,
        mesh=device.mesh,
        box=device.box,
        system=device.system,
        assumptions=(*assumed, f"scale-up network {device.fabric}, by the device name"),
    )


def _rate(fabric: str) -> float:
    if not fabric:
        return math.nan
    try:
        return float(link(fabric).bandwidth.m_as("byte/s/dir"))
    except ScalemathError:
        return math.nan


def _of_placement(operation: str, given: Placement, device: KnownDevice | None) -> Setting:
    low = given.lower()
    return Setting(
        operation=operation,
        ranks=given.ranks,
        nodes=given.nodes,
        domain=given.domain_ranks,
        domain_rate=low.domain_bandwidth if low.domain_bandwidth > 0.0 else math.nan,
        nics=given.nics_per_node,
        nic_rate=low.nic_bandwidth if low.nic_bandwidth > 0.0 else math.nan,
        fabric=device.fabric if device else fabric_near(low.domain_bandwidth),
        multicast=device.multicast if device else False,
        mesh=device.mesh if device else False,
        box=device.box if device else 0,
        system=device.system if device else "",
    )


def _of_cluster(
    operation: str,
    ranks: int,
    nodes: int | None,
    given: Cluster | Node,
    device: KnownDevice | None,
) -> Setting:
    cluster = given if isinstance(given, Cluster) else Cluster(nodes=nodes or 1, node=given)
    low = cluster.lower()
    each = int(low.accelerators_per_node)
    used = nodes or max(1, -(-ranks // each))
    named = device or device_named(getattr(cluster.node.accelerator, "name", "") or cluster.name)
    domain = cluster.domain if cluster.domain > each else min(cluster.domain, -(-ranks // used))
    nic = low.nic_bandwidth or (
        low.fabric_bandwidth if math.isfinite(low.fabric_bandwidth) else math.nan
    )
    return Setting(
        operation=operation,
        ranks=ranks,
        nodes=used,
        domain=max(1, domain),
        domain_rate=low.domain_bandwidth or math.nan,
        nics=max(1, int(low.nics_per_node)),
        nic_rate=nic if nic > 0.0 else math.nan,
        fabric=fabric_near(low.domain_bandwidth) or (named.fabric if named else ""),
        multicast=named.multicast if named else False,
        mesh=named.mesh if named else False,
        box=named.box if named else 0,
        system=named.system if named else "",
        assumptions=("rates as the cluster states them",),
    )


def fabric_near(rate: float) -> str:
    """Name of the scale-up link whose rate is within 1 % of a rate per direction."""
    for name in ("nvlink5", "nvlink4", "nvlink3", "nvlink2", "xgmi-mi300x", "pcie5-x16",
                 "pcie4-x16"):  # fmt: skip
        known = _rate(name)
        if known > 0.0 and abs(rate / known - 1.0) < 0.01:
            return name
    return ""
