"""Ports: injection, what one peer gets, and meshes that do not reach everyone."""

from __future__ import annotations

import pytest

from scalemath.core.errors import ContradictionError, RangeError
from scalemath.hardware.link import Link
from scalemath.hardware.port import Port


def gigabytes(rate: object) -> float:
    return rate.m_as("GB/s/dir")


def test_injection_is_not_the_share_of_each_peer() -> None:
    port = Port(link=Link(links=18, per_link="50 GB/s/dir"))
    assert gigabytes(port.bandwidth) == 900
    assert gigabytes(port.to_one_peer(71)) == 900
    assert gigabytes(port.per_peer(71)) == pytest.approx(12.6761, rel=1e-5)


def test_a_mesh_reaches_a_peer_over_its_own_link_only() -> None:
    port = Port(link=Link(per_link="64 GB/s/dir", wiring="mesh"), links=7)
    assert gigabytes(port.bandwidth) == 448
    assert gigabytes(port.to_one_peer(7)) == 64
    assert gigabytes(port.per_peer(7)) == 64
    assert gigabytes(port.to_one_peer(3)) == 128


def test_a_mesh_with_too_few_links_raises() -> None:
    port = Port(link=Link(per_link="64 GB/s/dir", wiring="mesh"), links=7)
    with pytest.raises(ContradictionError, match="8 peers"):
        port.to_one_peer(8)
    with pytest.raises(RangeError):
        port.per_peer(0)


def test_a_group_of_links_must_close() -> None:
    link = Link(per_link="100 GB/s/dir")
    with pytest.raises(ContradictionError, match="1800 GB/s/dir"):
        Port(link=link, links=18, bandwidth="900 GB/s/dir")
    port = Port(link=Link(per_link="50 GB/s/dir"), links=18, bandwidth="1.8 TB/s/bidir")
    assert port.count == 18
    assert "18 x 50 GB/s/dir = 900 GB/s/dir" in str(port)
