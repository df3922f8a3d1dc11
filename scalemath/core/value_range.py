"""A low and a high end that travel through formulas together."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from scalemath.core.errors import ArgumentError


@frozen
class Range:
    """Two ends of what a number may be.

    As an argument, ``Range("60 GB/s", "90 GB/s")`` asks a formula for both ends of its answer;
    the formula's declared directions decide which end gives the low one. As an answer,
    every attribute of the results at both ends is again a `Range`.

    Attributes
    ----------
    low, high : object
        The two ends: quantities, numbers, text, or results.
    """

    low: Any
    high: Any

    def __getattr__(self, name: str) -> Range:
        if name.startswith("_"):
            raise AttributeError(name)
        ends = (getattr(self.low, name), getattr(self.high, name))
        if callable(ends[0]):
            raise AttributeError(f"a Range has no {name}(); ask its .low and .high")
        try:
            ordered = tuple(sorted(ends))
        except TypeError:
            raise AttributeError(f"{name} has no low and high end") from None
        return Range(*ordered)

    def __iter__(self) -> Any:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"

    def check(self, low: float, high: float) -> None:
        """Refuse ends in the wrong order."""
        if not low <= high:
            raise ArgumentError(f"is {self}: the low end lies above the high end; swap them")
