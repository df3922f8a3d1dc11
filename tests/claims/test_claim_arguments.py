"""What a claim is not: figures that contradict each other, and calls that do not fit."""

import math

import pytest

import scalemath as sm
from scalemath.core.errors import (
    ArgumentError,
    ContradictionError,
    ConventionError,
    RangeError,
    ScalemathError,
)


def test_the_exact_figure_rounds_to_the_printed_one():
    with pytest.raises(ContradictionError, match=r"2 TB/s.*7\.2 TB/s"):
        sm.check_claim(sm.Claim("7.2 TB/s", exact="2 TB/s"), "0.4 TB/s", ratio=18)
    for printed, exact in (
        ("130 TB/s", "129.6 TB/s"),
        ("130 TB/s", "129600 GB/s/bidir"),
        ("900 GB/s/dir", "1.8 TB/s/bidir"),
        ("~17 W", "17.28 W"),
    ):
        assert sm.Claim(printed, exact=exact).printed == printed


def test_figures_of_another_dimension_are_refused_when_the_claim_is_made():
    with pytest.raises(ContradictionError, match="3 s"):
        sm.Claim("2 W", exact="3 s")
    with pytest.raises(ConventionError, match="3 W"):
        sm.Claim("3 s", carries="3 W")


@pytest.mark.parametrize("ratio", ["x", True, "9 to 10", [1, 2], {}, math.nan, 0, -2, math.inf])
def test_a_ratio_is_one_number_above_zero(ratio):
    with pytest.raises(ScalemathError, match="wanted one number above zero"):
        sm.check_claim("900 GB/s", "50 GB/s", ratio=ratio)


def test_nothing_is_a_multiple_of_zero():
    with pytest.raises(RangeError, match="zero"):
        sm.check_claim("900 GB/s", "0 Gb/s", ratio=1)
    assert sm.check_claim("0 GB/s", "900 GB/s").ratio == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"direction": "up"},
        {"direction": [1]},
        {"latency_kind": "slow"},
        {"sparsity": "some"},
        {"fec": "mid"},
        {"count": 0},
        {"count": None},
        {"derating": "half"},
        {"derating": 2},
        {"scope": 3},
    ],
    ids=str,
)
def test_words_and_counts_are_answered_with_a_sentence(wrong):
    with pytest.raises(ScalemathError, match=next(iter(wrong))) as caught:
        sm.Claim("900 GB/s", **wrong)
    assert "Attribute(" not in str(caught.value)


@pytest.mark.parametrize("steps", [{"protocol": 0.5}, None, ("a", "s"), [("a", "s")], 0.5], ids=str)
def test_deratings_have_a_share_and_a_source(steps):
    with pytest.raises(ArgumentError, match="steps is"):
        sm.derate("900 GB/s", steps)


def test_deratings_of_unknown_stages_and_without_a_source():
    for stage, share, source in (
        ("luck", 0.5, "a page"),
        ("protocol", "half", "a page"),
        ("protocol", None, "a page"),
        ("protocol", 0.5, ""),
    ):
        with pytest.raises(ScalemathError):
            sm.derate("900 GB/s", {stage: (share, source)})


def test_misspelt_arguments_are_answered_with_the_near_ones():
    with pytest.raises(ArgumentError, match="did you mean ratio"):
        sm.check_claim("3 W", "3 W", rato=9)
    with pytest.raises(ArgumentError, match="did you mean exact"):
        sm.Claim("3 W", exat="3 W")
    for wrong in (None, ("a", "s")):
        with pytest.raises(ArgumentError):
            sm.Claim(wrong)


def test_arithmetic_of_figures():
    worked = sm.claims.worked
    assert worked("72 * 12 W").m_as("W") == 864
    assert worked("(544 - 514) / 2").m_as("") == 15
    assert worked("1 - 0.5**2").m_as("") == 0.75
    calls = "__import__('os') * 2"
    for wrong in (calls, "2 * q1 W", "9**9**9**9", "2 *", "1 / 0", "2*" * 300 + "1"):
        with pytest.raises(ScalemathError):
            worked(wrong)
