"""Full mesh, torus, dragonfly, slim fly and HyperX against their explicit graphs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import pytest
from helpers.flows import best_rate, cut_rate, rotation, routed_rate, uniform

from scalemath.core.errors import ArgumentError, RangeError, ScalemathError
from scalemath.kernels import direct_networks as kernels
from scalemath.topology.dragonfly import Dragonfly
from scalemath.topology.finite_field import Field, prime_power
from scalemath.topology.full_mesh import FullMesh
from scalemath.topology.hyperx import HyperX
from scalemath.topology.slim_fly import SlimFly
from scalemath.topology.torus import Torus

LINK = "50 GB/s/dir"
FABRICS: dict[str, Any] = {
    "mesh of 5": FullMesh(endpoints=5, link_rate=LINK),
    "mesh of 4, two links": FullMesh(endpoints=4, link_rate=LINK, links_per_pair=2),
    "ring of 5": Torus(shape=(5,), link_rate=LINK),
    "ring of 8": Torus(shape=(8,), link_rate=LINK),
    "4 x 4": Torus(shape=(4, 4), link_rate=LINK),
    "3 x 5": Torus(shape=(3, 5), link_rate=LINK),
    "2 x 3 x 4": Torus(shape=(2, 3, 4), link_rate=LINK),
    "4 x 1 x 2": Torus(shape=(4, 1, 2), link_rate=LINK),
    "line of 6": Torus(shape=(6,), link_rate=LINK, wrap=False),
    "open 4 x 3": Torus(shape=(4, 3), link_rate=LINK, wrap=False),
    "dragonfly of 9": Dragonfly(
        groups=9, routers_per_group=4, endpoints_per_router=2, global_ports=2, port_rate=LINK
    ),
    "dragonfly of 5": Dragonfly(
        groups=5, routers_per_group=4, endpoints_per_router=2, global_ports=2, port_rate=LINK
    ),
    "dragonfly of 4, uneven": Dragonfly(
        groups=4, routers_per_group=3, endpoints_per_router=2, global_ports=2, port_rate=LINK
    ),
    "dragonfly of 4, rest uneven": Dragonfly(
        groups=4, routers_per_group=4, endpoints_per_router=2, global_ports=2, port_rate=LINK
    ),
    "dragonfly of 6, half uneven": Dragonfly(
        groups=6, routers_per_group=3, endpoints_per_router=2, global_ports=2, port_rate=LINK
    ),
    "dragonfly of 5, odd uneven": Dragonfly(
        groups=5, routers_per_group=3, endpoints_per_router=2, global_ports=3, port_rate=LINK
    ),
    "one group": Dragonfly(
        groups=1, routers_per_group=4, endpoints_per_router=3, global_ports=1, port_rate=LINK
    ),
    "slim fly 4": SlimFly(order=4, port_rate=LINK),
    "slim fly 5": SlimFly(order=5, endpoints_per_router=3, port_rate=LINK),
    "hyperx 4": HyperX(shape=(4,), endpoints_per_router=3, port_rate=LINK),
    "hyperx 3 x 4": HyperX(shape=(3, 4), endpoints_per_router=4, port_rate=LINK),
    "hypercube": HyperX(shape=(2, 2, 2), endpoints_per_router=2, port_rate=LINK),
    "hyperx doubled": HyperX(
        shape=(4, 2), endpoints_per_router=6, links_per_pair=2, port_rate=LINK
    ),
}


def port(fabric: Any) -> float:
    return float(fabric.lower_port())


def share(fabric: Any, traffic: str) -> float:
    return float(fabric.effective_bandwidth(traffic).m_as("byte/s/dir")) / port(fabric)


def everyone(fabric: Any) -> list[str]:
    return [f"e{i}" for i in range(fabric.endpoints)]


@pytest.mark.parametrize("name", FABRICS)
def test_graph_has_the_counted_links_and_diameter(name: str) -> None:
    fabric = FABRICS[name]
    graph = fabric.graph()
    tiers = {tier: sum(e.links for e in graph.edges if e.tier == tier) for tier in fabric.links}
    assert tiers == dict(fabric.links)
    explicit = graph.to_networkx()
    among = explicit if fabric.forwarding_endpoints else explicit.subgraph(graph.switches)
    assert nx.diameter(among) == fabric.diameter
    for b in range(fabric.endpoints):
        away = nx.shortest_path_length(explicit, "e0", f"e{b}")
        assert fabric.hops(0, b) == (away if fabric.forwarding_endpoints or b == 0 else away - 1)
    for switch in graph.switches:
        assert explicit.degree(switch, weight="links") <= fabric.ports_per_router


def among_routers(fabric: Any, demands: Any) -> tuple[nx.Graph, Any]:
    """The same flows from router to router: endpoints' own links are not in question."""
    graph = fabric.graph().to_networkx()
    merged: dict[tuple[str, str], float] = {}
    for a, b, amount in demands:
        pair = tuple(f"router{fabric.router_of(int(n[1:]))}" for n in (a, b))
        merged[pair] = merged.get(pair, 0.0) + amount
    routers = graph.subgraph(fabric.graph().switches).copy()
    return routers, [(a, b, amount) for (a, b), amount in merged.items() if a != b]


def best(fabric: Any, demands: Any) -> float:
    if fabric.forwarding_endpoints:
        return best_rate(fabric.graph().to_networkx(), demands)
    return min(1.0, best_rate(*among_routers(fabric, demands)))


QUICK = [name for name in FABRICS if name != "slim fly 5"]


@pytest.mark.parametrize("name", QUICK)
def test_uniform_all_to_all_is_the_best_there_is(name: str) -> None:
    fabric = FABRICS[name]
    found, most = share(fabric, "uniform all-to-all"), best(fabric, uniform(everyone(fabric)))
    if "uneven" in name:
        # more than one link between two groups saves local hops that the formula counts
        assert found <= most * (1 + 1e-6)
    else:
        assert found == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize("name", ["ring of 5", "ring of 8", "4 x 4", "line of 6", "slim fly 5"])
def test_uniform_all_to_all_is_what_shortest_paths_carry(name: str) -> None:
    fabric = FABRICS[name]
    routed = routed_rate(fabric.graph().to_networkx(), uniform(everyone(fabric)))
    assert share(fabric, "uniform all-to-all") == pytest.approx(routed, rel=1e-9)


@pytest.mark.parametrize("name", [n for n in QUICK if not n.startswith("mesh")])
def test_worst_permutation_is_a_promise_kept(name: str) -> None:
    """No rotation does worse than promised when flows may take any path."""
    fabric, names = FABRICS[name], everyone(FABRICS[name])
    promised = share(fabric, "worst permutation")
    for shift in {len(names) // 2, len(names) // 3} - {0}:
        assert best(fabric, rotation(names, shift)) >= promised * (1 - 1e-6)


@pytest.mark.parametrize("name", ["ring of 8", "4 x 4", "line of 6", "hypercube", "hyperx 4"])
def test_worst_permutation_is_tight_across_the_cut(name: str) -> None:
    fabric = FABRICS[name]
    cut = 2 * float(fabric.lower_bisection()) / fabric.endpoints / port(fabric)
    assert share(fabric, "worst permutation") == pytest.approx(min(cut, 1.0), rel=1e-9)


@pytest.mark.parametrize(
    "name", ["mesh of 4, two links", "ring of 8", "4 x 4", "line of 6", "open 4 x 3", "hypercube",
             "hyperx 4", "one group"]
)  # fmt: skip
def test_bisection_is_the_least_even_cut(name: str) -> None:
    fabric = FABRICS[name]
    graph, names = fabric.graph().to_networkx(), everyone(fabric)
    if fabric.forwarding_endpoints:
        halves = combinations(names[1:], len(names) // 2 - 1)
        cuts = (
            sum(d["rate"] for a, b, d in graph.edges(data=True) if (a in half) != (b in half))
            for half in ({names[0], *rest} for rest in halves)
        )
    else:
        routers = range(fabric.routers)
        halves = combinations(routers, fabric.routers // 2)
        cuts = (
            cut_rate(graph, {n for n in names if fabric.router_of(int(n[1:])) in half}, names)
            for half in halves
        )
    assert fabric.lower_bisection() / port(fabric) == pytest.approx(min(cuts), rel=1e-9)


def test_slim_fly_bisection_is_reached_for_an_even_order() -> None:
    """Half of the columns of both kinds: q^3 / 2 links cross, and spectra allow no fewer."""
    fabric = FABRICS["slim fly 4"]
    half = {c * 4 + r for c in (0, 1) for r in range(4)}
    half |= {16 + number for number in half}
    crossing = sum(links for a, b, links, _ in fabric.router_links() if (a in half) != (b in half))
    assert crossing == fabric.cut_links == 32


@pytest.mark.parametrize("order", [4, 5, 7, 8, 9, 11, 13])
def test_slim_fly_has_diameter_two_and_the_spectral_gap(order: int) -> None:
    fabric = SlimFly(order=order)
    graph = nx.Graph((a, b) for a, b, _, _ in fabric.router_links())
    assert {d for _, d in graph.degree()} == {fabric.degree}
    assert graph.number_of_nodes() == 2 * order**2
    assert nx.diameter(graph) == 2
    values = sorted(nx.adjacency_spectrum(graph).real)
    assert values[-1] - values[-2] == pytest.approx(order)


def test_slim_fly_of_the_paper() -> None:
    """q = 19: 722 routers with 29 ports between them and 15 endpoints each."""
    fabric = SlimFly(order=19)
    assert (fabric.routers, fabric.degree, fabric.attached) == (722, 29, 15)
    assert fabric.endpoints == 10830


def test_full_mesh_counts_and_rates() -> None:
    assert kernels.full_mesh_links(72.0, 1.0) == 2556
    eight = FullMesh(endpoints=8, link_rate="64 GB/s/dir")
    assert eight.injection_bandwidth.m_as("GB/s/dir") == 448
    assert eight.per_peer_bandwidth.m_as("GB/s/dir") == 64
    assert eight.effective_bandwidth("worst permutation").m_as("GB/s/dir") == 64
    assert eight.effective_bandwidth("uniform").m_as("GB/s/dir") == 448
    assert eight.effective_bandwidth("incast 7:1").m_as("GB/s/dir") == 64
    double = FullMesh(endpoints=8, link_rate="64 GB/s/dir", links_per_pair=2)
    left = double.without(links=1)
    assert left.per_peer_bandwidth.m_as("GB/s/dir") == 64
    assert left.links["mesh"] == 55
    with pytest.raises(RangeError, match="direct link"):
        eight.without(links=1)


@pytest.mark.parametrize(
    ("shape", "links", "diameter", "cut"),
    [
        ((4, 4, 4), 192, 6, 32),
        ((16, 16, 16), 12288, 24, 512),
        ((2, 2, 2), 12, 3, 4),
        ((7,), 7, 3, 2),
    ],
)
def test_torus_counts(shape: tuple[int, ...], links: int, diameter: int, cut: int) -> None:
    torus = Torus(shape=shape, link_rate=LINK)
    assert (torus.links.total, torus.diameter) == (links, diameter)
    assert torus.lower_bisection() == cut * 50e9


@pytest.mark.parametrize("name", ["3 x 5", "2 x 3 x 4", "open 4 x 3", "line of 6"])
def test_mean_hops(name: str) -> None:
    fabric = FABRICS[name]
    found = nx.average_shortest_path_length(fabric.graph().to_networkx())
    assert fabric.mean_hops == pytest.approx(found)


def test_balanced_dragonfly() -> None:
    fabric = Dragonfly.balanced(64)
    assert (fabric.groups, fabric.routers_per_group, fabric.endpoints) == (513, 32, 262656)
    assert fabric.ports_per_router == 63
    assert fabric.dark_ports["router"] == fabric.routers
    assert "513 of at most 513" in fabric.describe_size()


@pytest.mark.parametrize("order", [4, 8, 9, 25, 27])
def test_fields_are_fields(order: int) -> None:
    field = Field(order)
    powers = field.powers()
    assert sorted(powers) == list(range(1, order))
    some = [0, 1, 2, order - 1, order // 2]
    for a in some:
        assert field.subtract(field.add(a, 2), 2) == a
        assert field.multiply(a, 1) == a
        for b in some:
            assert field.multiply(a, b) == field.multiply(b, a)
            for c in some:
                left = field.multiply(a, field.add(b, c))
                assert left == field.add(field.multiply(a, b), field.multiply(a, c))


def test_prime_powers() -> None:
    found = {q for q in range(-2, 33) if prime_power(q)}
    assert found == {2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32}
    with pytest.raises(RangeError, match="12 elements"):
        Field(12)


REFUSED: list[tuple[Any, str]] = [
        (lambda: Torus(shape=(4, 0)), "shape"),
        (lambda: Torus(shape=4), "shape"),
        (lambda: Torus(shape=(2.5, 4)), "shape"),
        (lambda: Torus(shape=()), "shape"),
        (lambda: FullMesh(endpoints=1), "endpoints"),
        (lambda: SlimFly(order=6), "prime power"),
        (lambda: SlimFly(order=28), "27 .* 29"),
        (lambda: SlimFly(order=19, radix=40), "44 ports"),
        (lambda: Dragonfly(groups=10, routers_per_group=4, endpoints_per_router=2, global_ports=2),
         "at most 9"),
        (lambda: HyperX(shape=(8, 8), endpoints_per_router=8, radix=16), "22 ports"),
        (lambda: Torus(shape=(4, 4)).effective_bandwidth(), "link_rate"),
        (lambda: FullMesh(endpoints=4).effective_bandwidth(), "link_rate"),
        (lambda: SlimFly(order=5).effective_bandwidth(), "port_rate"),
        (lambda: FABRICS["4 x 4"].effective_bandwidth("random permutation"), "closed form"),
        (lambda: FABRICS["slim fly 5"].effective_bandwidth("rail-aligned"), "no rails"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(make: Any, words: str) -> None:
    with pytest.raises(ScalemathError, match=words):
        make()


@pytest.mark.parametrize("name", ["4 x 4", "slim fly 5", "hyperx 3 x 4", "dragonfly of 9"])
def test_ring_and_incast(name: str) -> None:
    fabric = FABRICS[name]
    link = 50e9
    assert fabric.effective_bandwidth("ring").m_as("byte/s/dir") == pytest.approx(link)
    senders = 8
    into = fabric.effective_bandwidth(f"incast {senders}:1").m_as("byte/s/dir")
    assert into * senders == pytest.approx(port(fabric))


def test_copper_tiers_are_checked() -> None:
    with pytest.raises(ArgumentError, match="endpoint, router"):
        FABRICS["slim fly 5"].transceivers(copper="leaf_spine")


@pytest.mark.parametrize(
    "name", ["ring of 8", "4 x 4", "dragonfly of 9", "slim fly 4", "line of 6"]
)
def test_islands_after_losses(name: str) -> None:
    graph = FABRICS[name].graph()
    assert graph.islands() == [graph.endpoints]
    first = graph.edges[-1]
    for lost in ((first.one,), ((first.one, first.other),), (first.one, "e1"), ("e2", "e4")):
        left = graph.without(*lost)
        explicit = graph.to_networkx()
        for part in lost:
            if isinstance(part, str):
                explicit.remove_node(part)
            else:
                explicit.remove_edge(*part)
        wanted = [
            sorted(n for n in group if n.startswith("e"))
            for group in nx.connected_components(explicit)
        ]
        found = [sorted(group) for group in left.islands()]
        assert sorted(found) == sorted(group for group in wanted if group)
        assert len(found[0]) == max(map(len, wanted))


def test_only_what_is_there_can_be_lost() -> None:
    graph = FABRICS["ring of 8"].graph()
    with pytest.raises(RangeError, match="no e9"):
        graph.without("e9")
    with pytest.raises(RangeError, match="no e0-e4"):
        graph.without(("e4", "e0"))
