"""Questions people asked in public about what fits: the settled answer, or the missing input."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from oracles.tables import facts_folder

import scalemath as sm
from scalemath.core.errors import ScalemathError
from scalemath.workloads import ParallelPlan, Stack

Row = dict[str, Any]


def rows() -> list[Row]:
    path = facts_folder() / "user_cases.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines if line.strip()]
    return [row for row in found if row["id"].startswith("fit-")]


def trained(parameters: float, node: str, recipe: str) -> Any:
    return sm.fit(parameters, node, sm.Workload(kind="full fine-tuning", recipe=recipe))


def full_tuning_of_7b(row: Row) -> None:
    """12 byte per parameter alone are more than the card; two hold 16."""
    parameters = row["inputs"]["params"]
    least = trained(parameters, f"1 x {row['inputs']['gpu_GB']} GB", "adam-12")
    assert least.held.m_as("GB") == pytest.approx(row["answer_value"])
    assert least.letter == "X"
    assert trained(parameters, "2 x 80 GB", "adam-16").fits


def twenty_billion(row: Row) -> None:
    found = trained(row["inputs"]["params"], "8 x 80 GB", "adam-18")
    assert found.held.m_as("GB") == pytest.approx(row["answer_value"])
    assert found.fits


def no_model_named(row: Row) -> None:
    with pytest.raises(ScalemathError, match="number of parameters"):
        sm.fit(None, f"1 x {row['inputs']['gpu_GB']} GB")


def long_sequences(row: Row) -> None:
    """Run in eager PyTorch: 64k fits beside a shard of eight, 128k is split over two groups."""
    # logits in 16 bit, in fp32, their log-softmax and its gradient
    eager = Stack(name="eager, fused attention", logit_bytes=2.0 + 4.0 + 4.0 + 4.0)

    def fits(sequence: int, ranks: int) -> bool:
        plan = ParallelPlan(
            data=8, context=ranks // 8, global_batch=8, sharding="weights",
            recompute="full-early-stop",
        )  # fmt: skip
        card = sm.catalog.accelerator("A100 SXM 80GB")
        return sm.training_memory(LLAMA_7B, plan, sequence=sequence, stack=eager, device=card).fits

    short, long = row["inputs"]["seq"]
    assert fits(short, 8)
    assert not fits(long, 8)
    assert min(n for n in (8, 16, 32) if fits(long, n)) == row["answer_value"]


LLAMA_7B = sm.Transformer(
    name="Llama 2 7B", layers=32, hidden=4096, heads=32, ffn=11008, vocabulary=32000
)


def deepseek_on_eight(row: Row) -> None:
    parameters, each = row["inputs"]["params"], row["inputs"]["gpu_GB"]
    job = sm.Workload(precision="fp8")
    small = sm.fit(parameters, f"{row['inputs']['gpus']} x {each} GB", job)
    assert small.held.m_as("GB") == pytest.approx(row["answer_value"])
    assert small.letter == "X"
    assert sm.fit(parameters, "8 x H200 SXM", job).really_fits
    assert sm.fit(parameters, "16 x 80 GB", job).really_fits
    wide = sm.Workload(precision="bf16")
    assert sm.fit(parameters, "32 x 80 GB", wide).really_fits
    assert not sm.fit(parameters, "16 x 80 GB", wide).really_fits


def deepseek_on_sixteen(row: Row) -> None:
    job = sm.Workload(context_tokens=131072, requests=1, precision="fp8")
    assert sm.fit("DeepSeek-V3", f"{row['inputs']['gpus']} x H100 SXM", job).really_fits


def cache_shorter_than_the_model(row: Row) -> None:
    each = 131072
    room = sm.Q_(row["inputs"]["kv_tokens"] * each, "byte")
    found = sm.cache_room(
        room, kv_per_token=f"{each} byte", context_tokens=row["inputs"]["max_len"]
    )
    assert found.tokens == row["answer_value"]
    assert found.requests == 0
    assert found.contexts < 1


def cache_of_405b(row: Row) -> None:
    given = row["inputs"]
    model = sm.catalog.model("Llama 3.1 405B")
    assert model.layers == given["layers"]
    found = sm.kv_cache_size(model, given["tokens"])
    assert found.m_as("GiB") == pytest.approx(row["answer_value"], rel=1e-3)


def decimal_and_binary(row: Row) -> None:
    printed = float(row["arithmetic"].split("/")[0])
    found = sm.Q_(printed, "byte").m_as("GiB")
    assert round(found, 1) == row["answer_value"]


ANSWERS: dict[str, Callable[[Row], None]] = {
    "fit-02": full_tuning_of_7b,
    "fit-03": twenty_billion,
    "fit-05": no_model_named,
    "fit-06": long_sequences,
    "fit-07": deepseek_on_eight,
    "fit-08": deepseek_on_sixteen,
    "fit-10": cache_shorter_than_the_model,
    "fit-11": cache_of_405b,
    "fit-13": decimal_and_binary,
    "fit-14": decimal_and_binary,
}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_settled_question(row: Row) -> None:
    answer = ANSWERS.get(row["id"])
    if answer is not None:
        answer(row)
        return
    given = row["inputs"]
    if "params" not in given:
        with pytest.raises(ScalemathError, match="number of parameters"):
            sm.fit(None, "8 x 80 GB")
        return
    node = f"{given.get('gpus', 8)} x {given.get('gpu_GB', 80)} GB"
    found = sm.fit(given["params"], node)
    assert found.letter in "ABCDX"
