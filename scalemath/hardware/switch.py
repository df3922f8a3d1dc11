"""A switch: ports, their rate, the capacity that follows, and what it costs in time and power."""

from __future__ import annotations

from typing import Any

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.hardware.closure import must_close
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import changed, frozen, given, si
from scalemath.hardware.protocols import check_generation
from scalemath.units import Q_, to_si


@frozen
class Switch:
    """A switch chip, box or tray.

    Two of `ports`, `port_rate` and `capacity` fix the third; three of them must close.

    Parameters
    ----------
    ports : int, optional
        Ports at `port_rate`.
    port_rate : Quantity [byte/s/dir]
        Rate of one port; its direction must be said.
    capacity : Quantity [byte/s/dir], optional
        Switching capacity; say "/dir" for ports times rate, "/bidir" for twice that.
    latency : Quantity [s], optional
        Port-to-port time, one-way.
    power : Quantity [W], optional
        Power of the switch without pluggable modules.
    protocol, generation : str, optional
        "InfiniBand" and "XDR", or "Ethernet" and "800GbE"; labels that do not belong
        together are refused.

    Examples
    --------
    >>> quantum = Switch(ports=144, port_rate="800 Gb/s/dir")
    >>> print(quantum.capacity_per_direction)
    115.2 Tbit/s/dir
    """

    ports: int | None = given("count >= 1", None)
    port_rate: Any = given("byte/s/dir > 0", None, directed=True)
    capacity: Any = given("byte/s/dir > 0", None, directed=True)
    latency: Any = given("s latency_kind: one-way", None)
    power: Any = given("W", None)
    protocol: str | None = None
    generation: str | None = None

    def __attrs_post_init__(self) -> None:
        if (self.ports is None) + (self.port_rate is None) + (self.capacity is None) > 1:
            raise ArgumentError(
                "Switch: give two of ports, port_rate and capacity, as in "
                "Switch(ports=64, port_rate='800 Gb/s/dir')"
            )
        if None not in (self.ports, self.port_rate, self.capacity):
            must_close(
                "Switch: capacity",
                self.port_rate * self.ports,
                f"{self.ports} ports x {self.port_rate:~P}",
                self.capacity,
            )
        ratio = si(self, "capacity") / self._rate if self.ports is None else 1.0
        if abs(ratio - round(ratio)) > 1e-6:
            raise ContradictionError(
                f"Switch: {self.capacity:~P} is {ratio:.6g} ports of {self.port_rate:~P}; "
                "a switch has whole ports (is the capacity per direction or in both?)"
            )
        check_generation("Switch", self.protocol, self.generation, self._rate)

    @property
    def _rate(self) -> float:
        if self.port_rate is None:
            return si(self, "capacity") / float(self.ports or 1)
        return si(self, "port_rate")

    @property
    def radix(self) -> int:
        """Number of ports."""
        return self.ports if self.ports is not None else round(si(self, "capacity") / self._rate)

    @property
    def rate(self) -> Any:
        """Rate of one port per direction."""
        return figure(self._rate, "byte/s/dir", "Gbit/s/dir")

    @property
    def capacity_per_direction(self) -> Any:
        """Sum of the port rates of one direction, the convention of Ethernet data sheets."""
        return figure(self.radix * self._rate, "byte/s/dir", "Tbit/s/dir")

    @property
    def capacity_both_directions(self) -> Any:
        """Sum over both directions, the convention of NVLink and of some InfiniBand sheets."""
        return figure(self.radix * self._rate, "byte/s/dir", "Tbit/s/bidir")

    def split(self, ways: int) -> Switch:
        """Return the switch with every port split into `ways` slower ones.

        Parameters
        ----------
        ways : int
            Ends per port: 2 makes two 400 Gbit/s ports of each 800 Gbit/s one.

        Returns
        -------
        Switch
            Same capacity, radix times `ways`.
        """
        if ways < 1:
            raise RangeError(f"Switch.split: ways is {ways}; wanted at least 1")
        copy: Switch = changed(
            self,
            ports=self.radix * ways,
            port_rate=self.rate / ways,
            capacity=None,
            generation=None,
        )
        return copy

    def servers(self, nics_per_server: int) -> int:
        """Servers that find a port for each of their network interfaces.

        Parameters
        ----------
        nics_per_server : int
            Interfaces of a server, one port each.

        Returns
        -------
        int
            Whole servers.
        """
        if nics_per_server < 1:
            raise RangeError(f"Switch.servers: nics_per_server is {nics_per_server}; wanted >= 1")
        return self.radix // nics_per_server

    def __str__(self) -> str:
        return f"switch, {self.radix} x {self.rate:~P} = {self.capacity_per_direction:~P}"


def oversubscription(*, down: tuple[int, Any], up: tuple[int, Any]) -> float:
    """Down-capacity over up-capacity of a switch or tier.

    Parameters
    ----------
    down, up : tuple of int and Quantity [byte/s/dir]
        Ports and the rate of each.

    Returns
    -------
    float
        4 means down:up 4:1.

    Examples
    --------
    >>> oversubscription(down=(72, "800 Gb/s"), up=(144, "400 Gb/s"))
    1.0
    """
    lower = Switch(ports=down[0], port_rate=_directed(down[1]))
    upper = Switch(ports=up[0], port_rate=_directed(up[1]))
    return lower.radix * lower._rate / (upper.radix * upper._rate)


def _directed(rate: Any) -> Any:
    """Take a rate of both kinds: a ratio does not care, as long as both are meant alike."""
    return Q_(to_si(rate, "byte/s/dir"), "byte/s/dir")
