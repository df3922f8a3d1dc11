"""Collective operations: what they take, by which algorithm, and what limits them."""

from scalemath.collectives.exchanging import all_to_all, barrier
from scalemath.collectives.messages import message_time
from scalemath.collectives.moving import all_gather, broadcast, gather, scatter
from scalemath.collectives.reducing import allreduce, reduce, reduce_scatter

__all__ = [
    "all_gather",
    "all_to_all",
    "allreduce",
    "barrier",
    "broadcast",
    "gather",
    "message_time",
    "reduce",
    "reduce_scatter",
    "scatter",
]
