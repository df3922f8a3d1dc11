"""Small finite fields, for the graphs of slim fly networks."""

from __future__ import annotations

from itertools import product

from scalemath.core.errors import RangeError


def prime_power(number: int) -> tuple[int, int] | None:
    """Prime and exponent of a prime power, else None.

    Parameters
    ----------
    number : int
        A whole number.

    Returns
    -------
    tuple of int or None
        ``(3, 3)`` for 27.
    """
    if number < 2:
        return None
    prime = next((d for d in range(2, int(number**0.5) + 1) if number % d == 0), number)
    exponent = 0
    while number % prime == 0:
        number //= prime
        exponent += 1
    return (prime, exponent) if number == 1 else None


class Field:
    """Field with a prime power of elements, numbered 0 to order - 1 (0 and 1 are themselves).

    Parameters
    ----------
    order : int
        A prime power.
    """

    def __init__(self, order: int) -> None:
        found = prime_power(order)
        if found is None:
            raise RangeError(f"there is no field with {order} elements: not a prime power")
        self.order = order
        self.prime, self.degree = found
        self._modulus = self._irreducible()

    def _digits(self, element: int) -> list[int]:
        found = []
        for _ in range(self.degree):
            element, digit = divmod(element, self.prime)
            found.append(digit)
        return found

    def _number(self, digits: list[int]) -> int:
        value = 0
        for digit in reversed(digits):
            value = value * self.prime + digit % self.prime
        return value

    def _irreducible(self) -> tuple[int, ...]:
        """Lower coefficients of a monic polynomial without divisors, by trial."""
        if self.degree == 1:
            return ()
        monic = {
            size: [(*low, 1) for low in product(range(self.prime), repeat=size)]
            for size in range(1, self.degree // 2 + 1)
        }
        for low in product(range(self.prime), repeat=self.degree):
            candidate = [*low, 1]
            divisors = (d for size in monic for d in monic[size])
            if all(any(self._rest(candidate, divisor)) for divisor in divisors):
                return tuple(low)
        raise RangeError(f"no irreducible polynomial of degree {self.degree} found")

    def _rest(self, dividend: list[int], divisor: tuple[int, ...]) -> list[int]:
        rest = list(dividend)
        for top in range(len(rest) - 1, len(divisor) - 2, -1):
            factor = rest[top]
            for i, coefficient in enumerate(divisor):
                rest[top - len(divisor) + 1 + i] -= factor * coefficient
            rest = [r % self.prime for r in rest]
        return rest[: len(divisor) - 1]

    def add(self, a: int, b: int) -> int:
        """Sum of two elements."""
        return self._number([x + y for x, y in zip(self._digits(a), self._digits(b), strict=True)])

    def subtract(self, a: int, b: int) -> int:
        """Difference of two elements."""
        return self._number([x - y for x, y in zip(self._digits(a), self._digits(b), strict=True)])

    def multiply(self, a: int, b: int) -> int:
        """Product of two elements."""
        if self.degree == 1:
            return a * b % self.prime
        found = [0] * (2 * self.degree - 1)
        for i, x in enumerate(self._digits(a)):
            for j, y in enumerate(self._digits(b)):
                found[i + j] += x * y
        return self._number(self._rest([f % self.prime for f in found], (*self._modulus, 1)))

    def powers(self) -> list[int]:
        """Powers of a primitive element: 1, g, g^2, ... all elements but 0."""
        for generator in range(2 if self.order > 2 else 1, self.order):
            found, power = [1], generator
            while power != 1:
                found.append(power)
                power = self.multiply(power, generator)
            if len(found) == self.order - 1:
                return found
        return [1]
