"""Operations that move blocks or copies: all-gather, broadcast, gather, scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scalemath.collectives.answer import answer
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.operations import OPERATIONS
from scalemath.collectives.public import collective


@collective(OPERATIONS["all_gather"])
def all_gather(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "ring",
    estimator: str = "alpha-beta",
    in_network: str = "none",
    switch_latency: float = 0.0,
    shape: Sequence[int] | None = None,
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to give every rank the blocks of all.

    Parameters
    ----------
    size : Quantity [byte]
        Vector that every rank ends with: the total over the blocks.
    ranks : int
        Participants; left out when `shape` or `placement` says it.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction; on a torus, of one link.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    algorithm : str
        "ring", "recursive-doubling", "bruck", "pat", "torus", "torus-both-ways", "torus-
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
    The ring takes ``(ranks - 1) latency + (ranks - 1) / ranks size / bandwidth`` [Patarasuk2009]_;
    Bruck's needs ``ceil(log2(ranks))`` rounds for any rank count [Bruck1997]_.

    Examples
    --------
    >>> from scalemath.collectives import all_gather
    >>> cost = all_gather(size="2 GiB", ranks=72, bandwidth="900 GB/s/dir")
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    2.35295 ms
    """
    return answer(OPERATIONS["all_gather"], locals(), assumed)


@collective(OPERATIONS["broadcast"])
def broadcast(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "double-binary-tree",
    estimator: str = "alpha-beta",
    in_network: str = "none",
    levels: float = 1.0,
    switch_latency: float = 0.0,
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to copy a vector from one rank to all.

    Parameters
    ----------
    size : Quantity [byte]
        Vector that is copied.
    ranks : int
        Participants; left out when `shape` or `placement` says it.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction; on a torus, of one link.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    algorithm : str
        "binomial-tree", "chain", "binary-tree", "double-binary-tree", "scatter-ring",
        "scatter-doubling", "sharp", "nvls", or "best": the fastest of those whose needs the
        network states.
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
    Pipelined algorithms take the best number of segments, kept continuous: a pipeline of `fill`
    further stages then takes ``(sqrt(fill latency) + sqrt(size / bandwidth))**2``. The double tree
    follows [Sanders2009]_, the others [Thakur2005]_.

    Examples
    --------
    >>> from scalemath.collectives import broadcast
    >>> cost = broadcast(size="2 GiB", ranks=72, bandwidth="900 GB/s/dir")
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    2.38609 ms
    """
    return answer(OPERATIONS["broadcast"], locals(), assumed)


@collective(OPERATIONS["scatter"])
def scatter(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "binomial-tree",
    estimator: str = "alpha-beta",
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to give every rank its block from one rank.

    Parameters
    ----------
    size : Quantity [byte]
        Vector that the root holds: the total over the blocks.
    ranks : int
        Participants; left out when `shape` or `placement` says it.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    algorithm : str
        "binomial-tree", "direct", or "best": the fastest of those whose needs the network
        states.
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", "rails" or "best".

    Returns
    -------
    CollectiveCost
        Time with its latency, bandwidth and reduction terms, algorithm and bus bandwidth,
        steps, bytes per rank, bottleneck and assumptions.

    Notes
    -----
    The root's port carries ``(ranks - 1) / ranks size`` in any case; the tree pays ``ceil(log2(
    ranks))`` latencies, the direct way ``ranks - 1`` [Thakur2005]_.

    Examples
    --------
    >>> from scalemath.collectives import scatter
    >>> cost = scatter(size="65 MiB", ranks=65, bandwidth="100 GB/s/dir", algorithm="direct")
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    0.671089 ms
    """
    return answer(OPERATIONS["scatter"], locals(), assumed)


@collective(OPERATIONS["gather"])
def gather(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "binomial-tree",
    estimator: str = "alpha-beta",
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to bring every rank's block to one rank.

    Parameters
    ----------
    size : Quantity [byte]
        Vector that the root ends with: the total over the blocks.
    ranks : int
        Participants; left out when `shape` or `placement` says it.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    algorithm : str
        "binomial-tree", "direct", or "best": the fastest of those whose needs the network
        states.
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", "rails" or "best".

    Returns
    -------
    CollectiveCost
        Time with its latency, bandwidth and reduction terms, algorithm and bus bandwidth,
        steps, bytes per rank, bottleneck and assumptions.

    Notes
    -----
    The root's port carries ``(ranks - 1) / ranks size`` in any case; the tree pays ``ceil(log2(
    ranks))`` latencies, the direct way ``ranks - 1`` [Thakur2005]_. A direct gather is an incast.

    Examples
    --------
    >>> from scalemath.collectives import gather
    >>> cost = gather(size="65 MiB", ranks=65, bandwidth="100 GB/s/dir", algorithm="direct")
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    0.671089 ms
    """
    return answer(OPERATIONS["gather"], locals(), assumed)
