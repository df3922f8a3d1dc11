"""More laws of scaling: Gustafson, the universal scalability law, inverse questions."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel


@kernel(
    unit="1",
    rises="ranks",
    falls="serial_fraction",
    source="Gustafson, CACM 31(5) (1988), 532-533",
    formula="speedup = ranks - serial_fraction (ranks - 1)",
)
def gustafson_speedup(serial_fraction: float, ranks: float) -> float:
    """Scaled speedup [1] when the parallel work grows with the number of devices."""
    return ranks - serial_fraction * (ranks - 1.0)


@kernel(
    unit="1",
    falls="contention coherency",
    free="ranks",
    free_because="with coherency above 0 the capacity rises to a peak and falls behind it",
    source="Gunther, Guerrilla Capacity Planning (2007), chapter 4",
    formula="capacity = ranks / (1 + contention (ranks - 1) + coherency ranks (ranks - 1))",
)
def usl_capacity(contention: float, coherency: float, ranks: float) -> float:
    """Relative capacity [1] of `ranks` devices by the universal scalability law."""
    return ranks / (1.0 + (ranks - 1.0) * (contention + coherency * ranks))


@kernel(
    unit="1",
    falls="contention coherency",
    source="Gunther, Guerrilla Capacity Planning (2007), chapter 4",
    formula="ranks at the peak = sqrt((1 - contention) / coherency)",
)
def usl_peak_ranks(contention: float, coherency: float) -> float:
    """Number of devices [1] beyond which the universal scalability law falls."""
    if contention >= 1.0:
        return 1.0
    if coherency <= 0.0:
        return math.inf
    return max(1.0, math.sqrt((1.0 - contention) / coherency))


@kernel(
    unit="1",
    falls="serial_fraction efficiency",
    source="Amdahl's law solved for the number of devices",
    formula="ranks = 1 + (1 / efficiency - 1) / serial_fraction",
)
def amdahl_ranks_at_efficiency(serial_fraction: float, efficiency: float) -> float:
    """Largest number of devices [1] that keeps a scaling efficiency under Amdahl's law."""
    if serial_fraction <= 0.0:
        return math.inf
    return 1.0 + (1.0 / efficiency - 1.0) / serial_fraction


@kernel(
    unit="1",
    rises="share",
    free="serial_fraction",
    free_because="fewer ranks reach a lower ceiling, and none a ceiling of 1 or less",
    source="Amdahl's law solved for the number of devices",
    formula="ranks = share / (1 - share) (1 / serial_fraction - 1)",
)
def amdahl_ranks_at_share(serial_fraction: float, share: float) -> float:
    """Number of devices [1] that reach a share of the ceiling; infinite when none above 1 does."""
    if serial_fraction >= 1.0 or serial_fraction <= 0.0 or share >= 1.0:
        return math.inf
    return max(1.0, share / (1.0 - share) * (1.0 / serial_fraction - 1.0))


@kernel(
    unit="1",
    free="gain reduction",
    free_because="a gain below 1 with a slower network is answered too; the sign then turns",
    source="Amdahl's law with the communication as the part that is improved",
    formula="share = (1 - 1 / gain) / (1 - 1 / reduction)",
)
def communication_share_from_gain(gain: float, reduction: float) -> float:
    """Share of communication [1] implied by a measured gain when it became `reduction` faster."""
    if reduction == 1.0:
        return math.inf
    return (1.0 - 1.0 / gain) / (1.0 - 1.0 / reduction)


@kernel(
    unit="1",
    rises="slowdown",
    falls="factor",
    source="Amdahl's law with the communication as the part that becomes slower",
    formula="share = (slowdown - 1) / (factor - 1)",
)
def communication_share_from_slowdown(slowdown: float, factor: float) -> float:
    """Share of communication [1] implied by a slow-down on a network `factor` times slower."""
    return communication_share_from_gain(1.0 / slowdown, 1.0 / factor)


@kernel(
    unit="1",
    rises="reduction",
    free="share",
    free_because="a larger share gains more from a faster network and loses more to a slower one",
    source="Amdahl's law with the communication as the part that is improved",
    formula="gain = 1 / (1 - share (1 - 1 / reduction))",
)
def gain_from_communication(share: float, reduction: float) -> float:
    """Gain [1] of a whole step whose communication becomes `reduction` times faster."""
    return 1.0 / (1.0 - share * (1.0 - 1.0 / reduction))


@kernel(
    unit="s",
    rises="efficiency ranks communication",
    source="Grama, Gupta & Kumar, IEEE Parallel & Distributed Technology 1(3) (1993), 12-21",
    formula="work = efficiency / (1 - efficiency) ranks communication",
)
def isoefficiency_work(efficiency: float, ranks: float, communication: float) -> float:
    """Work [s on one device] that keeps an efficiency against this communication [s]."""
    if efficiency >= 1.0:
        return math.inf
    return efficiency / (1.0 - efficiency) * ranks * communication


@kernel(
    unit="1",
    rises="efficiency",
    falls="slowdown",
    source="Amdahl's law on two networks: the overhead per unit of work scales with slowdown",
    formula="efficiency = 1 / (1 + (1 / efficiency - 1) slowdown)",
)
def efficiency_on_network(efficiency: float, slowdown: float) -> float:
    """Scaling efficiency [1] when the communication takes `slowdown` times as long."""
    return 1.0 / (1.0 + (1.0 / efficiency - 1.0) * slowdown)
