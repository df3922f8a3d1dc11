"""Time, memory, rate and cost of one training step of a model under a plan on a machine."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, cast

from attrs import field, frozen

from scalemath.core.result import Result, measured
from scalemath.kernels.step_rates import (
    device_seconds,
    rate_per_rank,
    step_energy,
    step_token_rate,
)
from scalemath.topology.cluster import Cluster
from scalemath.units import display
from scalemath.workloads.clusters import as_machine
from scalemath.workloads.flops import training_flops_per_token
from scalemath.workloads.machine import Machine
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.step_inputs import step_inputs
from scalemath.workloads.step_model import STEP_MODEL
from scalemath.workloads.sweeping import prepared
from scalemath.workloads.swept_step import STEP
from scalemath.workloads.transformer import Transformer

BANDS = {"measured": 0.05, "best shapes": 0.12, "datasheet": 0.30}
EXPERTS_ACROSS_NODES = 0.50

_SOURCE = (
    "sum of roofline parts after Narayanan et al. (SC21) and Korthikanti et al. (MLSys 2023); "
    "constants fitted to published steps, see the accuracy page"
)


@frozen(kw_only=True, eq=False)
class TrainingStep(Result):
    """One optimizer step: how long it takes, what it needs, and how sure that is.

    Attributes
    ----------
    transformer : Transformer
        What is trained.
    plan : ParallelPlan
        How it is split.
    machine : Machine
        What it runs on.
    stack : Stack
        Software it runs with.
    sequence : int
        Tokens of a sequence.
    causal_flops : bool
        Whether model FLOPs count only the half of the scores that a causal mask keeps.
    outputs : mapping of str to float
        Everything the step model computed, in SI units.
    """

    transformer: Transformer = field(repr=False)
    plan: ParallelPlan
    machine: Machine = field(repr=False)
    stack: Stack = field(repr=False)
    sequence: int
    causal_flops: bool = False
    outputs: Mapping[str, float] = field(repr=False)

    @measured("s")
    def time(self) -> float:
        """Duration of the step."""
        return self.outputs["time"]

    @measured("byte")
    def memory(self) -> float:
        """Memory of the fullest device at its worst moment."""
        return self.outputs["memory"]

    @measured("token")
    def tokens(self) -> float:
        """Tokens of a step over all ranks."""
        return float(self.plan.global_batch * self.sequence)

    @measured("token/s")
    def token_rate(self) -> float:
        """Tokens per time over all ranks."""
        return step_token_rate(self.plan.global_batch, self.sequence, self.outputs["time"])

    @measured("token/s")
    def token_rate_per_rank(self) -> float:
        """Tokens per time and device."""
        return rate_per_rank(self.si("token_rate"), self.plan.ranks)

    @measured("flop/s")
    def model_flops_rate(self) -> float:
        """Model FLOPs per time and device, recomputation not counted."""
        per_token = training_flops_per_token(
            self.transformer, self.sequence, causal=self.causal_flops
        )
        return per_token * self.si("token_rate_per_rank")

    @measured("1")
    def model_flops_utilisation(self) -> float:
        """Model FLOPs per time over the 16-bit peak (MFU)."""
        return self.si("model_flops_rate") / self.machine.peak

    @measured("1")
    def bubble_share(self) -> float:
        """Idle time of the pipeline as a share of the step."""
        return self.outputs["time.bubble"] / self.outputs["time"]

    @measured("1")
    def communication_share(self) -> float:
        """Exposed communication as a share of the step."""
        return self._communication() / self.outputs["time"]

    @measured("s")
    def device_time(self) -> float:
        """Device seconds of a step."""
        return device_seconds(self.outputs["time"], self.plan.ranks)

    @measured("J")
    def energy(self) -> float:
        """Energy of a step, when the machine states a power."""
        return step_energy(self.si("device_time"), self.machine.power)

    @measured("1")
    def band(self) -> float:
        """Relative uncertainty of the time, by where the rates of the machine come from."""
        if self.plan.expert * self.plan.tensor > self.machine.node_ranks:
            return EXPERTS_ACROSS_NODES
        return BANDS[self.machine.rates_from]

    @measured("s")
    def time_low(self) -> float:
        """Lower end of the band."""
        return self.outputs["time"] * (1.0 - float(self.band))

    @measured("s")
    def time_high(self) -> float:
        """Upper end of the band."""
        return self.outputs["time"] * (1.0 + float(self.band))

    @property
    def fits(self) -> bool:
        """Whether the memory of a device suffices."""
        return self.outputs["memory"] <= self.machine.memory

    def _communication(self) -> float:
        """Exposed communication of the whole step [s]."""
        out, plan = self.outputs, self.plan
        layers = plan.micro_batches * self.transformer.layers / plan.pipeline
        inside = out["layer.communication"] + out["layer_gathers"]
        return layers * inside + out["time.hand_over"] + out["time.gradients"]

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Plan and machine in numbers."""
        plan = self.plan
        return {
            "model": (self.transformer.name, ""),
            "parameters": (float(self.transformer.parameters), "1"),
            "sequence": (self.sequence, "1"),
            "global_batch": (plan.global_batch, "1"),
            "tensor": (plan.tensor, "1"),
            "pipeline": (plan.pipeline, "1"),
            "virtual": (plan.virtual, "1"),
            "context": (plan.context, "1"),
            "expert": (plan.expert, "1"),
            "data": (plan.data, "1"),
            "micro_batch": (plan.micro_batch, "1"),
            "sharding": (plan.sharding, ""),
            "recompute": (plan.recompute, ""),
            "peak": (self.machine.peak, "flop/s"),
            "matmul_share": (self.machine.matmul_share, "1"),
            "attention_share": (self.machine.attention_share, "1"),
        }

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Parts of the step."""
        names = (
            "layers",
            "vocabulary",
            "bubble",
            "hand_over",
            "gradients",
            "optimizer",
            "stragglers",
        )
        return {name.replace("_", " "): (self.outputs[f"time.{name}"], "s") for name in names}

    def layer_values(self) -> Mapping[str, tuple[float, str]]:
        """Parts of one layer for one micro-batch [s]."""
        out = self.outputs
        names = (
            "linear",
            "experts",
            "attention_forward",
            "attention_backward",
            "element_forward",
            "element_backward",
            "layer.recompute",
            "traffic_forward",
            "traffic_backward",
            "layer_gathers",
            "layer.host_wait",
        )
        return {name: (out[name], "s") for name in names}

    def memory_values(self) -> Mapping[str, tuple[float, str]]:
        """Parts of the memory [byte]."""
        names = ("states", "activations", "peak", "workspace")
        return {name: (self.outputs[f"memory.{name}"], "byte") for name in names}

    def remarks(self) -> list[str]:
        """Parts of a layer and of the memory, and the band."""
        layer = ", ".join(
            f"{name} {display(value, unit)}"
            for name, (value, unit) in self.layer_values().items()
            if value
        )
        parts = ", ".join(f"{n} {display(v, u)}" for n, (v, u) in self.memory_values().items())
        return [
            f"one layer, one micro-batch: {layer}",
            f"memory {display(self.outputs['memory'], 'byte')}: {parts}",
            f"band +-{100 * self.band:.0f} %: rates from {self.machine.rates_from}"
            + ("; experts across nodes" if self.band == EXPERTS_ACROSS_NODES else ""),
        ]

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        time = next(s for s in STEP_MODEL.steps if s.output == "time").kernels[""]
        return time.formula, _SOURCE

    def headline(self) -> str:
        """One readable line."""
        out = self.outputs
        return (
            f"training step of {self.transformer.name} on {self.plan.ranks} x "
            f"{self.machine.name}: {display(out['time'], 's')} +-{100 * self.band:.0f} %, "
            f"{self.si('token_rate_per_rank'):.5g} token/s per device, model FLOPs "
            f"{100 * self.model_flops_utilisation:.4g} % of peak, memory "
            f"{display(out['memory'], 'byte')}"
        )


def training_step(
    transformer: Transformer,
    plan: ParallelPlan,
    machine: Machine | Cluster,
    *,
    sequence: int,
    stack: Stack | None = None,
    causal_flops: bool = False,
    strict: bool = True,
) -> TrainingStep:
    """Time, memory and rate of one training step.

    In `sweep` the objects are given alike, and any of their fields may be an axis under its dotted
    name, such as ``**{"plan.tensor": [1, 2, 4], "machine.nic_rate": ["25 GB/s/dir"]}``.

    Parameters
    ----------
    transformer : Transformer
        What is trained.
    plan : ParallelPlan
        How it is split over devices.
    machine : Machine or Cluster
        Rates, links and memory of the devices.
    sequence : int
        Tokens of a sequence.
    stack : Stack, optional
        Software; a compiled 16-bit stack with fused attention by default.
    causal_flops : bool
        Count half of the attention scores in model FLOPs; publications differ in this.
    strict : bool
        Refuse plans that break a rule of divisibility.

    Returns
    -------
    TrainingStep
        Time with its parts and its band, memory, token rate, utilisation, energy.

    Raises
    ------
    ContradictionError
        Naming every rule that the plan breaks.

    Examples
    --------
    >>> from scalemath.workloads import (
    ...     ParallelPlan, Transformer, reference_machine, training_step)
    >>> model = Transformer(name="8B", layers=32, hidden=4096, heads=32, kv_heads=8,
    ...                     ffn=14336, vocabulary=128256)
    >>> plan = ParallelPlan(data=8, micro_batch=2, global_batch=16, sharding="weights",
    ...                     recompute="operators")
    >>> step = training_step(model, plan, reference_machine("H100"), sequence=8192)
    >>> step.fits
    True
    """
    software, machine = stack or Stack(), as_machine(machine)
    if strict:
        plan.check(transformer, sequence=sequence)
    outputs = STEP_MODEL.evaluate(step_inputs(transformer, plan, machine, software, sequence))
    return TrainingStep(
        transformer=transformer,
        plan=plan,
        machine=machine,
        stack=software,
        sequence=sequence,
        causal_flops=causal_flops,
        outputs=outputs,
        assumptions=_assumptions(plan, machine, software, causal_flops),
        cautions=_cautions(outputs, plan, machine),
    )


cast(Any, training_step).prepared = functools.partial(prepared, STEP)


def _assumptions(
    plan: ParallelPlan, machine: Machine, stack: Stack, causal: bool
) -> tuple[str, ...]:
    """Everything the answer rests on beyond the plan."""
    found = [
        f"products reach {100 * machine.matmul_share:.3g} % of the peak, fused attention "
        f"{100 * machine.attention_share:.3g} % (rates from {machine.rates_from})",
        f"software: {stack.name}, {stack.attention} attention, {stack.precision} products",
        f"{plan.micro_batches:g} micro-batches, recompute {plan.recompute}",
        f"model FLOPs count {'half of' if causal else 'all'} attention scores",
        "ranks placed tensor innermost, then context, expert and data, pipeline outermost",
    ]
    if plan.expert > 1:
        found.append("tokens spread evenly over experts")
    return tuple(found)


def _cautions(
    outputs: Mapping[str, float], plan: ParallelPlan, machine: Machine
) -> tuple[str, ...]:
    """What a reader must not overlook."""
    found = []
    if outputs["memory"] > machine.memory:
        found.append(
            f"needs {display(outputs['memory'], 'byte')} on a device, which has "
            f"{display(machine.memory, 'byte')}"
        )
    if plan.tensor > machine.node_ranks:
        found.append(
            f"tensor group of {plan.tensor} exceeds the scale-up domain of "
            f"{machine.node_ranks}: activations cross the scale-out network in every layer"
        )
    return tuple(found)
