"""Strong scaling: a fixed amount of work on more and more ranks that communicate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import kernel_of, total
from scalemath.core.result import Result, measured
from scalemath.kernels.ring_limits import (
    best_scaling_ranks,
    ranks_at_ceiling_share,
    ring_latency_per_rank,
    ring_time_limit,
    scaling_ceiling,
    scaling_wall,
)
from scalemath.kernels.scaling import (
    domains_used,
    ranks_inside,
    strong_scaling_step,
)
from scalemath.scaling.limits import find_best, find_limit, find_wall
from scalemath.scaling.steps import COLLECTIVES, PLACED, STRONG_STEPS, placed_names
from scalemath.units import display, quantities

_SILENT = (
    "time_one", "flops", "peak", "utilisation", "reduction_rate", "domain", "domain_bandwidth",
    "domain_latency",
)  # fmt: skip


@frozen(kw_only=True, eq=False)
class StrongScaling(Result):
    """One step of fixed work on a number of ranks, and where more ranks stop helping.

    Attributes
    ----------
    given : mapping of str to float
        Arguments in SI units.
    outputs : mapping of str to float
        Everything the model computed, in SI units.
    """

    given: Mapping[str, Any] = field(repr=False)
    outputs: Mapping[str, float] = field(repr=False)

    @property
    def ranks(self) -> int:
        """Devices that share the work."""
        return int(self.given["ranks"])

    @property
    def baseline(self) -> int:
        """Devices the speedup is counted against."""
        return int(self.given["baseline"])

    @measured("s")
    def time(self) -> float:
        """Duration of the step."""
        return self.outputs["time"]

    @measured("s")
    def computation(self) -> float:
        """Part of the step that computes."""
        return self.outputs["time.compute"]

    @measured("s")
    def communication(self) -> float:
        """Duration of the collective, hidden or not."""
        return self.outputs["communication"]

    @measured("s")
    def exposed_communication(self) -> float:
        """Part of the collective that is not hidden behind computation."""
        return self.outputs["time.exposed_communication"]

    @measured("s")
    def baseline_time(self) -> float:
        """Duration of the step on the baseline."""
        return self.outputs["baseline_time"]

    @measured("1")
    def speedup(self) -> float:
        """Baseline time over time."""
        return self.outputs["speedup"]

    @measured("1")
    def scaling_efficiency(self) -> float:
        """Speedup per rank added to the baseline."""
        return self.outputs["scaling_efficiency"]

    @measured("1")
    def communication_share(self) -> float:
        """Exposed communication as a share of the step."""
        return self.outputs["communication_share"]

    def communication_at(self, ranks: float, latency: float | None = None) -> float:
        """Duration of the collective [s] on another number of ranks."""
        given = dict(self.given, ranks=ranks)
        if latency is not None:
            given["latency"] = given["domain_latency"] = latency
        given["inside"] = ranks_inside(ranks, given["domain"])
        given["across"] = domains_used(ranks, given["domain"])
        names = placed_names("ranks", "inside", "across")
        kernel = COLLECTIVES[given["algorithm"]]
        return total(kernel.function(*(given[names.get(n, n)] for n in kernel.parameters)))

    def time_at(self, ranks: float) -> float:
        """Duration of the step [s] on another number of ranks."""
        shared = self.communication_at(ranks)
        return total(
            strong_scaling_step(self.outputs["work"], ranks, shared, self.given["overlap"])
        )

    @measured("1")
    def ceiling(self) -> float:
        """Speedup against the baseline in the limit of many ranks, latency left out."""
        return scaling_ceiling(self.outputs["baseline_time"], self._limit())

    @measured("1")
    def ceiling_one(self) -> float:
        """Speedup against one rank in the limit of many ranks, latency left out."""
        return scaling_ceiling(self.outputs["work"], self._limit())

    @measured("1")
    def wall(self) -> float:
        """Number of ranks, continuous, where communication takes as long as computation."""
        if self.given["algorithm"] != "ring":
            return find_wall(self.communication_at, self.outputs["work"])
        per_rank = ring_latency_per_rank(self.given["latency"])
        return scaling_wall(self.outputs["work"], self._limit(), per_rank)

    @measured("1")
    def ranks_at_share(self) -> float:
        """Number of ranks, continuous, at a share of the ceiling (90 % unless stated)."""
        return ranks_at_ceiling_share(self.ceiling_one, self.given["ceiling_share"])

    @measured("1")
    def best_ranks_continuous(self) -> float:
        """Number of ranks, continuous for the ring, that makes the step shortest."""
        if self.given["algorithm"] != "ring":
            return find_best(self.time_at)
        return best_scaling_ranks(
            self.outputs["work"],
            self._limit(),
            ring_latency_per_rank(self.given["latency"]),
            self.given["overlap"],
        )

    @measured("1")
    def best_ranks(self) -> float:
        """Whole number of ranks that makes the step shortest; infinite if more always helps."""
        exact = float(self.best_ranks_continuous)
        if math.isinf(exact):
            return exact
        below = max(1.0, math.floor(exact))
        return min(1.0, below, below + 1.0, key=self.time_at)

    def _limit(self) -> float:
        """Duration of the collective [s] without latency on very many ranks."""
        g = self.given
        if g["algorithm"] != "ring":
            return find_limit(self.communication_at)
        return ring_time_limit(g["size"], g["bandwidth"], g["reduction_rate"])

    @property
    def slows_down(self) -> bool:
        """Whether the step takes longer than on the baseline."""
        return self.outputs["speedup"] < 1.0

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {
            p.name: (self.given[p.name], p.unit)
            for p in strong_scaling.parameters
            if not (p.name in _SILENT and self.given[p.name] == p.default)
        }

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Computation and exposed communication."""
        return {
            "compute": (self.outputs["time.compute"], "s"),
            "exposed communication": (self.outputs["time.exposed_communication"], "s"),
        }

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        collective = COLLECTIVES[self.given["algorithm"]]
        own = kernel_of(strong_scaling_step)
        return f"{own.formula}; communication = {collective.formula}", collective.source

    def remarks(self) -> list[str]:
        """Where more ranks stop helping, for collectives whose limits are searched for."""
        return [] if self.given["algorithm"] == "ring" else _beyond(self)

    def headline(self) -> str:
        """One readable line."""
        out = self.outputs
        text = (
            f"strong scaling: {display(out['time'], 's')} on {self.ranks} ranks"
            f", speedup {out['speedup']:.6g} against {self.baseline}"
            f", efficiency {100 * out['scaling_efficiency']:.6g} %"
            f", communication {100 * out['communication_share']:.6g} %"
            f", ceiling {self.ceiling:.6g}"
        )
        return text + "; slower than the baseline" if self.slows_down else text


@quantities(
    *STRONG_STEPS,
    output="time",
    time_one="s > 0 unless flops",
    flops="flop > 0 optional",
    peak="flop/s > 0 optional",
    utilisation="number > 0 <= 1",
    ranks="count >= 1",
    size="byte",
    bandwidth="byte/s/dir > 0",
    latency="s",
    reduction_rate="byte/s > 0 optional",
    overlap="number <= 1",
    baseline="count >= 1",
    algorithm=f"choice {' '.join(COLLECTIVES)}",
    domain="count >= 1 optional",
    domain_bandwidth="byte/s/dir > 0 optional",
    domain_latency="s",
    ceiling_share="number > 0 < 1",
)
def strong_scaling(
    *,
    ranks: float,
    size: float,
    bandwidth: float,
    time_one: float = 0.0,
    flops: float = 0.0,
    peak: float = math.inf,
    utilisation: float = 1.0,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
    overlap: float = 0.0,
    baseline: float = 1.0,
    algorithm: str = "ring",
    domain: float = 1.0,
    domain_bandwidth: float = math.inf,
    domain_latency: float = 0.0,
    ceiling_share: float = 0.9,
    assumed: tuple[str, ...] = (),
) -> StrongScaling:
    """Time, speedup and limits of fixed work on `ranks` devices that end with an allreduce.

    Parameters
    ----------
    ranks : int
        Devices that share the work.
    size : Quantity [byte]
        Vector that is reduced once per step.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    time_one : Quantity [s]
        Time of the work on one device; or give `flops` and `peak`.
    flops : Quantity [flop]
        Operations of the step.
    peak : Quantity [flop/s]
        Dense rate of one device.
    utilisation : float
        Share of `peak` that is reached [1].
    latency : Quantity [s]
        One-way time of an empty message.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank; left out, the reduction is free.
    overlap : float
        Share of the communication that computation may hide [1], 0 to 1.
    baseline : int
        Devices the speedup and the ceiling are counted against.
    algorithm : str
        Allreduce algorithm over equal ports, another operation as in "all_to_all/pairwise", or
        a schedule over scale-up domains: "flat", "rails", "two-level", "two-level-overlapped".
    domain : int
        Ranks of a scale-up domain, for a schedule over domains; `bandwidth` and `latency` are
        then those of one rank's network interface.
    domain_bandwidth : Quantity [byte/s/dir]
        Payload rate of a rank's scale-up port per direction.
    domain_latency : Quantity [s]
        One-way time of an empty message inside a domain.
    ceiling_share : float
        Share of the ceiling that `ranks_at_share` asks for [1].

    Returns
    -------
    StrongScaling
        Time with its terms, speedup, efficiency, communication share, ceiling, wall, best
        number of ranks.

    Raises
    ------
    ArgumentError
        When neither `time_one` nor both `flops` and `peak` are given.

    Notes
    -----
    Without latency and overlap this is Amdahl's law with serial fraction
    ``2 size / (bandwidth time_one)``; the communication share is then one minus the scaling
    efficiency. The ceiling leaves latency out; with latency the speedup has a maximum at
    `best_ranks` and falls behind it.

    Examples
    --------
    >>> from scalemath.scaling import strong_scaling
    >>> result = strong_scaling(
    ...     flops="140.737488355328 TFLOP", peak="2.25 PFLOP/s", ranks=8, size="2 GiB",
    ...     bandwidth="900 GB/s/dir",
    ... )
    >>> print(f"{result.time.to('ms'):.6g~P}, speedup {result.speedup:.6g}")
    11.9944 ms, speedup 5.21493
    """
    if not time_one and not (flops and math.isfinite(peak)):
        raise ArgumentError(
            "strong_scaling: peak is missing beside flops; write peak='2.25 PFLOP/s', or give "
            "time_one='62.55 ms'"
        )
    _check_placement(algorithm, ranks, baseline, domain, domain_bandwidth)
    given: dict[str, float | str] = {
        "time_one": time_one,
        "flops": flops,
        "peak": peak,
        "utilisation": utilisation,
        "ranks": ranks,
        "size": size,
        "bandwidth": bandwidth,
        "latency": latency,
        "reduction_rate": reduction_rate,
        "overlap": overlap,
        "baseline": baseline,
        "algorithm": algorithm,
        "domain": domain,
        "domain_bandwidth": domain_bandwidth,
        "domain_latency": domain_latency,
        "ceiling_share": ceiling_share,
    }
    result = StrongScaling(
        given=given,
        outputs=strong_scaling.model.evaluate(given),
        assumptions=_assumptions(assumed, given),
    )
    return evolve(result, cautions=_cautions(result))


def _check_placement(
    algorithm: str, ranks: float, baseline: float, domain: float, domain_bandwidth: float
) -> None:
    """Refuse a schedule over domains that says too little, or does not fill them."""
    if algorithm not in PLACED:
        return
    if domain <= 1.0 or math.isinf(domain_bandwidth):
        raise ArgumentError(
            f"strong_scaling: algorithm {algorithm!r} runs over scale-up domains; give domain=8 "
            "and domain_bandwidth='450 GB/s/dir'"
        )
    for name, count in (("ranks", ranks), ("baseline", baseline)):
        if count > domain and count % domain:
            raise ArgumentError(
                f"strong_scaling: {name} is {count:.0f}, which does not fill domains of "
                f"{domain:.0f}"
            )


def _assumptions(assumed: tuple[str, ...], given: Mapping[str, Any]) -> tuple[str, ...]:
    """Every default that shaped the answer."""
    kept = tuple(text for text in assumed if not text.startswith(("flops", "time_one")))
    if given["flops"] and given["utilisation"] == 1.0:
        kept += ("computation at the full peak rate",)
    if not given["overlap"]:
        kept += ("computation and communication do not overlap",)
    if math.isinf(given["reduction_rate"]):
        kept += ("the reduction itself takes no time",)
    if given["algorithm"] in PLACED:
        return (*kept, "one network interface per rank, domains filled one after the other")
    kept = tuple(text for text in kept if not text.startswith("domain"))
    return (*kept, "every rank sends through one port of the stated bandwidth")


def _cautions(result: StrongScaling) -> tuple[str, ...]:
    """What a reader must not overlook."""
    found: list[str] = []
    if result.slows_down:
        plural = "s" if result.baseline > 1 else ""
        found.append(
            f"the job slows down: {result.speedup:.6g} times the rate of {result.baseline} "
            f"rank{plural}"
        )
    if result.given["algorithm"] == "ring":
        found += _beyond(result)
    return tuple(found)


def _beyond(result: StrongScaling) -> list[str]:
    """Say that a number of ranks lies beyond the wall or the best one."""
    best, wall = result.best_ranks_continuous, result.wall
    if best <= 1.0:
        return ["no number of ranks is faster than one"]
    if result.ranks > best + 1.0:
        return [f"more ranks than the best number, {best:.6g}, are slower again"]
    if result.ranks > wall:
        return [f"beyond the wall at {wall:.6g} ranks: communication dominates"]
    return []
