"""Transceivers, SerDes and cables: watts from energy per bit, reach, differential pairs."""

from __future__ import annotations

from typing import Any

from scalemath.core.errors import ArgumentError, ConventionError, RangeError
from scalemath.hardware.closure import must_close
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import frozen, given, si
from scalemath.kernels import energy
from scalemath.units import QuantityLike, to_si

MODULE_LATENCY = {"DSP": 60e-9, "LRO": 30e-9, "LPO": 0.0, "CPO": 0.0}
"""What the retimers of one module add to one way [s]: a DSP both ways through 60 ns; a linear
receiver (LRO) keeps one of the two halves; LPO and CPO have none."""

MODULE_CLASS = {"scale-up": ("LPO", "CPO"), "scale-out": ("DSP", "LRO")}
"""Module kinds a tier is usually built with: error rates and distances differ."""


@frozen
class Transceiver:
    """An optical module: one end of a link.

    `power` and `energy_per_bit` follow from each other; both given must close. Energy per bit
    counts the line rate of one direction, so that a link has two modules.

    Parameters
    ----------
    rate : Quantity [byte/s/dir]
        Rate per direction.
    kind : str
        "DSP" (retimed), "LRO" (retimed transmitter only), "LPO" (linear) or "CPO"
        (in the switch package).
    power : Quantity [W], optional
        Power of the module.
    energy_per_bit : Quantity [J/bit], optional
        All-in energy per bit.
    dsp_power : Quantity [W], optional
        Share of the signal processor.
    latency : Quantity [s], optional
        What one module adds to one way; by default 60 ns for a DSP, half of it for LRO.
    roadmap : bool
        Whether the module is announced, not shipped.

    Examples
    --------
    >>> module = Transceiver(rate="800 Gb/s/dir", energy_per_bit="15 pJ/bit")
    >>> print(module.watts, module.link_watts)
    12 W 24 W
    """

    rate: Any = given("byte/s/dir > 0", directed=True)
    kind: str = given("choice DSP LRO LPO CPO", "DSP")
    power: Any = given("W > 0", None)
    energy_per_bit: Any = given("J/bit > 0", None)
    dsp_power: Any = given("W", None)
    latency: Any = given("s latency_kind: one-way", None)
    roadmap: bool = False

    def __attrs_post_init__(self) -> None:
        if self.power is None and self.energy_per_bit is None:
            raise ArgumentError(
                "Transceiver: power is missing; write power='15 W' or energy_per_bit='15 pJ/bit'"
            )
        if None not in (self.power, self.energy_per_bit):
            watts = energy.module_power(si(self, "energy_per_bit"), si(self, "rate"))
            must_close(
                "Transceiver: power",
                figure(watts, "W", "W"),
                f"{self.energy_per_bit:~P} x {self.rate:~P}",
                self.power,
                {"one of them is the power of both ends of the link": 2.0},
            )
        if si(self, "dsp_power") > self.lower():
            raise RangeError(
                f"Transceiver: dsp_power {self.dsp_power} is more than the module's {self.watts}"
            )

    def lower(self) -> float:
        """Power of one module [W]."""
        if self.power is None:
            return energy.module_power(si(self, "energy_per_bit"), si(self, "rate"))
        return si(self, "power")

    def lower_latency(self) -> float:
        """What one module adds to one way [s]."""
        return si(self, "latency", MODULE_LATENCY[self.kind])

    @property
    def watts(self) -> Any:
        """Power of one module."""
        return figure(self.lower(), "W", "W")

    @property
    def link_watts(self) -> Any:
        """Power of both modules of a link."""
        return figure(2.0 * self.lower(), "W", "W")

    @property
    def per_bit(self) -> Any:
        """Energy per bit of the line rate of one direction."""
        return figure(energy.energy_per_bit(self.lower(), si(self, "rate")), "J/bit", "pJ/bit")

    @property
    def dsp_share(self) -> float:
        """Share of the signal processor in the module's power [1]."""
        return energy.power_share(si(self, "dsp_power"), self.lower())

    def saving(self, other: Transceiver) -> float:
        """Share of another module's power that this one saves [1]; rates must be equal.

        Parameters
        ----------
        other : Transceiver
            The module compared with, such as one with a DSP.

        Returns
        -------
        float
            0.6 for 6 W against 15 W.
        """
        return 1.0 - power_ratio(self, other)

    def latency_saving(self, other: Transceiver) -> tuple[Any, Any, Any]:
        """Time saved against another module: per module, per link one-way, per round trip.

        Parameters
        ----------
        other : Transceiver
            The slower module.

        Returns
        -------
        tuple of Quantity [s]
            One module; two modules of a link; both directions of the link.
        """
        saved = other.lower_latency() - self.lower_latency()
        return (
            figure(saved, "s", "ns"),
            figure(2 * saved, "s", "ns"),
            figure(4 * saved, "s", "ns"),
        )

    def __str__(self) -> str:
        flag = " [roadmap]" if self.roadmap else ""
        return (
            f"{self.kind} module, {self.rate:~P}, {self.watts:.4g~P} ({self.per_bit:.4g~P}){flag}"
        )


@frozen
class Serdes:
    """Electrical lanes of one link end, by energy per bit.

    Parameters
    ----------
    energy_per_bit : Quantity [J/bit]
        Energy of one end per bit of one direction.
    lane_rate : Quantity [byte/s/dir]
        Rate of one lane.
    lanes : int
        Lanes compared or powered together.

    Examples
    --------
    >>> print(Serdes(energy_per_bit="4.5 pJ/bit", lane_rate="200 Gb/s/dir").watts)
    0.9 W
    """

    energy_per_bit: Any = given("J/bit > 0")
    lane_rate: Any = given("byte/s/dir > 0", directed=True)
    lanes: int = given("count >= 1", 1)

    @property
    def rate(self) -> Any:
        """Rate of the lanes together per direction."""
        return self.lane_rate * self.lanes

    def lower(self) -> float:
        """Power of the lanes at one end [W]."""
        return energy.module_power(si(self, "energy_per_bit"), to_si(self.rate, "byte/s/dir"))

    @property
    def watts(self) -> Any:
        """Power of the lanes at one end."""
        return figure(self.lower(), "W", "W")

    @property
    def per_bit(self) -> Any:
        """Energy per bit of one end."""
        return self.energy_per_bit


def power_ratio(
    one: Transceiver | Serdes, other: Transceiver | Serdes, *, per_bit: bool = False
) -> float:
    """Power of one part over that of another, like for like.

    Parameters
    ----------
    one, other : Transceiver or Serdes
        What to compare; a module and an electrical lane are both one end of a link.
    per_bit : bool
        Compare the energy per bit, for parts of different rates.

    Returns
    -------
    float
        The ratio [1].

    Raises
    ------
    ConventionError
        If the rates differ and the comparison is not per bit: a lane is no link.

    Examples
    --------
    >>> module = Transceiver(rate="800 Gb/s/dir", energy_per_bit="15 pJ/bit")
    >>> lane = Serdes(energy_per_bit="4.5 pJ/bit", lane_rate="200 Gb/s/dir")
    >>> round(power_ratio(module, lane, per_bit=True), 4)
    3.3333
    """
    rates = [float(to_si(part.rate, "byte/s/dir")) for part in (one, other)]
    if per_bit:
        return (one.lower() / rates[0]) / (other.lower() / rates[1])
    if abs(rates[0] / rates[1] - 1.0) > 1e-9:
        raise ConventionError(
            f"{one.watts:~P} at {one.rate:~P} against {other.watts:~P} at {other.rate:~P}: "
            "parts of different rates (a lane against a link) do not compare; "
            "write power_ratio(..., per_bit=True)"
        )
    return one.lower() / other.lower()


def dsp_gap(dsp: Transceiver, linear: Transceiver) -> str:
    """Say whether dropping the signal processor explains what a linear module saves.

    Parameters
    ----------
    dsp : Transceiver
        Module with `dsp_power` given.
    linear : Transceiver
        Module without the processor.

    Returns
    -------
    str
        A caution when the saving is more than the processor's power; else empty.
    """
    saved, processor = dsp.lower() - linear.lower(), si(dsp, "dsp_power")
    if saved <= processor * (1 + 1e-9):
        return ""
    return (
        f"{saved:.3g} W are saved by leaving out a processor of {processor:.3g} W: "
        f"{saved - processor:.3g} W are not explained by it"
    )


def optics_caution(tier: str, module: Transceiver) -> str:
    """Say when a module kind is unusual for a tier.

    Parameters
    ----------
    tier : str
        "scale-up" or "scale-out".
    module : Transceiver
        What is to be used.

    Returns
    -------
    str
        The caution; empty when the kind is usual there.
    """
    usual = MODULE_CLASS.get(tier)
    if usual is None:
        raise ArgumentError(f"tier is {tier!r}; wanted one of {', '.join(MODULE_CLASS)}")
    if module.kind in usual:
        return ""
    return f"{module.kind} modules are unusual for {tier}; usual are {' and '.join(usual)}"


def watts(energy_per_bit: QuantityLike, rate: QuantityLike) -> Any:
    """Power of one module or link end.

    Parameters
    ----------
    energy_per_bit : Quantity [J/bit]
        Energy per bit of one direction's line rate.
    rate : Quantity [byte/s/dir]
        Rate per direction.

    Returns
    -------
    Quantity [W]
        Power of one end.
    """
    return figure(
        energy.module_power(to_si(energy_per_bit, "J/bit"), to_si(rate, "byte/s/dir")), "W", "W"
    )
