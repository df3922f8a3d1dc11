"""A reported bus bandwidth: what it stands for, and whether it can be right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.collectives.algorithms import TABLE, Algorithm
from scalemath.collectives.cost import NARROW
from scalemath.collectives.operations import Operation, operation_named
from scalemath.core.kernel import kernel_of
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels.busbandwidth import (
    algorithm_of_bus_bandwidth,
    bus_bandwidth,
    reduced_everywhere_factor,
    time_of_bus_bandwidth,
)
from scalemath.units import display, quantities

_LARGE = 2.0**60
"""Size at which latencies do not count [byte]."""


@frozen(kw_only=True, eq=False)
class BusBandwidth(Result):
    """What a bus bandwidth as nccl-tests prints it stands for.

    Attributes
    ----------
    operation_record : Operation
        The operation and its factor.
    ranks : int
        Participants.
    reported, size_bytes, rate : float
        Bus bandwidth [byte/s], size [byte] and rate of one port per direction [byte/s]; nan
        where not given.
    """

    operation_record: Operation = field(repr=False)
    ranks: int
    reported: float
    size_bytes: float
    rate: float

    @property
    def operation(self) -> str:
        """Name of the operation."""
        return self.operation_record.name

    @property
    def factor(self) -> float:
        """Bus over algorithm bandwidth [1]."""
        return float(self.operation_record.factor.function(float(self.ranks)))

    @measured("byte/s")
    def algorithm_bandwidth(self) -> float:
        """Size over time."""
        return algorithm_of_bus_bandwidth(self.reported, self.factor)

    @measured("byte/s")
    def bus_bandwidth(self) -> float:
        """As reported."""
        return self.reported

    @measured("s")
    def time(self) -> float:
        """Duration that it stands for; nan when no size was given."""
        return time_of_bus_bandwidth(self.size_bytes, self.factor, self.reported)

    @measured("1")
    def of_wire(self) -> float:
        """Share of the port's rate; nan when none was given."""
        return self.reported / self.rate

    def ceiling(self, algorithm: Algorithm) -> float:
        """Largest bus bandwidth [byte/s] an algorithm reaches on the port."""
        values = {
            "size": _LARGE,
            "ranks": float(self.ranks),
            "bandwidth": self.rate,
            "latency": 0.0,
            "reduction_rate": math.inf,
            "switch_latency": 0.0,
            "levels": 1.0,
        }
        terms = algorithm.kernel.function(*algorithm.pick(values))
        return bus_bandwidth(_LARGE, terms.bandwidth, self.factor)

    @property
    def verdict(self) -> str:
        """One of "below the wire", "above the wire, as switches allow", "impossible", ""."""
        if not self.rate > 0.0:
            return ""
        if self.reported <= self.rate * (1.0 + NARROW):
            return "below the wire"
        if any(self.ceiling(a) >= self.reported for a in self._helped()):
            return "above the wire, as switches allow"
        return "impossible"

    def _helped(self) -> list[Algorithm]:
        return [a for a in TABLE[self.operation].values() if a.in_network]

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        given = {
            "bus_bandwidth": (self.reported, "byte/s"),
            "ranks": (float(self.ranks), "1"),
            "size": (self.size_bytes, "byte"),
            "bandwidth": (self.rate, "byte/s/dir"),
        }
        return {name: pair for name, pair in given.items() if not math.isnan(pair[0])}

    def formula(self) -> tuple[str, str]:
        """Formula in words of the glossary and its source."""
        record = self.operation_record.factor
        return f"algorithm bandwidth = bus bandwidth / ({record.formula})", record.source

    def headline(self) -> str:
        """One readable line."""
        text = (
            f"{self.operation} over {self.ranks} ranks: bus bandwidth "
            f"{display(self.reported, 'byte/s')} is an algorithm bandwidth of "
            f"{display(self.si('algorithm_bandwidth'), 'byte/s')}"
        )
        if not math.isnan(self.size_bytes):
            text += f", {display(self.si('time'), 's')}"
        return f"{text}; {self.verdict}" if self.verdict else text

    def remarks(self) -> list[str]:
        """Whether the port could carry it, and by which algorithm."""
        verdict = self.verdict
        if not verdict:
            return []
        shown = display(self.rate, "byte/s/dir")
        if verdict == "below the wire":
            return [f"that is {100 * self.si('of_wire'):.6g} % of the port's {shown}"]
        lines = [
            f"that is above the port's {shown}: the bus bandwidth is no rate on a wire but the "
            f"algorithm bandwidth times {self.factor:.6g}, what a ring between endpoints would "
            "have to carry"
        ]
        for algorithm in self._helped():
            most = self.ceiling(algorithm)
            share = f"{100 * self.reported / most:.4g} % of" if most >= self.reported else "above"
            lines.append(
                f"with {algorithm.needs} ({algorithm.name}) up to {display(most, 'byte/s')} can "
                f"be reported: this is {share} that"
            )
        if verdict == "impossible":
            lines.append(
                "no algorithm here reaches it: look for a rate of both directions, bits for "
                "bytes, a wrong rank count, or several ports per rank"
            )
        else:
            lines.append("nothing is broken; compare with that ceiling, not with the port")
        return lines


@quantities(
    Step("factor", {"": kernel_of(reduced_everywhere_factor)}, "1"),
    Step(
        "algorithm_bandwidth",
        {"": kernel_of(algorithm_of_bus_bandwidth)},
        "byte/s",
        rename={"rate": "bus_bandwidth"},
    ),
    bus_bandwidth="byte/s > 0",
    ranks="count >= 2",
    size="byte optional",
    bandwidth="byte/s/dir > 0 optional",
)
def from_bus_bandwidth(
    bus_bandwidth: float,
    ranks: float,
    *,
    operation: str = "allreduce",
    size: float = math.nan,
    bandwidth: float = math.nan,
    assumed: tuple[str, ...] = (),
) -> BusBandwidth:
    """Read a bus bandwidth as nccl-tests prints it: algorithm bandwidth, time, plausibility.

    Parameters
    ----------
    bus_bandwidth : Quantity [byte/s]
        As printed.
    ranks : int
        Participants.
    operation : str
        Public name of the collective; a sweep or an array always answers for an allreduce.
    size : Quantity [byte]
        Size of the operation, to get its time.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction, to judge the figure.

    Returns
    -------
    BusBandwidth
        Algorithm bandwidth, time when a size is given, and a verdict when a rate is given;
        `explain()` says why a figure may lie above the wire.

    Notes
    -----
    Factors by [NCCLTests]_: ``2 (ranks - 1) / ranks`` for an allreduce, ``(ranks - 1) / ranks``
    where a rank's own block stays with it, 1 for broadcast, reduce and send-receive.

    Examples
    --------
    >>> from scalemath.collectives import from_bus_bandwidth
    >>> seen = from_bus_bandwidth("483 GB/s", ranks=8, bandwidth="450 GB/s/dir")
    >>> print(f"{seen.algorithm_bandwidth.to('GB/s'):.6g~P}; {seen.verdict}")
    276 GB/s; above the wire, as switches allow
    """
    return BusBandwidth(
        operation_record=operation_named(operation),
        ranks=int(ranks),
        reported=bus_bandwidth,
        size_bytes=size,
        rate=bandwidth,
        assumptions=assumed,
    )
