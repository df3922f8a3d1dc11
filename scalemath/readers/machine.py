"""One machine as topology files show it: devices, links between them, NUMA and affinity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.hardware.counts import figure
from scalemath.hardware.node import Node
from scalemath.readers.reading import Reading
from scalemath.records.table import Table
from scalemath.units import Quantity, quantity

NEARNESS = ("PIX", "PXB", "PXN", "P2C", "NODE", "PHB", "SYS")
"""Paths between a GPU and a network interface, the nearest first (PHB crosses the host bridge;
whether NODE or PHB is slower depends on the machine)."""


@frozen(kw_only=True)
class MachineGpu:
    """One accelerator.

    Attributes
    ----------
    name : str
        As the file names it.
    bus : str
        PCI address, "" when not given.
    numa : int or None
        NUMA node.
    links : mapping of str to int
        Scale-up links by the name of the other end; "switch" where they end in switches.
    link_kind : str
        "nvlink", "xgmi" or "".
    pcie : float
        Rate of its PCIe port per direction [byte/s]; nan when not given.
    rank : int or None
        Rank in the dumped communicator.
    """

    name: str
    bus: str = ""
    numa: int | None = None
    links: Mapping[str, int] = field(factory=dict)
    link_kind: str = ""
    pcie: float = math.nan
    rank: int | None = None


@frozen(kw_only=True)
class MachineNic:
    """One network interface.

    Attributes
    ----------
    name, device : str
        Label in the file and device name.
    bus : str
        PCI address.
    numa : int or None
        NUMA node.
    rate_bytes : float
        Rate per direction [byte/s]; nan when not given.
    gpudirect : bool or None
        Whether the dump says it reaches GPU memory.
    """

    name: str
    device: str = ""
    bus: str = ""
    numa: int | None = None
    rate_bytes: float = math.nan
    gpudirect: bool | None = None

    @property
    def rate(self) -> Quantity:
        """Rate per direction."""
        shown: Quantity = figure(self.rate_bytes, "byte/s/dir", "GB/s/dir")
        return shown


@frozen(kw_only=True, eq=False)
class Machine(Reading):
    """One machine.

    Attributes
    ----------
    gpus : tuple of MachineGpu
        Accelerators.
    nics : tuple of MachineNic
        Network interfaces.
    paths : mapping of (str, str) to str
        Label of the path between two devices: NV18, XGMI, PIX, NODE, SYS ...
    pcie_switches : int
        PCIe bridges with more than one device below, where the file shows them.
    processors : tuple of str
        Processor of each NUMA node, where the file tells.
    """

    gpus: tuple[MachineGpu, ...]
    nics: tuple[MachineNic, ...] = ()
    paths: Mapping[tuple[str, str], str] = field(factory=dict, repr=False)
    pcie_switches: int = 0
    processors: tuple[str, ...] = ()

    def path(self, one: str, other: str) -> str:
        """Label of the path between two devices, "" when unknown."""
        return self.paths.get((one, other)) or self.paths.get((other, one), "")

    @property
    def numa_nodes(self) -> tuple[int, ...]:
        """NUMA nodes that devices are on."""
        every = [gpu.numa for gpu in self.gpus] + [nic.numa for nic in self.nics]
        return tuple(sorted({numa for numa in every if numa is not None}))

    @property
    def affinity(self) -> dict[str, tuple[str, ...]]:
        """Nearest network interfaces of each accelerator."""
        found = {}
        for gpu in self.gpus:
            ranked = [(self._distance(gpu.name, nic.name), nic.name) for nic in self.nics]
            least = min((distance for distance, _ in ranked), default=math.inf)
            near = [name for distance, name in ranked if distance == least < math.inf]
            found[gpu.name] = tuple(near)
        return found

    def _distance(self, gpu: str, nic: str) -> float:
        label = self.path(gpu, nic)
        return NEARNESS.index(label) if label in NEARNESS else math.inf

    @property
    def misaligned(self) -> tuple[str, ...]:
        """Accelerators whose nearest interface lies behind the link between sockets."""
        return tuple(
            name
            for name, near in self.affinity.items()
            if near and self.path(name, near[0]) == "SYS"
        )

    @property
    def fully_connected(self) -> bool:
        """Whether every two accelerators are joined by scale-up links."""
        names = [gpu.name for gpu in self.gpus]
        if len(names) < 2:
            return False
        return all(
            self.path(a, b).startswith(("NV", "XGMI"))
            for i, a in enumerate(names)
            for b in names[i + 1 :]
        )

    @property
    def links_per_gpu(self) -> int:
        """Scale-up links of the accelerator that has most."""
        return max((sum(gpu.links.values()) for gpu in self.gpus), default=0)

    @property
    def mesh(self) -> bool:
        """Whether links go straight from accelerator to accelerator, as far as the file tells."""
        return any(end != "switch" for gpu in self.gpus for end in gpu.links)

    def node(self, **more: Any) -> Node:
        """Return the machine as a `Node`; rates that the file does not give may be added.

        Parameters
        ----------
        **more
            Further fields of `Node`: link, nic_rate, accelerator ...

        Returns
        -------
        Node
            Accelerators and interfaces, with the rate of an interface where all have the same.
        """
        if not self.gpus:
            raise ArgumentError(f"{self.source}: there is no accelerator, so no node")
        given: dict[str, Any] = {"accelerators": len(self.gpus)}
        if self.nics:
            given["nics"] = len(self.nics)
            rates = {nic.rate_bytes for nic in self.nics}
            if len(rates) == 1 and math.isfinite(rate := rates.pop()):
                given["nic_rate"] = quantity(rate, "byte/s/dir").to("GB/s/dir")
        return Node(**(given | more))

    def table(self) -> Table:
        """Return one row per accelerator."""
        near = self.affinity
        return Table(
            title=self.headline(),
            columns=("accelerator", "bus", "NUMA", "links", "nearest interfaces"),
            rows=tuple(
                (
                    gpu.name,
                    gpu.bus,
                    "" if gpu.numa is None else str(gpu.numa),
                    ", ".join(f"{n} to {end}" for end, n in gpu.links.items()),
                    " ".join(near[gpu.name]),
                )
                for gpu in self.gpus
            ),
        )

    def headline(self) -> str:
        """One readable line."""
        text = f"{len(self.gpus)} accelerator(s), {len(self.nics)} network interface(s)"
        if self.numa_nodes:
            text += f", {len(self.numa_nodes)} NUMA node(s)"
        if self.links_per_gpu:
            kind = next((gpu.link_kind for gpu in self.gpus if gpu.link_kind), "scale-up")
            text += f", {self.links_per_gpu} {kind} link(s) each"
        return f"{self.source}: {text}"
