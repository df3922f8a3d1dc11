"""Worked numbers of the literature behind the library, six digits each.

Letters in brackets name the capability and table rows of the reference tables in which the value
was computed independently in plain floats: (b) rings and trees, (c) factors, (d) tensor-parallel
allreduce on three networks and on placements, (a) single messages.
"""

from __future__ import annotations

import math

import pytest

from scalemath import Q_, Placement, tensor_size
from scalemath.collectives import (
    all_gather,
    all_to_all,
    all_to_all_v,
    allreduce,
    balance_ranks,
    balance_size,
    barrier,
    broadcast,
    crossover,
    from_bus_bandwidth,
    gather,
    message_time,
    reduce_scatter,
    send_receive,
)
from scalemath.collectives.gains import IN_NETWORK

SIX = 5e-6
V = "2 GiB"
NVLINK, XDR, NDR = "900 GB/s/dir", "100 GB/s/dir", "50 GB/s/dir"


def six(value: float) -> object:
    """Six printed digits of a reference value."""
    return pytest.approx(value, rel=SIX)


def ms(result: object) -> float:
    return float(result.time.m_as("ms"))  # type: ignore[attr-defined]


# --- one message (K018-K022, table a) ---------------------------------------------------------


@pytest.mark.parametrize(
    ("bandwidth", "latency", "half", "time_us", "efficiency"),
    [
        (NVLINK, "0.1 us", 90000, 0.682542, 0.853489),
        (NVLINK, "0.2 us", 180000, 0.782542, 0.744423),
        (NVLINK, "0.25 us", 225000, 0.832542, 0.699715),
        (XDR, "0.5 us", 50000, 5.74288, 0.912936),
        (XDR, "1 us", 100000, 6.24288, 0.839818),
        (XDR, "2 us", 200000, 7.24288, 0.723867),
        (NDR, "2 us", 100000, 12.4858, 0.839818),
        (XDR, "2.5 us", 250000, 7.74288, 0.677123),
        ("25 GB/s/dir", "5 us", 125000, 25.9715, 0.807481),
        ("25 GB/s/dir", "15 us", 375000, 35.9715, 0.583003),
        (XDR, "10 us", 1e6, 15.2429, 0.343956),
        (XDR, "1 ms", 1e8, 1005.24, 0.00521554),
    ],
)
def test_message_of_512_kib(
    bandwidth: str, latency: str, half: float, time_us: float, efficiency: float
) -> None:
    message = message_time(size="512 KiB", bandwidth=bandwidth, latency=latency)
    assert message.half_bandwidth_size.m_as("byte") == six(half)
    assert message.time.m_as("us") == six(time_us)
    assert message.efficiency == six(efficiency)


@pytest.mark.parametrize(
    ("bandwidth", "latency", "size", "ranks", "ring_ms"),
    [
        (NVLINK, "0.1 us", 6.48e6, 23860.9, 0.0142),
        (NVLINK, "0.2 us", 12.96e6, 11930.5, 0.0284),
        (XDR, "2 us", 14.4e6, 10737.4, 0.284),
        (NDR, "2 us", 7.2e6, 21474.8, 0.284),
        ("25 GB/s/dir", "15 us", 27e6, 5726.62, 2.13),
        (XDR, "10 us", 7.2e7, 2147.48, 1.42),
        (XDR, "1 ms", 7.2e9, 21.4748, 142.0),
    ],
)
def test_balance_of_the_ring_and_its_latency(
    bandwidth: str, latency: str, size: float, ranks: float, ring_ms: float
) -> None:
    found = balance_size(ranks=72, bandwidth=bandwidth, latency=latency)
    assert found.m_as("byte") == six(size)
    assert balance_ranks(size=V, bandwidth=bandwidth, latency=latency) == six(ranks)
    ring = allreduce(size=V, ranks=72, bandwidth=bandwidth, latency=latency)
    assert ring.latency_term.m_as("ms") == six(ring_ms)
    balanced = allreduce(size=found, ranks=72, bandwidth=bandwidth, latency=latency)
    assert balanced.latency_term.m_as("s") == six(balanced.bandwidth_term.m_as("s"))


def test_chunks_sent_one_by_one_against_a_pipelined_ring() -> None:
    chunks = 2 * 1024**3 // (512 * 1024)
    serial = chunks * message_time(size="0 byte", bandwidth=XDR, latency="2 us").time
    assert chunks == 4096
    assert serial.m_as("ms") == six(8.192)
    ring = allreduce(size="0 byte", ranks=72, bandwidth=XDR, latency="2 us")
    assert ms(ring) == six(0.284)
    assert ring.steps == 142


def test_share_of_latency_once_and_per_step() -> None:
    for bandwidth, shares in ((NVLINK, (0.212, 30.2)), (XDR, (None, 3.35))):
        ring = allreduce(size=V, ranks=72, bandwidth=bandwidth, latency="10 us")
        payload = ring.bandwidth_term
        once, per_step = shares
        if once is not None:
            assert (Q_("10 us") / payload).m_as("percent") == pytest.approx(once, rel=3e-3)
        assert (ring.latency_term / payload).m_as("percent") == pytest.approx(per_step, rel=3e-3)


# --- factors and rings (K019, K029-K032, tables b, c, d) ---------------------------------------

FACTORS = [
    # ranks, 2(N-1)/N, algorithm bandwidth at 900, 100, 50 GB/s, ring steps, tree steps
    (2, 1, 900, 100, 50, 2, 2),
    (3, 1.33333, 675, 75, 37.5, 4, 4),
    (4, 1.5, 600, 66.6667, 33.3333, 6, 4),
    (6, 1.66667, 540, 60, 30, 10, 6),
    (8, 1.75, 514.286, 57.1429, 28.5714, 14, 6),
    (9, 1.77778, 506.25, 56.25, 28.125, 16, 8),
    (16, 1.875, 480, 53.3333, 26.6667, 30, 8),
    (32, 1.9375, 464.516, 51.6129, 25.8065, 62, 10),
    (64, 1.96875, 457.143, 50.7937, 25.3968, 126, 12),
    (72, 1.97222, 456.338, 50.7042, 25.3521, 142, 14),
    (128, 1.98438, 453.543, 50.3937, 25.1969, 254, 14),
    (144, 1.98611, 453.147, 50.3497, 25.1748, 286, 16),
    (256, 1.99219, 451.765, 50.1961, 25.098, 510, 16),
    (512, 1.99609, 450.881, 50.0978, 25.0489, 1022, 18),
    (576, 1.99653, 450.783, 50.087, 25.0435, 1150, 20),
    (1024, 1.99805, 450.44, 50.0489, 25.0244, 2046, 20),
    (2048, 1.99902, 450.22, 50.0244, 25.0122, 4094, 22),
    (4096, 1.99951, 450.11, 50.0122, 25.0061, 8190, 24),
    (8192, 1.99976, 450.055, 50.0061, 25.0031, 16382, 26),
    (16384, 1.99988, 450.027, 50.0031, 25.0015, 32766, 28),
    (32768, 1.99994, 450.014, 50.0015, 25.0008, 65534, 30),
    (65536, 1.99997, 450.007, 50.0008, 25.0004, 131070, 32),
    (100000, 1.99998, 450.005, 50.0005, 25.0003, 199998, 34),
    (131072, 1.99998, 450.003, 50.0004, 25.0002, 262142, 34),
]


@pytest.mark.parametrize("row", FACTORS, ids=lambda row: str(row[0]))
def test_factors_and_steps(row: tuple[float, ...]) -> None:
    ranks, factor, *bandwidths, ring_steps, tree_steps = row
    ranks = int(ranks)
    for bandwidth, expected in zip((NVLINK, XDR, NDR), bandwidths, strict=True):
        ring = allreduce(size=V, ranks=ranks, bandwidth=bandwidth)
        assert ring.factor == six(factor)
        assert ring.algorithm_bandwidth.m_as("GB/s") == six(expected)
        assert ring.bus_bandwidth == Q_(bandwidth.removesuffix("/dir")) or (
            ring.bus_bandwidth.m_as("GB/s") == six(Q_(bandwidth).magnitude)
        )
        assert ring.steps == ring_steps
    tree = allreduce(size=V, ranks=ranks, bandwidth=NVLINK, algorithm="binomial-tree")
    assert tree.steps == tree_steps
    for function in (reduce_scatter, all_gather, all_to_all):
        assert function(size=V, ranks=ranks, bandwidth=NVLINK).factor == six(factor / 2)


@pytest.mark.parametrize(
    ("ranks", "nvlink", "xdr", "ndr"),
    [
        (2, 2.38609, 21.4748, 42.9497),
        (4, 3.57914, 32.2123, 64.4245),
        (8, 4.17566, 37.5810, 75.1619),
        (16, 4.47392, 40.2653, 80.5306),
        (32, 4.62306, 41.6075, 83.215),
        (36, 4.63963, 41.7566, 83.5133),
        (64, 4.69762, 42.2786, 84.5572),
        (72, 4.70591, 42.3531, 84.7063),
        (576, 4.7639, 42.8751, 85.7502),
        (1024, 4.76753, 42.9077, 85.8155),
    ],
)
def test_activation_allreduce_on_three_networks(
    ranks: int, nvlink: float, xdr: float, ndr: float
) -> None:
    size = tensor_size((8, 8192, 16384), "bf16")
    for bandwidth, expected in ((NVLINK, nvlink), (XDR, xdr), (NDR, ndr)):
        ring = allreduce(size=size, ranks=ranks, bandwidth=bandwidth)
        assert ms(ring) == six(expected)
        half = reduce_scatter(size=size, ranks=ranks, bandwidth=bandwidth)
        assert ms(half) == six(expected / 2)
        assert ms(all_gather(size=size, ranks=ranks, bandwidth=bandwidth)) == six(expected / 2)


# --- trees and switches (K033, K034, K040-K042, table b) ----------------------------------------


@pytest.mark.parametrize(
    ("ranks", "naive", "in_network", "in_network_bandwidth"),
    [
        (2, 4.77219, 3.57914, 600),
        (4, 9.54437, 2.98262, 720),
        (8, 14.3166, 2.68435, 800),
        (16, 19.0887, 2.53522, 847.059),
        (32, 23.8609, 2.46066, 872.727),
        (64, 28.6331, 2.42338, 886.154),
        (72, 33.4053, 2.41923, 887.671),
    ],
)
def test_trees_and_multicast(
    ranks: int, naive: float, in_network: float, in_network_bandwidth: float
) -> None:
    def cost(algorithm: str) -> object:
        return allreduce(size=V, ranks=ranks, bandwidth=NVLINK, algorithm=algorithm)

    assert ms(cost("naive-tree")) == six(naive)
    assert ms(cost("pipelined-tree")) == six(4.77219)
    assert ms(cost("nvls")) == six(in_network)
    reached = cost("nvls").algorithm_bandwidth  # type: ignore[attr-defined]
    assert reached.m_as("GB/s") == six(in_network_bandwidth)


def test_eight_bytes_go_up_and_down_a_tree() -> None:
    tree, ring = (
        allreduce(size="8 byte", ranks=72, bandwidth=NVLINK, latency="2 us", algorithm=name)
        for name in ("binomial-tree", "ring")
    )
    assert tree.time.m_as("us") == pytest.approx(28, rel=2e-5)
    assert ring.time.m_as("us") == pytest.approx(284, rel=2e-5)
    assert barrier(ranks=72, latency="2 us", algorithm="binomial-tree").time.m_as("us") == six(28)
    assert barrier(ranks=72, latency="2 us", algorithm="ring").time.m_as("us") == six(284)
    large = allreduce(size=V, ranks=72, bandwidth=NVLINK, latency="2 us", algorithm="best")
    assert large.algorithm == "ring"
    small = allreduce(size="8 byte", ranks=72, bandwidth=NVLINK, latency="2 us", algorithm="best")
    assert small.time <= tree.time


def test_sharp_and_its_gain_over_the_ring() -> None:
    usable = 0.95 * Q_(XDR)
    sharp = allreduce(size=V, ranks=72, bandwidth=usable, algorithm="sharp")
    assert ms(sharp) == six(22.6051)
    ring = allreduce(size=V, ranks=72, bandwidth=XDR)
    ideal = allreduce(size=V, ranks=72, bandwidth=XDR, algorithm="sharp")
    assert (ring.time / ideal.time).m_as("") == six(1.97222)


def test_multicast_and_ring_break_even_at_three_ranks() -> None:
    where = crossover("ring", "nvls", size=V, bandwidth=NVLINK)
    assert where.ranks == 3
    assert (where.before, where.after) == ("ring", "tie")
    times = {
        name: ms(allreduce(size=V, ranks=3, bandwidth=NVLINK, algorithm=name))
        for name in ("ring", "nvls")
    }
    assert times["ring"] == six(times["nvls"])


def test_eight_bit_reduction_in_the_network_doubles_the_gain_again() -> None:
    ring = allreduce(size="2 GB", ranks=2**20, bandwidth=XDR)
    sharp = allreduce(size="1 GB", ranks=2**20, bandwidth=XDR, algorithm="sharp")
    assert (ring.time / sharp.time).m_as("") == pytest.approx(4, rel=1e-5)


# --- mixture of experts (K038, K039) -----------------------------------------------------------


def test_dispatch_of_tokens_to_experts() -> None:
    size = tensor_size((65536, 4096), "bf16")
    assert size.m_as("GB") == six(0.536871)
    assert ms(send_receive(size=size, bandwidth=XDR)) == six(5.36871)
    assert ms(message_time(size=size, bandwidth=NVLINK)) == six(0.596523)
    exchange = all_to_all(size=size, ranks=72, bandwidth=XDR)
    assert ms(exchange) == six(5.29414)
    assert exchange.bytes_per_rank.m_as("GB") == six(0.529414)
    assert (8 * size).m_as("GB") == six(4.29497)


def test_incast_on_one_port() -> None:
    at_root = gather(size="65 MiB", ranks=65, bandwidth=XDR, algorithm="direct")
    assert ms(at_root) == six(0.671089)
    combine = all_to_all_v(largest_send="1 MiB", largest_receive="64 MiB", ranks=65, bandwidth=XDR)
    assert ms(combine) == six(0.671089)


# --- placements (K035-K037, K066, K067, table d) -------------------------------------------------


def servers(nodes: int, nic: str = XDR, nics: int = 8) -> Placement:
    return Placement(
        nodes=nodes,
        ranks_per_node=8,
        nics_per_node=nics,
        domain_bandwidth=NVLINK,
        nic_bandwidth=nic,
    )


@pytest.mark.parametrize(
    ("nodes", "nic", "flat", "rails", "overlapped", "sequential"),
    [
        (1, XDR, 4.17566, 4.17566, 4.17566, 4.17566),
        (2, XDR, 40.2653, 5.03316, 4.17566, 6.86002),
        (2, NDR, 80.5306, 10.0663, 5.36871, 9.54437),
        (4, XDR, 41.6075, 5.20094, 4.17566, 8.20219),
        (4, NDR, 83.215, 10.4019, 8.05306, 12.2287),
        (8, XDR, 42.2786, 5.28482, 4.69762, 8.87328),
        (8, NDR, 84.5572, 10.5696, 9.39524, 13.5709),
        (9, XDR, 42.3531, 5.29414, 4.77219, 8.94785),
        (9, NDR, 84.7063, 10.5883, 9.54437, 13.72),
        (16, XDR, 42.6141, 5.32677, 5.03316, 9.20883),
        (16, NDR, 85.2283, 10.6535, 10.0663, 14.242),
        (32, XDR, 42.7819, 5.34774, 5.20094, 9.3766),
        (32, NDR, 85.5638, 10.6955, 10.4019, 14.5775),
        (72, XDR, 42.8751, 5.35939, 5.29414, 9.46981),
        (72, NDR, 85.7502, 10.7188, 10.5883, 14.764),
    ],
)
def test_schedules_on_eight_gpu_servers(
    nodes: int, nic: str, flat: float, rails: float, overlapped: float, sequential: float
) -> None:
    placement = servers(nodes, nic)
    expected = {
        "flat": flat,
        "rails": rails,
        "two-level-overlapped": overlapped,
        "two-level": sequential,
    }
    for schedule, value in expected.items():
        assert ms(allreduce(size=V, placement=placement, schedule=schedule)) == six(value)
    best = allreduce(size=V, placement=placement, schedule="best")
    assert ms(best) == six(min(expected.values()))


def test_who_carries_what_over_eight_rails() -> None:
    cost = allreduce(size=V, placement=servers(9), schedule="rails")
    size = Q_(V)
    assert (cost.bytes_per_nic / size).m_as("") == six(0.246528)
    assert (cost.bytes_per_node / size).m_as("") == six(1.97222)
    assert (cost.bytes_per_domain_port / size).m_as("") == six(1.72569)
    assert cost.bottleneck == "network interface"


@pytest.mark.parametrize(
    ("racks", "between", "overlapped", "sequential"),
    [
        (1, 0.0, 4.70591, 4.70591),
        (2, 0.298262, 4.70591, 5.00417),
        (4, 0.447392, 4.70591, 5.1533),
        (8, 0.521958, 4.70591, 5.22786),
        (16, 0.559241, 4.70591, 5.26515),
        (64, 0.587203, 4.70591, 5.29311),
    ],
)
def test_racks_of_72_joined_by_interfaces(
    racks: int, between: float, overlapped: float, sequential: float
) -> None:
    placement = Placement(
        nodes=18 * racks,
        ranks_per_node=4,
        domain=72,
        nics_per_node=4,
        domain_bandwidth=NVLINK,
        nic_bandwidth=XDR,
    )
    one_after_other = allreduce(size=V, placement=placement, schedule="two-level")
    assert ms(one_after_other) == six(sequential)
    at_once = allreduce(size=V, placement=placement, schedule="two-level-overlapped")
    assert ms(at_once) == six(overlapped)
    inside = ms(allreduce(size=V, ranks=72, bandwidth=NVLINK))
    assert inside == six(4.70591)
    assert ms(one_after_other) - inside == pytest.approx(between, abs=6e-6)


def test_one_shared_interface_against_eight() -> None:
    one, eight = (servers(2, "25 GB/s/dir", nics) for nics in (1, 8))
    shared = allreduce(size="1 GB", placement=one, schedule="flat")
    assert ms(shared) == six(1.875 / 25 * 1e3)
    assert allreduce(size="1 GB", ranks=8, bandwidth="25 GB/s/dir").time.m_as("ms") == six(70)
    assert eight.nics_per_node * eight.nic_bandwidth == Q_("200 GB/s/dir")
    spread = allreduce(size="1 GB", placement=eight, schedule="rails")
    assert ms(spread) == six(1.875 / 200 * 1e3)


def test_rate_that_limits_a_hierarchy() -> None:
    assert servers(9).hierarchical_bandwidth == Q_("800 GB/s/dir")
    rack = Placement(
        nodes=36,
        ranks_per_node=4,
        domain=72,
        nics_per_node=4,
        domain_bandwidth=NVLINK,
        nic_bandwidth=XDR,
    )
    assert rack.hierarchical_bandwidth == Q_(NVLINK)
    cost = allreduce(size=V, placement=rack, schedule="rails")
    assert ms(cost) == six(2 * 143 / 144 * 2.147483648e9 / 900e9 * 1e3)


@pytest.mark.parametrize("nodes", [2, 3, 4, 9])
def test_bus_bandwidth_of_an_all_to_all_over_nodes(nodes: int) -> None:
    cost = all_to_all(size="1 GB", placement=servers(nodes), schedule="flat")
    ranks = 8 * nodes
    assert ms(cost) == six((nodes - 1) / nodes * 1e9 / 100e9 * 1e3)
    expected = 100 * nodes / (nodes - 1) * (ranks - 1) / ranks
    assert cost.bus_bandwidth.m_as("GB/s") == six(expected)


# --- several planes (K064, K065) ------------------------------------------------------------------


def test_spraying_over_planes_and_the_loss_of_one() -> None:
    sprayed = allreduce(size=V, ranks=72, bandwidth=0.95 * Q_("800 Gbit/s/dir"))
    assert sprayed.bus_bandwidth.m_as("GB/s") == six(95)
    three_of_four = allreduce(size=V, ranks=72, bandwidth=0.75 * Q_("800 Gbit/s/dir"))
    assert three_of_four.bus_bandwidth.m_as("GB/s") == six(75)


# --- bus bandwidths read backwards (K030) ---------------------------------------------------------


def test_bus_bandwidth_both_ways() -> None:
    ring = allreduce(size=V, ranks=72, bandwidth=NVLINK)
    assert ring.bus_bandwidth.m_as("GB/s") == six(900)
    back = from_bus_bandwidth(ring.bus_bandwidth, ranks=72, size=V)
    assert back.algorithm_bandwidth.m_as("GB/s") == six(456.338)
    assert ms(back) == six(4.70591)


@pytest.mark.parametrize(
    ("operation", "factor"),
    [
        ("allreduce", 1.75),
        ("reduce_scatter", 0.875),
        ("all_gather", 0.875),
        ("broadcast", 1),
        ("reduce", 1),
        ("scatter", 0.875),
        ("gather", 0.875),
        ("all_to_all", 0.875),
        ("send_receive", 1),
    ],
)
def test_factors_of_nccl_tests(operation: str, factor: float) -> None:
    """nccl-tests doc/PERFORMANCE.md and its sources."""
    read = from_bus_bandwidth("100 GB/s", ranks=8, operation=operation)
    assert read.algorithm_bandwidth.m_as("GB/s") == pytest.approx(100 / factor)


def test_broadcast_ring_bound_of_a_chain() -> None:
    chain = broadcast(size=V, ranks=72, bandwidth=NVLINK, algorithm="chain")
    assert ms(chain) == six(2.147483648e9 / 900e9 * 1e3)
    assert math.isinf(chain.steps)


def test_reported_gains_carry_their_source() -> None:
    """K043: 2 to 5 times for bandwidth, 5.1 for latency on 7861 nodes."""
    assert (IN_NETWORK["share of line rate"].value, IN_NETWORK["speedup, latency"].value) == (
        0.95,
        5.1,
    )
    spread = IN_NETWORK["speedup, medium and large vectors"]
    assert (spread.low, spread.high) == (2.0, 5.0)
    assert "7861" in IN_NETWORK["speedup, latency"].note
    assert all(datum.source and datum.date for datum in IN_NETWORK.values())
