"""Collective operations: what they take, by which algorithm, and what limits them."""

from scalemath.collectives.exchanging import all_to_all, all_to_all_v, barrier, send_receive
from scalemath.collectives.inverse import balance_ranks, balance_size, crossover
from scalemath.collectives.loggp import LogGP
from scalemath.collectives.messages import message_time
from scalemath.collectives.moving import all_gather, broadcast, gather, scatter
from scalemath.collectives.reducing import allreduce, reduce, reduce_scatter
from scalemath.collectives.reported import from_bus_bandwidth

__all__ = [
    "LogGP",
    "all_gather",
    "all_to_all",
    "all_to_all_v",
    "allreduce",
    "balance_ranks",
    "balance_size",
    "barrier",
    "broadcast",
    "crossover",
    "from_bus_bandwidth",
    "gather",
    "message_time",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send_receive",
]
