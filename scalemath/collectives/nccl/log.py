"""Graphs of a communicator from the lines NCCL prints about them."""

from __future__ import annotations

import re

from scalemath.collectives.nccl.graphs import Graph
from scalemath.core.errors import ReadError
from scalemath.units import Q_

LINE = re.compile(
    r"Pattern (?P<pattern>\d), crossNic \d+, nChannels (?P<channels>\d+), "
    r"bw (?P<intra>[\d.]+)/(?P<inter>[\d.]+), type (?P<near>\w+)/(?P<far>\w+)"
    r"(?:, sameChannels (?P<same>\d))?"
)
RING, NVLS, COLLNET_DIRECT = "4", "5", "6"
"""Patterns that only one graph has; trees and the chain of CollNet share 1 to 3."""


def graphs_from_log(text: str) -> dict[str, Graph]:
    """Graphs in the output of NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH.

    Take the lines of one rank. The first line of each kind counts; a second tree is the chain
    of CollNet. Graphs without channels are left out.

    Parameters
    ----------
    text : str
        The log, or the lines that begin with "Pattern".

    Returns
    -------
    dict of str to Graph
        Graphs by the attribute of `Communicator` they belong to.

    Raises
    ------
    ReadError
        When the text holds no such line.

    Examples
    --------
    >>> line = "Pattern 4, crossNic 0, nChannels 12, bw 20.0/20.0, type NVL/PIX, sameChannels 1"
    >>> graphs_from_log(line)["ring"].channels
    12
    """
    found: dict[str, Graph | None] = {}
    matches = list(LINE.finditer(text))
    for match in matches:
        name = _attribute(match["pattern"], found)
        found.setdefault(name, _graph(match) if int(match["channels"]) else None)
    if not matches:
        raise ReadError(
            'no line like "Pattern 4, crossNic 0, nChannels 12, bw 20.0/20.0, type NVL/PIX, '
            'sameChannels 1" in the text; run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH'
        )
    return {name: graph for name, graph in found.items() if graph is not None}


def _attribute(pattern: str, found: dict[str, Graph | None]) -> str:
    known = {RING: "ring", NVLS: "nvls", COLLNET_DIRECT: "collnet_direct"}
    return known.get(pattern, "collnet_chain" if "tree" in found else "tree")


def _graph(match: re.Match[str]) -> Graph:
    return Graph(
        channels=int(match["channels"]),
        bandwidth_intra=Q_(float(match["intra"]), "GB/s"),
        bandwidth_inter=Q_(float(match["inter"]), "GB/s"),
        pattern=int(match["pattern"]),
        type_intra=match["near"],
        type_inter=match["far"],
        same_channels=match["same"] == "1",
    )
