"""Bills of materials: what is to be bought, and whether a bill from elsewhere closes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scalemath.core.errors import ArgumentError
from scalemath.topology.counts import Counts
from scalemath.units import Quantity, adopt

if TYPE_CHECKING:
    from scalemath.topology.fabric import Fabric


@frozen
class BillOfMaterials:
    """Parts of a fabric, with the arithmetic per tier.

    Attributes
    ----------
    name : str
        What the bill is for.
    switches, links, cables, transceivers, dark_ports : Counts
        Parts by role or tier.
    closure : tuple of str
        One line per role: ports that are there, carry a link, stay dark.
    ratio, size : str
        Oversubscription in words, and how far the fabric can grow.
    """

    name: str
    switches: Counts
    links: Counts
    cables: Counts
    transceivers: Counts
    dark_ports: Counts
    closure: tuple[str, ...]
    ratio: str
    size: str

    def cost(self, prices: Mapping[str, Any]) -> Quantity:
        """Price of all parts by a list of the user's own.

        Parameters
        ----------
        prices : mapping of str to Quantity
            Price of one "leaf", "spine", ... (or "switch" for all), of one "cable" or of a
            cable of a tier ("endpoint cable"), and of one "transceiver".

        Returns
        -------
        Quantity [USD or EUR]
            The sum, in the currency of the list.

        Raises
        ------
        ArgumentError
            If a price has no part, or a part that must be bought has no price.
        """
        used: set[str] = set()
        total: Any = 0
        parts: list[tuple[int, tuple[str, ...]]] = [
            (count, (role, "switch")) for role, count in self.switches.items()
        ]
        parts += [(count, (f"{tier} cable", "cable")) for tier, count in self.cables.items()]
        if "transceiver" in prices:
            parts.append((self.transceivers.total, ("transceiver",)))
        for count, names in parts:
            name = next((n for n in names if n in prices), None)
            if name is None:
                if names[-1] == "switch":
                    raise ArgumentError(f"prices: {names[0]!r} is missing, as is 'switch'")
                continue
            used.add(name)
            total = total + count * adopt(prices[name])
        spare = set(prices) - used
        if spare:
            raise ArgumentError(f"prices: nothing here is called {', '.join(sorted(spare))}")
        result: Quantity = total
        return result

    def __str__(self) -> str:
        lines = [
            self.name,
            f"  switches      {self.switches}",
            f"  links         {self.links}",
            f"  cables        {self.cables}",
            f"  transceivers  {self.transceivers}",
            *(f"  {line}" for line in self.closure),
        ]
        lines += [f"  {text}" for text in (self.ratio, self.size) if text]
        return "\n".join(lines)


def bill_of_materials(fabric: Fabric, copper: Iterable[str] = ()) -> BillOfMaterials:
    """List what a fabric is made of.

    Parameters
    ----------
    fabric : Fabric
        Any topology.
    copper : iterable of str
        Tiers cabled in copper, without optical modules.

    Returns
    -------
    BillOfMaterials
        Counts and their arithmetic.
    """
    closure = tuple(
        f"{role}: {there:,} ports = {used:,} used + {there - used:,} dark"
        for role, (there, used) in fabric.ports.items()
    )
    return BillOfMaterials(
        name=str(fabric),
        switches=fabric.switches,
        links=fabric.links,
        cables=fabric.cables,
        transceivers=fabric.transceivers(copper),
        dark_ports=fabric.dark_ports,
        closure=closure,
        ratio=fabric.describe_ratio(),
        size=fabric.describe_size(),
    )


@frozen
class BillCheck:
    """What does not close in a bill of materials from elsewhere.

    Attributes
    ----------
    problems : tuple of str
        One sentence per contradiction; empty when the bill closes.
    remarks : tuple of str
        What follows from the bill: ports in use, oversubscription in words.
    """

    problems: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def closes(self) -> bool:
        """Whether nothing contradicts itself."""
        return not self.problems

    def __str__(self) -> str:
        head = "closes" if self.closes else "does not close"
        return "\n".join([head, *(f"  {line}" for line in (*self.problems, *self.remarks))])


def check_bill_of_materials(
    *,
    leaf: int,
    radix: int,
    endpoint_cables: int,
    spine: int = 0,
    core: int = 0,
    leaf_spine_cables: int = 0,
    spine_core_cables: int = 0,
    endpoints: int | None = None,
    cables: int | None = None,
    links_per_endpoint: int = 1,
    uplink_ports: float = 1.0,
) -> BillCheck:
    """Check the counts of a two- or three-tier network printed elsewhere.

    Parameters
    ----------
    leaf : int
        Leaf switches [count].
    radix : int
        Ports of a switch at the rate of an endpoint's link [count].
    endpoint_cables : int
        Cables between endpoints and leaves [count].
    spine, core : int
        Switches of the tiers above [count].
    leaf_spine_cables, spine_core_cables : int
        Cables between switches [count].
    endpoints : int, optional
        Endpoints; compared with the cables to them.
    cables : int, optional
        Total as printed.
    links_per_endpoint : int
        Links of an endpoint (2 for two planes or two leaves).
    uplink_ports : float
        Ports of a leaf that one uplink takes (2 for a 400G uplink on 200G ports).

    Returns
    -------
    BillCheck
        Problems and remarks.

    Examples
    --------
    >>> print(check_bill_of_materials(leaf=32, spine=16, radix=64, endpoint_cables=1024,
    ...     leaf_spine_cables=1024, endpoints=1024))
    closes
      leaf: 32 down, 32 up per switch, down:up 1:1
      spine: 64 of 64 ports in use
    """
    problems: list[str] = []
    remarks: list[str] = []
    counts = {"leaf": leaf, "spine": spine, "core": core}
    for role, count in counts.items():
        if count < 0:
            problems.append(f"{count} {role} switches: a count is at least 0")
    spine_radix = int(radix / uplink_ports)
    used = {
        "leaf": endpoint_cables + leaf_spine_cables * uplink_ports,
        "spine": leaf_spine_cables + spine_core_cables,
        "core": spine_core_cables,
    }
    for role, count in counts.items():
        there = count * (radix if role == "leaf" else spine_radix)
        if used[role] and not count:
            problems.append(
                f"{used[role]:g} cables end at {role} switches, of which there are none"
            )
        elif used[role] > there:
            problems.append(
                f"{role}: {used[role]:g} ports are needed, {count} switches have {there}"
            )
    for tier, links, below, above in (
        ("leaf_spine", leaf_spine_cables, "leaf", "spine"),
        ("spine_core", spine_core_cables, "spine", "core"),
    ):
        if counts[above] and not links:
            problems.append(f"{counts[above]} {above} switches but no {tier} cables")
        problems += [
            f"{links} {tier} cables do not divide over {counts[role]} {role} switches "
            f"({links / counts[role]:.6g} each)"
            for role in (below, above)
            if links and counts[role] and links % counts[role]
        ]
    if leaf and spine and leaf_spine_cables and not leaf_spine_cables % leaf:
        up = leaf_spine_cables // leaf
        if not core and up % spine and up > spine:
            problems.append(f"{up} uplinks of a leaf do not divide over {spine} spines")
    if endpoints is not None and endpoint_cables != endpoints * links_per_endpoint:
        extra = endpoint_cables - endpoints * links_per_endpoint
        problems.append(
            f"{endpoint_cables} endpoint cables for {endpoints} endpoints with "
            f"{links_per_endpoint} link(s) each: {abs(extra)} "
            f"{'too many (ports for management or storage?)' if extra > 0 else 'missing'}"
        )
    total = endpoint_cables + leaf_spine_cables + spine_core_cables
    if cables is not None and cables != total:
        problems.append(f"{cables} cables are printed, the tiers add up to {total}")
    if leaf and leaf_spine_cables:
        down, up_links = endpoint_cables / leaf, leaf_spine_cables / leaf
        ratio = down / (up_links * uplink_ports)
        remarks.append(
            f"leaf: {down:.6g} down, {up_links:.6g} up per switch, down:up {ratio:.4g}:1"
        )
    for role in ("spine", "core"):
        if counts[role]:
            each = used[role] / counts[role]
            remarks.append(f"{role}: {each:.6g} of {spine_radix} ports in use")
    return BillCheck(tuple(problems), tuple(remarks))
