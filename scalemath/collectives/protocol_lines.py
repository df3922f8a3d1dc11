"""The least of up to three lines as a public function, for scalars, arrays and sweeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.kernel import kernel_of, total
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels.envelope import EnvelopeTime, envelope_time
from scalemath.units import display, quantities


@frozen(kw_only=True, eq=False)
class ProtocolTime(Result):
    """Time of a collective on the least of its lines.

    Attributes
    ----------
    given : mapping of str to float
        Arguments in SI units.
    split : EnvelopeTime
        Latency and bandwidth term [s].
    """

    given: Mapping[str, float] = field(repr=False)
    split: EnvelopeTime

    @measured("s")
    def time(self) -> float:
        """Time of the collective."""
        return total(self.split)

    @property
    def line(self) -> int:
        """Which line is the least, from 1."""
        return next(i for i in (1, 2, 3) if self.given[f"latency_{i}"] == self.split.latency)

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        units = {"size": "byte", "latency": "s", "bandwidth": "byte/s/dir"}
        return {
            name: (value, units[name.partition("_")[0]])
            for name, value in self.given.items()
            if math.isfinite(value)
        }

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Terms that sum to the time."""
        return {name: (value, "s") for name, value in self.split._asdict().items()}

    def formula(self) -> tuple[str, str]:
        """Formula in words of the glossary and its source."""
        record = kernel_of(envelope_time)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{display(self.given['size'], 'byte')} on line {self.line}: "
            f"{display(self.si('time'), 's')}"
        )


@quantities(
    Step("time", {"": kernel_of(envelope_time)}, "s"),
    output="time",
    size="byte",
    latency_1="s",
    bandwidth_1="byte/s/dir > 0",
    latency_2="s optional",
    bandwidth_2="byte/s/dir > 0 optional",
    latency_3="s optional",
    bandwidth_3="byte/s/dir > 0 optional",
)
def protocol_time(
    *,
    size: float,
    latency_1: float,
    bandwidth_1: float,
    latency_2: float = math.inf,
    bandwidth_2: float = math.inf,
    latency_3: float = math.inf,
    bandwidth_3: float = math.inf,
    assumed: tuple[str, ...] = (),
) -> ProtocolTime:
    """Time of a collective as the least of up to three lines.

    The arguments but the size are what ``Envelope.parameters()`` holds.

    Parameters
    ----------
    size : Quantity [byte]
        Buffer, counted as in the measurements behind the lines.
    latency_1 : Quantity [s]
        Time of an empty buffer on the first line.
    bandwidth_1 : Quantity [byte/s/dir]
        Algorithm bandwidth of a very large buffer on the first line.
    latency_2 : Quantity [s]
        The same on the second line; left out, there is no such line.
    bandwidth_2 : Quantity [byte/s/dir]
        The same on the second line.
    latency_3 : Quantity [s]
        The same on the third line; left out, there is no such line.
    bandwidth_3 : Quantity [byte/s/dir]
        The same on the third line.

    Returns
    -------
    ProtocolTime
        Time with its two terms, and the line that is the least.

    Notes
    -----
    ``min over i of latency_i + size / bandwidth_i``: how libraries that change protocol with
    the size behave.

    Examples
    --------
    >>> import scalemath as sm
    >>> lines = sm.measured_envelope("H100", "allreduce", ranks=8).parameters()
    >>> print(protocol_time(size="8 KiB", **lines).line, protocol_time(size="1 GiB", **lines).line)
    1 3
    """
    given = {
        "size": size,
        "latency_1": latency_1,
        "bandwidth_1": bandwidth_1,
        "latency_2": latency_2,
        "bandwidth_2": bandwidth_2,
        "latency_3": latency_3,
        "bandwidth_3": bandwidth_3,
    }
    return ProtocolTime(given=given, split=envelope_time(**given), assumptions=assumed)
