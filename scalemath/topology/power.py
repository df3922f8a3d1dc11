"""Power of a fabric by part, and its share of a whole of the same scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.core.result import Result, measured
from scalemath.hardware.cable import Cable
from scalemath.hardware.fields import si
from scalemath.hardware.nic import Nic
from scalemath.hardware.optics import Transceiver
from scalemath.hardware.switch import Switch
from scalemath.kernels import energy
from scalemath.kernels.energy import NetworkPower
from scalemath.units import QuantityLike, display, to_si

if TYPE_CHECKING:
    from scalemath.topology.fabric import Fabric


@frozen(kw_only=True, eq=False)
class FabricPower(Result):
    """Power of a fabric.

    Attributes
    ----------
    parts : NetworkPower
        Watts by part.
    usage_effectiveness : float
        PUE applied once for the facility [1].
    modules : int
        Optical modules counted.
    """

    parts: NetworkPower
    usage_effectiveness: float = 1.0
    modules: int = 0

    @measured("W")
    def it_power(self) -> float:
        """Power of the parts themselves."""
        return sum(self.parts)

    @measured("W")
    def optics(self) -> float:
        """Power of the optical modules."""
        return self.parts.transceivers

    @measured("W")
    def facility_power(self) -> float:
        """Power at the meter of the hall."""
        return energy.facility_power(sum(self.parts), self.usage_effectiveness)

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Watts by part."""
        return {name: (value, "W") for name, value in self.parts._asdict().items() if value}

    def formula(self) -> tuple[str, str]:
        """Return the sum in words."""
        return (
            "switches + modules (two per link) + active cables + interfaces",
            "pJ/bit counts the line rate of one direction, per module",
        )

    def headline(self) -> str:
        """One readable line."""
        text = f"{display(self.si('it_power'), 'W')} of IT power"
        if self.usage_effectiveness != 1.0:
            text += (
                f", {display(self.si('facility_power'), 'W')} at the meter "
                f"(PUE {self.usage_effectiveness:g}, applied once)"
            )
        return text

    def share_of(self, whole: QuantityLike, *, facility: bool = False) -> float:
        """Share in the power of the whole cluster.

        Parameters
        ----------
        whole : Quantity [W]
            Power of the cluster, its fabric included.
        facility : bool
            Whether that is power at the meter; the fabric is then taken there too.

        Returns
        -------
        float
            The share [1].

        Raises
        ------
        ContradictionError
            If the fabric takes more than the whole.
        """
        watts = to_si(whole, "W")
        own = self.si("facility_power") if facility else self.si("it_power")
        if own > watts:
            raise ContradictionError(
                f"the fabric takes {display(own, 'W')}, more than the whole {display(watts, 'W')}; "
                "is the whole of another scope (a rack, a node)?"
            )
        return energy.power_share(own, watts)


def fabric_power(
    fabric: Fabric,
    *,
    switch: Switch | QuantityLike | None = None,
    transceiver: Transceiver | QuantityLike | None = None,
    cable: Cable | QuantityLike | None = None,
    nic: Nic | QuantityLike | None = None,
    copper: Iterable[str] = (),
    ideal: bool = False,
    usage_effectiveness: float = 1.0,
) -> FabricPower:
    """Power of a fabric by part; parts without a figure count nothing and are listed.

    Parameters
    ----------
    fabric : Fabric
        Any topology.
    switch : Switch or Quantity [W], optional
        Power of one switch without modules.
    transceiver : Transceiver or Quantity [W], optional
        Power of one module.
    cable : Cable or Quantity [W], optional
        Power of one active copper cable, both ends.
    nic : Nic or Quantity [W], optional
        Power of one endpoint's interface.
    copper : iterable of str
        Tiers cabled in copper: no modules there, but cables.
    ideal : bool
        Count links as a rule of thumb does, one per endpoint and tier.
    usage_effectiveness : float
        PUE of the hall [1].

    Returns
    -------
    FabricPower
        Watts by part.
    """
    if not usage_effectiveness >= 1.0:
        raise RangeError(f"usage_effectiveness is {usage_effectiveness}; a PUE is at least 1")
    copper = {copper} if isinstance(copper, str) else set(copper)
    if ideal:
        links = getattr(fabric, "ideal_links", None)
        if links is None:
            raise ArgumentError(
                f"{type(fabric).__name__} has no ideal counts; leave out ideal=True"
            )
        modules = 2 * sum(n for tier, n in links.items() if tier not in copper)
    else:
        modules = fabric.transceivers(copper).total
    wires = sum(n for tier, n in fabric.cables.items() if tier in copper)
    missing = [
        name
        for name, part, count in (
            ("switch", switch, fabric.switches.total),
            ("transceiver", transceiver, modules),
            ("nic", nic, fabric.endpoints),
        )
        if part is None and count
    ]
    parts = energy.network_power(
        float(fabric.switches.total),
        _watts(switch),
        float(modules),
        _watts(transceiver),
        float(wires),
        _watts(cable),
        float(fabric.endpoints),
        _watts(nic),
    )
    return FabricPower(
        parts=parts,
        usage_effectiveness=usage_effectiveness,
        modules=modules,
        assumptions=tuple(f"power of every {name} taken as 0 (not given)" for name in missing),
    )


def _watts(part: Any) -> float:
    if part is None:
        return 0.0
    if isinstance(part, (Transceiver, Cable)):
        return part.lower()
    if isinstance(part, (Switch, Nic)):
        if part.power is None:
            raise ArgumentError(f"the {type(part).__name__} has no power of its own; give power=")
        return si(part, "power")
    return float(to_si(part, "W"))
