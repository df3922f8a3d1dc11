"""What measurements leave of a payload rate, as the default share of a collective."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from scalemath.catalog.objects import link
from scalemath.catalog.session import library as _library
from scalemath.core.datum import Datum
from scalemath.records.efficiency import measured_efficiency


def efficiency(
    fabric: str,
    collective: str = "allreduce",
    *,
    in_network: bool = False,
    leave_out: tuple[str, ...] = (),
) -> Datum:
    """Return the measured share of the payload rate that a collective reaches on a fabric.

    Parameters
    ----------
    fabric : str
        Name of a link.
    collective : str
        "allreduce", "all_gather", "reduce_scatter", "alltoall" or "p2p".
    in_network : bool
        Whether the switch reduces; such shares may exceed 1.
    leave_out : tuple of str
        Logs that must not inform the answer, by their names in the entries.

    Returns
    -------
    Datum
        Median with its spread [1], and the sources it rests on.
    """
    entry = _library.find("link", fabric)
    rows = _library.family("measurement")
    return measured_efficiency(rows, entry.name, collective, in_network, leave_out)


def usable(
    fabric: str,
    collective: str = "allreduce",
    *,
    in_network: bool = False,
    leave_out: tuple[str, ...] = (),
) -> Datum:
    """Return the rate of a link that a collective was measured to reach, for use as bandwidth.

    Parameters
    ----------
    fabric, collective, in_network, leave_out
        As for `efficiency`.

    Returns
    -------
    Datum
        Payload rate times measured share [byte/s/dir], with spread and sources.

    Examples
    --------
    >>> print(usable("nvlink4"))
    367.2 GB/s/dir per rank (usable)
    """
    share = efficiency(fabric, collective, in_network=in_network, leave_out=leave_out)
    rate = link(fabric).bandwidth
    whole: Any = rate.m_as("GB/s/dir")
    return evolve(
        share,
        value=float(f"{whole * share.value:.6g}"),
        low=float(f"{whole * float(share.low or share.value):.6g}"),
        high=float(f"{whole * float(share.high or share.value):.6g}"),
        unit="GB/s/dir",
        scope="rank",
        rate_kind="usable",
        note=f"{share.note}; {share.value:.4g} of {rate:.6g~P}",
    )
