"""NCCL's estimate through the collective functions."""

from __future__ import annotations

import math

import pytest

from scalemath.collectives import all_to_all, allreduce, nccl
from scalemath.core.errors import ArgumentError


def test_the_stated_rate_names_the_machine() -> None:
    cost = allreduce(size="256 MiB", ranks=32, bandwidth="450 GB/s/dir", estimator="nccl")
    table = nccl.estimate("allreduce", "256 MiB", nccl.communicator("HGX H100", nodes=4))
    assert cost.estimator == "nccl"
    assert cost.algorithm == f"{table.selected.algorithm}/{table.selected.protocol}"
    assert cost.si("time") == table.selected.time_seconds
    assert any("4 x HGX H100" in text for text in cost.assumptions)
    assert any("does not predict" in text for text in cost.cautions)
    assert "NVLSTree" in cost.explain()
    assert math.isnan(cost.steps)
    assert cost.to_dict()["values"]["bytes_per_rank"]["unit"] == "byte"


def test_the_estimate_is_not_clamped() -> None:
    cost = allreduce(size="1 GiB", ranks=2, bandwidth="450 GB/s/dir", estimator="nccl")
    assert cost.algorithm == "NVLS/Simple"
    assert any("below its bandwidth bound" in text for text in cost.cautions)


@pytest.mark.parametrize(
    ("ranks", "bandwidth", "message"),
    [
        (8, "100 GB/s/dir", "no NVLink rate"),
        (12, "450 GB/s/dir", "whole nodes of 8"),
        (1, "450 GB/s/dir", "2 to 8 ranks"),
    ],
)
def test_what_names_no_machine_is_refused(ranks: int, bandwidth: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        allreduce(size="1 MiB", ranks=ranks, bandwidth=bandwidth, estimator="nccl")


def test_operations_without_a_model_are_refused() -> None:
    with pytest.raises(ArgumentError, match="no cost model"):
        all_to_all(size="1 MiB", ranks=8, bandwidth="450 GB/s/dir", estimator="nccl")
