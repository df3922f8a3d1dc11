"""Where each kind of traffic belongs on a cluster, why, and what it costs on each tier."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from attrs import frozen

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.result import Result, measured
from scalemath.kernels.placing import (
    barrier_on_tier,
    checkpoint_time,
    exchange_on_tier,
    hand_over_on_tier,
    reduction_on_tier,
)
from scalemath.kernels.scaling import share_of
from scalemath.units import QuantityLike, display, quantity, to_si


@frozen(kw_only=True)
class Tier:
    """One network of a cluster as a rank sees it.

    Attributes
    ----------
    name : str
        "scale-up" or "scale-out".
    bandwidth : float
        Payload rate of a rank's port per direction [byte/s].
    latency : float
        One-way time of an empty message [s].
    ranks : float
        Ranks that share it.
    oversubscription : float
        Down-capacity over up-capacity [1].
    memory_semantics : bool
        Whether ranks load and store each other's memory.
    """

    name: str
    bandwidth: float
    latency: float
    ranks: float
    oversubscription: float = 1.0
    memory_semantics: bool = False


def two_tiers(
    *,
    domain: int,
    scale_up: QuantityLike,
    scale_out: QuantityLike,
    scale_up_latency: QuantityLike = "0 s",
    scale_out_latency: QuantityLike = "0 s",
    oversubscription: float = 1.0,
) -> tuple[Tier, Tier]:
    """Describe the two networks of a cluster.

    Parameters
    ----------
    domain : int
        Ranks joined by one scale-up network.
    scale_up, scale_out : Quantity [byte/s/dir]
        Payload rate of a rank's port on each network per direction.
    scale_up_latency, scale_out_latency : Quantity [s]
        One-way time of an empty message.
    oversubscription : float
        Of the scale-out fabric: 4 means 4:1 [1].

    Returns
    -------
    tuple of Tier
        Scale-up and scale-out.
    """
    if oversubscription < 1.0:
        raise RangeError(
            f"oversubscription is {oversubscription}; write 4 for 4:1, 1 for a full fabric"
        )
    return (
        Tier(
            name="scale-up",
            bandwidth=to_si(scale_up, "byte/s/dir"),
            latency=to_si(scale_up_latency, "s"),
            ranks=float(domain),
            memory_semantics=True,
        ),
        Tier(
            name="scale-out",
            bandwidth=to_si(scale_out, "byte/s/dir"),
            latency=to_si(scale_out_latency, "s"),
            ranks=math.inf,
            oversubscription=oversubscription,
        ),
    )


class _Kind(NamedTuple):
    """What is known of one kind of traffic."""

    traffic: str
    where: str
    limited_by: str
    why: str
    fine_grained: bool = False


KINDS: dict[str, _Kind] = {
    "tensor": _Kind(
        "reduction",
        "scale-up only",
        "bandwidth",
        "an allreduce of all activations in every layer, nothing to hide it behind",
        True,
    ),
    "sequence": _Kind(
        "reduction",
        "scale-up only",
        "bandwidth",
        "all-gather and reduce-scatter move what the tensor allreduce moves",
        True,
    ),
    "pipeline": _Kind(
        "hand-over",
        "either",
        "neither",
        "one message per stage and micro-batch, hidden behind the next one",
    ),
    "data": _Kind(
        "reduction",
        "scale-out",
        "bandwidth, can overlap",
        "one reduction of the gradients per step, hidden behind the backward pass",
    ),
    "weights": _Kind(
        "reduction",
        "scale-out",
        "bandwidth, can overlap",
        "every layer is gathered ahead of its use; full bisection keeps it hidden",
    ),
    "expert": _Kind(
        "exchange",
        "scale-up first",
        "bisection and per-message latency",
        "an all-to-all twice per expert layer, bound by the narrowest cut",
        True,
    ),
    "context": _Kind(
        "exchange",
        "scale-up first",
        "bandwidth",
        "keys and values pass every rank in every layer",
        True,
    ),
    "decode": _Kind(
        "reduction",
        "scale-up only",
        "latency",
        "two small allreduces per layer and token: latency times layers",
        True,
    ),
    "barrier": _Kind("barrier", "either", "latency", "a few empty messages"),
    "checkpoint": _Kind(
        "checkpoint",
        "scale-out",
        "storage",
        "asynchronous and sharded, away from the job",
    ),
}


@frozen(kw_only=True, eq=False)
class PlacementAdvice(Result):
    """Where one kind of traffic belongs, and its time on each tier.

    Attributes
    ----------
    kind : str
        Kind of traffic.
    ranks : int
        Ranks of the group.
    tier : str
        "scale-up", "scale-out" or "either".
    why : str
        The reason in a sentence.
    limited_by : str
        What bounds it.
    semantics : str
        "memory" for fine-grained loads and stores, "message" for large transfers.
    times : mapping of str to float
        Time on each tier [s]; a tier that cannot hold the group is left out.
    computation : float
        Computation beside which it runs [s]; 0 when not stated.
    recommendations : tuple of str
        What would help.
    """

    kind: str
    ranks: int
    tier: str
    why: str
    limited_by: str
    semantics: str
    times: Mapping[str, float]
    computation: float = 0.0
    recommendations: tuple[str, ...] = ()

    @measured("s")
    def time(self) -> float:
        """Time on the tier advised, the faster of the two when either will do."""
        return self.times.get(self.tier, min(self.times.values()))

    def time_on(self, tier: str) -> Any:
        """Time on a tier as a quantity."""
        if tier not in self.times:
            raise ArgumentError(
                f"{self.kind} over {self.ranks} ranks does not fit the {tier} network; there is "
                f"{', '.join(self.times)}"
            )
        return self.term_quantities()[tier]

    def term_quantities(self) -> dict[str, Any]:
        """Time on every tier as quantities."""
        return {name: quantity(value, "s") for name, value in self.times.items()}

    def share_on(self, tier: str) -> float:
        """Time on a tier as a share of it and the computation together [1]."""
        return share_of(self.times[tier], self.times[tier] + self.computation)

    def headline(self) -> str:
        """One readable line."""
        shown = ", ".join(f"{name} {display(t, 's')}" for name, t in self.times.items())
        return f"{self.kind} over {self.ranks} ranks: {self.tier} ({self.why}); {shown}"

    def remarks(self) -> list[str]:
        """What bounds it, shares, and what would help."""
        lines = [f"limited by {self.limited_by}; {self.semantics} semantics"]
        if self.computation:
            shares = ", ".join(f"{n} {100 * self.share_on(n):.3g} %" for n in self.times)
            lines.append(f"share beside {display(self.computation, 's')} of work: {shares}")
        return lines + [f"recommended: {text}" for text in self.recommendations]


def place(
    kind: str,
    *,
    ranks: int,
    size: QuantityLike,
    tiers: tuple[Tier, Tier],
    computation: QuantityLike = "0 s",
    storage: QuantityLike | None = None,
) -> PlacementAdvice:
    """Say on which network a kind of traffic belongs, and what it costs on each.

    Parameters
    ----------
    kind : str
        "tensor", "sequence", "pipeline", "data", "weights", "expert", "context", "decode",
        "barrier" or "checkpoint".
    ranks : int
        Ranks of the group.
    size : Quantity [byte]
        Buffer of the collective; for experts and context what leaves one rank.
    tiers : tuple of Tier
        Scale-up and scale-out network, from `two_tiers`.
    computation : Quantity [s]
        Work beside which the traffic runs.
    storage : Quantity [byte/s], optional
        Aggregate rate of the storage, for a checkpoint.

    Returns
    -------
    PlacementAdvice
        Tier, reason, time and share on each tier, recommendations.

    Raises
    ------
    RangeError
        When a group that must stay inside the domain is wider than it.

    Examples
    --------
    >>> from scalemath.workloads import place, two_tiers
    >>> rack = two_tiers(domain=72, scale_up="900 GB/s/dir", scale_out="100 GB/s/dir")
    >>> place("tensor", ranks=72, size="2 GiB", tiers=rack).tier
    'scale-up'
    >>> place("pipeline", ranks=8, size="0.268435 GB", tiers=rack).tier
    'either'
    """
    known = KINDS.get(kind)
    if known is None:
        raise ArgumentError(f"kind is {kind!r}; write one of {', '.join(KINDS)}")
    up, out = tiers
    amount, work = to_si(size, "byte"), to_si(computation, "s")
    inside = ranks <= up.ranks
    if known.where == "scale-up only" and not inside:
        slow = _time(known.traffic, amount, ranks, out, storage)
        raise RangeError(
            f"{kind} over {ranks} ranks exceeds domain {up.ranks:.0f}: {known.why}; across the "
            f"scale-out network one takes {display(slow, 's')}. Use at most {up.ranks:.0f} "
            "ranks and spread the rest by pipeline or data"
        )
    times = {
        tier.name: _time(known.traffic, amount, ranks, tier, storage)
        for tier in tiers
        if ranks <= tier.ranks and (known.traffic != "checkpoint" or tier is out)
    }
    tier = _tier(known.where, inside)
    return PlacementAdvice(
        kind=kind,
        ranks=ranks,
        tier=tier,
        why=known.why,
        limited_by=known.limited_by,
        semantics="memory" if known.fine_grained else "message",
        times=times,
        computation=work,
        recommendations=_recommendations(kind, known, ranks, tiers),
        cautions=_cautions(kind, known, tier, times, work, out),
    )


def _tier(where: str, inside: bool) -> str:
    """Name of the tier for a rule."""
    if where == "either":
        return "either"
    if where == "scale-up first":
        return "scale-up" if inside else "scale-out"
    return "scale-up" if where == "scale-up only" else "scale-out"


def _time(traffic: str, size: float, ranks: int, tier: Tier, storage: QuantityLike | None) -> float:
    """Time of a kind of traffic on a tier [s]."""
    over = tier.oversubscription
    if traffic == "reduction":
        return reduction_on_tier(size, float(ranks), tier.bandwidth, tier.latency, over)
    if traffic == "exchange":
        return exchange_on_tier(size, float(ranks), tier.bandwidth, tier.latency, over)
    if traffic == "hand-over":
        return hand_over_on_tier(size, tier.bandwidth, tier.latency, over)
    if traffic == "barrier":
        return barrier_on_tier(float(ranks), tier.latency)
    if storage is None:
        raise ArgumentError("a checkpoint needs storage, such as storage='100 GB/s'")
    return checkpoint_time(size, to_si(storage, "byte/s"))


def _recommendations(
    kind: str, known: _Kind, ranks: int, tiers: tuple[Tier, Tier]
) -> tuple[str, ...]:
    """What would help a group that leaves its domain."""
    up, out = tiers
    if ranks <= up.ranks:
        return ()
    found = []
    if known.traffic == "reduction":
        found.append("in-network reduction on the scale-out switches halves what ports carry")
    if known.traffic == "exchange":
        found.append("several planes or rails, so that one all-to-all uses every port")
        found.append("send a token once per node and spread it there (limit nodes per token)")
        if out.oversubscription > 1.0:
            found.append(
                f"no oversubscription under this group: {out.oversubscription:g}:1 multiplies "
                "its time by as much"
            )
    if kind == "expert":
        found.append(f"expert groups of at most {up.ranks:.0f} ranks stay inside the domain")
    return tuple(found)


def _cautions(
    kind: str,
    known: _Kind,
    tier: str,
    times: Mapping[str, float],
    work: float,
    out: Tier,
) -> tuple[str, ...]:
    """What speaks against the placement."""
    found = []
    if known.fine_grained and tier == "scale-out" and not out.memory_semantics:
        found.append(
            f"{kind} traffic is fine-grained loads and stores; the scale-out network moves "
            "messages, each with its own latency"
        )
    shown = times.get(tier)
    if work and shown is not None and shown > work:
        found.append(
            f"takes {display(shown, 's')} beside {display(work, 's')} of work: communication "
            "dominates"
        )
    return tuple(found)


def placement_table(
    tiers: tuple[Tier, Tier],
    jobs: Mapping[str, tuple[int, QuantityLike]],
    *,
    storage: QuantityLike = "100 GB/s",
) -> tuple[PlacementAdvice | str, ...]:
    """Advice for several kinds of traffic on one cluster; refusals as their sentence.

    Parameters
    ----------
    tiers : tuple of Tier
        The cluster.
    jobs : mapping of str to tuple
        Ranks and size of each kind of traffic.
    storage : Quantity [byte/s]
        Aggregate rate of the storage, for a checkpoint.

    Returns
    -------
    tuple of PlacementAdvice or str
        One for every kind asked for.
    """
    found: list[PlacementAdvice | str] = []
    for kind, (ranks, size) in jobs.items():
        try:
            found.append(place(kind, ranks=ranks, size=size, tiers=tiers, storage=storage))
        except RangeError as error:
            found.append(str(error))
    return tuple(found)
