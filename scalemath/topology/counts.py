"""Counts by role or tier, with their sum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any

from scalemath.core.errors import ArgumentError, RangeError


class Counts(Mapping[str, int]):
    """An unchangeable mapping of names to counts.

    Examples
    --------
    >>> switches = Counts(leaf=64, spine=32)
    >>> switches["leaf"], switches.total
    (64, 96)
    """

    __slots__ = ("_items",)

    def __init__(self, **counts: float) -> None:
        self._items = {name: round(value) for name, value in counts.items()}

    def __getitem__(self, name: str) -> int:
        try:
            return self._items[name]
        except KeyError:
            known = ", ".join(self._items) or "nothing"
            raise KeyError(f"there is no {name!r} here; there is {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def total(self) -> int:
        """Sum of all counts."""
        return sum(self._items.values())

    def __repr__(self) -> str:
        return f"Counts({', '.join(f'{k}={v}' for k, v in self._items.items())})"

    def __str__(self) -> str:
        parts = ", ".join(f"{value:,} {name.replace('_', '-')}" for name, value in self.items())
        return f"{self.total:,} ({parts})" if len(self) > 1 else parts

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))


def check_loss(name: str, number: Any) -> None:
    """Refuse a loss that is no whole number of at least 0.

    Parameters
    ----------
    name : str
        What fails.
    number : object
        How many of it.
    """
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise ArgumentError(f"without: {name} is {repr(number)[:80]}; wanted a whole number")
    if int(number) < 0:
        raise RangeError(f"without: {name} is {number}; wanted at least 0")
