"""Two figures side by side: like for like, and what their naive digits would have claimed."""

from __future__ import annotations

import re
from typing import Any

from attrs import frozen

from scalemath.core.datum import Datum
from scalemath.core.errors import ConventionError, UnitsError
from scalemath.core.result import Result, measured
from scalemath.hardware.closure import TOLERANCE
from scalemath.hardware.link import Link, per_direction
from scalemath.hardware.port import Port
from scalemath.units import Quantity, QuantityLike, adopt, to_si, ureg

CONVENTIONS = ("scope", "latency_kind", "precision", "sparsity", "fec", "rate_kind")


@frozen(kw_only=True, eq=False)
class Comparison(Result):
    """Ratio of two figures, like for like.

    Attributes
    ----------
    left_text, right_text : str
        The two figures as they were given.
    left_value, right_value : float
        Both in one unit.
    unit : str
        That unit.
    naive_left, naive_right : float
        The digits with bit, byte and direction ignored (prefixes are kept).
    directions : float
        Directions the left figure adds up over those of the right one.
    reasons : tuple of str
        Why the naive digits mislead.
    """

    left_text: str
    right_text: str
    left_value: float
    right_value: float
    unit: str
    naive_left: float
    naive_right: float
    directions: float = 1.0
    reasons: tuple[str, ...] = ()

    @measured("1")
    def ratio(self) -> float:
        """Left over right, like for like."""
        return self.left_value / self.right_value

    @measured("1")
    def naive_ratio(self) -> float:
        """Left over right as the printed digits suggest."""
        return self.naive_left / self.naive_right

    @measured("1")
    def undirected_ratio(self) -> float:
        """Left over right with bits and bytes put right, but directions ignored."""
        return self.left_value / self.right_value * self.directions

    @property
    def misleading(self) -> bool:
        """Whether the naive digits are off by more than rounding."""
        return abs(self.naive_left / self.naive_right / self.si("ratio") - 1) > TOLERANCE

    def headline(self) -> str:
        """One readable line."""
        line = f"{self.left_text} is {self.si('ratio'):.6g} x {self.right_text}"
        if self.misleading:
            line += f" (the digits alone say {self.si('naive_ratio'):.6g})"
        return line

    def remarks(self) -> list[str]:
        """Say why the digits mislead, and both sides in one unit."""
        both = (
            f"like for like: {self.left_value:.6g} {self.unit} against "
            f"{self.right_value:.6g} {self.unit}"
        )
        return [both, *self.reasons]


def compare(left: QuantityLike | Link | Port, right: QuantityLike | Link | Port) -> Comparison:
    """Compare two links, ports or figures, like for like.

    Parameters
    ----------
    left, right : Link, Port, Datum, Quantity or str
        What to compare. Of a link or port its payload rate per direction is taken. Two rates
        without a direction are both taken per direction.

    Returns
    -------
    Comparison
        With `ratio`, `naive_ratio` and the reasons why they differ.

    Raises
    ------
    ConventionError
        If one rate says its direction and the other does not, or if two data differ in
        scope, latency kind, precision, sparsity, FEC side or rate kind.
    UnitsError
        If the two are no like quantities, or a text is a number without a unit.

    Examples
    --------
    >>> print(compare("900 GB/s", "800 Gb/s"))
    900 GB/s is 9 x 800 Gbit/s (the digits alone say 1.125)
    """
    _conventions(left, right)
    ours, theirs = figure(left), figure(right)
    _want_units(left, right)
    one_way = per_direction(ours)
    assumed: tuple[str, ...] = ()
    if ours.is_compatible_with("byte/s") and theirs.is_compatible_with("byte/s"):
        assumed = ("both rates taken per direction (given without a direction)",)
    common = theirs.to(one_way.units)
    return Comparison(
        left_text=_label(left, ours),
        right_text=_label(right, theirs),
        left_value=float(one_way.magnitude),
        right_value=float(common.magnitude),
        unit=f"{one_way.units:~P}",
        naive_left=naive_digits(ours),
        naive_right=naive_digits(theirs),
        directions=_directions(ours) / _directions(theirs),
        reasons=_reasons(ours, theirs),
        assumptions=assumed,
    )


def naive_digits(quantity: Quantity) -> float:
    """Return the number a hasty reader takes away: prefix kept, bit or byte and direction lost.

    Parameters
    ----------
    quantity : Quantity
        Figure as printed.

    Returns
    -------
    float
        For "900 GB/s/dir" and for "900 Gb/s" alike 9e11.
    """
    magnitude: Any = quantity.magnitude
    digits = float(magnitude)
    for name, power in unit_powers(quantity).items():
        prefix, unit, _ = ureg.parse_unit_name(name)[0]
        if prefix:
            digits *= to_si(ureg.Quantity(1, name) / ureg.Quantity(1, unit), "1") ** power
    return digits


def unit_powers(quantity: Quantity) -> dict[str, float]:
    """Return the units of a quantity by long name with their powers."""
    items: Any = quantity.unit_items()
    return {str(name): float(power) for name, power in items}


def figure(side: Any) -> Quantity:
    """Return the quantity a side stands for."""
    if isinstance(side, (Link, Port)):
        rate: Quantity = side.bandwidth
        return rate
    return adopt(side.quantity) if isinstance(side, Datum) else adopt(side)


def _label(side: Any, figure: Quantity) -> str:
    name = getattr(side, "name", "")
    return f"{name} ({figure:.6g~P})" if name else f"{figure:~P}"


def _conventions(left: Any, right: Any) -> None:
    """Refuse two data whose stated conventions differ."""
    if not (isinstance(left, Datum) and isinstance(right, Datum)):
        return
    for name in CONVENTIONS:
        ours, theirs = getattr(left, name), getattr(right, name)
        if ours and theirs and ours != theirs:
            raise ConventionError(
                f"cannot compare {left} with {right}: {name.replace('_', ' ')} is {ours!r} on one "
                f"side and {theirs!r} on the other; bring both to one of them first"
            )


def _want_units(left: Any, right: Any) -> None:
    """Refuse numbers printed without a unit."""
    for side in (left, right):
        if isinstance(side, str) and re.fullmatch(r"[-+\d.,_eE\s]+", side):
            raise UnitsError(
                f"cannot compare {left} with {right}: {side.strip()!r} has no unit, so bits, bytes "
                "and directions cannot be told apart; write the units, as in '900 GB/s/dir' and "
                "'800 Gb/s/dir'"
            )


def _directions(figure: Quantity) -> float:
    return 2.0 if "bidirection" in unit_powers(figure) else 1.0


def _reasons(ours: Quantity, theirs: Quantity) -> tuple[str, ...]:
    left, right = unit_powers(ours), unit_powers(theirs)
    found = []
    if _has(left, "bit") != _has(right, "bit") and _has(left, "byte") != _has(right, "byte"):
        found.append("one side counts bits, the other bytes: a factor of 8")
    if ("bidirection" in left) != ("bidirection" in right):
        found.append("one side adds up both directions, the other is per direction: a factor of 2")
    return tuple(found)


def _has(powers: dict[str, float], unit: str) -> bool:
    return any(ureg.parse_unit_name(name)[0][1] == unit for name in powers)
