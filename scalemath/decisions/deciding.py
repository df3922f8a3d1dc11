"""One node, replicas, or a cluster: the answer with its path and what would change it."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import total
from scalemath.core.result import Result, measured
from scalemath.decisions.fitting import Fit, fit
from scalemath.decisions.flips import Flip, flips, shown
from scalemath.decisions.musts import FRONTIER, Told, must_not_scale, must_scale
from scalemath.decisions.path import CLUSTER, ONE, Case, Outcome, PathStep, walk
from scalemath.decisions.workload import YEAR, asked
from scalemath.hardware.fields import si
from scalemath.kernels.serving import decode_step
from scalemath.records.table import Table
from scalemath.scaling import karp_flatt
from scalemath.units import Quantity, display, quantities, quantity, to_si

THRESHOLD = 0.60
"""Scaling efficiency below which a layout over nodes is the wrong one."""


@frozen(kw_only=True)
class Reading:
    """One way to read the case: what it recommends, how many nodes, and why."""

    source: str
    choice: str
    nodes: int
    reason: str

    def __str__(self) -> str:
        many = f" of {self.nodes} nodes" if self.nodes > 1 else ""
        return f"{self.choice}{many}, {self.reason}"


@frozen(kw_only=True, eq=False)
class Decision(Result):
    """What to buy, and why.

    Attributes
    ----------
    choice : str
        "one node", "replicas" or "cluster".
    count : int
        Nodes.
    layout : str
        How a copy lies on them.
    sentence : str
        The answer for people.
    trace : tuple of PathStep
        Every question asked, with its numbers; the last is the first yes.
    must, must_not : tuple of Told
        Cases for and against scaling out.
    readings : tuple of Reading
        Two when the rule and the text it comes from disagree.
    settles : str
        What would settle a disagreement.
    flips : tuple of Flip
        Inputs that change the answer, the nearest first.
    fit : Fit
        How the model stands to one node.
    case : Case
        The numbers of the path.
    """

    choice: str
    count: int
    layout: str
    sentence: str
    trace: tuple[PathStep, ...]
    must: tuple[Told, ...]
    must_not: tuple[Told, ...]
    readings: tuple[Reading, ...] = ()
    settles: str = ""
    flips: tuple[Flip, ...] = ()
    fit: Fit = field(repr=False)
    case: Case = field(repr=False)

    @measured("1")
    def nodes(self) -> float:
        """Nodes."""
        return float(self.count)

    @measured("1")
    def share(self) -> float:
        """Share of one node that weights or state take."""
        return self.case.share

    @measured("byte")
    def held(self) -> float:
        """Weights or state."""
        return self.case.parameters * self.case.state

    @property
    def step(self) -> int:
        """Question whose yes ended the path."""
        return self.trace[-1].number

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Model, node, workload."""
        return self.fit.input_values()

    def table(self) -> Table:
        """Return the path as a table."""
        rows = tuple(
            (str(s.number), s.question, s.numbers, s.outcome or ("yes" if s.answer else "no"))
            for s in self.trace
        )
        return Table(title=self.sentence, columns=("step", "question", "numbers", "answer"),
                     rows=rows)  # fmt: skip

    def cases(self) -> Table:
        """Return the cases for and against scaling out as a table."""
        rows = [("must scale", t.name, "yes" if t.holds else "no", t.numbers) for t in self.must]
        rows += [("must not", t.name, "yes" if t.holds else "no", t.numbers) for t in self.must_not]
        return Table(title="cases", columns=("list", "case", "holds", "numbers"), rows=tuple(rows))

    def changes(self) -> Table:
        """Return what would change the answer as a table."""
        rows = tuple(
            (f.name, shown(f.now, f.unit), shown(f.at, f.unit), f.becomes) for f in self.flips
        )
        return Table(title="what would change the answer",
                     columns=("input", "now", "flips at", "becomes"), rows=rows)  # fmt: skip

    def remarks(self) -> list[str]:
        """Path, readings, cases that hold, sensitivity."""
        lines = [
            f"step {s.number}: {s.question} {s.numbers}: {s.outcome or 'no'}" for s in self.trace
        ]
        lines += [f"{r.source}: {r}" for r in self.readings]
        if self.settles:
            lines.append(f"would settle it: {self.settles}")
        lines += [f"must scale: {t.name} ({t.numbers})" for t in self.must if t.holds]
        lines += [f"must not scale: {t.name} ({t.numbers})" for t in self.must_not if t.holds]
        lines += [f"would change: {f}" for f in self.flips[:5]]
        return lines

    def formula(self) -> tuple[str, str]:
        """The rule and where it is from."""
        return self.fit.formula()

    def headline(self) -> str:
        """The answer in one sentence."""
        return self.sentence

    def _repr_html_(self) -> str:
        parts = [self.table()._repr_html_(), self.cases()._repr_html_()]
        if self.readings:
            said = "".join(f"<li>{html.escape(f'{r.source}: {r}')}</li>" for r in self.readings)
            parts.append(f"<p>Two readings:</p><ul>{said}</ul><p>{html.escape(self.settles)}</p>")
        parts.append(self.changes()._repr_html_())
        return "".join(parts)


@quantities(
    headroom="number >= 0 < 1",
    kv_per_token="byte > 0 optional",
    efficiency_across="number > 0 <= 1 optional",
)
def decide(
    workload: Any,
    hardware: Any,
    *,
    model: Any = None,
    headroom: float = 0.3,
    kv_per_token: float | None = None,
    efficiency_across: float | None = None,
) -> Decision:
    """One node, replicas, or a cluster, by five questions of which the first yes ends.

    Parameters
    ----------
    workload : str or Workload
        What it is for; asked first.
    hardware : str, Node or Rack
        What one would buy, such as "8 x 96 GB" or "DGX H100".
    model : str, Transformer or float
        Name in the catalogue, architecture, or number of parameters; may be in the workload.
    headroom : float
        Share of the memory to keep free of weights or state [1].
    kv_per_token : Quantity [byte]
        Cache of a token at 16 bit, for a model given by its number.
    efficiency_across : float
        Scaling efficiency of the layout over nodes, measured or estimated [1].

    Returns
    -------
    Decision
        The answer with its path, the cases, and what would change it.

    Examples
    --------
    >>> from scalemath.decisions import decide
    >>> print(decide("inference", "8 x 96 GB", model=70e9))
    one node: 70B inference takes 9.11458 % of 8 x 96 GB
    """
    named = asked(workload).model if model is None else model
    found = fit(named, hardware, workload, headroom=headroom, kv_per_token=_given(kv_per_token))
    case, assumed = _case(found)
    end, trace = walk(case)
    job = found.workload
    must = must_scale(
        case,
        production=job.production or (job.kind == "inference" and job.token_latency is None),
        request_rate=si(job, "request_rate"),
    )
    readings, settles = _disagreement(found, case, end, must)
    if readings and _too_slow(found):
        end, trace = _spread(found, trace)
    low = () if efficiency_across is None else _threshold(efficiency_across, found, end)
    return Decision(
        choice=end.choice,
        count=end.nodes,
        layout=_layout(found, end),
        sentence=_sentence(found, case, end),
        trace=trace,
        must=must,
        must_not=must_not_scale(case, requests=float(job.requests or 0)),
        readings=readings,
        settles=settles,
        flips=_changes(found, case, readings),
        fit=found,
        case=case,
        assumptions=(*found.assumptions, *assumed),
        cautions=(*found.cautions, *low),
    )


def _given(size: float | None) -> Quantity | None:
    return None if size is None else quantity(size, "byte")


def _case(found: Fit) -> tuple[Case, tuple[str, ...]]:
    """Lower a fit to the numbers of the path."""
    job, assumed = found.workload, []
    rate = si(job, "node_token_rate", math.inf)
    if job.token_demand and not math.isfinite(rate):
        raise ArgumentError(
            "decide: a rate is wanted but not what one node makes; give "
            "node_token_rate='1500 token/s', measured or from decode()"
        )
    tokens = si(job, "tokens") if job.training else 0.0
    flops = _node_flops(found)
    if tokens and not flops:
        assumed.append(f"no rate of {found.node.name} is known: time of training is not judged")
        tokens = 0.0
    if job.training and not tokens and job.tokens is None:
        assumed.append("no training tokens given: judged by memory alone")
    if tokens and job.deadline is None:
        assumed.append("training may take a year")
    case = Case(
        kind=job.kind,
        parameters=found.model.parameters,
        active=found.model.active,
        state=found.held_bytes / found.model.parameters,
        capacity=found.sold,
        usable=found.usable,
        headroom=found.headroom,
        cache=found.si("cache") + found.activations,
        overhead=found.overhead if found.si("cache") or found.activations else 0.0,
        demand=job.token_demand,
        node_rate=rate,
        tokens=tokens,
        node_flops=flops,
        deadline=si(job, "deadline", YEAR),
    )
    return case, tuple(assumed)


def _node_flops(found: Fit) -> float:
    """Rate of training on one node; 0 where no 16-bit peak is known."""
    one = found.node.accelerator
    peaks = [p for p in one.peaks if p.precision == "bf16" and p.sparsity == "dense"] if one else []
    if not peaks:
        return 0.0
    each = float(to_si(peaks[0], "flop/s"))
    return found.node.accelerators * each * found.workload.utilisation


def _disagreement(
    found: Fit, case: Case, end: Outcome, must: tuple[Told, ...]
) -> tuple[tuple[Reading, ...], str]:
    """Return both readings where the rule says one node and a case says two."""
    frontier = must[2].holds
    if end.choice != ONE or not frontier:
        return (), ""
    devices = found.node.accelerators
    rule = Reading(
        source="rule of headroom",
        choice=ONE,
        nodes=1,
        reason=f"weights take {100 * case.share:.6g} %, {100 * (1 - case.share):.6g} % stay free",
    )
    prose = Reading(
        source=f"text on models of {FRONTIER / 1e9:.0f}B and more",
        choice=CLUSTER,
        nodes=2,
        reason=f"production latency: TP{devices} x PP2, half of the weights per node",
    )
    limit, reached = si(found.workload, "token_latency"), step_time(found)
    if limit and not math.isnan(reached):
        return (rule, prose), (
            f"settled: a decode step reads weights and cache in {display(reached, 's')} on one "
            f"node, wanted {display(limit, 's')}"
        )
    return (rule, prose), (
        "token_latency with a card whose memory rate is known, and the requests at their "
        "context: then the decode step is computed"
    )


def _changes(found: Fit, case: Case, readings: tuple[Reading, ...]) -> tuple[Flip, ...]:
    """Return what changes the answer; where latency decides, latency comes first."""
    reached = step_time(found)
    if not readings or math.isnan(reached):
        return flips(case)
    slow = _too_slow(found)
    latency = Flip(
        field="token_latency",
        name="latency wanted of a token",
        unit="s",
        now=si(found.workload, "token_latency", math.inf),
        at=reached,
        becomes=ONE if slow else CLUSTER,
    )
    return (latency,) if slow else (latency, *flips(case))


def _too_slow(found: Fit) -> bool:
    """Whether a decode step on one node misses the latency that is wanted."""
    limit = si(found.workload, "token_latency")
    return bool(limit) and step_time(found) > limit


def _spread(found: Fit, trace: tuple[PathStep, ...]) -> tuple[Outcome, tuple[PathStep, ...]]:
    """Return the outcome and the path when latency, not memory, asks for more nodes."""
    limit, reached = si(found.workload, "token_latency"), step_time(found)
    end = Outcome(CLUSTER, math.ceil(reached / limit), 4, False)
    numbers = f"decode step {display(reached, 's')} on one node, wanted {display(limit, 's')}"
    last = trace[-1]._replace(answer=False, outcome="held, but too slow")
    question = "Must one copy be spread over nodes?"
    asked = PathStep(4, question, numbers, True, f"cluster of {end.nodes} nodes and more")
    return end, (*trace[:-1], last, asked)


def step_time(found: Fit) -> float:
    """Return the roofline time of a decode step on one node [s]; nan without a memory rate."""
    one = found.node.accelerator
    if one is None or one.memory_bandwidth is None:
        return math.nan
    moved = found.held_bytes + found.si("cache")
    rate = float(to_si(one.memory_bandwidth, "byte/s"))
    devices = float(found.node.accelerators)
    return total(decode_step(moved, 0.0, 1.0, devices, rate, math.inf, 0.0, 0.0))


def _threshold(efficiency: float, found: Fit, end: Outcome) -> tuple[str, ...]:
    """Caution when the layout over nodes is too inefficient, with where the limit lies."""
    if end.choice != CLUSTER or efficiency >= THRESHOLD:
        return ()
    law = karp_flatt(efficiency=efficiency, ranks=found.node.accelerators * end.nodes)
    return (
        f"efficiency {efficiency:.4g} across nodes is below {THRESHOLD:g}, which this layout "
        f"reaches at {law.ranks_at_efficiency(THRESHOLD):.4g} devices: change the layout (tensor "
        "groups inside a node, stages or data across) before buying",
    )


def _layout(found: Fit, end: Outcome) -> str:
    devices = found.node.accelerators
    if end.choice == ONE:
        return f"TP{devices} inside the node" if devices > 1 else "one device"
    if end.choice == CLUSTER:
        across = "FSDP or DP" if found.workload.training else f"PP{end.nodes}"
        return f"TP{devices} inside a node, {across} across"
    return f"{end.nodes} copies, TP{devices} inside each, requests spread over them"


def _sentence(found: Fit, case: Case, end: Outcome) -> str:
    what = f"{found.model.name} {found.workload.kind} takes {100 * case.share:.6g} % of "
    what += found.node.name
    if end.choice == ONE:
        small = " with 4-bit weights" if end.small else ""
        return f"one node{small}: {what}"
    if end.choice == CLUSTER:
        return f"cluster of {end.nodes} nodes: {what}"
    return f"{end.nodes} replicas: {what}, {case.demand:.6g} token/s are wanted"
