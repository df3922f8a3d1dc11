"""Scale-up domains: closure of links and ports, pairs, roll-ups, losses."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.flows import best_rate, rotation, uniform

from scalemath.core.errors import ContradictionError, RangeError, ScalemathError
from scalemath.hardware.counts import counts_close
from scalemath.topology.switched_domain import SwitchedDomain
from scalemath.topology.systems import hgx_domain, nvl72_domain, nvlink

NVL72: dict[str, Any] = {
    "endpoints": 72,
    "links_per_endpoint": 18,
    "switch_chips": 18,
    "ports_per_chip": 72,
    "link_rate": "50 GB/s/dir",
}


def test_nvl72_closes() -> None:
    domain = nvl72_domain()
    assert domain.links.total == 72 * 18 == 18 * 72
    assert domain.dark_ports.total == 0
    assert domain.non_blocking
    assert domain.links_to_each_chip == 1
    assert dict(domain.trays) == {"compute": 18, "switch": 9}
    assert (domain.hops(0, 71), domain.hops(3, 3), domain.diameter) == (1, 0, 0)
    assert domain.transceivers().total == 0
    assert domain.with_(copper=False).transceivers().total == 2 * 1296


def test_injection_against_per_peer() -> None:
    domain = nvl72_domain()
    assert domain.injection_bandwidth.m_as("GB/s/dir") == pytest.approx(900)
    assert domain.per_peer_bandwidth.m_as("GB/s/dir") == pytest.approx(12.6761, rel=1e-5)
    assert domain.bisection_bandwidth().m_as("TB/s") == pytest.approx(32.4)
    for traffic in ("worst permutation", "uniform", "random permutation", "ring"):
        assert domain.effective_bandwidth(traffic).m_as("GB/s/dir") == pytest.approx(900)
    assert domain.effective_bandwidth("incast 9:1").m_as("GB/s/dir") == pytest.approx(100)


def test_roll_ups_in_both_directions() -> None:
    found = {k: v.m_as("TB/s/bidir") for k, v in nvl72_domain().bandwidth.items()}
    wanted = {"endpoint": 1.8, "chip": 7.2, "tray": 7.2, "switch_tray": 14.4, "domain": 129.6}
    assert found == pytest.approx(wanted)


def test_differential_pairs() -> None:
    domain = nvl72_domain()
    assert domain.differential_pairs == {
        "link": 4,
        "endpoint": 72,
        "tray": 288,
        "switch_tray": 576,
        "domain": 5184,
    }
    assert domain.rate_per_pair.m_as("Gbit/s") == pytest.approx(200)
    assert domain.check_pairs(per_tray=288, trays=18, domain=5184) == 5184
    with pytest.raises(ContradictionError, match=r"1,296 != 5,184"):
        domain.check_pairs(per_tray=72, trays=18, domain=5184)
    assert counts_close(5184, gpus=72, links=18, pairs=4) == 5184


@pytest.mark.parametrize(
    ("name", "rate"), [("A100", 300), ("H100", 450), ("H200", 450), ("B200", 900), ("B300", 900)]
)
def test_boards_of_eight(name: str, rate: int) -> None:
    board = hgx_domain(name)
    assert board.injection_bandwidth.m_as("GB/s/dir") == pytest.approx(rate)
    graph = board.graph()
    per_chip = {s: sum(e.links for e in graph.edges if e.other == s) for s in graph.switches}
    assert max(per_chip.values()) <= board.ports_per_chip
    assert sum(per_chip.values()) == board.links.total
    explicit = graph.to_networkx()
    names = [f"e{i}" for i in range(8)]
    assert best_rate(explicit, uniform(names)) == pytest.approx(1)
    assert best_rate(explicit, rotation(names, 3)) == pytest.approx(1)


@pytest.mark.parametrize("generation", [3, 4, 5])
def test_nvlink_rates(generation: int) -> None:
    assert nvlink(generation).bandwidth.m_as("GB/s/dir") == {3: 300, 4: 450, 5: 900}[generation]


def test_a_lost_chip_and_a_lost_link() -> None:
    domain = nvl72_domain()
    assert domain.without(switches=1).injection_bandwidth.m_as("GB/s/dir") == pytest.approx(850)
    assert domain.without(links=2).injection_bandwidth.m_as("GB/s/dir") == pytest.approx(800)
    assert domain.without(switches=1).links.total == 17 * 72
    small = SwitchedDomain(endpoints=4, links_per_endpoint=3, switch_chips=3, ports_per_chip=4,
                           link_rate="50 GB/s/dir")  # fmt: skip
    graph = small.graph().to_networkx()
    graph.remove_node("chip0")
    left = small.without(switches=1).lower_port() / small.lower_port()
    assert left == pytest.approx(best_rate(graph, rotation([f"e{i}" for i in range(4)], 1)))
    with pytest.raises(RangeError, match="something must be left"):
        domain.without(switches=18)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"switch_chips": 9}, "648 links have no port"),
    ({"switch_chips": 36, "ports_per_chip": 36}, "18 links do not reach"),
    ({"link_rate": "100 GB/s/dir", "port_rate": "900 GB/s/dir"}, "900 GB/s/dir is stated"),
    ({"switch_chips": 4, "ports_per_chip": 324}, "360 links on one chip"),
    ({"endpoints_per_tray": 5}, "trays of 5"),
    ({"chips_per_tray": 4}, "trays of 4"),
    ({"endpoints": 0}, "endpoints"),
    ({"link_rate": 50}, "link_rate"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ScalemathError, match=words):
        SwitchedDomain(**{**NVL72, **change})
    with pytest.raises(ScalemathError, match="link_rate"):
        SwitchedDomain(**{**NVL72, "link_rate": None}).lower_port()
