"""How a job is split: tensor, sequence, pipeline, context, expert and data parallelism."""

from __future__ import annotations

import math

from attrs import frozen

from scalemath.core.errors import ContradictionError, RangeError
from scalemath.workloads.rules import broken
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
        if ranks is not None and ranks != self.ranks:
            found.append(
                f"tensor {self.tensor} x pipeline {self.pipeline} x context {self.context} x "
                f"data {self.data} = {self.ranks} ranks, there are {ranks}"
            )
        if self.sharding == "weights" and self.virtual > 1 and not self.keep_weights:
            found.append(
                "weights sharded over data ranks would be gathered anew for every chunk; use "
                "keep_weights or sharding 'optimizer'"
            )
        return (*found, *broken(self, model, sequence))

    def check(self, model: Transformer, *, sequence: int, ranks: int | None = None) -> None:
        """Raise `ContradictionError` naming every rule the plan breaks."""
        found = self.problems(model, sequence=sequence, ranks=ranks)
        if found:
            raise ContradictionError(f"plan does not fit {model.name}: {'; '.join(found)}")

    def padded_vocabulary(self, model: Transformer, multiple: int = 128) -> int:
        """Rows of the embedding when padded to a multiple for every tensor rank."""
        step = multiple * self.tensor
        return math.ceil(model.vocabulary / step) * step
