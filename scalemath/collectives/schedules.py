"""The table of schedules on a placement: one line each with its cost and what its ports carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from attrs import field, frozen

from scalemath.collectives.algorithms import Algorithm
from scalemath.collectives.operations import LOWER_BOUND
from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import Kernel, KernelFunction, kernel_of
from scalemath.kernels import hierarchy as hi
from scalemath.kernels import hierarchy_allreduce as ha
from scalemath.kernels import hierarchy_bounds as hb
from scalemath.kernels import hierarchy_bytes as by
from scalemath.kernels import hierarchy_exchange as he
from scalemath.kernels import hierarchy_trees as ht

FLAT, RAILS = "flat", "rails"
TWO_LEVEL, OVERLAPPED = "two-level", "two-level-overlapped"
SAYS = {
    FLAT: "every step crosses the slowest hop; one interface of a domain is used at a time",
    RAILS: "all interfaces of a domain work in parallel",
    TWO_LEVEL: "the levels follow one another",
    OVERLAPPED: "the levels are pipelined: latencies add, the larger bandwidth term counts",
}
STRAIGHT = "every rank sends straight to every other; the interfaces of a domain are shared evenly"


@frozen(eq=False)
class Schedule:
    """One way to run an operation on a placement.

    Attributes
    ----------
    algorithm : Algorithm
        Cost kernel under the name of the schedule.
    carried : Kernel
        Bytes per kind of port.
    interfaces : str
        "one" or "all": how many interfaces of a node the schedule uses.
    says : str
        What it assumes.
    """

    algorithm: Algorithm
    carried: Kernel
    interfaces: str
    says: str
    pick: Callable[[Mapping[str, Any]], tuple[float, ...]] = field(init=False)

    @pick.default
    def _pick(self) -> Callable[[Mapping[str, Any]], tuple[float, ...]]:
        return itemgetter(*self.carried.parameters)


_Line = tuple[str, KernelFunction, KernelFunction]
_RING = (by.ring_flat_bytes, by.ring_rails_bytes, by.two_level_bytes, by.two_level_bytes)
_NAMES = (FLAT, RAILS, TWO_LEVEL, OVERLAPPED)


def _lines(
    kernels: tuple[KernelFunction, ...], carried: tuple[KernelFunction, ...]
) -> tuple[_Line, ...]:
    return tuple(zip(_NAMES, kernels, carried, strict=False))


_TABLE: dict[str, tuple[_Line, ...]] = {
    "allreduce": _lines(
        (
            ha.allreduce_flat,
            ha.allreduce_rails,
            ha.allreduce_two_level,
            ha.allreduce_two_level_overlapped,
        ),
        _RING,
    ),
    "reduce_scatter": _lines(
        (
            hi.reduce_scatter_flat,
            hi.reduce_scatter_rails,
            hi.reduce_scatter_two_level,
            hi.reduce_scatter_two_level_overlapped,
        ),
        _RING,
    ),
    "all_gather": _lines(
        (
            hi.all_gather_flat,
            hi.all_gather_rails,
            hi.all_gather_two_level,
            hi.all_gather_two_level_overlapped,
        ),
        _RING,
    ),
    "broadcast": _lines(
        (
            ht.broadcast_flat,
            ht.broadcast_rails,
            ht.broadcast_two_level,
            ht.broadcast_two_level_overlapped,
        ),
        (by.chain_flat_bytes, by.chain_bytes, by.spread_bytes, by.spread_bytes),
    ),
    "reduce": _lines(
        (ht.reduce_flat, ht.reduce_rails, ht.reduce_two_level, ht.reduce_two_level_overlapped),
        (by.chain_flat_bytes, by.chain_bytes, by.spread_bytes, by.spread_bytes),
    ),
    "scatter": _lines(
        (he.scatter_flat, he.scatter_rails), (by.root_flat_bytes, by.root_rails_bytes)
    ),
    "gather": _lines(
        (he.scatter_flat, he.scatter_rails), (by.root_flat_bytes, by.root_rails_bytes)
    ),
    "all_to_all": _lines(
        (he.all_to_all_flat, he.all_to_all_rails, he.all_to_all_two_level, he.all_to_all_rails),
        (
            by.all_to_all_flat_bytes,
            by.all_to_all_rails_bytes,
            by.all_to_all_rails_bytes,
            by.all_to_all_rails_bytes,
        ),
    ),
    "send_receive": _lines((he.send_receive_flat,), (by.message_bytes,)),
    "barrier": (
        (FLAT, he.barrier_flat, by.message_bytes),
        (TWO_LEVEL, he.barrier_two_level, by.message_bytes),
    ),
}


def _schedule(operation: str, line: _Line) -> Schedule:
    name, cost, carried = line
    straight = operation == "all_to_all" and name == FLAT
    return Schedule(
        algorithm=Algorithm(operation, name, kernel_of(cost)),
        carried=kernel_of(carried),
        interfaces="one" if name == FLAT and not straight else "all",
        says=STRAIGHT if straight else SAYS[name],
    )


SCHEDULES: dict[str, dict[str, Schedule]] = {
    operation: {line[0]: _schedule(operation, line) for line in lines}
    for operation, lines in _TABLE.items()
}
PASSES = {"allreduce": 2.0}
"""How often a vector goes round; once for operations that are not named."""

_BOUND_KERNELS: dict[str, KernelFunction] = {
    "allreduce": hb.placed_ring_bound,
    "reduce_scatter": hb.placed_ring_bound,
    "all_gather": hb.placed_gather_bound,
    "broadcast": hb.placed_broadcast_bound,
    "reduce": hb.placed_broadcast_bound,
    "scatter": hb.placed_root_bound,
    "gather": hb.placed_root_bound,
    "all_to_all": hb.placed_all_to_all_bound,
    "send_receive": hb.placed_message_bound,
    "barrier": hb.placed_barrier_bound,
}
BOUNDS: dict[str, Algorithm] = {
    operation: Algorithm(operation, LOWER_BOUND, kernel_of(bound))
    for operation, bound in _BOUND_KERNELS.items()
}
HELPED: dict[str, Algorithm] = {
    operation: Algorithm(operation, LOWER_BOUND, kernel_of(hb.placed_in_network_bound))
    for operation in ("allreduce", "broadcast", "reduce")
}
"""Bounds where switches reduce or multiply; other operations gain no bandwidth from that."""


def schedule_named(operation: str, name: str) -> Schedule:
    """Look up a schedule of an operation by name."""
    table = SCHEDULES.get(operation, {})
    plain = str(name).lower().replace("_", "-").replace(" ", "-")
    if plain not in table:
        raise ArgumentError(
            f"{operation}: schedule is {name!r}, wanted one of {', '.join(table) or 'none'}"
            + (", best" if table else "")
        )
    return table[plain]
