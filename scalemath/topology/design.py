"""Fat trees as a formula: counts and bandwidth of a design from its few numbers, for sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.kernel import Kernel, kernel_of, total
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels import fat_tree as counts
from scalemath.kernels.fabric_traffic import fat_tree_bisection
from scalemath.topology.counts import Counts
from scalemath.topology.fat_tree import TRAFFIC
from scalemath.units import QuantityLike, display, quantities

_LOADS = {name: f"loads.{name}" for name in counts.FatTreeLoads._fields}
_PORT = {"port_bandwidth": "port_rate", **_LOADS}
_TRAFFIC: dict[str, Kernel] = {name.replace(" ", "_"): kernel_of(k) for name, k in TRAFFIC.items()}

_PLANE = {name: f"plane.{name}" for name in counts.FatTreeLayout._fields}

_STEPS = (
    Step("plane", {"": kernel_of(counts.fat_tree_plane)}, "1"),
    Step("switches", {"": kernel_of(counts.fat_tree_switches)}, "1", rename=_PLANE),
    Step("links", {"": kernel_of(counts.fat_tree_links)}, "1", rename=_PLANE),
    Step("loads", {"": kernel_of(counts.fat_tree_loads)}, "1", rename=_PLANE),
    Step("bandwidth", _TRAFFIC, "byte/s", choice="traffic", rename=_PORT),
    Step("bisection", {"": kernel_of(fat_tree_bisection)}, "byte/s", rename=_PORT),
)


@frozen(kw_only=True, eq=False)
class FatTreeDesign(Result):
    """Counts and bandwidth of a fat tree given by its few numbers.

    Attributes
    ----------
    given : mapping of str to float
        Arguments in SI units.
    outputs : mapping of str to float
        Everything the model computed, in SI units.
    """

    given: Mapping[str, Any] = field(repr=False)
    outputs: Mapping[str, float] = field(repr=False)

    @measured("1")
    def switches(self) -> float:
        """Switches of all tiers and planes; infinite when the design cannot be built."""
        return self.outputs["switches"]

    @measured("1")
    def links(self) -> float:
        """Links of all tiers and planes."""
        return self.outputs["links"]

    @measured("byte/s/dir")
    def bandwidth(self) -> float:
        """Bandwidth per endpoint under the traffic."""
        return self.outputs["bandwidth"]

    @measured("byte/s")
    def bisection(self) -> float:
        """One-way bisection."""
        return self.outputs["bisection"]

    @property
    def feasible(self) -> bool:
        """Whether the endpoints fit."""
        return self.outputs["switches"] < float("inf")

    def switches_by_role(self) -> Counts:
        """Switches by role: leaf, spine, core."""
        return Counts(
            **{name: self.outputs[f"switches.{name}"] for name in counts.FatTreeSwitches._fields}
        )

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        units = {"port_rate": "byte/s/dir"}
        return {name: (value, units.get(name, "1")) for name, value in self.given.items()}

    def formula(self) -> tuple[str, str]:
        """Formula of the bandwidth in words, and its source."""
        record = _TRAFFIC[self.given["traffic"]]
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        if not self.feasible:
            return f"{self.given['endpoints']:g} endpoints do not fit into this design"
        return (
            f"{self.outputs['switches']:g} switches, {self.outputs['links']:g} links, "
            f"{display(self.outputs['bandwidth'], 'byte/s/dir')} per endpoint under "
            f"{self.given['traffic'].replace('_', ' ')}"
        )


@quantities(
    *_STEPS,
    output="bandwidth",
    endpoints="count >= 1",
    radix="count >= 2",
    port_rate="byte/s/dir > 0",
    tiers="count >= 0 <= 3",
    oversubscription="number > 0",
    planes="count >= 1",
    rails="count >= 1",
    traffic=f"choice {' '.join(_TRAFFIC)}",
    senders="count >= 1",
)
def fat_tree_design(
    *,
    endpoints: int,
    radix: int,
    port_rate: QuantityLike,
    tiers: int = 0,
    oversubscription: float = 1.0,
    planes: int = 1,
    rails: int = 1,
    traffic: str = "worst_permutation",
    senders: int = 1,
    assumed: tuple[str, ...] = (),
) -> FatTreeDesign:
    """Count the switches and links of a fat tree, and the bandwidth that remains.

    The formula behind `FatTree`, for sweeps over designs: leaves use all their ports,
    uplinks and ratios are rounded down to whole ports, and a design that does not fit has
    infinitely many switches and no bandwidth.

    Parameters
    ----------
    endpoints : int
        Endpoints to be joined [count].
    radix : int
        Ports of a switch at the rate of one plane's link [count].
    port_rate : Quantity [byte/s/dir]
        Rate of one endpoint over all planes.
    tiers : int
        1, 2 or 3; 0 takes the fewest that fit [count].
    oversubscription : float
        Down-capacity over up-capacity of a leaf [1].
    planes : int
        Planes every endpoint is split over [count].
    rails : int
        Leaf groups [count].
    traffic : str
        leaf-contiguous_ring, random_permutation, worst_permutation, uniform_all-to-all,
        incast or rail-aligned_all-to-all.
    senders : int
        Senders of an incast [count].

    Returns
    -------
    FatTreeDesign
        Counts, bandwidth per endpoint and bisection.

    References
    ----------
    The construction is that of [AlFares2008]_.

    Examples
    --------
    >>> print(fat_tree_design(endpoints=2048, radix=64, port_rate="400 Gb/s/dir"))
    96 switches, 4096 links, 50 GB/s/dir per endpoint under worst permutation
    """
    given = {
        "endpoints": endpoints,
        "radix": radix,
        "port_rate": port_rate,
        "tiers": tiers,
        "oversubscription": oversubscription,
        "planes": planes,
        "rails": rails,
        "traffic": traffic,
        "senders": senders,
    }
    outputs = fat_tree_design.model.evaluate(given)
    return FatTreeDesign(given=given, outputs=outputs, assumptions=assumed)


def fat_tree_capacity(*, radix: int, tiers: int = 2, oversubscription: float = 1.0) -> int:
    """Endpoints that one plane of a full fat tree joins.

    Parameters
    ----------
    radix : int
        Ports of a switch [count].
    tiers : int
        1, 2 or 3 [count].
    oversubscription : float
        Down-capacity over up-capacity of a leaf [1].

    Returns
    -------
    int
        radix^2/2 in two tiers, radix^3/4 in three at 1:1.

    Examples
    --------
    >>> fat_tree_capacity(radix=64), fat_tree_capacity(radix=64, tiers=3)
    (2048, 65536)
    """
    found = counts.fat_tree_capacity(float(radix), float(tiers), float(oversubscription))
    return int(total(found))
