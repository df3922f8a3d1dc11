"""From quantities to SI floats: exact where possible, fifteen digits elsewhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, RangeError, UnitsError
from scalemath.units import Q_, display, quantity, to_si


@pytest.mark.parametrize(
    ("given", "unit", "value"),
    [
        ("1 PiB", "byte", 1125899906842624.0),
        ("16 EiB", "byte", 2.0**64),
        ("0.5 us", "s", 5e-7),
        ("500 ns", "s", 5e-7),
        ("0.3 us", "s", 3e-7),
        ("800 Gb/s", "byte/s", 1e11),
        ("1.8 TB/s/bidir", "byte/s/dir", 9e11),
        ("900 GB/s/dir", "byte/s/dir", 9e11),
        ("900 GB/s", "byte/s/dir", 9e11),
        ("15 pJ/bit", "J/bit", 15e-12),
        ("2.25 PFLOP/s", "flop/s", 2.25e15),
        ("60 %", "1", 0.6),
        (0.6, "1", 0.6),
    ],
)
def test_value(given: object, unit: str, value: float) -> None:
    assert to_si(given, unit) == value


@given(st.integers(1, 10**15))
def test_integers_convert_as_exact_fractions(count: int) -> None:
    assert to_si(Q_(count, "Gbit"), "byte") == float(Fraction(count) * 125_000_000)


@given(st.integers(1, 10**6))
def test_any_spelling_gives_the_same_float(count: int) -> None:
    spellings = [
        Q_(count * 8, "Gb/s"),
        Q_(count, "GB/s"),
        Q_(count / 1000, "TB/s"),
        Q_(float(count * 1000), "MB/s"),
        f"{count} GB/s/dir",
        Q_(2 * count, "GB/s/bidir"),
    ]
    assert len({to_si(s, "byte/s/dir") for s in spellings}) == 1


def test_arrays_convert_as_their_elements() -> None:
    values = [0.1, 0.3, 7.0, 123.456]
    array = to_si(Q_(np.array(values), "us"), "s")
    assert list(array) == [to_si(Q_(v, "us"), "s") for v in values]
    assert list(to_si([Q_("1 us"), "2 us"], "s")) == [1e-6, 2e-6]


@pytest.mark.parametrize(
    ("given", "unit", "said"),
    [
        (5, "byte", "2 GiB"),
        (np.array([1.0, 2.0]), "byte", "without a unit"),
        ("5 s", "byte", "wanted byte"),
        ("900 GB/s/dir", "byte/s", "direction"),
        ("", "byte", "cannot be read"),
        ("fast", "byte/s", "fast"),
        ("1 GB/s", "1", "plain number"),
        (None, "byte", "no quantity"),
    ],
)
def test_refused_with_a_sentence(given: object, unit: str, said: str) -> None:
    with pytest.raises(UnitsError, match=said) as caught:
        to_si(given, unit, name="thing")
    assert str(caught.value).startswith("thing ")


@pytest.mark.parametrize("given", [["1 GB", ["2 GB", "3 GB"]], [["1 GB"], ["2 GB", "3 GB"]]])
def test_a_ragged_list_is_refused(given: object) -> None:
    with pytest.raises(ArgumentError, match="thing is ragged"):
        to_si(given, "byte", name="thing")


def test_too_large_for_a_float() -> None:
    with pytest.raises(RangeError, match="too large"):
        to_si(Q_(10**400, "GB"), "byte")


def test_a_datum_converts() -> None:
    datum = Datum(value=1.8, unit="TB/s/bidir", source="data sheet", date="2024-03")
    assert to_si(datum, "byte/s/dir") == 9e11
    assert datum.direction == "both directions"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0047059055, "s", "4.70591 ms"),
        (9e11, "byte/s", "900 GB/s"),
        (9e11, "byte/s/dir", "900 GB/s/dir"),
        (0.0, "s", "0 s"),
        (12.0, "W", "12 W"),
        (15e-12, "J/bit", "15 pJ/bit"),
        (2147483648.0, "byte", "2.14748 GB"),
        (float("inf"), "s", "inf s"),
        (72.0, "1", "72"),
        (0.34813, "1", "0.34813"),
        (86400.0 * 5.78704, "s", "5.78704 day"),
        (999999.9e3, "byte", "1 GB"),
    ],
)
def test_display(value: float, unit: str, text: str) -> None:
    assert display(value, unit) == text


def test_quantity_of_si() -> None:
    assert quantity(0.5, "1").magnitude == 0.5
    assert quantity(1e-6, "s") == Q_("1 us")
