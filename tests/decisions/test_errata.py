"""Errata of the text on one node against several, each recomputed by the decision itself."""

from __future__ import annotations

import pytest

import scalemath as sm
from scalemath.core.errors import ContradictionError
from scalemath.decisions import (
    Workload,
    decide,
    fit,
    largest_model,
    network_penalty,
    nodes_needed,
    which_cards,
)
from scalemath.workloads import fleet, pretraining_cost

BOX = "8 x 96 GB"


def test_e24_the_cliff_in_fp8_lies_beyond_405b() -> None:
    low, high = (largest_model(BOX, "fp8", share=s) for s in (0.6, 0.7))
    assert (low, high) == (pytest.approx(460.8e9), pytest.approx(537.6e9))
    assert 405e9 < low < high < 671e9


def test_e25_405b_in_fp8_fits_under_the_rule() -> None:
    found = fit(405e9, BOX, Workload(precision="fp8"))
    assert 100 * found.share == pytest.approx(52.7344, rel=1e-6)
    assert 100 * found.reserve == pytest.approx(47.2656, rel=1e-6)
    assert found.fits
    assert found.letter == "A"


def test_e26_path_and_text_give_one_and_two_nodes() -> None:
    found = decide("inference", BOX, model=405e9)
    assert {(r.choice, r.nodes) for r in found.readings} == {("one node", 1), ("cluster", 2)}
    per_device = sm.weight_size(405e9, "fp8", ranks=16)
    assert per_device.m_as("GB") == pytest.approx(25.3125)
    assert per_device.m_as("GB") / 96 == pytest.approx(0.263672, rel=1e-5)


def test_e27_the_first_yes_must_not_come_from_the_weights() -> None:
    tuned = decide("full fine-tuning", BOX, model=70e9)
    served = decide("inference", BOX, model=70e9)
    assert (tuned.choice, served.choice) == ("cluster", "one node")
    assert 100 * tuned.share == pytest.approx(145.833, rel=1e-5)
    assert 100 * served.share == pytest.approx(9.11458, rel=1e-5)
    with pytest.raises(ContradictionError, match="gradient"):
        decide(Workload(kind="full fine-tuning", precision="int4"), BOX, model=70e9)


def test_e28_adapters_on_405b_need_a_small_base() -> None:
    shares = {
        precision: 100 * fit(405e9, BOX, Workload(kind="lora", precision=precision)).share
        for precision in ("bf16", "fp8", "nf4", "int4")
    }
    assert shares["bf16"] == pytest.approx(105.469, rel=1e-5)
    assert shares["fp8"] == pytest.approx(52.7344, rel=1e-5)
    assert shares["nf4"] == pytest.approx(27.2043, rel=2e-5)
    assert shares["int4"] == pytest.approx(26.3672, rel=1e-5)
    assert decide("lora", BOX, model=405e9).choice == "one node"
    assert decide("lora", BOX, model=405e9).step == 2


def test_e29_25_gigabit_ethernet_is_16_times_slower() -> None:
    given = {"bandwidth": "50 GB/s/dir", "network_bandwidth": "25 Gb/s/dir"}
    assert network_penalty(**given).slowdown == 16
    assert network_penalty(**given, efficiency=0.8).slowdown == pytest.approx(20)


def test_e30_e31_pretraining_takes_hundreds_to_thousands_of_gpu_months() -> None:
    given = {"peak": "989.5 TFLOP/s", "utilisation": 0.4, "ranks": 128}
    short = pretraining_cost(70e9, "1.5e12 token", **given)
    long = pretraining_cost(70e9, "15e12 token", **given)
    assert short.device_months == pytest.approx(605.675, rel=1e-6)
    assert long.device_months == pytest.approx(6056.75, rel=1e-6)
    assert short.months == pytest.approx(4.73184, rel=1e-5)
    assert long.months == pytest.approx(47.3184, rel=1e-5)


def test_e32_requests_are_not_tokens() -> None:
    for rate, nodes in (("500 token/s", 40000), ("2000 token/s", 10000)):
        found = fleet("1e5 request/s", tokens_per_request="200 token/request", node_token_rate=rate)
        assert found.nodes == nodes
        job = Workload(
            request_rate="1e5 request/s",
            tokens_per_request="200 token/request",
            node_token_rate=rate,
        )
        found = decide(job, BOX, model=70e9)
        assert (found.choice, found.count) == ("replicas", nodes)


def test_e33_two_nodes_only_by_breaking_the_rule() -> None:
    for state, full, seventy, sixty in (("1.2 TB", 2, 3, 3), ("1.5 TB", 2, 3, 4)):
        found = [nodes_needed(state, BOX, share=s) for s in (1.0, 0.7, 0.6)]
        assert found == [full, seventy, sixty]


COUNTS = {
    "Llama 3.1 8B": 8.03,
    "Llama 3.1 70B": 70.55,
    "Llama 3.1 405B": 405.85,
    "DeepSeek-V3": 671.03,
    "gpt-oss-120b": 116.83,
    "Mixtral 8x7B": 46.70,
    "Qwen3 235B": 235.09,
}


@pytest.mark.parametrize(("name", "billions"), COUNTS.items())
def test_counts_of_the_catalogue_follow_from_the_architecture(name: str, billions: float) -> None:
    model = sm.catalog.model(name)
    assert round(model.parameters / 1e9, 2) == billions
    record = sm.catalog.record("model", name)
    assert record["parameters"].value == model.parameters
    assert record["kv_per_token"].quantity == sm.kv_cache_size(model) or model.window


def test_larger_cards_answer_the_inverse_question() -> None:
    names = {f.node.accelerator.name for f in which_cards(405e9, Workload(precision="fp8"))}
    assert "rtx-pro-6000-blackwell-server" in names
    assert "rtx-5090" not in names
