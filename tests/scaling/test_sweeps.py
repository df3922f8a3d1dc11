"""Scaling models in sweeps and array calls: the same numbers as the scalar call."""

import numpy as np
import pytest

import scalemath as sm
from scalemath.scaling import (
    amdahl,
    karp_flatt,
    required_bandwidth,
    scaling_limits,
    strong_scaling,
    weak_scaling,
)

JOB = {"time_one": "62.55 ms", "size": "2 GiB"}


def test_strong_scaling_over_a_grid():
    grid = sm.sweep(
        strong_scaling,
        ranks=[2, 8, 72],
        bandwidth=["900 GB/s/dir", "50 GB/s/dir"],
        latency=["0 s", "2 us"],
        algorithm=["ring", "rabenseifner"],
        outputs=["time", "speedup", "scaling_efficiency", "communication_share"],
        **JOB,
    )
    for i, ranks in enumerate((2, 8, 72)):
        for j, rate in enumerate(("900 GB/s/dir", "50 GB/s/dir")):
            for k, latency in enumerate(("0 s", "2 us")):
                for m, algorithm in enumerate(("ring", "rabenseifner")):
                    one = strong_scaling(
                        ranks=ranks, bandwidth=rate, latency=latency, algorithm=algorithm, **JOB
                    )
                    for name in ("time", "speedup", "scaling_efficiency", "communication_share"):
                        found = grid.outputs[name][i, j, k, m]
                        assert found == pytest.approx(one.outputs[name], rel=1e-12)


def test_array_arguments_give_a_grid():
    grid = weak_scaling(ranks=[1, 8, 64], bandwidth="100 GB/s/dir", **JOB)
    single = [weak_scaling(ranks=n, bandwidth="100 GB/s/dir", **JOB).si("time") for n in (1, 8, 64)]
    assert np.allclose(grid.outputs["time"], single, rtol=1e-12)
    speedups = amdahl([0.0, 0.1, 1.0], ranks=8).outputs["speedup"]
    assert speedups == pytest.approx([8, 8 / 1.7, 1])
    fractions = karp_flatt([5.84, 5.2], ranks=8).outputs["serial_fraction"]
    assert fractions == pytest.approx([0.0528376, 0.0769231], rel=5e-6)


def test_limits_and_bandwidth_over_a_grid():
    rates = ["900 GB/s/dir", "100 GB/s/dir"]
    grid = scaling_limits(bandwidth=rates, **JOB)
    assert grid.outputs["ceiling"] == pytest.approx([13.1072, 1.45636], rel=5e-6)
    needed = required_bandwidth(efficiency=[0.5, 0.6], ranks=64, **JOB)
    alone = [required_bandwidth(efficiency=e, ranks=64, **JOB).m_as("byte/s") for e in (0.5, 0.6)]
    assert needed.outputs["bandwidth"] == pytest.approx(alone)


def test_efficiency_table_in_one_call():
    table = sm.sweep(
        strong_scaling,
        network=sm.sweeps.zipped(
            ["NVLink 5", "XDR"],
            bandwidth=["900 GB/s/dir", "100 GB/s/dir"],
            latency=["0 s", "0 s"],
        ),
        ranks=[2, 8, 72],
        outputs="scaling_efficiency",
        **JOB,
    )
    assert table.outputs["scaling_efficiency"][0] == pytest.approx(
        [0.929114, 0.651866, 0.155839], rel=5e-6
    )
    assert table.outputs["scaling_efficiency"][1] == pytest.approx(
        [0.592893, 0.17222, 0.0200998], rel=5e-6
    )
