"""The share of a payload rate that measurements reached, with its spread and its sources."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError
from scalemath.records.record import Record


def measured_efficiency(
    records: Iterable[Record],
    fabric: str,
    collective: str,
    in_network: bool,
    leave_out: tuple[str, ...] = (),
) -> Datum:
    """Return the median share of the measurements that fit, with the spread.

    Rows above 1 without in-network reduction are left aside: they come from two-node trees,
    which send the vector once where the bus bandwidth assumes nearly twice.

    Parameters
    ----------
    records : iterable of Record
        Entries of the family "measurement".
    fabric, collective : str
        Name of a link, and of a collective.
    in_network : bool
        Whether the switch reduces.
    leave_out : tuple of str
        Logs or entries that must not inform the answer.

    Returns
    -------
    Datum
        Median, low and high [1]; the source lists what it rests on.

    Raises
    ------
    ArgumentError
        If nothing is known; what is known of the fabric is listed.
    """
    of_fabric = [r for r in records if r.facts.get("fabric") == fabric and "efficiency" in r.data]
    fitting = [
        r
        for r in of_fabric
        if r.facts.get("collective") == collective
        and bool(r.facts.get("in_network")) == in_network
        and r.facts.get("log", r.name) not in leave_out
        and r.name not in leave_out
        and (in_network or r["efficiency"].value <= 1)
    ]
    if not fitting:
        known = sorted({str(r.facts["collective"]) for r in of_fabric}) or ["nothing"]
        raise ArgumentError(
            f"no measured {collective} on {fabric}"
            f"{' with in-network reduction' if in_network else ''} is left; known of {fabric}: "
            f"{', '.join(known)}"
        )
    shares = sorted(r["efficiency"].value for r in fitting)
    return Datum(
        value=median(shares),
        low=shares[0],
        high=shares[-1],
        unit="1",
        kind="measured",
        source="; ".join(r.title for r in fitting),
        locator="; ".join(dict.fromkeys(r["bandwidth"].locator for r in fitting)),
        date=max(r["bandwidth"].date for r in fitting),
        note=f"median of {len(shares)} measurement{'s' if len(shares) > 1 else ''}",
    )
