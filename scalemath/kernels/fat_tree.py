"""Counting fat trees: how many switches and links a two- or three-tier Clos really takes.

All counts are floats. A design that cannot be built gives infinity in every field.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.kernel import kernel

_LEISERSON = "Leiserson, Fat-Trees, IEEE Trans. Comput. C-34 (1985) 892"
_AL_FARES = "Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, section 3"


class FatTreeLayout(NamedTuple):
    """Shape of one plane of a fat tree.

    `leaves`, `spines` and `cores` are totals of the plane; `spine_down` and `spine_up` are the
    ports one spine uses.
    """

    leaves: float
    spines: float
    cores: float
    pods: float
    leaves_per_pod: float
    spines_per_pod: float
    spine_down: float
    spine_up: float


class FatTreeSwitches(NamedTuple):
    """Switches by tier."""

    leaf: float
    spine: float
    core: float


class FatTreeLinks(NamedTuple):
    """Links by tier."""

    endpoint: float
    leaf_spine: float
    spine_core: float


class FatTreeLoads(NamedTuple):
    """What the traffic kernels need; uplinks are counted in endpoint ports' worth of rate."""

    leaf_endpoints: float
    leaf_uplinks: float
    pod_endpoints: float
    pod_uplinks: float


@kernel(
    unit="1",
    rises="at_least",
    free="number",
    free_because="which numbers divide another has no direction",
    source="arithmetic",
    formula="smallest divisor of number that is >= at_least",
)
def smallest_divisor(number: float, at_least: float) -> float:
    """Smallest divisor of a number that is not below a bound; infinity when there is none."""
    best = math.inf
    if not 1.0 <= number <= 1e9:
        return best
    for small in range(1, int(math.sqrt(number)) + 1):
        large = number / small
        if large == math.floor(large):
            if at_least <= small < best:
                best = float(small)
            if at_least <= large < best:
                best = large
    return best


@kernel(
    unit="1",
    rises="radix",
    falls="oversubscription",
    source=_AL_FARES,
    formula="floor(radix / (1 + oversubscription))",
)
def tier_uplinks(radix: float, oversubscription: float) -> float:
    """Ports of a switch that go up when all of them are shared out."""
    if not (radix < 1e12 and oversubscription >= 0.0):
        return 0.0
    return float(math.floor(radix / (1.0 + oversubscription) + 1e-9))


@kernel(
    unit="1",
    rises="radix",
    free="oversubscription",
    free_because="whole uplinks times the ratio: the product rounds both ways",
    source=_AL_FARES,
    formula="floor(uplinks * oversubscription)",
)
def tier_downlinks(radix: float, oversubscription: float) -> float:
    """Ports of a switch that go down when all of them are shared out."""
    uplinks = tier_uplinks(radix, oversubscription)
    if uplinks <= 0.0:
        return 0.0
    return float(math.floor(uplinks * oversubscription + 1e-9))


@kernel(
    unit="1",
    rises="radix",
    free="tiers oversubscription",
    free_because="whole uplinks times the ratio round both ways, down to none at all",
    source=_AL_FARES,
    formula="1 tier: radix; 2: leaf_down * radix; 3: leaf_down * spine_down * radix",
)
def fat_tree_capacity(radix: float, tiers: float, oversubscription: float) -> float:
    """Endpoints one plane of a full fat tree connects (oversubscribed at the leaf only)."""
    if tiers <= 1.0:
        return radix
    two = tier_downlinks(radix, oversubscription) * radix
    if tiers <= 2.0:
        return two
    return two * tier_uplinks(radix, 1.0)


@kernel(
    unit="1",
    rises="endpoints",
    free="radix oversubscription",
    free_because="whole uplinks times the ratio round both ways",
    source=_AL_FARES,
    formula="fewest tiers whose capacity holds the endpoints",
)
def fat_tree_tiers(endpoints: float, radix: float, oversubscription: float) -> float:
    """Fewest tiers that hold the endpoints; infinity when three do not."""
    if endpoints <= fat_tree_capacity(radix, 1.0, oversubscription):
        return 1.0
    if endpoints <= fat_tree_capacity(radix, 2.0, oversubscription):
        return 2.0
    if endpoints <= fat_tree_capacity(radix, 3.0, oversubscription):
        return 3.0
    return math.inf


@kernel(
    unit="1",
    free="endpoints rails homes tiers leaf_down leaf_up spine_radix spine_oversubscription "
    "leaves_per_pod spines_per_pod",
    free_because="a shape is a set of counts without a total",
    source=f"{_AL_FARES}; spines divide the uplinks of a leaf evenly as NVIDIA RA-11333 builds",
    formula="leaves = rails homes ceil(ceil(endpoints / rails) / leaf_down); spines per pod = "
    "smallest divisor of leaf_up that has the ports; cores = smallest divisor of a pod's uplinks",
)
def fat_tree_layout(
    endpoints: float,
    rails: float,
    homes: float,
    tiers: float,
    leaf_down: float,
    leaf_up: float,
    spine_radix: float,
    spine_oversubscription: float,
    leaves_per_pod: float,
    spines_per_pod: float,
) -> FatTreeLayout:
    """Shape of one plane; `leaves_per_pod` and `spines_per_pod` of 0 are chosen here."""
    nothing = FatTreeLayout(
        math.inf, math.inf, math.inf, math.inf, math.inf, math.inf, math.inf, math.inf
    )
    if not (leaf_down >= 1.0 and 1.0 <= endpoints < 1e12 and rails >= 1.0 and homes >= 1.0):
        return nothing
    leaves = rails * homes * math.ceil(math.ceil(endpoints / rails) / leaf_down)
    if tiers <= 1.0:
        if leaves > 1.0:
            return nothing
        return FatTreeLayout(1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    if not leaf_up >= 1.0:
        return nothing
    if tiers <= 2.0:
        spine_down = spine_radix
        pods = 1.0
        per_pod = leaves
    else:
        up_share = tier_uplinks(spine_radix, spine_oversubscription)
        if up_share <= 0.0:
            return nothing
        spine_down = float(math.floor(up_share * spine_oversubscription + 1e-9))
        largest = leaves_per_pod if leaves_per_pod >= 1.0 else spine_down
        if not largest >= 1.0:
            return nothing
        pods = float(math.ceil(leaves / largest))
        per_pod = leaves_per_pod if leaves_per_pod >= 1.0 else float(math.ceil(leaves / pods))
    spines = spines_per_pod
    if spines < 1.0:
        spines = smallest_divisor(leaf_up, per_pod * leaf_up / spine_down)
    if not spines < math.inf:
        return nothing
    used_down = per_pod * leaf_up / spines
    if not used_down <= spine_down:
        return nothing
    if tiers <= 2.0:
        return FatTreeLayout(leaves, spines, 0.0, 1.0, leaves, spines, used_down, 0.0)
    spine_up = float(math.ceil(used_down / spine_oversubscription - 1e-9))
    pod_up = spines * spine_up
    cores = smallest_divisor(pod_up, pods * pod_up / spine_radix)
    if not cores < math.inf:
        return nothing
    return FatTreeLayout(leaves, pods * spines, cores, pods, per_pod, spines, used_down, spine_up)


@kernel(
    unit="1",
    free="endpoints radix tiers oversubscription planes rails",
    free_because="a shape is a set of counts without a total",
    source=_AL_FARES,
    formula="layout of one plane with full switches; tiers 0 means the fewest that fit",
)
def fat_tree_plane(
    endpoints: float,
    radix: float,
    tiers: float,
    oversubscription: float,
    planes: float,
    rails: float,
) -> FatTreeLayout:
    """Shape of one plane of a design given by its few numbers (planes are alike)."""
    depth = tiers
    if depth < 1.0:
        depth = fat_tree_tiers(endpoints, radix, oversubscription)
        if rails > 1.0 and depth < 2.0:
            depth = 2.0
    up = tier_uplinks(radix, oversubscription)
    down = tier_downlinks(radix, oversubscription)
    if depth <= 1.0:
        down = radix
    if not (planes >= 1.0 and depth <= 3.0):
        down = 0.0
    return fat_tree_layout(endpoints, rails, 1.0, depth, down, up, radix, 1.0, 0.0, 0.0)


@kernel(
    unit="1",
    rises="planes leaves spines cores",
    source=_LEISERSON,
    formula="planes * (leaves + spines + cores)",
)
def fat_tree_switches(planes: float, leaves: float, spines: float, cores: float) -> FatTreeSwitches:
    """Switches by tier, all planes, from the layout of one."""
    return FatTreeSwitches(planes * leaves, planes * spines, planes * cores)


@kernel(
    unit="1",
    rises="endpoints planes leaves spines spine_up",
    free="radix oversubscription",
    free_because="whole uplinks times the ratio round both ways",
    source=_LEISERSON,
    formula="planes * (endpoints + leaves * leaf_up + spines * spine_up)",
)
def fat_tree_links(
    endpoints: float,
    radix: float,
    oversubscription: float,
    planes: float,
    leaves: float,
    spines: float,
    spine_up: float,
) -> FatTreeLinks:
    """Links by tier, all planes; every switch of a tier is cabled alike."""
    if not leaves < math.inf:
        return FatTreeLinks(math.inf, math.inf, math.inf)
    up = 0.0
    if spines > 0.0:
        up = tier_uplinks(radix, oversubscription)
    return FatTreeLinks(planes * endpoints, planes * leaves * up, planes * spines * spine_up)


@kernel(
    unit="1",
    rises="endpoints tiers planes",
    source="one end-to-end cable per endpoint and tier at 1:1 (ideal counts, no partial switches)",
    formula="endpoints * tiers * planes",
)
def ideal_links(endpoints: float, tiers: float, planes: float) -> float:
    """Links of a non-blocking fat tree whose switches all come out even."""
    return endpoints * tiers * planes


@kernel(
    unit="1",
    free="endpoints radix oversubscription rails leaves spines cores leaves_per_pod "
    "spines_per_pod spine_up",
    free_because="what the traffic kernels need is a set of counts without a total",
    source=_AL_FARES,
    formula="endpoints and uplinks of the fullest leaf and pod",
)
def fat_tree_loads(
    endpoints: float,
    radix: float,
    oversubscription: float,
    rails: float,
    leaves: float,
    spines: float,
    cores: float,
    leaves_per_pod: float,
    spines_per_pod: float,
    spine_up: float,
) -> FatTreeLoads:
    """Endpoints below, and uplinks above, the fullest leaf and pod; no uplinks if impossible."""
    if not leaves < math.inf:
        return FatTreeLoads(1.0, 0.0, endpoints, 0.0)
    if spines <= 0.0:
        return FatTreeLoads(endpoints, 0.0, endpoints, 0.0)
    up = tier_uplinks(radix, oversubscription)
    leaf = min(tier_downlinks(radix, oversubscription), float(math.ceil(endpoints / rails)))
    if cores <= 0.0:
        return FatTreeLoads(leaf, up, endpoints, 0.0)
    pod = min(endpoints, leaves_per_pod * leaf)
    return FatTreeLoads(leaf, up, pod, spines_per_pod * spine_up)
