"""Reed-Solomon codes and error rates."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb
from typing import Any

import pytest

from scalemath.core.errors import ConventionError, RangeError, ScalemathError
from scalemath.hardware.fec import ErrorRate, ReedSolomon
from scalemath.kernels import fec as kernels


def test_kp4() -> None:
    code = ReedSolomon()
    assert code.corrected_symbols == 15
    assert code.rate == pytest.approx(0.944853, rel=1e-6)
    assert 100 * code.overhead == pytest.approx(5.83658, rel=1e-6)
    assert code.block_bits == 5440
    for line, nanoseconds in ((106.25, 51.2), (212.5, 25.6), (850, 6.4)):
        found = code.block_latency(f"{line} Gb/s/dir").m_as("ns")
        assert found == pytest.approx(nanoseconds)
    assert code.net_rate("106.25 Gb/s").m_as("Gbit/s/dir") == pytest.approx(100)
    assert code.line_rate("100 Gb/s").m_as("Gbit/s/dir") == pytest.approx(106.25)
    assert str(code) == "RS(544,514)"


def test_another_code() -> None:
    """RS(528,514), the "KR4" code: 7 symbols, 25.78125 Gbit/s lanes carry 25."""
    code = ReedSolomon(codeword=528, message=514)
    assert code.corrected_symbols == 7
    assert code.net_rate("25.78125 Gb/s").m_as("Gbit/s/dir") == pytest.approx(25)


@pytest.mark.parametrize(
    ("rate", "per_second", "minutes"),
    [(1e-15, 8e-4, 20.8333), (1e-12, 0.8, 1 / 48), (1e-13, 0.08, 1 / 4.8)],
)
def test_errors_per_second_at_800g(rate: float, per_second: float, minutes: float) -> None:
    found = ErrorRate(value=rate, fec="post-FEC")
    assert found.per_second("800 Gb/s").m_as("1/s") == pytest.approx(per_second)
    pause = found.mean_time_between_errors("800 Gb/s").m_as("min")
    assert pause == pytest.approx(minutes, rel=1e-5)


def test_sides_of_the_correction_do_not_mix() -> None:
    after, before = ErrorRate(value=1e-15, fec="post-FEC"), ErrorRate(value=1e-12, fec="pre-FEC")
    with pytest.raises(ConventionError, match="before and after"):
        before.ratio(after)
    assert before.ratio(ErrorRate(value=1e-13, fec="pre-FEC")) == pytest.approx(10)
    with pytest.raises(ConventionError, match="pre-FEC"):
        ReedSolomon().after(after)
    assert "post-FEC" in str(after)


@pytest.mark.parametrize("rate", [1e-3, 2.4e-4, 1e-4, 1e-6])
def test_failed_blocks_against_exact_arithmetic(rate: float) -> None:
    with localcontext() as context:
        context.prec = 60
        wrong = 1 - (1 - Decimal(rate)) ** 10
        exact = sum(comb(544, i) * wrong**i * (1 - wrong) ** (544 - i) for i in range(16, 60))
    found = ReedSolomon().block_failure_rate(ErrorRate(value=rate, fec="pre-FEC"))
    assert found == pytest.approx(float(exact), rel=1e-9)


def test_small_code_against_exact_arithmetic() -> None:
    wrong = Fraction(1, 10)
    exact = sum(comb(15, i) * wrong**i * (1 - wrong) ** (15 - i) for i in range(3, 16))
    bit = 1 - (1 - 0.1) ** (1 / 4)
    assert kernels.block_failure_rate(bit, 15.0, 11.0, 4.0) == pytest.approx(float(exact))
    assert kernels.block_failure_rate(0.0, 15.0, 11.0, 4.0) == 0
    assert kernels.block_failure_rate(1.0, 15.0, 11.0, 4.0) == 1


def test_correction_helps_where_it_should() -> None:
    code = ReedSolomon()
    before = ErrorRate(value=1e-4, fec="pre-FEC")
    after = code.after(before)
    assert after.fec == "post-FEC"
    assert after.value < 1e-15
    silent = ErrorRate(value=0, fec="post-FEC")
    assert silent.mean_time_between_errors("1 Gb/s").m_as("s") == float("inf")


REFUSED: list[dict[str, Any]] = [
    {"message": 544},
    {"codeword": 2000},
    {"codeword": 1},
    {"symbol_bits": 17},
]


@pytest.mark.parametrize("given", REFUSED, ids=range(len(REFUSED)))
def test_codes_refused(given: dict[str, Any]) -> None:
    with pytest.raises(RangeError):
        ReedSolomon(**given)


def test_rates_refused() -> None:
    with pytest.raises(ScalemathError, match="value"):
        ErrorRate(value=2, fec="pre-FEC")
    with pytest.raises(ScalemathError, match="pre-FEC"):
        ErrorRate(value=1e-9, fec="raw")
