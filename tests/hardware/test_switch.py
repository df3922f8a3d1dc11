"""Switches: three figures of which two are enough, directions, splits, labels."""

from __future__ import annotations

from typing import Any

import pytest

from scalemath.core.errors import (
    ArgumentError,
    ContradictionError,
    ConventionError,
    RangeError,
    ScalemathError,
)
from scalemath.hardware.switch import Switch, oversubscription


@pytest.mark.parametrize(
    ("ports", "rate", "terabits"), [(144, 800, 115.2), (64, 800, 51.2), (128, 400, 51.2)]
)
def test_capacity_counts_one_direction(ports: int, rate: int, terabits: float) -> None:
    switch = Switch(ports=ports, port_rate=f"{rate} Gb/s/dir")
    assert switch.capacity_per_direction.m_as("Tbit/s/dir") == pytest.approx(terabits)
    assert switch.capacity_both_directions.m_as("Tbit/s/bidir") == pytest.approx(2 * terabits)
    assert switch.capacity_both_directions == switch.capacity_per_direction
    assert f"{terabits:g} Tbit/s/dir" in str(switch)


def test_two_figures_give_the_third_in_either_convention() -> None:
    """QM9700 is sold with 51.2 Tb/s in both directions, SN5600 with 51.2 in one."""
    quantum = Switch(ports=64, capacity="51.2 Tb/s/bidir")
    assert quantum.rate.m_as("Gbit/s/dir") == pytest.approx(400)
    spectrum = Switch(capacity="51.2 Tb/s/dir", port_rate="800 Gb/s/dir")
    assert spectrum.radix == 64
    closed = Switch(ports=64, port_rate="400 Gb/s/dir", capacity="51.2 Tb/s/bidir")
    assert closed.radix == 64


def test_nvlink_switch_chip_and_tray() -> None:
    chip = Switch(ports=72, port_rate="100 GB/s/bidir")
    assert chip.capacity_both_directions.m_as("TB/s/bidir") == pytest.approx(7.2)
    tray = Switch(ports=144, port_rate="50 GB/s/dir", capacity="14.4 TB/s/bidir")
    assert tray.capacity_per_direction.m_as("TB/s/dir") == pytest.approx(7.2)


@pytest.mark.parametrize(("nics", "servers"), [(1, 128), (4, 32), (8, 16), (3, 42)])
def test_servers_by_interfaces(nics: int, servers: int) -> None:
    assert Switch(ports=128, port_rate="400 Gb/s/dir").servers(nics) == servers


def test_split_keeps_the_capacity() -> None:
    switch = Switch(ports=64, port_rate="800 Gb/s/dir", protocol="Ethernet", generation="800GbE")
    four = switch.split(4)
    assert (four.radix, four.rate.m_as("Gbit/s/dir")) == (256, pytest.approx(200))
    assert four.capacity_per_direction == switch.capacity_per_direction
    with pytest.raises(RangeError):
        switch.split(0)


@pytest.mark.parametrize(
    ("down", "up", "ratio"),
    [
        ((4, "1 Gb/s"), (1, "1 Gb/s"), 4),
        ((1, "4 Gb/s"), (1, "1 Gb/s"), 4),
        ((72, "800 Gb/s"), (144, "400 Gb/s"), 1),
        ((128, "200 Gb/s"), (60, "400 Gb/s"), 128 / 120),
    ],
)
def test_oversubscription_from_ports(down: Any, up: Any, ratio: float) -> None:
    assert oversubscription(down=down, up=up) == pytest.approx(ratio)


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"ports": 64, "port_rate": "800 Gb/s"}, ConventionError, "without a direction"),
    ({"ports": 64}, ArgumentError, "two of"),
    (
        {"ports": 64, "port_rate": "800 Gb/s/dir", "capacity": "51.2 Tb/s/bidir"},
        ContradictionError,
        "both directions",
    ),
    ({"capacity": "50 Tb/s/dir", "port_rate": "800 Gb/s/dir"}, ContradictionError, "62.5 ports"),
    ({"ports": 0, "port_rate": "800 Gb/s/dir"}, RangeError, "ports"),
    (
        {"ports": 64, "port_rate": "800 Gb/s/dir", "protocol": "Ethernet", "generation": "XDR"},
        ConventionError,
        "InfiniBand generation",
    ),
    (
        {"ports": 64, "port_rate": "800 Gb/s/dir", "protocol": "InfiniBand", "generation": "NDR"},
        ConventionError,
        "400 Gbit/s",
    ),
    (
        {
            "ports": 64,
            "port_rate": "800 Gb/s/dir",
            "protocol": "InfiniBand",
            "generation": "800GbE",
        },
        ConventionError,
        "Ethernet",
    ),
]


@pytest.mark.parametrize(("given", "error", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(given: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Switch(**given)


def test_servers_need_an_interface() -> None:
    with pytest.raises(ScalemathError, match="nics_per_server"):
        Switch(ports=64, port_rate="800 Gb/s/dir").servers(0)
