"""What `math` does badly: exact logarithms of counts, whole numbers of quotients."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel


@kernel(
    unit="1",
    rises="count",
    source="IEEE 754: the binary exponent is exact, a logarithm is not",
    formula="least k with 2**k >= count",
)
def ceil_log2(count: float) -> float:
    """Rounded-up binary logarithm of a count of at least one; exact for every float."""
    mantissa, exponent = math.frexp(count)
    if mantissa == 0.5:
        return float(exponent - 1)
    return float(exponent)


@kernel(
    unit="1",
    rises="count",
    source="IEEE 754: the binary exponent is exact, a logarithm is not",
    formula="largest k with 2**k <= count",
)
def floor_log2(count: float) -> float:
    """Rounded-down binary logarithm of a count of at least one; exact for every float."""
    return float(math.frexp(count)[1] - 1)


@kernel(
    unit="1",
    rises="count",
    source="IEEE 754: the binary exponent is exact",
    formula="largest power of two <= count",
)
def power_of_two_below(count: float) -> float:
    """Largest power of two that does not exceed a count of at least one."""
    return math.ldexp(1.0, math.frexp(count)[1] - 1)


@kernel(
    unit="1",
    rises="count",
    falls="radix",
    source="definition; the neighbours of the rounded logarithm are compared exactly",
    formula="least k with radix**k >= count",
)
def ceil_log(count: float, radix: float) -> float:
    """Rounded-up logarithm of a count of at least one to a whole base of at least two."""
    guess = math.floor(math.log(count) / math.log(radix) + 0.5)
    if radix**guess < count:
        return guess + 1.0
    return float(guess)


@kernel(
    unit="1",
    rises="quotient",
    source="definition; a quotient of floats that is whole but for rounding is whole",
    formula="least whole number >= quotient",
)
def rounded_up(quotient: float) -> float:
    """Least whole number [1] not below a quotient, forgiving 1e-12 of rounding."""
    near = math.floor(quotient + 0.5)
    if abs(quotient - near) <= 1e-12 * quotient:
        return float(near)
    return float(math.ceil(quotient))
