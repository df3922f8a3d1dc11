"""Memory of training: states by recipe and sharding, activations, the worst moment, adapters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scalemath.core.dtypes import data_type
from scalemath.core.errors import ContradictionError, RangeError
from scalemath.core.model import Model, Step
from scalemath.kernels.memory import adapter_parameters
from scalemath.kernels.training_memory import state_memory
from scalemath.units import Quantity, quantities, quantity
from scalemath.workloads.memory_budget import (
    MemoryBudget,
    MemoryLine,
    on_device,
    overhead_lines,
    with_margin,
)
from scalemath.workloads.memory_inputs import (
    default_recipe,
    memory_floats,
    state_classes,
)
from scalemath.workloads.memory_overhead import TRAINING_OVERHEAD
from scalemath.workloads.memory_recipes import (
    Recipe,
    parameter_tensors,
    recipe,
    state_bytes_per_parameter,
)
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.step_inputs import model_floats, plan_floats, policy_floats
from scalemath.workloads.step_model import STEP_MODEL
from scalemath.workloads.transformer import Transformer

Classes = dict[str, tuple[float, float]]


def _needed(output: str) -> tuple[Step, ...]:
    """Steps of the step model on which one output rests, in their order."""
    wanted, found = {output}, []
    for one in reversed(STEP_MODEL.steps):
        terms = {f"{one.output}.{t}" for k in one.kernels.values() for t in k.terms}
        if wanted & ({one.output} | terms):
            found.append(one)
            for kernel in one.kernels.values():
                wanted.update(one.arguments(kernel))
    return tuple(reversed(found))


def _memory_model() -> Model:
    steps = _needed("memory")
    names = {n for s in steps for k in s.kernels.values() for n in s.arguments(k)}
    parameters = tuple(p for p in STEP_MODEL.parameters if p.name in names)
    return Model("training_memory", parameters, steps, "memory")


MEMORY_MODEL = _memory_model()


@frozen(kw_only=True)
class LowRank:
    """Low-rank adapters on a frozen base.

    Attributes
    ----------
    rank : int
        Inner width of an adapter [count].
    groups : tuple of str
        Classes of tensors that get one.
    base : str
        Data type of the frozen weights; "nf4" or "int4" make it QLoRA.
    """

    rank: int = 16
    groups: tuple[str, ...] = ("attention", "feed-forward", "experts")
    base: str = "bf16"

    def parameters(self, model: Transformer) -> int:
        """Return the trained parameters of a model.

        Parameters
        ----------
        model : Transformer
            The base.

        Returns
        -------
        int
            Rank times rows plus columns of every matrix.
        """
        return int(
            sum(
                tensor.copies * adapter_parameters(self.rank, tensor.rows, tensor.columns)
                for tensor in parameter_tensors(model)
                if tensor.group in self.groups
            )
        )


@quantities(parameters="number >= 0", ranks="count >= 1")
def training_state_size(
    parameters: float, recipe: str | Recipe = "adam-16", *, ranks: float = 1.0
) -> Quantity:
    """Bytes of weights, gradients and optimizer, activations left out.

    Parameters
    ----------
    parameters : float
        Parameters that are trained [1].
    recipe : str or Recipe
        Such as "adam-12", "adam-16", "adam-18", "adam-20", "adam-8bit" or "sgd".
    ranks : int
        Ranks that share all of it evenly [count].

    Returns
    -------
    Quantity [byte]
        Bytes on one rank.

    Examples
    --------
    >>> from scalemath.workloads import training_state_size
    >>> print(training_state_size(70e9, "adam-16").to("TB"))
    1.12 TB
    """
    kept = _recipe_named(recipe)
    if not kept.plain:
        raise RangeError(
            f"recipe {kept.name} treats matrices and vectors differently; give the architecture "
            "to training_memory"
        )
    each = kept.bytes_per_parameter
    return quantity(state_memory(parameters, 0.0, 0.0, each, ranks, 1.0), "byte")


_recipe_named = recipe


@quantities(sequence="count >= 1", margin="number >= 0 < 1")
def training_memory(
    transformer: Transformer,
    plan: ParallelPlan,
    *,
    sequence: float,
    recipe: str | Recipe | None = None,
    adapters: LowRank | None = None,
    stack: Stack | None = None,
    overhead: Mapping[str, Any] = TRAINING_OVERHEAD,
    margin: float = 0.0,
    device: Any = None,
    strict: bool = True,
) -> MemoryBudget:
    """Memory of one device that trains a model, the fullest at its worst moment.

    Parameters
    ----------
    transformer : Transformer
        What is trained.
    plan : ParallelPlan
        How it is split, sharded and recomputed.
    sequence : int
        Tokens of a sequence [count].
    recipe : str or Recipe, optional
        What is kept per parameter; 16 byte with fp32 weights when a plan shards weights, else
        18 byte.
    adapters : LowRank, optional
        Train only adapters on a frozen base.
    stack : Stack, optional
        Software, for logits, workspaces and the allocator.
    overhead : mapping of str to Datum or Quantity
        What the runtime takes on a device.
    margin : float
        Share added for fragmentation [1].
    device : Accelerator, Quantity or str
        What it is set against.
    strict : bool
        Refuse plans that break a rule of divisibility.

    Returns
    -------
    MemoryBudget
        Every line, their sum, and what is left.

    Examples
    --------
    >>> from scalemath.workloads import ParallelPlan, Transformer, training_memory
    >>> model = Transformer(name="8B", layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336,
    ...                     vocabulary=128256)
    >>> plan = ParallelPlan(data=8, global_batch=8, sharding="weights", recompute="full")
    >>> training_memory(model, plan, sequence=8192, device="80 GB").fits
    True
    """
    software = stack or Stack()
    if strict:
        plan.check(transformer, sequence=int(sequence))
    kept = default_recipe(plan) if recipe is None else _recipe_named(recipe)
    moments = state_bytes_per_parameter(transformer, kept)
    classes = state_classes(plan, kept, moments)
    if adapters is not None:
        _check_adapters(adapters, plan)
        classes = {"weights": _base_bytes(plan, adapters)}
    out = _evaluate(transformer, plan, software, sequence, classes, adapters)
    lines = _state_lines(plan, out, classes, kept, adapters)
    if adapters is not None:
        lines.append(_adapter_line(transformer, plan, adapters, kept))
    lines += _moment_lines(plan, out, software)
    reserve = (software.memory_reserve - 1.0) * sum(line.size for line in lines)
    if reserve:
        how = f"{100 * (software.memory_reserve - 1):.3g} % reserved over what is given out"
        lines.append(MemoryLine("workspace", "allocator reserve", reserve, how))
    lines += overhead_lines(overhead, plan.ranks)
    what = "trained" if adapters is None else f"adapted at rank {adapters.rank}"
    budget = MemoryBudget(
        subject=f"{transformer.name} {what} on {plan.ranks} device{'s' * (plan.ranks > 1)}",
        lines=with_margin(lines, margin),
        assumptions=_assumed(plan, kept, software, adapters),
    )
    return budget if device is None else on_device(budget, device)


def _evaluate(
    model: Transformer,
    plan: ParallelPlan,
    stack: Stack,
    sequence: float,
    classes: Classes,
    adapters: LowRank | None,
) -> dict[str, float]:
    """Every output of the memory steps."""
    given = {
        **memory_floats(model, plan, stack, classes),
        **model_floats(model, stack, plan.pipeline),
        **plan_floats(plan, int(sequence)),
        **policy_floats(plan, stack),
    }
    if adapters is not None:  # a frozen weight has no gradient
        given.update(dummy_bytes=0.0, head_bytes=min(2.0, given["head_bytes"]))
        given["gathered_bytes"] = min(4.0, given["gathered_bytes"])
    names = {p.name for p in MEMORY_MODEL.parameters}
    wanted = {name: value for name, value in given.items() if name in names}
    return dict(MEMORY_MODEL.evaluate(wanted))


def _stage(out: dict[str, float], reserve: float) -> str:
    """Name of the stage the worst moment belongs to."""
    first = math.isclose(out["memory.states"], reserve * out["first_states"], rel_tol=1e-12)
    return "first" if first else "last"


def _state_lines(
    plan: ParallelPlan,
    out: dict[str, float],
    classes: Classes,
    kept: Recipe,
    adapters: LowRank | None,
) -> list[MemoryLine]:
    """Lines of weights, gradients and optimizer by the kernel that gives their sum."""
    stage = _stage(out, 1.0) if plan.pipeline > 1 else "first"
    lines = []
    for name, (whole, shared) in classes.items():
        size = state_memory(
            out[f"{stage}_plain"],
            out[f"{stage}_routed"],
            whole,
            shared,
            out["shards"],
            out["expert_shards"],
        )
        said = f"{whole:.6g} byte per parameter" if whole else ""
        if shared:
            said += f"{' and ' if said else ''}{shared:.6g} shared by {out['shards']:.0f}"
        label = "frozen weights" if adapters is not None else name
        of = adapters.base if adapters is not None else kept.name
        lines.append(MemoryLine(name, label, size, f"{of}: {said}"))
    return lines


def _moment_lines(plan: ParallelPlan, out: dict[str, float], stack: Stack) -> list[MemoryLine]:
    """Lines of activations, of the worst moment and of what is gathered."""
    scale = 1.0 / stack.memory_reserve
    flight = out["in_flight"]
    return [
        MemoryLine("activations", "saved activations", scale * out["memory.activations"],
                   f"recompute {plan.recompute}, up to {flight:g} micro-batches in flight"),
        MemoryLine("activations", "worst moment", scale * out["memory.peak"],
                   "logits at the end of the forward pass, or the widest layer backward"),
        MemoryLine("workspace", "gathered weights and workspaces",
                   scale * out["memory.workspace"], stack.name),
    ]  # fmt: skip


def _base_bytes(plan: ParallelPlan, adapters: LowRank) -> tuple[float, float]:
    """Bytes per frozen parameter: on every data rank, and shared."""
    size = data_type(adapters.base).bytes_per_element
    return (0.0, size) if plan.sharding == "weights" else (size, 0.0)


def _check_adapters(adapters: LowRank, plan: ParallelPlan) -> None:
    if plan.pipeline > 1 and plan.sharding == "weights":
        raise ContradictionError("adapters: shard the base over data ranks or stages, not both")
    if adapters.rank < 1:
        raise RangeError(f"adapters: rank {adapters.rank}; write rank=16")


def _adapter_line(
    model: Transformer, plan: ParallelPlan, adapters: LowRank, kept: Recipe
) -> MemoryLine:
    """Line of the trained adapters with gradients and optimizer."""
    trained = adapters.parameters(model)
    each = kept.bytes_per_parameter
    shards = float(plan.data if plan.sharding != "none" else 1)
    size = state_memory(trained / (plan.tensor * plan.pipeline), 0.0, 0.0, each, shards, 1.0)
    how = f"{trained} parameters of {each:g} byte, rank {adapters.rank}"
    return MemoryLine("optimizer", "adapters with their states", size, how)


def _assumed(
    plan: ParallelPlan, kept: Recipe, stack: Stack, adapters: LowRank | None
) -> tuple[str, ...]:
    found = [
        f"recipe {kept.name}: {kept.source}",
        f"software: {stack.name}, {stack.attention} attention",
        f"sharding {plan.sharding} over {plan.data * plan.context} data ranks",
        "the fullest stage at its worst moment is shown",
    ]
    if adapters is not None:
        found.append("activations as in full training: an upper bound for a frozen base")
    return tuple(found)
