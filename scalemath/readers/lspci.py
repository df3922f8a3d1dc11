"""Reader of ``lspci -vv``: link capability and link state of each function."""

from __future__ import annotations

import math
import re
from typing import Any

from attrs import define, frozen

from scalemath.hardware.counts import figure
from scalemath.readers.pcie import pcie_rate
from scalemath.readers.reading import Reading, Skipped
from scalemath.readers.text import Text, text_of
from scalemath.records.table import Table
from scalemath.units import Quantity, display

KIND = "lspci"
_DEVICE = re.compile(
    r"^(?P<bus>(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])[ \t]+"
    r"(?P<kind>[^:\[\n]{2,60}?)(?:[ \t]*\[[0-9a-fA-F]{4}\])?:[ \t]+(?P<name>.{0,200})$"
)
_LINK = re.compile(
    r"^[ \t]+Lnk(?P<what>Cap|Sta):[ \t].{0,40}?Speed[ \t]+(?P<speed>[\d.]{1,6}|unknown)"
    r"(?:[ \t]*GT/s)?(?:[ \t]*\([a-z ]+\))?,[ \t]*Width[ \t]+x(?P<width>\d{1,3})"
)
IDLE = 2.5
"""Transfer rate that an idle accelerator falls back to [GT/s]."""
MOST_DEVICES = 100_000


@frozen(kw_only=True)
class PcieDevice:
    """One PCI function with a link.

    Attributes
    ----------
    bus, kind, name : str
        Address, class in words, vendor and product.
    able_speed, able_width : float
        Transfer rate [GT/s] and lanes it is able of (LnkCap); nan when not printed.
    speed, width : float
        Transfer rate [GT/s] and lanes in use (LnkSta); nan when not printed.
    """

    bus: str
    kind: str
    name: str
    able_speed: float = math.nan
    able_width: float = math.nan
    speed: float = math.nan
    width: float = math.nan

    @property
    def rate_bytes(self) -> float:
        """Rate in use per direction [byte/s]; nan when unknown."""
        return _rate(self.speed, self.width)

    @property
    def able_bytes(self) -> float:
        """Rate it is able of per direction [byte/s]; nan when unknown."""
        return _rate(self.able_speed, self.able_width)

    @property
    def rate(self) -> Quantity:
        """Rate in use per direction."""
        shown: Quantity = figure(self.rate_bytes, "byte/s/dir", "GB/s/dir")
        return shown

    @property
    def able(self) -> Quantity:
        """Rate it is able of per direction."""
        shown: Quantity = figure(self.able_bytes, "byte/s/dir", "GB/s/dir")
        return shown

    @property
    def accelerator(self) -> bool:
        """Whether it is an accelerator by its class."""
        return any(w in self.kind for w in ("3D controller", "Processing acc", "VGA", "Display"))

    @property
    def network(self) -> bool:
        """Whether it is a network interface by its class."""
        return any(w in self.kind for w in ("Ethernet", "Infiniband", "InfiniBand", "Network"))

    @property
    def bridge(self) -> bool:
        """Whether it is a bridge or a port of a switch."""
        return "bridge" in self.kind

    @property
    def virtual(self) -> bool:
        """Whether it is a virtual function; its link is that of the physical one."""
        return "Virtual Function" in self.name

    @property
    def below_ability(self) -> bool:
        """Whether the link runs below what the function is able of."""
        return self.speed < self.able_speed or self.width < self.able_width

    @property
    def idle(self) -> bool:
        """Whether the link is asleep rather than slow: an accelerator at 2.5 GT/s, full width."""
        return self.accelerator and self.speed <= IDLE and not self.width < self.able_width

    @property
    def judgement(self) -> str:
        """What the state of the link means."""
        if self.virtual:
            return "virtual function: look at the physical one"
        if math.isnan(self.speed):
            return "state unknown"
        if not self.below_ability:
            return "full"
        if self.idle:
            return "idle: measure again under load"
        if self.width < self.able_width:
            return "fewer lanes than it is able of"
        if self.bridge:
            return "slower than able: what sits below may be of an older generation"
        return "slower than able"


def _rate(speed: float, width: float) -> float:
    return pcie_rate(speed, int(width)) if speed > 0.0 and 0 < width <= 32 else math.nan


@frozen(kw_only=True, eq=False)
class PcieListing(Reading):
    """PCI functions with links."""

    devices: tuple[PcieDevice, ...]

    @property
    def accelerators(self) -> tuple[PcieDevice, ...]:
        """Accelerators."""
        return tuple(d for d in self.devices if d.accelerator)

    @property
    def nics(self) -> tuple[PcieDevice, ...]:
        """Physical network interfaces."""
        return tuple(d for d in self.devices if d.network and not d.virtual)

    @property
    def suspicious(self) -> tuple[PcieDevice, ...]:
        """Devices other than bridges whose link is slower or narrower than able, not idle."""
        return tuple(
            d for d in self.devices if d.below_ability and not (d.bridge or d.virtual or d.idle)
        )

    def table(self) -> Table:
        """Return one row per device that is no bridge."""
        return Table(
            title=self.headline(),
            columns=("address", "device", "able", "in use", "judgement"),
            rows=tuple(
                (d.bus, d.name[:50], _shown(d.able_bytes), _shown(d.rate_bytes), d.judgement)
                for d in self.devices
                if not d.bridge
            ),
        )

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.source}: {len(self.devices)} functions with links, "
            f"{len(self.accelerators)} accelerator(s), {len(self.nics)} network interface(s), "
            f"{len(self.suspicious)} slower than able"
        )


def _shown(rate: float) -> str:
    return str(display(rate, "byte/s/dir")) if math.isfinite(rate) else "unknown"


@define
class _Device:
    bus: str
    kind: str
    name: str
    cap: tuple[float, float] = (math.nan, math.nan)
    sta: tuple[float, float] = (math.nan, math.nan)


def looks_like(text: Text) -> bool:
    """Whether the text has a device line and link lines."""
    if "Lnk" not in text.content:
        return False
    return any(_LINK.match(line) for line in text.lines) and any(
        _DEVICE.match(line) for line in text.lines
    )


def lspci(source: Any) -> PcieListing:
    """Read ``lspci -vv``.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    PcieListing
        Functions with links; rates per direction from LnkSta, not LnkCap or LnkSta2.

    Raises
    ------
    ReadError
        When there is no link, or one stands before any device.

    Notes
    -----
    An idle accelerator falls back to 2.5 GT/s: that is no fault. A port of a switch runs at the
    generation of what is plugged in below it.
    """
    text = text_of(source)
    found: list[_Device] = []
    skipped = []
    for number, line in enumerate(text.lines, 1):
        head = _DEVICE.match(line)
        link = _LINK.match(line) if "Lnk" in line else None
        if head is not None:
            found.append(_Device(head["bus"].lower(), head["kind"].strip(), head["name"].strip()))
            if len(found) > MOST_DEVICES:
                text.refuse(number, f"expected at most {MOST_DEVICES} devices")
        elif link is not None:
            if not found:
                text.refuse(number, "expected a device like 19:00.0 3D controller: ... first")
            _keep(text, number, found[-1], link)
        elif "LnkCap:" in line or "LnkSta:" in line:
            skipped.append(Skipped(number, "link line of unknown form", line.strip()[:120]))
    devices = tuple(
        PcieDevice(
            bus=d.bus,
            kind=d.kind,
            name=d.name,
            able_speed=d.cap[0],
            able_width=d.cap[1],
            speed=d.sta[0],
            width=d.sta[1],
        )
        for d in found
        if not (math.isnan(d.cap[1]) and math.isnan(d.sta[1]))
    )
    if not devices:
        text.refuse(1, "expected lines LnkCap: and LnkSta: below devices, found none")
    return PcieListing(source=text.name, kind=KIND, devices=devices, skipped=tuple(skipped))


def _keep(text: Text, number: int, device: _Device, link: re.Match[str]) -> None:
    known = link["speed"] != "unknown"
    speed = text.number(number, link["speed"], "a speed in GT/s") if known else math.nan
    width = float(link["width"])
    pair = (speed, width) if 0 < width <= 32 else (math.nan, math.nan)
    if link["what"] == "Cap":
        device.cap = pair
    else:
        device.sta = pair
