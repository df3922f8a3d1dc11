"""The table of algorithms: one line each with its kernel and what it needs of the network.

Adding an algorithm means one kernel and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import Kernel, KernelFunction, kernel_of
from scalemath.core.wording import offered
from scalemath.kernels import allreduce as ar
from scalemath.kernels import alltoall as aa
from scalemath.kernels import barrier as ba
from scalemath.kernels import broadcast as br
from scalemath.kernels import gather as ga
from scalemath.kernels import hierarchy_allreduce as ha
from scalemath.kernels import innetwork as sw
from scalemath.kernels import torus as to
from scalemath.kernels import tree as tr

TORUS = "torus"
LEVELS = "levels"
REDUCTION = "in-network reduction"
MULTICAST = "multicast"
NEEDS = {
    TORUS: "rings along every dimension; state the sides with shape=(8, 8)",
    LEVELS: "networks inside networks; state them with hierarchy=[(8, '900 GB/s/dir'), ...]",
    REDUCTION: "switches that reduce; state it with in_network='reduction'",
    MULTICAST: "switches that reduce and multiply; state it with in_network='multicast'",
}


@frozen(eq=False)
class Algorithm:
    """One way to carry out one operation.

    Attributes
    ----------
    operation, name : str
        What is done, and how.
    kernel : Kernel
        Its cost, with formula and source.
    needs : str
        What it asks of the network beyond one port per rank; empty for nothing.
    ports : str
        Model parameter that counts the ports in use at once; empty for one port.
    pipelined : bool
        Whether the message is cut into the best number of segments.
    assumed : tuple of str
        What the closed form takes for granted.
    pick : callable
        Arguments of the kernel from a mapping of values.
    """

    operation: str
    name: str
    kernel: Kernel
    needs: str = ""
    pipelined: bool = False
    assumed: tuple[str, ...] = ()
    pick: Callable[[Mapping[str, Any]], tuple[float, ...]] = field(init=False)

    @pick.default
    def _pick(self) -> Callable[[Mapping[str, Any]], tuple[float, ...]]:
        return itemgetter(*self.kernel.parameters)

    @property
    def source(self) -> str:
        """Where the cost is from."""
        return self.kernel.source

    @property
    def in_network(self) -> bool:
        """Whether switches take part, so that endpoint bounds do not hold."""
        return self.needs in (REDUCTION, MULTICAST)


_SEGMENTS = ("number of segments continuous and best for this size",)
_SWITCH = ("switches reduce at line rate",)
_EQUAL_SIDES = ("slices start in different dimensions; exact for equal sides",)

_LINES: tuple[tuple[str, str, KernelFunction, str, bool, tuple[str, ...]], ...] = (
    ("allreduce", "ring", ar.allreduce_ring, "", False, ()),
    ("allreduce", "recursive-doubling", ar.allreduce_recursive_doubling, "", False, ()),
    ("allreduce", "rabenseifner", ar.allreduce_rabenseifner, "", False, ()),
    ("allreduce", "binomial-tree", ar.allreduce_binomial, "", False, ()),
    ("allreduce", "chain", tr.allreduce_chain, "", True, _SEGMENTS),
    ("allreduce", "binary-tree", tr.allreduce_binary_tree, "", True, _SEGMENTS),
    ("allreduce", "double-binary-tree", tr.allreduce_double_tree, "", True, _SEGMENTS),
    ("allreduce", "torus", to.allreduce_torus, TORUS, False, ()),
    ("allreduce", "torus-both-ways", to.allreduce_torus_both_ways, TORUS, False, ()),
    ("allreduce", "torus-all-ports", to.allreduce_torus_all_ports, TORUS, False, _EQUAL_SIDES),
    ("allreduce", "hierarchical", ha.allreduce_three_level, LEVELS, False, ()),
    (
        "allreduce",
        "hierarchical-overlapped",
        ha.allreduce_three_level_overlapped,
        LEVELS,
        False,
        ("levels are pipelined: latencies add, the largest bandwidth term counts",),
    ),
    ("allreduce", "sharp", sw.allreduce_sharp, REDUCTION, False, _SWITCH),
    ("allreduce", "nvls", sw.allreduce_nvls, MULTICAST, False, _SWITCH),
    ("reduce_scatter", "ring", ga.reduce_scatter_ring, "", False, ()),
    ("reduce_scatter", "pairwise", ga.reduce_scatter_pairwise, "", False, ()),
    ("reduce_scatter", "recursive-halving", ga.reduce_scatter_halving, "", False, ()),
    ("reduce_scatter", "pat", ga.reduce_scatter_pat, "", False, ("buffers hold all blocks",)),
    ("reduce_scatter", "torus", to.reduce_scatter_torus, TORUS, False, ()),
    ("reduce_scatter", "torus-both-ways", to.reduce_scatter_torus_both_ways, TORUS, False, ()),
    (
        "reduce_scatter",
        "torus-all-ports",
        to.reduce_scatter_torus_all_ports,
        TORUS,
        False,
        _EQUAL_SIDES,
    ),
    ("reduce_scatter", "nvls", sw.reduce_scatter_nvls, MULTICAST, False, _SWITCH),
    ("all_gather", "ring", ga.all_gather_ring, "", False, ()),
    ("all_gather", "recursive-doubling", ga.all_gather_doubling, "", False, ()),
    ("all_gather", "bruck", ga.all_gather_bruck, "", False, ()),
    ("all_gather", "pat", ga.all_gather_pat, "", False, ("buffers hold all blocks",)),
    ("all_gather", "torus", to.all_gather_torus, TORUS, False, ()),
    ("all_gather", "torus-both-ways", to.all_gather_torus_both_ways, TORUS, False, ()),
    ("all_gather", "torus-all-ports", to.all_gather_torus_all_ports, TORUS, False, _EQUAL_SIDES),
    ("all_gather", "nvls", sw.all_gather_nvls, MULTICAST, False, ()),
    ("broadcast", "binomial-tree", br.broadcast_binomial, "", False, ()),
    ("broadcast", "chain", tr.broadcast_chain, "", True, _SEGMENTS),
    ("broadcast", "binary-tree", tr.broadcast_binary_tree, "", True, _SEGMENTS),
    ("broadcast", "double-binary-tree", tr.broadcast_double_tree, "", True, _SEGMENTS),
    ("broadcast", "scatter-ring", br.broadcast_scatter_ring, "", False, ()),
    ("broadcast", "scatter-doubling", br.broadcast_scatter_doubling, "", False, ()),
    ("broadcast", "sharp", sw.broadcast_sharp, REDUCTION, False, ()),
    ("broadcast", "nvls", sw.broadcast_nvls, MULTICAST, False, ()),
    ("reduce", "binomial-tree", br.reduce_binomial, "", False, ()),
    ("reduce", "rabenseifner", br.reduce_rabenseifner, "", False, ()),
    ("reduce", "chain", tr.reduce_chain, "", True, _SEGMENTS),
    ("reduce", "binary-tree", tr.reduce_binary_tree, "", True, _SEGMENTS),
    ("reduce", "double-binary-tree", tr.reduce_double_tree, "", True, _SEGMENTS),
    ("reduce", "sharp", sw.reduce_sharp, REDUCTION, False, _SWITCH),
    ("reduce", "nvls", sw.reduce_nvls, MULTICAST, False, _SWITCH),
    ("scatter", "binomial-tree", ga.scatter_binomial, "", False, ()),
    ("scatter", "direct", ga.scatter_direct, "", False, ()),
    ("gather", "binomial-tree", ga.gather_binomial, "", False, ()),
    ("gather", "direct", ga.gather_direct, "", False, ()),
    ("all_to_all", "pairwise", aa.all_to_all_pairwise, "", False, ()),
    ("all_to_all", "bruck", aa.all_to_all_bruck_binary, "", False, ()),
    ("all_to_all", "radix-bruck", aa.all_to_all_bruck, "", False, ()),
    ("all_to_all", "torus", to.all_to_all_torus, TORUS, False, ("shortest paths, evenly split",)),
    ("all_to_all_v", "direct", aa.all_to_all_v_direct, "", False, ()),
    ("all_to_all_v", "pairwise", aa.all_to_all_v_pairwise, "", False, ()),
    ("send_receive", "direct", aa.send_receive_direct, "", False, ()),
    ("barrier", "dissemination", ba.barrier_dissemination, "", False, ()),
    ("barrier", "binomial-tree", ba.barrier_binomial, "", False, ()),
    ("barrier", "ring", ba.barrier_ring, "", False, ()),
    ("barrier", "sharp", sw.barrier_sharp, REDUCTION, False, ()),
)

TABLE: dict[str, dict[str, Algorithm]] = {}
for _operation, _name, _kernel, _needs, _pipelined, _assumed in _LINES:
    TABLE.setdefault(_operation, {})[_name] = Algorithm(
        _operation, _name, kernel_of(_kernel), _needs, _pipelined, _assumed
    )

ALIASES: dict[str, str] = {
    "naive-tree": "binomial-tree",
    "tree": "binomial-tree",
    "binomial": "binomial-tree",
    "pipelined-tree": "double-binary-tree",
    "double-tree": "double-binary-tree",
    "two-tree": "double-binary-tree",
    "pipelined-binary-tree": "binary-tree",
    "pipelined-chain": "chain",
    "recursive-halving-doubling": "rabenseifner",
    "halving-doubling": "rabenseifner",
    "scatter-allgather": "scatter-ring",
    "scatter-all-gather": "scatter-ring",
    "van-de-geijn": "scatter-ring",
    "bucket": "torus",
    "switch-tree": "sharp",
    "in-network": "sharp",
    "multicast": "nvls",
    "linear": "direct",
}


def algorithm_named(operation: str, name: str) -> Algorithm:
    """Look up an algorithm by its name or a usual other name.

    Parameters
    ----------
    operation : str
        Public name of the collective.
    name : str
        Name in any case, with hyphens, underscores or blanks.

    Returns
    -------
    Algorithm
        Line of the table.

    Raises
    ------
    ArgumentError
        If the operation has no such algorithm; the message lists those it has.
    """
    table = TABLE[operation]
    found = table.get(name)
    if found is not None:
        return found
    plain = str(name).lower().replace("_", "-").replace(" ", "-")
    found = table.get(ALIASES.get(plain, plain)) or table.get(plain)
    if found is not None:
        return found
    wanted = offered(plain, [*table, "best"], ALIASES)
    raise ArgumentError(f"{operation}: algorithm is {name!r}, wanted one of {wanted}")


def candidates(operation: str, stated: frozenset[str]) -> tuple[Algorithm, ...]:
    """Algorithms that "best" chooses from: those whose needs the network states.

    Where levels are stated no single rate holds, and only algorithms that know levels count.
    """
    found = tuple(a for a in TABLE[operation].values() if not a.needs or a.needs in stated)
    return tuple(a for a in found if a.needs == LEVELS) if LEVELS in stated else found
