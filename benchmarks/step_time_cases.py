"""Rows of accuracy_cases.csv as model, plan, machine and stack, by rules over their columns.

No constant belongs to a row. What a publication does not print (micro-batches of a schedule,
chunks per stage) is a rule of its family, written here.
"""

from __future__ import annotations

import csv
import math
import re
from operator import itemgetter
from pathlib import Path
from typing import Any

from attrs import evolve

import scalemath as sm
from scalemath.core.errors import ScalemathError
from scalemath.core.kernel import total
from scalemath.workloads import (
    Curve,
    Machine,
    ParallelPlan,
    Stack,
    Transformer,
    reference_machine,
    software_stack,
)
from scalemath.workloads.fitted import fitted_values
from scalemath.workloads.flops import training_flops_per_token
from scalemath.workloads.machine import curves_from_rate
from scalemath.workloads.step_inputs import step_inputs
from scalemath.workloads.step_model import STEPS

Row = dict[str, str]

FAMILIES = {
    "narayanan": "Narayanan 2021",
    "korthikanti": "Korthikanti 2022",
    "llama 3": "Llama 3",
    "torchtitan": "torchtitan",
    "llm-foundry": "llm-foundry",
    "simumax": "SimuMax B200",
    "deepseek": "DeepSeek-V3",
    "megascale": "MegaScale",
    "bridge": "Megatron Bridge",
    "maxtext": "MaxText",
}
FITTED_ON = (
    "Narayanan 2021", "Korthikanti 2022", "Llama 3", "torchtitan", "llm-foundry",
    "SimuMax B200", "DeepSeek-V3",
)  # fmt: skip
_STACKS = {
    "Narayanan 2021": "megatron-2021",
    "Korthikanti 2022": "megatron-2021",
    "Llama 3": "llama-3",
    "torchtitan": "torchtitan",
    "llm-foundry": "llm-foundry",
    "SimuMax B200": "megatron-core",
    "DeepSeek-V3": "dualpipe",
    "MegaScale": "megascale",
    "Megatron Bridge": "megatron-bridge",
    "MaxText": "torchtitan",
}
_PARALLEL_NORMS = {
    "SimuMax B200", "torchtitan", "Llama 3", "MegaScale", "Megatron Bridge", "MaxText",
}  # fmt: skip
_EARLY_STOP = {"torchtitan", "llm-foundry"}


def number(row: Row, name: str, default: float = 0.0) -> float:
    """Return the number in a column, or the default."""
    try:
        return float(row[name])
    except (KeyError, ValueError, TypeError):
        return default


def family(row: Row) -> str:
    """Publication a row belongs to."""
    text = row["source"].lower()
    for word, name in FAMILIES.items():
        if word in text:
            return name
    return row["source"].split("(")[0].strip() or "unnamed"


def plain(text: str) -> str:
    """Letters and digits of a text."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


# --- model ------------------------------------------------------------------------------------

_LATENT = {
    "head_size": 128, "value_head_size": 128, "query_rank": 1536, "kv_rank": 512, "rope_size": 64,
}  # fmt: skip
_NAMED: dict[str, dict[str, Any]] = {
    "deepseekv2": {
        "vocabulary": 102400, "experts": 160, "experts_per_token": 6, "expert_ffn": 1536,
        "shared_experts": 2, "dense_layers": 1, "ffn": 12288, **_LATENT,
    },
    "deepseekv3": {
        "vocabulary": 129280, "experts": 256, "experts_per_token": 8, "expert_ffn": 2048,
        "shared_experts": 1, "dense_layers": 3, "ffn": 18432, "router_bias": True,
        "expert_node_limit": 4, **_LATENT,
    },
}  # fmt: skip


def transformer(row: Row) -> Transformer | None:
    """Architecture of a row; None when the row does not say enough."""
    name = row["model"]
    key = plain(name)
    whole = {n: int(number(row, n)) for n in ("layers", "hidden", "heads", "ffn")}
    known = bool(whole["layers"] and whole["hidden"] and whole["heads"])
    for start, more in _NAMED.items():
        if key.startswith(start) and known:
            given = {**whole, **more}
            given["ffn"] = whole["ffn"] or more["ffn"]
            # models cut to a few layers keep one dense layer
            given["dense_layers"] = 1 if whole["layers"] < 10 else more["dense_layers"]
            return Transformer(name=name, **given)
    if not known or row["moe"] or not whole["ffn"]:
        return _from_catalogue(row, whole)
    gated = any(word in key for word in ("llama", "qwen", "mistral", "gemma", "nemotron"))
    return Transformer(
        name=name,
        vocabulary=int(number(row, "vocab", 128256 if "llama3" in key else 51200)),
        kv_heads=int(number(row, "kv_heads", whole["heads"])),
        gated=gated,
        norm="rmsnorm" if gated else "layernorm",
        positions=0 if gated else int(number(row, "seq", 2048)),
        **whole,
    )


def _from_catalogue(row: Row, whole: dict[str, int]) -> Transformer | None:
    """Architecture by name, with the layers that the row states."""
    try:
        found: Transformer = sm.catalog.model(row["model"])
    except ScalemathError:
        return None
    return evolve(found, layers=whole["layers"]) if whole["layers"] else found


# --- machine ----------------------------------------------------------------------------------

_DEVICES = ("GB300", "GB200", "B300", "B200", "H200", "H100", "H800", "A100")
_RATES = {"A100-40GB": "A100", "H200": "H100", "H800": "H100"}


def device(row: Row) -> str:
    """Type of device of a row, empty when it is not known."""
    text = row["hardware"].upper().replace("_", "-")
    for name in _DEVICES:
        if name in text:
            small = name == "A100" and "40" in text.replace("400", "")
            return "A100-40GB" if small else name
    return "other" if number(row, "peak_tflops_used") else ""


def rate_key(row: Row) -> str:
    """Name under which the shares of the peak of a row's device are kept."""
    name = device(row)
    return _RATES.get(name, name)


def machine(row: Row, constants: dict[str, float]) -> Machine:
    """Machine of a row."""
    name = device(row)
    found = _unknown_machine(row) if name == "other" else reference_machine(name)
    if name == "H800":
        # NVLink of this system reaches 160 GB/s, as its publication says
        slow = (evolve_curve(c, 160e9) for c in (found.allreduce, found.gather, found.exchange))
        found = evolve(found, **dict(zip(("allreduce", "gather", "exchange"), slow, strict=True)))
    key = rate_key(row)
    if f"e_{key}" in constants and not (key == "B200" and family(row) != "SimuMax B200"):
        found = evolve(
            found, matmul_share=constants[f"e_{key}"], attention_share=constants[f"a_{key}"]
        )
    limited = constants["r_500W"] if "500W" in row["hardware"].upper() else 1.0
    changes: dict[str, Any] = {
        "matmul_share": found.matmul_share * limited * constants.get("scale_e", 1.0),
        "attention_share": found.attention_share * limited * constants.get("scale_a", 1.0),
        "straggler_share": constants["straggler"],
        "node_ranks": int(number(row, "gpus_per_node", found.node_ranks)),
    }
    if number(row, "peak_tflops_used"):
        changes["peak"] = number(row, "peak_tflops_used") * 1e12
    if number(row, "scaleout_gbit_per_gpu"):
        changes["nic_bandwidth"] = number(row, "scaleout_gbit_per_gpu") / 8 * 1e9
    if limited != 1.0:
        changes["memory_bandwidth"] = 2.4e12
    return evolve(found, **changes)


def evolve_curve(curve: Curve, bandwidth: float) -> Curve:
    """Return a curve with another rate."""
    return Curve(curve.startup, bandwidth, curve.pair_factor, curve.ramp)


def _unknown_machine(row: Row) -> Machine:
    """Machine of which little but the peak is known."""
    peak = number(row, "peak_tflops_used") * 1e12
    curves = curves_from_rate(100e9)
    array = "TPU" in row["hardware"].upper()
    return Machine(
        name=row["hardware"], peak=peak, memory_bandwidth=peak / 250.0, memory=80e9,
        matmul_share=0.75 if array else 0.6, attention_share=0.4, rates_from="datasheet",
        node_ranks=int(number(row, "n_gpus", 8)) if array else 8,
        allreduce=curves[0], gather=curves[1], exchange=curves[2], nic_bandwidth=12.5e9,
    )  # fmt: skip


# --- stack and plan ---------------------------------------------------------------------------


def stack(row: Row, constants: dict[str, float]) -> Stack:
    """Software of a row, from its publication and the words in its precision column."""
    name = family(row)
    words = f"{row['precision']} {row.get('notes', '')}".lower()
    precision = row["precision"].lower()
    low = any(word in precision for word in ("float8", "fp8", "nvfp4", "fp4"))
    profile = _STACKS.get(name, "megatron-core" if "fp8" in precision else "torchtitan")
    if name == "MegaScale" and "megatron" in (row["case_id"] + words).lower():
        profile = "megascale"
    if profile == "torchtitan" and "eager" in precision:
        profile = "torchtitan-eager"
    found = software_stack(profile)
    eager = name == "llm-foundry" or "eager" in precision
    found = evolve(
        found,
        element_factor=constants["element"] * (constants["eager"] if eager else 1.0),
        low_precision_gain=2.0 * constants["gain_rowwise" if "rowwise" in precision else "gain_8"],
        cast_bytes=constants["cast"] if name in FITTED_ON else found.cast_bytes,
        expert_share=constants["experts"],
        interference=constants["interference"],
        context_loss=constants["ring"],
        host_floor=constants["host"] if found.host_floor else 0.0,
        loss_bytes=30.0 if eager else found.loss_bytes,
    )
    if low:
        found = evolve(found, precision="8-bit", gather_bytes=1.0)
    if "async" in precision:
        found = evolve(found, tensor_overlap=constants["async"])
    if name == "torchtitan" and number(row, "pp", 1) > 1:
        found = evolve(found, gradient_overlap=0.5)
    if name == "torchtitan" and number(row, "cp", 1) > 1:
        found = evolve(found, context="ring")
    if name == "MegaScale" and "megatron" in row["case_id"].lower():
        found = evolve(found, gradient_overlap=0.0, tensor_overlap=0.0)
    return found


def recompute(row: Row) -> str:
    """Policy of recomputation."""
    words = row["recompute"].lower()
    torch = family(row) in _EARLY_STOP
    if words.startswith("full"):
        return "full-early-stop" if torch else "full"
    if "sel" in words:
        return "operators" if torch else "selective"
    return "none"


def plan(row: Row) -> ParallelPlan:
    """Parallel plan of a row."""
    name = family(row)
    names = ("tp", "pp", "cp", "ep", "dp", "mbs")
    size = {k: max(1, int(number(row, k, 1))) for k in names}
    ranks = int(number(row, "n_gpus", 1))
    if not number(row, "dp"):
        size["dp"] = max(1, ranks // (size["tp"] * size["pp"] * size["cp"]))
    batch = max(1, int(number(row, "gbs_seqs", size["mbs"] * size["dp"])))
    virtual, micro = max(1, int(number(row, "vpp", 1))), size["mbs"]
    words = f"{row['precision']} {row['recompute']}".lower()
    if name == "torchtitan" and size["pp"] > 1:
        # as many micro-batches as stages, two chunks a stage when interleaved
        micro = max(1, batch // size["dp"] // size["pp"])
        virtual = 2 if "interleaved" in words else 1
    if name == "Llama 3":
        virtual = 8
    sharding = row["sharding"].lower()
    weights = ("fsdp" in sharding or "zero3" in sharding or "zero-3" in sharding) and (
        name != "Llama 3"
    )
    spoken = "sequence-parallel" in words or re.search(r"(?<!no )\bsp\b", words) is not None
    return ParallelPlan(
        tensor=size["tp"],
        pipeline=size["pp"],
        context=size["cp"],
        expert=size["ep"],
        data=size["dp"],
        virtual=virtual,
        micro_batch=micro,
        global_batch=batch,
        sequence_parallel=size["tp"] > 1 and (spoken or name in _PARALLEL_NORMS),
        sharding="weights" if weights else "none" if sharding.startswith("none") else "optimizer",
        recompute=recompute(row),
        schedule="zb-h1" if name == "DeepSeek-V3" else "1f1b",
        keep_weights=size["pp"] > 1,
    )


# --- observations -----------------------------------------------------------------------------


def measured(row: Row, model: Transformer) -> float:
    """Step time [s] that the row publishes, in whatever form; nan when in none."""
    if number(row, "iter_s"):
        return number(row, "iter_s")
    tokens = number(row, "gbs_seqs") * number(row, "seq")
    ranks = number(row, "n_gpus")
    if number(row, "tok_s_gpu"):
        return tokens / ranks / number(row, "tok_s_gpu")
    rate = number(row, "tflops_per_gpu") * 1e12
    if not rate:
        rate = number(row, "mfu_pct") / 100 * number(row, "peak_tflops_used") * 1e12
    if not rate:
        return math.nan
    # all of these publications count attention as if nothing were masked
    flops = training_flops_per_token(model, number(row, "seq"), causal=False)
    return tokens * flops / ranks / rate


_PROGRAM = tuple(
    (
        step.output,
        kernel.function,
        itemgetter(*step.arguments(kernel)),
        tuple(f"{step.output}.{term}" for term in kernel.terms),
    )
    for step in STEPS
    for kernel in step.kernels.values()
)


def evaluate(inputs: dict[str, float]) -> dict[str, float]:
    """Run the step model; the same program as `Model.evaluate`, without looking anything up."""
    known = {"one": 1.0, "zero": 0.0, "context_backward_factor": 2.0, **inputs}
    for output, function, arguments, names in _PROGRAM:
        terms = function(*arguments(known))
        known[output] = total(terms)
        if names:
            known.update(zip(names, terms, strict=True))
    return known


class Case:
    """One observation: its inputs and what was measured."""

    def __init__(self, row: Row, part: str = "step", value: float = math.nan) -> None:
        found = transformer(row)
        if found is None or not device(row) or not number(row, "seq"):
            raise ValueError(row["case_id"])
        self.row, self.part = row, part
        self.name, self.family, self.model = row["case_id"], family(row), found
        self.rate_key, self.plan = rate_key(row), plan(row)
        self.sequence = int(number(row, "seq"))
        self.value = measured(row, found) if part == "step" else value

    def outputs(self, constants: dict[str, float]) -> dict[str, float]:
        """Everything the step model says of the case."""
        return evaluate(
            step_inputs(
                self.model,
                self.plan,
                machine(self.row, constants),
                stack(self.row, constants),
                self.sequence,
            )
        )

    def predict(self, constants: dict[str, float] | None = None) -> float:
        """Predicted time [s]."""
        out = self.outputs(constants or fitted_values())
        if self.part == "step":
            return out["time"]
        if self.part == "forward":
            return out["layer.forward"] + out["traffic_forward"]
        again = out["layer.recompute"] + out["layer.communication"] - out["traffic_forward"]
        return out["layer.backward"] + again


def cases(folder: Path) -> list[Case]:
    """All observations of a folder."""
    found = []
    with (folder / "accuracy_cases.csv").open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["family"] not in ("train", "layer"):
                continue
            try:
                if row["other_metric"] == "forward_ms/backward_ms":
                    parts = [float(x) / 1e3 for x in row["other_value"].split("/")]
                    found.append(Case(row, "forward", parts[0]))
                    found.append(Case(row, "backward", parts[1]))
                    continue
                case = Case(row)
                usable = case.value > 0 and math.isfinite(case.predict())
            except (ValueError, ArithmeticError, ScalemathError):
                # the row does not state enough, or contradicts itself
                continue
            if usable:
                found.append(case)
    return found
