"""The step model as sweeps see it: with the rules of a plan, and the fields users name."""

from __future__ import annotations

from attrs import evolve

from scalemath.core.kernel import KernelFunction, kernel_of
from scalemath.core.model import Model, Step
from scalemath.kernels import plan_rules
from scalemath.kernels import step_rates as rates
from scalemath.kernels.step_time import StepTimeTerms
from scalemath.kernels.training_memory import MemoryTerms
from scalemath.workloads.machine import Machine
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.step_fields import FIELDS
from scalemath.workloads.step_inputs import Floats
from scalemath.workloads.step_model import STEPS, needed_parameters
from scalemath.workloads.transformer import Transformer

_WHOLE = {"time": "unchecked_time", "memory": "unchecked_memory"}


def _allowed(output: str, function: KernelFunction, terms: tuple[str, ...], unit: str) -> Step:
    """Step that makes an output infinite where the plan breaks a rule."""
    rename = {term: f"{_WHOLE[output]}.{term}" for term in terms}
    return Step(output, {"": kernel_of(function)}, unit, rename=rename)


def _rate(output: str, function: KernelFunction, unit: str, **rename: str) -> Step:
    """Step that follows from the time."""
    return Step(output, {"": kernel_of(function)}, unit, rename=rename)


def _steps() -> tuple[Step, ...]:
    """Steps of the step model with the rules of a plan before time and memory."""
    kept = [evolve(s, output=_WHOLE.get(s.output, s.output)) for s in STEPS]
    return (
        *kept,
        Step("kept_rules", {"": kernel_of(plan_rules.plan_kept)}, "1"),
        Step(
            "allowed",
            {"": kernel_of(plan_rules.plan_allowed)},
            "1",
            rename={"kept": "kept_rules"},
        ),
        _allowed("time", plan_rules.allowed_time, StepTimeTerms._fields, "s"),
        _allowed("memory", plan_rules.allowed_memory, MemoryTerms._fields, "byte"),
        _rate("token_rate", rates.step_token_rate, "token/s"),
        _rate("token_rate_per_rank", rates.rate_per_rank, "token/s"),
        _rate("pairs", rates.attention_pairs, "1", share="pair_share"),
        _rate("forward_flops", rates.forward_operations, "flop", width="score_width"),
        _rate(
            "model_flops_utilisation",
            rates.model_utilisation,
            "1",
            forward="forward_flops",
            peak="stated_peak",
        ),
        _rate("device_time", rates.device_seconds, "s"),
        _rate("energy", rates.step_energy, "J"),
    )


def _model() -> Model:
    """Parameters of the steps, and the numeric fields that users name."""
    steps = _steps()
    fields = tuple(p for p in FIELDS.values() if p.kind != "choice")
    named = {p.name for p in fields}
    inner = tuple(p for p in needed_parameters(steps) if p.name not in named)
    return Model("training_step", fields + inner, steps, "time")


SWEPT_STEP = _model()


def split_floats(model: Transformer) -> Floats:
    """Whole numbers that a plan splits; what a model does not have divides in any way.

    A model without experts has a single part, which no expert group but that of one can split.
    """
    return {
        "split_heads": float(model.heads),
        "split_kv_heads": 0.0 if model.latent else float(model.kv_heads),
        "split_ffn": float(model.ffn) if model.plain_layers else 0.0,
        "split_expert_ffn": float(model.expert_ffn) if model.experts else 0.0,
        "split_experts": float(model.stored_experts) if model.experts else 1.0,
    }


def rate_floats(machine: Machine) -> Floats:
    """What a machine states and rates are set against."""
    return {"stated_peak": machine.peak, "power": machine.power}


def chunk_floats(plan: ParallelPlan) -> Floats:
    """Whether a stage may not hold several chunks, whose weights would be gathered anew."""
    refused = plan.sharding == "weights" and not plan.keep_weights
    return {"chunks_refused": float(refused)}
