"""Calibration on times made from known constants, and the estimator it serves."""

import numpy as np
import pytest
from helpers.reader_fixtures import collective

import scalemath as sm
from scalemath.diagnosis.fit import fit_of, predicted

SIZES = 2.0 ** np.arange(10, 32)


def times(start=20e-6, rate=100e9):
    return start + SIZES / rate


def table(**given):
    return {"operation": "allreduce", "ranks": 8, "sizes": sm.Q_(SIZES, "byte"),
            "times": sm.Q_(times(), "s"), **given}  # fmt: skip


def test_known_constants_come_back():
    found = sm.calibrate(collective(8))
    (fit,) = found.fits
    assert (fit.operation, fit.ranks, fit.nodes) == ("allreduce", 8, 1)
    assert fit.si("latency") == pytest.approx(20e-6, rel=0.01)
    assert fit.si("bus_bandwidth") == pytest.approx(175e9, rel=0.01)
    assert fit.si("error_left_out") < 0.01
    low, high = fit.intervals["latency"]
    assert low <= fit.si("latency") <= high
    assert high / low < 1.1


def test_one_line_for_alpha_beta():
    found = sm.calibrate(table(), model="alpha-beta")
    assert len(found.fits[0].envelope.lines) == 1
    assert found.fits[0].breakpoints == ()
    with pytest.raises(sm.ScalemathError, match="wanted one of"):
        sm.calibrate(table(), model="magic")


def test_breakpoints_of_protocols():
    both = np.minimum(8e-6 + SIZES / 10e9, 20e-6 + SIZES / 200e9)
    (fit,) = sm.calibrate(table(times=sm.Q_(both, "s"))).fits
    crossing = 12e-6 / (1 / 10e9 - 1 / 200e9)
    assert min(abs(size / crossing - 1) for size in fit.breakpoints) < 0.1


def test_an_outlier_pulls_little():
    wild = times().copy()
    wild[5] *= 10
    (fit,) = sm.calibrate(table(times=sm.Q_(wild, "s")), model="alpha-beta").fits
    assert fit.si("latency") == pytest.approx(20e-6, rel=0.05)
    assert fit.si("bus_bandwidth") == pytest.approx(175e9, rel=0.05)


def test_predictions_say_what_they_rest_on():
    found = sm.calibrate(table(), name="my log")
    cost = found.time("allreduce", "1 MiB")
    assert cost.estimator == "calibrated"
    assert any("calibrated from my log" in text for text in cost.assumptions)
    assert cost.si("low") < cost.si("time") < cost.si("high")
    assert sum(cost.split) == pytest.approx(cost.si("time"))
    assert "my log" in cost.explain()
    beyond = found.time("allreduce", "100 GiB")
    assert any("outside" in text for text in beyond.cautions)
    assert beyond.si("time") == pytest.approx(100 * 2**30 / 100e9, rel=0.02)


def test_estimator_inside_a_block():
    found = sm.calibrate(table(), name="my log")
    given = {"size": "64 MiB", "ranks": 8, "bandwidth": "300 GB/s/dir", "estimator": "calibrated"}
    with pytest.raises(sm.ScalemathError, match=r"with calibrate\(log\)"):
        sm.allreduce(**given)
    with found as same:
        assert same is found
        cost = sm.allreduce(**given)
    assert cost.si("time") == pytest.approx(20e-6 + 2**26 / 100e9, rel=0.01)
    assert cost.si("time") == found.time("allreduce", "64 MiB").si("time")
    with pytest.raises(sm.ScalemathError):
        sm.allreduce(**given)


def test_time_below_a_bound_is_reported_not_clamped():
    found = sm.calibrate(table())
    with found:
        cost = sm.allreduce(size="1 GiB", ranks=8, bandwidth="50 GB/s/dir", estimator="calibrated")
    assert cost.si("bus_bandwidth") > 50e9
    assert any("below the bound" in text for text in cost.cautions)


def test_other_collectives_and_ranks_are_carried_over():
    found = sm.calibrate(table())
    gather = found.time("all_gather", "1 GiB", ranks=8)
    whole = found.time("allreduce", "1 GiB")
    assert gather.si("bus_bandwidth") == pytest.approx(whole.si("bus_bandwidth"), rel=0.02)
    assert any("carried over" in text for text in gather.cautions)
    wide = found.time("allreduce", "1 GiB", ranks=16)
    assert wide.si("bus_bandwidth") == pytest.approx(whole.si("bus_bandwidth"), rel=0.02)
    small = found.time("allreduce", "1 KiB", ranks=16).si("time")
    assert small > found.time("allreduce", "1 KiB").si("time")


def test_several_logs():
    text = collective(8) + collective(4)
    found = sm.calibrate([sm.read(text), table(ranks=2)])
    assert [fit.ranks for fit in found] == [2, 4, 8]
    with pytest.raises(sm.ScalemathError, match="ranks is missing"):
        found.time("allreduce", "1 MiB")
    assert len(found.parameters()) == 3
    assert len(found.table()) == sum(fit.sizes.size for fit in found)
    assert "mean error" in str(found)


def test_what_cannot_be_fitted():
    with pytest.raises(sm.ScalemathError, match="no rows"):
        sm.calibrate(sm.read(collective().split("#  size")[0]))
    with pytest.raises(sm.ScalemathError, match="needs ranks"):
        sm.calibrate({k: v for k, v in table().items() if k != "ranks"})
    with pytest.raises(sm.ScalemathError, match="takes logs"):
        sm.calibrate(3)
    with pytest.raises(sm.ScalemathError, match="give one each"):
        sm.calibrate(table(times=sm.Q_(times()[:3], "s")))
    with pytest.raises(sm.ScalemathError, match="with a Cluster"):
        _ = sm.calibrate(table()).cluster


def test_cluster_with_what_was_reached():
    node = sm.catalog.node("dgx-a100")
    cluster = sm.Cluster(nodes=4, node=node, name="ours")
    found = sm.calibrate(table(), cluster=cluster, name="my log").cluster
    assert "calibrated from my log" in str(found)
    place = found.placement(nodes=1)
    cost = sm.allreduce(size="8 GiB", placement=place)
    assert cost.si("bus_bandwidth") == pytest.approx(175e9, rel=0.01)
    assert found.placement(nodes=1, domain_efficiency=1.0).domain_efficiency == 1.0
    timed = found.time("allreduce", "8 GiB")
    assert any("calibrated from my log" in text for text in timed.assumptions)


def test_left_out_sizes_never_inform_their_prediction():
    changed = times().copy()
    changed[1::2] *= 3
    kept = np.arange(SIZES.size) % 2 == 0
    one = predicted(SIZES[kept], times()[kept], SIZES[~kept])
    other = predicted(SIZES[kept], changed[kept], SIZES[~kept])
    assert np.array_equal(one, other)
    assert fit_of("allreduce", 8, 1, SIZES, changed).errors.size == SIZES.size


def test_plot():
    pytest.importorskip("matplotlib").use("Agg")
    axes = sm.calibrate(table()).plot()
    assert axes.get_xscale() == "log"
