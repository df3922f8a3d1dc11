"""Results of collectives: what they say, what they refuse, what they choose."""

from __future__ import annotations

import math
import pickle

import pint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scalemath as sm
from scalemath import Q_, Placement, Range
from scalemath.collectives.algorithms import ALIASES, TABLE

V, NVLINK = "2 GiB", "900 GB/s/dir"
HOPPER = "450 GB/s/dir"
NINE = Placement(
    nodes=9,
    ranks_per_node=8,
    nics_per_node=8,
    domain_bandwidth=NVLINK,
    nic_bandwidth="100 GB/s/dir",
    domain_latency="0.2 us",
    nic_latency="2 us",
)


# --- the question that is asked most -----------------------------------------------------------


def test_483_on_links_of_450_is_not_broken() -> None:
    seen = sm.from_bus_bandwidth("483 GB/s", ranks=8, bandwidth=HOPPER)
    assert seen.verdict == "above the wire, as switches allow"
    text = seen.explain()
    assert "nothing is broken" in text
    assert "700 GB/s" in text  # 2 (N - 1) / (N + 1) * 450
    assert "69 %" in text
    predicted = sm.allreduce(size="8 GiB", ranks=8, bandwidth=HOPPER, algorithm="nvls")
    assert predicted.bus_bandwidth.m_as("GB/s") == pytest.approx(700)
    assert "nothing is wrong" in predicted.explain()
    assert "1.125 times the size" in predicted.explain()


def test_a_bus_bandwidth_nothing_explains_is_called_impossible() -> None:
    seen = sm.from_bus_bandwidth("900 GB/s", ranks=8, bandwidth=HOPPER)
    assert seen.verdict == "impossible"
    assert "both directions" in seen.explain()
    gathered = sm.from_bus_bandwidth("483 GB/s", ranks=8, bandwidth=HOPPER, operation="all_gather")
    assert gathered.verdict == "impossible"
    ring = sm.from_bus_bandwidth("365 GB/s", ranks=8, bandwidth=HOPPER)
    assert ring.verdict == "below the wire"
    assert "81.1111 %" in ring.explain()


# --- what a result says ------------------------------------------------------------------------


def test_terms_sum_to_the_time_and_steps_are_counted() -> None:
    cost = sm.allreduce(
        size=V, ranks=72, bandwidth=NVLINK, latency="10 us", reduction_rate="2 TB/s"
    )
    assert sum(t.m_as("s") for t in cost.terms.values()) == pytest.approx(cost.time.m_as("s"))
    assert set(cost.terms) == {"latency", "bandwidth", "reduction"}
    assert cost.steps == 142
    assert cost.bytes_per_rank.m_as("byte") == pytest.approx(2 * 71 / 72 * 2**31)
    assert cost.bottleneck == "bandwidth of one rank's port"
    assert (cost.operation, cost.algorithm, cost.estimator) == ("allreduce", "ring", "alpha-beta")


def test_explanation_holds_formula_numbers_assumptions_and_source() -> None:
    text = sm.allreduce(size=V, ranks=72, bandwidth="900 GB/s").explain()
    for part in (
        "4.70591 ms",
        "456.338 GB/s",
        "2 * (ranks - 1)",
        "taken per direction",
        "latency taken as 0",
        "reduction costs nothing",
        "142 steps",
        "Patarasuk",
    ):
        assert part in text, part


def test_results_compare_pickle_and_become_plain_data() -> None:
    one, other = (
        sm.allreduce(size=V, ranks=72, bandwidth=NVLINK, latency="1 us") for _ in range(2)
    )
    assert one == other
    assert one != sm.allreduce(size=V, ranks=71, bandwidth=NVLINK, latency="1 us")
    assert pickle.loads(pickle.dumps(one)).time == one.time
    data = one.to_dict()
    assert data["values"]["time"]["unit"] == "s"
    assert data["inputs"]["size"] == {"value": 2.0**31, "unit": "byte"}
    assert "<table>" in one._repr_html_()
    placed = sm.allreduce(size=V, placement=NINE, schedule="rails")
    assert placed.to_dict()["values"]["bytes_per_nic"]["value"] == pytest.approx(0.246528 * 2**31)
    assert pickle.loads(pickle.dumps(placed)).time == placed.time


def test_nothing_takes_no_time() -> None:
    alone = sm.allreduce(size=V, ranks=1, bandwidth=NVLINK, latency="1 us")
    assert alone.time.m_as("s") == 0
    assert alone.bottleneck == "nothing"
    assert alone.bus_bandwidth.m_as("GB/s") == 0
    assert "limited by nothing" in str(alone)
    empty = sm.allreduce(size="0 byte", ranks=8, bandwidth=NVLINK)
    assert empty.algorithm_bandwidth.m_as("GB/s") == 0


# --- the best algorithm ------------------------------------------------------------------------


def test_best_chooses_only_what_the_network_states() -> None:
    def best(**stated: object) -> str:
        cost = sm.allreduce(size=V, bandwidth=NVLINK, latency="1 us", algorithm="best", **stated)
        needs = {TABLE["allreduce"][c.name].needs for c in cost.contenders}
        assert cost.contenders[0].seconds == min(c.seconds for c in cost.contenders)
        assert cost.algorithm == cost.contenders[0].name
        return " ".join(sorted(needs - {""}))

    assert best(ranks=64) == ""
    assert best(ranks=64, in_network="multicast") == "multicast"
    assert best(ranks=64, in_network="reduction") == "in-network reduction"
    assert best(shape=(8, 8)) == "torus"


def test_best_says_by_how_much_and_where_it_would_change() -> None:
    cost = sm.allreduce(size="8 MB", ranks=72, bandwidth=NVLINK, latency="1 us", algorithm="best")
    assert cost.margin > 1
    assert cost.runner_up in cost.explain()
    swap = cost.crossover_size
    either = {
        name: sm.allreduce(
            size=swap, ranks=72, bandwidth=NVLINK, latency="1 us", algorithm=name
        ).time.m_as("s")
        for name in (cost.algorithm, cost.runner_up)
    }
    assert either[cost.algorithm] == pytest.approx(either[cost.runner_up], rel=1e-9)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ring", "binomial-tree"),
        ("ring", "double-binary-tree"),
        ("recursive-doubling", "ring"),
        ("recursive-doubling", "rabenseifner"),
    ],
)
def test_both_take_the_same_time_where_they_cross(first: str, second: str) -> None:
    where = sm.crossover(first, second, ranks=64, bandwidth=NVLINK, latency="2 us")

    def time(name: str, factor: float) -> float:
        size = where.size * factor
        cost = sm.allreduce(size=size, ranks=64, bandwidth=NVLINK, latency="2 us", algorithm=name)
        return float(cost.time.m_as("s"))

    assert time(first, 1.0) == pytest.approx(time(second, 1.0), rel=1e-9)
    assert time(where.before, 0.9) < time(where.after, 0.9)
    assert time(where.before, 1.1) > time(where.after, 1.1)


def test_crossings_in_ranks_are_the_first_change() -> None:
    where = sm.crossover(
        "ring", "recursive-doubling", size="1 MB", bandwidth="100 GB/s/dir", latency="2 us"
    )
    assert where.ranks is not None

    def faster(ranks: int) -> str:
        times = {
            name: sm.allreduce(
                size="1 MB", ranks=ranks, bandwidth="100 GB/s/dir", latency="2 us", algorithm=name
            ).time.m_as("s")
            for name in ("ring", "recursive-doubling")
        }
        return "tie" if len(set(times.values())) == 1 else min(times, key=times.__getitem__)

    seen = [faster(ranks) for ranks in range(2, where.ranks + 1)]
    assert seen[-1] != seen[0]
    assert set(seen[:-1]) == {seen[0]}


def test_balance_of_other_algorithms_is_where_their_terms_meet() -> None:
    for algorithm in ("rabenseifner", "binomial-tree", "double-binary-tree", "recursive-doubling"):
        size = sm.balance_size(ranks=72, bandwidth=NVLINK, latency="2 us", algorithm=algorithm)
        cost = sm.allreduce(
            size=size, ranks=72, bandwidth=NVLINK, latency="2 us", algorithm=algorithm
        )
        assert cost.latency_term.m_as("s") == pytest.approx(cost.bandwidth_term.m_as("s"), rel=1e-9)


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"algorithm": "rign"}, "did you mean ring"),
        ({"algorithm": "torus"}, "shape="),
        ({"algorithm": "hierarchical"}, "hierarchy="),
        ({"shape": (8, 9)}, "holds 72"),
        ({"shape": "8x9", "ranks": None}, "shape is '8x9'"),
        ({"ranks": 0}, "ranks"),
        ({"estimator": "guess"}, "estimator"),
        ({"in_network": "magic"}, "in_network"),
        ({"schedule": "rails"}, "placement"),
        ({"placement": "nine servers"}, "Placement"),
    ],
)
def test_refusals_say_what_to_write(arguments: dict[str, object], said: str) -> None:
    given_: dict[str, object] = {"size": V, "ranks": 8, "bandwidth": NVLINK} | arguments
    with pytest.raises(sm.ScalemathError, match=said):
        sm.allreduce(**given_)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "two-level-overlapped"),
        ({"schedule": "zigzag"}, "rails"),
        ({"schedule": "rails", "ranks": 8}, "ranks"),
        ({"schedule": "rails", "bandwidth": NVLINK, "latency": "1 us"}, "bandwidth, latency"),
        ({"schedule": "rails", "algorithm": "nvls"}, "name a schedule"),
        ({"schedule": "rails", "estimator": "nccl"}, "estimator"),
        ({"schedule": "rails", "typo": 1}, "typo"),
    ],
)
def test_placements_say_what_they_state_already(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(sm.ScalemathError, match=said):
        sm.allreduce(size=V, placement=NINE, **arguments)


def test_a_single_domain_needs_no_schedule() -> None:
    one = NINE.with_(nodes=1)
    assert sm.allreduce(size=V, placement=one).time.m_as("ms") == pytest.approx(4.17846, rel=5e-6)
    with pytest.raises(sm.ArgumentError, match="size"):
        sm.allreduce(placement=one)


def test_unequal_sizes_need_a_square_matrix() -> None:
    with pytest.raises(sm.ArgumentError, match="square"):
        sm.all_to_all_v(traffic=Q_([[1, 2]], "MB"), bandwidth=NVLINK)
    with pytest.raises(sm.RangeError, match="negative"):
        sm.all_to_all_v(traffic=Q_([[0, -1], [1, 0]], "MB"), bandwidth=NVLINK)
    with pytest.raises(sm.ArgumentError, match="traffic"):
        sm.all_to_all_v(bandwidth=NVLINK, ranks=4)


def test_even_traffic_is_an_all_to_all() -> None:
    even = Q_([[2.0] * 6] * 6, "MB")
    uneven = sm.all_to_all_v(traffic=even, bandwidth=NVLINK, latency="1 us")
    equal = sm.all_to_all(size="12 MB", ranks=6, bandwidth=NVLINK, latency="1 us")
    assert uneven.time.m_as("s") == pytest.approx(equal.time.m_as("s"), rel=1e-12)
    assert uneven.bus_bandwidth.m_as("B/s") == pytest.approx(equal.bus_bandwidth.m_as("B/s"))


# --- the same answer however it is asked -------------------------------------------------------


@given(
    size=st.floats(1e3, 1e12),
    rate=st.floats(1e8, 1e12),
    seconds=st.floats(1e-8, 1e-3),
    ranks=st.integers(2, 500),
    algorithm=st.sampled_from([n for n, a in TABLE["allreduce"].items() if not a.needs]),
)
@settings(max_examples=60)
def test_units_do_not_matter(
    size: float, rate: float, seconds: float, ranks: int, algorithm: str
) -> None:
    same = [
        sm.allreduce(size=s, ranks=ranks, bandwidth=b, latency=a, algorithm=algorithm)
        for s, b, a in (
            (f"{size} byte", f"{rate} byte/s/dir", f"{seconds} s"),
            (Q_(size / 2**20, "MiB"), Q_(rate * 8 / 1e9, "Gbit/s/dir"), Q_(seconds * 1e6, "us")),
            (Q_(size * 8, "bit"), Q_(rate * 2 / 1e9, "GB/s/bidir"), Q_(seconds * 1e9, "ns")),
        )
    ]
    for other in same[1:]:
        assert other.time.m_as("s") == pytest.approx(same[0].time.m_as("s"), rel=1e-12)


def test_quantities_of_another_registry_are_adopted() -> None:
    foreign = pint.UnitRegistry()
    ring = sm.allreduce(size=foreign.Quantity(2, "gibibyte"), ranks=72, bandwidth="7.2 Tbit/s/dir")
    assert ring.time.m_as("ms") == pytest.approx(4.70591, rel=5e-6)


def test_other_names_of_algorithms() -> None:
    for alias, name in ALIASES.items():
        if name in TABLE["allreduce"] and TABLE["allreduce"][name].needs != "torus":
            cost = sm.allreduce(size=V, ranks=8, bandwidth=NVLINK, algorithm=alias)
            assert cost.algorithm == name
    cost = sm.allreduce(size=V, ranks=8, bandwidth=NVLINK, algorithm="Recursive_Doubling")
    assert cost.algorithm == "recursive-doubling"


def test_a_range_travels_through() -> None:
    span = sm.allreduce(
        size=Range("1 GB", "2 GB"), ranks=72, bandwidth=Range("80 GB/s/dir", "100 GB/s/dir")
    ).time
    assert span.low.m_as("ms") == pytest.approx(2 * 71 / 72 * 1e9 / 100e9 * 1e3)
    assert span.high.m_as("ms") == pytest.approx(2 * 71 / 72 * 2e9 / 80e9 * 1e3)
    placed = sm.allreduce(size=Range("1 GB", "2 GB"), placement=NINE, schedule="rails").time
    assert placed.low < placed.high


@pytest.mark.parametrize(
    ("operation", "algorithm"),
    [
        ("allreduce", "rabenseifner"),
        ("allreduce", "double-binary-tree"),
        ("allreduce", "nvls"),
        ("all_to_all", "radix-bruck"),
        ("reduce_scatter", "recursive-halving"),
    ],
)
def test_arrays_answer_as_single_calls(operation: str, algorithm: str) -> None:
    function = getattr(sm, operation)
    sizes = Q_([1.0, 64.0, 4096.0], "MiB")
    given_ = {"ranks": 24, "bandwidth": NVLINK, "latency": "2 us", "algorithm": algorithm}
    grid = function(size=sizes, **given_)
    for place, size in enumerate(sizes):
        one = function(size=size, **given_)
        assert grid.values[place] == pytest.approx(one.time.m_as("s"), rel=1e-12)


@pytest.mark.parametrize("name", [n for n in TABLE if n != "barrier"])
def test_model_evaluates_to_the_scalar_answer(name: str) -> None:
    function = getattr(sm, name)
    values = {
        "size": 1e8,
        "ranks": 24.0,
        "bandwidth": 1e11,
        "latency": 2e-6,
        "largest_send": 1e8,
        "largest_receive": 9e7,
        "sum_of_steps": 1.2e8,
    }
    for algorithm, record in function.algorithms.items():
        if record.needs in ("torus", "levels"):
            continue
        known = {p.name for p in function.model.parameters}
        given_ = {k: v for k, v in values.items() if k in known} | {"algorithm": algorithm}
        results = function.model.evaluate(given_)
        direct = record.kernel.function(
            *record.pick(
                {"reduction_rate": math.inf, "levels": 1.0, "switch_latency": 0.0}
                | {"bruck_radix": 4.0}
                | values
            )
        )
        assert results["time"] == pytest.approx(sum(direct), rel=1e-15)
        if name != "all_to_all_v":
            assert results["algorithm_bandwidth"] == pytest.approx(1e8 / results["time"])


def test_levels_of_a_hierarchy() -> None:
    two = sm.allreduce(
        size=V, hierarchy=[(8, NVLINK), (9, "100 GB/s/dir")], algorithm="hierarchical"
    )
    assert two.time.m_as("ms") == pytest.approx(8.94785, rel=5e-6)
    overlapped = sm.allreduce(
        size=V, hierarchy=[(8, NVLINK), (9, "100 GB/s/dir")], algorithm="best"
    )
    assert overlapped.algorithm == "hierarchical-overlapped"
    assert overlapped.time.m_as("ms") == pytest.approx(4.77219, rel=5e-6)
    three = sm.allreduce(
        size=V, hierarchy=[(8, NVLINK, "1 us"), (9, "100 GB/s/dir"), (4, "50 GB/s/dir", "5 us")]
    )
    assert three.ranks == 288
    assert three.steps == 2 * (7 + 8 + 3)
    assert three.latency_term.m_as("us") == pytest.approx(2 * (7 * 1 + 3 * 5))
    share = 7 / 8 / 900 + 8 / 72 / 100 + 3 / 288 / 50
    assert three.bandwidth_term.m_as("ms") == pytest.approx(2 * share * 2.147483648 * 1e3)
    bound = sm.allreduce(size=V, hierarchy=[(8, NVLINK), (9, "100 GB/s/dir")], estimator="bound")
    assert bound.time <= overlapped.time
    for wrong in ("8x9", [(8, NVLINK)], [(8, NVLINK), 9]):
        with pytest.raises(sm.ArgumentError, match="hierarchy"):
            sm.allreduce(size=V, hierarchy=wrong)


def test_bounds_name_what_binds() -> None:
    small = sm.allreduce(
        size="8 byte", ranks=72, bandwidth=NVLINK, latency="2 us", estimator="bound"
    )
    assert small.time.m_as("us") == pytest.approx(14)
    assert small.bottleneck == "latency of messages"
    large = sm.allreduce(size=V, ranks=72, bandwidth=NVLINK, latency="2 us", estimator="bound")
    assert large.time.m_as("ms") == pytest.approx(4.70591, rel=5e-6)
    helped = sm.allreduce(
        size=V, ranks=72, bandwidth=NVLINK, estimator="bound", in_network="multicast"
    )
    assert helped.time.m_as("ms") == pytest.approx(2.38609, rel=5e-6)
    assert helped.estimator == "bound"
    assert math.isnan(helped.steps)


@pytest.mark.parametrize(("name", "size"), [("recursive-doubling", 1e6), ("rabenseifner", 1e9)])
def test_every_range_of_ranks_is_told_where_the_order_flips_back(name: str, size: float) -> None:
    """Each count is priced on its own; folding to a power of two makes the order flip."""
    common = {"size": f"{size} byte", "bandwidth": NVLINK, "latency": "1 us"}
    found = sm.crossover(name, "ring", **common)
    ranges = found.rank_ranges
    assert found.ranks == ranges[1][0] == 3
    assert [low for low, _, _ in ranges[1:]] == [high + 1 for _, high, _ in ranges[:-1]]
    assert ranges[-1][1:] == (None, name)
    for ranks in range(2, ranges[-1][0] + 300):
        told = next(
            w for low, high, w in ranges if low <= ranks and (high is None or ranks <= high)
        )
        one, two = (
            sm.allreduce(ranks=ranks, algorithm=a, **common).si("time") for a in (name, "ring")
        )
        if told == "tie":
            assert one == pytest.approx(two, rel=1e-9)
        else:
            assert (one < two) == (told == name), ranks
    assert any("flips back" in caution for caution in found.cautions)
    assert f"from {ranges[-1][0]} ranks on {name} is faster" in str(found)


def test_one_change_of_order_carries_no_caution() -> None:
    found = sm.crossover("ring", "nvls", size="2 GiB", bandwidth=NVLINK)
    assert [who for _, _, who in found.rank_ranges] == ["ring", "tie", "nvls"]
    assert not found.cautions
