"""Latency budgets of a fabric: one-way and round trip, static and under load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.result import Result, measured
from scalemath.core.value_range import Range
from scalemath.hardware.cable import FIBRE_DELAY
from scalemath.hardware.counts import figure
from scalemath.hardware.fec import ReedSolomon
from scalemath.hardware.nic import Nic
from scalemath.hardware.optics import Transceiver
from scalemath.hardware.switch import Switch
from scalemath.kernels.latency_budget import PathTerms, endpoint_share, one_way_latency
from scalemath.units import QuantityLike, display, to_si

if TYPE_CHECKING:
    from scalemath.topology.fabric import Fabric

EXPECTED = {
    "scale-up": (0.2e-6, 0.5e-6),
    "InfiniBand": (1.0e-6, 2.0e-6),
    "Ethernet": (1.5e-6, 2.5e-6),
    "scale-out": (1.0e-6, 2.5e-6),
}
"""Round trips of small messages through one switch [s]: NVSwitch 0.1 to 0.25 us one-way,
NDR InfiniBand 1 to 2 us, RoCE 1.5 to 2.5 us."""

_SOFTWARE = 20e-6


@frozen(kw_only=True, eq=False)
class LatencyBudget(Result):
    """Latency of one path, part by part.

    Attributes
    ----------
    parts : PathTerms
        One-way parts [s].
    switches, links : int
        What the path passes.
    """

    parts: PathTerms
    switches: int
    links: int
    given: Mapping[str, tuple[float, str]] = field(factory=dict)

    @measured("s")
    def one_way(self) -> float:
        """Time from one endpoint to the other."""
        return sum(self.parts)

    @measured("s")
    def round_trip(self) -> float:
        """Time there and back: twice the one-way time."""
        return 2.0 * sum(self.parts)

    @measured("s")
    def static(self) -> float:
        """One-way time without load."""
        return sum(self.parts) - self.parts.queueing

    @measured("s")
    def dynamic(self) -> float:
        """One-way time that load adds."""
        return self.parts.queueing

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Parts of the one-way time."""
        return {name: (value, "s") for name, value in self.parts._asdict().items() if value}

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """What the budget was made from."""
        return self.given

    def formula(self) -> tuple[str, str]:
        """Return the sum in words."""
        return (
            "endpoints + switches + cables + links (FEC + 2 modules) + queueing",
            "sum over the parts of a path; M/M/1 wait per switch as the load model",
        )

    def headline(self) -> str:
        """One readable line."""
        return (
            f"one-way {display(self.si('one_way'), 's')}, round trip "
            f"{display(self.si('round_trip'), 's')} over {self.switches} switch(es) and "
            f"{self.links} link(s)"
        )


def latency_budget(
    fabric: Fabric,
    *,
    endpoint_latency: QuantityLike | Nic = "0 s",
    switch_latency: QuantityLike | Switch = "0 s",
    cable_length: QuantityLike = "0 m",
    delay_per_metre: QuantityLike = "4.9 ns/m",
    fec: ReedSolomon | QuantityLike | None = None,
    module: Transceiver | QuantityLike | None = None,
    utilisation: float = 0.0,
    packet_size: QuantityLike = "4096 byte",
    between: tuple[int, int] | None = None,
    tier: str | None = None,
) -> LatencyBudget:
    """Latency of a path through a fabric.

    Parameters
    ----------
    fabric : Fabric
        Any topology.
    endpoint_latency : Quantity [s] or Nic
        One-way share of both endpoints together.
    switch_latency : Quantity [s] or Switch
        One pass through a switch.
    cable_length : Quantity [m]
        All cables of the path together.
    delay_per_metre : Quantity [s/m]
        Delay of the medium.
    fec : ReedSolomon or Quantity [s], optional
        Code on every link at the endpoint's rate, or its time per link.
    module : Transceiver or Quantity [s], optional
        Optical modules at both ends of every link, or the time of one module.
    utilisation : float
        Load of the ports passed [1]; 0 leaves the static part alone.
    packet_size : Quantity [byte]
        Packet that is waited for under load.
    between : pair of int, optional
        Two endpoints; the farthest two by default.
    tier : str, optional
        Name in `EXPECTED`; a round trip through one switch outside its range is then cautioned.
        Endpoints and one switch that take longer than a hop of a tier are cautioned always.

    Returns
    -------
    LatencyBudget
        One-way parts; round trip beside it.
    """
    if not 0.0 <= utilisation < 1.0:
        raise RangeError(f"utilisation is {utilisation}; wanted from 0 to below 1")
    switches, links = _path(fabric, between)
    port = fabric.lower_port() if (utilisation or isinstance(fec, ReedSolomon)) else 0.0
    coded = 0.0
    if isinstance(fec, ReedSolomon):
        coded = to_si(fec.block_latency(fec.line_rate(f"{port!r} byte/s/dir")), "s")
    elif fec is not None:
        coded = to_si(fec, "s")
    retimed = 0.0
    if isinstance(module, Transceiver):
        retimed = module.lower_latency()
    elif module is not None:
        retimed = to_si(module, "s")
    service = to_si(packet_size, "byte") / port if utilisation else 0.0
    endpoint = _seconds(endpoint_latency, "endpoint_latency")
    one_switch = _seconds(switch_latency, "switch_latency")
    metres = to_si(cable_length, "m")
    slow = to_si(delay_per_metre, "s/m") if delay_per_metre != "4.9 ns/m" else FIBRE_DELAY
    parts = one_way_latency(
        endpoint,
        one_switch,
        float(switches),
        metres,
        slow,
        float(links),
        coded,
        retimed,
        service,
        utilisation,
    )
    where = "the farthest two endpoints" if between is None else f"endpoints {between}"
    assumptions = [f"path between {where}"]
    if utilisation:
        assumptions.append(
            f"M/M/1 wait at utilisation {utilisation:g}, packets of {packet_size}: a model choice"
        )
    if tier is not None and switches == 1:
        found = latency_caution(f"{2.0 * sum(parts)!r} s", tier)
    else:
        found = _hop_caution(2.0 * (endpoint + one_switch), tier or "scale-out")
    return LatencyBudget(
        cautions=(found,) if found else (),
        parts=parts,
        switches=switches,
        links=links,
        assumptions=tuple(assumptions),
        given={
            "endpoint_latency": (endpoint, "s"),
            "switch_latency": (one_switch, "s"),
            "cable_length": (metres, "m"),
        },
    )


def _hop_caution(round_trip: float, tier: str) -> str:
    """Caution about endpoints and one switch that take longer than a hop [s] of the tier."""
    found = latency_caution(f"{round_trip!r} s", tier)
    if not found or round_trip <= EXPECTED[tier][1]:
        return ""  # parts that were left out make a path short, which says nothing
    return f"endpoints and one switch, there and back: {found}"


def _path(fabric: Fabric, between: tuple[int, int] | None) -> tuple[int, int]:
    """Switches and links on a path."""
    if fabric.forwarding_endpoints:
        links = fabric.diameter if between is None else fabric.hops(*between)
        return max(links - 1, 0), links
    switches = fabric.diameter + 1 if between is None else fabric.hops(*between)
    return switches, switches + 1 if switches else 0


def _seconds(value: Any, name: str) -> float:
    if isinstance(value, (Switch, Nic)):
        if value.latency is None:
            raise ArgumentError(f"{name}: the {type(value).__name__} has no latency of its own")
        value = value.latency
    return float(to_si(value, "s", name))


def endpoint_latency(
    round_trip: QuantityLike, switch_latency: QuantityLike, passes: int = 1
) -> Any:
    """What a measured round trip leaves for the two endpoints, both ways together.

    Parameters
    ----------
    round_trip : Quantity [s]
        Round trip of a small message.
    switch_latency : Quantity [s]
        One pass through a switch.
    passes : int
        Switches on one way; a round trip passes each of them twice.

    Returns
    -------
    Quantity [s]
        The remainder.

    Examples
    --------
    >>> print(endpoint_latency("2 us", "100 ns"))
    1.8 µs
    """
    left = endpoint_share(to_si(round_trip, "s"), to_si(switch_latency, "s"), float(passes))
    if left < 0.0:
        raise RangeError(
            f"{2 * passes} passes of {switch_latency} take longer than the round trip {round_trip}"
        )
    return figure(left, "s", "us")


def latency_caution(
    latency: QuantityLike | Range, tier: str, *, latency_kind: str = "round-trip"
) -> str:
    """Say when a latency is not what one hop of a tier takes.

    Parameters
    ----------
    latency : Quantity [s] or Range
        Figure, or both ends of one.
    tier : str
        "scale-up", "scale-out", "InfiniBand" or "Ethernet".
    latency_kind : str
        "round-trip" or "one-way".

    Returns
    -------
    str
        The caution with the expected range; empty when the figure lies in it.

    Examples
    --------
    >>> latency_caution("1.2 us", "scale-out")
    ''
    """
    if tier not in EXPECTED:
        raise ArgumentError(f"tier is {tier!r}; wanted one of {', '.join(EXPECTED)}")
    if latency_kind not in ("round-trip", "one-way"):
        raise ArgumentError(f"latency_kind is {latency_kind!r}; wanted 'round-trip' or 'one-way'")
    ends = (latency.low, latency.high) if isinstance(latency, Range) else (latency, latency)
    low, high = (to_si(end, "s") for end in ends)
    factor = 2.0 if latency_kind == "one-way" else 1.0
    least, most = (end / factor for end in EXPECTED[tier])
    if least * 0.999999 <= low and high <= most * 1.000001:
        return ""
    if high < least or (low < least and high <= most):
        where = f"{display(least / high, '1', 4)} to {display(most / low, '1', 4)} times below"
    else:
        below, above = max(low / most, 1.0), high / least
        where = f"{display(below, '1', 4)} to {display(above, '1', 4)} times above"
    said = display(low, "s") if low == high else f"{display(low, 's')} to {display(high, 's')}"
    text = (
        f"{said} {latency_kind} is {where} the {display(least, 's')} to {display(most, 's')} "
        f"expected of one {tier} hop"
    )
    if low > most:
        if high <= _SOFTWARE:
            text += "; such figures belong to the library above (NCCL) or an untuned network"
        elif low >= 1e-4:
            text += "; milliseconds are what a user or a wide-area link sees, not a hop in a hall"
    return text
