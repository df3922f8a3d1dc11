"""Does it fit: the model-fit table, training states, caches, bad input."""

from __future__ import annotations

import math

import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError, ContradictionError, RangeError
from scalemath.decisions import Workload, fit, largest_model, nodes_needed

PRO, SMALL = "8 x 96 GB", "8 x 32 GB"

TABLE = """
7B    14 1.82292 A   7 0.911458 A   3.5 0.455729 A    14 5.46875 A   7 2.73438 A   3.5 1.36719 A
13B   26 3.38542 A   13 1.69271 A   6.5 0.846354 A    26 10.1562 A   13 5.07812 A  6.5 2.53906 A
70B   140 18.2292 A  70 9.11458 A   35 4.55729 A      140 54.6875 A  70 27.3438 A  35 13.6719 A
123B  246 32.0312 A  123 16.0156 A  61.5 8.00781 A    246 96.0938 D  123 48.0469 A 61.5 24.0234 A
235B  470 61.1979 B  235 30.599 A   117.5 15.2995 A   470 183.594 X  235 91.7969 C 117.5 45.8984 A
405B  810 105.469 X  405 52.7344 A  202.5 26.3672 A   810 316.406 X  405 158.203 X 202.5 79.1016 C
671B  1342 174.74 X  671 87.3698 C  335.5 43.6849 A   1342 524.219 X 671 262.109 X 335.5 131.055 X
1000B 2000 260.417 X 1000 130.208 X 500 65.1042 B     2000 781.25 X  1000 390.625 X 500 195.312 X
"""


@pytest.mark.parametrize("line", TABLE.strip().splitlines())
def test_model_fit_table(line: str) -> None:
    name, *cells = line.split()
    parameters = float(name[:-1]) * 1e9
    for place in range(6):
        size, share, letter = cells[3 * place : 3 * place + 3]
        node = PRO if place < 3 else SMALL
        precision = ("fp16", "fp8", "int4")[place % 3]
        found = fit(parameters, node, Workload(precision=precision))
        assert found.held.m_as("GB") == pytest.approx(float(size))
        assert 100 * found.share == pytest.approx(float(share), rel=1e-5)
        assert found.letter == letter


def test_largest_model_by_precision() -> None:
    for node, precision, low, high in (
        (PRO, "fp16", 230.4, 268.8),
        (PRO, "fp8", 460.8, 537.6),
        (PRO, "int4", 921.6, 1075.2),
        (SMALL, "fp8", 153.6, 179.2),
        (SMALL, "int4", 307.2, 358.4),
    ):
        assert largest_model(node, precision, share=0.6) / 1e9 == pytest.approx(low)
        assert largest_model(node, precision, share=0.7) / 1e9 == pytest.approx(high)


def test_room_for_the_cache() -> None:
    found = fit(405e9, PRO, kv_per_token="516096 byte")
    assert found.room.m_as("GB") == pytest.approx(363)
    assert found.room_tokens == 703357
    assert found.contexts(8192) == pytest.approx(85.8591, rel=1e-6)
    assert found.contexts(131072) == pytest.approx(5.36620, rel=2e-6)
    half = fit(405e9, PRO, Workload(cache="fp8"), kv_per_token="516096 byte")
    assert half.contexts(8192) == pytest.approx(2 * found.contexts(8192))
    assert fit(70e9, PRO, kv_per_token="327680 byte").contexts(8192) == pytest.approx(
        260.025, rel=1e-5
    )
    exact = fit("Llama 3.1 405B", PRO)
    assert exact.room_tokens == 701703
    assert 100 * exact.share == pytest.approx(52.8455, rel=1e-6)


@pytest.mark.parametrize(
    ("parameters", "recipe", "size", "at_100", "at_70", "at_60"),
    [
        (70e9, "adam-16", 1120, 2, 3, 3),
        (70e9, "adam-18", 1260, 2, 3, 3),
        (70e9, "adam-20", 1400, 2, 3, 4),
        (13e9, "adam-16", 208, 1, 1, 1),
        (32e9, "adam-16", 512, 1, 1, 2),
        (72e9, "adam-16", 1152, 2, 3, 3),
        (405e9, "adam-16", 6480, 9, 13, 15),
    ],
)
def test_training_state_and_nodes(parameters, recipe, size, at_100, at_70, at_60) -> None:
    found = fit(parameters, PRO, Workload(kind="full fine-tuning", recipe=recipe))
    assert found.held.m_as("GB") == pytest.approx(size)
    assert [found.nodes(s) for s in (1.0, 0.7, 0.6)] == [at_100, at_70, at_60]
    assert found.nodes() == at_70


def test_70b_is_trained_by_its_state_and_served_by_its_weights() -> None:
    trained = fit(70e9, PRO, "full fine-tuning")
    served = fit(70e9, PRO, "inference")
    assert 100 * trained.share == pytest.approx(145.833, rel=1e-5)
    assert 100 * served.share == pytest.approx(9.11458, rel=1e-5)
    assert not trained.fits
    assert served.fits
    assert 100 * fit(13e9, PRO, "full fine-tuning").share == pytest.approx(27.0833, rel=1e-5)
    assert 100 * fit(13e9, SMALL, "full fine-tuning").share == pytest.approx(81.25)


def test_nodes_for_a_state() -> None:
    for state, nodes in (("1.2 TB", [2, 3, 3]), ("1.5 TB", [2, 3, 4])):
        assert [nodes_needed(state, PRO, share=s) for s in (1.0, 0.7, 0.6)] == nodes


def test_adapters() -> None:
    assert fit(405e9, PRO, "lora").held.m_as("GB") == 810
    assert fit(405e9, PRO, "lora").letter == "X"
    assert fit(405e9, PRO, Workload(kind="lora", precision="fp8")).fits
    small = fit(405e9, PRO, "qlora")
    assert small.held.m_as("GB") == pytest.approx(208.929, rel=2e-5)
    assert 100 * small.share == pytest.approx(27.2043, rel=2e-5)
    assert small.fits
    four = fit(70e9, "4 x 32 GB", "lora")
    assert 100 * four.share == pytest.approx(109.375)
    assert not four.fits
    assert 100 * fit(70e9, "4 x 96 GB", "lora").share == pytest.approx(36.4583, rel=1e-5)
    assert fit(70e9, SMALL, "lora").fits


def test_four_bits_have_no_gradient() -> None:
    for kind in ("full fine-tuning", "pretraining"):
        for precision in ("int4", "nf4", "mxfp4"):
            with pytest.raises(ContradictionError, match="gradient"):
                fit(405e9, PRO, Workload(kind=kind, precision=precision))


def test_real_need_counts_cache_and_runtimes_in_usable_bytes() -> None:
    job = Workload(context_tokens=8192, requests=64)
    found = fit("Llama 3.1 70B", "8x RTX PRO 6000", job)
    cache = 64 * 8192 * 327680
    assert found.cache.m_as("byte") == cache
    assert found.usable_capacity.m_as("MiB") == 8 * 97887
    assert found.need.m_as("byte") == pytest.approx(
        found.held.m_as("byte") + cache + found.overhead
    )
    assert found.really_fits
    # largest numbers are consistent: one more request, or one more token, does not fit
    most = int(found.largest_requests)
    for requests, fits in ((most, True), (most + 1, False)):
        again = fit("Llama 3.1 70B", "8x RTX PRO 6000",
                    Workload(context_tokens=8192, requests=requests))  # fmt: skip
        assert again.really_fits is fits
    assert fit("Llama 3.1 70B", PRO).largest_context == 131072  # what it was made for


def test_rule_and_need_may_disagree() -> None:
    """By the rule it fits with headroom; with a hundred long contexts it does not."""
    found = fit("Llama 3.1 405B", "8x RTX PRO 6000", Workload(context_tokens=65536, requests=100))
    assert found.fits
    assert not found.really_fits
    assert "does not fit" in str(found)


def test_answers_show_themselves() -> None:
    found = fit("Llama 3.1 70B", "DGX H100", Workload(context_tokens=8192, requests=16))
    assert "h100" in found.explain() or "dgx-h100" in found.explain()
    assert sum(q.m_as("byte") for q in found.terms.values()) == pytest.approx(
        found.need.m_as("byte")
    )
    assert "<table>" in found._repr_html_()
    assert found.to_dict()["values"]["share"]["value"] == found.share


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: fit("Llama 3.2 90B", PRO), ArgumentError, "near it|llama"),
        (lambda: fit("Llama 3.1 70B", "DGX H900"), ArgumentError, "dgx-h100"),
        (lambda: fit("Llama 3.1 70B", "8 x H99"), ArgumentError, "H99"),
        (lambda: fit(70e9, "80"), sm.UnitsError, "80 GB.*80 GiB"),
        (lambda: fit(70e9, 80), ArgumentError, "8 x 96 GB"),
        (lambda: fit(70e9, ["DGX H100", "DGX B200"]), ArgumentError, "mixes"),
        (lambda: fit(70, PRO), RangeError, "70e9"),
        (lambda: fit(None, PRO), ArgumentError, "70e9"),
        (lambda: Workload(requests=0), RangeError, "requests"),
        (lambda: Workload(kind="serving"), RangeError, "batch inference"),
        (lambda: fit("Llama 3.1 70B", PRO, Workload(context_tokens=200000)), RangeError, "131072"),
        (lambda: fit(70e9, "DGX A100", Workload(precision="fp8")), RangeError, "no fp8"),
        (lambda: fit(70e9, PRO, Workload(context_tokens=8192)), ArgumentError, "kv_per_token"),
        (lambda: fit(70e9, PRO, headroom=1.0), RangeError, "headroom"),
    ],
)
def test_bad_input_is_one_sentence(call, error, words) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_card_without_fp8_keeps_int8_or_widens() -> None:
    found = fit(70e9, "DGX A100")
    assert found.workload.precision == "int8"
    assert any("no fp8" in text for text in found.assumptions)
    assert fit(70e9, "DGX A100", Workload(precision="fp8", weight_only=True)).fits


def test_marketing_and_binary_sizes() -> None:
    sold = fit(70e9, PRO)
    binary = fit(70e9, "8 x 96 GiB")
    assert sold.capacity.m_as("GB") == 768
    assert binary.capacity.m_as("GB") == pytest.approx(824.634, rel=1e-6)
    assert math.isclose(fit(70e9, "DGX H100").usable_capacity.m_as("MiB"), 8 * 81559)
