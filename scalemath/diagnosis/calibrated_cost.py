"""Time of one collective by constants of the user's own logs."""

from __future__ import annotations

import math

from attrs import field, frozen

from scalemath.collectives.cost import CollectiveCost
from scalemath.core.kernel import kernel_of
from scalemath.core.result import measured
from scalemath.diagnosis.fit import CollectiveFit
from scalemath.kernels.envelope import envelope_time
from scalemath.units import display


@frozen(kw_only=True, eq=False)
class CalibratedCost(CollectiveCost):
    """Time of a collective by constants of the user's own logs.

    Attributes
    ----------
    fit : CollectiveFit
        The fit that was used.
    spread : tuple of float
        Factors on the time between which nine of ten measurements lie [1].
    """

    fit: CollectiveFit = field(repr=False)
    spread: tuple[float, float] = (1.0, 1.0)

    @property
    def steps(self) -> float:
        """Not known: a fit counts no steps."""
        return math.nan

    @measured("byte")
    def bytes_per_rank(self) -> float:
        """Not known: a fit counts no bytes."""
        return math.nan

    @measured("s")
    def low(self) -> float:
        """Time that one of twenty measurements undercuts."""
        return self.si("time") * self.spread[0]

    @measured("s")
    def high(self) -> float:
        """Time that one of twenty measurements exceeds."""
        return self.si("time") * self.spread[1]

    def remarks(self) -> list[str]:
        """Spread and what it was fitted on."""
        low, high = (display(self.si(name), "s", 4) for name in ("low", "high"))
        return [f"nine of ten measurements lie between {low} and {high}", self.fit.headline()]

    def formula(self) -> tuple[str, str]:
        """Least of fitted lines, corrected by what they leave."""
        return f"({kernel_of(envelope_time).formula}) * what the lines leave", self.fit.source
