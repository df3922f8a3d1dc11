"""What a device name in a log says: scale-up network, usual box, and measured defaults."""

from __future__ import annotations

import re
from typing import NamedTuple


class KnownDevice(NamedTuple):
    """An accelerator as logs name it.

    Attributes
    ----------
    pattern : str
        Regular expression for the name.
    fabric : str
        Link of the catalogue that joins accelerators inside a domain.
    box : int
        Accelerators of the usual box.
    domain : int
        Accelerators of the usual scale-up domain.
    multicast : bool
        Whether the switches of the domain reduce (NVLS).
    mesh : bool
        Whether links go from each accelerator to each other one, without a switch.
    nics, nic_fabric : int, str
        Interfaces of the usual box and their link.
    system : str
        Name of the measured envelopes, "" when there are none.
    """

    pattern: str
    fabric: str
    box: int
    domain: int
    multicast: bool
    mesh: bool
    nics: int
    nic_fabric: str
    system: str


DEVICES = (
    KnownDevice(
        r"\bGB300\b", "nvlink5", 4, 72, True, False, 4, "ethernet-800g", "GB300"
    ),
    KnownDevice(r"\bGB200\b", "nvlink5", 4, 72, True, False, 4, "infiniband-ndr", ""),
    KnownDevice(r"\bB[23]00\b", "nvlink5", 8, 8, True, False, 8, "infiniband-ndr", "B200"),
    KnownDevice(r"\bGH200\b", "nvlink4", 4, 4, False, True, 4, "infiniband-hdr", ""),
    KnownDevice(r"\bH[12]00 (?:PCIe|NVL)", "pcie5-x16", 8, 8, False, False, 1, "", ""),
    KnownDevice(r"\bH[128]00\b", "nvlink4", 8, 8, True, False, 8, "infiniband-ndr", "H100"),
    KnownDevice(r"\bH20\b", "nvlink4", 8, 8, True, False, 8, "infiniband-ndr", ""),
    KnownDevice(r"\bA[18]00[ -](?:\d+GB )?PCI", "pcie4-x16", 8, 8, False, False, 1, "", ""),
    KnownDevice(r"\bA[18]00\b", "nvlink3", 8, 8, False, False, 8, "infiniband-hdr", "A100"),
    KnownDevice(r"\bV100\b.*SXM", "nvlink2", 8, 8, False, True, 4, "infiniband-edr", ""),
    KnownDevice(r"\bMI35[05]X\b", "xgmi-mi355x", 8, 8, False, True, 8, "infiniband-ndr", ""),
    KnownDevice(r"\bMI3(?:00|25)X\b", "xgmi-mi300x", 8, 8, False, True, 8, "infiniband-ndr", ""),
    KnownDevice(r"\bMI2[15]0X?\b", "xgmi-mi250x", 8, 8, False, True, 4, "infiniband-hdr", ""),
    KnownDevice(r"\bGB10\b|DGX Spark", "", 1, 1, False, False, 1, "ethernet-200g", ""),
    KnownDevice(r"RTX PRO 6000", "pcie5-x16", 8, 8, False, False, 1, "", "PCIe"),
    KnownDevice(r"\bRTX [45]0\d0\b|\bRTX 4090|\bL40S?\b|\bL4\b|\bA10G?\b|RTX 3090|\bR9700\b",
                "pcie4-x16", 8, 8, False, False, 1, "", ""),
)  # fmt: skip
"""The first pattern that fits counts."""


def device_named(text: str) -> KnownDevice | None:
    """Return what is known of a device by its name, None for a name that is not known."""
    for device in DEVICES:
        if re.search(device.pattern, text):
            return device
    return None
