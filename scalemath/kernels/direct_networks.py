"""Counting networks without a tree: full mesh, torus, HyperX, dragonfly, slim fly."""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.kernel import kernel

_DALLY = "Dally, Towles, Principles and Practices of Interconnection Networks (2004), chapter 5"
_KIM = "Kim, Dally, Scott, Abts, Technology-Driven, Highly-Scalable Dragonfly, ISCA 2008"
_BESTA = "Besta, Hoefler, Slim Fly, SC 2014, section 2"
_AHN = "Ahn, Binkert, Davis, McLaren, Schreiber, HyperX, SC 2009"


class DirectLinks(NamedTuple):
    """Links by kind: to endpoints, within a group of switches, and between groups."""

    endpoint: float
    within: float
    between: float


@kernel(
    unit="1",
    rises="nodes links_per_pair",
    source="edges of a complete graph",
    formula="links_per_pair * nodes * (nodes - 1) / 2",
)
def full_mesh_links(nodes: float, links_per_pair: float) -> float:
    """Links when every pair has its own."""
    return links_per_pair * nodes * max(nodes - 1.0, 0.0) / 2.0


@kernel(
    unit="1",
    rises="nodes links_per_pair",
    source="cut of a complete graph into halves",
    formula="links_per_pair * floor(nodes / 2) * ceil(nodes / 2)",
)
def full_mesh_bisection_links(nodes: float, links_per_pair: float) -> float:
    """Links over the even cut of a full mesh."""
    half = float(math.floor(nodes / 2.0))
    return links_per_pair * half * (nodes - half)


@kernel(
    unit="1",
    rises="nodes",
    free="size wrap",
    free_because="a longer dimension of the same network is a thinner cut",
    source=_DALLY,
    formula="nodes / size, twice with wrap-around links",
)
def torus_cut_links(nodes: float, size: float, wrap: float) -> float:
    """Links over the cut across the middle of one dimension."""
    if size <= 1.0:
        return math.inf
    across = nodes / size
    if wrap > 0.0 and size > 2.0:
        return 2.0 * across
    return across


@kernel(
    unit="1",
    rises="size",
    falls="wrap",
    source=_DALLY,
    formula="floor(size / 2) with wrap-around links, else size - 1",
)
def torus_dimension_diameter(size: float, wrap: float) -> float:
    """Longest minimal path within one dimension."""
    if wrap > 0.0:
        return float(math.floor(size / 2.0))
    return size - 1.0


@kernel(
    unit="1",
    rises="size",
    falls="wrap",
    source=_DALLY,
    formula="ring: size / 4 (even), (size^2 - 1) / (4 size) (odd); line: (size^2 - 1) / (3 size)",
)
def torus_dimension_hops(size: float, wrap: float) -> float:
    """Mean minimal hops within one dimension over all pairs, self included."""
    squared = size * size
    if wrap > 0.0:
        if math.floor(size / 2.0) * 2.0 == size:
            return size / 4.0
        return (squared - 1.0) / (4.0 * size)
    return (squared - 1.0) / (3.0 * size)


@kernel(
    unit="1",
    rises="size",
    falls="wrap",
    source=f"{_DALLY}; even size: equal to the cut",
    formula="ring: mean hops / 2; line: floor(size / 2) ceil(size / 2) / size",
)
def torus_dimension_load(size: float, wrap: float) -> float:
    """Flow on the busiest link of one dimension when every node sends 1 to all, self included."""
    if size <= 1.0:
        return 0.0
    if wrap > 0.0 and size > 2.0:
        return torus_dimension_hops(size, wrap) / 2.0
    half = float(math.floor(size / 2.0))
    return half * (size - half) / size


@kernel(
    unit="1",
    rises="switches degree",
    source="handshake lemma",
    formula="switches * degree / 2",
)
def regular_links(switches: float, degree: float) -> float:
    """Links between switches that all have the same number of ports to others."""
    return switches * degree / 2.0


@kernel(
    unit="1",
    rises="groups routers endpoints_per_router global_ports",
    source=_KIM,
    formula="groups routers endpoints_per_router + groups routers (routers - 1) / 2 "
    "+ floor(groups routers global_ports / 2)",
)
def dragonfly_links(
    groups: float, routers: float, endpoints_per_router: float, global_ports: float
) -> DirectLinks:
    """Links of a dragonfly whose global ports are all used (none with one group)."""
    switches = groups * routers
    long = 0.0
    if groups > 1.0:
        long = float(math.floor(switches * global_ports / 2.0))
    return DirectLinks(
        switches * endpoints_per_router, switches * max(routers - 1.0, 0.0) / 2.0, long
    )


@kernel(
    unit="1",
    rises="routers global_ports",
    free="groups",
    free_because="a single group is cut between its routers, several between groups",
    source=f"{_KIM}; global links spread evenly over the pairs of groups",
    formula="floor(groups / 2) ceil(groups / 2) routers global_ports / (groups - 1)",
)
def dragonfly_bisection_links(groups: float, routers: float, global_ports: float) -> float:
    """Links over the cut between halves of the groups (of routers when there is one group)."""
    if groups < 2.0:
        return full_mesh_bisection_links(routers, 1.0)
    half = float(math.floor(groups / 2.0))
    return half * (groups - half) * routers * global_ports / (groups - 1.0)


@kernel(
    unit="1",
    free="groups routers endpoints_per_router global_ports",
    free_because="more groups move traffic from local to global ports",
    source=f"{_KIM}; minimal paths local, global, local; expectation over all pairs",
    formula="max of flow per port over local and global ports",
)
def dragonfly_load(
    groups: float, routers: float, endpoints_per_router: float, global_ports: float
) -> float:
    """Flow on the busiest port when every endpoint sends 1 spread over all others."""
    group = routers * endpoints_per_router
    others = max(groups * group - 1.0, 1.0)
    far = (groups - 1.0) * group / others
    near = (group - endpoints_per_router) / others
    load = 0.0
    if groups > 1.0:
        load = endpoints_per_router * far / global_ports
    if routers > 1.0:
        hops = 2.0 * far * (1.0 - 1.0 / routers) + near
        load = max(load, endpoints_per_router * hops / (routers - 1.0))
    return load


@kernel(
    unit="1",
    free="groups routers endpoints_per_router global_ports",
    free_because="more groups thin the global links of a pair, one group has none",
    source=f"{_KIM}, section 4; two phases of uniform traffic, as in Valiant's routing",
    formula="2 endpoints_per_router max((1 - 1 / groups) / global_ports, "
    "(2 - 1 / groups) / routers)",
)
def dragonfly_valiant_load(
    groups: float, routers: float, endpoints_per_router: float, global_ports: float
) -> float:
    """Flow on the busiest port when every flow first goes to a random router."""
    far = 1.0 - 1.0 / groups
    local = 0.0
    if routers > 1.0:
        local = (1.0 + far) / routers
    return 2.0 * endpoints_per_router * max(far / global_ports, local)


@kernel(
    unit="1",
    free="order",
    free_because="defined for whole numbers; the remainder modulo 4 enters",
    source=_BESTA,
    formula="(3 q - d) / 2 with q = 4 w + d, d in {-1, 0, 1}",
)
def slim_fly_degree(order: float) -> float:
    """Ports of a router to other routers in the MMS graph of order q; infinity for q = 4w + 2."""
    rest = order - 4.0 * math.floor(order / 4.0)
    if rest == 2.0:
        return math.inf
    shift = rest
    if rest == 3.0:
        shift = -1.0
    return (3.0 * order - shift) / 2.0


@kernel(
    unit="1",
    rises="order",
    source=_BESTA,
    formula="2 q^2",
)
def slim_fly_switches(order: float) -> float:
    """Routers of the MMS graph of order q."""
    return 2.0 * order * order


@kernel(
    unit="1",
    rises="order",
    source="spectral gap q of the MMS graph; for even q the halves of its columns reach it",
    formula="q^3 / 2",
)
def slim_fly_bisection_links(order: float) -> float:
    """Links over the even cut of the MMS graph of order q: exact for even q, else at least."""
    return order * order * order / 2.0


@kernel(
    unit="1",
    rises="endpoints_per_router",
    free="switches degree",
    free_because="more routers lengthen paths, more ports shorten them",
    source=f"{_BESTA}; diameter 2, links taken as evenly loaded",
    formula="p (p k + 2 p (n - 1 - k)) / (p n - 1) / k",
)
def diameter_two_load(switches: float, degree: float, endpoints_per_router: float) -> float:
    """Mean flow per link of a diameter-2 network when every endpoint sends 1 to all others."""
    others = max(switches * endpoints_per_router - 1.0, 1.0)
    hops = endpoints_per_router * (degree + 2.0 * max(switches - 1.0 - degree, 0.0))
    return endpoints_per_router * hops / others / degree


@kernel(
    unit="1",
    rises="switches",
    free="size links_per_pair",
    free_because="a larger dimension of the same network has fewer parallel planes",
    source=_AHN,
    formula="links_per_pair floor(size / 2) ceil(size / 2) switches / size",
)
def hyperx_cut_links(switches: float, size: float, links_per_pair: float) -> float:
    """Links over the cut across one dimension of a HyperX."""
    if size <= 1.0:
        return math.inf
    return full_mesh_bisection_links(size, links_per_pair) * switches / size


@kernel(
    unit="1",
    rises="endpoints_per_switch",
    falls="links_per_pair",
    free="size",
    free_because="falls with the size, but a dimension of one has no links at all",
    source=f"{_AHN}; one hop per dimension, all pairs, self included",
    formula="endpoints_per_switch / (size links_per_pair)",
)
def hyperx_dimension_load(size: float, links_per_pair: float, endpoints_per_switch: float) -> float:
    """Flow on a link of one dimension when every endpoint sends 1 to all, self included."""
    if size <= 1.0:
        return 0.0
    return endpoints_per_switch / (size * links_per_pair)


@kernel(
    unit="byte/s",
    rises="port_bandwidth ports",
    falls="load",
    source=_DALLY,
    formula="port_bandwidth * min(ports, 1 / load)",
)
def load_bandwidth(port_bandwidth: float, load: float, ports: float) -> float:
    """Bandwidth per endpoint when a unit of it puts this load on the busiest link."""
    if load * ports <= 1.0:
        return port_bandwidth * ports
    return port_bandwidth / load
