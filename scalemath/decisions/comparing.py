"""Two ways to spend the same cards, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.kernels.laws import gain_from_communication
from scalemath.units import quantities

UNITS_OF_A_NODE: Mapping[str, int] = {
    "management controllers": 1,
    "network configurations": 1,
    "driver installations": 1,
    "failure domains": 1,
}
"""What is operated once for each node."""


@frozen(kw_only=True, eq=False)
class SplitComparison(Result):
    """One larger node against several smaller ones with as many devices.

    Attributes
    ----------
    ranks, nodes : int
        Devices in all, and nodes they are split over.
    inside, across : float
        Scaling efficiency inside one node, and over the nodes [1].
    """

    ranks: int
    nodes: int
    inside: float
    across: float

    @measured("1")
    def relative_throughput(self) -> float:
        """Throughput of the split job over that of the one node."""
        return self.across / self.inside

    @measured("1")
    def devices_inside(self) -> float:
        """Devices' worth of work of the one node."""
        return self.ranks * self.inside

    @measured("1")
    def devices_across(self) -> float:
        """Devices' worth of work of the split job."""
        return self.ranks * self.across

    @property
    def operated(self) -> dict[str, tuple[int, int]]:
        """What is operated, on one node and on all of them."""
        return {name: (count, count * self.nodes) for name, count in UNITS_OF_A_NODE.items()}

    def remarks(self) -> list[str]:
        """What is operated."""
        return [f"{name}: {one} against {many}" for name, (one, many) in self.operated.items()]

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.nodes} nodes of {self.ranks // self.nodes} give {self.relative_throughput:.6g} "
            f"of one node of {self.ranks} ({self.devices_across:.4g} against "
            f"{self.devices_inside:.4g} devices' worth), with {self.nodes} times the units to run"
        )


@quantities(
    inside="number > 0 <= 1",
    across="number > 0 <= 1",
    ranks="count >= 2",
    nodes="count >= 2",
)
def split_or_whole(
    *, inside: float, across: float, ranks: float = 8.0, nodes: float = 2.0
) -> SplitComparison:
    """One larger node against several smaller ones with as many devices.

    Parameters
    ----------
    inside : float
        Scaling efficiency inside the one node [1].
    across : float
        Scaling efficiency over the smaller nodes, measured or from `efficiency_elsewhere` [1].
    ranks : int
        Devices in all [count].
    nodes : int
        Smaller nodes [count].

    Returns
    -------
    SplitComparison
        Relative throughput, devices' worth of work, units to operate.

    Examples
    --------
    >>> from scalemath.decisions import split_or_whole
    >>> print(f"{split_or_whole(inside=0.73, across=0.65).relative_throughput:.6f}")
    0.890411
    """
    if ranks % nodes:
        raise ArgumentError(f"split_or_whole: {ranks:.0f} devices do not fill {nodes:.0f} nodes")
    return SplitComparison(ranks=int(ranks), nodes=int(nodes), inside=inside, across=across)


@frozen(kw_only=True, eq=False)
class NetworkPenalty(Result):
    """How much slower a job runs on a slower network.

    Attributes
    ----------
    ratio, share : float
        Rate of the faster over the slower network, share of communication on the faster [1].
    """

    ratio: float
    share: float

    @measured("1")
    def slowdown(self) -> float:
        """Time there over time here."""
        return 1.0 / gain_from_communication(self.share, 1.0 / self.ratio)

    @measured("1")
    def relative_efficiency(self) -> float:
        """Throughput there over throughput here."""
        return gain_from_communication(self.share, 1.0 / self.ratio)

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Ratio and share."""
        return {"ratio": (self.ratio, "1"), "share": (self.share, "1")}

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(gain_from_communication)
        return record.formula, record.source


@quantities(
    bandwidth="byte/s/dir > 0",
    network_bandwidth="byte/s/dir > 0",
    share="number >= 0 <= 1",
    efficiency="number > 0 <= 1",
)
def network_penalty(
    *,
    bandwidth: float,
    network_bandwidth: float,
    share: float = 1.0,
    efficiency: float = 1.0,
    assumed: tuple[str, ...] = (),
) -> NetworkPenalty:
    """Slow-down of a job on a slower network: a PCIe box against SXM, a cliff between boxes.

    Parameters
    ----------
    bandwidth : Quantity [byte/s/dir]
        Rate of a port of the faster network.
    network_bandwidth : Quantity [byte/s/dir]
        Line rate of a port of the slower one.
    share : float
        Share of the time that is communication on the faster one; 1 gives the cliff of the
        communication itself [1].
    efficiency : float
        Usable over line rate of the slower one [1].

    Returns
    -------
    NetworkPenalty
        Slow-down and relative efficiency.

    Examples
    --------
    >>> from scalemath.decisions import network_penalty
    >>> print(network_penalty(bandwidth="50 GB/s/dir", network_bandwidth="25 Gb/s/dir").slowdown)
    16.0
    """
    ratio = bandwidth / (network_bandwidth * efficiency)
    return NetworkPenalty(ratio=ratio, share=share, assumptions=assumed)
