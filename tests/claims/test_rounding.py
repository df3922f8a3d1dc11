"""Rounding, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemath.claims import prints_as, rounds_to
from scalemath.claims.agreeing import agreement
from scalemath.units import Q_


@pytest.mark.parametrize(
    ("value", "printed", "agrees"),
    [
        (129.6, "130", True),
        (17.28, "17", True),
        (900, "450", False),
        (0.86875, "0.87", True),
        (31.275, "31.3", True),
        (4.70591, "4.71", True),
        (2.147483648, "2", True),
        (120, "100", False),
        (1.40737e14, "1.4e14", True),
        (0.8, "0.80", True),
        (0.8049, "0.80", True),
        (0.806, "0.80", False),
        (13.392, "13.5", False),
        (1, "one", False),
    ],
)
def test_rounded_or_not(value: float, printed: str, agrees: bool) -> None:
    assert rounds_to(value, printed) is agrees


def test_halves_go_away_from_zero() -> None:
    assert prints_as(2.5, 1) == 3
    assert prints_as(-2.5, 1) == -3
    assert prints_as(0, 3) == 0


@given(st.floats(1e-12, 1e12), st.integers(1, 8))
def test_a_rounded_number_is_near_and_rounds_to_itself(value: float, digits: int) -> None:
    rounded = prints_as(value, digits)
    assert rounded == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))
    assert prints_as(rounded, digits) == pytest.approx(rounded, rel=1e-12)


@pytest.mark.parametrize(
    ("found", "printed", "verdict"),
    [
        (Q_("4.70591 ms"), "4.71 ms", "ok"),
        (Q_("129.6 TB/s"), "130 TB/s", "rounding"),
        (Q_("31.275 ms"), "0.0313 s", "ok"),
        (0.348134, "~35 %", "ok"),
        (0.348134, "35 %", "rounding"),
        (2.8064, "2.81x", "ok"),
        (71 / 72, "71/72", "ok"),
        (142, "a handful", "no"),
        (7, "a handful", "ok"),
        (Q_("0.9 W"), "<1 W", "ok"),
        (Q_("3.6 W"), "<1 W", "no"),
        (Q_("15 pJ/bit"), "15..20 pJ/bit", "ok"),
        (Q_("21 pJ/bit"), "15..20 pJ/bit", "no"),
        (Q_("1 s"), "1 W", "no"),
        (True, "yes", "ok"),
        (False, "yes", "no"),
        (float("inf"), "without end", "ok"),
        (Q_("900 GB/s/dir"), "1800 GB/s/bidir", "ok"),
    ],
)
def test_answers_against_prints(found: object, printed: str, verdict: str) -> None:
    assert agreement(found, printed)[0] == verdict
