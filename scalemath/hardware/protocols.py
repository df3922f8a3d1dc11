"""Labels of link technologies that belong together, and those that do not."""

from __future__ import annotations

from scalemath.core.errors import ConventionError
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
}
"""InfiniBand generations and the rate of a 4x port in Gbit/s per direction (IBTA roadmap)."""

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
