"""Operations in which every rank has something for every other: all-to-all, barrier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scalemath.collectives.answer import answer
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.operations import OPERATIONS
from scalemath.collectives.public import collective


@collective(OPERATIONS["all_to_all"])
def all_to_all(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "pairwise",
    estimator: str = "alpha-beta",
    radix: float = 4.0,
    shape: Sequence[int] | None = None,
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to send a different block from every rank to every other.

    Parameters
    ----------
    size : Quantity [byte]
        Send buffer of one rank, its own block included.
    ranks : int
        Participants; left out when `shape` or `placement` says it.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction; on a torus, of one link.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    algorithm : str
        "pairwise", "bruck", "radix-bruck", "torus", or "best": the fastest of those whose
        needs the network states.
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".
    radix : int
        Base of "radix-bruck".
    shape : sequence of int, optional
        Sides of a torus, in place of `ranks`; opens the torus algorithms.
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", "rails", "two-level" or "two-level-overlapped".

    Returns
    -------
    CollectiveCost
        Time with its latency, bandwidth and reduction terms, algorithm and bus bandwidth,
        steps, bytes per rank, bottleneck and assumptions.

    Notes
    -----
    Pairwise exchange takes ``(ranks - 1) latency + (ranks - 1) / ranks size / bandwidth``; Bruck's
    algorithm sends blocks by the digits of their distance, fewer messages and more bytes
    [Bruck1997]_. The own block stays and is not sent.

    Examples
    --------
    >>> from scalemath.collectives import all_to_all
    >>> cost = all_to_all(size="536.870912 MB", ranks=72, bandwidth="100 GB/s/dir")
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    5.29414 ms
    """
    return answer(OPERATIONS["all_to_all"], locals(), assumed)


@collective(OPERATIONS["barrier"])
def barrier(
    *,
    ranks: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "dissemination",
    estimator: str = "alpha-beta",
    in_network: str = "none",
    levels: float = 1.0,
    switch_latency: float = math.nan,
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time until every rank knows that all have come.

    Parameters
    ----------
    ranks : int
        Participants; left out when `placement` says it.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    algorithm : str
        "dissemination", "binomial-tree", "ring", "sharp", or "best": the fastest of those
        whose needs the network states.
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".
    in_network : str
        What switches do: "none", "reduction" (as SHARP) or "multicast" (as NVLS, both).
    levels : int
        Levels of switches up to the root of a reduction tree.
    switch_latency : Quantity [s]
        Latency of one switch, for algorithms in which switches take part; left out, 0.
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", "rails", "two-level" or "two-level-overlapped".

    Returns
    -------
    CollectiveCost
        Time with its latency, bandwidth and reduction terms, algorithm and bus bandwidth,
        steps, bytes per rank, bottleneck and assumptions.

    Notes
    -----
    Dissemination takes ``ceil(log2(ranks))`` rounds, a binomial tree twice as many, a token in a
    ring ``2 (ranks - 1)``.

    Examples
    --------
    >>> from scalemath.collectives import barrier
    >>> print(f"{barrier(ranks=72, latency='2 us').time.to('us'):.6g~P}")
    14 µs
    """
    return answer(OPERATIONS["barrier"], {**locals(), "size": 0.0, "bandwidth": math.inf}, assumed)
