"""Replicas against wider tensor groups and stages on the same cards."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from attrs import field, frozen

from scalemath.core.dtypes import data_type
from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import total
from scalemath.core.result import Result
from scalemath.decisions.subjects import Subject, box, subject
from scalemath.decisions.workload import Workload, asked, settled
from scalemath.kernels.memory import cache_share, weight_bytes, whole_units_that_fit
from scalemath.kernels.serving import decode_step, decode_traffic
from scalemath.records.table import Table
from scalemath.units import display, quantities, to_si


class Layout(NamedTuple):
    """One way to put a model on the cards: copies, tensor group, stages, and what comes out."""

    name: str
    copies: int
    tensor: int
    pipeline: int
    stored: float
    room: float
    requests: float
    latency: float
    rate: float


@frozen(kw_only=True, eq=False)
class LayoutComparison(Result):
    """Layouts of one model on the same cards.

    Attributes
    ----------
    subject : Subject
        The model.
    layouts : tuple of Layout
        Those that hold the weights.
    refused : tuple of str
        Those that do not.
    batch : float
        Requests over all cards [1].
    """

    subject: Subject = field(repr=False)
    layouts: tuple[Layout, ...]
    refused: tuple[str, ...]
    batch: float

    def table(self) -> Table:
        """Return the layouts as a table."""
        rows = tuple(
            (
                one.name,
                display(one.stored, "byte"),
                display(one.room, "byte"),
                f"{one.requests:.0f}",
                display(one.latency, "s"),
                f"{one.rate:.5g} token/s",
            )
            for one in self.layouts
        )
        columns = (
            "layout",
            "weights stored",
            "room for cache",
            "requests",
            "token latency",
            "rate",
        )
        title = f"{self.subject.name}, {self.batch:.0f} requests"
        return Table(title=title, columns=columns, rows=rows)

    def best(self, what: str = "rate") -> Layout:
        """Return the layout with the highest rate or room, or the lowest latency.

        Parameters
        ----------
        what : str
            "rate", "room", "requests" or "latency".

        Returns
        -------
        Layout
            The best one.
        """
        sign = -1.0 if what == "latency" else 1.0
        return max(self.layouts, key=lambda one: sign * float(getattr(one, what)))

    def headline(self) -> str:
        """One readable line."""
        rate, fast = self.best("rate"), self.best("latency")
        return (
            f"{self.subject.name}: most tokens by {rate.name} ({rate.rate:.5g} token/s), shortest "
            f"latency by {fast.name} ({display(fast.latency, 's')})"
        )

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@quantities(nodes="count >= 1", batch="count >= 1", context_tokens="count >= 1", latency="s >= 0")
def replicas_or_wider(
    model: Any,
    node: Any,
    *,
    nodes: float = 1.0,
    workload: Any = "inference",
    batch: float = 1.0,
    context_tokens: float = 8192.0,
    latency: float = 0.0,
) -> LayoutComparison:
    """Replicas against wider tensor groups and stages on the same cards.

    Parameters
    ----------
    model : str or Transformer
        What is served.
    node : str, Node or Rack
        What the cards sit in; its memory rate must be known.
    nodes : int
        How many of them [count].
    workload : str or Workload
        Precision of weights and cache.
    batch : int
        Requests over all cards [count].
    context_tokens : int
        Tokens of each [count].
    latency : Quantity [s]
        Time of one allreduce of a decode step inside a node.

    Returns
    -------
    LayoutComparison
        Throughput, latency and room for the cache of every layout that holds the weights.
    """
    found, machine = subject(model), box(node)
    card = machine.accelerator
    if found.transformer is None or card is None or card.memory_bandwidth is None:
        raise ArgumentError(
            "replicas_or_wider: give a model with its architecture and a node whose cards state a "
            "memory rate, such as 'DGX H100'"
        )
    job, assumed = settled(asked(workload), card)
    made = [
        _layout(found, machine, job, (copies, tensor, pipeline), batch, context_tokens,
                latency)
        for copies, tensor, pipeline in _shapes(machine.accelerators, int(nodes))
    ]  # fmt: skip
    return LayoutComparison(
        subject=found,
        layouts=tuple(one for one in made if isinstance(one, Layout)),
        refused=tuple(one for one in made if isinstance(one, str)),
        batch=float(batch),
        assumptions=(*assumed, "decode bound by memory rate; stages pass tokens in turn"),
    )


def _shapes(devices: int, nodes: int) -> list[tuple[int, int, int]]:
    """Copies, tensor group and stages that use all cards, tensor groups inside a node."""
    cards = devices * nodes
    found = []
    for tensor in (t for t in range(1, devices + 1) if devices % t == 0):
        groups = cards // tensor
        found += [
            (groups // stages, tensor, stages)
            for stages in (1, 2, 4, nodes)
            if groups % stages == 0
        ]
    return sorted(set(found), key=lambda s: (s[2], s[1]))


def _layout(
    found: Subject,
    machine: Any,
    job: Workload,
    shape: tuple[int, int, int],
    batch: float,
    context: float,
    hop: float,
) -> Layout | str:
    copies, tensor, pipeline = shape
    model = found.transformer
    assert model is not None
    name = f"{copies} x TP{tensor}" + (f" PP{pipeline}" if pipeline > 1 else "")
    weights = weight_bytes(
        found.parameters, data_type(job.precision or "bf16").bits_per_element, 1.0
    )
    each = machine.accelerator
    usable = float(to_si(each.capacity, "byte")) * tensor * pipeline
    if weights > usable:
        return f"{name}: weights {display(weights, 'byte')}, memory {display(usable, 'byte')}"
    copied = cache_share(float(tensor), float(model.kv_heads), float(model.latent)) * tensor
    one = copied * found.cache(float(context), job.cache, data_type(job.cache).bytes_per_element)
    running = batch / copies
    in_stage = max(1.0, running / pipeline)
    moved = decode_traffic(weights, in_stage, 1.0, one)
    collectives = 2.0 * model.layers if tensor > 1 else 0.0
    rate = float(to_si(each.memory_bandwidth, "byte/s"))
    time = total(decode_step(moved, 0.0, 1.0, float(tensor), rate, math.inf, hop, collectives))
    return Layout(
        name=name,
        copies=copies,
        tensor=tensor,
        pipeline=pipeline,
        stored=copies * weights,
        room=copies * (usable - weights),
        requests=copies * whole_units_that_fit(usable, weights, 0.0, one),
        latency=time,
        rate=batch / time,
    )
