"""Labels of link technologies that belong together, and those that do not."""

from __future__ import annotations

import re

from scalemath.core.errors import ArgumentError, ConventionError
from scalemath.units import display

INFINIBAND = {
    "SDR": 10,
    "DDR": 20,
    "QDR": 40,
    "FDR": 56,
    "EDR": 100,
    "HDR": 200,
    "NDR": 400,
    "XDR": 800,
    "GDR": 1600,
}
"""InfiniBand generations and the rate of a 4x port in Gbit/s per direction (IBTA roadmap)."""

TECHNOLOGIES = (
    "InfiniBand",
    "Ethernet",
    "RoCE",
    "RoCEv2",
    "Omni-Path",
    "Slingshot",
    "EFA",
    "NVLink",
    "NVLink-C2C",
    "Infinity Fabric",
    "xGMI",
    "UALink",
    "ICI",
    "NeuronLink",
    "HCCS",
    "SUE",
    "PCIe",
    "CXL",
)
"""Technologies a link may name, alone or with a generation: "NVLink 5", "InfiniBand NDR"."""

_NEAR = 0.05
"""Relative distance of a rate from its generation's, for FDR's 56.25 Gbit/s and the like."""

_LIKELY_NIC = {
    "H100": ("ConnectX-7", "400 Gb/s"),
    "H200": ("ConnectX-7", "400 Gb/s"),
    "B200": ("ConnectX-7", "400 Gb/s"),
    "GB200": ("ConnectX-7", "400 Gb/s"),
    "B300": ("ConnectX-8", "800 Gb/s"),
    "GB300": ("ConnectX-8", "800 Gb/s"),
}


def check_generation(owner: str, protocol: str | None, generation: str | None, rate: float) -> None:
    """Refuse a generation of another protocol, or of another rate.

    Parameters
    ----------
    owner : str
        What the message speaks of.
    protocol, generation : str or None
        Labels as given; nothing is checked where one is missing.
    rate : float
        Rate of the port per direction [byte/s].

    Raises
    ------
    ConventionError
        For instance for XDR over Ethernet, or an NDR port of 800 Gbit/s.
    """
    if generation is None:
        return
    speed = INFINIBAND.get(generation)
    ethernet = (protocol or "").lower() in ("ethernet", "roce", "rocev2")
    if speed is not None and ethernet:
        raise ConventionError(
            f"{owner}: {generation} is an InfiniBand generation, not one of {protocol}; write "
            f"generation='{speed}GbE' for Ethernet, or protocol='InfiniBand'"
        )
    if generation.endswith("GbE"):
        speed = int(generation.removesuffix("GbE"))
        if not ethernet and protocol is not None:
            raise ConventionError(
                f"{owner}: {generation} is Ethernet, not {protocol}; write protocol='Ethernet'"
            )
    if speed is not None and abs(rate * 8e-9 / speed - 1.0) > 1e-6:
        raise ConventionError(
            f"{owner}: {generation} is {speed} Gbit/s per direction, the port has "
            f"{display(rate * 8.0, 'bit/s')}"
        )


def check_technology(
    owner: str, technology: str, rates: tuple[float, ...], lanes: float = 4.0
) -> None:
    """Refuse a technology nobody knows, or a generation of another technology or rate.

    Parameters
    ----------
    owner : str
        What the message speaks of.
    technology : str
        Such as "InfiniBand NDR"; nothing is checked when empty.
    rates : tuple of float
        Rate of one link per direction, before and after coding [byte/s]; one must fit.
    lanes : float
        Lanes of the link; an InfiniBand generation is named for four.

    Raises
    ------
    ArgumentError
        If no known technology or generation is named.
    ConventionError
        For instance for "Ethernet XDR".
    """
    if not technology:
        return
    known = [name for name in TECHNOLOGIES if _named(name, technology)]
    words = re.findall(r"[A-Za-z0-9.]+", technology)
    named = [f"{word[:-3]}GbE" for word in words if re.fullmatch(r"\d+gbe", word.lower())]
    named += [word.upper() for word in words if word.upper() in INFINIBAND]
    if not known and not named:
        raise ArgumentError(
            f"{owner}: technology is {technology!r}; wanted one of {', '.join(TECHNOLOGIES)}, with "
            "its generation if need be; leave it out for anything else and use name="
        )
    for generation in named:
        of_ethernet = generation.endswith("GbE")
        owners = ("Ethernet", "RoCE", "RoCEv2") if of_ethernet else ("InfiniBand",)
        speed = int(generation[:-3]) if of_ethernet else INFINIBAND[generation]
        if known and not set(known) & set(owners):
            raise ConventionError(
                f"{owner}: {generation} is {owners[0]}, not {known[0]}; write "
                f"technology='{owners[0]} {generation}', or '{known[0]}' with its own generation"
            )
        nominal = speed * 0.125e9 * (1.0 if of_ethernet else lanes / 4.0)
        if not any(abs(rate / nominal - 1.0) <= _NEAR for rate in rates):
            raise ConventionError(
                f"{owner}: {generation} is {speed} Gbit/s per direction"
                f"{'' if of_ethernet else ' on four lanes'}, the link has "
                f"{display(rates[0] * 8.0, 'bit/s')}"
            )


def _named(name: str, text: str) -> bool:
    pattern = re.escape(name.lower())
    return re.search(rf"(?<![a-z]){pattern}(?![a-z])", text.lower()) is not None


def platform_caution(platform: str, nic: str) -> str:
    """Say when a network interface is not the one a platform's reference design lists.

    Parameters
    ----------
    platform, nic : str
        As in "GB200" and "ConnectX-8".

    Returns
    -------
    str
        The caution; empty when the pair is as expected or not known.

    Examples
    --------
    >>> platform_caution("GB300", "ConnectX-8")
    ''
    """
    expected = _LIKELY_NIC.get(platform)
    if expected is None or nic == expected[0]:
        return ""
    return (
        f"{platform} with {nic}: the vendor's reference architecture lists {expected[0]} "
        f"({expected[1]} per GPU) for {platform}"
    )
