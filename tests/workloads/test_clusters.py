"""Clusters of the catalogue as machines and tiers."""

import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError
from scalemath.workloads import cluster_machine, cluster_tiers, place


def server(**more):
    gpu = sm.Accelerator(
        name="H100 SXM",
        memory="80 GB",
        memory_bandwidth="3.35 TB/s",
        peaks={"bf16": "989.5 TFLOP/s"},
        scale_up="450 GB/s/dir",
    )
    return sm.Node(
        accelerators=8,
        accelerator=gpu,
        link=sm.Link(bandwidth="450 GB/s/dir"),
        nics=8,
        nic_rate="50 GB/s/dir",
        **more,
    )


def test_machine_of_a_cluster():
    machine = cluster_machine(sm.Cluster(nodes=4, node=server()))
    assert machine.peak == 989.5e12
    assert machine.node_ranks == 8
    assert machine.nic_bandwidth == pytest.approx(50e9)
    assert machine.rates_from == "best shapes"
    own = cluster_machine(
        sm.Cluster(nodes=4, node=server()), matmul_share=0.6, attention_share=0.3, measured=True
    )
    assert (own.matmul_share, own.rates_from) == (0.6, "measured")


def test_a_node_without_an_accelerator_is_refused():
    bare = sm.Cluster(nodes=2, node=sm.Node(accelerators=8))
    with pytest.raises(ArgumentError, match="accelerator"):
        cluster_machine(bare)


def test_tiers_of_a_cluster():
    up, out = cluster_tiers(sm.Cluster(nodes=4, node=server()), scale_out_latency="2 us")
    assert up.ranks == 8
    assert up.bandwidth == pytest.approx(450e9)
    assert out.bandwidth == pytest.approx(50e9)
    found = place("data", ranks=32, size="1 GB", tiers=(up, out))
    assert found.tier == "scale-out"


def test_training_and_search_take_a_cluster():
    cluster = sm.Cluster(nodes=2, node=server())
    model = sm.Transformer(layers=12, hidden=1024, heads=16, kv_heads=4, ffn=4096, vocabulary=32000)
    plan = sm.ParallelPlan(data=16, global_batch=64)
    step = sm.training_step(model, plan, cluster, sequence=2048)
    assert step.machine == cluster_machine(cluster)
    found = sm.search_plans(model, cluster, global_batch=64, sequence=2048)
    assert set(found.ranks) == {16}
    with pytest.raises(ArgumentError, match="ranks"):
        sm.search_plans(model, step.machine, global_batch=64, sequence=2048)
