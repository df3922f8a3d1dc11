"""Weights, caches and serving budgets against worked numbers and published ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.workloads.memory_recipes import parameter_tensors, parameters_by_group
from scalemath.workloads.memory_serving import model_bytes

GB = 1e9
NODE = 768 * GB  # eight cards of 96 GB


def gb(quantity) -> float:
    return quantity.m_as("GB")


@pytest.mark.parametrize(
    ("parameters", "weights", "size", "share"),
    [
        (70e9, "fp16", 140, 18.2292),
        (70e9, "fp8", 70, 9.11458),
        (70e9, "int4", 35, 4.55729),
        (123e9, "bf16", 246, 32.0312),
        (235e9, "bf16", 470, 61.1979),
        (405e9, "bf16", 810, 105.469),
        (405e9, "fp8", 405, 52.7344),
        (405e9, "int4", 202.5, 26.3672),
        (671e9, "fp8", 671, 87.3698),
        (671e9, "int4", 335.5, 43.6849),
        (1000e9, "int4", 500, 65.1042),
    ],
)
def test_weights_by_precision(parameters, weights, size, share):
    found = gb(sm.weight_size(parameters, weights))
    assert found == pytest.approx(size, rel=1e-12)
    assert 100 * found * GB / NODE == pytest.approx(share, rel=1e-5)


@pytest.mark.parametrize(
    ("weights", "bits"),
    [("fp32", 32), ("bf16", 16), ("int8", 8), ("nf4", 4.127), ("mxfp4", 4.25), ("nvfp4", 4.5)],
)
def test_bits_of_a_weight_with_its_scales(weights, bits):
    assert 8 * sm.weight_size(1e12, weights).m_as("byte") / 1e12 == pytest.approx(bits, rel=2e-5)


def test_qlora_base_of_405b():
    assert gb(sm.weight_size(405e9, "nf4")) == pytest.approx(208.929, rel=2e-5)
    assert gb(sm.weight_size(405e9, "fp8", ranks=16)) == pytest.approx(25.3125)


def test_room_beside_405b():
    room = sm.cache_room("768 GB", held="405 GB", kv_per_token="516096 byte", context_tokens=8192)
    assert room.tokens == 703357
    assert room.contexts == pytest.approx(85.8591, rel=1e-6)
    assert room.requests == 85
    wide = sm.cache_room("363 GB", kv_per_token="516096 byte", context_tokens=131072)
    assert wide.contexts == pytest.approx(5.36620, rel=2e-6)
    # 405.85e9 weights, then the exact count of the architecture
    assert sm.cache_room("768 GB", held="405.85 GB", kv_per_token="516096 byte").tokens == 701710
    exact = sm.weight_size(sm.catalog.model("Llama 3.1 405B").parameters, "fp8")
    assert sm.cache_room("768 GB", held=exact, kv_per_token="516096 byte").tokens == 701703
    assert 100 * gb(exact) / 768 == pytest.approx(52.8455, rel=1e-6)


def test_room_beside_70b():
    room = sm.cache_room("698 GB", kv_per_token="327680 byte", context_tokens=8192)
    assert room.contexts == pytest.approx(260.025, rel=1e-5)
    assert room.tokens == pytest.approx(2.13013e6, rel=1e-5)
    wide = sm.cache_room("698 GB", kv_per_token="327680 byte", context_tokens=32768)
    assert wide.contexts == pytest.approx(65.0063, rel=1e-6)
    tight = sm.cache_room("768 GB", held="729.6 GB", kv_per_token="327680 byte")
    assert tight.tokens == 117187  # the last token of 117187.5 is not whole


KV = {
    "Llama 3.1 8B": 131072,
    "Llama 3.1 70B": 327680,
    "Llama 3.1 405B": 516096,
    "Mixtral 8x7B": 131072,
    "GPT-3 175B": 4718592,
    "DeepSeek-V3": 70272,
    "Qwen2.5 72B": 327680,
}


@pytest.mark.parametrize(("name", "size"), KV.items())
def test_cache_of_a_token(name, size):
    model = sm.catalog.model(name)
    assert sm.kv_cache_size(model).m_as("byte") == size
    assert sm.kv_cache_size(model, cache="fp8").m_as("byte") == size / 2


def test_windows_keep_no_more_than_they_see():
    model = sm.catalog.model("gpt-oss-120b")  # 18 of 36 layers see 128 tokens
    each = 2 * 8 * 64 * 2
    for tokens in (64, 128, 4096):
        by_hand = each * (18 * tokens + 18 * min(tokens, 128))
        assert sm.kv_cache_size(model, tokens).m_as("byte") == by_hand
    # pages of 16 round up
    by_hand = each * (18 * 144 + 18 * 128)
    assert sm.kv_cache_size(model, 129, page_tokens=16).m_as("byte") == by_hand


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 64))
def test_cache_is_linear_in_tokens_and_requests(tokens, requests):
    model = sm.catalog.model("Llama 3.1 8B")
    one = sm.kv_cache_size(model).m_as("byte")
    found = sm.kv_cache_size(model, tokens, requests=requests).m_as("byte")
    assert found == one * tokens * requests


@st.composite
def architectures(draw):
    heads = draw(st.sampled_from([4, 8]))
    experts = draw(st.sampled_from([0, 4]))
    latent = draw(st.booleans())
    return sm.Transformer(
        layers=draw(st.integers(2, 6)),
        hidden=draw(st.sampled_from([64, 128])),
        heads=heads,
        kv_heads=heads if latent else draw(st.sampled_from([1, 2, heads])),
        head_size=16,
        ffn=96,
        vocabulary=draw(st.integers(10, 500)),
        gated=draw(st.booleans()),
        tied_embeddings=draw(st.booleans()),
        attention_bias=not latent and draw(st.booleans()),
        output_bias=draw(st.booleans()),
        ffn_bias=draw(st.booleans()),
        norm=draw(st.sampled_from(["rmsnorm", "layernorm"])),
        qk_norm=draw(st.booleans()),
        positions=draw(st.sampled_from([0, 32])),
        experts=experts,
        experts_per_token=2 if experts else 0,
        expert_ffn=48 if experts else 0,
        shared_experts=draw(st.integers(0, 1)) if experts else 0,
        router_bias=draw(st.booleans()),
        dense_layers=draw(st.integers(0, 1)) if experts else 0,
        kv_rank=32 if latent else 0,
        query_rank=draw(st.sampled_from([0, 48])) if latent else 0,
        rope_size=8 if latent else 0,
    )


@settings(max_examples=60, deadline=None)
@given(architectures())
def test_tensors_of_any_architecture_sum_to_its_parameters(model):
    assert sum(t.elements for t in parameter_tensors(model)) == model.parameters
    found = sm.serving_memory(model, context_tokens=16, overhead={})
    assert found.size_of("weights") == pytest.approx(2 * model.parameters)
    wide = sm.serving_memory(model, context_tokens=16, tensor=2, overhead={})
    assert found.size_of("weights") / 2 <= wide.size_of("weights") < found.size_of("weights")


def budget(name="Llama 3.1 70B", **given):
    asked = {"context_tokens": 4096, "requests": 4, "overhead": {}, **given}
    return sm.serving_memory(sm.catalog.model(name), **asked)


def test_more_ranks_than_heads_do_not_shrink_the_cache():
    sizes = {t: budget(tensor=t).size_of("cache") for t in (1, 2, 4, 8, 16, 32)}
    assert sizes[8] == sizes[1] / 8
    assert sizes[16] == sizes[32] == sizes[8] == 40960 * 4096 * 4
    latent = {t: budget("DeepSeek-V3", tensor=t).size_of("cache") for t in (1, 8, 16)}
    assert len(set(latent.values())) == 1


def test_published_cache_per_device():
    """Per device and token as a tool with measured tables gives them, eight ranks."""
    for name, cache, each in (
        ("Llama 3.1 70B", "bf16", 40960),
        ("Llama 3.1 405B", "bf16", 64512),
        ("DeepSeek-V3", "fp8", 35136),
    ):
        found = budget(name, tensor=8, cache=cache, context_tokens=4352, requests=33)
        assert found.size_of("cache") == each * 4352 * 33


@pytest.mark.parametrize("name", ["Llama 3.1 8B", "DeepSeek-V3", "gpt-oss-120b", "GPT-3 175B"])
def test_parts_sum_to_the_whole(name):
    model = sm.catalog.model(name)
    found = sm.serving_memory(model, context_tokens=1024, margin=0.05)
    assert sum(line.size for line in found.lines) == pytest.approx(found.total.m_as("byte"))
    assert sum(t.m_as("byte") for t in found.terms.values()) == pytest.approx(
        found.total.m_as("byte")
    )
    assert found.size_of("weights") == pytest.approx(2.0 * model.parameters)
    assert sum(parameters_by_group(model).values()) == model.parameters
    assert sum(t.elements for t in parameter_tensors(model)) == model.parameters


def test_classes_of_tensors_have_their_own_precision():
    model = sm.catalog.model("gpt-oss-120b")
    mixed = model_bytes(model, {"experts": "mxfp4", "default": "bf16"})
    experts = 36 * 128 * 3 * 2880 * 2880
    assert mixed == pytest.approx(experts * 4.25 / 8 + 2 * (model.parameters - experts))
    assert 58e9 < mixed < 68e9  # published as 60.8 GiB on disk
    with pytest.raises(ArgumentError, match="name expert;"):
        sm.serving_memory(model, context_tokens=1, weights={"expert": "mxfp4"})


def test_device_as_sold_and_as_a_program_finds_it():
    found = budget("Llama 3.1 8B", device=sm.catalog.accelerator("H100 SXM"))
    assert found.capacity.m_as("MiB") == 81559
    assert "sold as 80 GB" in found.explain()
    assert found.fits
    assert "81559 MiB" in str(found.table())
    assert found.free.m_as("byte") == found.capacity.m_as("byte") - found.total.m_as("byte")
    assert not budget("Llama 3.1 405B", device="80 GB").fits
    node = sm.Q_("96 GiB").m_as("GB") * 8
    assert node == pytest.approx(824.634, rel=1e-6)


def test_what_the_runtime_takes_has_a_source():
    found = sm.serving_memory(sm.catalog.model("Llama 3.1 8B"), context_tokens=1024, tensor=2)
    runtime = [line for line in found.lines if line.kind == "runtime"]
    assert len(runtime) == 3
    assert all("20" in line.how for line in runtime)
    alone = sm.serving_memory(sm.catalog.model("Llama 3.1 8B"), context_tokens=1024)
    assert len([line for line in alone.lines if line.kind == "runtime"]) == 2


def test_bad_input_is_one_sentence():
    model = sm.catalog.model("Llama 3.1 8B")
    with pytest.raises(RangeError, match="requests"):
        sm.serving_memory(model, context_tokens=1024, requests=0)
    with pytest.raises(sm.UnitsError, match="80 GB.*80 GiB"):
        sm.serving_memory(model, context_tokens=1024, device="80")
    with pytest.raises(ArgumentError, match="fp5"):
        sm.weight_size(7e9, "fp5")
    with pytest.raises(RangeError, match="layers"):
        sm.serving_memory(model, context_tokens=1024, pipeline=64)
    with pytest.raises(ArgumentError, match=r"llama-3-1-8b"):
        sm.catalog.model("Llama 3.1 9B")


def test_picture_of_a_budget():
    pytest.importorskip("matplotlib").use("Agg")
    ax = budget("Llama 3.1 8B", device=sm.catalog.accelerator("H100 SXM")).plot()
    widths = sum(bar.get_width() for bar in ax.patches)
    assert widths == pytest.approx(budget("Llama 3.1 8B").total.m_as("GB"))
