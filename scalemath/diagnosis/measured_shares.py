"""Shares of nominal rates that published measurements reached, by network and collective."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from attrs import frozen

from scalemath.catalog.session import library
from scalemath.collectives import allreduce
from scalemath.units import quantity

LARGE = 2.0**36
"""Buffer at which latency no longer counts [byte]."""
RINGS = ("allreduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
SPREAD = 0.08
"""Spread taken where a share rests on a single measurement [1]."""
ASSUMED_SHARE = 0.80
"""Share of a scale-up port where nothing was measured on its kind [1]."""
ASSUMED_NETWORK_SHARE = 0.92


@frozen(kw_only=True)
class Share:
    """Share of a nominal rate that measurements reached.

    Attributes
    ----------
    usual, low, high : float
        Median and spread [1].
    number : int
        Measurements it rests on; 0 for an assumption.
    source : str
        Titles of the measurements.
    """

    usual: float
    low: float
    high: float
    number: int = 0
    source: str = ""

    def scaled(self, factor: float) -> Share:
        """The same share of another rate."""
        return Share(
            usual=self.usual * factor,
            low=self.low * factor,
            high=self.high * factor,
            number=self.number,
            source=self.source,
        )


def _measurements(leave_out: tuple[str, ...]) -> list[Any]:
    return [
        record
        for record in library.family("measurement")
        if "efficiency" in record.data
        and record.facts.get("log", record.name) not in leave_out
        and record.name not in leave_out
    ]


def _named(operation: str) -> str:
    return {"all_to_all": "alltoall", "send_receive": "p2p"}.get(operation, operation)


def _share(records: Iterable[Any], scale: Mapping[str, float] | None = None) -> Share | None:
    rows = list(records)
    if not rows:
        return None
    values = sorted(r["efficiency"].value * (scale or {}).get(r.name, 1.0) for r in rows)
    middle = median(values)
    return Share(
        usual=middle,
        low=min(values[0], middle * (1.0 - SPREAD)),
        high=max(values[-1], middle * (1.0 + SPREAD / 2.0)),
        number=len(values),
        source=", ".join(r.title for r in rows),
    )


def measured_share(fabric: str, operation: str, *, leave_out: tuple[str, ...] = ()) -> Share:
    """Share of a scale-up port that a ring or an exchange reached without help of switches.

    Parameters
    ----------
    fabric : str
        Link of the catalogue.
    operation : str
        Public name of the collective.
    leave_out : tuple of str
        Logs that must not inform the answer.

    Returns
    -------
    Share
        Of the same collective, else of its kin, else of links of the same make, else assumed.
    """
    rows = [
        r
        for r in _measurements(leave_out)
        if not r.facts.get("in_network") and r["efficiency"].value <= 1.0
    ]
    here = [r for r in rows if r.facts.get("fabric") == fabric]
    kin = [r for r in rows if str(r.facts.get("fabric"))[:5] == fabric[:5] and fabric]
    for group in (here, kin):
        exact = [r for r in group if r.facts.get("collective") == _named(operation)]
        rings = [r for r in group if r.facts.get("collective") in RINGS]
        found = _share(exact) or (_share(rings) if operation in (*RINGS, "all_to_all") else None)
        if found is not None:
            return found
    return Share(usual=ASSUMED_SHARE, low=ASSUMED_SHARE * 0.85, high=0.92)


def measured_switch_share(fabric: str, leave_out: tuple[str, ...] = ()) -> Share | None:
    """Share of what reducing switches allow that allreduces reached, None without data."""
    rows = [
        r
        for r in _measurements(leave_out)
        if r.facts.get("in_network")
        and r.facts.get("collective") == "allreduce"
        and str(r.facts.get("fabric", "")).startswith("nvlink")
    ]
    here = [r for r in rows if r.facts.get("fabric") == fabric] or rows
    scale = {r.name: 1.0 / _gain(int(r.facts["ranks"])) for r in here}
    return _share(here, scale)


def _gain(ranks: int) -> float:
    """Bus bandwidth over port rate that reducing switches allow."""
    answer = allreduce(
        size=quantity(LARGE, "byte"),
        ranks=ranks,
        bandwidth=quantity(1e9, "byte/s/dir"),
        algorithm="nvls",
        in_network="multicast",
    )
    return float(answer.si("bus_bandwidth")) / 1e9


def measured_network_share(fabric: str, *, alone: bool, leave_out: tuple[str, ...] = ()) -> Share:
    """Share of the interfaces that collectives between nodes reached.

    Parameters
    ----------
    fabric : str
        Link of the interfaces, "" when unknown.
    alone : bool
        Whether each node has one rank only: one rank drives its interface less well.
    leave_out : tuple of str
        Logs that must not inform the answer.

    Returns
    -------
    Share
        Of that kind of link, else of all kinds.
    """
    rows = [
        r
        for r in _measurements(leave_out)
        if not r.facts.get("in_network")
        and r["efficiency"].value <= 1.0
        and r.facts.get("collective") in RINGS
        and str(r.facts.get("fabric", "")).startswith(("infiniband", "ethernet"))
        and (int(r.facts.get("ranks", 0)) == int(r.facts.get("nodes", 0))) == alone
    ]
    here = [r for r in rows if r.facts.get("fabric") == fabric]
    found = _share(here if len(here) > 1 else rows)
    return found or Share(usual=ASSUMED_NETWORK_SHARE, low=0.8, high=0.98)
