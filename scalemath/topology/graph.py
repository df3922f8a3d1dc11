"""The explicit graph of a fabric, for drawing, for routing and for checking the formulas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from attrs import frozen

from scalemath.core.errors import RangeError

LARGEST = 200_000
"""Links up to which a graph is built."""


class Edge(NamedTuple):
    """Parallel links between two neighbours.

    `links` is their number, `rate` the rate of all of them together per direction in units of
    one endpoint's port, `tier` the name of their tier.
    """

    one: str
    other: str
    links: float
    rate: float
    tier: str


@frozen
class FabricGraph:
    """Nodes and links by name.

    Attributes
    ----------
    endpoints : tuple of str
        Names of the endpoints.
    switches : tuple of str
        Names of the switches; in a torus or mesh the endpoints switch themselves.
    edges : tuple of Edge
        Links; parallel ones are one edge.
    """

    endpoints: tuple[str, ...]
    switches: tuple[str, ...]
    edges: tuple[Edge, ...]

    def without(self, *lost: str | tuple[str, str]) -> FabricGraph:
        """Return the graph after endpoints, switches or links are lost.

        Parameters
        ----------
        *lost : str or pair of str
            Name of an endpoint or switch, or the two ends of a link (all parallel ones go).

        Returns
        -------
        FabricGraph
            What is left.

        Raises
        ------
        RangeError
            If there is no such part.
        """
        names = {part for part in lost if isinstance(part, str)}
        cut = {frozenset(part) for part in lost if not isinstance(part, str)}
        unknown = names - {*self.endpoints, *self.switches}
        unknown |= {"-".join(sorted(c)) for c in cut - {frozenset(e[:2]) for e in self.edges}}
        if unknown:
            raise RangeError(f"without: there is no {', '.join(sorted(unknown))} in this {self}")
        return FabricGraph(
            tuple(n for n in self.endpoints if n not in names),
            tuple(n for n in self.switches if n not in names),
            tuple(e for e in self.edges if not names & {*e[:2]} and frozenset(e[:2]) not in cut),
        )

    def islands(self) -> list[tuple[str, ...]]:
        """Groups of endpoints that still reach each other, the largest first.

        Returns
        -------
        list of tuple of str
            One group while the fabric is whole.
        """
        near: dict[str, list[str]] = {name: [] for name in (*self.endpoints, *self.switches)}
        for edge in self.edges:
            near[edge.one].append(edge.other)
            near[edge.other].append(edge.one)
        seen: set[str] = set()
        found = []
        for start in self.endpoints:
            if start in seen:
                continue
            reached, waiting = {start}, [start]
            while waiting:
                for name in near[waiting.pop()]:
                    if name not in reached:
                        reached.add(name)
                        waiting.append(name)
            seen |= reached
            found.append(tuple(n for n in self.endpoints if n in reached))
        return sorted(found, key=len, reverse=True)

    def to_networkx(self) -> Any:
        """Return a networkx graph with `links`, `rate` and `tier` on its edges.

        Returns
        -------
        networkx.Graph
            Needs networkx, which this library does not install.
        """
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(self.endpoints, kind="endpoint")
        graph.add_nodes_from(self.switches, kind="switch")
        for edge in self.edges:
            known = graph.get_edge_data(edge.one, edge.other, {"links": 0, "rate": 0.0})
            graph.add_edge(
                edge.one,
                edge.other,
                links=known["links"] + edge.links,
                rate=known["rate"] + edge.rate,
                tier=edge.tier,
            )
        return graph

    def __str__(self) -> str:
        return (
            f"graph of {len(self.endpoints)} endpoints, {len(self.switches)} switches, "
            f"{sum(edge.links for edge in self.edges):g} links"
        )


def build(
    links: int, endpoints: Iterable[str], switches: Iterable[str], edges: Iterable[Edge]
) -> FabricGraph:
    """Build a graph unless it is too large to be of use.

    Parameters
    ----------
    links : int
        Number of links there will be.
    endpoints, switches, edges : iterable
        Lazily made parts.

    Returns
    -------
    FabricGraph
        The graph.

    Raises
    ------
    RangeError
        Above `LARGEST` links.
    """
    if links > LARGEST:
        raise RangeError(
            f"graph: {links:,} links are more than the {LARGEST:,} up to which a graph is built; "
            "counts and bandwidths need no graph"
        )
    return FabricGraph(tuple(endpoints), tuple(switches), tuple(edges))
