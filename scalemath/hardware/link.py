"""A link: lanes, their rate, what coding leaves of it, and how many links act as one."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attrs import field

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, ConventionError
from scalemath.hardware.closure import must_close
from scalemath.hardware.fields import changed, frozen, given
from scalemath.hardware.protocols import check_technology
from scalemath.units import Q_, Quantity, QuantityLike, adopt, to_si, ureg

_TRANSFERS = ureg.Unit("transfer/s").dimensionality
_RATE = ureg.Unit("byte/s/dir").dimensionality


def _lane_rate(value: QuantityLike) -> Quantity | None:
    """Return the rate of a lane; a transfer carries one bit per lane and direction."""
    if value is None:
        return None
    rate = Q_(value.value, value.unit) if isinstance(value, Datum) else adopt(value)
    if rate.dimensionality == _TRANSFERS:
        rate = Q_(rate.m_as("GT/s"), "Gbit/s/dir")
    if rate.dimensionality != _RATE or not rate.magnitude > 0:
        raise ConventionError(
            f"lane_rate is {rate}, wanted the rate of one lane in one direction, "
            "as in '212.5 Gbit/s/dir' or '32 GT/s'"
        )
    return rate


@frozen(kw_only=True)
class Link:
    """One link, or several equal links that carry the traffic of one port together.

    Whatever is left out follows from the rest; what is given twice must agree. With
    ``links=18, per_link="50 GB/s/dir"`` the bandwidth is 900 GB/s/dir; stating
    ``per_link="100 GB/s/dir"`` and ``bandwidth="900 GB/s/dir"`` raises.

    Attributes
    ----------
    name : str
        What it is called.
    technology : str
        "NVLink", "InfiniBand", "Ethernet", "PCIe" ..., with its generation if need be, which
        is then checked against the rate: "InfiniBand NDR".
    links : int
        Equal links that form the port.
    lanes : int or None
        Lanes of one link in each direction.
    lane_rate : Quantity or None
        Line rate of one lane [Gbit/s/dir]; GT/s counts one bit per transfer.
    encoding : float
        Share of the line rate that line code and FEC leave [1]; "128/130" is read too.
    per_link : Quantity or None
        Payload rate of one link [GB/s/dir].
    bandwidth : Quantity
        Payload rate of all links [GB/s/dir]; "1.8 TB/s/bidir" is converted.
    usable : Quantity or None
        What large transfers get of it [GB/s/dir].
    efficiency : float or None
        Usable over payload rate, where it is stated as a share [1].
    latency : Quantity or None
        Time of an empty message [us], as stated.
    latency_kind : str
        "one-way" or "round-trip".
    medium, wiring, status : str
        Copper or optics; switched, mesh or torus; shipped or roadmap.
    reach : Quantity or None
        Longest cable [m].
    energy : Quantity or None
        Energy of one bit [pJ/bit].
    data : mapping of str to Datum
        Where each value is from, for links of the catalogue.
    """

    name: str = ""
    technology: str = ""
    links: int = given("count >= 1", 1)
    lanes: int | None = given("count >= 1", None)
    lane_rate: Quantity | None = field(default=None, converter=_lane_rate)
    encoding: float = given("number > 0 <= 1", 1.0)
    per_link: Any = given("byte/s/dir > 0", None, directed=True)
    bandwidth: Any = given("byte/s/dir > 0", None, directed=True)
    usable: Quantity | None = given("byte/s/dir > 0", None, directed=True)
    efficiency: float | None = given("number > 0 <= 1", None)
    latency: Quantity | None = given("s > 0", None)
    latency_kind: str = given("choice one-way round-trip", "one-way")
    medium: str = ""
    wiring: str = given("choice switched mesh torus", "switched")
    status: str = given("choice shipped roadmap", "shipped")
    reach: Quantity | None = given("m > 0", None)
    energy: Quantity | None = given("J/bit > 0", None)
    data: Mapping[str, Datum] = field(factory=dict, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        wire, one, total = self.wire_rate, self.per_link, self.bandwidth
        if one is None and total is None and wire is None:
            raise ArgumentError(
                "a link needs bandwidth=, or per_link=, or lanes= and lane_rate=; write for "
                "example Link(links=18, per_link='50 GB/s/dir')"
            )
        slips = {}
        if self.encoding != 1:
            slips["one is the raw line rate, the other is after coding"] = 1 / self.encoding
        if wire is not None and one is not None:
            must_close(f"{self._label}: rate of one link", wire, self._wire_text(), one, slips)
        known = one if one is not None else wire
        if known is not None and total is not None:
            if one is not None:
                slips[f"{one:.6g~P} is the figure of both directions; write /bidir"] = 2.0
            text = f"{one:.6g~P}" if one is not None else self._wire_text()
            stated = f"{self.links} links at {text}" if self.links > 1 else text
            must_close(f"{self._label}: total", self.links * known, stated, total, slips)
        per_link = known if known is not None else total / self.links
        object.__setattr__(self, "per_link", per_direction(per_link))
        object.__setattr__(
            self, "bandwidth", per_direction(total if total is not None else self.links * per_link)
        )
        one_link = to_si(self.per_link, "byte/s/dir")
        rates = (one_link, one_link / self.encoding)
        check_technology("Link", self.technology, rates, float(self.lanes or 4))

    @property
    def _label(self) -> str:
        return self.name or self.technology or "link"

    def _wire_text(self) -> str:
        ratio = Fraction(self.encoding).limit_denominator(4096)
        coded = f" x {ratio}" if self.encoding != 1 else ""
        return f"{self.lanes} lanes x {self.lane_rate:.6g~P}{coded}"

    @property
    def wire_rate(self) -> Quantity | None:
        """Payload rate of one link from its lanes [byte/s/dir], None if lanes are not known."""
        if self.lanes is None or self.lane_rate is None:
            return None
        rate: Quantity = self.lanes * self.lane_rate * self.encoding
        return rate

    @property
    def raw_bandwidth(self) -> Quantity:
        """Line rate of all links, before coding [byte/s/dir]."""
        rate: Quantity = self.bandwidth / self.encoding
        return rate

    @property
    def usable_bandwidth(self) -> Quantity:
        """What large transfers get [byte/s/dir]: usable, else efficiency x bandwidth."""
        if self.usable is not None:
            return per_direction(self.usable)
        rate: Quantity = self.bandwidth * (self.efficiency or 1.0)
        return rate

    @property
    def per_lane(self) -> Quantity:
        """Payload rate of one lane [byte/s/dir]."""
        if self.lanes is None:
            raise ArgumentError(f"{self._label}: the number of lanes is not known")
        rate: Quantity = self.per_link / self.lanes
        return rate

    @property
    def both_directions(self) -> Quantity:
        """Sum of both directions, as vendors of scale-up links print it [byte/s/bidir]."""
        total: Quantity = _named(self.bandwidth, "dir", "bidir")
        return total

    @property
    def one_way_latency(self) -> Quantity | None:
        """One-way time of an empty message [s]; half of a round trip."""
        if self.latency is None or self.latency_kind == "one-way":
            return self.latency
        half: Quantity = self.latency / 2
        return half

    def bundle(self, links: int) -> Link:
        """Return the same kind of link with another number of links in parallel.

        Parameters
        ----------
        links : int
            How many links act as one [count].

        Returns
        -------
        Link
            The bundle; usable rate and provenance of the total are dropped.
        """
        bundle: Link = changed(
            self, links=links, per_link=self.per_link, bandwidth=None, usable=None, data={}
        )
        return bundle

    def __str__(self) -> str:
        parts = [f"{self.links} links x"] if self.links > 1 else []
        made = self._wire_text() if self.wire_rate is not None else f"{self.per_link:.6g~P}"
        return f"{self._label}: {' '.join([*parts, made])} = {self.bandwidth:.6g~P}"

    def _repr_html_(self) -> str:
        rows = [
            ("payload rate", f"{self.bandwidth:.6g~P}"),
            ("both directions", f"{self.both_directions:.6g~P}"),
            ("links", str(self.links)),
            ("per link", f"{self.per_link:.6g~P}"),
        ]
        if self.usable is not None or self.efficiency is not None:
            rows.append(("usable", f"{self.usable_bandwidth:.6g~P}"))
        if self.latency is not None:
            rows.append((f"latency, {self.latency_kind}", f"{self.latency:~P}"))
        body = "".join(
            f"<tr><td>{html.escape(n)}</td><td>{html.escape(v)}</td></tr>" for n, v in rows
        )
        return f"<table><caption>{html.escape(str(self))}</caption><tbody>{body}</tbody></table>"


def per_direction(rate: Quantity) -> Quantity:
    """Return a rate per direction, otherwise in the unit it was given in.

    Parameters
    ----------
    rate : Quantity
        A rate, or any other quantity, which then comes back as it is.

    Returns
    -------
    Quantity
        "900 GB/s/dir" for "1800 GB/s/bidir".
    """
    one_way = _named(rate, "bidir", "dir")
    if one_way is not rate and 0 < one_way.magnitude < 1:
        smaller = {"T": "G", "P": "T"}.get(f"{one_way.units:~P}"[:1])
        if smaller:
            one_way = one_way.to(smaller + f"{one_way.units:~P}"[1:])
    return one_way


def _named(rate: Quantity, old: str, new: str) -> Quantity:
    """Return the rate with one name of direction put for the other."""
    text = f"{rate.units:~P}"
    if not re.search(rf"\b{old}\b", text):
        return rate
    converted: Quantity = rate.to(re.sub(rf"\b{old}\b", new, text))
    return converted
