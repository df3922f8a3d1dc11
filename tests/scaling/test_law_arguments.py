"""Efficiencies and shares asked of the laws lie above 0 and at most 1."""

import pytest

import scalemath as sm
from scalemath.core.errors import RangeError, ScalemathError


@pytest.mark.parametrize("efficiency", [2, -0.5, 0, float("nan")])
def test_efficiencies_outside_the_range_are_refused(efficiency):
    measured = sm.karp_flatt(3, ranks=4)
    law = sm.amdahl(0.05, ranks=8)
    for ask in (measured.ranks_at_efficiency, law.ranks_at_efficiency, law.ranks_at_share):
        with pytest.raises(RangeError):
            ask(efficiency)


@pytest.mark.parametrize("efficiency", [None, True, "x", [0.5]], ids=str)
def test_efficiencies_are_plain_numbers(efficiency):
    with pytest.raises(ScalemathError, match="efficiency"):
        sm.karp_flatt(3, ranks=4).ranks_at_efficiency(efficiency)


def test_the_measured_efficiency_is_reached_at_the_measured_ranks():
    assert sm.karp_flatt(3, ranks=4).ranks_at_efficiency(0.75) == pytest.approx(4)
