"""Energy per bit and watts: a module moves its line rate in each direction, counted once.

Energy per bit is in J/bit on the rate of one direction; a link has two ends.
"""

from __future__ import annotations

from typing import NamedTuple

from scalemath.core.kernel import kernel

_CONVENTION = "module convention: pJ/bit counts the line rate of one direction"


class NetworkPower(NamedTuple):
    """Power of a fabric by part [W]."""

    switches: float
    transceivers: float
    cables: float
    nics: float


@kernel(
    unit="W",
    rises="energy_per_bit rate",
    source=_CONVENTION,
    formula="energy_per_bit * rate",
)
def module_power(energy_per_bit: float, rate: float) -> float:
    """Power of one module, or one end of a link, at a line rate per direction [byte/s]."""
    return energy_per_bit * (8.0 * rate)


@kernel(
    unit="W",
    rises="energy_per_bit rate",
    source=f"{_CONVENTION}; a link has two ends",
    formula="2 * energy_per_bit * rate",
)
def link_power(energy_per_bit: float, rate: float) -> float:
    """Power of both ends of a link."""
    return 2.0 * module_power(energy_per_bit, rate)


@kernel(
    unit="J/bit",
    rises="power",
    falls="rate",
    source=_CONVENTION,
    formula="power / rate",
)
def energy_per_bit(power: float, rate: float) -> float:
    """Energy per bit of a module of known power."""
    return power / (8.0 * rate)


@kernel(
    unit="W",
    rises="switches switch_power modules module_watt cables cable_watt nics nic_watt",
    source="sum over the parts",
    formula="switches switch_power + modules module_watt + cables cable_watt + nics nic_watt",
)
def network_power(
    switches: float,
    switch_power: float,
    modules: float,
    module_watt: float,
    cables: float,
    cable_watt: float,
    nics: float,
    nic_watt: float,
) -> NetworkPower:
    """Power of a fabric by part."""
    return NetworkPower(
        switches * switch_power, modules * module_watt, cables * cable_watt, nics * nic_watt
    )


@kernel(
    unit="W",
    rises="it_power usage_effectiveness",
    source="definition of the power usage effectiveness (ISO/IEC 30134-2)",
    formula="it_power * usage_effectiveness",
)
def facility_power(it_power: float, usage_effectiveness: float) -> float:
    """Power at the meter of the hall: IT power times PUE, applied once."""
    return it_power * usage_effectiveness


@kernel(
    unit="1",
    rises="part",
    falls="whole",
    source="definition",
    formula="part / whole",
)
def power_share(part: float, whole: float) -> float:
    """Share of a part in a whole of the same scope."""
    return part / whole
