"""The job and the networks of the tour."""

from __future__ import annotations

from typing import Any

from attrs import frozen

import scalemath as sm

SHAPE = (8, 8192, 16384)
"""Sequences, tokens and features of the activation that is reduced."""

DTYPE = "bf16"
INNER = 4 * SHAPE[2]
"""Inner size of the matrix product that makes the activation."""

PEAK = "2.25 PFLOP/s"
"""Dense bf16 rate of one B200."""

RANKS = (2, 8, 72)


@frozen
class Network:
    """One network of the tour.

    Attributes
    ----------
    name : str
        As printed.
    link : Link
        From the catalogue.
    latency : str
        One-way time of an empty message, as text.
    printed : str
        What its data sheet prints.
    """

    name: str
    link: Any
    latency: str
    printed: str


def networks() -> tuple[Network, ...]:
    """Scale-up links of one GPU and two network ports, from the catalogue."""
    return (
        Network("NVLink 5", sm.catalog.link("nvlink5"), "0.2 us", "1.8 TB/s, both directions"),
        Network("InfiniBand XDR", sm.catalog.link("infiniband-xdr"), "2 us", "800 Gb/s"),
        Network("InfiniBand NDR", sm.catalog.link("infiniband-ndr"), "2 us", "400 Gb/s"),
    )
