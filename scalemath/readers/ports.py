"""Network ports as several tools show them, and which of them carry a collective."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from attrs import evolve, frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.result import measured
from scalemath.hardware.counts import figure
from scalemath.readers.reading import Reading
from scalemath.records.table import Table
from scalemath.units import Quantity, display

_DOMAIN = re.compile(r"^(roce|en|ib|ibp|mlx)P(\d{1,5})(?=p\d)")
_VIRTUAL = re.compile(r"v\d{1,4}$|_vf\d{0,4}$|vf\d{1,4}$|f\d+v\d+", re.IGNORECASE)


@frozen(kw_only=True)
class NetworkPort:
    """One port of a network interface.

    Attributes
    ----------
    device : str
        Name of the device.
    port : int
        Number of the port.
    interface : str
        Name of the network interface on top, where given.
    up : bool or None
        Whether the link is up; None when the tool does not say.
    printed : float
        Rate as printed, per direction [byte/s]; nan when none is.
    layer : str
        "InfiniBand", "Ethernet" or "".
    hardware : str
        Type of the adapter.
    left_out : str
        Why the port does not count towards the rate of the machine; "" when it does.
    """

    device: str
    port: int = 1
    interface: str = ""
    up: bool | None = None
    printed: float = math.nan
    layer: str = ""
    hardware: str = ""
    left_out: str = ""

    @property
    def rate_bytes(self) -> float:
        """Rate per direction [byte/s]; 0 for a port that is down, whatever it prints."""
        return 0.0 if self.up is False else self.printed

    @property
    def rate(self) -> Quantity:
        """Rate per direction."""
        shown: Quantity = figure(self.rate_bytes, "byte/s/dir", "GB/s/dir")
        return shown

    @property
    def bond(self) -> bool:
        """Whether several ports are bonded under this name."""
        return "bond" in self.device or "bond" in self.interface

    @property
    def virtual(self) -> bool:
        """Whether the name is that of a virtual function."""
        return bool(_VIRTUAL.search(self.interface or self.device))


@frozen(kw_only=True, eq=False)
class PortListing(Reading):
    """Ports of one machine.

    Attributes
    ----------
    ports : tuple of NetworkPort
        All that the tool lists.
    """

    ports: tuple[NetworkPort, ...]

    @property
    def usable(self) -> tuple[NetworkPort, ...]:
        """Ports that count: up, neither bonded beside real ones nor seen twice."""
        return tuple(port for port in self.ports if not port.left_out)

    @measured("byte/s/dir")
    def rate(self) -> float:
        """Sum of the usable ports per direction; nan where one gives no rate."""
        return float(sum(port.rate_bytes for port in self.usable))

    def named(self, device: str) -> NetworkPort:
        """Return the port of one device."""
        for port in self.ports:
            if device in (port.device, port.interface):
                return port
        names = ", ".join(port.device or port.interface for port in self.ports)
        raise ArgumentError(f"no device {device!r}; there are {names}")

    def table(self) -> Table:
        """Return one row per port."""
        return Table(
            title=self.headline(),
            columns=("device", "port", "interface", "state", "rate", "counts"),
            rows=tuple(
                (
                    p.device,
                    str(p.port),
                    p.interface,
                    {True: "up", False: "down", None: "unknown"}[p.up],
                    _shown(p.rate_bytes),
                    p.left_out or "yes",
                )
                for p in self.ports
            ),
        )

    def headline(self) -> str:
        """One readable line."""
        text = f"{self.source}: {len(self.ports)} port(s), {len(self.usable)} usable"
        total = self.si("rate")
        if self.usable and math.isfinite(total):
            text += f", together {display(total, 'byte/s/dir')}"
        return text


def _shown(rate: float) -> str:
    return str(display(rate, "byte/s/dir")) if math.isfinite(rate) else "unknown"


def same_cable(name: str) -> str:
    """Name without the PCI domain: two devices of one name can share one physical port."""
    return _DOMAIN.sub(r"\1", name)


def listing(name: str, kind: str, ports: Iterable[NetworkPort], **more: Any) -> PortListing:
    """Return ports with what counts settled.

    Parameters
    ----------
    name, kind : str
        Source and reader.
    ports : iterable of NetworkPort
        As read.
    **more
        Further fields of the listing.

    Returns
    -------
    PortListing
        Ports that are down, bonded, virtual or seen twice are left out, with the reason.
    """
    found = list(ports)
    fabric = [p for p in found if p.layer == "InfiniBand" and p.up is not False]
    seen: dict[str, str] = {}
    settled = []
    cautions = list(more.pop("cautions", ()))
    for port in found:
        reason = ""
        shared = same_cable(port.device or port.interface)
        if port.up is False:
            reason = "down"
        elif port.bond and len(found) > 1:
            reason = "bond, usually the front-end network"
        elif fabric and port.layer == "Ethernet":
            reason = "Ethernet beside InfiniBand, usually the front-end network"
        elif port.virtual:
            reason = "virtual function"
        elif shared in seen and seen[shared] != (port.device or port.interface):
            reason = f"shares its port with {seen[shared]}"
            cautions.append(
                f"{port.device or port.interface} and {seen[shared]} differ in the PCI domain "
                "only: two devices of one adapter share one physical port"
            )
        if not reason:
            seen[shared] = port.device or port.interface
        settled.append(evolve(port, left_out=reason))
    down = [p for p in settled if p.up is False and p.printed > 0.0]
    if down:
        cautions.append(f"{len(down)} port(s) are down though they print a rate")
    return PortListing(
        source=name, kind=kind, ports=tuple(settled), cautions=tuple(cautions), **more
    )
