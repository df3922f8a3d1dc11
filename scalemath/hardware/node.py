"""Nodes and racks: what is counted together, by tier, by precision and by direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, ContradictionError, ConventionError
from scalemath.core.result import Result, measured
from scalemath.hardware.accelerator import Accelerator
from scalemath.hardware.closure import must_close
from scalemath.hardware.fields import frozen, given
from scalemath.hardware.link import Link, per_direction
from scalemath.units import Quantity, to_si


@frozen(kw_only=True)
class Node:
    """One box: accelerators, the network that joins them, and its ports to the outside.

    Attributes
    ----------
    accelerators : int
        How many of them [count].
    accelerator : Accelerator or None
        One of them.
    name, status : str
        Name, and "shipped" or "roadmap".
    link : Link or None
        Scale-up link of one accelerator; None where they meet only over the host.
    domain : int
        Ranks the scale-up network joins [count]; all of the box with a link, else 1.
    host_link : Link or None
        Link of one accelerator to the host.
    nics : int or None
        Network interfaces [count].
    nic_rate : Quantity or None
        Rate of one of them [GB/s/dir].
    scale_out : Quantity or None
        Rate of the box to the outside [GB/s/dir]; checked against the interfaces.
    power : Quantity or None
        Power of the box [W].
    data : mapping of str to Datum
        Where each value is from, for entries of the catalogue.
    """

    accelerators: int = given("count >= 1")
    accelerator: Accelerator | None = None
    name: str = ""
    status: str = given("choice shipped roadmap", "shipped")
    link: Link | None = None
    domain: int | None = given("count >= 1", None)
    host_link: Link | None = None
    nics: int | None = given("count >= 1", None)
    nic_rate: Quantity | None = given("byte/s/dir > 0", None, directed=True)
    scale_out: Quantity | None = given("byte/s/dir > 0", None, directed=True)
    power: Quantity | None = given("W > 0", None)
    data: Mapping[str, Datum] = field(factory=dict, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if self.domain is None:
            whole = self.accelerators if self.link is not None else 1
            object.__setattr__(self, "domain", whole)
        if self.nics is not None and self.nic_rate is not None:
            total = self.nics * self.nic_rate
            if self.scale_out is None:
                object.__setattr__(self, "scale_out", total)
            else:
                text = f"{self.nics} interfaces x {self.nic_rate:.6g~P}"
                must_close(f"{self.name or 'node'}: scale-out", total, text, self.scale_out)

    @property
    def memory(self) -> Quantity:
        """Accelerator memory of the box as sold [byte]."""
        sold = self._one().memory
        if sold is None:
            raise ArgumentError(f"the memory of {self._one().name} is not known")
        total: Quantity = self.accelerators * sold
        return total

    @property
    def capacity(self) -> Quantity:
        """Accelerator memory a program can count on [byte]."""
        total: Quantity = self.accelerators * self._one().capacity
        return total

    @property
    def memory_bandwidth(self) -> Quantity:
        """Memory rate of all accelerators together [byte/s]."""
        one = self._one().memory_bandwidth
        if one is None:
            raise ArgumentError(f"the memory rate of {self._one().name} is not known")
        total: Quantity = self.accelerators * one
        return total

    @property
    def scale_out_per_accelerator(self) -> Quantity:
        """Share of one accelerator in the ports to the outside [byte/s/dir]."""
        if self.scale_out is None:
            raise ArgumentError(f"{self.name or 'this node'} has no scale-out rate")
        rate: Quantity = per_direction(self.scale_out) / self.accelerators
        return rate

    def peak(self, precision: str, *, sparsity: str = "dense") -> Datum:
        """Return the peak of all accelerators together.

        Parameters
        ----------
        precision : str
            "bf16", "fp8" ...
        sparsity : str
            "dense" or "sparse".

        Returns
        -------
        Datum
            The peak [FLOP/s] with scope "node".
        """
        return _sum_of(self._one().peak(precision, sparsity=sparsity), self.accelerators, "node")

    def _one(self) -> Accelerator:
        if self.accelerator is None:
            raise ArgumentError(f"{self.name or 'this node'}: say which accelerator it holds")
        return self.accelerator

    def __str__(self) -> str:
        one = self.accelerator.name if self.accelerator is not None else "accelerators"
        joined = f", {self.link.bandwidth:.6g~P} each inside" if self.link is not None else ""
        out = f", {self.scale_out:.6g~P} outside" if self.scale_out is not None else ""
        return f"{self.name or 'node'}: {self.accelerators} x {one}{joined}{out}"


@frozen(kw_only=True, eq=False)
class MemoryPool(Result):
    """Memory of several tiers, added up only with a caution.

    Attributes
    ----------
    tiers : dict of str to float
        Size of each tier [byte].
    """

    tiers: dict[str, float]

    @measured("byte")
    def total(self) -> float:
        """Sum over the tiers."""
        return sum(self.tiers.values())

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Size of each tier."""
        return {name: (size, "byte") for name, size in self.tiers.items()}


@frozen(kw_only=True)
class Rack:
    """One rack: a scale-up domain with its memory by tier and its peaks by precision.

    Attributes
    ----------
    accelerators : int
        How many of them [count].
    accelerator : Accelerator or None
        One of them.
    name, status : str
        Name, and "shipped" or "roadmap".
    link : Link or None
        Scale-up link of one accelerator.
    cpus, trays, switch_chips, switch_trays : int or None
        What else is counted in it [count].
    scale_up : Quantity or None
        Sum of all scale-up ports as printed [TB/s/dir]; checked against the links.
    nics, uplinks : int or None
        Network interfaces and cables out of the rack [count].
    uplink_rate : Quantity or None
        Rate of one of the cables [Gbit/s/dir].
    memory : mapping of str to Quantity
        Size of each memory tier, such as {"HBM": "13.392 TB", "LPDDR5X": "17.28 TB"}.
    peaks : tuple of Datum
        Printed peaks of the rack with precision and sparsity.
    power : Quantity or None
        Power of the rack [W].
    data : mapping of str to Datum
        Where each value is from, for entries of the catalogue.
    """

    accelerators: int = given("count >= 1")
    accelerator: Accelerator | None = None
    name: str = ""
    status: str = given("choice shipped roadmap", "shipped")
    link: Link | None = None
    cpus: int | None = given("count >= 1", None)
    trays: int | None = given("count >= 1", None)
    switch_chips: int | None = given("count >= 1", None)
    switch_trays: int | None = given("count >= 1", None)
    scale_up: Quantity | None = given("byte/s/dir > 0", None, directed=True)
    nics: int | None = given("count >= 1", None)
    uplinks: int | None = given("count >= 1", None)
    uplink_rate: Quantity | None = given("byte/s/dir > 0", None, directed=True)
    memory: Mapping[str, Any] = field(factory=dict)
    peaks: tuple[Datum, ...] = ()
    power: Quantity | None = given("W > 0", None)
    data: Mapping[str, Datum] = field(factory=dict, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if self.trays is not None and self.accelerators % self.trays:
            raise ContradictionError(
                f"{self.name or 'rack'}: {self.accelerators} accelerators do not divide over "
                f"{self.trays} trays"
            )
        if self.link is not None:
            total = self.accelerators * self.link.bandwidth
            if self.scale_up is None:
                object.__setattr__(self, "scale_up", total)
            else:
                text = f"{self.accelerators} x {self.link.bandwidth:.6g~P}"
                must_close(f"{self.name or 'rack'}: scale-up total", total, text, self.scale_up)

    @property
    def scale_up_total(self) -> Quantity:
        """Sum of the scale-up ports [byte/s/dir], unrounded where the links are known.

        It is a total of a rack, not the rate of one rank: no collective takes it.
        """
        if self.link is not None:
            total: Quantity = self.accelerators * self.link.bandwidth
            return total
        if self.scale_up is None:
            raise ArgumentError(f"{self.name or 'this rack'} has no scale-up rate")
        return per_direction(self.scale_up)

    @property
    def scale_out(self) -> Quantity:
        """Rate of the rack to the outside [byte/s/dir]."""
        if self.uplinks is None or self.uplink_rate is None:
            raise ArgumentError(f"{self.name or 'this rack'} has no uplinks")
        total: Quantity = self.uplinks * per_direction(self.uplink_rate)
        return total

    def memory_of(self, tier: str) -> Quantity:
        """Return the size of one memory tier.

        Parameters
        ----------
        tier : str
            "HBM", "LPDDR5X" ...

        Returns
        -------
        Quantity
            Its size [byte].
        """
        if tier not in self.memory:
            raise ConventionError(
                f"{self.name or 'this rack'}: memory is kept by tier; name one of "
                f"{', '.join(self.memory) or 'none'}"
            )
        size: Quantity = self.memory[tier]
        return size

    def memory_pool(self) -> MemoryPool:
        """Return all tiers with their sum, and the caution that belongs to it.

        Returns
        -------
        MemoryPool
            Total [byte] and its terms by tier.
        """
        tiers = {name: float(to_si(size, "byte")) for name, size in self.memory.items()}
        caution = (
            f"{' and '.join(tiers)} are tiers whose rates differ by more than ten: "
            "the sum is no pool a program can use evenly"
        )
        return MemoryPool(tiers=tiers, cautions=(caution,) if len(tiers) > 1 else ())

    def peak(self, precision: str, *, sparsity: str = "dense") -> Datum:
        """Return the peak of the rack.

        Parameters
        ----------
        precision : str
            "bf16", "fp8" ...
        sparsity : str
            "dense" or "sparse".

        Returns
        -------
        Datum
            The printed peak [FLOP/s], or the sum over the accelerators.
        """
        for peak in self.peaks:
            if peak.precision == precision.lower() and peak.sparsity == sparsity:
                return peak
        if self.accelerator is None:
            raise ArgumentError(f"{self.name or 'this rack'} has no {sparsity} {precision} peak")
        one = self.accelerator.peak(precision, sparsity=sparsity)
        return _sum_of(one, self.accelerators, "rack")

    def __str__(self) -> str:
        one = self.accelerator.name if self.accelerator is not None else "accelerators"
        flag = " [roadmap]" if self.status == "roadmap" else ""
        return f"{self.name or 'rack'}{flag}: {self.accelerators} x {one}"


def _sum_of(one: Datum, number: int, scope: str) -> Datum:
    """Return a datum counted several times, with its new scope and how it came about."""
    return Datum(
        value=one.value * number,
        unit=one.unit,
        source=one.source,
        date=one.date,
        locator=one.locator,
        tier=one.tier,
        kind="derived" if one.kind == "spec" else one.kind,
        scope=scope,
        precision=one.precision,
        accumulate=one.accumulate,
        sparsity=one.sparsity,
        note=f"{number} x {one.value:.6g} {one.unit}",
    )
