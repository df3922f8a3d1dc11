"""What the estimate returns: rows of algorithms and protocols, and the choice."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.collectives.nccl.availability import ALGORITHMS, PROTOCOLS
from scalemath.collectives.nccl.constants import Version
from scalemath.collectives.nccl.graphs import Communicator, one_of
from scalemath.core.errors import RangeError
from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.kernels.nccl import nccl_time
from scalemath.units import Quantity, display, quantity

SELECTOR = "NCCL's estimate ranks algorithms inside NCCL; it does not predict measured time"


@frozen(kw_only=True, eq=False)
class Row(Result):
    """One algorithm with one protocol.

    Attributes
    ----------
    algorithm, protocol : str
        Names as NCCL writes them.
    latency_seconds : float
        Latency of NCCL's table, before the factors of the time formula [s].
    bandwidth_bytes_per_second : float
        Algorithm bandwidth of NCCL's table, before the tree correction [byte/s].
    latency_factor, operations, correction : float
        The factors of the time formula.
    time_seconds : float
        Estimated time, not clamped [s].
    bound_seconds : float
        Bandwidth bound of the same kind of schedule; zero when no port rate is known [s].
    selected : bool
        Whether NCCL chooses this row.
    """

    algorithm: str
    protocol: str
    latency_seconds: float
    bandwidth_bytes_per_second: float
    latency_factor: float
    operations: float
    correction: float
    time_seconds: float
    bound_seconds: float
    selected: bool = False

    @measured("s")
    def latency(self) -> float:
        """Latency of NCCL's table."""
        return self.latency_seconds

    @measured("byte/s")
    def bandwidth(self) -> float:
        """Algorithm bandwidth of NCCL's table, before the tree correction."""
        return self.bandwidth_bytes_per_second

    @measured("s")
    def time(self) -> float:
        """Estimated time, not clamped."""
        return self.time_seconds

    @measured("1")
    def below_bound(self) -> float:
        """Share of the bound by which the estimate lies below it; 0 where it does not."""
        if self.bound_seconds <= 0.0:
            return 0.0
        return max(0.0, 1.0 - self.time_seconds / self.bound_seconds)

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Latency and bandwidth term of the time."""
        first = self.latency_seconds * self.latency_factor * self.operations
        return {"latency": (first, "s"), "bandwidth": (self.time_seconds - first, "s")}

    def formula(self) -> tuple[str, str]:
        """The time formula and its source."""
        record = kernel_of(nccl_time)
        return record.formula, record.source

    def headline(self) -> str:
        """Algorithm, protocol, the three numbers, and a mark."""
        line = (
            f"{self.algorithm + '/' + self.protocol:20s}"
            f" latency {self.latency_seconds * 1e6:8.1f} us"
            f"  bandwidth {self.bandwidth_bytes_per_second / 1e9:6.1f} GB/s"
            f"  time {self.time_seconds * 1e6:11.1f} us"
        )
        if self.selected:
            line += "  <- selected"
        below = self.si("below_bound")
        return line + (f"  ({below:.0%} below its bandwidth bound)" if below > 0.0 else "")


@frozen(kw_only=True, eq=False)
class Estimate(Result):
    """NCCL's estimate for one call: what it would compare, and what it would choose.

    Attributes
    ----------
    operation : str
        Collective.
    size_bytes : float
        Total buffer size by the nccl-tests convention [byte].
    communicator : Communicator
        The machine and its graphs.
    release : Version
        Whose constants were used.
    rows : tuple of Row
        The rows NCCL compares, in its order.
    obstacles : tuple of (str, str)
        What it does not compare, and why.
    """

    operation: str
    size_bytes: float
    communicator: Communicator
    release: Version
    rows: tuple[Row, ...]
    obstacles: tuple[tuple[str, str], ...] = field(repr=False)

    @property
    def selected(self) -> Row:
        """The row NCCL chooses."""
        return next(row for row in self.rows if row.selected)

    @property
    def size(self) -> Quantity:
        """Total buffer size."""
        return quantity(self.size_bytes, "byte")

    @measured("s")
    def time(self) -> float:
        """Time of the chosen row."""
        return self.selected.time_seconds

    def row(self, algorithm: str, protocol: str = "Simple") -> Row:
        """The row of one algorithm and protocol.

        Parameters
        ----------
        algorithm, protocol : str
            Names in any case.

        Returns
        -------
        Row
            Its numbers.

        Raises
        ------
        RangeError
            When NCCL does not offer it here; the message says why.
        """
        wanted = (
            one_of(algorithm, "algorithm", ALGORITHMS),
            one_of(protocol, "protocol", PROTOCOLS),
        )
        for row in self.rows:
            if (row.algorithm, row.protocol) == wanted:
                return row
        why = dict(self.obstacles)
        reason = why.get(wanted[0]) or why.get("/".join(wanted)) or "it was left out of the call"
        raise RangeError(f"{'/'.join(wanted)} is not available: {reason}")

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Size, nodes and ranks."""
        return {
            "size": (self.size_bytes, "byte"),
            "nodes": (self.communicator.nodes, "1"),
            "ranks": (self.communicator.ranks, "1"),
        }

    def formula(self) -> tuple[str, str]:
        """The time formula and the source of the constants."""
        return kernel_of(nccl_time).formula, self.release.source

    def headline(self) -> str:
        """What is chosen, and its time."""
        best = self.selected
        what = f"{self.operation} of {display(self.size_bytes, 'byte')}"
        return (
            f"NCCL {self.release.name} would run {what} on {self.communicator.ranks} ranks "
            f"by {best.algorithm}/{best.protocol} "
            f"(its own estimate: {best.time_seconds * 1e6:.1f} us)"
        )

    def remarks(self) -> list[str]:
        """The table, and what is not in it."""
        left_out = [f"not compared: {what}: {why}" for what, why in self.obstacles]
        return [row.headline() for row in self.rows] + left_out

    def to_dict(self) -> dict[str, Any]:
        """Plain data: every number with its unit beside it."""
        table = [
            {"algorithm": r.algorithm, "protocol": r.protocol, "selected": r.selected}
            | {name: {"value": v, "unit": u} for name, (v, u) in r.values().items()}
            for r in self.rows
        ]
        return super().to_dict() | {
            "operation": self.operation,
            "version": self.release.name,
            "rows": table,
        }

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td>{r.algorithm}</td><td>{r.protocol}</td><td>{r.latency_seconds * 1e6:.1f}</td>"
            f"<td>{r.bandwidth_bytes_per_second / 1e9:.1f}</td><td>{r.time_seconds * 1e6:.1f}</td>"
            f"<td>{'selected' if r.selected else ''}</td></tr>"
            for r in self.rows
        )
        head = "<th>algorithm</th><th>protocol</th><th>latency [us]</th>"
        head += "<th>bandwidth [GB/s]</th><th>time [us]</th><th></th>"
        caption = html.escape(self.headline())
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{cells}</table>"


def cautions_of(rows: tuple[Row, ...], release: Version) -> tuple[str, ...]:
    """What a reader should know before using a number of these rows."""
    notes = [SELECTOR]
    if not release.verified:
        notes.append(f"the constants of NCCL {release.name} are unverified")
    notes += [
        f"{row.algorithm}/{row.protocol} lies {row.si('below_bound'):.0%} below its bandwidth "
        f"bound of {row.bound_seconds * 1e6:.1f} us; the estimate is not clamped"
        for row in rows
        if row.si("below_bound") > 0.0
    ]
    return tuple(notes)
