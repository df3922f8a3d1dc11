"""How a job is split: tensor, sequence, pipeline, context, expert and data parallelism."""

from __future__ import annotations

import math
from collections.abc import Iterator

from attrs import evolve, frozen

from scalemath.core.errors import ContradictionError, RangeError
from scalemath.workloads.transformer import Transformer

RECOMPUTE = ("none", "selective", "operators", "full", "full-early-stop")
SCHEDULES = {"1f1b": 1.0, "interleaved": 1.0, "zb-h1": 1.0 / 3.0, "zero-bubble": 0.0}
SHARDING = ("none", "optimizer", "gradients", "weights")


@frozen(kw_only=True)
class ParallelPlan:
    """A way to spread one training step over ranks.

    Attributes
    ----------
    tensor, pipeline, context, expert, data : int
        Sizes of the groups; the job runs on tensor x pipeline x context x data ranks, expert
        groups lie inside data x context.
    virtual : int
        Model chunks per pipeline rank (interleaving).
    micro_batch : int
        Sequences a data rank passes through the pipeline at once.
    global_batch : int
        Sequences of one step over all data ranks.
    sequence_parallel : bool
        Norms and dropout split over the tensor group.
    sharding : str
        What data ranks share: "none", "optimizer" (ZeRO-1), "gradients" (ZeRO-2) or
        "weights" (ZeRO-3, FSDP).
    recompute : str
        "none", "selective" (the attention core), "operators" (half of the products and all
        element-wise work), "full", or "full-early-stop" (all but the last product).
    schedule : str
        "1f1b", "interleaved", "zb-h1" (a third of the bubble) or "zero-bubble".
    keep_weights : bool
        With weights sharded: keep a layer's gathered weights from forward to backward.
    """

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    data: int = 1
    virtual: int = 1
    micro_batch: int = 1
    global_batch: int = 1
    sequence_parallel: bool = False
    sharding: str = "none"
    recompute: str = "none"
    schedule: str = "1f1b"
    keep_weights: bool = False

    def __attrs_post_init__(self) -> None:
        sizes = ("tensor", "pipeline", "context", "expert", "data", "virtual", "micro_batch")
        wrong = [
            f"{n} is {getattr(self, n)!r}"
            for n in (*sizes, "global_batch")
            if not (isinstance(getattr(self, n), int) and getattr(self, n) >= 1)
        ]
        if wrong:
            raise RangeError(f"parallel plan: {'; '.join(wrong)}; sizes are whole numbers >= 1")
        for name, known in (
            ("recompute", RECOMPUTE),
            ("sharding", SHARDING),
            ("schedule", tuple(SCHEDULES)),
        ):
            if getattr(self, name) not in known:
                raise RangeError(
                    f"parallel plan: {name} is {getattr(self, name)!r}; write one of "
                    f"{', '.join(known)}"
                )

    @property
    def ranks(self) -> int:
        """Devices the plan needs."""
        return self.tensor * self.pipeline * self.context * self.data

    @property
    def micro_batches(self) -> float:
        """Micro-batches a data rank runs per step."""
        return self.global_batch / (self.data * self.micro_batch)

    @property
    def bubble_fraction(self) -> float:
        """Idle share of the ideal pipeline time [1]."""
        factor = SCHEDULES[self.schedule]
        return factor * (self.pipeline - 1) / (self.virtual * self.micro_batches)

    def problems(
        self, model: Transformer, *, sequence: int, ranks: int | None = None
    ) -> tuple[str, ...]:
        """Every rule this plan breaks for a model; empty when it is valid.

        Parameters
        ----------
        model : Transformer
            What is trained.
        sequence : int
            Tokens of a sequence.
        ranks : int, optional
            Devices there are; they must equal the product of the groups.

        Returns
        -------
        tuple of str
            One sentence per broken rule, with the numbers.
        """
        found = []

        def divides(small: int, large: int, what: str) -> None:
            if large % small:
                found.append(f"{what}: {large} is not a multiple of {small}")

        if ranks is not None and ranks != self.ranks:
            found.append(
                f"tensor {self.tensor} x pipeline {self.pipeline} x context {self.context} x "
                f"data {self.data} = {self.ranks} ranks, there are {ranks}"
            )
        divides(self.tensor, model.heads, "query heads over the tensor group")
        if not model.latent:
            divides(self.tensor, model.kv_heads, "key-value heads over the tensor group")
        if model.plain_layers:
            divides(self.tensor, model.ffn, "inner width over the tensor group")
        divides(self.pipeline * self.virtual, model.layers, "layers over stages and chunks")
        if self.virtual > 1:
            if self.pipeline == 1:
                found.append("virtual chunks need a pipeline of at least two stages")
            if self.micro_batches % self.pipeline:
                found.append(
                    f"interleaving: {self.micro_batches:g} micro-batches are not a multiple of "
                    f"{self.pipeline} stages"
                )
        if self.sequence_parallel:
            divides(self.tensor, sequence // self.context, "tokens over the tensor group")
        divides(
            2 * self.context if self.context > 1 else 1,
            sequence,
            "tokens over twice the context group",
        )
        if self.expert > 1:
            if not model.experts:
                found.append("expert parallelism needs a model with experts")
            else:
                divides(self.expert, model.experts, "experts over the expert group")
            divides(self.expert, self.data * self.context, "data x context over expert groups")
        divides(
            self.data * self.micro_batch,
            self.global_batch,
            "global batch over data ranks and micro-batch",
        )
        if self.sharding == "weights" and self.virtual > 1:
            found.append(
                "weights sharded over data ranks with interleaving are gathered anew "
                "for every chunk; use sharding 'optimizer'"
            )
        return tuple(found)

    def check(self, model: Transformer, *, sequence: int, ranks: int | None = None) -> None:
        """Raise `ContradictionError` naming every rule the plan breaks."""
        found = self.problems(model, sequence=sequence, ranks=ranks)
        if found:
            raise ContradictionError(f"plan does not fit {model.name}: {'; '.join(found)}")

    def padded_vocabulary(self, model: Transformer, multiple: int = 128) -> int:
        """Rows of the embedding when padded to a multiple for every tensor rank."""
        step = multiple * self.tensor
        return math.ceil(model.vocabulary / step) * step


def divisors(number: int, limit: int | None = None) -> tuple[int, ...]:
    """Divisors of a count in rising order, up to a limit."""
    top = number if limit is None else min(number, limit)
    return tuple(d for d in range(1, top + 1) if number % d == 0)


def legal_layouts(
    model: Transformer,
    ranks: int,
    *,
    sequence: int,
    global_batch: int,
    tensor_limit: int = 8,
    context_limit: int = 1,
    micro_batches: tuple[int, ...] = (1,),
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
    micro_batches : tuple of int
        Micro-batch sizes to try.
    base : ParallelPlan, optional
        Source of everything else (recompute, sharding, schedule).

    Yields
    ------
    ParallelPlan
        Valid plans, tensor group varying slowest.
    """
    start = base or ParallelPlan(global_batch=global_batch)
    start = evolve(start, global_batch=global_batch)
    experts = divisors(model.experts) if model.experts else (1,)
    for tensor in divisors(ranks, tensor_limit):
        for pipeline in divisors(ranks // tensor, model.layers):
            for context in divisors(ranks // tensor // pipeline, context_limit):
                data = ranks // tensor // pipeline // context
                for virtual in _chunks(model.layers, pipeline):
                    for expert in experts:
                        for size in micro_batches:
                            plan = evolve(
                                start,
                                tensor=tensor,
                                pipeline=pipeline,
                                context=context,
                                data=data,
                                virtual=virtual,
                                expert=expert,
                                micro_batch=size,
                                sequence_parallel=start.sequence_parallel or tensor > 1,
                            )
                            if not plan.problems(model, sequence=sequence, ranks=ranks):
                                yield plan


def _chunks(layers: int, pipeline: int) -> tuple[int, ...]:
    """Numbers of chunks per stage that divide the layers."""
    if pipeline == 1 or layers % pipeline:
        return (1,)
    return divisors(layers // pipeline)
