"""One side of a claim: a printed figure and everything it leaves unsaid."""

from __future__ import annotations

import numbers
import re
from typing import Any

import attrs
from attrs import field

from scalemath.claims.derating import Derated
from scalemath.claims.rounding import rounds_to
from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, ContradictionError, ConventionError, RangeError
from scalemath.hardware.fields import frozen
from scalemath.hardware.link import Link, per_direction
from scalemath.hardware.port import Port
from scalemath.units import Q_, Quantity, adopt, ureg

_RATE = ureg.Unit("byte/s").dimensionality
_DIRECTED = ("direction", "bidirection")
DIRECTIONS = ("", "one", "both")
_SHARED = ("scope", "precision", "sparsity", "latency_kind", "rate_kind", "fec")


def _taken(value: Any) -> Quantity | None:
    return None if value is None else adopt(value)


def _one_of(*allowed: str) -> Any:
    def check(_: object, this: attrs.Attribute[str], value: object) -> None:
        if not isinstance(value, str) or value not in allowed:
            words = ", ".join(repr(word) for word in allowed if word)
            raise ConventionError(f"{this.name} is {repr(value)[:80]}; wanted {words}, or nothing")

    return field(default="", validator=check, kw_only=True)


def _text(_: object, this: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str):
        raise ArgumentError(f"{this.name} is {repr(value)[:80]}; wanted text")


def _count(_: object, this: attrs.Attribute[int], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ArgumentError(f"{this.name} is {repr(value)[:80]}; wanted a whole number, as in 72")
    if int(value) < 1:
        raise RangeError(f"{this.name} is {value}; wanted at least 1")


def _share(_: object, this: attrs.Attribute[float | None], value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentError(f"{this.name} is {repr(value)[:80]}; wanted a share, as in 0.8")
    if not 0 < float(value) <= 1:
        raise ConventionError(
            f"{this.name} is {value}; wanted a share above 0 and at most 1, nothing is faster "
            "than its data sheet"
        )


@frozen
class Claim:
    """A printed figure with its conventions.

    Attributes
    ----------
    printed : str
        The figure as it is printed, such as "130 TB/s" or "900 GB/s/dir".
    about : str
        What it is a figure of.
    exact : Quantity or None
        The unrounded figure behind it, where it is known: 129.6 TB/s for a printed 130.
    direction : str
        "one" or "both" for rates; left out it is read from the unit.
    scope : str
        Of what: lane, link, port, GPU, node, rack, fabric.
    count : int
        How many of the scope the figure adds up [count].
    carries : Quantity or None
        Rate that the figure serves [byte/s/dir]: 12 W of an 800 Gb/s module.
    precision, sparsity : str
        Of a peak: "fp8", and "dense" or "sparse".
    latency_kind : str
        "one-way" or "round-trip".
    rate_kind : str
        "raw", "usable", "algorithm", "bus" ...
    fec : str
        "pre-FEC" or "post-FEC".
    derating : float or None
        Share of a data sheet's figure that was taken [1]; None for the data sheet itself.
    derating_source : str
        Where that share is from.
    roadmap : bool
        Whether it is announced, not shipped.
    """

    printed: str = field(validator=_text)
    about: str = field(default="", validator=_text)
    exact: Quantity | None = field(default=None, converter=_taken, kw_only=True)
    direction: str = _one_of(*DIRECTIONS)
    scope: str = field(default="", validator=_text, kw_only=True)
    count: int = field(default=1, validator=_count, kw_only=True)
    carries: Quantity | None = field(default=None, converter=_taken, kw_only=True)
    precision: str = field(default="", validator=_text, kw_only=True)
    sparsity: str = _one_of("", "dense", "sparse")
    latency_kind: str = _one_of("", "one-way", "round-trip")
    rate_kind: str = field(default="", validator=_text, kw_only=True)
    fec: str = _one_of("", "pre-FEC", "post-FEC")
    derating: float | None = field(default=None, validator=_share, kw_only=True)
    derating_source: str = field(default="", kw_only=True)
    roadmap: bool = field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        said = self._said_direction()
        if said and self.direction and said != self.direction:
            raise ConventionError(
                f"{self.label}: the unit says {said} direction, direction= says {self.direction}"
            )
        if self.carries is not None and not _alike(self.carries, Q_(1, "byte/s")):
            raise ConventionError(
                f"{self.label}: carries is {self.carries:~P}; wanted the rate that the figure "
                "serves, as in carries='800 Gb/s'"
            )
        if self.exact is not None:
            self._check_exact(self.exact)

    def _check_exact(self, exact: Quantity) -> None:
        """Refuse an exact figure that is not the printed one before rounding."""
        digits = self.digits
        if not _alike(exact, digits):
            raise ContradictionError(
                f"{self.label}: exact is {exact:~P}, which is of another kind than the printed "
                f"{self.printed}"
            )
        if exact.dimensionality != digits.dimensionality:
            exact, digits = _undirected(exact), _undirected(digits)
        number, size = float(_plain(exact, digits)), float(_plain(digits, digits))
        near = abs(number - size) <= 1e-9 * abs(size)
        if not near and not rounds_to(number, _clean(self.printed)):
            raise ContradictionError(
                f"{self.label}: exact is {exact:~P}, which does not round to the printed "
                f"{self.printed}"
            )

    @property
    def label(self) -> str:
        """What to call it."""
        return f"{self.about} ({self.printed})" if self.about else self.printed

    @property
    def digits(self) -> Quantity:
        """The printed figure as a quantity, as printed."""
        return adopt(_clean(self.printed))

    def _said_direction(self) -> str:
        names = f"{self.digits.units:~P}"
        if re.search(r"\bbidir\b", names):
            return "both"
        return "one" if re.search(r"\bdir\b", names) else ""

    @property
    def directions(self) -> str:
        """Return "one", "both" or "" for a rate that does not say."""
        return self.direction or self._said_direction()

    def as_stated(self, figure: Quantity | None = None) -> Quantity:
        """Return the figure with its direction in the unit.

        Parameters
        ----------
        figure : Quantity, optional
            Figure to use instead of the exact one.

        Returns
        -------
        Quantity
            Such as 130 TB/s/bidir.
        """
        stated = figure if figure is not None else self.exact
        if stated is None:
            stated = self.digits
        if stated.dimensionality == _RATE and self.direction:
            unit = "bidir" if self.direction == "both" else "dir"
            stated = stated / Q_(1, unit)
        return stated

    def like_for_like(self, figure: Quantity | None = None) -> Quantity:
        """Return the figure per direction, one-way, of one, and before any derating.

        Parameters
        ----------
        figure : Quantity, optional
            Figure to use instead of the exact one.

        Returns
        -------
        Quantity
            The normalised figure.
        """
        normal = per_direction(self.as_stated(figure))
        if self.latency_kind == "round-trip":
            normal = normal / 2
        if self.derating is not None:
            normal = normal / self.derating
        one: Quantity = normal / self.count
        return one

    @classmethod
    def of(cls, value: Any) -> Claim:
        """Return the claim that text, a quantity, a datum, a link or a port makes.

        Parameters
        ----------
        value : Claim, str, Quantity, Datum, Link, Port or Derated
            What to take; a derated rate brings its share and sources along.

        Returns
        -------
        Claim
            The claim.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, (Link, Port)):
            return cls(f"{value.bandwidth:.15g~P}", value.name)
        if isinstance(value, Derated):
            sources = "; ".join(step.source for step in value.steps)
            share = value.share[0] if value.steps else None
            left = f"{value.low.to(value.unit):.15g~P}"
            return cls(left, derating=share, derating_source=sources)
        if isinstance(value, Datum):
            known = {name: getattr(value, name) for name in _SHARED}
            return cls(f"{value.value} {value.unit}", roadmap=value.kind == "roadmap", **known)
        if isinstance(value, str):
            return cls(value)
        try:
            return cls(f"{adopt(value):.15g~P}")
        except Exception as error:
            raise ArgumentError(f"{value!r} is no claim: {error}") from None


def _plain(figure: Quantity, shown: Quantity) -> Any:
    return figure.m_as(shown.units)


def _undirected(figure: Quantity) -> Quantity:
    """Return a rate without the word for its direction; the number stays as printed."""
    units = {name: power for name, power in figure._units.items() if name not in _DIRECTED}
    return Q_(figure.magnitude, ureg.UnitsContainer(units))


def _alike(one: Quantity, other: Quantity) -> bool:
    """Whether two figures are of one dimension, directions aside."""
    return _undirected(one).is_compatible_with(_undirected(other))


def _clean(printed: str) -> str:
    """Return a printed figure without the marks of hedging around it."""
    return re.sub(r"^(about|ca\.|up to|over|more than|[~<>=]+)\s*", "", printed.strip())
