"""A network interface: the scale-out ports of a node."""

from __future__ import annotations

from typing import Any

from scalemath.core.errors import ArgumentError
from scalemath.hardware.closure import must_close
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import frozen, given, si
from scalemath.hardware.protocols import check_generation


@frozen
class Nic:
    """A network interface card or chip.

    Parameters
    ----------
    ports : int
        Ports; a dual-plane adapter has two.
    port_rate : Quantity [byte/s/dir]
        Rate of one port; its direction must be said.
    bandwidth : Quantity [byte/s/dir], optional
        Rate of all ports together, if stated; must close.
    latency : Quantity [s], optional
        What the interface and its software add to one way, both ends together.
    power : Quantity [W], optional
        Power of the card without modules.
    protocol, generation : str, optional
        As for a switch.

    Examples
    --------
    >>> print(Nic(ports=2, port_rate="400 Gb/s/dir").rate)
    800 Gbit/s/dir
    """

    ports: int = given("count >= 1", 1)
    port_rate: Any = given("byte/s/dir > 0", None, directed=True)
    bandwidth: Any = given("byte/s/dir > 0", None, directed=True)
    latency: Any = given("s latency_kind: one-way", None)
    power: Any = given("W", None)
    protocol: str | None = None
    generation: str | None = None

    def __attrs_post_init__(self) -> None:
        if self.port_rate is None and self.bandwidth is None:
            raise ArgumentError("Nic: port_rate is missing; write port_rate='400 Gb/s/dir'")
        if None not in (self.port_rate, self.bandwidth):
            must_close(
                "Nic: bandwidth",
                self.port_rate * self.ports,
                f"{self.ports} ports x {self.port_rate:~P}",
                self.bandwidth,
            )
        check_generation("Nic", self.protocol, self.generation, self.lower() / self.ports)

    def lower(self) -> float:
        """Rate of all ports together per direction [byte/s]."""
        if self.port_rate is None:
            return si(self, "bandwidth")
        return self.ports * si(self, "port_rate")

    @property
    def rate(self) -> Any:
        """Rate of all ports together per direction."""
        return figure(self.lower(), "byte/s/dir", "Gbit/s/dir")

    def __str__(self) -> str:
        return f"network interface, {self.ports} port(s), {self.rate:~P}"
