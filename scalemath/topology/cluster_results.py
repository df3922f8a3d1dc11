"""What a cluster answers about its two networks and its power."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from scalemath.core.result import Result, measured
from scalemath.kernels import energy
from scalemath.units import display


@frozen(kw_only=True, eq=False)
class TierComparison(Result):
    """Scale-up and scale-out of the same scope, both per direction.

    Attributes
    ----------
    scope : str
        "accelerator", "tray", "node", "rack" or "cluster".
    up, out : float
        Rates per direction [byte/s].
    """

    scope: str
    up: float
    out: float

    @measured("byte/s/dir")
    def scale_up(self) -> float:
        """Rate inside the domains."""
        return self.up

    @measured("byte/s/dir")
    def scale_out(self) -> float:
        """Rate into the fabric."""
        return self.out

    @measured("1")
    def ratio(self) -> float:
        """Scale-up over scale-out, like for like."""
        return self.up / self.out

    def headline(self) -> str:
        """One readable line."""
        return (
            f"per {self.scope}: {display(self.up, 'byte/s/dir')} up, "
            f"{display(self.out, 'byte/s/dir')} out, ratio {self.up / self.out:.6g}"
        )


@frozen(kw_only=True, eq=False)
class ClusterPower(Result):
    """Power of a cluster: nodes, fabric, and what the meter of the hall shows.

    Attributes
    ----------
    nodes, fabric : float
        Power of all nodes and of the fabric [W].
    usage_effectiveness : float
        PUE, applied once [1].
    """

    nodes: float
    fabric: float
    usage_effectiveness: float = 1.0

    @measured("W")
    def it_power(self) -> float:
        """Nodes and fabric."""
        return self.nodes + self.fabric

    @measured("W")
    def facility_power(self) -> float:
        """IT power times PUE."""
        return energy.facility_power(self.nodes + self.fabric, self.usage_effectiveness)

    @measured("1")
    def interconnect_share(self) -> float:
        """Share of the fabric in the IT power."""
        return energy.power_share(self.fabric, self.nodes + self.fabric)

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Watts of both parts."""
        return {"nodes": (self.nodes, "W"), "fabric": (self.fabric, "W")}

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{display(self.nodes + self.fabric, 'W')} of IT power, "
            f"{100 * self.si('interconnect_share'):.4g} % of it interconnect; "
            f"{display(self.si('facility_power'), 'W')} at PUE {self.usage_effectiveness:g}"
        )
