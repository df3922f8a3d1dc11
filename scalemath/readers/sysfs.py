"""Reader of ``grep . /sys/class/infiniband/*/ports/*/*`` and ``/sys/class/net/*/speed``."""

from __future__ import annotations

import math
import re
from typing import Any

from scalemath.readers.ports import NetworkPort, PortListing, listing
from scalemath.readers.reading import Check, Skipped
from scalemath.readers.text import Text, text_of

KIND = "sysfs"
GIGABIT, MEGABIT = 1e9 / 8.0, 1e6 / 8.0
LANE = {"SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.3125, "FDR": 14.0625, "EDR": 25.0,
        "HDR": 50.0, "NDR": 100.0, "XDR": 200.0}  # fmt: skip
"""Rate of one lane by InfiniBand generation [Gbit/s]."""
_LINE = re.compile(
    r"/sys/class/(?P<class>infiniband|net)/+(?P<device>[\w.\-]{1,40})/"
    r"(?:ports/(?P<port>\d{1,3})/)?(?P<field>[\w/]{1,40})[ \t]*[:=][ \t]*(?P<value>.{0,100})$"
)
_RATE = re.compile(
    r"(?P<rate>\d{1,6}(?:\.\d{1,3})?)[ \t]*Gb/sec[ \t]*"
    r"(?:\((?P<lanes>\d{1,2})X[ \t]*(?P<generation>\w{3,5})?\))?"
)


def looks_like(text: Text) -> bool:
    """Whether the text lists fields below /sys/class/infiniband or /sys/class/net."""
    return "/sys/class/" in text.content and any(
        "/sys/class/" in line and _LINE.search(line) for line in text.lines
    )


def sysfs(source: Any) -> PortListing:
    """Read fields of /sys/class/infiniband and /sys/class/net as grep prints them.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    PortListing
        Ports with rate and state.

    Raises
    ------
    ReadError
        When no field is there, or a rate is not one.

    Notes
    -----
    A bond, and Ethernet beside InfiniBand, is usually the front-end network and is not counted
    among the ports of the compute fabric. Device numbers may have gaps.
    """
    text = text_of(source)
    found: dict[tuple[str, str, int], dict[str, tuple[int, str]]] = {}
    skipped = []
    for number, line in enumerate(text.lines, 1):
        match = _LINE.search(line) if "/sys/class/" in line else None
        if match is None:
            if line.strip():
                skipped.append(Skipped(number, "not a field of sysfs", line.strip()[:120]))
            continue
        key = (match["class"], match["device"], int(match["port"] or 0))
        found.setdefault(key, {})[match["field"].rpartition("/")[2]] = (number, match["value"])
    if not found:
        text.refuse(1, "expected lines like /sys/class/infiniband/mlx5_0/ports/1/rate: 400 Gb/sec")
    whole = {(c, d): fields for (c, d, port), fields in found.items() if not port}
    checks: list[Check] = []
    ports = [
        _port(text, key, {**whole.get(key[:2], {}), **fields}, checks)
        for key, fields in found.items()
        if key[2] or key[0] == "net"
    ]
    if not ports:
        text.refuse(1, "expected fields of a port (ports/1/rate), found none")
    return listing(text.name, KIND, ports, skipped=tuple(skipped), checks=tuple(checks))


def _port(
    text: Text,
    key: tuple[str, str, int],
    fields: dict[str, tuple[int, str]],
    checks: list[Check],
) -> NetworkPort:
    """Return one port from its fields."""
    kind, device, port = key

    def value(name: str) -> str:
        return fields.get(name, (0, ""))[1].strip()

    if kind == "net":
        line, speed = fields.get("speed", (0, ""))
        known = speed.strip().isdigit()
        rate = text.count(line, speed.strip(), "speed in Mbit/s", 10**8) if known else math.nan
        state = value("operstate")
        return NetworkPort(
            device="",
            interface=device,
            up=state == "up" if state else False if speed.strip().startswith("-") else None,
            printed=rate * MEGABIT,
            layer="Ethernet",
        )
    state, physical = value("state").upper(), value("phys_state").lower()
    up = None if not state else "ACTIVE" in state and (not physical or "linkup" in physical)
    return NetworkPort(
        device=device,
        port=port,
        up=up,
        printed=_rate(text, device, fields, checks),
        layer=value("link_layer"),
        hardware=value("hca_type"),
    )


def _rate(
    text: Text, device: str, fields: dict[str, tuple[int, str]], checks: list[Check]
) -> float:
    """Rate of a port, checked by lanes and generation."""
    if "rate" not in fields:
        return math.nan
    line, given = fields["rate"]
    match = _RATE.match(given.strip())
    if match is None:
        text.refuse(line, f"expected a rate like 400 Gb/sec (4X NDR), found {given[:40]!r}")
    rate = float(match["rate"])
    lane = LANE.get((match["generation"] or "").upper())
    if lane is not None:
        implied = lane * int(match["lanes"])
        agrees = abs(rate - implied) <= 0.02 * implied
        shown = f"{match['lanes']}X {match['generation']}"
        checks.append(
            Check(f"rate of {device}", agrees, f"{device}: {rate:g} Gb/s, {shown} is {implied:g}")
        )
    return rate * GIGABIT
