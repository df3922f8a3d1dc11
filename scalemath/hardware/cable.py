"""Cables: media, how far each reaches at a lane rate, delay, and the pairs inside."""

from __future__ import annotations

from typing import Any

from scalemath.core.errors import RangeError
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import frozen, given, si
from scalemath.kernels import energy
from scalemath.kernels.latency import propagation_delay
from scalemath.units import Q_, QuantityLike, to_si

FIBRE_DELAY = 4.9e-9
"""Group delay of silica fibre [s/m]."""

COPPER_DELAY = 4.7e-9
"""Delay of twinaxial copper at a velocity factor of 0.71 [s/m]; an estimate."""

REACH = (
    ("passive copper", 3.0, 2.0),
    ("active copper", 7.0, 7.0),
    ("multimode fibre", 100.0, 50.0),
    ("single-mode fibre DR", 500.0, 500.0),
    ("single-mode fibre FR", 2000.0, 2000.0),
    ("single-mode fibre LR", 10000.0, 10000.0),
)
"""Medium, reach [m] with lanes below and from 200 Gbit/s. Copper: 2 to 3 m passive, about 7 m
active; fibre: the IEEE 802.3 classes SR/VR, DR, FR and LR."""

_FAST_LANE = 200e9 / 8


@frozen
class Cable:
    """One cable.

    Parameters
    ----------
    length : Quantity [m]
        Length.
    medium : str, optional
        One of `REACH`; by default the cheapest medium that reaches.
    lane_rate : Quantity [byte/s/dir]
        Rate of one lane, which limits the reach.
    lanes : int
        Lanes in each direction.
    energy_per_bit : Quantity [J/bit], optional
        Of one end of an active cable.

    Examples
    --------
    >>> Cable(length="2 m", lane_rate="200 Gb/s/dir", lanes=2).differential_pairs
    4
    """

    length: Any = given("m > 0")
    lane_rate: Any = given("byte/s/dir > 0", "100 Gb/s/dir", directed=True)
    lanes: int = given("count >= 1", 8)
    medium: str = given(
        "choice auto copper fibre " + " ".join(n.replace(" ", "_") for n, _, _ in REACH), "auto"
    )
    energy_per_bit: Any = given("J/bit", None)

    def __attrs_post_init__(self) -> None:
        if self.medium not in ("auto", "copper", "fibre"):
            limit = reach(self.medium, self.lane_rate)
            if si(self, "length") > to_si(limit, "m"):
                raise RangeError(
                    f"Cable: {self.length:~P} of {self.medium.replace('_', ' ')} is beyond its "
                    f"reach of {limit:~P} at {self.lane_rate:~P} per lane; use "
                    f"{medium_for(self.length, self.lane_rate)}"
                )

    @property
    def chosen_medium(self) -> str:
        """Medium given, or the first that reaches."""
        if self.medium == "auto":
            return medium_for(self.length, self.lane_rate)
        return self.medium.replace("_", " ")

    @property
    def rate(self) -> Any:
        """Rate of all lanes per direction."""
        return self.lane_rate * self.lanes

    @property
    def differential_pairs(self) -> int:
        """Copper pairs: one for each lane and direction."""
        return 2 * self.lanes

    def lower_delay(self) -> float:
        """One-way delay [s]."""
        copper = "copper" in self.chosen_medium
        return propagation_delay(si(self, "length"), COPPER_DELAY if copper else FIBRE_DELAY)

    @property
    def delay(self) -> Any:
        """One-way delay."""
        return figure(self.lower_delay(), "s", "ns")

    def lower(self) -> float:
        """Power of both ends of an active cable [W]."""
        return energy.link_power(si(self, "energy_per_bit"), to_si(self.rate, "byte/s/dir"))

    def __str__(self) -> str:
        return f"{self.length:~P} of {self.chosen_medium}, {self.lanes} lanes, {self.delay:.4g~P}"


def reach(medium: str, lane_rate: QuantityLike = "100 Gb/s/dir") -> Any:
    """Longest cable of a medium at a lane rate.

    Parameters
    ----------
    medium : str
        One of `REACH`.
    lane_rate : Quantity [byte/s/dir]
        Rate of one lane.

    Returns
    -------
    Quantity [m]
        The reach.
    """
    fast = to_si(lane_rate, "byte/s/dir") >= _FAST_LANE
    for name, slow_reach, fast_reach in REACH:
        if name == medium.replace("_", " "):
            return Q_(fast_reach if fast else slow_reach, "m")
    names = ", ".join(name for name, _, _ in REACH)
    raise RangeError(f"medium is {medium!r}; wanted one of {names}")


def medium_for(distance: QuantityLike, lane_rate: QuantityLike = "100 Gb/s/dir") -> str:
    """Cheapest medium that spans a distance at a lane rate.

    Parameters
    ----------
    distance : Quantity [m]
        Cable length.
    lane_rate : Quantity [byte/s/dir]
        Rate of one lane.

    Returns
    -------
    str
        Name of the medium.

    Raises
    ------
    RangeError
        Below zero and beyond 10 km.

    Examples
    --------
    >>> medium_for("2.5 m"), medium_for("5 m"), medium_for("30 m")
    ('passive copper', 'active copper', 'multimode fibre')
    """
    metres = to_si(distance, "m", "distance")
    if not metres >= 0:
        raise RangeError(f"distance is {distance}; a length is at least 0 m")
    for name, _, _ in REACH:
        if metres <= to_si(reach(name, lane_rate), "m"):
            return name
    raise RangeError(f"distance is {distance}; no medium here reaches beyond 10 km")
