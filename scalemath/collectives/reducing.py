"""Operations in which ranks reduce: allreduce, reduce-scatter, reduce."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scalemath.collectives.answer import answer
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.operations import OPERATIONS
from scalemath.collectives.public import collective


@collective(OPERATIONS["allreduce"])
def allreduce(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
    algorithm: str = "ring",
    estimator: str = "alpha-beta",
    in_network: str = "none",
    levels: float = 1.0,
    switch_latency: float = 0.0,
    shape: Sequence[int] | None = None,
    hierarchy: Sequence[tuple[Any, ...]] | None = None,
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to sum a vector over all ranks and leave the sum with each.

    Parameters
    ----------
    size : Quantity [byte]
        Vector that every rank holds.
    ranks : int
        Participants; left out when `shape` or `placement` says it.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction; on a torus, of one link.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank; left out, the reduction is free.
    algorithm : str
        "ring", "recursive-doubling", "rabenseifner", "binomial-tree", "chain", "binary-
        tree", "double-binary-tree", "torus", "torus-both-ways", "torus-all-ports", "sharp",
        "nvls", or "best": the fastest of those whose needs the network states.
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".
    in_network : str
        What switches do: "none", "reduction" (as SHARP) or "multicast" (as NVLS).
    levels : int
        Levels of switches up to the root of a reduction tree.
    switch_latency : Quantity [s]
        Latency of one switch, for algorithms in which switches take part; left out, 0.
    shape : sequence of int, optional
        Sides of a torus, in place of `ranks`; opens the torus algorithms.
    hierarchy : sequence of tuple, optional
        Two or three networks inside one another as (ranks, bandwidth, latency) per rank and
        level, the innermost first, in place of `ranks`, `bandwidth` and `latency`; for the
        algorithms "hierarchical" and "hierarchical-overlapped".
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", "rails", "two-level", "two-level-overlapped" or "best".

    Returns
    -------
    CollectiveCost
        Time with its latency, bandwidth and reduction terms, algorithm and bus bandwidth,
        steps, bytes per rank, bottleneck and assumptions.

    Notes
    -----
    The ring takes ``2 (ranks - 1) latency + 2 (ranks - 1) / ranks size / bandwidth`` and, where the
    arithmetic is not hidden, ``(ranks - 1) / ranks size / reduction_rate`` [Patarasuk2009]_.
    Folding to a power of two follows [Thakur2005]_, the double tree [Sanders2009]_. Bus bandwidth
    is algorithm bandwidth times ``2 (ranks - 1) / ranks`` whatever the algorithm [NCCLTests]_.

    Examples
    --------
    >>> from scalemath.collectives import allreduce
    >>> cost = allreduce(size="2 GiB", ranks=72, bandwidth="900 GB/s/dir", latency="0 s")
    >>> print(f"{cost.time.to('ms'):.6g~P} at {cost.algorithm_bandwidth.to('GB/s'):.6g~P}")
    4.70591 ms at 456.338 GB/s
    """
    return answer(OPERATIONS["allreduce"], locals(), assumed)


@collective(OPERATIONS["reduce_scatter"])
def reduce_scatter(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
    algorithm: str = "ring",
    estimator: str = "alpha-beta",
    in_network: str = "none",
    switch_latency: float = 0.0,
    shape: Sequence[int] | None = None,
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to sum a vector over all ranks and leave each with its block of the sum.

    Parameters
    ----------
    size : Quantity [byte]
        Vector that every rank holds: the total over the blocks that remain.
    ranks : int
        Participants; left out when `shape` or `placement` says it.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction; on a torus, of one link.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank; left out, the reduction is free.
    algorithm : str
        "ring", "pairwise", "recursive-halving", "pat", "torus", "torus-both-ways", "torus-
        all-ports", "nvls", or "best": the fastest of those whose needs the network states.
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".
    in_network : str
        What switches do: "none", "reduction" (as SHARP) or "multicast" (as NVLS).
    switch_latency : Quantity [s]
        Latency of one switch, for algorithms in which switches take part; left out, 0.
    shape : sequence of int, optional
        Sides of a torus, in place of `ranks`; opens the torus algorithms.
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", "rails", "two-level", "two-level-overlapped" or "best".

    Returns
    -------
    CollectiveCost
        Time with its latency, bandwidth and reduction terms, algorithm and bus bandwidth,
        steps, bytes per rank, bottleneck and assumptions.

    Notes
    -----
    The ring takes ``(ranks - 1) (latency + size / (ranks bandwidth) + size / (ranks
    reduction_rate))`` [Patarasuk2009]_; the logarithmic forms follow [Thakur2005]_.

    Examples
    --------
    >>> from scalemath.collectives import reduce_scatter
    >>> cost = reduce_scatter(size="2 GiB", ranks=72, bandwidth="900 GB/s/dir")
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    2.35295 ms
    """
    return answer(OPERATIONS["reduce_scatter"], locals(), assumed)


@collective(OPERATIONS["reduce"])
def reduce(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
    algorithm: str = "double-binary-tree",
    estimator: str = "alpha-beta",
    in_network: str = "none",
    levels: float = 1.0,
    switch_latency: float = 0.0,
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to sum a vector over all ranks and leave the sum with one.

    Parameters
    ----------
    size : Quantity [byte]
        Vector that every rank holds.
    ranks : int
        Participants; left out when `shape` or `placement` says it.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction; on a torus, of one link.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank; left out, the reduction is free.
    algorithm : str
        "binomial-tree", "rabenseifner", "chain", "binary-tree", "double-binary-tree",
        "sharp", "nvls", or "best": the fastest of those whose needs the network states.
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".
    in_network : str
        What switches do: "none", "reduction" (as SHARP) or "multicast" (as NVLS).
    levels : int
        Levels of switches up to the root of a reduction tree.
    switch_latency : Quantity [s]
        Latency of one switch, for algorithms in which switches take part; left out, 0.
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", "rails", "two-level", "two-level-overlapped" or "best".

    Returns
    -------
    CollectiveCost
        Time with its latency, bandwidth and reduction terms, algorithm and bus bandwidth,
        steps, bytes per rank, bottleneck and assumptions.

    Notes
    -----
    Pipelined algorithms take the best number of segments, kept continuous; the double tree follows
    [Sanders2009]_, recursive halving with a gather [Thakur2005]_.

    Examples
    --------
    >>> from scalemath.collectives import reduce
    >>> cost = reduce(size="2 GiB", ranks=72, bandwidth="900 GB/s/dir", algorithm="binomial-tree")
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    16.7027 ms
    """
    return answer(OPERATIONS["reduce"], locals(), assumed)
