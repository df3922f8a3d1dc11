"""All layouts of a model on a number of devices that break no rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve

from scalemath.core.errors import RangeError
from scalemath.workloads.machine import Machine
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.rules import kept
from scalemath.workloads.stack import Stack
from scalemath.workloads.training import TrainingStep, training_step
from scalemath.workloads.transformer import Transformer

Ints = np.ndarray[Any, np.dtype[np.int64]]


class LayoutSizes(NamedTuple):
    """Sizes of many plans, an array each, all of one length."""

    tensor: Ints
    pipeline: Ints
    context: Ints
    expert: Ints
    data: Ints
    virtual: Ints
    micro_batch: Ints
    global_batch: Ints


def divisors(number: int, limit: int | None = None) -> list[int]:
    """Divisors of a count in rising order, up to a limit."""
    top = number if limit is None else min(number, limit)
    return [d for d in range(1, top + 1) if number % d == 0]


def layout_sizes(
    model: Transformer,
    ranks: int,
    *,
    sequence: int,
    global_batch: int,
    tensor_limit: int = 8,
    context_limit: int = 1,
    micro_batches: Sequence[int] = (1,),
) -> LayoutSizes:
    """Sizes of every plan for a device count that breaks no rule.

    Parameters
    ----------
    model : Transformer
        What is trained.
    ranks : int
        Devices.
    sequence, global_batch : int
        Tokens of a sequence and sequences of a step.
    tensor_limit, context_limit : int
        Largest groups to consider; the tensor limit is usually the scale-up domain.
    micro_batches : sequence of int
        Micro-batch sizes to try.

    Returns
    -------
    LayoutSizes
        One array per size, the tensor group varying slowest.
    """
    if ranks < 1 or global_batch < 1 or sequence < 1:
        raise RangeError("ranks, global_batch and sequence are whole numbers of at least 1")
    axes = (
        divisors(ranks, tensor_limit),
        [p for p in divisors(model.layers) if ranks % p == 0],
        divisors(ranks, context_limit),
        divisors(model.stored_experts, ranks) if model.experts else [1],
        divisors(model.layers),
        sorted(set(micro_batches)),
    )
    tensor, pipeline, context, expert, virtual, micro = (
        grid.ravel() for grid in np.meshgrid(*map(np.asarray, axes), indexing="ij")
    )
    inner = tensor * pipeline * context
    data = ranks // inner
    sizes = LayoutSizes(
        tensor,
        pipeline,
        context,
        expert,
        np.maximum(data, 1),
        virtual,
        micro,
        np.full_like(tensor, global_batch),
    )
    good = kept(sizes, model, sequence) & (inner * data == ranks) & (data >= 1)
    return LayoutSizes(*(column[good] for column in sizes))


def plan_at(sizes: LayoutSizes, index: int, base: ParallelPlan) -> ParallelPlan:
    """Plan at one position, with the policies of another."""
    chosen: dict[str, Any] = {name: int(column[index]) for name, column in sizes._asdict().items()}
    return evolve(base, sequence_parallel=True, **chosen)


def legal_layouts(
    model: Transformer,
    ranks: int,
    *,
    sequence: int,
    global_batch: int,
    tensor_limit: int = 8,
    context_limit: int = 1,
    micro_batches: Sequence[int] = (1,),
    base: ParallelPlan | None = None,
) -> Iterator[ParallelPlan]:
    """All plans for a device count that break no rule.

    Parameters
    ----------
    model : Transformer
        What is trained.
    ranks : int
        Devices.
    sequence, global_batch : int
        Tokens of a sequence and sequences of a step.
    tensor_limit, context_limit : int
        Largest groups to consider; the tensor limit is usually the scale-up domain.
    micro_batches : sequence of int
        Micro-batch sizes to try.
    base : ParallelPlan, optional
        Source of the policies (recompute, sharding, schedule).

    Returns
    -------
    iterator of ParallelPlan
        Valid plans, the tensor group varying slowest.

    Examples
    --------
    >>> from scalemath.workloads import Transformer, legal_layouts
    >>> model = Transformer(layers=6, hidden=512, heads=8, ffn=2048, vocabulary=32000)
    >>> plans = list(legal_layouts(model, 4, sequence=1024, global_batch=8))
    >>> sorted({(p.tensor, p.pipeline, p.data) for p in plans})
    [(1, 1, 4), (1, 2, 2), (2, 1, 2), (2, 2, 1), (4, 1, 1)]
    """
    sizes = layout_sizes(
        model,
        ranks,
        sequence=sequence,
        global_batch=global_batch,
        tensor_limit=tensor_limit,
        context_limit=context_limit,
        micro_batches=micro_batches,
    )
    start = base or ParallelPlan()
    for index in range(len(sizes.tensor)):
        yield plan_at(sizes, index, start)


def smallest_layout(
    model: Transformer,
    machine: Machine,
    *,
    sequence: int,
    global_batch: int,
    counts: Sequence[int] | None = None,
    stack: Stack | None = None,
    base: ParallelPlan | None = None,
) -> TrainingStep | None:
    """Fewest devices on which a model fits and divides, and its fastest step there.

    Parameters
    ----------
    model : Transformer
        What is trained.
    machine : Machine
        Devices and their memory.
    sequence, global_batch : int
        Tokens of a sequence and sequences of a step.
    counts : sequence of int, optional
        Device counts to try; 1, 2, 4 and so on, then whole nodes, by default.
    stack : Stack, optional
        Software.
    base : ParallelPlan, optional
        Source of the policies.

    Returns
    -------
    TrainingStep or None
        None when no count suffices.
    """
    node = machine.node_ranks
    tried = counts or [n for n in (1, 2, 4) if n < node] + [node * 2**k for k in range(12)]
    policies = base or ParallelPlan(sharding="optimizer")
    for ranks in sorted(tried):
        best: TrainingStep | None = None
        for plan in legal_layouts(
            model,
            ranks,
            sequence=sequence,
            global_batch=global_batch,
            tensor_limit=node,
            base=policies,
        ):
            step = training_step(model, plan, machine, sequence=sequence, stack=stack)
            if step.fits and (best is None or step.si("time") < best.si("time")):
                best = step
        if best is not None:
            return best
    return None
