"""Envelopes and NCCL estimates of things that are no system, no size or no log."""

import numpy as np
import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError


def test_times_that_fall_with_size_carry_a_caution():
    falling = sm.fit_envelope(["1 kB", "2 kB", "4 kB"], ["3 us", "2 us", "1 us"])
    assert any("fall with size" in text for text in falling.cautions)
    rising = sm.fit_envelope(["1 kB", "2 kB", "4 kB"], ["1 us", "2 us", "3 us"])
    level = sm.fit_envelope(["1 kB", "2 kB", "4 kB"], ["3 us", "2.9 us", "2.95 us"])
    assert rising.cautions == level.cautions == ()


@pytest.mark.parametrize("wrong", [None, 3, ["H100"]], ids=str)
def test_systems_are_text(wrong):
    for ask in (
        lambda: sm.measured_envelope(wrong, "allreduce", ranks=8),
        lambda: sm.nccl.communicator(wrong),
        lambda: sm.nccl.estimate("allreduce", "1 MB", wrong),
    ):
        with pytest.raises(ArgumentError):
            ask()


@pytest.mark.parametrize("ranks", [None, [8], "8", True], ids=str)
def test_ranks_of_a_measured_envelope_are_a_number(ranks):
    with pytest.raises(ArgumentError, match="ranks is"):
        sm.measured_envelope("H100", "allreduce", ranks=ranks)


def test_an_estimate_wants_a_communicator_and_an_operation():
    with pytest.raises(ArgumentError, match="communicator is 'x'"):
        sm.nccl.estimate("allreduce", "1 MB", "x")
    with pytest.raises(ArgumentError, match="operation is None"):
        sm.nccl.estimate(None, "1 MB", sm.nccl.communicator("HGX H100"))


@pytest.mark.parametrize("size", [["1 kB", "1 MB"], np.array([1.0, 2.0])], ids=["list", "array"])
def test_one_size_at_a_time(size):
    envelope = sm.measured_envelope("H100", "allreduce", ranks=8)
    with pytest.raises(ArgumentError, match="wanted one size"):
        envelope.time(size)
