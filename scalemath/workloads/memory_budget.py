"""A memory budget: what one device holds, line by line, against what it has."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from attrs import evolve, frozen

from scalemath.core.datum import Datum
from scalemath.core.errors import UnitsError
from scalemath.core.hooks import hook
from scalemath.core.result import Result, measured
from scalemath.records.table import Table
from scalemath.units import display, to_si


class MemoryLine(NamedTuple):
    """One line of a budget: its kind, its name, its size [byte], and how it came about."""

    kind: str
    name: str
    size: float
    how: str = ""


@frozen(kw_only=True, eq=False)
class MemoryBudget(Result):
    """Memory of one device, the fullest of its job.

    Attributes
    ----------
    subject : str
        What is held, on how many devices.
    lines : tuple of MemoryLine
        Every part; they sum to the total.
    usable : float
        Bytes a program finds on the device; nan when no device was named.
    sold : float
        Bytes as the device is sold; nan when unknown.
    """

    subject: str
    lines: tuple[MemoryLine, ...]
    usable: float = float("nan")
    sold: float = float("nan")

    @measured("byte")
    def total(self) -> float:
        """Sum of all lines."""
        return sum(line.size for line in self.lines)

    @measured("byte")
    def capacity(self) -> float:
        """Memory a program finds on the device."""
        return self.usable

    @measured("byte")
    def free(self) -> float:
        """What is left of the capacity; negative when it does not fit."""
        return self.usable - self.si("total")

    @measured("1")
    def share(self) -> float:
        """Total over capacity."""
        return self.si("total") / self.usable

    @property
    def fits(self) -> bool:
        """Whether the total is within the capacity; False when no device was named."""
        return self.si("total") <= self.usable

    def size_of(self, kind: str) -> float:
        """Return the bytes of all lines of a kind, such as "weights" or "cache".

        Parameters
        ----------
        kind : str
            Kind of the lines.

        Returns
        -------
        float
            Their sum [byte].
        """
        return sum(line.size for line in self.lines if line.kind == kind)

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Lines by name."""
        return {line.name: (line.size, "byte") for line in self.lines}

    def table(self) -> Table:
        """Return the lines with their share and how they came about."""
        whole = self.si("total")
        rows = [
            (line.kind, line.name, display(line.size, "byte"), _share(line.size, whole), line.how)
            for line in self.lines
        ]
        rows.append(("", "total", display(whole, "byte"), _share(whole, whole), ""))
        if not math.isnan(self.usable):
            rows.append(("", "device", display(self.usable, "byte"), "", self._device()))
        columns = ("kind", "line", "size", "share", "how")
        return Table(title=self.subject, columns=columns, rows=tuple(rows))

    def plot(self, **options: Any) -> Any:
        """Draw the lines as a stacked bar under the capacity (needs the plot extra)."""
        return hook("plot")(self, **options)

    def _device(self) -> str:
        """Say what the device is sold as and what a program finds."""
        if math.isnan(self.sold) or self.sold == self.usable:
            return ""
        return (
            f"sold as {self.sold / 1e9:.6g} GB, a program finds {self.usable / 2**20:.0f} MiB = "
            f"{self.usable / 1e9:.5g} GB"
        )

    def remarks(self) -> list[str]:
        """How each line came about, and the device."""
        said = [f"{line.name}: {line.how}" for line in self.lines if line.how]
        return [*said, self._device()] if self._device() else said

    def headline(self) -> str:
        """One readable line."""
        text = f"{self.subject}: {display(self.si('total'), 'byte')} per device"
        if math.isnan(self.usable):
            return text
        left = self.si("free")
        verdict = "fits" if self.fits else "does not fit"
        spare = f"{display(abs(left), 'byte')} {'left' if left >= 0 else 'too much'}"
        return f"{text} of {display(self.usable, 'byte')}, {verdict}, {spare}"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.4g} %" if whole else ""


def overhead_lines(parts: Mapping[str, Any], devices: int) -> list[MemoryLine]:
    """Return the lines of what a runtime takes; collectives only where there are any."""
    return [
        MemoryLine("runtime", name, float(to_si(part, "byte")), _said(part))
        for name, part in parts.items()
        if devices > 1 or "collective" not in name
    ]


def with_margin(lines: Sequence[MemoryLine], margin: float) -> tuple[MemoryLine, ...]:
    """Return lines with a margin for fragmentation, a stated share of their sum."""
    if not margin:
        return tuple(lines)
    size = margin * sum(line.size for line in lines)
    how = f"{100 * margin:g} % of all lines, as stated"
    return (*lines, MemoryLine("margin", "fragmentation", size, how))


def on_device(budget: MemoryBudget, device: Any) -> MemoryBudget:
    """Set a budget against a device.

    Parameters
    ----------
    budget : MemoryBudget
        What is held.
    device : Accelerator, Quantity or str
        An accelerator, or bytes such as "80 GB" which count as they stand.

    Returns
    -------
    MemoryBudget
        The same with capacity.
    """
    if hasattr(device, "capacity"):
        usable = float(to_si(device.capacity, "byte"))
        sold = float(to_si(device.memory, "byte")) if device.memory is not None else usable
        return evolve(budget, usable=usable, sold=sold)
    size = bytes_of(device, "device")
    return evolve(budget, usable=size, sold=size)


def bytes_of(size: Any, name: str) -> float:
    """Return a size in bytes; a bare number is refused, since GB and GiB differ by 7 %."""
    if isinstance(size, (int, float, str)) and re.fullmatch(r"\s*[\d.]+\s*", str(size)):
        bare = str(size).strip()
        raise UnitsError(
            f"{name} is {size!r} without a unit; write '{bare} GB' as sold or '{bare} GiB'"
        )
    return float(to_si(size, "byte", name))


def _said(part: Any) -> str:
    return part.cite() if isinstance(part, Datum) else "given"
