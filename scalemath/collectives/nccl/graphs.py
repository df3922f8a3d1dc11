"""What NCCL's estimate is given: the graphs of a communicator and the machine under it."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen

from scalemath.core.errors import RangeError
from scalemath.units import Q_, Quantity, to_si

PATTERNS = ("balanced-tree", "split-tree", "tree", "ring", "nvls", "collnet-direct")
PATHS = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS")
CPU_VENDORS = ("INTEL", "AMD", "ZHAOXIN", "MIXED", "OTHER")
CPU_ARCHITECTURES = ("x86_64", "arm64", "power", "mixed")
OTHER_NAMES = {
    "GenuineIntel": "INTEL",
    "AuthenticAMD": "AMD",
    "ARM": "OTHER",
    "IBM": "OTHER",
    "UNDEF": "OTHER",
    "aarch64": "arm64",
    "arm": "arm64",
    "ppc64": "power",
    "ppc64le": "power",
}
"""What topology files and recorded tables write."""
GENERATIONS = ("Volta", "Ampere", "Hopper", "Blackwell")


def one_of(value: Any, what: str, names: tuple[str, ...], first: int = 0) -> str:
    """One of some names, given by name in any case or by NCCL's number."""
    if isinstance(value, int) and first <= value < first + len(names):
        return names[value - first]
    for name in names:
        if isinstance(value, str) and value.lower() == name.lower():
            return name
    raise RangeError(f"{what} {value!r} is not known; write one of {', '.join(names)}")


def whole(value: Any, what: str = "count", least: int = 0) -> int:
    """A whole number of things."""
    if isinstance(value, (int, float)) and value == int(value) >= least:
        return int(value)
    raise RangeError(f"{what} {value!r} is not a whole number of at least {least}")


def _at_least(least: int) -> Any:
    """Validator of a count, by the name of its attribute."""

    def check(_: Any, attribute: Attribute[int], value: int | None) -> None:
        if value is not None:
            whole(value, attribute.name, least)

    return check


def _whole(value: Any) -> int:
    return whole(value)


def _optional_whole(value: Any) -> int | None:
    return None if value is None else whole(value)


def _pattern(value: Any) -> str:
    return one_of(value, "pattern", PATTERNS, 1)


def _optional_pattern(value: Any) -> str | None:
    return None if value is None else _pattern(value)


def _path(value: Any) -> str:
    return one_of(value, "path type", PATHS)


def _vendor(value: Any) -> str:
    return one_of(OTHER_NAMES.get(value, value), "cpu_vendor", CPU_VENDORS)


def _architecture(value: Any) -> str:
    return one_of(OTHER_NAMES.get(value, value), "cpu_architecture", CPU_ARCHITECTURES)


def _rate(value: Any) -> float:
    """Bytes per second and direction."""
    rate = float(to_si(value, "byte/s/dir", "bandwidth"))
    if rate < 0.0:
        raise RangeError(f'bandwidth {value!r} is negative; write for example "48 GB/s"')
    return rate


def _optional_rate(value: Any) -> float | None:
    return None if value is None else _rate(value)


def _seconds(value: Any) -> float:
    seconds = float(to_si(value, "s", "latency"))
    if seconds < 0.0:
        raise RangeError(f'latency {value!r} is negative; write for example "1.5 us"')
    return seconds


def _optional_seconds(value: Any) -> float | None:
    return None if value is None else _seconds(value)


_NO_TIME: Any = "0 s"


@frozen(kw_only=True)
class Graph:
    """One graph of NCCL's search: how an algorithm's channels run over the machine.

    Attributes
    ----------
    channels : int
        Channels of the graph; the communicator usually runs twice as many.
    bandwidth_intra, bandwidth_inter : float
        Bandwidth per channel and direction inside a node and between nodes; given as
        quantities, kept in [byte/s].
    latency_inter : float
        Latency property of the network plugin, zero for built-in InfiniBand and RoCE;
        given as a quantity, kept in [s].
    pattern : str
        "balanced-tree", "split-tree", "tree", "ring", "nvls" or "collnet-direct", or
        NCCL's number 1 to 6.
    type_intra, type_inter : str
        Worst path between two GPUs, and between GPU and NIC: LOC, NVL, NVB, C2C, PIX,
        PXB, P2C, PXN, PHB, SYS, NET or DIS, or NCCL's number 0 to 11.
    same_channels : bool
        Whether every channel visits the GPUs in the same order.
    """

    channels: int = field(converter=_whole)
    bandwidth_intra: float = field(converter=_rate)
    bandwidth_inter: float = field(converter=_rate)
    latency_inter: float = field(default=_NO_TIME, converter=_seconds)
    pattern: str = field(converter=_pattern)
    type_intra: str = field(default="NVL", converter=_path)
    type_inter: str = field(default="PIX", converter=_path)
    same_channels: bool = False

    @property
    def bandwidth(self) -> Quantity:
        """Bandwidth of all channels inside a node [GB/s/dir]."""
        return Q_(self.channels * self.bandwidth_intra / 1e9, "GB/s/dir")


@frozen(kw_only=True)
class Communicator:
    """A communicator as NCCL's estimate sees it.

    Every graph that is None makes its algorithms unavailable. NVLS and NVLSTree share the
    NVLS graph, PAT runs on the Tree graph.

    Attributes
    ----------
    nodes, ranks : int
        Nodes and ranks of the communicator.
    compute_capability : int
        Least compute capability over the ranks: 70, 80, 90, 100.
    most_compute_capability : int or None
        Greatest one; the same when left out.
    tree, ring, collnet_direct, collnet_chain, nvls : Graph or None
        The graphs.
    channels : int or None
        Channels of the communicator; twice those of the ring graph, with NCCL's rules, when
        left out.
    cpu_vendor, cpu_architecture : str
        "INTEL", "AMD", "MIXED" ...; "x86_64", "arm64", "power", "mixed".
    nvswitch : bool
        Whether the GPUs of a node hang on an NVSwitch.
    collnet : bool
        Whether in-network reduction (SHARP) is enabled.
    collnet_all_gather, collnet_reduce_scatter : bool
        Whether its plugin offers these two operations.
    collnet_heads : int or None
        GPUs per node that talk to the network; no limit when left out.
    most_local_ranks : int or None
        Ranks of the fullest node; the even share rounded up when left out.
    worst_tree_pattern : str or None
        Tree pattern after the reduction over ranks; that of the tree graph when left out.
    network_overhead : float or None
        NCCL_NET_OVERHEAD, given as a quantity, kept in [s]; by CPU vendor when left out.
    host_network : bool
        Whether the network is driven from the host; PAT needs it.
    nvlink_rate, node_rate : float or None
        Port rate of one GPU inside a node and summed rate of a node's NICs, per direction;
        only used to say where an estimate lies below a bound; kept in [byte/s].
    name : str
        What the machine is called.
    """

    nodes: int = field(converter=_whole, validator=_at_least(1))
    ranks: int = field(converter=_whole, validator=_at_least(2))
    compute_capability: int = field(converter=_whole, validator=_at_least(60))
    most_compute_capability: int | None = None
    tree: Graph | None = None
    ring: Graph | None = None
    collnet_direct: Graph | None = None
    collnet_chain: Graph | None = None
    nvls: Graph | None = None
    channels: int | None = field(default=None, converter=_optional_whole, validator=_at_least(1))
    cpu_vendor: str = field(default="INTEL", converter=_vendor)
    cpu_architecture: str = field(default="x86_64", converter=_architecture)
    nvswitch: bool = True
    collnet: bool = False
    collnet_all_gather: bool = True
    collnet_reduce_scatter: bool = True
    collnet_heads: int | None = None
    most_local_ranks: int | None = None
    worst_tree_pattern: str | None = field(default=None, converter=_optional_pattern)
    network_overhead: float | None = field(default=None, converter=_optional_seconds)
    host_network: bool = True
    nvlink_rate: float | None = field(default=None, converter=_optional_rate)
    node_rate: float | None = field(default=None, converter=_optional_rate)
    name: str = ""

    def __attrs_post_init__(self) -> None:
        if self.ranks < self.nodes:
            raise RangeError(
                f"{self.ranks} ranks on {self.nodes} nodes: every node holds at least one rank"
            )

    @property
    def ranks_per_node(self) -> float:
        """Mean ranks of a node."""
        return self.ranks / self.nodes

    @property
    def local_ranks(self) -> int:
        """Ranks of the fullest node."""
        return self.most_local_ranks or -(-self.ranks // self.nodes)

    @property
    def generation(self) -> str:
        """Row of the constants: "Volta", "Ampere", "Hopper" or "Blackwell"."""
        steps = sum(self.compute_capability >= first for first in (80, 90, 100))
        return GENERATIONS[steps]

    @property
    def scale(self) -> int:
        """Column of the constants: 0 for one node, 1 for two, 2 for more."""
        return min(self.nodes, 3) - 1

    @property
    def running_channels(self) -> int:
        """Channels the communicator runs."""
        if self.channels is not None:
            return self.channels
        if self.ring is None:
            return 1
        running = min(2 * self.ring.channels, 64)
        wide = self.ring.bandwidth_intra > 45e9
        if self.compute_capability >= 90 and self.nodes > 1 and wide and running < 16:
            running *= 2
        return max(running, 1)

    def graph(self, algorithm: str) -> Graph | None:
        """Graph an algorithm runs on; ring and tree share the smaller number of channels."""
        graphs = {
            "Tree": self.tree,
            "Ring": self.ring,
            "CollNetDirect": self.collnet_direct,
            "CollNetChain": self.collnet_chain,
            "NVLS": self.nvls,
            "NVLSTree": self.nvls,
            "PAT": self.tree,
        }
        return graphs[algorithm]

    @property
    def tree_pattern(self) -> str:
        """Tree pattern used for the discount of plain trees."""
        return self.worst_tree_pattern or (self.tree.pattern if self.tree else "balanced-tree")
