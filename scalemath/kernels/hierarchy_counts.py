"""Counts of a placement that follow from how it is described."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel

COUNTED = "counting"


@kernel(
    unit="1",
    rises="nodes ranks_per_node",
    source=COUNTED,
    formula="nodes * ranks_per_node",
)
def placed_ranks(nodes: float, ranks_per_node: float) -> float:
    """All ranks of a placement."""
    return nodes * ranks_per_node


@kernel(
    unit="1",
    rises="domain ranks",
    source=COUNTED,
    formula="min(domain, ranks)",
)
def ranks_of_domain(domain: float, ranks: float) -> float:
    """Ranks of one scale-up domain, never more than there are."""
    return min(domain, ranks)


@kernel(
    unit="1",
    rises="ranks",
    falls="domain",
    source=COUNTED,
    formula="ceil(ranks / domain)",
)
def count_of_domains(ranks: float, domain: float) -> float:
    """Number of scale-up domains."""
    return float(math.ceil(ranks / domain))


@kernel(
    unit="1",
    rises="nics_per_node domain",
    falls="ranks_per_node",
    source=COUNTED,
    formula="nics_per_node * domain / ranks_per_node",
)
def nics_of_domain(nics_per_node: float, domain: float, ranks_per_node: float) -> float:
    """Network interfaces of one scale-up domain."""
    return nics_per_node * domain / ranks_per_node


@kernel(
    unit="byte/s",
    rises="rate share",
    source=COUNTED,
    formula="rate * share",
)
def usable_rate(rate: float, share: float) -> float:
    """Rate of a port [byte/s] of which a share [1] is usable."""
    return rate * share
