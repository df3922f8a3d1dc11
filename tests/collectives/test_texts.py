"""What results print, and small answers around them."""

from __future__ import annotations

import math
import re

import pytest

import scalemath as sm
from scalemath import Placement
from scalemath.collectives.schedules import SCHEDULES
from scalemath.kernels.busbandwidth import algorithm_of_bus_bandwidth

NVLINK = "900 GB/s/dir"
NINE = Placement(
    nodes=9,
    ranks_per_node=8,
    nics_per_node=8,
    domain_bandwidth=NVLINK,
    nic_bandwidth="100 GB/s/dir",
)


def test_message_explains_itself() -> None:
    message = sm.message_time(size="512 KiB", bandwidth="100 GB/s/dir", latency="2 us")
    text = message.explain()
    for part in ("7.24288", "72.3867 %", "half of it at 200 kB", "Hockney", "latency + size"):
        assert part in text, part
    assert message.reached_bandwidth.m_as("GB/s") == pytest.approx(72.3867, rel=5e-6)
    assert set(message.terms) == {"latency", "bandwidth"}
    assert message.to_dict()["inputs"]["bandwidth"]["unit"] == "byte/s/dir"


def test_crossover_explains_itself() -> None:
    where = sm.crossover("ring", "binomial-tree", ranks=72, bandwidth=NVLINK, latency="2 us")
    assert "binomial-tree below, ring above" in where.explain()
    assert where.time.m_as("us") == pytest.approx(
        sm.allreduce(size=where.size, ranks=72, bandwidth=NVLINK, latency="2 us").time.m_as("us")
    )
    by_ranks = sm.crossover("ring", "nvls", size="2 GiB", bandwidth=NVLINK)
    assert "at 3 ranks" in str(by_ranks)
    assert by_ranks.time.m_as("ms") == pytest.approx(3.18146, rel=5e-6)
    never = sm.crossover(
        "ring", "pairwise", operation="reduce_scatter", ranks=8, bandwidth=NVLINK, latency="1 us"
    )
    assert not never.crosses
    assert math.isnan(never.time.m_as("s"))
    assert "do not cross" in str(never)
    with pytest.raises(sm.ArgumentError, match="either ranks"):
        sm.crossover("ring", "nvls", bandwidth=NVLINK)
    with pytest.raises(sm.ArgumentError, match="torus"):
        sm.crossover("ring", "torus", ranks=8, bandwidth=NVLINK)


def test_balance_where_terms_never_meet() -> None:
    assert math.isinf(sm.balance_ranks(size="1 GB", bandwidth=NVLINK, latency="0 s"))
    for algorithm, expected in (("rabenseifner", math.inf), ("recursive-doubling", math.inf)):
        found = sm.balance_ranks(size="1 GB", bandwidth=NVLINK, latency="1 us", algorithm=algorithm)
        assert found == expected
    chain = sm.balance_ranks(
        size="1 GB", bandwidth=NVLINK, latency="1 us", algorithm="chain", operation="broadcast"
    )
    assert chain - 2 == pytest.approx(1e9 / 900e9 / 1e-6, rel=1e-6)
    alone = sm.balance_size(ranks=8, bandwidth=NVLINK, latency="0 s", algorithm="rabenseifner")
    assert alone.m_as("byte") == 0


def test_balance_of_arrays_answers_for_the_ring() -> None:
    grid = sm.balance_size(ranks=[2, 8, 72], bandwidth=NVLINK, latency="0.2 us")
    assert list(grid.values) == pytest.approx([0.36e6, 1.44e6, 12.96e6])


def test_placed_explanations_name_ports_and_schedules() -> None:
    text = sm.allreduce(size="2 GiB", placement=NINE, schedule="best").explain()
    for part in ("per interface 477.219 MB", "best of 4 schedules", "two-level-overlapped"):
        assert part in text, part
    exchange = sm.all_to_all(size="2 GiB", placement=NINE, schedule="flat").explain()
    assert "a part of the data never leaves its domain" in exchange
    rails = sm.allreduce(size="2 GiB", placement=NINE, schedule="rails")
    assert "8 interfaces of a domain share the work" in rails.explain()
    assert rails.bytes_per_rank == rails.bytes_per_domain_port + rails.bytes_per_nic
    flat = sm.allreduce(size="2 GiB", placement=NINE, schedule="flat")
    assert flat.bytes_per_node == flat.bytes_per_nic
    assert flat.steps == 142
    inside = NINE.with_(domain_bandwidth="100 GB/s/dir")
    slow = sm.allreduce(size="2 GiB", placement=inside, schedule="two-level-overlapped")
    assert slow.bottleneck == "scale-up port"
    bound = sm.allreduce(size="2 GiB", placement=NINE, estimator="bound")
    assert math.isnan(bound.steps)
    assert "the one bound that binds" in bound.explain()
    barrier = sm.barrier(placement=NINE.with_(nic_latency="2 us"), schedule="two-level")
    assert barrier.time.m_as("us") == pytest.approx(8)


@pytest.mark.parametrize("operation", ["scatter", "gather", "broadcast", "reduce", "all_to_all"])
def test_every_schedule_says_what_its_ports_carry(operation: str) -> None:
    function = getattr(sm, operation)
    for schedule in ("flat", "rails"):
        cost = function(size="1 GB", placement=NINE, schedule=schedule)
        assert cost.bytes_per_nic.m_as("byte") > 0
        carried = (
            cost.bytes_per_nic.m_as("byte") / 100e9,
            cost.bytes_per_domain_port.m_as("byte") / 900e9,
        )
        assert cost.bandwidth_term.m_as("s") >= max(carried) * (1 - 1e-12)


def test_arrays_on_a_placement() -> None:
    grid = sm.allreduce(size=sm.Q_([1.0, 2.0], "GiB"), placement=NINE, schedule="rails")
    one = sm.allreduce(size="2 GiB", placement=NINE, schedule="rails")
    assert grid.values[1] == pytest.approx(one.time.m_as("s"), rel=1e-12)
    model = sm.allreduce.placed_model()
    assert "placement.nic_bandwidth" in {p.name for p in model.parameters}


def test_loggp_times_of_whole_collectives() -> None:
    network = sm.LogGP(latency="2 us", overhead="0.3 us", gap="0.1 us", gap_per_byte="0.01 ns/byte")
    pair = network.alpha_beta()
    for operation, algorithm in (
        ("allreduce", "ring"),
        ("allreduce", "recursive-doubling"),
        ("allreduce", "rabenseifner"),
        ("all_gather", "ring"),
        ("all_to_all", "pairwise"),
        ("broadcast", "binomial-tree"),
    ):
        exact = network.time(operation, algorithm, size="64 MiB", ranks=16)
        form = getattr(sm, operation)(size="64 MiB", ranks=16, algorithm=algorithm, **pair)
        assert exact.m_as("s") == pytest.approx(form.time.m_as("s"), rel=1e-9), algorithm
    assert network.message_time("1 byte").m_as("us") == pytest.approx(2.6)
    with pytest.raises(sm.ArgumentError, match="there are allreduce by ring"):
        network.time("allreduce", "torus", size="1 GB", ranks=8)


def test_a_bus_bandwidth_of_one_rank_says_nothing() -> None:
    assert algorithm_of_bus_bandwidth(1e9, 0.0) == math.inf
    with pytest.raises(sm.ScalemathError, match="at least 2"):
        sm.from_bus_bandwidth("1 GB/s", ranks=1)
    with pytest.raises(sm.ArgumentError, match="wanted one of allreduce"):
        sm.from_bus_bandwidth("1 GB/s", ranks=8, operation="all_reduce_scatter")
    seen = sm.from_bus_bandwidth("100 GB/s", ranks=8)
    assert seen.verdict == ""
    assert seen.of_wire != seen.of_wire
    assert "GB/s" in str(seen)


@pytest.mark.parametrize("size", ["8 byte", "64 KiB", "1 MiB", "64 MiB", "8 GiB"])
@pytest.mark.parametrize("schedule", ["flat", "rails", "two-level-overlapped", "best"])
def test_envelopes_on_a_placement_lie_above_the_closed_form(size: str, schedule: str) -> None:
    placement = NINE.with_(domain_latency="0.6 us", nic_latency="3 us")
    case = {"size": size, "placement": placement, "schedule": schedule}
    closed = sm.allreduce(**case)
    envelope = sm.allreduce(**case, estimator="envelope")
    assert envelope.estimator == "envelope"
    assert closed.time <= envelope.time
    if size == "8 GiB":
        assert (envelope.time / closed.time).m_as("") == pytest.approx(1, rel=0.15)
    if size == "8 byte":
        assert (envelope.time / closed.time).m_as("") == pytest.approx(1, rel=1e-3)
    assert "protocol" in envelope.explain()


def test_envelopes_hold_every_level_of_a_hierarchy() -> None:
    levels = [(8, NVLINK, "1 us"), (9, "100 GB/s/dir", "5 us")]
    closed = sm.allreduce(size="1 MiB", hierarchy=levels)
    envelope = sm.allreduce(size="1 MiB", hierarchy=levels, estimator="envelope")
    assert "LL:" in envelope.assumptions[0]
    assert envelope.latency_term == closed.latency_term
    assert envelope.bandwidth_term.m_as("us") == pytest.approx(2 * closed.bandwidth_term.m_as("us"))


@pytest.mark.parametrize("operation", SCHEDULES)
def test_help_names_the_schedules_that_are_taken(operation: str) -> None:
    text = getattr(sm, operation).__doc__.partition("schedule : str, optional\n")[2]
    named = set(re.findall(r'"([\w-]+)"', text.partition("\n")[0]))
    assert named - {"best"} == set(SCHEDULES[operation])
