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
