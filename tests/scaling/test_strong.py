"""Strong scaling against the worked tables of published analyses."""

import pytest

from scalemath.core.errors import ArgumentError, UnitsError
from scalemath.scaling import amdahl, karp_flatt, strong_scaling
from scalemath.workloads import gemm_flops, tensor_size

SIZE = tensor_size((8, 8192, 16384), "bf16")
WORK = gemm_flops(65536, 16384, 65536)


def run(ranks, bandwidth="900 GB/s/dir", **more):
    return strong_scaling(
        flops=WORK, peak="2.25 PFLOP/s", ranks=ranks, size=SIZE, bandwidth=bandwidth, **more
    )


@pytest.mark.parametrize(
    ("bandwidth", "ranks", "time", "speedup", "efficiency", "share"),
    [
        (900, 1, 62.55, 1, 1, 0),
        (900, 2, 33.6611, 1.85823, 0.929114, 7.08858),
        (900, 8, 11.9944, 5.21493, 0.651866, 34.8134),
        (900, 16, 8.3833, 7.46126, 0.466329, 53.3671),
        (900, 72, 5.57466, 11.2204, 0.155839, 84.4161),
        (100, 2, 52.7498, 1.18579, 0.592893, 40.7107),
        (100, 8, 45.3997, 1.37776, 0.17222, 82.778),
        (100, 72, 43.2219, 1.44718, 0.0200998, 97.99),
        (50, 2, 74.2247, 0.842712, 0.421356, 57.8644),
        (50, 72, 85.575, 0.730937, 0.0101519, 98.9848),
        (800, 8, 12.5164, 4.99745, 0.624682, 37.5318),
        (800, 72, 6.16289, 10.1495, 0.140965, 85.9035),
    ],
)
def test_table(bandwidth, ranks, time, speedup, efficiency, share):
    result = run(ranks, f"{bandwidth} GB/s/dir")
    assert result.time.m_as("ms") == pytest.approx(time, rel=5e-6)
    assert result.speedup == pytest.approx(speedup, rel=5e-6)
    assert result.scaling_efficiency == pytest.approx(efficiency, rel=5e-6)
    assert 100 * result.communication_share == pytest.approx(share, rel=5e-6)
    assert 1 - result.communication_share == pytest.approx(result.scaling_efficiency)


def test_step_ratios():
    times = {n: run(n).si("time") for n in (2, 8, 72)}
    assert times[2] / times[8] == pytest.approx(2.80640, rel=5e-6)
    assert times[8] / times[72] == pytest.approx(2.15160, rel=5e-6)


@pytest.mark.parametrize(
    ("bandwidth", "ceilings"),
    [
        (900, (13.1072, 7.0536, 2.5134)),
        (800, (11.6508, 6.32542, 2.33136)),
        (100, (1.45636, 1.22818, 1.05704)),
        (50, (0.728178, 0.864089, 0.966022)),
    ],
)
def test_ceiling_against_any_baseline(bandwidth, ceilings):
    for baseline, ceiling in zip((1, 2, 8), ceilings, strict=True):
        result = run(64, f"{bandwidth} GB/s/dir", baseline=baseline)
        assert result.ceiling == pytest.approx(ceiling, rel=5e-6)


def test_wall_and_share_of_the_ceiling():
    result = run(8)
    assert result.wall == pytest.approx(14.1072, rel=5e-6)
    assert result.ranks_at_share == pytest.approx(108.965, rel=5e-6)


@pytest.mark.parametrize(("latency", "best"), [("2 us", 120.185), ("0.2 us", 380.059)])
def test_best_ranks_with_latency(latency, best):
    result = run(8, latency=latency)
    assert result.best_ranks_continuous == pytest.approx(best, rel=5e-6)
    assert result.best_ranks == round(best)
    assert not result.slows_down


def test_more_ranks_that_slow_down_are_said():
    result = run(2, "50 GB/s/dir")
    assert result.speedup == pytest.approx(0.842712, rel=5e-6)
    assert result.slows_down
    assert "slower" in str(result)
    assert any("slows down" in text for text in result.cautions)
    late = run(4000, latency="2 us")
    assert any("best number" in text for text in late.cautions)


def test_full_overlap_leaves_the_longer_part():
    result = run(72, overlap=1)
    assert result.time.m_as("ms") == pytest.approx(4.70591, rel=5e-6)
    assert run(1, "1 GB/s/dir", overlap=1).time.m_as("ms") == pytest.approx(62.55, rel=1e-4)


def test_other_products():
    # attention output projection instead of the up-projection: the share is not 34.8 %
    product = gemm_flops(65536, 16384, 16384)
    assert product.m_as("flop") == pytest.approx(3.51844e13, rel=5e-6)
    result = strong_scaling(
        flops=product, peak="2.25 PFLOP/s", ranks=8, size=SIZE, bandwidth="900 GB/s/dir"
    )
    assert 100 * result.communication_share == pytest.approx(68.1146, rel=5e-6)


def test_serial_fraction_of_the_ring():
    serial = 2 * SIZE.m_as("byte") / (900e9 * run(1).si("time"))
    assert serial == pytest.approx(0.0762939, rel=5e-6)
    assert amdahl(serial, ranks=8).speedup == pytest.approx(run(8).speedup, rel=1e-12)
    assert amdahl(serial, ranks=8).ceiling == pytest.approx(13.1072, rel=5e-6)
    assert karp_flatt(run(8).speedup, ranks=8).serial_fraction == pytest.approx(serial)


def test_work_as_a_time_is_the_same():
    by_time = strong_scaling(time_one="62.55 ms", ranks=8, size=SIZE, bandwidth="900 GB/s/dir")
    assert by_time.time.m_as("ms") == pytest.approx(run(8).time.m_as("ms"), rel=1e-5)
    half = run(8, utilisation=0.5)
    assert half.computation.m_as("ms") == pytest.approx(2 * 7.81875, rel=1e-5)


def test_refusals():
    with pytest.raises(ArgumentError, match="peak"):
        strong_scaling(flops=WORK, ranks=2, size=SIZE, bandwidth="900 GB/s")
    with pytest.raises(ArgumentError, match="time_one"):
        strong_scaling(ranks=2, size=SIZE, bandwidth="900 GB/s")
    with pytest.raises(UnitsError, match="bandwidth"):
        run(2, 900)


def test_explanation_names_terms_and_assumptions():
    text = run(8).explain()
    assert "compute term" in text
    assert "assumed: latency taken as 0" in text
    assert "Patarasu" in text
    data = run(8).to_dict()
    assert data["values"]["time"]["unit"] == "s"


@pytest.mark.parametrize(
    ("efficiency", "serial", "ceiling", "threshold"),
    [(0.73, 0.0528376, 18.9259, 13.6173), (0.65, 0.0769231, 13.0, 9.66667)],
)
def test_karp_flatt(efficiency, serial, ceiling, threshold):
    result = karp_flatt(efficiency=efficiency, ranks=8)
    assert result.serial_fraction == pytest.approx(serial, rel=5e-6)
    assert result.ceiling == pytest.approx(ceiling, rel=5e-6)
    assert result.ranks_at_efficiency(0.6) == pytest.approx(threshold, rel=5e-6)


def test_karp_flatt_above_one_is_a_slow_down():
    result = karp_flatt(0.8, ranks=2)
    assert result.serial_fraction == pytest.approx(1.5)
    assert result.slows_down
    assert "slows down" in str(result)
    with pytest.raises(ArgumentError):
        karp_flatt(ranks=2)


DOMAINS = {
    "domain": 8,
    "domain_bandwidth": "900 GB/s/dir",
    "bandwidth": "100 GB/s/dir",
    "size": SIZE,
    "time_one": "62.55 ms",
}


@pytest.mark.parametrize(
    ("algorithm", "communication"),
    [("flat", 42.3531), ("rails", 5.29414), ("two-level-overlapped", 4.772), ("two-level", 8.948)],
)
def test_nine_servers_of_eight(algorithm, communication):
    result = strong_scaling(ranks=72, algorithm=algorithm, **DOMAINS)
    assert result.communication.m_as("ms") == pytest.approx(communication, rel=1e-4)
    assert result.time.m_as("ms") == pytest.approx(communication + 62.55 / 72, rel=1e-4)
    assert result.time_at(72.0) == result.si("time")


def test_inside_one_domain_the_schedules_are_the_ring():
    inside = strong_scaling(ranks=8, algorithm="two-level", **DOMAINS)
    assert inside.communication.m_as("ms") == pytest.approx(4.17566, rel=5e-6)
    assert inside.best_ranks > 8
    assert inside.wall > 8


def test_domains_must_be_stated_and_filled():
    with pytest.raises(ArgumentError, match="domain_bandwidth"):
        strong_scaling(
            ranks=72, algorithm="rails", size=SIZE, time_one="1 s", bandwidth="100 GB/s/dir"
        )
    with pytest.raises(ArgumentError, match="fill"):
        strong_scaling(ranks=70, algorithm="rails", **DOMAINS)
