"""Kernels of the scaling laws: identities between them, and worked numbers."""

import math
import random

import pytest

from scalemath.core.kernel import total
from scalemath.kernels.allreduce import allreduce_ring
from scalemath.kernels.gemm import compute_time, gemm_operations, roofline_time, tensor_bytes
from scalemath.kernels.laws import (
    amdahl_ranks_at_efficiency,
    amdahl_ranks_at_share,
    communication_share_from_gain,
    efficiency_on_network,
    gain_from_communication,
    gustafson_speedup,
    isoefficiency_work,
    usl_capacity,
    usl_peak_ranks,
)
from scalemath.kernels.ring_limits import (
    best_scaling_ranks,
    ranks_at_ceiling_share,
    ring_latency_per_rank,
    ring_time_limit,
    scaling_ceiling,
    scaling_wall,
)
from scalemath.kernels.scaling import (
    amdahl_ceiling,
    amdahl_speedup,
    karp_flatt_fraction,
    share_of,
    strong_scaling_step,
    weak_scaling_step,
)

TIME_ONE = 2 * 65536 * 16384 * 65536 / 2.25e15
SIZE = 2.0**31


def step_time(ranks, bandwidth, latency=0.0, overlap=0.0, time_one=TIME_ONE):
    ring = total(allreduce_ring(SIZE, ranks, bandwidth, latency, math.inf))
    return total(strong_scaling_step(time_one, ranks, ring, overlap))


def test_ring_without_latency_is_amdahl():
    random.seed(1)
    for _ in range(10_000):
        ranks = float(random.randint(1, 100_000))
        size = 10 ** random.uniform(0, 12)
        bandwidth = 10 ** random.uniform(6, 12)
        time_one = 10 ** random.uniform(-6, 3)
        serial = 2 * size / (bandwidth * time_one)
        ring = total(allreduce_ring(size, ranks, bandwidth, 0.0, math.inf))
        time = total(strong_scaling_step(time_one, ranks, ring, 0.0))
        assert time_one / time == pytest.approx(amdahl_speedup(serial, ranks), rel=1e-12)


def test_karp_flatt_inverts_amdahl():
    random.seed(2)
    for _ in range(1000):
        ranks = float(random.randint(2, 10_000))
        serial = random.uniform(0, 3)
        found = karp_flatt_fraction(amdahl_speedup(serial, ranks), ranks)
        assert found == pytest.approx(serial, rel=1e-9, abs=1e-12)
    assert karp_flatt_fraction(1.0, 1.0) == math.inf


@pytest.mark.parametrize(
    ("bandwidth", "ceiling", "wall", "at_share", "best"),
    [
        (900e9, 13.1072, 14.1072, 108.965, 120.185),
        (800e9, 11.6508, 12.6508, 95.8576, 119.563),
        (450e9, 6.5536, 7.5536, 49.9824, 115.115),
        (100e9, 1.45636, 2.45636, 4.1072, 70.0006),
        (50e9, 0.728178, 1.72818, math.inf, 1.0),
        (25e9, 0.364089, 1.36409, math.inf, 1.0),
    ],
)
def test_limits(bandwidth, ceiling, wall, at_share, best):
    limit = ring_time_limit(SIZE, bandwidth, math.inf)
    found = scaling_ceiling(TIME_ONE, limit)
    assert found == pytest.approx(ceiling, rel=5e-6)
    assert scaling_wall(TIME_ONE, limit, 0.0) == pytest.approx(wall, rel=5e-6)
    assert ranks_at_ceiling_share(found, 0.9) == pytest.approx(at_share, rel=5e-6)
    per_rank = ring_latency_per_rank(2e-6)
    assert best_scaling_ranks(TIME_ONE, limit, per_rank, 0.0) == pytest.approx(best, rel=5e-6)


@pytest.mark.parametrize("overlap", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("latency", [0.0, 2e-7, 5e-5])
@pytest.mark.parametrize("bandwidth", [50e9, 900e9])
def test_best_ranks_is_where_no_other_count_is_faster(bandwidth, latency, overlap):
    limit = ring_time_limit(SIZE, bandwidth, math.inf)
    best = best_scaling_ranks(TIME_ONE, limit, ring_latency_per_rank(latency), overlap)
    if math.isinf(best):
        best = 1e7
    least = step_time(best, bandwidth, latency, overlap)
    for count in [*range(1, 2000), 10_000, 100_000]:
        assert step_time(float(count), bandwidth, latency, overlap) >= least * (1 - 1e-12)


@pytest.mark.parametrize("latency", [0.0, 1e-7, 1e-4])
def test_wall_is_where_the_two_times_meet(latency):
    limit = ring_time_limit(SIZE, 900e9, 3e12)
    wall = scaling_wall(TIME_ONE, limit, ring_latency_per_rank(latency))
    ring = total(allreduce_ring(SIZE, wall, 900e9, latency, 3e12))
    assert ring == pytest.approx(TIME_ONE / wall, rel=1e-9)


def test_overlap_hides_no_more_than_there_is_computation():
    assert step_time(72.0, 900e9, overlap=1.0) == pytest.approx(4.70591e-3, rel=5e-6)
    assert step_time(2.0, 900e9, overlap=1.0) == pytest.approx(31.275e-3, rel=1e-6)


def test_free_communication_has_no_end():
    assert scaling_ceiling(1.0, 0.0) == math.inf
    assert scaling_wall(1.0, 0.0, 0.0) == math.inf
    assert best_scaling_ranks(1.0, 0.0, 0.0, 0.0) == math.inf
    assert amdahl_ceiling(0.0) == math.inf
    assert share_of(0.0, 0.0) == 0.0
    assert total(weak_scaling_step(1.0, 0.25, 0.5)) == pytest.approx(1.125)


def test_matrix_products():
    assert gemm_operations(65536, 16384, 65536, 1) == 140737488355328
    assert tensor_bytes(2.0**30, 16) == 2**31
    assert compute_time(140737488355328, 2.25e15, 0.5) == pytest.approx(2 * 62.55e-3, rel=1e-5)
    assert roofline_time(1e12, 1e9, 1e15, 1e12) == 1e-3
    assert roofline_time(1e12, 1e10, 1e15, 1e12) == 1e-2


def test_inverse_laws():
    assert amdahl_ranks_at_efficiency(karp_flatt_fraction(5.84, 8), 0.6) == pytest.approx(
        13.6173, rel=5e-6
    )
    assert amdahl_ranks_at_efficiency(karp_flatt_fraction(5.2, 8), 0.6) == pytest.approx(
        9.66667, rel=5e-6
    )
    assert communication_share_from_gain(1.17, 2.0) == pytest.approx(0.290598, rel=5e-6)
    assert communication_share_from_gain(1 / 2, 1 / 9) == pytest.approx(0.125)
    assert communication_share_from_gain(1 / 3, 1 / 9) == pytest.approx(0.25)
    assert gain_from_communication(0.290598, 2.0) == pytest.approx(1.17, rel=1e-5)
    assert communication_share_from_gain(2.0, 1.0) == math.inf
    assert efficiency_on_network(0.73, 2.0) == pytest.approx(0.574803, rel=5e-6)
    assert efficiency_on_network(0.73, 8 / 7) == pytest.approx(0.702889, rel=5e-6)
    assert amdahl_ranks_at_efficiency(0.0, 0.5) == math.inf
    assert amdahl_ranks_at_share(0.1, 0.5) == pytest.approx(9.0)
    assert amdahl_ranks_at_share(1.5, 0.5) == math.inf


def test_laws_that_grow_and_fall():
    assert gustafson_speedup(0.05, 8) == pytest.approx(7.65)
    assert usl_capacity(0.05, 0.0, 8) == amdahl_speedup(0.05, 8)
    peak = usl_peak_ranks(0.02, 1e-4)
    assert usl_capacity(0.02, 1e-4, peak) >= usl_capacity(0.02, 1e-4, peak * 1.05)
    assert usl_capacity(0.02, 1e-4, peak) >= usl_capacity(0.02, 1e-4, peak * 0.95)
    assert usl_peak_ranks(0.1, 0.0) == math.inf
    assert usl_peak_ranks(1.5, 0.1) == 1.0
    work = isoefficiency_work(0.8, 64, 1e-3)
    assert work / (work + 64 * 1e-3) == pytest.approx(0.8)
    assert isoefficiency_work(1.0, 64, 1e-3) == math.inf
