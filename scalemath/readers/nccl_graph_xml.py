"""Reader of NCCL and RCCL graph XML (NCCL_GRAPH_DUMP_FILE and NCCL_GRAPH_FILE)."""

from __future__ import annotations

import math
from typing import Any

from attrs import frozen

from scalemath.collectives.nccl.graphs import Graph
from scalemath.core.errors import ScalemathError
from scalemath.readers.reading import Reading
from scalemath.readers.safe_xml import Element, parse
from scalemath.readers.text import Text, text_of
from scalemath.units import Q_

KIND = "nccl_graph"
IDENTIFIERS = {0: "ring", 1: "tree", 2: "collnet_chain", 3: "nvls", 4: "collnet_direct"}
"""Graph by its number in the dump."""
MOST_CHANNELS = 1024


@frozen(kw_only=True)
class GraphChannel:
    """Order of devices in one channel."""

    accelerators: tuple[str, ...]
    interfaces: tuple[str, ...]


@frozen(kw_only=True, eq=False)
class DumpedGraph:
    """One graph of a dump.

    Attributes
    ----------
    name : str
        ring, tree, collnet_chain, nvls or collnet_direct; "graph 7" for an unknown number.
    channels : int
        Number of channels.
    intra, inter : float
        Rate of one channel inside and between nodes [GB/s].
    type_intra, type_inter : str
        Kind of path: NVL, PIX, PHB, SYS ...
    pattern : int
        Pattern number.
    listed : tuple of GraphChannel
        Channels whose devices are listed.
    """

    name: str
    channels: int
    intra: float
    inter: float
    type_intra: str
    type_inter: str
    pattern: int
    same_channels: bool
    listed: tuple[GraphChannel, ...] = ()

    @property
    def graph(self) -> Graph:
        """The graph as NCCL's estimator takes it."""
        return Graph(
            channels=self.channels,
            bandwidth_intra=Q_(self.intra, "GB/s"),
            bandwidth_inter=Q_(self.inter, "GB/s"),
            pattern=self.pattern,
            type_intra=self.type_intra,
            type_inter=self.type_inter,
            same_channels=self.same_channels,
        )


@frozen(kw_only=True, eq=False)
class GraphDump(Reading):
    """Graphs of a communicator."""

    graphs: tuple[DumpedGraph, ...]

    def named(self, name: str) -> DumpedGraph | None:
        """The graph of one kind, None when it is not there."""
        return next((g for g in self.graphs if g.name == name), None)

    @property
    def accelerators(self) -> int:
        """Accelerators that the channels list."""
        every = {a for g in self.graphs for c in g.listed for a in c.accelerators}
        return len(every)

    @property
    def interfaces(self) -> int:
        """Network interfaces that the channels use."""
        return len({n for g in self.graphs for c in g.listed for n in c.interfaces})

    def headline(self) -> str:
        """One readable line."""
        shown = ", ".join(f"{g.name} {g.channels} x {g.intra:g} GB/s" for g in self.graphs)
        return f"{self.source}: {shown}; {self.accelerators} accelerators listed"


def looks_like(text: Text) -> bool:
    """Whether the text is XML with graphs."""
    head = text.content[:20000].lstrip("\ufeff \t\n")
    return head.startswith("<") and "<graphs" in head


def nccl_graph(source: Any) -> GraphDump:
    """Read a graph dump of NCCL or RCCL.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    GraphDump
        Graphs with channels and rates.

    Raises
    ------
    ReadError
        For XML that is malformed, hostile or of another kind.
    """
    text = text_of(source)
    root = parse(text)
    if root.name != "graphs":
        text.refuse(root.line, f"expected the element <graphs>, found <{root.name[:40]}>")
    graphs = tuple(_graph(text, item) for item in root.children if item.name == "graph")
    if not graphs:
        text.refuse(root.line, "expected at least one <graph>, found none")
    return GraphDump(source=text.name, kind=KIND, graphs=graphs)


def _graph(text: Text, item: Element) -> DumpedGraph:
    number = text.count(item.line, item.get("id", "0"), "id", 10**6)
    channels = text.count(item.line, item.get("nchannels", "0"), "nchannels", MOST_CHANNELS)
    intra = text.number(item.line, item.get("speedintra", "0"), "speedintra")
    made = DumpedGraph(
        name=IDENTIFIERS.get(number, f"graph {number}"),
        channels=channels,
        intra=intra,
        inter=text.number(item.line, item.get("speedinter") or str(intra), "speedinter"),
        type_intra=item.get("typeintra")[:10],
        type_inter=item.get("typeinter")[:10],
        pattern=text.count(item.line, item.get("pattern", "0"), "pattern", 100),
        same_channels=item.get("samechannels") == "1",
        listed=tuple(
            GraphChannel(
                accelerators=tuple(_device(x) for x in channel.children if x.name == "gpu"),
                interfaces=tuple(_device(x) for x in channel.children if x.name == "net"),
            )
            for channel in item.children
            if channel.name == "channel"
        ),
    )
    _plausible(text, item, made)
    return made


def _device(element: Element) -> str:
    return element.get("dev")[:40]


def _plausible(text: Text, item: Element, made: DumpedGraph) -> None:
    if not (0.0 <= made.intra < 1e6 and 0.0 <= made.inter < 1e6 and math.isfinite(made.intra)):
        text.refuse(item.line, f"expected rates in GB/s, found {made.intra:g} and {made.inter:g}")
    if made.channels:
        try:
            _ = made.graph
        except ScalemathError as error:
            text.refuse(item.line, f"expected a graph of NCCL: {error}")
