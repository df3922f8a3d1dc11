"""Weak scaling, USL, and the questions asked backwards."""

import builtins
import math
import random

import pytest

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.value_range import Range
from scalemath.scaling import (
    amdahl,
    communication_share,
    efficiency_elsewhere,
    fit_universal_scaling,
    gain_from_faster_network,
    gustafson,
    isoefficiency,
    required_bandwidth,
    scaling_limits,
    share_from_slowdown,
    strong_scaling,
    universal_scaling,
    weak_scaling,
)

JOB = {"time_one": "62.55 ms", "size": "2 GiB"}


def test_amdahl_and_gustafson_agree_on_the_same_job():
    # serial share of the time on all ranks, from the serial share on one
    for ranks in (2, 8, 64):
        on_one = 0.05
        on_all = on_one / (on_one + (1 - on_one) / ranks)
        assert gustafson(on_all, ranks=ranks).speedup == pytest.approx(
            amdahl(on_one, ranks=ranks).speedup
        )
    assert math.isinf(amdahl(0.0, ranks=8).ceiling)
    assert math.isinf(gustafson(0.5, ranks=8).ceiling)
    assert amdahl(0.1, ranks=8).ranks_at_share() == pytest.approx(81)
    assert amdahl(0.1, ranks=8).ranks_at_efficiency(0.5) == pytest.approx(11)
    with pytest.raises(RangeError):
        amdahl(1.2, ranks=2)


def test_bandwidth_that_keeps_an_efficiency():
    needed = required_bandwidth(efficiency=0.6, ranks=64, **JOB)
    assert strong_scaling(ranks=64, bandwidth=needed, **JOB).scaling_efficiency == pytest.approx(
        0.6
    )
    late = required_bandwidth(efficiency=0.6, ranks=64, latency="1 us", **JOB)
    result = strong_scaling(ranks=64, bandwidth=late, latency="1 us", **JOB)
    assert result.scaling_efficiency == pytest.approx(0.6)
    never = required_bandwidth(efficiency=0.6, ranks=64, latency="10 us", **JOB)
    assert math.isinf(never.magnitude)
    assert required_bandwidth(efficiency=0.6, ranks=1, **JOB).magnitude == 0


def test_share_that_a_gain_implies():
    assert 100 * communication_share(1.17, reduction=2) == pytest.approx(29.0598, rel=5e-6)
    # a network nine times slower makes a job two to three times slower
    assert communication_share(1 / 2, reduction=1 / 9) == pytest.approx(0.125)
    assert communication_share(1 / 3, reduction=1 / 9) == pytest.approx(0.25)
    both = share_from_slowdown(Range(2, 3), factor=9)
    assert tuple(both) == pytest.approx((0.125, 0.25))
    # 1.2 to 1.4 times slower is 71 to 83 % of the rate
    assert [100 / x for x in (1.4, 1.2)] == pytest.approx([71.4286, 83.3333], rel=5e-6)
    assert gain_from_faster_network(0.125, reduction=1 / 9) == pytest.approx(1 / 2)
    with pytest.raises(ArgumentError):
        communication_share(1.17, reduction=1)


def test_efficiency_on_another_network():
    rates = {"bandwidth": "50 GB/s/dir", "network_bandwidth": "25 GB/s/dir"}
    flat = efficiency_elsewhere(efficiency=0.73, ranks=8, **rates)
    assert flat.scaling_efficiency == pytest.approx(0.574803, rel=5e-6)
    levels = efficiency_elsewhere(efficiency=0.73, ranks=8, nodes=2, **rates)
    assert levels.slowdown == pytest.approx(1.14286, rel=5e-6)
    assert levels.scaling_efficiency == pytest.approx(0.702889, rel=5e-6)
    assert "two-level" in levels.explain()
    with pytest.raises(ArgumentError):
        efficiency_elsewhere(efficiency=0.73, ranks=8, nodes=3, **rates)


@pytest.mark.parametrize(
    ("rate", "efficiency", "worth"),
    [
        (25, 0.574803, 4.59843),
        (12.5, 0.403315, 3.22652),
        (10, 0.350962, 2.80769),
        (3.125, 0.144554, 1.15644),
    ],
)
def test_interconnect_cliff(rate, efficiency, worth):
    result = efficiency_elsewhere(
        efficiency=0.73,
        ranks=8,
        bandwidth="50 GB/s/dir",
        network_bandwidth=f"{rate} GB/s/dir",
    )
    assert result.scaling_efficiency == pytest.approx(efficiency, rel=5e-6)
    assert result.speedup == pytest.approx(worth, rel=5e-6)


def test_weak_scaling():
    one = weak_scaling(ranks=1, bandwidth="100 GB/s/dir", **JOB)
    assert one.scaling_efficiency == 1
    many = weak_scaling(ranks=64, bandwidth="100 GB/s/dir", **JOB)
    assert many.time.m_as("ms") == pytest.approx(62.55 + 42.2786, rel=5e-6)
    assert many.speedup == pytest.approx(64 * many.scaling_efficiency)
    hidden = weak_scaling(ranks=64, bandwidth="100 GB/s/dir", overlap=1, **JOB)
    assert hidden.time.m_as("ms") == pytest.approx(62.55)
    assert "weak scaling" in many.explain()
    with pytest.raises(ArgumentError):
        weak_scaling(ranks=4, size="1 GB", bandwidth="100 GB/s/dir")


def test_isoefficiency_is_strong_scaling_at_that_efficiency():
    work = isoefficiency(efficiency=0.6, ranks=64, size="2 GiB", bandwidth="900 GB/s/dir")
    result = strong_scaling(time_one=work, ranks=64, size="2 GiB", bandwidth="900 GB/s/dir")
    assert result.scaling_efficiency == pytest.approx(0.6)


def test_limits_are_those_of_the_step():
    limits = scaling_limits(bandwidth="900 GB/s/dir", latency="2 us", overlap=0.5, **JOB)
    result = strong_scaling(ranks=8, bandwidth="900 GB/s/dir", latency="2 us", overlap=0.5, **JOB)
    assert result.ceiling == pytest.approx(limits.ceiling)
    assert result.wall == pytest.approx(limits.wall)
    assert result.best_ranks_continuous == pytest.approx(limits.best_ranks)
    assert result.ranks_at_share == pytest.approx(limits.ranks_at_share)


@pytest.mark.parametrize(
    "algorithm", ["rabenseifner", "recursive-doubling", "binomial-tree", "all_to_all/pairwise"]
)
def test_best_ranks_of_any_collective_beats_every_other_count(algorithm):
    result = strong_scaling(
        ranks=8, bandwidth="900 GB/s/dir", latency="2 us", algorithm=algorithm, **JOB
    )
    least = result.time_at(result.best_ranks)
    assert all(result.time_at(float(n)) >= least for n in range(1, 20_000))
    assert result.communication_at(result.wall) >= result.outputs["work"] / result.wall


def test_universal_scaling_finds_what_made_the_data():
    rng = random.Random(3)
    for _ in range(20):
        contention, coherency = rng.uniform(0, 0.2), rng.uniform(0, 0.002)
        counts = [1, 2, 4, 8, 16, 32]
        truth = universal_scaling(contention, coherency, ranks=32)
        rates = [5 * truth.capacity_at(n) for n in counts]
        fit = fit_universal_scaling(counts, rates)
        assert fit.contention == pytest.approx(contention, abs=1e-3)
        assert fit.coherency == pytest.approx(coherency, abs=5e-5)
        assert fit.throughput_at(8) == pytest.approx(5 * truth.capacity_at(8), rel=1e-3)


@pytest.mark.parametrize("with_scipy", [True, False])
def test_universal_scaling_ignores_one_bad_measurement(monkeypatch, with_scipy):
    if not with_scipy:
        real = builtins.__import__

        def refuse(name, *args, **kwargs):
            if name.startswith("scipy"):
                raise ImportError(name)
            return real(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", refuse)
    truth = universal_scaling(0.05, 0.001, ranks=64)
    counts = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64]
    rates = [truth.capacity_at(n) for n in counts]
    rates[4] *= 0.6
    fit = fit_universal_scaling(counts, rates)
    assert fit.contention == pytest.approx(0.05, abs=0.005)
    assert fit.coherency == pytest.approx(0.001, abs=1e-4)
    assert fit.best_ranks == pytest.approx(truth.best_ranks, rel=0.05)
    assert fit.ceiling == pytest.approx(truth.ceiling, rel=0.02)


def test_universal_scaling_refuses_what_cannot_be_fitted():
    with pytest.raises(ArgumentError):
        fit_universal_scaling([1, 2], [1, 2])
    with pytest.raises(ArgumentError):
        fit_universal_scaling([1, 2, 4], [1, 2])
    with pytest.raises(ArgumentError):
        fit_universal_scaling([1, 2, 4], [1, 2, -4])
    assert universal_scaling(0.1, 0.0, ranks=4).ceiling == pytest.approx(10)
    assert math.isinf(universal_scaling(0.0, 0.0, ranks=4).ceiling)


def test_a_range_travels_through_the_steps():
    rates = Range("50 GB/s/dir", "100 GB/s/dir")
    both = strong_scaling(ranks=8, bandwidth=rates, **JOB)
    slow = strong_scaling(ranks=8, bandwidth="50 GB/s/dir", **JOB)
    fast = strong_scaling(ranks=8, bandwidth="100 GB/s/dir", **JOB)
    assert (both.low, both.high) == (fast, slow)
    with pytest.raises(ArgumentError, match="direction"):
        strong_scaling(ranks=Range(2, 8), bandwidth="50 GB/s/dir", **JOB)
