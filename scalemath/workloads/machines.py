"""Machines whose collectives and rates are known, and how to make one of any device."""

from __future__ import annotations

from attrs import evolve

from scalemath.core.errors import ArgumentError
from scalemath.units import QuantityLike, to_si
from scalemath.workloads.fitted import FITTED
from scalemath.workloads.machine import MEASURED_CURVES, Machine, curves_from_rate

# Dense 16-bit peak, memory rate, memory, scale-up rate, scale-out rate, share of the peak in
# the best shape of a public matmul benchmark, power with its share of the server.
_DEVICES: dict[str, tuple[float, float, float, float, float, float, float]] = {
    "A100": (312e12, 2.039e12, 80e9, 300e9, 25e9, 0.869, 650.0),
    "A100-40GB": (312e12, 1.555e12, 40e9, 300e9, 25e9, 0.869, 650.0),
    "H100": (989.5e12, 3.35e12, 80e9, 450e9, 50e9, 0.803, 1275.0),
    "H800": (989.5e12, 3.35e12, 80e9, 200e9, 50e9, 0.803, 1275.0),
    "H200": (989.5e12, 4.8e12, 141e9, 450e9, 50e9, 0.803, 1275.0),
    "B200": (2250e12, 8.0e12, 180e9, 900e9, 50e9, 0.776, 1790.0),
    "B300": (2250e12, 8.0e12, 270e9, 900e9, 100e9, 0.788, 1900.0),
    "GB200": (2500e12, 8.0e12, 186e9, 900e9, 50e9, 0.729, 1670.0),
    "GB300": (2500e12, 8.0e12, 278e9, 900e9, 100e9, 0.75, 1970.0),
}
_MEASURED = {"A100": "A100", "A100-40GB": "A100", "H100": "H100", "H200": "H100"}
RATE_NAMES = {
    "A100": "A100",
    "H100": "H100",
    "H200": "H100",
    "GB200": "",
    "GB300": "",
    "B200": "B200",
}
"""Word in the name of a device to the name of its measured curves and fitted shares."""
_DOMAIN = {"GB200": 72, "GB300": 72}
_RULE = 0.80
_ATTENTION = 0.45


def reference_machine(name: str) -> Machine:
    """Return a cluster of a known device, eight to a node unless it comes as a rack.

    Parameters
    ----------
    name : str
        "A100", "H100", "H200", "H800", "B200", "B300", "GB200" or "GB300".

    Returns
    -------
    Machine
        With the shares of the peak fitted to published training steps where there are any
        ("best shapes"), else 0.8 of the best shape of a public matmul benchmark.

    Raises
    ------
    ArgumentError
        When the device is not known.
    """
    row = _DEVICES.get(name)
    if row is None:
        raise ArgumentError(
            f"no reference machine {name!r}; there are {', '.join(_DEVICES)}, or make a Machine"
        )
    peak, memory_rate, memory, scale_up, nic, best, power = row
    base = _MEASURED.get(name, "")
    curves = MEASURED_CURVES.get(base or name) or curves_from_rate(scale_up)
    return Machine(
        name=name,
        peak=peak,
        memory_bandwidth=memory_rate,
        memory=memory,
        matmul_share=FITTED[f"e_{base}"].value if base else _RULE * best,
        attention_share=FITTED[f"a_{base}"].value if base else _ATTENTION,
        rates_from="best shapes",
        node_ranks=_DOMAIN.get(name, 8),
        allreduce=curves[0],
        gather=curves[1],
        exchange=curves[2],
        nic_bandwidth=nic,
        power=power,
    )


def machine_from_datasheet(
    name: str,
    *,
    peak: QuantityLike,
    memory_bandwidth: QuantityLike,
    memory: QuantityLike,
    scale_up: QuantityLike,
    scale_out: QuantityLike,
    node_ranks: int = 8,
    matmul_share: float | None = None,
    attention_share: float | None = None,
    measured: bool = False,
    power: QuantityLike = "0 W",
) -> Machine:
    """Make a machine of the figures of a datasheet.

    Parameters
    ----------
    name : str
        Name of the device.
    peak : Quantity [flop/s]
        Dense 16-bit rate.
    memory_bandwidth : Quantity [byte/s]
        Peak memory rate.
    memory : Quantity [byte]
        Memory of a device.
    scale_up : Quantity [byte/s/dir]
        Rate of the scale-up port per direction.
    scale_out : Quantity [byte/s/dir]
        Rate of the scale-out port per device and direction.
    node_ranks : int
        Devices joined by the scale-up network.
    matmul_share, attention_share : float, optional
        Shares of the peak that products and fused attention reach; 0.6 and 0.4 by default.
    measured : bool
        Whether both shares were measured on this machine.
    power : Quantity [W]
        Power of a device with its share of the server.

    Returns
    -------
    Machine
        With a band of +-30 % unless both shares are stated (+-12 %) or measured (+-5 %).
    """
    stated = matmul_share is not None and attention_share is not None
    source = "measured" if stated and measured else "best shapes" if stated else "datasheet"
    curves = curves_from_rate(to_si(scale_up, "byte/s/dir"))
    return Machine(
        name=name,
        peak=to_si(peak, "flop/s"),
        memory_bandwidth=to_si(memory_bandwidth, "byte/s"),
        memory=to_si(memory, "byte"),
        matmul_share=0.6 if matmul_share is None else matmul_share,
        attention_share=0.4 if attention_share is None else attention_share,
        rates_from=source,
        node_ranks=node_ranks,
        allreduce=curves[0],
        gather=curves[1],
        exchange=curves[2],
        nic_bandwidth=to_si(scale_out, "byte/s/dir"),
        power=to_si(power, "W"),
    )


def with_measured_rates(
    machine: Machine, *, matmul_share: float, attention_share: float
) -> Machine:
    """Return the machine with shares of the peak that were measured on it.

    Parameters
    ----------
    machine : Machine
        What was measured.
    matmul_share, attention_share : float
        Shares of the peak that large products and fused attention reach [1].

    Returns
    -------
    Machine
        The same with a band of +-5 %.
    """
    return evolve(
        machine,
        matmul_share=matmul_share,
        attention_share=attention_share,
        rates_from="measured",
    )
