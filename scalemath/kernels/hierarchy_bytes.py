"""Who carries what: bytes per port of each kind for schedules on two levels.

Bytes are those one port sends in one direction during the whole operation; `passes` is two for
an allreduce (down and back) and one for a reduce-scatter or an all-gather.
"""

from __future__ import annotations

from typing import NamedTuple

from scalemath.core.kernel import kernel


class PortBytes(NamedTuple):
    """Bytes of the busiest scale-up port and of the busiest interface."""

    domain_port: float
    nic: float


RING = "counted hop by hop: each of the rings has domain - 1 hops inside a domain and one between"
LEVELS = "counted level by level"


@kernel(
    unit="byte",
    rises="passes size domain domains",
    source=RING,
    formula="passes * (ranks - 1) / ranks * size on every port that the ring uses",
)
def ring_flat_bytes(passes: float, size: float, domain: float, domains: float) -> PortBytes:
    """Bytes of one ring that leaves each domain by a single interface."""
    ranks = domain * domains
    whole = passes * (ranks - 1.0) * size / ranks
    return PortBytes(whole if domain > 1.0 else 0.0, whole if domains > 1.0 else 0.0)


@kernel(
    unit="byte",
    rises="passes size domain",
    falls="nics_per_domain",
    free="domains",
    free_because="the hop between domains takes one hop from the scale-up ports",
    source=RING,
    formula=(
        "whole = passes * (ranks - 1) / ranks * size; whole / nics_per_domain per interface,"
        " (domain - 1) / domain * whole per scale-up port when there are several domains"
    ),
)
def ring_rails_bytes(
    passes: float, size: float, domain: float, domains: float, nics_per_domain: float
) -> PortBytes:
    """Bytes of rings that leave each domain by all its interfaces in turn."""
    ranks = domain * domains
    whole = passes * (ranks - 1.0) * size / ranks
    if domains > 1.0:
        return PortBytes((domain - 1.0) * whole / domain, whole / nics_per_domain)
    return PortBytes(whole, 0.0)


@kernel(
    unit="byte",
    rises="passes size domain domains",
    falls="nics_per_domain",
    source=LEVELS,
    formula=(
        "passes * (domain - 1) / domain * size per scale-up port,"
        " passes * (domains - 1) / domains * size / nics_per_domain per interface"
    ),
)
def two_level_bytes(
    passes: float, size: float, domain: float, domains: float, nics_per_domain: float
) -> PortBytes:
    """Bytes of a schedule inside each domain and between them."""
    return PortBytes(
        passes * (domain - 1.0) * size / domain,
        passes * (domains - 1.0) * size / (domains * nics_per_domain),
    )


@kernel(
    unit="byte",
    rises="size domain",
    falls="nics_per_domain",
    free="domains",
    free_because="with more domains a smaller part of a buffer stays inside",
    source="every rank sends each of the others its block",
    formula=(
        "(domain - 1) / ranks * size per scale-up port,"
        " domain / nics_per_domain * (domains - 1) / domains * size per interface"
    ),
)
def all_to_all_flat_bytes(
    size: float, domain: float, domains: float, nics_per_domain: float
) -> PortBytes:
    """Bytes of an all-to-all in which every rank sends straight to every other."""
    return PortBytes(
        (domain - 1.0) * size / (domain * domains),
        domain * (domains - 1.0) * size / (domains * nics_per_domain),
    )


@kernel(
    unit="byte",
    rises="size domain domains",
    falls="nics_per_domain",
    source="blocks are first brought to the rail of their target",
    formula=(
        "(domain - 1) / domain * size per scale-up port,"
        " domain / nics_per_domain * (domains - 1) / domains * size per interface"
    ),
)
def all_to_all_rails_bytes(
    size: float, domain: float, domains: float, nics_per_domain: float
) -> PortBytes:
    """Bytes of an all-to-all that goes along the rails."""
    return PortBytes(
        (domain - 1.0) * size / domain,
        domain * (domains - 1.0) * size / (domains * nics_per_domain),
    )


@kernel(
    unit="byte",
    rises="size domain domains",
    falls="nics_per_domain",
    source="a chain passes the whole vector on at every hop, split over its interfaces",
    formula="size per scale-up port, size / nics_per_domain per interface",
)
def chain_bytes(size: float, domain: float, domains: float, nics_per_domain: float) -> PortBytes:
    """Bytes of a broadcast or reduction along chains."""
    return PortBytes(
        size if domain > 1.0 else 0.0, size / nics_per_domain if domains > 1.0 else 0.0
    )


@kernel(
    unit="byte",
    rises="size domain domains",
    source="a chain passes the whole vector on at every hop",
    formula="size on every port that the chain uses",
)
def chain_flat_bytes(size: float, domain: float, domains: float) -> PortBytes:
    """Bytes of a broadcast or reduction along one chain."""
    return PortBytes(size if domain > 1.0 else 0.0, size if domains > 1.0 else 0.0)


@kernel(
    unit="byte",
    rises="size domain domains",
    falls="nics_per_domain",
    source=LEVELS,
    formula=(
        "2 * (domain - 1) / domain * size per scale-up port, size / nics_per_domain per interface"
    ),
)
def spread_bytes(size: float, domain: float, domains: float, nics_per_domain: float) -> PortBytes:
    """Bytes of a broadcast that is spread inside the domain, sent, and gathered."""
    return PortBytes(
        2.0 * (domain - 1.0) * size / domain, size / nics_per_domain if domains > 1.0 else 0.0
    )


@kernel(
    unit="byte",
    rises="size domain domains",
    source="the root sends every block but its own",
    formula="(domain - 1) / ranks * size by the scale-up port, the rest by the interface",
)
def root_flat_bytes(size: float, domain: float, domains: float) -> PortBytes:
    """Bytes of a scatter or gather at the root's own two ports."""
    return PortBytes((domain - 1.0) * size / (domain * domains), (domains - 1.0) * size / domains)


@kernel(
    unit="byte",
    rises="size domain domains",
    falls="nics_per_domain",
    source="the root reaches the other interfaces of its domain through its scale-up port",
    formula=(
        "(ranks - 1) / ranks * size by the scale-up port,"
        " (domains - 1) / domains * size / nics_per_domain per interface"
    ),
)
def root_rails_bytes(
    size: float, domain: float, domains: float, nics_per_domain: float
) -> PortBytes:
    """Bytes of a scatter or gather over all interfaces of the root's domain."""
    ranks = domain * domains
    return PortBytes(
        (ranks - 1.0) * size / ranks,
        (domains - 1.0) * size / (domains * nics_per_domain),
    )


@kernel(
    unit="byte",
    rises="size domains",
    source="one message",
    formula="size by the interface between domains, by the scale-up port inside one",
)
def message_bytes(size: float, domains: float) -> PortBytes:
    """Bytes of one message."""
    if domains > 1.0:
        return PortBytes(0.0, size)
    return PortBytes(size, 0.0)
