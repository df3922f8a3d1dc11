"""Questions asked backwards: which bandwidth, which share, which efficiency elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import kernel_of, total
from scalemath.core.result import Result, measured
from scalemath.kernels.allreduce import allreduce_ring
from scalemath.kernels.hierarchy_allreduce import allreduce_two_level
from scalemath.kernels.laws import (
    communication_share_from_gain,
    communication_share_from_slowdown,
    efficiency_on_network,
    gain_from_communication,
)
from scalemath.kernels.ring_limits import bandwidth_for_efficiency
from scalemath.scaling.laws import step
from scalemath.units import Quantity, quantities, quantity


@quantities(
    step("bandwidth", bandwidth_for_efficiency, "byte/s"),
    efficiency="number > 0 < 1",
    ranks="count >= 1",
    time_one="s > 0",
    size="byte",
    latency="s",
    reduction_rate="byte/s > 0 optional",
)
def required_bandwidth(
    *,
    efficiency: float,
    ranks: float,
    time_one: float,
    size: float,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
) -> Quantity:
    """Port rate at which fixed work with a ring allreduce keeps a scaling efficiency.

    Parameters
    ----------
    efficiency : float
        Scaling efficiency wanted [1].
    ranks : int
        Devices.
    time_one : Quantity [s]
        Time of the work on one device.
    size : Quantity [byte]
        Vector that is reduced once per step.
    latency : Quantity [s]
        One-way time of an empty message.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank.

    Returns
    -------
    Quantity [byte/s]
        Payload rate per direction; infinite when no bandwidth suffices.

    Examples
    --------
    >>> from scalemath.scaling import required_bandwidth
    >>> rate = required_bandwidth(
    ...     efficiency=0.6, ranks=64, time_one="62.55 ms", size="2 GiB")
    >>> print(f"{rate.to('GB/s'):.6g~P}")
    6488.8 GB/s
    """
    rate = bandwidth_for_efficiency(efficiency, time_one, size, ranks, latency, reduction_rate)
    return quantity(rate, "byte/s")


@quantities(
    step("share", communication_share_from_gain),
    gain="number > 0",
    reduction="number > 0",
)
def communication_share(gain: float, *, reduction: float = 2.0) -> float:
    """Share of communication that a measured gain implies.

    Parameters
    ----------
    gain : float
        Old time over new time of the whole step [1]; below 1 when it became slower.
    reduction : float
        Old time over new time of the communication alone [1]: 2 when it was halved, 1/9 when
        the network became nine times slower.

    Returns
    -------
    float
        Communication as a share of the old time [1].

    Raises
    ------
    ArgumentError
        When the communication did not change, so nothing follows.

    Examples
    --------
    >>> from scalemath.scaling import communication_share
    >>> print(f"{100 * communication_share(1.17, reduction=2):.6g} %")
    29.0598 %
    """
    if reduction == 1.0:
        raise ArgumentError("communication_share: reduction is 1, so no share follows")
    return communication_share_from_gain(gain, reduction)


@quantities(
    step("share", communication_share_from_slowdown),
    slowdown="number >= 1",
    factor="number > 1",
)
def share_from_slowdown(slowdown: float, *, factor: float) -> float:
    """Share of communication that a slow-down on a slower network implies.

    Parameters
    ----------
    slowdown : float
        Time on the slower network over time on the faster one [1]; a `Range` gives a range.
    factor : float
        How many times slower the network is [1].

    Returns
    -------
    float
        Communication as a share of the time on the faster network [1].

    Examples
    --------
    >>> from scalemath import Range
    >>> from scalemath.scaling import share_from_slowdown
    >>> print(share_from_slowdown(Range(2, 3), factor=9))
    0.125 to 0.25
    """
    return communication_share_from_slowdown(slowdown, factor)


@quantities(step("gain", gain_from_communication), share="number <= 1", reduction="number > 0")
def gain_from_faster_network(share: float, *, reduction: float = 2.0) -> float:
    """Gain of a whole step whose communication becomes faster.

    Parameters
    ----------
    share : float
        Communication as a share of the step [1].
    reduction : float
        How many times faster the communication becomes [1].

    Returns
    -------
    float
        Old time over new time [1].

    Examples
    --------
    >>> from scalemath.scaling import gain_from_faster_network
    >>> print(f"{gain_from_faster_network(0.290598, reduction=2):.4g}")
    1.17
    """
    return gain_from_communication(share, reduction)


@frozen(kw_only=True, eq=False)
class EfficiencyElsewhere(Result):
    """Scaling efficiency carried over from one network to another.

    Attributes
    ----------
    efficiency : float
        Measured scaling efficiency [1].
    slowdown : float
        Communication time there over communication time here [1].
    ranks : int
        Devices.
    layout : str
        "flat ring" or "two-level".
    """

    efficiency: float
    slowdown: float
    ranks: int
    layout: str

    @measured("1")
    def scaling_efficiency(self) -> float:
        """Scaling efficiency expected there."""
        return efficiency_on_network(self.efficiency, self.slowdown)

    @measured("1")
    def speedup(self) -> float:
        """Devices' worth of work expected there."""
        return float(self.scaling_efficiency) * self.ranks

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {"efficiency": (self.efficiency, "1"), "slowdown": (self.slowdown, "1")}

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(efficiency_on_network)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        return (
            f"efficiency {self.scaling_efficiency:.6g} expected on {self.ranks} ranks "
            f"({self.layout}), {self.speedup:.4g} devices' worth; {self.efficiency:.6g} here"
        )


@quantities(
    efficiency="number > 0 <= 1",
    ranks="count >= 2",
    bandwidth="byte/s/dir > 0",
    network_bandwidth="byte/s/dir > 0",
    nodes="count >= 1",
)
def efficiency_elsewhere(
    *,
    efficiency: float,
    ranks: float,
    bandwidth: float,
    network_bandwidth: float,
    nodes: float = 1.0,
    assumed: tuple[str, ...] = (),
) -> EfficiencyElsewhere:
    """Carry a measured scaling efficiency over to another network, by bandwidth alone.

    Parameters
    ----------
    efficiency : float
        Scaling efficiency measured inside one node [1].
    ranks : int
        Devices, the same in both places.
    bandwidth : Quantity [byte/s/dir]
        Rate of a port inside the node where it was measured.
    network_bandwidth : Quantity [byte/s/dir]
        Rate of a port of the other network.
    nodes : int
        Nodes over which the ranks are spread there. With one, the whole ring runs on the other
        network; with more, an allreduce in two levels uses `bandwidth` inside the nodes and
        `network_bandwidth` per device between them.

    Returns
    -------
    EfficiencyElsewhere
        Scaling efficiency expected there.

    Raises
    ------
    ArgumentError
        When the nodes do not divide the ranks.

    Examples
    --------
    >>> from scalemath.scaling import efficiency_elsewhere
    >>> print(efficiency_elsewhere(efficiency=0.73, ranks=8, bandwidth="50 GB/s/dir",
    ...                            network_bandwidth="25 GB/s/dir", nodes=2))
    efficiency 0.702889 expected on 8 ranks (two-level), 5.623 devices' worth; 0.73 here
    """
    if ranks % nodes:
        raise ArgumentError(
            f"efficiency_elsewhere: {ranks:.0f} ranks do not fill {nodes:.0f} equal nodes"
        )
    here = total(allreduce_ring(1.0, ranks, bandwidth, 0.0, math.inf))
    if nodes > 1.0:
        inside = ranks / nodes
        there = total(
            allreduce_two_level(
                1.0, inside, nodes, inside, bandwidth, network_bandwidth, 0.0, 0.0, math.inf
            )
        )
    else:
        there = total(allreduce_ring(1.0, ranks, network_bandwidth, 0.0, math.inf))
    return EfficiencyElsewhere(
        efficiency=efficiency,
        slowdown=there / here,
        ranks=int(ranks),
        layout="two-level" if nodes > 1.0 else "flat ring",
        assumptions=(*assumed, "communication bound by bandwidth, latency left out"),
    )
