"""Reader of ``nvidia-smi nvlink -s``."""

from __future__ import annotations

import math
import re
from typing import Any

from attrs import field, frozen

from scalemath.core.result import measured
from scalemath.readers.columns import Columns, columns_of
from scalemath.readers.reading import Reading, Skipped
from scalemath.readers.text import Text, text_of
from scalemath.units import display

KIND = "nvlink"
_GPU = re.compile(r"^[ \t]*GPU[ \t]+(?P<gpu>\d{1,4})[ \t]*:[ \t]*(?P<name>[^(\n]{0,80})")
_LINK = re.compile(
    r"^[ \t]*Link[ \t]+(?P<link>\d{1,4})[ \t]*:[ \t]*"
    r"(?:(?P<rate>\d{1,6}(?:\.\d{1,6})?)[ \t]*GB/s|(?P<off><inactive>|inactive|disabled|N/A))",
    re.IGNORECASE,
)


@frozen(kw_only=True, eq=False)
class NvlinkStatus(Reading):
    """NVLinks of the accelerators of one machine.

    Attributes
    ----------
    links : Columns
        gpu, link, and rate per direction; nan for an inactive link.
    names : mapping of int to str
        Name of each accelerator.
    """

    links: Columns = field(repr=False)
    names: dict[int, str]

    def rates(self) -> dict[int, float]:
        """Sum of the active links per accelerator and direction [byte/s]."""
        found = dict.fromkeys(self.names, 0.0)
        for gpu, rate in zip(self.links.si("gpu"), self.links.si("rate"), strict=True):
            if math.isfinite(rate):
                found[int(gpu)] += float(rate)
        return found

    def active(self) -> dict[int, int]:
        """Active links per accelerator."""
        found = dict.fromkeys(self.names, 0)
        for gpu, rate in zip(self.links.si("gpu"), self.links.si("rate"), strict=True):
            found[int(gpu)] += int(math.isfinite(rate))
        return found

    @measured("byte/s/dir")
    def rate(self) -> float:
        """Rate of one accelerator per direction, the least of all."""
        return min(self.rates().values())

    def headline(self) -> str:
        """One readable line."""
        counts = sorted(set(self.active().values()))
        shown = " or ".join(map(str, counts))
        return (
            f"{self.source}: {len(self.names)} accelerator(s) with {shown} active NVLinks, "
            f"{display(self.si('rate'), 'byte/s/dir')} each"
        )


def looks_like(text: Text) -> bool:
    """Whether the text lists links below a GPU."""
    return "Link" in text.content and any(_LINK.match(line) for line in text.lines)


def nvlink(source: Any) -> NvlinkStatus:
    """Read ``nvidia-smi nvlink -s``.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    NvlinkStatus
        Links with their rate per direction.

    Raises
    ------
    ReadError
        When no link is listed, or one stands before any accelerator.

    Notes
    -----
    The printed rate is that of one direction: 12 links of 25 GB/s are 300 GB/s per direction and
    the 600 GB/s of the data sheet in both.
    """
    text = text_of(source)
    names: dict[int, str] = {}
    rows: list[tuple[float, float, float]] = []
    skipped = []
    gpu = -1
    for number, line in enumerate(text.lines, 1):
        head, link = _GPU.match(line), _LINK.match(line)
        if head is not None:
            gpu = int(head["gpu"])
            names[gpu] = head["name"].strip()
        elif link is not None:
            if gpu < 0:
                text.refuse(number, "expected a line GPU 0: ... before its links")
            rate = float(link["rate"]) * 1e9 if link["rate"] else math.nan
            rows.append((float(gpu), float(link["link"]), rate))
        elif line.strip():
            skipped.append(Skipped(number, "not a link", line.strip()[:120]))
    if not rows:
        text.refuse(1, "expected lines like Link 0: 25 GB/s, found none")
    return NvlinkStatus(
        source=text.name,
        kind=KIND,
        links=columns_of(rows, gpu="1", link="1", rate="byte/s/dir"),
        names=names,
        skipped=tuple(skipped),
        cautions=_cautions(rows),
    )


def _cautions(rows: list[tuple[float, float, float]]) -> tuple[str, ...]:
    off = sum(1 for _, _, rate in rows if math.isnan(rate))
    rates = {rate for _, _, rate in rows if math.isfinite(rate)}
    found = [f"{off} link(s) are inactive"] if off else []
    if len(rates) > 1:
        found.append("links differ in rate")
    return tuple(found)
