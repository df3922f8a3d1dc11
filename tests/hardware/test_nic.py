"""Network interfaces: ports, closure, labels that fit the platform."""

from __future__ import annotations

import pytest

from scalemath.core.errors import ArgumentError, ContradictionError, ConventionError
from scalemath.hardware.nic import Nic
from scalemath.hardware.protocols import platform_caution


def test_two_ports_or_their_sum() -> None:
    two = Nic(ports=2, port_rate="400 Gb/s/dir")
    assert two.rate.m_as("Gbit/s/dir") == pytest.approx(800)
    assert two.lower() == 100e9
    assert Nic(bandwidth="800 Gb/s/dir").lower() == 100e9
    assert Nic(ports=2, port_rate="400 Gb/s/dir", bandwidth="800 Gb/s/dir").lower() == 100e9
    assert "2 port(s)" in str(two)
    ndr = Nic(port_rate="400 Gb/s/dir", protocol="InfiniBand", generation="NDR")
    assert ndr.generation == "NDR"


def test_refused() -> None:
    with pytest.raises(ContradictionError, match="800"):
        Nic(ports=2, port_rate="400 Gb/s/dir", bandwidth="400 Gb/s/dir")
    with pytest.raises(ArgumentError, match="port_rate"):
        Nic()
    with pytest.raises(ConventionError, match="InfiniBand"):
        Nic(port_rate="800 Gb/s/dir", protocol="RoCEv2", generation="XDR")
    with pytest.raises(ConventionError, match="direction"):
        Nic(port_rate="400 Gb/s")


@pytest.mark.parametrize(
    ("platform", "nic", "flagged"),
    [
        ("GB200", "ConnectX-8", True),
        ("GB200", "ConnectX-7", False),
        ("GB300", "ConnectX-8", False),
        ("unknown", "ConnectX-8", False),
    ],
)
def test_interfaces_of_platforms(platform: str, nic: str, flagged: bool) -> None:
    assert bool(platform_caution(platform, nic)) == flagged
    if flagged:
        assert "ConnectX-7 (400 Gb/s" in platform_caution(platform, nic)
