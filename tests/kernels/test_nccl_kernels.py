"""Kernels of NCCL's estimate at their edges."""

from __future__ import annotations

import math

import pytest

from scalemath.core.kernel import total
from scalemath.kernels.nccl import (
    nccl_collnet_direct_bandwidth,
    nccl_nvls_bandwidth,
    nccl_soft_minimum,
    nccl_symmetric_time,
    nccl_time,
)


def test_no_bandwidth_takes_forever() -> None:
    assert total(nccl_time(1.0, 1e-6, 0.0, 1.0, 1.0, 1.0)) == math.inf
    assert nccl_symmetric_time(1e-6, 1.0, 0.0, 1e-6) == math.inf


def test_multicast_needs_two_channels() -> None:
    assert nccl_nvls_bandwidth(1.0, 40e9, 60e9, 0.85, 2.0, math.inf) == 0.0
    assert nccl_nvls_bandwidth(2.0, 40e9, 60e9, 1.0, 1.0, math.inf) == 2 * 20e9


def test_collnet_direct_with_a_channel_per_rank_keeps_the_bus() -> None:
    assert nccl_collnet_direct_bandwidth(8.0, 48e9, 8.0) == 8 * 48e9
    # half as many heads as ranks: (2 + 1)/2 passes
    assert nccl_collnet_direct_bandwidth(4.0, 48e9, 8.0) == pytest.approx(4 * 48e9 / 1.5)


@pytest.mark.parametrize("knee", [0.5, 1.0, 20.0])
@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0, 10.0, 59.0, 61.0, 500.0])
def test_soft_minimum_is_its_definition(rate: float, knee: float) -> None:
    peak = 60.0
    wanted = peak - knee * math.log(1 + (math.exp(peak / knee) - 1) * math.exp(-rate / knee))
    assert nccl_soft_minimum(rate, peak, knee) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert nccl_soft_minimum(rate, peak, knee) <= min(rate, peak) + 1e-9


def test_soft_minimum_and_soft_plus_do_not_overflow() -> None:
    assert nccl_soft_minimum(1e6, 1e5, 1.0) == pytest.approx(1e5)
    assert nccl_soft_minimum(10.0, 1e5, 1.0) == pytest.approx(10.0, abs=1e-4)
    assert nccl_symmetric_time(0.0, 1e6, 1.0, 1.0) == pytest.approx(1e6 - 1)
