"""What a step needs to know of the machine: rates, links, and where the rates come from."""

from __future__ import annotations

from typing import NamedTuple

from attrs import frozen

from scalemath.workloads.fitted import FITTED


class Curve(NamedTuple):
    """Time of a collective inside a node: startup + x / bandwidth + ramp sqrt(x).

    Attributes
    ----------
    startup : float
        Time of an empty collective [s].
    bandwidth : float
        Rate per rank [byte/s].
    pair_factor : float
        Share of that rate between two ranks [1].
    ramp : float
        Pipelining ramp [s / sqrt(byte)].
    """

    startup: float
    bandwidth: float
    pair_factor: float
    ramp: float


@frozen(kw_only=True)
class Machine:
    """A cluster of equal devices as a training step sees it, in SI units.

    Attributes
    ----------
    name : str
        Name of the device.
    peak : float
        Dense 16-bit rate [flop/s].
    memory_bandwidth : float
        Peak memory rate [byte/s].
    memory : float
        Memory of a device [byte].
    matmul_share : float
        Share of the peak that large matrix products reach [1].
    attention_share : float
        Share of the peak that fused attention reaches, forward and backward together [1].
    memory_share : float
        Share of the memory rate that streaming kernels reach [1].
    rates_from : str
        "measured" on this machine, "best shapes" of the device, or "datasheet".
    node_ranks : int
        Devices joined by one scale-up network.
    allreduce, gather, exchange : Curve
        Collectives inside a node: allreduce; all-gather and reduce-scatter; all-to-all.
    nic_bandwidth : float
        Scale-out rate per device and direction [byte/s].
    rails : float
        NICs of a node that one collective uses at most; all of them where not stated.
    nic_share : float
        Share of it that collectives reach [1].
    network_latency : float
        One round of a collective across nodes [s].
    hand_over_latency : float
        Start of a point-to-point transfer between stages [s].
    straggler_share : float
        Growth of the step per doubling of ranks beyond a node [1].
    power : float
        Power of a device under load, its share of the node included [W].
    """

    name: str
    peak: float
    memory_bandwidth: float
    memory: float
    matmul_share: float
    attention_share: float
    memory_share: float = 0.8
    rates_from: str = "datasheet"
    node_ranks: int = 8
    allreduce: Curve
    gather: Curve
    exchange: Curve
    nic_bandwidth: float
    rails: float = 1024.0
    nic_share: float = 0.85
    network_latency: float = 20e-6
    hand_over_latency: float = 10e-6
    straggler_share: float = FITTED["straggler"].value
    power: float = 0.0

    @property
    def memory_rate(self) -> float:
        """Memory rate that kernels reach [byte/s]."""
        return self.memory_bandwidth * self.memory_share

    @property
    def nic_rate(self) -> float:
        """Scale-out rate that collectives reach [byte/s]."""
        return self.nic_bandwidth * self.nic_share


_MEGA = 1e-6 / 1e3  # microseconds per sqrt(megabyte) in seconds per sqrt(byte)


def _curve(startup_us: float, gigabytes: float, pair: float, ramp: float) -> Curve:
    return Curve(startup_us * 1e-6, gigabytes * 1e9, pair, ramp * _MEGA)


# Fitted to measured collectives inside one node (16-bit, 1 MiB and more): mean error
# 4 to 8 % on A100 and H100, 5 to 13 % on B200. Data: aiconfigurator-core 0.12.0 (Apache-2.0).
MEASURED_CURVES: dict[str, tuple[Curve, Curve, Curve]] = {
    "A100": (
        _curve(18.6, 236, 0.93, 10.0),
        _curve(9.1, 247, 0.82, 15.0),
        _curve(13.2, 227, 0.84, 10.4),
    ),
    "H100": (
        _curve(4.6, 470, 0.84, 9.7),
        _curve(4.1, 394, 0.76, 8.8),
        _curve(8.4, 342, 0.90, 4.9),
    ),
    "B200": (
        _curve(4.6, 911, 1.0, 11.0),
        _curve(5.8, 874, 0.82, 9.6),
        _curve(12.9, 570, 0.63, 3.3),
    ),
}


def curves_from_rate(bandwidth: float) -> tuple[Curve, Curve, Curve]:
    """Collective curves of a scale-up network of which only the port rate is known.

    Parameters
    ----------
    bandwidth : float
        Rate per rank and direction [byte/s].

    Returns
    -------
    tuple of Curve
        Allreduce, gather and exchange, with the mean constants of the measured networks.
    """
    return (
        Curve(9e-6, 0.9 * bandwidth, 0.92, 10 * _MEGA),
        Curve(6e-6, 0.87 * bandwidth, 0.8, 11 * _MEGA),
        Curve(11e-6, 0.7 * bandwidth, 0.8, 6 * _MEGA),
    )
