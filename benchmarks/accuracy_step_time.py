"""Score predicted training step times against published ones.

Every row of accuracy_cases.csv that states inputs and a time, a token rate or a FLOP rate
is turned into model, plan, machine and stack by rules over its columns; no constant belongs
to a single row.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from attrs import evolve

from scalemath.workloads.fitted import fitted_values
from scalemath.workloads.flops import training_flops_per_token
from scalemath.workloads.machine import MEASURED_CURVES, Curve, Machine
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.stack import Stack
from scalemath.workloads.step_inputs import step_inputs
from scalemath.workloads.step_model import STEP_MODEL
from scalemath.workloads.transformer import Transformer

Row = dict[str, str]

MLA = {"head_size": 128, "query_rank": 1536, "kv_rank": 512, "rope_size": 64}
DEEPSEEK: dict[str, dict[str, Any]] = {
    "deepseekv2": {
        "vocabulary": 102400,
        "experts": 160,
        "experts_per_token": 6,
        "expert_ffn": 1536,
        "shared_experts": 2,
        "dense_layers": 1,
        **MLA,
    },
    "deepseekv3": {
        "vocabulary": 129280,
        "experts": 256,
        "experts_per_token": 8,
        "expert_ffn": 2048,
        "shared_experts": 1,
        "dense_layers": 3,
        "ffn": 18432,
        "router_bias": True,
        "expert_node_limit": 4,
        **MLA,
    },
}


def number(row: Row, name: str, default: float = 0.0) -> float:
    """Return the number in a column, or the default."""
    try:
        return float(row[name])
    except (KeyError, ValueError):
        return default


def family(row: Row) -> str:
    """Name of the publication a row belongs to."""
    known = (
        ("Narayanan", "Narayanan 2021"),
        ("Korthikanti", "Korthikanti 2022"),
        ("Llama 3", "Llama 3"),
        ("torchtitan", "torchtitan"),
        ("llm-foundry", "llm-foundry"),
        ("SimuMax", "SimuMax B200"),
        ("DeepSeek", "DeepSeek-V3"),
        ("MegaScale", "MegaScale"),
        ("Megatron-Bridge", "Megatron-Bridge"),
        ("MaxText", "MaxText"),
    )
    for word, name in known:
        if word.lower() in row["source"].lower():
            return name
    return row["source"].split("(")[0].strip()


def transformer(row: Row) -> Transformer | None:
    """Architecture of a row."""
    name = row["model"]
    key = re.sub(r"[^a-z0-9]", "", name.lower())
    whole = {n: int(number(row, n)) for n in ("layers", "hidden", "heads", "ffn")}
    if not whole["layers"] or not whole["hidden"] or not whole["heads"]:
        return None
    for start, more in DEEPSEEK.items():
        if key.startswith(start):
            given = {**whole, **more}
            if whole["ffn"]:
                given["ffn"] = whole["ffn"]
            if whole["layers"] < 10:
                given["dense_layers"] = 1
            return Transformer(name=name, **given)
    if row["moe"] or "moe" in key or not whole["ffn"]:
        return None
    llama = "llama" in key or "qwen" in key or "mistral" in key
    vocabulary = int(number(row, "vocab", 128256 if "llama3" in key else 51200))
    if row["family"] == "layer":
        vocabulary = 51200
    return Transformer(
        name=name,
        vocabulary=vocabulary,
        kv_heads=int(number(row, "kv_heads", whole["heads"])),
        gated=llama,
        norm="rmsnorm" if llama else "layernorm",
        positions=0 if llama else int(number(row, "seq", 2048)),
        head_size=128 if llama and "llama" in key else 0,
        **whole,
    )


CONSTANTS = fitted_values()
MEMORY_RATE = {
    "A100": 2.039e12,
    "H100": 3.35e12,
    "H100-500W": 2.4e12,
    "H200": 4.8e12,
    "B200": 8.0e12,
}


def device(row: Row) -> str:
    """Name of the device type of a row."""
    text = row["hardware"].upper()
    if "500W" in text:
        return "H100-500W"
    for name in ("B300", "B200", "H200", "H100", "H800", "A100"):
        if name in text:
            return name
    return ""


SAME_RATES = {"H200": "H100", "H800": "H100", "B300": "B200", "H100-500W": "H100"}


def machine(row: Row, constants: dict[str, float]) -> Machine:
    """Machine of a row."""
    name = device(row)
    rate_key = SAME_RATES.get(name, name)
    slow = constants["r_500W"] if name == "H100-500W" else 1.0
    curves = MEASURED_CURVES[rate_key]
    if name == "H800":
        curves = tuple(Curve(c.startup, 160e9, c.pair_factor, c.ramp) for c in curves)
    gbit = number(row, "scaleout_gbit_per_gpu", 400.0)
    peak = number(row, "peak_tflops_used", 989.0) * 1e12
    return Machine(
        name=name,
        peak=peak,
        memory_bandwidth=MEMORY_RATE.get(name, MEMORY_RATE.get(rate_key, 3.35e12)),
        memory=80e9,
        matmul_share=constants["e_" + rate_key] * slow,
        attention_share=constants["a_" + rate_key] * slow,
        rates_from="best shapes",
        straggler_share=constants["straggler"],
        node_ranks=int(number(row, "gpus_per_node", 8)),
        allreduce=curves[0],
        gather=curves[1],
        exchange=curves[2],
        nic_bandwidth=gbit / 8 * 1e9,
    )


MEGATRON = Stack(
    name="Megatron-LM 2021-22",
    attention="unfused",
    dropout=True,
    loss_bytes=30.0,
    hand_over_gather=True,
    gradient_bytes=4.0,
)
MEGATRON_CORE = Stack(
    name="Megatron core, eager",
    loss_bytes=12.0,
    gradient_bytes=6.0,
)
TITAN = Stack(name="torchtitan, compiled", logit_bytes=10.5, memory_reserve=1.03, live_layers=2.0, moments_added=1.0, loss_bytes=16.0, scatter_bytes=4.0)
FOUNDRY = Stack(name="llm-foundry, eager", loss_bytes=30.0, scatter_bytes=2.0)
LLAMA3 = Stack(
    name="Llama 3 in-house",
    output_share=0.3,
    gradient_overlap=0.9,
    context="gather",
    loss_bytes=16.0,
    gather_hidden=0.95,
)
DUALPIPE = Stack(
    name="DualPipe, DeepEP",
    output_share=0.3,
    expert_overlap=1.0,
    precision="8-bit",
    gradient_overlap=0.9,
    loss_bytes=16.0,
)


def stack(row: Row, constants: dict[str, float]) -> Stack:
    """Software of a row, from its source and the words in its precision column."""
    name = family(row)
    words = row["precision"].lower()
    profiles = {
        "Narayanan 2021": MEGATRON,
        "Korthikanti 2022": MEGATRON,
        "SimuMax B200": MEGATRON_CORE,
        "Llama 3": LLAMA3,
        "DeepSeek-V3": DUALPIPE,
        "llm-foundry": FOUNDRY,
    }
    found = profiles.get(name, TITAN)
    eager = name == "llm-foundry" or "eager" in words
    rowwise = "rowwise" in words
    found = evolve(
        found,
        element_factor=constants["element"] * (constants["eager"] if eager else 1.0),
        low_precision_gain=2.0 * constants["gain_rowwise" if rowwise else "gain_8"],
        cast_bytes=constants["cast"],
        expert_share=constants["experts"],
        interference=constants["interference"],
        context_loss=constants["ring"],
        host_floor=constants["host"] if name == "SimuMax B200" else 0.0,
    )
    if eager:
        found = evolve(found, loss_bytes=30.0)
    if "float8" in words or "fp8" in words:
        found = evolve(found, precision="8-bit", gather_bytes=1.0)
    if "async" in words:
        found = evolve(found, tensor_overlap=constants["async"])
    if name == "torchtitan" and int(number(row, "pp", 1)) > 1:
        found = evolve(found, gradient_overlap=0.5)
    if name == "torchtitan" and int(number(row, "cp", 1)) > 1:
        found = evolve(found, context="ring")
    return found


def recompute(row: Row) -> str:
    """Policy of recomputation."""
    words = row["recompute"].lower()
    eager = family(row) in ("torchtitan", "llm-foundry")
    if words.startswith("full"):
        return "full-early-stop" if eager else "full"
    if "sel" in words:
        return "operators" if eager else "selective"
    return "none"


def plan(row: Row) -> ParallelPlan:
    """Parallel plan of a row."""
    name = family(row)
    size = {k: max(1, int(number(row, k, 1))) for k in ("tp", "pp", "cp", "ep", "dp", "mbs")}
    batch = max(1, int(number(row, "gbs_seqs", size["mbs"] * size["dp"])))
    virtual = max(1, int(number(row, "vpp", 1)))
    words = row["precision"].lower() + row["recompute"].lower()
    sequence = (
        "sequence-parallel" in words
        or "sp" in re.split(r"[^a-z]+", words.replace("no sp", ""))
        or name in ("SimuMax B200", "torchtitan", "Llama 3")
    )
    micro = size["mbs"]
    if name == "torchtitan" and size["pp"] > 1:
        micro = max(1, batch // size["dp"] // size["pp"])
        virtual = 2 if "interleaved" in words else 1
    if name == "Llama 3":
        virtual = 8
    sharded = "fsdp" in row["sharding"].lower() or "zero3" in row["sharding"].lower()
    return ParallelPlan(
        tensor=size["tp"],
        pipeline=size["pp"],
        context=size["cp"],
        expert=size["ep"],
        data=size["dp"],
        virtual=virtual,
        micro_batch=micro,
        global_batch=batch,
        sequence_parallel=sequence and size["tp"] > 1,
        sharding="weights"
        if sharded and name != "Llama 3"
        else ("none" if row["sharding"].startswith("none") else "optimizer"),
        recompute=recompute(row),
        schedule="zb-h1" if name == "DeepSeek-V3" else "1f1b",
        keep_weights=size["pp"] > 1,
    )


def measured(row: Row, model: Transformer) -> float:
    """Step time [s] that the row publishes, in whatever form."""
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
    flops = training_flops_per_token(model, number(row, "seq"), causal=False)
    return tokens * flops / ranks / rate


class Case:
    """One observation: its inputs and what was measured."""

    def __init__(self, row: Row, part: str = "step", value: float = math.nan) -> None:
        found = transformer(row)
        if found is None or not device(row) or not number(row, "seq"):
            raise ValueError(row["case_id"])
        self.row, self.part = row, part
        self.name, self.family, self.model = row["case_id"], family(row), found
        self.rate_key = SAME_RATES.get(device(row), device(row))
        self.plan = plan(row)
        self.sequence = int(number(row, "seq"))
        self.value = measured(row, found) if part == "step" else value

    def predict(self, constants: dict[str, float] = CONSTANTS) -> float:
        """Predicted time [s]."""
        built = machine(self.row, constants)
        software = stack(self.row, constants)
        out = STEP_MODEL.evaluate(
            step_inputs(self.model, self.plan, built, software, self.sequence)
        )
        if self.part == "step":
            return float(out["time"])
        if self.part == "forward":
            return float(out["layer.forward"] + out["traffic_forward"])
        again = out["layer.recompute"] + out["layer.communication"] - out["traffic_forward"]
        return float(out["layer.backward"] + again)


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
            except ValueError:
                continue
            if case.value > 0:
                found.append(case)
    return found


def score(folder: Path) -> dict[str, list[tuple[str, float]]]:
    """Signed relative errors by family."""
    errors: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for case in cases(folder):
        errors[case.family].append((case.name, case.predict() / case.value - 1.0))
    return dict(errors)


def main(folder: Path) -> None:
    """Print a table of errors by family."""
    means = []
    for name, rows in score(folder).items():
        absolute = sorted(abs(e) for _, e in rows)
        mean = sum(absolute) / len(absolute)
        means.append(mean)
        worst = max(rows, key=lambda item: abs(item[1]))
        bias = sum(e for _, e in rows) / len(rows)
        print(
            f"{name:20s} {len(rows):4d} rows  bias {100 * bias:+6.2f} %  mean {100 * mean:5.2f} %"
            f"  median {100 * absolute[len(absolute) // 2]:5.2f} %"
            f"  worst {100 * worst[1]:+6.1f} % {worst[0]}"
        )
        if "-v" in sys.argv:
            for label, error in rows:
                print(f"    {100 * error:+6.1f} %  {label}")
    print(f"family-balanced mean {100 * sum(means) / len(means):.2f} %")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
