"""Operations without a reduction between many pairs: all-to-all, send-receive, barrier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scalemath.collectives.answer import answer
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.operations import OPERATIONS
from scalemath.collectives.public import collective
from scalemath.collectives.traffic import lowered_traffic
from scalemath.kernels.alltoall import busiest_port


@collective(OPERATIONS["all_to_all"])
def all_to_all(
    *,
    size: float,
    ranks: float = math.nan,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "pairwise",
    estimator: str = "alpha-beta",
    bruck_radix: float = 4.0,
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
    bruck_radix : int
        Base of "radix-bruck".
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


@collective(
    OPERATIONS["all_to_all_v"], ranks="count >= 1 unless traffic", bandwidth="byte/s/dir > 0"
)
def all_to_all_v(
    *,
    bandwidth: float,
    traffic: Any = None,
    largest_send: float = math.nan,
    largest_receive: float = 0.0,
    ranks: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "direct",
    estimator: str = "alpha-beta",
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to send blocks of unequal size from every rank to every other.

    Parameters
    ----------
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    traffic : array of Quantity, optional
        Square matrix; row i, column j holds what rank i sends to rank j [byte]. The diagonal
        stays where it is.
    largest_send : Quantity [byte]
        In place of `traffic`: what the busiest sender sends to others.
    largest_receive : Quantity [byte]
        In place of `traffic`: what the busiest receiver receives from others.
    ranks : int
        Participants; left out when `traffic` says it.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    algorithm : str
        "direct" (all messages in flight together), "pairwise" (exchanges that wait for their
        largest block), or "best".
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".

    Returns
    -------
    CollectiveCost
        Time with its terms, algorithm and bus bandwidth, steps, bytes per rank, bottleneck
        and assumptions. Its size is the largest buffer of any rank.

    Notes
    -----
    The busiest port decides: ``(ranks - 1) latency + max(largest_send, largest_receive) /
    bandwidth``. Many senders to one receiver are an incast.

    Examples
    --------
    >>> from scalemath.collectives import all_to_all_v
    >>> cost = all_to_all_v(
    ...     largest_send="1 MiB", largest_receive="64 MiB", ranks=65, bandwidth="100 GB/s/dir"
    ... )
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    0.671089 ms
    """
    values = {name: value for name, value in locals().items() if name != "traffic"}
    if traffic is None:
        size = busiest_port(largest_send, largest_receive)
        values |= {"size": size, "sum_of_steps": 0.0}
    else:
        values |= lowered_traffic(traffic)
        assumed = tuple(text for text in assumed if not text.startswith("largest"))
    return answer(OPERATIONS["all_to_all_v"], values, assumed)


@collective(OPERATIONS["send_receive"])
def send_receive(
    *,
    size: float,
    bandwidth: float = math.nan,
    latency: float = 0.0,
    ranks: float = 2.0,
    algorithm: str = "direct",
    estimator: str = "alpha-beta",
    placement: Any = None,
    schedule: str | None = None,
    assumed: tuple[str, ...] = (),
) -> CollectiveCost:
    """Time to send a message to one rank while receiving one from another.

    Parameters
    ----------
    size : Quantity [byte]
        Message sent, and received.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    latency : Quantity [s]
        One-way time of an empty message; left out it is 0.
    ranks : int
        Participants; all do the same at once.
    algorithm : str
        "direct".
    estimator : str
        "alpha-beta" (the closed form), "bound" (what nothing beats), "envelope",
        "calibrated" or "nccl".
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", one network interface per message.

    Returns
    -------
    CollectiveCost
        Time with its terms, algorithm and bus bandwidth (the same here), bottleneck and
        assumptions.

    Notes
    -----
    ``latency + size / bandwidth``: both directions of the port work at the same time.

    Examples
    --------
    >>> from scalemath.collectives import send_receive
    >>> cost = send_receive(size="1 GB", bandwidth="50 GB/s/dir", latency="5 us")
    >>> print(f"{cost.time.to('ms'):.6g~P}")
    20.005 ms
    """
    return answer(OPERATIONS["send_receive"], locals(), assumed)


@collective(OPERATIONS["barrier"])
def barrier(
    *,
    ranks: float = math.nan,
    latency: float = 0.0,
    algorithm: str = "dissemination",
    estimator: str = "alpha-beta",
    in_network: str = "none",
    levels: float = 1.0,
    switch_latency: float = 0.0,
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
        What switches do: "none", "reduction" (as SHARP) or "multicast" (as NVLS).
    levels : int
        Levels of switches up to the root of a reduction tree.
    switch_latency : Quantity [s]
        Latency of one switch, for algorithms in which switches take part; left out, 0.
    placement : Placement, optional
        Which ranks sit where, in place of `ranks`, `bandwidth` and `latency`.
    schedule : str, optional
        With a placement: "flat", "two-level" or "best".

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
