"""Serving, pretraining cost, placement and pairing against published numbers."""

import math

import pytest

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.workloads import (
    Transformer,
    decode,
    decode_arguments,
    fleet,
    pair_reduction,
    paired_products,
    place,
    placement_table,
    prefill,
    pretraining_cost,
    tensor_size,
    two_tiers,
)

LLAMA_70B = Transformer(
    name="70B", layers=80, hidden=8192, heads=64, kv_heads=8, ffn=28672, vocabulary=128256
)
HGX = two_tiers(domain=8, scale_up="900 GB/s/dir", scale_out="100 GB/s/dir")
RACK = two_tiers(domain=72, scale_up="900 GB/s/dir", scale_out="100 GB/s/dir")


def test_decode_roofline():
    result = decode(weight_bytes="70 GB", devices=8, memory_bandwidth="1.792 TB/s")
    assert result.step_rate.m_as("1/s") == pytest.approx(204.8)
    assert result.token_rate.m_as("token/s") == pytest.approx(204.8)
    many = decode(weight_bytes="70 GB", devices=8, memory_bandwidth="1.792 TB/s", batch=32)
    assert many.token_rate.m_as("token/s") == pytest.approx(32 * 204.8)


@pytest.mark.parametrize(
    ("bandwidth", "latency", "one", "token"),
    [
        ("900 GB/s/dir", "0.2 us", 4.8389, 0.774224),
        ("100 GB/s/dir", "2 us", 46.3501, 7.41601),
    ],
)
def test_communication_of_a_token(bandwidth, latency, one, token):
    result = decode(
        weight_bytes="70 GB",
        devices=8,
        memory_bandwidth="1.792 TB/s",
        batch=64,
        collective_size=tensor_size((64, 8192), "bf16"),
        collectives=160,
        bandwidth=bandwidth,
        latency=latency,
    )
    assert result.communication.m_as("ms") == pytest.approx(token, rel=5e-6)
    assert result.outputs["collective"] == pytest.approx(one * 1e-6, rel=5e-6)


def test_arguments_of_an_architecture():
    given = decode_arguments(LLAMA_70B, devices=8, batch=64, context_tokens=8192, weights="fp8")
    assert given["collectives"] == 160
    result = decode(
        **given,
        memory_bandwidth="1.792 TB/s",
        peak="500 TFLOP/s",
        bandwidth="50 GB/s/dir",
        latency="2 us",
    )
    moved = 70553706496 + 64 * 8192 * 327680
    assert result.outputs["moved"] == pytest.approx(moved)
    assert result.outputs["time.device"] == pytest.approx(moved / (8 * 1.792e12))
    single = decode_arguments(LLAMA_70B, devices=1, batch=1, context_tokens=0)
    assert single["collectives"] == 0


def test_more_devices_than_heads_copy_the_cache():
    given = decode_arguments(LLAMA_70B, devices=16, batch=1, context_tokens=1)
    assert given["kv_bytes_per_token"] == f"{2 * 327680.0!r} byte"


def test_experts_a_batch_touches():
    model = Transformer(
        layers=2,
        hidden=64,
        heads=4,
        vocabulary=100,
        experts=8,
        experts_per_token=2,
        expert_ffn=32,
    )
    one = decode_arguments(model, devices=1, batch=1, context_tokens=0, weights="int8")
    assert one["weight_bytes"] == f"{float(model.active_parameters)!r} byte"
    many = decode_arguments(model, devices=1, batch=10_000, context_tokens=0, weights="int8")
    assert float(many["weight_bytes"].split()[0]) == pytest.approx(model.parameters)


def test_prefill_is_bound_by_arithmetic_for_long_prompts():
    options = {
        "devices": 8,
        "peak": "989.5 TFLOP/s",
        "memory_bandwidth": "3.35 TB/s",
        "bandwidth": "450 GB/s/dir",
    }
    long = prefill(LLAMA_70B, prompt_tokens=8192, **options)
    assert long.outputs["device"] == pytest.approx(
        2 * 70.55e9 * 8192 / (8 * 989.5e12 * 0.5), rel=0.1
    )
    short = prefill(LLAMA_70B, prompt_tokens=1, **options)
    assert short.outputs["device"] == pytest.approx(2 * 70553706496 / (8 * 3.35e12))
    assert long.token_rate.m_as("token/s") > short.token_rate.m_as("token/s")


@pytest.mark.parametrize(("rate", "nodes", "requests"), [(500, 40000, 2.5), (2000, 10000, 10)])
def test_nodes_for_requests(rate, nodes, requests):
    found = fleet(
        "1e5 request/s",
        tokens_per_request="200 token/request",
        node_token_rate=f"{rate} token/s",
    )
    assert found.nodes == nodes
    assert found.node_request_rate.m_as("request/s") == pytest.approx(requests)


@pytest.mark.parametrize(
    ("tokens", "months"), [("1.5e12 token", 605.675), ("15e12 token", 6056.75)]
)
def test_pretraining_cost(tokens, months):
    cost = pretraining_cost(70e9, tokens, peak="989.5 TFLOP/s", utilisation=0.4)
    assert cost.device_months == pytest.approx(months, rel=5e-6)


@pytest.mark.parametrize(("ranks", "months"), [(128, 4.73184), (8, 75.7093)])
def test_duration(ranks, months):
    cost = pretraining_cost(70e9, "1.5e12 token", peak="989.5 TFLOP/s", ranks=ranks)
    assert cost.months == pytest.approx(months, rel=5e-6)


def test_energy():
    cost = pretraining_cost(
        70e9, "1e9 token", peak="1 PFLOP/s", utilisation=0.5, device_power="1 kW"
    )
    assert cost.energy.m_as("kWh") == pytest.approx(6 * 70e18 / 5e14 / 3600)


def test_where_traffic_belongs():
    assert place("tensor", ranks=72, size="2 GiB", tiers=RACK).tier == "scale-up"
    with pytest.raises(RangeError, match="exceeds domain 8"):
        place("tensor", ranks=16, size="2 GiB", tiers=HGX)
    assert place("pipeline", ranks=8, size="1 MB", tiers=HGX).tier == "either"
    assert place("data", ranks=16, size="1 GB", tiers=HGX).tier == "scale-out"


def test_time_and_share_per_tier():
    stage = place("pipeline", ranks=8, size="0.268435456 GB", tiers=RACK, computation="63.7 ms")
    assert stage.times["scale-out"] == pytest.approx(2.68435e-3, rel=5e-6)
    assert stage.times["scale-up"] == pytest.approx(0.298262e-3, rel=5e-6)
    assert not stage.cautions
    tensor = place("tensor", ranks=8, size="2 GiB", tiers=HGX, computation="7.81875 ms")
    assert tensor.times["scale-up"] == pytest.approx(4.17566e-3, rel=5e-6)
    assert tensor.times["scale-out"] == pytest.approx(37.581e-3, rel=5e-6)
    assert tensor.share_on("scale-out") == pytest.approx(0.82778, rel=5e-6)
    assert tensor.time.m_as("ms") == pytest.approx(4.17566, rel=5e-6)


def test_gradients():
    found = place("data", ranks=16, size="2.1875 GB", tiers=HGX)
    assert found.times["scale-out"] == pytest.approx(41.0156e-3, rel=5e-6)
    assert any("in-network" in text for text in found.recommendations)


def test_experts_over_an_oversubscribed_fabric():
    thin = two_tiers(
        domain=72, scale_up="900 GB/s/dir", scale_out="100 GB/s/dir", oversubscription=4
    )
    found = place("expert", ranks=144, size="0.536870912 GB", tiers=thin)
    assert found.time.m_as("ms") == pytest.approx(21.4748, rel=5e-6)
    assert found.tier == "scale-out"
    assert found.recommendations
    assert any("fine-grained" in text for text in found.cautions)
    inside = place("expert", ranks=72, size="0.536870912 GB", tiers=thin)
    assert inside.times["scale-up"] == pytest.approx(0.596523e-3, rel=5e-6)
    assert not inside.recommendations


def test_decode_and_barrier_are_latency():
    tiers = two_tiers(
        domain=72,
        scale_up="900 GB/s/dir",
        scale_out="100 GB/s/dir",
        scale_up_latency="0.2 us",
        scale_out_latency="2 us",
    )
    found = place("decode", ranks=8, size="1048576 byte", tiers=tiers)
    assert found.times["scale-up"] == pytest.approx(4.8389e-6, rel=5e-6)
    assert found.times["scale-out"] == pytest.approx(46.3501e-6, rel=5e-6)
    wait = place("barrier", ranks=72, size="0 byte", tiers=tiers)
    assert wait.times["scale-up"] == pytest.approx(2.8e-6)
    assert wait.times["scale-out"] == pytest.approx(28e-6)


def test_checkpoint_and_table():
    saved = place("checkpoint", ranks=8, size="1.12 TB", tiers=HGX, storage="100 GB/s")
    assert saved.time.m_as("s") == pytest.approx(11.2)
    with pytest.raises(ArgumentError, match="storage"):
        place("checkpoint", ranks=8, size="1 TB", tiers=HGX)
    with pytest.raises(ArgumentError, match="kind"):
        place("gossip", ranks=8, size="1 TB", tiers=HGX)
    rows = placement_table(HGX, {"tensor": (16, "2 GiB"), "data": (16, "2 GiB")})
    assert "exceeds domain" in rows[0]
    assert rows[1].tier == "scale-out"
    with pytest.raises(RangeError):
        two_tiers(domain=8, scale_up="1 GB/s", scale_out="1 GB/s", oversubscription=0.5)


WIDE = Transformer(layers=1, hidden=16384, heads=128, ffn=65536, vocabulary=32000, gated=False)
JOB = {"tokens": 65536, "peak": "2.25 PFLOP/s", "bandwidth": "900 GB/s/dir"}


def test_the_product_a_reduction_belongs_to():
    out = pair_reduction(WIDE, product="attention output", ranks=8, **JOB)
    assert out.flops.m_as("flop") == pytest.approx(3.51844e13, rel=5e-6)
    assert 100 * out.communication_share == pytest.approx(68.1146, rel=5e-6)
    assert 100 * pair_reduction(
        WIDE, product="attention output", ranks=72, **JOB
    ).communication_share == pytest.approx(95.5884, rel=5e-6)
    down = pair_reduction(WIDE, product="feed-forward down", ranks=8, **JOB)
    assert 100 * down.communication_share == pytest.approx(34.8134, rel=5e-6)
    with pytest.raises(ArgumentError, match="not reduced"):
        pair_reduction(WIDE, product="feed-forward up", ranks=8, **JOB)
    with pytest.raises(ArgumentError, match="not a product"):
        pair_reduction(WIDE, product="softmax", ranks=8, **JOB)


def test_products_between_reductions():
    found = paired_products(WIDE)
    assert found["attention output"] == ("query key value", "attention output")
    assert found["feed-forward down"] == ("feed-forward up", "feed-forward down")
    # both products of the block share one reduction: 21.1 % on 8 ranks
    both = 2 * 2 * 65536 * 16384 * 65536
    step = both / 8 / 2.25e15
    ring = 2 * 7 / 8 * 2**31 / 900e9
    assert 100 * ring / (ring + step) == pytest.approx(21.0752, rel=5e-6)
    assert math.isfinite(step)
