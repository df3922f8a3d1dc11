"""Reading a prompt as sweeps see it: the transformer lowered, everything else an axis as it is."""

from __future__ import annotations

import math
from typing import Any

from attrs import evolve

from scalemath.core.dtypes import DATA_TYPES, data_type
from scalemath.core.kernel import KernelFunction, kernel_of
from scalemath.core.model import Model, Step
from scalemath.kernels.allreduce import allreduce_ring
from scalemath.kernels.group_traffic import product_of_three
from scalemath.kernels.plan_rules import allowed_work
from scalemath.kernels.serving import DecodeTerms, prefill_time
from scalemath.kernels.step_rates import (
    attention_pairs,
    forward_operations,
    step_token_rate,
)
from scalemath.units.declaration import parse
from scalemath.workloads.flops import flops_floats
from scalemath.workloads.step_fields import FIELDS, TRUTHS
from scalemath.workloads.step_model import needed_parameters
from scalemath.workloads.sweeping import Subject
from scalemath.workloads.tabulating import Lowering
from scalemath.workloads.transformer import Transformer

_PLAIN = {
    "prompt_tokens": "count >= 1",
    "devices": "count >= 1",
    "peak": "flop/s > 0",
    "memory_bandwidth": "byte/s > 0",
    "bandwidth": "byte/s/dir > 0",
    "latency": "s",
    "utilisation": "number > 0",
    "batch": "count >= 1",
    "weights": f"choice {' '.join(DATA_TYPES)}",
}
_FIELDS = {
    **{name: evolve(parse(name, text), required=False) for name, text in _PLAIN.items()},
    **{name: field for name, field in FIELDS.items() if name.startswith("transformer.")},
}


def _step(output: str, function: KernelFunction, unit: str, **rename: str) -> Step:
    return Step(output, {"": kernel_of(function)}, unit, rename=rename)


def _product(output: str, first: str, second: str, third: str, unit: str = "1") -> Step:
    return _step(output, product_of_three, unit, first=first, second=second, third=third)


_STEPS = (
    _product("tokens", "prompt_tokens", "batch", "one"),
    _step("pairs", attention_pairs, "1", share="pair_share", sequence="prompt_tokens"),
    _step("forward_flops", forward_operations, "flop", width="score_width"),
    _product("flops", "tokens", "forward_flops", "one", "flop"),
    _product("collective_size", "activation_bytes", "tokens", "hidden", "byte"),
    _step("collective", allreduce_ring, "s", size="collective_size", ranks="devices"),
    _step("unchecked_time", prefill_time, "s"),
    _step(
        "time",
        allowed_work,
        "s",
        allowed="possible",
        **{term: f"unchecked_time.{term}" for term in DecodeTerms._fields},
    ),
    _step("token_rate", step_token_rate, "token/s", global_batch="batch", sequence="prompt_tokens"),
)


def lowered(model: Transformer, weights: str) -> dict[str, float]:
    """Numbers of a transformer that reading a prompt needs."""
    return {
        **flops_floats(model),
        "hidden": float(model.hidden),
        "collectives": 2.0 * model.layers,
        "weight_bytes": model.parameters * data_type(weights).bytes_per_element,
    }


def _model() -> Model:
    plain = tuple(p for p in _FIELDS.values() if p.kind != "choice")
    named = {p.name for p in plain}
    fixed: dict[str, Any] = {
        "pair_share": 0.5, "activation_bytes": 2.0, "reduction_rate": math.inf,
    }  # fmt: skip
    inner = tuple(
        evolve(p, required=p.required and p.name not in fixed, default=fixed.get(p.name, p.default))
        for p in needed_parameters(_STEPS)
        if p.name not in named
    )
    return Model("prefill", plain + inner, _STEPS, "time")


PREFILL = Subject(
    name="prefill",
    model=_model(),
    owners={"transformer": Transformer},
    fields=_FIELDS,
    truths=frozenset(name for name in TRUTHS if name.startswith("transformer.")),
    defaults={"latency": 0.0, "utilisation": 0.5, "batch": 1, "weights": "bf16"},
    flags={},
    dependent={n: n for n in ("prompt_tokens", "devices", "batch")},
    lowerings=(
        Lowering(lambda job: lowered(job.transformer, job.weights), ("transformer", "weights")),
    ),
)
"""What `sweep` needs to know of `prefill`."""
