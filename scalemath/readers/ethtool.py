"""Reader of ethtool, whole or cut to its speed lines."""

from __future__ import annotations

import re
from typing import Any

from attrs import evolve

from scalemath.readers.ports import NetworkPort, PortListing, listing
from scalemath.readers.reading import Skipped
from scalemath.readers.text import Text, text_of

KIND = "ethtool"
MEGABIT = 1e6 / 8.0
_SETTINGS = re.compile(r"^Settings for (?P<name>[\w.\-@]{1,40}):")
_COMMAND = re.compile(r"\bethtool[ \t]+(?P<name>[A-Za-z][\w.\-@]{1,40})")
_SPEED = re.compile(r"^[ \t]*Speed:[ \t]*(?:(?P<rate>\d{1,9})[ \t]*Mb/s|(?P<unknown>Unknown!?))")
_DETECTED = re.compile(r"^[ \t]*Link detected:[ \t]*(?P<state>yes|no)")


def looks_like(text: Text) -> bool:
    """Whether the text has a speed line in Mb/s or a settings line."""
    if "Speed" not in text.content and "Settings" not in text.content:
        return False
    return any(_SPEED.match(line) or _SETTINGS.match(line) for line in text.lines)


def ethtool(source: Any) -> PortListing:
    """Read ``ethtool INTERFACE``, for one interface or several.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    PortListing
        Interfaces with their rate per direction.

    Raises
    ------
    ReadError
        When no interface with a speed is there.

    Notes
    -----
    Two interfaces of one adapter that differ in the PCI domain only share a physical port; each
    prints the whole rate.
    """
    text = text_of(source)
    ports: list[NetworkPort] = []
    skipped = []
    name = ""
    for number, line in enumerate(text.lines, 1):
        head = _SETTINGS.match(line) or (_COMMAND.search(line) if "ethtool" in line else None)
        speed, detected = _SPEED.match(line), _DETECTED.match(line)
        if head is not None:
            name = head["name"]
        elif speed is not None:
            known = speed["rate"] is not None
            ports.append(
                NetworkPort(
                    device="",
                    interface=name or f"interface {len(ports) + 1}",
                    up=None if known else False,
                    printed=float(speed["rate"]) * MEGABIT if known else float("nan"),
                    layer="Ethernet",
                )
            )
        elif detected is not None and ports:
            ports[-1] = evolve(ports[-1], up=detected["state"] == "yes")
        elif line.strip() and ":" not in line:
            skipped.append(Skipped(number, "not a field", line.strip()[:120]))
    if not ports:
        text.refuse(1, "expected a line like Speed: 200000Mb/s, found none")
    return listing(text.name, KIND, ports, skipped=tuple(skipped))
