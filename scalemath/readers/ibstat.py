"""Reader of ibstat, ibstatus, ibv_devinfo, ibdev2netdev and rdma link."""

from __future__ import annotations

import math
import re
from typing import Any

from attrs import evolve

from scalemath.readers.ports import NetworkPort, PortListing, listing
from scalemath.readers.reading import Skipped
from scalemath.readers.text import Text, text_of

KIND = "ibstat"
GIGABIT = 1e9 / 8.0
_ADAPTER = re.compile(r"^CA '(?P<name>[\w.\-]{1,40})'|^hca_id:[ \t]*(?P<hca>[\w.\-]{1,40})")
_STATUS = re.compile(
    r"^Infiniband device '(?P<name>[\w.\-]{1,40})' port (?P<port>\d{1,3}) status", re.IGNORECASE
)
_PORT = re.compile(r"^[ \t]+[Pp]ort(?:[ \t]+(?P<one>\d{1,3}):|:[ \t]*(?P<two>\d{1,3}))[ \t]*$")
_FIELD = re.compile(r"^[ \t]+(?P<name>[\w ]{2,24}?)[ \t]*:[ \t]*(?P<value>\S.{0,100})$")
_NETDEV = re.compile(
    r"(?<!\S)(?P<device>[\w.\-]{1,40})[ \t]+port[ \t]+(?P<port>\d{1,3})[ \t]+==>[ \t]+"
    r"(?P<interface>[\w.\-@]{1,40})[ \t]+\((?P<state>[\w ]{1,20})\)"
)
_RDMA = re.compile(
    r"^(?:\d+/\d+:[ \t]*|link[ \t]+)(?P<device>[\w.\-]{1,40})/(?P<port>\d{1,3}):?[ \t].{0,80}?"
    r"\bstate[ \t]+(?P<state>\w{1,20})(?:.{0,80}?\bnetdev[ \t]+(?P<interface>[\w.\-@]{1,40}))?"
)
_RATE = re.compile(r"(?P<rate>\d{1,6}(?:\.\d{1,3})?)(?:[ \t]*(?P<unit>Gb/sec|Gbps|Gb/s))?")
_LANES = re.compile(r"(\d{1,2})X")


def looks_like(text: Text) -> bool:
    """Whether the text is of one of these tools."""
    signs = ("CA '", "hca_id", "nfiniband device", "==>", "physical_state")
    return any(sign in text.content for sign in signs) and any(
        _ADAPTER.match(line)
        or _STATUS.match(line)
        or _RDMA.match(line)
        or ("==>" in line and _NETDEV.search(line))
        for line in text.lines
    )


def ibstat(source: Any) -> PortListing:
    """Read ibstat, ibstatus, ibv_devinfo, ibdev2netdev or rdma link.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    PortListing
        Ports; rates per direction in what ibstat prints as Gbit/s.

    Raises
    ------
    ReadError
        When there is no port.

    Notes
    -----
    A port that is down still prints a rate (10 or 40): it counts as nothing.
    """
    text = text_of(source)
    ports: list[NetworkPort] = []
    widths: dict[int, tuple[float, float]] = {}
    skipped = []
    device, hardware = "", ""
    for number, line in enumerate(text.lines, 1):
        adapter, status = _ADAPTER.match(line), _STATUS.match(line)
        netdev = _NETDEV.search(line) if "==>" in line else _RDMA.match(line)
        port = _PORT.match(line)
        if adapter is not None:
            device, hardware = adapter["name"] or adapter["hca"], ""
        elif status is not None:
            device = status["name"]
            ports.append(NetworkPort(device=device, port=int(status["port"])))
        elif netdev is not None:
            up = netdev["state"].strip().lower() in ("up", "active")
            ports.append(
                NetworkPort(
                    device=netdev["device"],
                    port=int(netdev["port"]),
                    interface=netdev["interface"] or "",
                    up=up,
                )
            )
        elif port is not None and device:
            found = NetworkPort(
                device=device, port=int(port["one"] or port["two"]), hardware=hardware
            )
            ports.append(found)
        elif (match := _FIELD.match(line)) and device:
            name, value = match["name"].strip().lower(), match["value"].strip()
            if name in ("ca type", "hca_type", "board_id", "vendor_part_id"):
                hardware = hardware or value
            elif ports and ports[-1].device == device:
                ports[-1] = _field(text, number, ports[-1], name, value, widths, len(ports) - 1)
        elif line.strip():
            skipped.append(Skipped(number, "not a port", line.strip()[:120]))
    if not ports:
        text.refuse(1, "expected a port (Port 1:, State:, Rate:), found none")
    for place, (lanes, speed) in widths.items():
        if lanes > 0.0 and speed > 0.0 and math.isnan(ports[place].printed):
            ports[place] = evolve(ports[place], printed=lanes * speed)
    return listing(text.name, KIND, ports, skipped=tuple(skipped))


def _field(
    text: Text,
    number: int,
    port: NetworkPort,
    name: str,
    value: str,
    widths: dict[int, tuple[float, float]],
    place: int,
) -> NetworkPort:
    """Take one field of a port."""
    if name == "state":
        active = "active" in value.lower()
        return evolve(port, up=active and port.up is not False)
    if name in ("physical state", "phys state", "phys_state"):
        return port if "linkup" in value.lower().replace(" ", "") else evolve(port, up=False)
    if name in ("link layer", "link_layer"):
        return evolve(port, layer=value.split(maxsplit=1)[0])
    if name == "rate":
        rate = _RATE.match(value)
        if rate is None:
            text.refuse(number, f"expected a rate in Gbit/s, found {value[:40]!r}")
        return evolve(port, printed=float(rate["rate"]) * GIGABIT)
    lanes, speed = widths.get(place, (math.nan, math.nan))
    if name == "active_width" and (match := _LANES.match(value)):
        widths[place] = (float(match[1]), speed)
    if name == "active_speed" and (rate := _RATE.match(value)):
        widths[place] = (lanes, float(rate["rate"]) * GIGABIT)
    return port
