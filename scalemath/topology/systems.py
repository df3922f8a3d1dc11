"""Well-known systems as objects: NVL72, eight-GPU boards, SuperPOD scalable units."""

from __future__ import annotations

from typing import Any

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.hardware.link import Link
from scalemath.hardware.node import Node, Rack
from scalemath.topology.cluster import Cluster
from scalemath.topology.fat_tree import FatTree
from scalemath.topology.switched_domain import SwitchedDomain

_NVLINK = {
    "A100": ("NVLink 3", 12, "25 GB/s/dir", 6, 36),
    "H100": ("NVLink 4", 18, "25 GB/s/dir", 4, 64),
    "H200": ("NVLink 4", 18, "25 GB/s/dir", 4, 64),
    "B200": ("NVLink 5", 18, "50 GB/s/dir", 2, 72),
    "B300": ("NVLink 5", 18, "50 GB/s/dir", 2, 72),
}
"""Per accelerator of an eight-way board: link, links, rate of one, switch chips, their ports.
NVIDIA data sheets of HGX A100, H100 and B200."""

_SUPERPOD: dict[str, Any] = {"H100": "400 Gb/s/dir", "H200": "400 Gb/s/dir", "B200": "400 Gb/s/dir"}
"""Rate of one interface; 32 nodes of 8 GPUs per scalable unit, switches with 64 such ports.
NVIDIA DGX SuperPOD reference architectures RA-11333 (H100) and B200."""


def nvlink(generation: int) -> Link:
    """All NVLink links of one accelerator.

    Parameters
    ----------
    generation : int
        3, 4 or 5.

    Returns
    -------
    Link
        Their number and rate per direction.
    """
    for name, links, rate, _, _ in _NVLINK.values():
        if name == f"NVLink {generation}":
            return Link(name=name, technology="NVLink", links=links, per_link=rate)
    raise RangeError(f"nvlink: generation is {generation}; wanted 3, 4 or 5")


def nvl72_domain() -> SwitchedDomain:
    """Scale-up network of an NVL72 rack: 72 x 18 links on 18 chips x 72 ports.

    Returns
    -------
    SwitchedDomain
        18 trays of 4 accelerators, 9 trays of 2 chips, 4 copper pairs per link.
    """
    return SwitchedDomain(
        endpoints=72,
        links_per_endpoint=18,
        switch_chips=18,
        ports_per_chip=72,
        link_rate="50 GB/s/dir",
        endpoints_per_tray=4,
        chips_per_tray=2,
    )


def hgx_domain(accelerator: str = "H100") -> SwitchedDomain:
    """Scale-up network of an eight-way board.

    Parameters
    ----------
    accelerator : str
        "A100", "H100", "H200", "B200" or "B300".

    Returns
    -------
    SwitchedDomain
        Eight accelerators on the board's switch chips.
    """
    if accelerator not in _NVLINK:
        raise ArgumentError(f"accelerator is {accelerator!r}; wanted one of {', '.join(_NVLINK)}")
    _, links, rate, chips, ports = _NVLINK[accelerator]
    return SwitchedDomain(
        endpoints=8,
        links_per_endpoint=links,
        switch_chips=chips,
        ports_per_chip=ports,
        link_rate=rate,
    )


def nvl72(racks: int = 1, *, nic_rate: Any = "800 Gb/s/dir", fabric: Any = None) -> Cluster:
    """Racks of 72 accelerators, one interface each.

    Parameters
    ----------
    racks : int
        Number of racks; eight make a scalable unit of a GB200 SuperPOD.
    nic_rate : Quantity [byte/s/dir]
        Rate of one accelerator's interface: 800 Gbit/s for GB300, 400 for GB200.
    fabric : Fabric, optional
        Scale-out network.

    Returns
    -------
    Cluster
        With the scale-up network of a rack.

    Examples
    --------
    >>> nvl72(8).accelerators
    576
    """
    rack = Rack(
        name="NVL72",
        accelerators=72,
        link=nvlink(5),
        cpus=36,
        trays=18,
        switch_chips=18,
        switch_trays=9,
        nics=72,
        uplinks=72,
        uplink_rate=nic_rate,
    )
    return Cluster(
        nodes=racks,
        node=rack,
        fabric=fabric,
        scale_up=nvl72_domain(),
        name=f"{racks} x NVL72",
        trays_per_node=18,
    )


def dgx_superpod(units: int, generation: str = "H100", *, nodes: int | None = None) -> Cluster:
    """Scalable units of 32 eight-GPU nodes on a rail-optimised non-blocking fat tree.

    Parameters
    ----------
    units : int
        Scalable units.
    generation : str
        "H100", "H200" or "B200".
    nodes : int, optional
        Nodes that are really there; the four units of the base design have 127, for one place
        is left to the fabric managers, whose four ports sit on the leaves as well.

    Returns
    -------
    Cluster
        With its fat tree of 64-port switches.

    Examples
    --------
    >>> dgx_superpod(4).fabric.switches["spine"]
    16
    """
    if generation not in _SUPERPOD:
        raise ArgumentError(f"generation is {generation!r}; wanted one of {', '.join(_SUPERPOD)}")
    if units < 1:
        raise RangeError(f"units is {units}; wanted at least 1")
    boxes = 32 * units if nodes is None else nodes
    managers = 4 if boxes % 32 else 0
    fabric = FatTree(
        endpoints=8 * boxes + managers,
        radix=64,
        tiers=2 if units <= 8 else 3,
        rails=8,
        port_rate=_SUPERPOD[generation],
    )
    server = Node(
        name=f"DGX {generation}",
        accelerators=8,
        nics=8,
        nic_rate=_SUPERPOD[generation],
        link=nvlink(5 if generation == "B200" else 4),
    )
    return Cluster(
        nodes=boxes,
        node=server,
        fabric=fabric,
        scale_up=hgx_domain(generation),
        name=f"DGX SuperPOD {generation}, {units} SU",
    )
