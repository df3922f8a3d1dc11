"""A training step as sweeps see it: with the rules of a plan, and the fields users name."""

from __future__ import annotations

from attrs import evolve

from scalemath.core.kernel import KernelFunction, kernel_of
from scalemath.core.model import Model, Step
from scalemath.kernels import plan_rules
from scalemath.kernels import step_rates as rates
from scalemath.kernels.step_time import StepTimeTerms
from scalemath.kernels.training_memory import MemoryTerms
from scalemath.workloads.flops import flops_floats
from scalemath.workloads.machine import Machine
from scalemath.workloads.memory_inputs import (
    default_classes,
    end_layers,
    gathered_floats,
    runtime_floats,
    saved_floats,
    state_floats,
    widest_floats,
)
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.step_fields import FIELDS, OBJECTS, TRUTHS, VECTORS, read
from scalemath.workloads.step_inputs import (
    SIZES,
    Floats,
    machine_floats,
    model_floats,
    policy_floats,
    recompute_floats,
    stack_floats,
)
from scalemath.workloads.step_model import STEPS, needed_parameters
from scalemath.workloads.sweeping import Subject
from scalemath.workloads.tabulating import Lowering
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


def _one(name: str, field: str) -> Lowering:
    """Lowering of a whole number that kernels take as it is; formulas name it by its field."""
    return Lowering(lambda job: dict.fromkeys((name, field), float(read(job, field))), (field,))


def _named(owner: str, reads: str) -> Lowering:
    """Numeric fields of an object under the names by which formulas read them."""
    names = [n for n, p in FIELDS.items() if n.startswith(f"{owner}.") and p.kind != "choice"]
    own = [n for n in names if owner == "transformer" or n in VECTORS]
    return Lowering(lambda job: {n: read(job, n) for n in own}, (reads,))


LOWERINGS: tuple[Lowering, ...] = (
    Lowering(
        lambda j: model_floats(j.transformer, j.stack, j.plan.pipeline),
        ("transformer", "stack.*", "stack.dropout", "plan.pipeline"),
    ),
    Lowering(lambda j: recompute_floats(j.plan), ("plan.recompute",)),
    Lowering(
        lambda j: policy_floats(j.plan, j.stack),
        ("plan.sharding", "plan.sequence_parallel", "plan.keep_weights", "plan.schedule",
         "stack.*", "stack.precision"),
    ),
    Lowering(
        lambda j: machine_floats(j.machine, j.stack),
        ("machine.*", "stack.*", "stack.precision", "stack.attention"),
    ),
    Lowering(
        lambda j: stack_floats(j.stack), ("stack.*", "stack.context", "stack.hand_over_gather")
    ),
    Lowering(
        lambda j: saved_floats(j.transformer, j.plan, j.stack),
        ("transformer", "plan.recompute", "stack.*", "stack.attention", "stack.dropout"),
    ),
    Lowering(
        lambda j: state_floats(default_classes(j.transformer, j.plan)),
        ("transformer", "plan.sharding", "plan.keep_weights"),
    ),
    Lowering(lambda j: gathered_floats(j.plan), ("plan.sharding", "plan.keep_weights")),
    Lowering(lambda j: widest_floats(j.transformer), ("transformer",)),
    Lowering(lambda j: end_layers(j.transformer, j.plan), ("transformer", "plan.pipeline")),
    Lowering(lambda j: runtime_floats(j.stack), ("stack.*",)),
    Lowering(lambda j: split_floats(j.transformer), ("transformer",)),
    Lowering(lambda j: flops_floats(j.transformer), ("transformer",)),
    Lowering(lambda j: rate_floats(j.machine), ("machine.*",)),
    Lowering(lambda j: chunk_floats(j.plan), ("plan.sharding", "plan.keep_weights")),
    _named("transformer", "transformer"),
    _named("machine", "machine.*"),
    _named("stack", "stack.*"),
    *(_one(name, f"plan.{name}") for name in SIZES),
    _one("sequence", "sequence"),
    _one("node_ranks", "machine.node_ranks"),
)  # fmt: skip
"""Later ones take precedence, as a whole number that is read by itself does."""

STEP = Subject(
    name="training_step",
    model=SWEPT_STEP,
    owners=OBJECTS,
    fields=FIELDS,
    truths=TRUTHS,
    defaults={"stack": Stack()},
    flags={
        "strict": ("strict", 0.0, 1.0, True),
        "causal_flops": ("pair_share", 1.0, 0.5, False),
    },
    dependent={f"plan.{name}": name for name in SIZES if name != "pipeline"}
    | {"sequence": "sequence", "machine.node_ranks": "node_ranks"},
    lowerings=LOWERINGS,
)
"""What `sweep` needs to know of `training_step`."""
