"""What a training step puts on the wire: every collective with size, group, count and tier."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from scalemath.core.result import Result, measured
from scalemath.kernels.group_traffic import (
    context_exchange_bytes,
    context_ring_bytes,
    expert_bytes,
    moved_by_rank,
)
from scalemath.units import display
from scalemath.workloads.lowering import layer_numbers
from scalemath.workloads.machine import Machine
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.step_inputs import policy_floats, recompute_floats
from scalemath.workloads.transformer import Transformer

PASSES = {"allreduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0}


@frozen(kw_only=True, eq=False)
class Traffic(Result):
    """One kind of collective in a training step, as one rank sees it.

    Attributes
    ----------
    purpose : str
        What it is for, such as "tensor activations forward".
    operation : str
        "allreduce", "all_gather", "reduce_scatter", "all_to_all" or "send_receive".
    bytes : float
        Buffer by the convention of the operation [byte].
    sent : float
        What one rank sends in one of them [byte].
    group : int
        Ranks that take part.
    stride : int
        Every how many-th rank belongs to one group.
    count : float
        How often a rank takes part per step.
    tier : str
        "scale-up" while the group stays inside the domain, else "scale-out".
    overlap : float
        Share that computation hides [1], as the software states it.
    semantics : str
        "memory" for fine-grained loads and stores inside a domain, "message" elsewhere.
    """

    purpose: str
    operation: str
    bytes: float
    sent: float
    group: int
    stride: int
    count: float
    tier: str
    overlap: float = 0.0
    semantics: str = "message"

    @measured("byte")
    def size(self) -> float:
        """Buffer by the convention of the operation."""
        return self.bytes

    @measured("byte")
    def sent_per_step(self) -> float:
        """What one rank sends for it per step."""
        return self.sent * self.count

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.purpose}: {self.count:g} x {self.operation} of "
            f"{display(self.bytes, 'byte')} over {self.group} ranks, {self.tier}, "
            f"{display(self.sent * self.count, 'byte')} sent per rank and step"
        )


def step_traffic(
    transformer: Transformer,
    plan: ParallelPlan,
    machine: Machine,
    *,
    sequence: int,
    stack: Stack | None = None,
) -> tuple[Traffic, ...]:
    """Every collective of one training step.

    Parameters
    ----------
    transformer : Transformer
        What is trained.
    plan : ParallelPlan
        How it is split.
    machine : Machine
        Says how many ranks share a scale-up network.
    sequence : int
        Tokens of a sequence.
    stack : Stack, optional
        Software; decides widths on the wire and overlap.

    Returns
    -------
    tuple of Traffic
        Tensor, context and expert collectives of the layers, hand-over between stages, then
        weights and gradients. Recomputed collectives are counted.

    Examples
    --------
    >>> from scalemath.workloads import (
    ...     ParallelPlan, Transformer, reference_machine, step_traffic)
    >>> model = Transformer(layers=2, hidden=1024, heads=8, ffn=4096, vocabulary=32000)
    >>> plan = ParallelPlan(tensor=8)
    >>> for use in step_traffic(model, plan, reference_machine("H100"), sequence=1024):
    ...     print(use)
    tensor activations forward: 4 x allreduce of 2.09715 MB over 8 ranks, scale-up, 14.6801 MB \
sent per rank and step
    tensor activations backward: 4 x allreduce of 2.09715 MB over 8 ranks, scale-up, 14.6801 \
MB sent per rank and step
    """
    software = stack or Stack()
    maker = _Maker(transformer, plan, machine, software, sequence)
    found = [*maker.tensor(), *maker.context(), *maker.expert(), *maker.pipeline()]
    return tuple(use for use in [*found, *maker.data()] if use.group > 1 and use.count)


class _Maker:
    """Numbers that several collectives share."""

    def __init__(
        self,
        model: Transformer,
        plan: ParallelPlan,
        machine: Machine,
        stack: Stack,
        sequence: int,
    ) -> None:
        self.model, self.plan, self.machine, self.stack = model, plan, machine, stack
        self.numbers = layer_numbers(model, plan.pipeline)
        self.tokens = plan.micro_batch * sequence / plan.context
        self.passes = plan.micro_batches * model.layers / plan.pipeline
        self.policy = policy_floats(plan, stack)
        self.again = recompute_floats(plan)["recompute_traffic"]

    def _use(
        self,
        purpose: str,
        operation: str,
        size: float,
        group: int,
        stride: int,
        count: float,
        *,
        sent: float | None = None,
        overlap: float = 0.0,
    ) -> Traffic:
        inside = group * stride <= self.machine.node_ranks
        moved = moved_by_rank(size, group, PASSES.get(operation, 1.0)) if sent is None else sent
        return Traffic(
            purpose=purpose,
            operation=operation,
            bytes=size,
            sent=moved,
            group=group,
            stride=stride,
            count=count,
            tier="scale-up" if inside else "scale-out",
            overlap=overlap,
            semantics="memory" if inside else "message",
        )

    def tensor(self) -> list[Traffic]:
        """Activations of the tensor group."""
        plan, size = self.plan, 2.0 * self.tokens * self.model.hidden
        forward, backward = self.passes * (1.0 + self.again), self.passes
        hidden = self.stack.tensor_overlap

        def use(purpose: str, operation: str, count: float) -> Traffic:
            return self._use(purpose, operation, size, plan.tensor, 1, count, overlap=hidden)

        if not plan.sequence_parallel:
            return [
                use("tensor activations forward", "allreduce", 2.0 * forward),
                use("tensor activations backward", "allreduce", 2.0 * backward),
            ]
        return [
            use("sequence activations forward", "all_gather", 2.0 * forward),
            use("sequence activations forward", "reduce_scatter", 2.0 * forward),
            use("sequence activations backward", "all_gather", 3.0 * backward),
            use("sequence activations backward", "reduce_scatter", 2.0 * backward),
        ]

    def context(self) -> list[Traffic]:
        """Keys and values, or heads, of the context group."""
        plan, n = self.plan, self.numbers
        if self.stack.context == "exchange":
            sent = context_exchange_bytes(
                self.tokens, n.query_width, n.kv_width, plan.tensor, plan.context
            )
            count = self.passes * (2.0 + self.again)
            whole = sent * plan.context / max(1, plan.context - 1)
            return [
                self._use(
                    "heads of attention",
                    "all_to_all",
                    whole,
                    plan.context,
                    plan.tensor,
                    count,
                    sent=sent,
                )
            ]
        sent = context_ring_bytes(self.tokens, n.kv_width, plan.tensor, plan.context)
        operation = "send_receive" if self.stack.context == "ring" else "all_gather"
        count = self.passes * (3.0 + self.again)
        return [
            self._use(
                "keys and values",
                operation,
                sent,
                plan.context,
                plan.tensor,
                count,
                sent=sent,
                overlap=self.stack.context_overlap if operation == "send_receive" else 0.0,
            )
        ]

    def expert(self) -> list[Traffic]:
        """Tokens on their way to experts and back."""
        plan, model = self.plan, self.model
        if not model.experts:
            return []
        node = float(self.machine.node_ranks)
        shards = float(plan.tensor if plan.sequence_parallel else 1)
        capacity = self.stack.expert_capacity
        copies = capacity * model.experts_per_token
        limit = capacity * (model.expert_node_limit or model.experts_per_token)
        sent = expert_bytes(
            self.tokens,
            model.hidden,
            2.0,
            copies,
            limit,
            plan.expert,
            plan.tensor,
            node,
            shards,
        )
        size = 2.0 * self.tokens * copies * model.hidden / shards
        held = model.layers / plan.pipeline
        dense = max(0.0, held - model.expert_layers)
        count = plan.micro_batches * (held - dense)
        uses = []
        for purpose, times in (
            ("expert dispatch", 2.0 + self.again),
            ("expert combine", 2.0 + self.again),
        ):
            uses.append(
                self._use(
                    purpose,
                    "all_to_all",
                    size,
                    plan.expert,
                    plan.tensor,
                    count * times,
                    sent=sent,
                    overlap=self.stack.expert_overlap,
                )
            )
        return uses

    def pipeline(self) -> list[Traffic]:
        """Activations and their gradients between stages."""
        plan = self.plan
        if plan.pipeline == 1:
            return []
        size = 2.0 * self.tokens * self.model.hidden / plan.tensor
        stride = plan.tensor * plan.context * plan.data
        count = 2.0 * plan.virtual * plan.micro_batches
        return [
            self._use(
                "hand-over between stages",
                "send_receive",
                size,
                plan.pipeline,
                stride,
                count,
                sent=size,
            )
        ]

    def data(self) -> list[Traffic]:
        """Weights and gradients of the data group."""
        plan, n = self.plan, self.numbers
        group, stride = plan.data * plan.context, plan.tensor
        layers = self.model.layers / plan.pipeline
        each = (n.layer_parameters + n.expert_parameters / plan.expert) / plan.tensor
        if plan.sharding == "weights":
            times = 1.0 if plan.keep_weights else plan.micro_batches
            gathers = layers * times * (1.0 + self.policy["regather"])
            return [
                self._use(
                    "weights of a layer",
                    "all_gather",
                    each * self.stack.gather_bytes,
                    group,
                    stride,
                    gathers,
                    overlap=self.stack.gather_hidden,
                ),
                self._use(
                    "gradients of a layer",
                    "reduce_scatter",
                    each * self.stack.scatter_bytes,
                    group,
                    stride,
                    layers * times,
                    overlap=self.stack.gather_hidden,
                ),
            ]
        ends: Any = (n.embedding_parameters, float(self.model.output_parameters))
        end = sum(ends) if plan.pipeline == 1 else max(ends)
        dense = (layers * n.layer_parameters + end) / plan.tensor
        routed = layers * n.expert_parameters / plan.expert / plan.tensor
        return [
            *self._gradients("gradients", dense, group, stride),
            *self._gradients(
                "expert gradients", routed, max(1, group // plan.expert), stride * plan.expert
            ),
        ]

    def _gradients(self, purpose: str, parameters: float, group: int, stride: int) -> list[Traffic]:
        if not parameters:
            return []
        hidden, both = self.stack.gradient_overlap, self.stack.gradient_bytes
        if self.plan.sharding == "none":
            return [
                self._use(
                    purpose,
                    "allreduce",
                    parameters * both / 2.0,
                    group,
                    stride,
                    1.0,
                    overlap=hidden,
                )
            ]
        return [
            self._use(
                purpose,
                "reduce_scatter",
                parameters * (both - 2.0),
                group,
                stride,
                1.0,
                overlap=hidden,
            ),
            self._use(
                purpose.replace("gradients", "weights"),
                "all_gather",
                parameters * 2.0,
                group,
                stride,
                1.0,
                overlap=hidden,
            ),
        ]
