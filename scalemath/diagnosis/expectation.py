"""Expected bus bandwidth of large buffers: bound, model, and what others measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.collectives import all_gather, all_to_all, allreduce, broadcast, reduce, send_receive
from scalemath.collectives import reduce_scatter as reduce_scatter_of
from scalemath.collectives.operations import operation_named
from scalemath.core.errors import ArgumentError
from scalemath.core.result import Result, measured
from scalemath.diagnosis.measured_shares import (
    LARGE,
    Share,
    measured_network_share,
    measured_share,
    measured_switch_share,
)
from scalemath.diagnosis.setting import Setting
from scalemath.units import display, quantity

FUNCTIONS = {
    "allreduce": allreduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter_of,
    "broadcast": broadcast,
    "reduce": reduce,
    "all_to_all": all_to_all,
    "send_receive": send_receive,
}
IN_SWITCH_FROM = 4
"""Ranks from which NCCL lets the switches reduce."""


@frozen(kw_only=True, eq=False)
class Expectation(Result):
    """What a large collective should reach.

    Attributes
    ----------
    setting : Setting
        Where it runs.
    limit, modelled : float
        Bus bandwidth no schedule beats, and that of the closed form at full rate [byte/s].
    likely, low, high : float
        Usual bus bandwidth with spread [byte/s].
    denominator : float
        Rate that an efficiency is counted of [byte/s].
    counted : str
        What the denominator is, in words.
    limited_by : str
        "scale-up port", "switch reduction" or "interfaces".
    source : str
        Measurements it rests on.
    """

    setting: Setting = field(repr=False)
    limit: float
    modelled: float
    likely: float
    low: float
    high: float
    denominator: float
    counted: str
    limited_by: str
    source: str = ""

    @measured("byte/s")
    def bound(self) -> float:
        """Bus bandwidth that no schedule beats."""
        return self.limit

    @measured("byte/s")
    def model(self) -> float:
        """Bus bandwidth of the closed form at nominal rates."""
        return self.modelled

    @measured("byte/s")
    def usual(self) -> float:
        """Bus bandwidth that healthy systems of this kind reach."""
        return self.likely

    @property
    def range(self) -> tuple[Any, Any]:
        """Spread of what healthy systems reach."""
        return quantity(self.low, "byte/s"), quantity(self.high, "byte/s")

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Ranks and rates."""
        s = self.setting
        given = {
            "operation": (s.operation, "1"),
            "ranks": (s.ranks, "1"),
            "nodes": (s.nodes, "1"),
            "domain_rate": (s.domain_rate, "byte/s/dir"),
            "nics": (s.nics, "1"),
            "nic_rate": (s.nic_rate, "byte/s/dir"),
        }
        return {k: v for k, v in given.items() if v[0] == v[0]}

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.setting.operation} over {self.setting.ranks} ranks: usually "
            f"{display(self.likely, 'byte/s')} ({display(self.low, 'byte/s')} to "
            f"{display(self.high, 'byte/s')}), bound {display(self.limit, 'byte/s')}, limited by "
            f"the {self.limited_by}"
        )

    def formula(self) -> tuple[str, str]:
        """Where the share is from."""
        return "nominal rate of what limits, times the measured share of it", self.source


def expected_bus_bandwidth(setting: Setting, *, leave_out: tuple[str, ...] = ()) -> Expectation:
    """Bus bandwidth a large collective should reach in a setting.

    Parameters
    ----------
    setting : Setting
        Where it runs.
    leave_out : tuple of str
        Logs whose measurements must not inform the answer.

    Returns
    -------
    Expectation
        Bound, model, and usual value with spread and source.

    Raises
    ------
    ArgumentError
        When the rate that matters is not known.

    Notes
    -----
    Inside a domain a ring reaches the measured share of a rank's port, and switches that reduce
    allow ``2 (ranks - 1) / (ranks + 1)`` times what they leave of it. Between domains a ring is
    limited by all interfaces of a domain together; an exchange by the share of one rank, times
    ``domains / (domains - 1)`` since a part stays inside. On two nodes a tree sends the vector
    once where a ring sends it nearly twice, so an allreduce may show more than the interfaces.
    """
    if setting.ranks < 2 or setting.operation not in FUNCTIONS:
        raise ArgumentError(
            f"no expectation for {setting.operation or 'an unnamed collective'} over "
            f"{setting.ranks} ranks; known are {', '.join(FUNCTIONS)} from 2 ranks"
        )
    if not setting.known:
        raise ArgumentError(
            "the rate that limits is not known; give cluster=Placement(...) with its bandwidths"
        )
    return _inside(setting, leave_out) if setting.inside else _between(setting, leave_out)


def _bus(setting: Setting, **options: Any) -> float:
    """Bus bandwidth by the library's own functions [byte/s]."""
    answer = FUNCTIONS[setting.operation](size=quantity(LARGE, "byte"), **options)
    return float(answer.si("bus_bandwidth"))


def _inside(setting: Setting, leave_out: tuple[str, ...]) -> Expectation:
    rate, ranks = setting.domain_rate, setting.ranks
    fraction = 1.0
    if setting.mesh and ranks < setting.box:
        fraction = (ranks - 1) / (setting.box - 1)
    port = quantity(rate * fraction, "byte/s/dir")
    helped = setting.multicast and setting.operation == "allreduce" and ranks >= IN_SWITCH_FROM
    network = "multicast" if setting.multicast and setting.operation in _HELPED else "none"
    limit = _bus(
        setting, ranks=ranks, bandwidth=port, estimator="bound", **_network(setting, network)
    )
    ring = _bus(setting, ranks=ranks, bandwidth=port)
    share = measured_share(setting.fabric, setting.operation, leave_out=leave_out)
    usual, low, high = ring * share.usual, ring * share.low, ring * share.high
    limited, counted, denominator = "scale-up port", "one rank's scale-up port", rate * fraction
    source, model = share.source, ring
    if helped:
        switched = measured_switch_share(setting.fabric, leave_out)
        ceiling = _bus(
            setting, ranks=ranks, bandwidth=port, algorithm="nvls", in_network="multicast"
        )
        if switched is not None and ceiling * switched.usual > usual:
            usual, low, high = (ceiling * x for x in (switched.usual, switched.low, switched.high))
            limited, counted, denominator = "switch reduction", "what the switches allow", ceiling
            source, model = switched.source, ceiling
    return Expectation(
        setting=setting,
        limit=limit,
        modelled=model,
        likely=usual,
        low=low,
        high=high,
        denominator=denominator,
        counted=counted,
        limited_by=limited,
        source=source or "assumed share, nothing measured on this kind of link",
        assumptions=setting.assumptions,
    )


_HELPED = ("allreduce", "reduce_scatter", "all_gather", "broadcast", "reduce")


def _network(setting: Setting, network: str) -> dict[str, str]:
    return {"in_network": network} if setting.operation in _HELPED and network != "none" else {}


def _between(setting: Setting, leave_out: tuple[str, ...]) -> Expectation:
    inner = measured_share(setting.fabric, setting.operation, leave_out=leave_out)
    alone = setting.ranks_per_node == 1
    outer = measured_network_share(setting.nic_fabric, alone=alone, leave_out=leave_out)
    nominal = setting.placement()
    network = setting.network_rate
    exchange = setting.operation in ("all_to_all", "send_receive")
    schedule = "flat" if setting.operation == "send_receive" else "rails"
    model = _bus(setting, placement=nominal, schedule=schedule)
    found = []
    for share_in, share_out in (
        (inner.usual, outer.usual),
        (inner.low, outer.low),
        (inner.high, outer.high),
    ):
        placed = setting.placement(min(share_in, 1.0), min(share_out, 1.0))
        found.append(_bus(setting, placement=placed, schedule=schedule))
    usual, low, high = found
    limit = _bus(setting, placement=nominal, estimator="bound")
    cautions: tuple[str, ...] = ()
    if setting.operation == "allreduce" and setting.multicast:
        limit = max(
            limit,
            _bus(setting, placement=nominal, estimator="bound", in_network="multicast"),
        )
    if setting.operation == "allreduce" and setting.nodes == 2 and setting.multicast:
        usual, low, high, cautions = _two_nodes(setting, found, outer, leave_out)
    one = network / min(setting.domain, setting.ranks) if exchange else network
    return Expectation(
        setting=setting,
        limit=limit,
        modelled=model,
        likely=usual,
        low=low,
        high=high,
        denominator=one * (setting.groups / (setting.groups - 1) if exchange else 1.0),
        counted=(
            "one rank's share of the interfaces times domains / (domains - 1)"
            if exchange
            else "all interfaces of a scale-up domain together"
        ),
        limited_by="interfaces" if network <= setting.domain_rate or exchange else "scale-up port",
        source=outer.source,
        assumptions=setting.assumptions,
        cautions=cautions,
    )


def _two_nodes(
    setting: Setting, ring: list[float], outer: Share, leave_out: tuple[str, ...]
) -> tuple[float, float, float, tuple[str, ...]]:
    """A tree on two nodes with switches that reduce: the vector crosses once."""
    factor = operation_named("allreduce").factor.function(float(setting.ranks))
    inside = measured_switch_share(setting.fabric, leave_out)
    if inside is None or setting.ranks_per_node < IN_SWITCH_FROM:
        return ring[0], ring[1], ring[2], ()
    local = setting.ranks_per_node
    ceiling = float(
        allreduce(
            size=quantity(LARGE, "byte"),
            ranks=local,
            bandwidth=quantity(setting.domain_rate, "byte/s/dir"),
            algorithm="nvls",
            in_network="multicast",
        ).si("bus_bandwidth")
    )
    both = [
        min(ceiling * a, factor * setting.network_rate * b)
        for a, b in ((inside.usual, outer.usual), (inside.low, outer.low), (inside.high, 1.0))
    ]
    note = "on two nodes a tree sends the vector once: more than the interfaces is possible"
    values = [max(a, b) for a, b in zip(both, ring, strict=True)]
    return values[0], min(values[1], ring[1]), values[2], (note,)
