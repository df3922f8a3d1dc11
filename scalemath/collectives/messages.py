"""One message between two ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scalemath.core.kernel import kernel_of, total
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels import latency as la
from scalemath.kernels.terms import MessageTerms
from scalemath.units import display, quantities


@frozen(kw_only=True, eq=False)
class MessageTime(Result):
    """Duration of one message and how well it fills the wire.

    Attributes
    ----------
    size_bytes, bandwidth_si, latency_si : float
        Arguments in SI units [byte, byte/s, s].
    split : MessageTerms
        Terms of the time in seconds.
    """

    size_bytes: float
    bandwidth_si: float
    latency_si: float
    split: MessageTerms

    @measured("s")
    def time(self) -> float:
        """Predicted duration."""
        return total(self.split)

    @measured("byte")
    def half_bandwidth_size(self) -> float:
        """Message size at which half of the bandwidth is reached."""
        return la.half_bandwidth_size(self.bandwidth_si, self.latency_si)

    @measured("1")
    def efficiency(self) -> float:
        """Share of the bandwidth that this message reaches."""
        return la.message_efficiency(self.size_bytes, self.bandwidth_si, self.latency_si)

    @measured("byte/s")
    def reached_bandwidth(self) -> float:
        """Size over time."""
        return self.bandwidth_si * self.si("efficiency")

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {
            "size": (self.size_bytes, "byte"),
            "bandwidth": (self.bandwidth_si, "byte/s/dir"),
            "latency": (self.latency_si, "s"),
        }

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Terms that sum to the time."""
        return {name: (value, "s") for name, value in self.split._asdict().items()}

    def formula(self) -> tuple[str, str]:
        """Formula in words of the glossary and its source."""
        record = kernel_of(la.message_time)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        return (
            f"message of {display(self.size_bytes, 'byte')}: {display(self.si('time'), 's')}, "
            f"{100 * self.si('efficiency'):.6g} % of {display(self.bandwidth_si, 'byte/s/dir')}, "
            f"half of it at {display(self.si('half_bandwidth_size'), 'byte')}"
        )


@quantities(
    Step("time", {"": kernel_of(la.message_time)}, "s"),
    Step("half_bandwidth_size", {"": kernel_of(la.half_bandwidth_size)}, "byte"),
    Step("efficiency", {"": kernel_of(la.message_efficiency)}, "1"),
    output="time",
    size="byte",
    bandwidth="byte/s/dir > 0",
    latency="s",
)
def message_time(
    size: float, bandwidth: float, latency: float = 0.0, *, assumed: tuple[str, ...] = ()
) -> MessageTime:
    """Time to move one message over one port.

    Parameters
    ----------
    size : Quantity [byte]
        Size of the message.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of the port per direction.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.

    Returns
    -------
    MessageTime
        Time with its two terms, share of the bandwidth reached, size at half the bandwidth.

    Notes
    -----
    ``latency + size / bandwidth``, half of the bandwidth at ``latency * bandwidth``
    [Hockney1994]_.

    Examples
    --------
    >>> from scalemath.collectives import message_time
    >>> message = message_time(size="512 KiB", bandwidth="100 GB/s/dir", latency="2 us")
    >>> print(f"{message.time.to('us'):.6g~P}, {message.efficiency:.6g}")
    7.24288 µs, 0.723867
    """
    return MessageTime(
        size_bytes=size,
        bandwidth_si=bandwidth,
        latency_si=latency,
        split=la.message_time(size, bandwidth, latency),
        assumptions=assumed,
    )
