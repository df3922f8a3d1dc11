"""What a collective costs: the time with its terms, the bandwidths, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.collectives.algorithms import TABLE, Algorithm
from scalemath.collectives.crossing import crossing_ranks, crossing_sizes
from scalemath.collectives.lowering import TIERS
from scalemath.collectives.operations import LOWER_BOUND, Operation
from scalemath.collectives.segments import segments_of
from scalemath.core.kernel import total
from scalemath.core.result import Result, measured
from scalemath.kernels.busbandwidth import algorithm_bandwidth, bus_bandwidth
from scalemath.kernels.terms import CollectiveTerms
from scalemath.units import display

UNITS = {
    "size": "byte",
    "bandwidth": "byte/s/dir",
    "latency": "s",
    "reduction_rate": "byte/s",
    "switch_latency": "s",
    "largest_send": "byte",
    "largest_receive": "byte",
    "sum_of_steps": "byte",
    **{f"{tier}_bandwidth": "byte/s/dir" for tier in TIERS},
    **{f"{tier}_latency": "s" for tier in TIERS},
}
NARROW = 1e-9
"""Relative excess of a bandwidth over a rate that is taken for rounding."""


@frozen(kw_only=True)
class Contender:
    """An algorithm that was weighed when the best was asked for."""

    name: str
    seconds: float


@frozen(kw_only=True, eq=False)
class CollectiveCost(Result):
    """Predicted duration of one collective with everything that led to it.

    Attributes
    ----------
    operation_record : Operation
        The operation and its conventions.
    algorithm_record : Algorithm
        The algorithm and its kernel.
    given : mapping of str to float
        Arguments in SI units.
    split : CollectiveTerms
        Terms of the time in seconds.
    estimator : str
        "alpha-beta", "bound", "envelope", "calibrated" or "nccl".
    contenders : tuple of Contender
        What "best" chose from, fastest first; empty when an algorithm was named.
    """

    operation_record: Operation = field(repr=False)
    algorithm_record: Algorithm = field(repr=False)
    given: Mapping[str, float] = field(repr=False)
    split: CollectiveTerms
    estimator: str = "alpha-beta"
    contenders: tuple[Contender, ...] = field(default=(), repr=False)

    @property
    def operation(self) -> str:
        """Name of the operation."""
        return self.operation_record.name

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self.algorithm_record.name

    @property
    def ranks(self) -> int:
        """Participants."""
        return int(self.given["ranks"])

    @measured("s")
    def time(self) -> float:
        """Predicted duration."""
        return total(self.split)

    @measured("s")
    def latency_term(self) -> float:
        """Part of the time that remains for an empty buffer."""
        return self.split.latency

    @measured("s")
    def bandwidth_term(self) -> float:
        """Part of the time in which the busiest port carries payload."""
        return self.split.bandwidth

    @measured("s")
    def reduction_term(self) -> float:
        """Part of the time in which ranks reduce."""
        return self.split.reduction

    @measured("byte/s")
    def algorithm_bandwidth(self) -> float:
        """Size over time."""
        return algorithm_bandwidth(self.given["size"], total(self.split))

    @measured("byte/s")
    def bus_bandwidth(self) -> float:
        """Algorithm bandwidth times the factor of the operation."""
        return bus_bandwidth(self.given["size"], total(self.split), self.factor)

    @property
    def factor(self) -> float:
        """Bus over algorithm bandwidth [1]."""
        return float(self.operation_record.factor.function(self.given["ranks"]))

    @measured("byte")
    def bytes_per_rank(self) -> float:
        """Bytes that the busiest rank sends, or receives if that is more, one after the other."""
        moved = self._probed(bandwidth=1.0, latency=0.0, reduction_rate=math.inf).bandwidth
        return moved * self.ports

    @property
    def ports(self) -> int:
        """Ports of a rank in use at the same time."""
        if self.algorithm_record.name == "torus-both-ways":
            return 2
        if self.algorithm_record.name == "torus-all-ports":
            return 2 * int(self.given["dimensions"])
        return 1

    @measured("1")
    def steps(self) -> float:
        """Messages that follow one another on the longest way; infinite for free messages.

        For a pipeline the best number of segments is counted in; without latency it has no end.
        """
        record = self.algorithm_record
        if record.name == LOWER_BOUND:
            return math.nan
        if record.pipelined and self.given["size"] > 0.0:
            latency = self.given["latency"]
            return self.split.latency / latency if latency > 0.0 else math.inf
        return self._probed(size=0.0, latency=1.0, switch_latency=0.0).latency

    def _probed(self, **changes: float) -> CollectiveTerms:
        """Terms with some arguments replaced; a rate or latency stands for that of every level."""
        probe = {**self.given, **changes}
        for name in ("bandwidth", "latency"):
            if name in changes and "inner_ranks" in self.given:
                probe |= {f"{tier}_{name}": changes[name] for tier in TIERS}
        record = self.algorithm_record
        terms: CollectiveTerms = record.kernel.function(*record.pick(probe))
        return terms

    @measured("1")
    def segments(self) -> float:
        """Pieces a pipelined algorithm cuts the message into, kept continuous; 1 for others."""
        if not self.algorithm_record.pipelined:
            return 1.0
        return segments_of(self.algorithm, self.given)

    @measured("byte")
    def segment_size(self) -> float:
        """Bytes of one such piece; vanishing where there is no latency."""
        return self.given["size"] / self.si("segments")

    @property
    def bottleneck(self) -> str:
        """The term that takes the largest part of the time."""
        name = max(CollectiveTerms._fields, key=lambda term: getattr(self.split, term))
        if not total(self.split):
            return "nothing"
        return {
            "latency": "latency of messages",
            "bandwidth": "bandwidth of one rank's port",
            "reduction": "reduction rate of one rank",
        }[name]

    @property
    def runner_up(self) -> str:
        """Second best algorithm; empty when none was weighed."""
        return self.contenders[1].name if len(self.contenders) > 1 else ""

    @property
    def margin(self) -> float:
        """How many times longer the second best algorithm takes [1]; nan when none was weighed."""
        if len(self.contenders) < 2 or not self.contenders[0].seconds:
            return math.nan
        return self.contenders[1].seconds / self.contenders[0].seconds

    @measured("byte")
    def crossover_size(self) -> float:
        """Size nearest to this one at which the best and the second best algorithm swap.

        nan where no second one was weighed or the two never swap.
        """
        second = TABLE[self.operation].get(self.runner_up)
        if second is None or not self.given["size"]:
            return math.nan
        sizes = crossing_sizes(self.algorithm_record, second, self.given)
        here = math.log(self.given["size"])
        return min(sizes, key=lambda size: abs(math.log(size) - here), default=math.nan)

    @property
    def crossover_ranks(self) -> int | None:
        """Ranks at which the order of the best and the second best is not that of two any more."""
        second = TABLE[self.operation].get(self.runner_up)
        if second is None:
            return None
        found = crossing_ranks(self.algorithm_record, second, self.given)
        return found[0] if found else None

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments that the kernel used, as SI values and units."""
        names = ["size", *self.algorithm_record.kernel.parameters]
        return {
            name: (self.given[name], UNITS.get(name, "1"))
            for name in dict.fromkeys(names)
            if name in self.given and math.isfinite(self.given[name])
        }

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Terms that sum to the time."""
        kept = self.split._asdict()
        if not self.operation_record.reduces:
            del kept["reduction"]
        return {name: (value, "s") for name, value in kept.items()}

    def formula(self) -> tuple[str, str]:
        """Formula in words of the glossary and its source."""
        return self.algorithm_record.kernel.formula, self.algorithm_record.kernel.source

    def headline(self) -> str:
        """One readable line."""
        size = self.given["size"]
        what = f"{self.operation} ({self.algorithm})"
        if size:
            what += f" of {display(size, 'byte')}"
        text = f"{what} over {self.ranks} ranks: {display(self.si('time'), 's')}"
        if size:
            text += f", algorithm bandwidth {display(self.si('algorithm_bandwidth'), 'byte/s')}"
            text += f", bus bandwidth {display(self.si('bus_bandwidth'), 'byte/s')}"
        limit = self.bottleneck
        return f"{text}, limited by {'' if limit == 'nothing' else 'the '}{limit}"

    def remarks(self) -> list[str]:
        """What moves, what was weighed, and why a bus bandwidth may exceed the wire."""
        lines = [f"size counts {self.operation_record.size_is}"] if self.given["size"] else []
        if self.algorithm != LOWER_BOUND and self.given["size"]:
            moved = display(self.si("bytes_per_rank"), "byte")
            lines.append(f"the busiest rank carries {moved} in {self.si('steps'):.6g} steps")
        if self.algorithm_record.pipelined and self.si("segment_size") > 0.0:
            piece = display(self.si("segment_size"), "byte", 4)
            lines.append(f"cut into {self.si('segments'):.4g} segments of {piece}")
        if self.contenders:
            shown = ", ".join(f"{c.name} {display(c.seconds, 's')}" for c in self.contenders[:4])
            lines.append(f"best of {len(self.contenders)} algorithms: {shown}")
            if self.runner_up:
                lines.append(self._swap())
        return lines + above_the_wire(self)

    def _swap(self) -> str:
        """Where the order of the two fastest algorithms changes."""
        text = f"{self.runner_up} takes {self.margin:.6g} times as long"
        size, ranks = self.si("crossover_size"), self.crossover_ranks
        if size > 0.0:
            text += f"; the two swap at {display(size, 'byte')} for {self.ranks} ranks"
        if ranks is not None:
            text += f"; for this size their order first changes at {ranks} ranks"
        return text


def above_the_wire(cost: CollectiveCost) -> list[str]:
    """Explain a bus bandwidth above the rate of the port, where there is one."""
    rate = cost.given.get("bandwidth", math.inf)
    reported = cost.si("bus_bandwidth")
    if not cost.given["size"] or reported <= rate * (1.0 + NARROW):
        return []
    if cost.algorithm == LOWER_BOUND:
        return []
    share = cost.si("bytes_per_rank") / (cost.ports * cost.given["size"])
    return [
        f"the bus bandwidth of {display(reported, 'byte/s')} lies above the port's "
        f"{display(rate, 'byte/s/dir')}, and nothing is wrong: it is the algorithm bandwidth times "
        f"{cost.factor:.6g}, what a ring between endpoints would have to carry, while here a "
        f"port carries only {share:.6g} times the size"
    ]
