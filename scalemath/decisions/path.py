"""The path of five questions on plain numbers: the workload first, the first yes ends it."""

from __future__ import annotations

import math
from typing import NamedTuple

from scalemath.core.dtypes import data_type
from scalemath.kernels.gemm import compute_time
from scalemath.kernels.memory import fill, nodes_for_state, weight_bytes
from scalemath.kernels.serving import nodes_for_requests
from scalemath.kernels.training_cost import pretraining_operations
from scalemath.units import display

ONE, REPLICAS, CLUSTER = "one node", "replicas", "cluster"
FOUR_BIT = data_type("int4").bits_per_element


class Case(NamedTuple):
    """Everything the path looks at, in SI floats.

    `state` is bytes per parameter that stay in memory; `cache` what the wanted requests need,
    `overhead` what runtimes take; `demand` and `node_rate` are output tokens per second;
    `tokens`, `node_flops` and `deadline` belong to training.
    """

    kind: str
    parameters: float
    active: float
    state: float
    capacity: float
    usable: float
    headroom: float
    cache: float
    overhead: float
    demand: float
    node_rate: float
    tokens: float
    node_flops: float
    deadline: float

    @property
    def trains(self) -> bool:
        """Whether all parameters get a gradient."""
        return self.kind in ("full fine-tuning", "pretraining")

    @property
    def share(self) -> float:
        """Share of the node that the state takes."""
        return fill(self.parameters * self.state, self.capacity)

    @property
    def holds(self) -> bool:
        """Whether state and real need fit one node."""
        need = self.parameters * self.state + self.cache + self.overhead
        return self.share <= 1.0 - self.headroom and need <= self.usable

    @property
    def holds_in_four_bits(self) -> bool:
        """Whether it would with 4-bit weights; never on a gradient path."""
        if self.trains:
            return False
        held = weight_bytes(self.parameters, FOUR_BIT, 1.0)
        small = fill(held, self.capacity) <= 1.0 - self.headroom
        return small and held + self.cache + self.overhead <= self.usable

    @property
    def replicas(self) -> float:
        """Nodes that the wanted rate takes; 1 when nothing is said of it."""
        if self.demand <= 0.0 or not math.isfinite(self.node_rate):
            return 1.0
        return max(1.0, nodes_for_requests(self.demand, 1.0, self.node_rate))

    @property
    def training_time(self) -> float:
        """Time [s] of training on one node; 0 when no tokens are given."""
        if not self.tokens or not self.trains:
            return 0.0
        if self.node_flops <= 0.0:
            return math.inf
        return compute_time(pretraining_operations(self.active, self.tokens), self.node_flops, 1.0)

    @property
    def in_time(self) -> bool:
        """Whether one node is fast enough for the training that is asked."""
        return self.training_time <= self.deadline


class PathStep(NamedTuple):
    """One question of the path with its numbers and its answer."""

    number: int
    question: str
    numbers: str
    answer: bool
    outcome: str


class Outcome(NamedTuple):
    """Where the path ends: what to buy, how many nodes, at which step."""

    choice: str
    nodes: int
    step: int
    small: bool


def outcome(case: Case) -> Outcome:
    """Walk the path without words; what sensitivity repeats many times."""
    if case.kind == "pretraining":
        return _pretraining(case)
    if case.holds and case.in_time:
        if case.replicas <= 1.0:
            return Outcome(ONE, 1, 1, False)
        return Outcome(REPLICAS, int(case.replicas), 3, False)
    if not case.holds and case.holds_in_four_bits:
        if case.replicas <= 1.0:
            return Outcome(ONE, 1, 2, True)
        return Outcome(REPLICAS, int(case.replicas), 3, True)
    return Outcome(CLUSTER, nodes_of(case), 4, False)


def _pretraining(case: Case) -> Outcome:
    if case.holds and case.in_time:
        return Outcome(ONE, 1, 1, False)
    return Outcome(CLUSTER, nodes_of(case), 5, False)


def nodes_of(case: Case) -> int:
    """Whole nodes that hold the state with headroom, need the cache, and keep the deadline."""
    held = case.parameters * case.state
    whole = nodes_for_state(held, case.capacity, 1.0 - case.headroom)
    need = nodes_for_state(held + case.cache + case.overhead, case.usable, 1.0)
    time = 1.0
    if case.training_time and math.isfinite(case.training_time) and case.deadline > 0:
        time = math.ceil(case.training_time / case.deadline)
    return int(max(whole, need, time, case.replicas, 2.0))


def walk(case: Case) -> tuple[Outcome, tuple[PathStep, ...]]:
    """Walk the path and keep every question with its numbers until the first yes."""
    end = outcome(case)
    steps = [_workload(case), *(make(case) for make in (_fits, _four_bits, _replicas, _group))]
    steps.append(_cluster(case))
    kept = [one for one in steps if one.number <= end.step]
    last = kept[-1]._replace(answer=True, outcome=_said(end))
    return end, (*kept[:-1], last)


def _said(end: Outcome) -> str:
    if end.choice == ONE:
        return "one node" + (" with 4-bit weights" if end.small else "")
    if end.choice == REPLICAS:
        return f"{end.nodes} replicas, one node each, no fabric between them"
    return f"cluster of {end.nodes} nodes and more"


def _held(case: Case) -> str:
    what = "training state" if case.trains else "weights"
    return (
        f"{what} {display(case.parameters * case.state, 'byte')} = {100 * case.share:.6g} % of "
        f"{display(case.capacity, 'byte')}, allowed {100 * (1 - case.headroom):.6g} %"
    )


def _workload(case: Case) -> PathStep:
    what = "the state of training" if case.trains else "the weights"
    numbers = f"{case.kind}; what counts: {what}, {case.state:.6g} byte per parameter"
    return PathStep(0, "What is it for?", numbers, False, f"{what.removeprefix('the ')} count")


def _fits(case: Case) -> PathStep:
    numbers = _held(case)
    if case.cache:
        need = case.parameters * case.state + case.cache + case.overhead
        more = "cache" if "inference" in case.kind else "activations"
        numbers += (
            f"; with {more} and runtimes {display(need, 'byte')} of {display(case.usable, 'byte')}"
        )
    if case.training_time:
        numbers += f"; {display(case.training_time, 's')} on one node, wanted in " + (
            display(case.deadline, "s")
        )
    if case.replicas > 1:
        numbers += f"; {case.demand:.6g} token/s wanted, one node makes {case.node_rate:.6g}"
    return PathStep(1, "Does one node hold it with the reserve, and is it enough?", numbers,
                    False, "")  # fmt: skip


def _four_bits(case: Case) -> PathStep:
    question = "Does one node hold it with 4-bit weights?"
    if case.trains:
        return PathStep(2, question, "refused: no gradient path through 4-bit weights", False, "")
    if case.holds:
        return PathStep(2, question, "not asked: memory is not what is short", False, "")
    held = weight_bytes(case.parameters, FOUR_BIT, 1.0)
    numbers = f"weights {display(held, 'byte')} = {100 * fill(held, case.capacity):.6g} %"
    return PathStep(2, question, numbers, False, "")


def _replicas(case: Case) -> PathStep:
    question = "Does one node hold it, and is more throughput wanted?"
    if not (case.holds or case.holds_in_four_bits):
        return PathStep(3, question, "one node does not hold it", False, "")
    if case.trains:
        return PathStep(3, question, "training is one job, not many requests", False, "")
    numbers = f"{case.demand:.6g} / {case.node_rate:.6g} token/s = {case.replicas:.0f} nodes"
    return PathStep(3, question, numbers, False, "")


def _group(case: Case) -> PathStep:
    question = "Must one copy be spread over nodes?"
    if case.kind == "pretraining":
        return PathStep(4, question, "pretraining: asked in the next step", False, "")
    numbers = f"{_held(case)}: {nodes_of(case)} nodes"
    return PathStep(4, question, numbers, False, "")


def _cluster(case: Case) -> PathStep:
    numbers = _held(case)
    if case.training_time:
        numbers += f"; {display(case.training_time, 's')} on one node"
    return PathStep(5, "Is it pretraining beyond one node?", numbers, False, "")
