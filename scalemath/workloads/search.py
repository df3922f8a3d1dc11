"""Search over every valid plan, through the sweep of the very model of the scalar call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.sweeps import sweep, zipped
from scalemath.topology.cluster import Cluster
from scalemath.units import QuantityLike, display, to_si
from scalemath.workloads.clusters import as_machine
from scalemath.workloads.layouts import LayoutSizes, layout_sizes, plan_at
from scalemath.workloads.machine import Machine
from scalemath.workloads.memory_inputs import (
    end_layers,
    gathered_floats,
    saved_floats,
    state_floats,
)
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.step_inputs import (
    SIZES,
    model_floats,
    policy_floats,
    recompute_floats,
    step_inputs,
)
from scalemath.workloads.step_model import STEP_MODEL
from scalemath.workloads.training import TrainingStep, training_step
from scalemath.workloads.transformer import Transformer

Floats = np.ndarray[Any, np.dtype[np.float64]]


@frozen(eq=False)
class PlanSearch:
    """Every valid plan with its time and memory, and the best of them.

    Attributes
    ----------
    transformer, machine, stack, sequence
        What was searched for.
    policies : tuple of ParallelPlan
        Combinations of policies; `policy` says which one a plan has.
    sizes : LayoutSizes
        Sizes of the plans.
    policy : numpy.ndarray
        Index into `policies`.
    time, memory : numpy.ndarray
        Step time [s] and memory of the fullest device [byte] of every plan.
    memory_limit : float
        Memory that a plan may use [byte].
    """

    transformer: Transformer
    machine: Machine
    stack: Stack
    sequence: int
    policies: tuple[ParallelPlan, ...]
    sizes: LayoutSizes = field(repr=False)
    policy: Any = field(repr=False)
    time: Floats = field(repr=False)
    memory: Floats = field(repr=False)
    memory_limit: float

    def __len__(self) -> int:
        return len(self.time)

    @property
    def feasible(self) -> Any:
        """Truth values: which plans fit the memory."""
        return self.memory <= self.memory_limit

    @property
    def ranks(self) -> Any:
        """Devices of every plan."""
        s = self.sizes
        return s.tensor * s.pipeline * s.context * s.data

    @property
    def token_rate_per_rank(self) -> Any:
        """Tokens per second and device of every plan."""
        return self.sizes.global_batch * self.sequence / self.time / self.ranks

    def plan(self, index: int) -> ParallelPlan:
        """Plan at a position."""
        return plan_at(self.sizes, index, self.policies[int(self.policy[index])])

    def step(self, index: int) -> TrainingStep:
        """Scalar answer for the plan at a position, with everything it can explain."""
        return training_step(
            self.transformer,
            self.plan(index),
            self.machine,
            sequence=self.sequence,
            stack=self.stack,
        )

    def top(self, count: int = 10) -> list[TrainingStep]:
        """Fastest plans that fit."""
        good = np.flatnonzero(self.feasible)
        order = good[np.argsort(self.time[good], kind="stable")[:count]]
        return [self.step(int(index)) for index in order]

    @property
    def best(self) -> TrainingStep:
        """Fastest plan that fits."""
        found = self.top(1)
        if not found:
            least = float(self.memory.min()) if len(self) else float("nan")
            raise RangeError(
                f"no valid plan fits {display(self.memory_limit, 'byte')} per device; the least "
                f"that one needs is {display(least, 'byte')}"
            )
        return found[0]

    def pareto(self) -> list[int]:
        """Positions of the plans that no other beats in time, devices and memory at once."""
        good = np.flatnonzero(self.feasible)
        order = good[np.lexsort((self.memory[good], self.ranks[good], self.time[good]))]
        front: list[int] = []
        rest = np.stack([self.ranks[order].astype(float), self.memory[order]], axis=1)
        kept = np.empty((0, 2))
        for position, point in zip(order, rest, strict=True):
            if not (kept <= point).all(axis=1).any():
                front.append(int(position))
                kept = np.vstack([kept[~(kept >= point).all(axis=1)], point])
        return front

    def __str__(self) -> str:
        shown = f"{int(self.feasible.sum())} of {len(self)} valid plans fit"
        return f"plan search for {self.transformer.name}: {shown}"


def search_plans(
    transformer: Transformer,
    machine: Machine | Cluster,
    *,
    global_batch: int,
    sequence: int,
    ranks: int | Sequence[int] | None = None,
    stack: Stack | None = None,
    tensor_limit: int | None = None,
    context_limit: int = 1,
    micro_batches: Sequence[int] = (1, 2, 4, 8),
    sharding: Sequence[str] = ("none", "optimizer"),
    recompute: Sequence[str] = ("none", "selective", "full"),
    schedule: str = "1f1b",
    memory_limit: QuantityLike | None = None,
    threads: int | None = 1,
) -> PlanSearch:
    """Time and memory of every valid plan, and the best of them.

    Parameters
    ----------
    transformer : Transformer
        What is trained.
    machine : Machine or Cluster
        What it runs on.
    global_batch, sequence : int
        Sequences of a step, and tokens of a sequence.
    ranks : int or sequence of int, optional
        Device counts to consider; all accelerators of a cluster by default.
    stack : Stack, optional
        Software.
    tensor_limit : int, optional
        Largest tensor group; the scale-up domain by default.
    context_limit : int
        Largest context group.
    micro_batches : sequence of int
        Micro-batch sizes to try.
    sharding, recompute : sequence of str
        Policies to try.
    schedule : str
        Pipeline schedule.
    memory_limit : Quantity [byte], optional
        Memory a plan may use; that of the device by default.
    threads : int, optional
        Blocks evaluated at once.

    Returns
    -------
    PlanSearch
        Arrays over all plans, the fastest, and the Pareto front of time, devices and memory.
    """
    if ranks is None:
        if not isinstance(machine, Cluster):
            raise ArgumentError("search_plans: ranks is missing; write ranks=[64, 128]")
        ranks = machine.accelerators
    software, machine = stack or Stack(), as_machine(machine)
    policies = tuple(
        ParallelPlan(sharding=shared, recompute=again, schedule=schedule, sequence_parallel=True)
        for shared, again in product(sharding, recompute)
    )
    counts = (ranks,) if isinstance(ranks, int) else tuple(ranks)
    found = [
        layout_sizes(
            transformer,
            count,
            sequence=sequence,
            global_batch=global_batch,
            tensor_limit=tensor_limit or machine.node_ranks,
            context_limit=context_limit,
            micro_batches=micro_batches,
        )
        for count in counts
    ]
    one = LayoutSizes(*(np.concatenate(columns) for columns in zip(*found, strict=True)))
    sizes = LayoutSizes(*(np.tile(column, len(policies)) for column in one))
    policy = np.repeat(np.arange(len(policies)), len(one.tensor))
    time, memory = evaluate_plans(transformer, machine, software, sequence, one, policies, threads)
    limit = machine.memory if memory_limit is None else to_si(memory_limit, "byte")
    return PlanSearch(
        transformer=transformer,
        machine=machine,
        stack=software,
        sequence=sequence,
        policies=policies,
        sizes=sizes,
        policy=policy,
        time=time.ravel(),
        memory=memory.ravel(),
        memory_limit=limit,
    )


# What policies decide, and what the number of stages decides when layers differ. Always
# columns, so that every search runs the same compiled driver.
_PROBE = Transformer(layers=2, hidden=2, heads=1, ffn=2, vocabulary=2)
_POLICY_NAMES = (
    frozenset(policy_floats(ParallelPlan(), Stack()))
    | frozenset(recompute_floats(ParallelPlan()))
    | frozenset(saved_floats(_PROBE, ParallelPlan(), Stack()))
    | frozenset(state_floats({}))
    | frozenset(gathered_floats(ParallelPlan()))
)
_STAGE_NAMES = frozenset(model_floats(_PROBE, Stack())) | frozenset(
    end_layers(_PROBE, ParallelPlan())
)


def evaluate_plans(
    transformer: Transformer,
    machine: Machine,
    stack: Stack,
    sequence: int,
    sizes: LayoutSizes,
    policies: Sequence[ParallelPlan],
    threads: int | None = 1,
) -> tuple[Floats, Floats]:
    """Step time [s] and memory [byte] of every combination of policies and sizes.

    Parameters
    ----------
    transformer, machine, stack, sequence
        As for the scalar call.
    sizes : LayoutSizes
        Sizes of plans.
    policies : sequence of ParallelPlan
        Plans of which only the policies count.
    threads : int, optional
        Blocks evaluated at once.

    Returns
    -------
    tuple of numpy.ndarray
        Two arrays with a row per policy and a column per plan.
    """
    if not len(sizes.tensor):
        return np.empty((len(policies), 0)), np.empty((len(policies), 0))

    def lowered(plan: ParallelPlan) -> dict[str, float]:
        return step_inputs(transformer, plan, machine, stack, sequence)

    fixed = lowered(policies[0])
    by_policy = [lowered(plan) for plan in policies]
    rows = {name: np.array([one[name] for one in by_policy]) for name in sorted(_POLICY_NAMES)}
    columns = {name: np.asarray(getattr(sizes, name), dtype=float) for name in SIZES}
    stages, which = np.unique(sizes.pipeline, return_inverse=True)
    by_stage = [lowered(evolve(policies[0], pipeline=int(n))) for n in stages]
    for name in sorted(_STAGE_NAMES - _POLICY_NAMES):
        columns[name] = np.array([one[name] for one in by_stage])[which]
    axes: dict[str, Any] = {
        "policy": zipped(**rows),
        "plan": zipped(**columns),
        **{n: v for n, v in fixed.items() if n not in rows and n not in columns},
    }
    grid: Any = sweep(STEP_MODEL, outputs=["time", "memory"], threads=threads, **axes)
    return grid.outputs["time"], grid.outputs["memory"]
