"""Gains that others report for reductions in the network: data to set predictions against."""

from __future__ import annotations

from scalemath.core.datum import Datum

_ISC = "SHARP streaming-aggregation hardware design and evaluation, ISC 2020, abstract"
_HDR = "MPI_Allreduce on HDR InfiniBand"

IN_NETWORK: dict[str, Datum] = {
    "share of line rate": Datum(
        value=0.95,
        unit="1",
        kind="measured",
        as_printed="~95 % of the network bandwidth",
        source=_ISC,
        date="2020",
        note=_HDR + ", large vectors; an efficiency to put on the rate of the port",
    ),
    "speedup, medium and large vectors": Datum(
        value=3.5,
        low=2.0,
        high=5.0,
        unit="1",
        kind="measured",
        as_printed="2-5x over host-based",
        source=_ISC,
        date="2020",
        note=_HDR + "; a range, the value is its middle. The ceiling for bandwidth alone is the "
        "ring factor 2 (N - 1)/N; the rest is software",
    ),
    "speedup, latency": Datum(
        value=5.1,
        high=5.1,
        unit="1",
        kind="vendor claim",
        as_printed="up to 5.1x",
        source="report on SHARP at scale, ExaMPI 2020; figure not found in the stored text",
        date="2020",
        tier="T3",
        note="small MPI_Allreduce on 7861 nodes of one machine; not to be carried to other sizes "
        "of cluster",
    ),
}
"""Reported figures by what they say; never used in a prediction."""
