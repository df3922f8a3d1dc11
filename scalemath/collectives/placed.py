"""Collectives on a placement: schedules over scale-up domains and network interfaces."""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from scalemath.collectives.answer import BEST
from scalemath.collectives.cost import CollectiveCost, Contender
from scalemath.collectives.operations import LOWER_BOUND, Operation
from scalemath.collectives.protocols import PROTOCOLS, protocol_note, under_protocol
from scalemath.collectives.schedules import (
    BOUNDS,
    HELPED,
    PASSES,
    SCHEDULES,
    Schedule,
    schedule_named,
)
from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.hooks import hook
from scalemath.core.kernel import kernel_of, total
from scalemath.core.model import Model, Parameter, Step
from scalemath.core.result import measured
from scalemath.core.value_range import Range
from scalemath.kernels import hierarchy_counts as hc
from scalemath.kernels.busbandwidth import algorithm_bandwidth, bus_bandwidth
from scalemath.kernels.hierarchy_bytes import PortBytes
from scalemath.topology.placement import Placement
from scalemath.units import convert, display
from scalemath.units.declaration import parse

DESCRIBED = (
    *("nodes", "ranks_per_node", "domain", "nics_per_node"),
    *("domain_bandwidth", "nic_bandwidth", "domain_latency", "nic_latency"),
)
"""Numbers from which all others of a placement follow."""
UNITS = {
    "domain_bandwidth": "byte/s/dir",
    "nic_bandwidth": "byte/s/dir",
    "domain_latency": "s",
    "nic_latency": "s",
}
SHARES = {"domain_bandwidth": "domain_efficiency", "nic_bandwidth": "nic_efficiency"}
"""Usable share of each rate."""
REPLACED = ("ranks", "bandwidth", "latency", "shape")
KNOWN = ("size", "reduction_rate", "placement", "schedule", "estimator", "algorithm")


@frozen(kw_only=True, eq=False)
class PlacedCost(CollectiveCost):
    """Predicted duration of one collective on a placement, and what each port carries.

    Attributes
    ----------
    placement : Placement
        Which ranks sit where.
    carried : PortBytes
        Bytes of the busiest scale-up port and interface; zero for a bound.
    interfaces : str
        "one" or "all": how many interfaces of a domain the schedule uses.
    """

    placement: Placement = field(repr=False)
    carried: PortBytes = field(default=PortBytes(0.0, 0.0), repr=False)
    interfaces: str = "all"

    @property
    def schedule(self) -> str:
        """Name of the schedule."""
        return self.algorithm_record.name

    @measured("byte")
    def bytes_per_domain_port(self) -> float:
        """Bytes that the busiest scale-up port sends."""
        return self.carried.domain_port

    @measured("byte")
    def bytes_per_nic(self) -> float:
        """Bytes that the busiest network interface sends."""
        return self.carried.nic

    @measured("byte")
    def bytes_per_node(self) -> float:
        """Bytes that leave a node over all its interfaces."""
        if self.interfaces == "one":
            return self.carried.nic
        return self.carried.nic * self.given["nics_per_node"]

    @measured("byte")
    def bytes_per_rank(self) -> float:
        """Bytes of a rank's scale-up port and of its share of the interfaces."""
        share = 1.0
        if self.interfaces == "all":
            share = self.given["nics_per_domain"] / self.given["domain"]
        return self.carried.domain_port + self.carried.nic * share

    @measured("1")
    def steps(self) -> float:
        """Messages that follow one another on the longest way, inside and between domains."""
        record = self.algorithm_record
        if record.name == LOWER_BOUND:
            return math.nan
        probe = {**self.given, "size": 0.0, "domain_latency": 1.0, "nic_latency": 1.0}
        count: float = record.kernel.function(*record.pick(probe)).latency
        return count

    @property
    def bottleneck(self) -> str:
        """What takes the largest part of the time: latency, reduction, or a kind of port."""
        found = super().bottleneck
        if not found.startswith("bandwidth") or self.schedule == LOWER_BOUND:
            return found
        inside = self.carried.domain_port / self.given["domain_bandwidth"]
        between = self.carried.nic / self.given["nic_bandwidth"]
        return "network interface" if between >= inside else "scale-up port"

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Size and the numbers that stand for the placement."""
        shown: dict[str, tuple[Any, str]] = {"size": (self.given["size"], "byte")}
        for name in ("domain", "domains", "nics_per_domain", *UNITS):
            if math.isfinite(self.given[name]):
                shown[name] = (self.given[name], UNITS.get(name, "1"))
        return shown

    def remarks(self) -> list[str]:
        """Which port carries what, and what was weighed."""
        if self.schedule == LOWER_BOUND:
            return []
        shown = [
            f"carried per scale-up port {display(self.carried.domain_port, 'byte')}",
            f"per interface {display(self.carried.nic, 'byte')}",
            f"per node {display(self.si('bytes_per_node'), 'byte')}",
        ]
        lines = [", ".join(shown)]
        if self.contenders:
            listed = ", ".join(f"{c.name} {display(c.seconds, 's')}" for c in self.contenders)
            lines.append(f"best of {len(self.contenders)} schedules: {listed}")
        return lines + self._above_the_wire()

    @property
    def _shares_interfaces(self) -> bool:
        """Whether one rank's data travels over several interfaces."""
        several = self.interfaces == "all" and self.given["nics_per_domain"] > 1.0
        return several and self.operation != "all_to_all"

    def _above_the_wire(self) -> list[str]:
        """Explain a bus bandwidth above the rate of one interface."""
        reported, rate = self.si("bus_bandwidth"), self.given["nic_bandwidth"]
        if self.given["domains"] < 2.0 or reported <= rate * 1.000001 or not self.given["size"]:
            return []
        return [
            f"the bus bandwidth of {display(reported, 'byte/s')} lies above the "
            f"{display(rate, 'byte/s/dir')} of one interface because "
            + (
                f"{self.given['nics_per_domain']:.6g} interfaces of a domain share the work"
                if self._shares_interfaces
                else "a part of the data never leaves its domain"
            )
        ]


def answer_placed(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Cost of an operation on a placement, from the arguments of a public function.

    Parameters
    ----------
    operation : Operation
        What is done.
    args, kwargs : tuple, dict
        Arguments as the user gave them.

    Returns
    -------
    PlacedCost or Grid
        Time with its terms and bytes per port; a grid for an array of sizes.
    """
    placement = _checked(operation, args, kwargs)
    size = kwargs.get("size")
    if isinstance(size, Range):
        ends = (answer_placed(operation, args, {**kwargs, "size": end}) for end in size)
        return Range(*ends)
    numbers, assumed = _lowered(placement)
    values: dict[str, Any] = {**numbers, "passes": PASSES.get(operation.name, 1.0)}
    values["size"] = _number(operation, "size", "byte", size, 0.0)
    values["reduction_rate"] = _number(
        operation, "reduction_rate", "byte/s > 0", kwargs.get("reduction_rate"), math.inf
    )
    name = kwargs.get("schedule")
    if operation.reduces and values["reduction_rate"] == math.inf:
        assumed += ("reduction costs nothing (reduction_rate not given)",)
    if kwargs.get("estimator", "alpha-beta") == "bound":
        helped = kwargs.get("in_network", "none") != "none" and operation.name in HELPED
        return _bound(operation, placement, values, assumed, helped)
    if name is None:
        name = _only(operation, placement)
    if not isinstance(values["size"], float):
        chosen = BEST if name == BEST else schedule_named(operation.name, name).algorithm.name
        return hook("array_call")(placed_model(operation), _for_model(values, chosen))
    if kwargs.get("estimator") == "envelope":
        return _envelope(operation, placement, name, values, assumed)
    return _by_name(operation, placement, name, values, assumed)


def _by_name(
    operation: Operation,
    placement: Placement,
    name: str,
    values: dict[str, Any],
    assumed: tuple[str, ...],
) -> PlacedCost:
    """Cost by a schedule, or by the fastest one."""
    if name == BEST:
        return _best(operation, placement, values, assumed)
    return _one(operation, placement, schedule_named(operation.name, name), values, assumed)


def _envelope(
    operation: Operation,
    placement: Placement,
    name: str,
    values: dict[str, Any],
    assumed: tuple[str, ...],
) -> PlacedCost:
    """Cost under the protocol that is fastest at this size."""
    costs = [
        _by_name(
            operation,
            placement,
            name,
            under_protocol(values, slower, share),
            (*assumed, protocol_note(protocol)),
        )
        for protocol, slower, share in PROTOCOLS
    ]
    return evolve(min(costs, key=lambda cost: cost.si("time")), estimator="envelope")


def _checked(operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Placement:
    """Refuse arguments that a placement states already, and what it cannot be used with."""
    name = operation.name
    if args:
        raise ArgumentError(f"{name}: name the arguments when a placement is given")
    placement = kwargs.get("placement")
    if not isinstance(placement, Placement):
        raise ArgumentError(
            f"{name}: schedule needs a placement; write placement=Placement(nodes=9, "
            "ranks_per_node=8, ...)"
            if placement is None
            else f"{name}: placement is {placement!r}, wanted a Placement"
        )
    twice = [n for n in REPLACED if kwargs.get(n) is not None]
    if twice:
        raise ArgumentError(
            f"{name}: {', '.join(twice)} given together with placement, which states it already; "
            "give one of them"
        )
    bound = kwargs.get("estimator") == "bound"
    known = KNOWN if operation.reduces else tuple(n for n in KNOWN if n != "reduction_rate")
    known += ("in_network",) if bound and operation.name in HELPED else ()
    other = [n for n in kwargs if n not in known and n not in REPLACED]
    if other:
        raise ArgumentError(f"{name}: {', '.join(other)} cannot be given with a placement")
    estimator = kwargs.get("estimator", "alpha-beta")
    if estimator not in ("alpha-beta", "bound", "envelope"):
        raise ArgumentError(
            f"{name}: estimator {estimator!r} knows no placement; it takes ranks, bandwidth and "
            "latency"
        )
    if kwargs.get("algorithm", operation.default) not in (operation.default, BEST):
        raise ArgumentError(
            f"{name}: algorithm {kwargs['algorithm']!r} is for ranks with one port; with a "
            f"placement name a schedule: {', '.join(SCHEDULES.get(name, {}))}"
        )
    if name not in SCHEDULES:
        raise ArgumentError(f"{name}: no schedule is known on a placement")
    return placement


_parameter = functools.cache(parse)
_known: dict[int, tuple[weakref.ref[Placement], dict[str, float], tuple[str, ...]]] = {}


def _lowered(placement: Placement) -> tuple[dict[str, float], tuple[str, ...]]:
    """Numbers and assumptions of a placement, made once for each object while it lives."""
    key = id(placement)
    found = _known.get(key)
    if found is None or found[0]() is not placement:
        reference = weakref.ref(placement, lambda _: _known.pop(key, None))
        numbers: dict[str, float] = placement.lower()._asdict()
        found = _known[key] = (reference, numbers, placement.assumptions())
    return found[1], found[2]


def _number(operation: Operation, name: str, wanted: str, given: Any, default: float) -> Any:
    """Convert one argument; the default stands for one left out."""
    if given is None:
        if name == "size" and operation.name != "barrier":
            raise ArgumentError(f"{operation.name}: size is missing; write size='2 GiB'")
        return default
    try:
        return convert(_parameter(name, wanted), given)
    except ScalemathError as error:
        raise type(error)(f"{operation.name}: {name} {error}") from None


def _only(operation: Operation, placement: Placement) -> str:
    """Take any schedule where all are the same, else ask for one."""
    if placement.domains == 1:
        return next(iter(SCHEDULES[operation.name]))
    raise ArgumentError(
        f"{operation.name}: schedule is missing; with {placement.domains} domains it decides the "
        f"time: write schedule= one of {', '.join(SCHEDULES[operation.name])}, best"
    )


def _one(
    operation: Operation,
    placement: Placement,
    schedule: Schedule,
    values: dict[str, Any],
    assumed: tuple[str, ...],
    contenders: tuple[Contender, ...] = (),
) -> PlacedCost:
    """Cost by one schedule."""
    record = schedule.algorithm
    return PlacedCost(
        operation_record=operation,
        algorithm_record=record,
        given=values,
        split=record.kernel.function(*record.pick(values)),
        contenders=contenders,
        placement=placement,
        carried=schedule.carried.function(*schedule.pick(values)),
        interfaces=schedule.interfaces,
        assumptions=(*assumed, f"schedule {record.name}: {schedule.says}"),
    )


def _best(
    operation: Operation, placement: Placement, values: dict[str, Any], assumed: tuple[str, ...]
) -> PlacedCost:
    """Cost by the fastest schedule."""
    timed = sorted(
        (total(s.algorithm.kernel.function(*s.algorithm.pick(values))), name)
        for name, s in SCHEDULES[operation.name].items()
    )
    contenders = tuple(Contender(name=name, seconds=time) for time, name in timed)
    best = SCHEDULES[operation.name][timed[0][1]]
    return _one(operation, placement, best, values, assumed, contenders)


def _bound(
    operation: Operation,
    placement: Placement,
    values: dict[str, Any],
    assumed: tuple[str, ...],
    helped: bool,
) -> PlacedCost:
    """What no schedule can beat."""
    record = HELPED[operation.name] if helped else BOUNDS[operation.name]
    kind = "with the help of switches" if helped else "between endpoints"
    return PlacedCost(
        operation_record=operation,
        algorithm_record=record,
        given=values,
        split=record.kernel.function(*record.pick(values)),
        placement=placement,
        estimator="bound",
        assumptions=(
            *assumed,
            f"lower bound {kind}; its terms show the one bound that binds",
        ),
    )


_COUNTS = (
    ("ranks", hc.placed_ranks),
    ("domain", hc.ranks_of_domain),
    ("domains", hc.count_of_domains),
    ("nics_per_domain", hc.nics_of_domain),
)


@functools.cache
def placed_model(operation: Operation) -> Model:
    """The program that sweeps run for an operation on a placement.

    Parameters
    ----------
    operation : Operation
        What is done.

    Returns
    -------
    Model
        Its parameters are `size`, `reduction_rate`, `schedule` and, as "placement.nodes" and so
        on, the numbers that describe a placement; what follows from them is computed.
    """
    table = SCHEDULES[operation.name]
    kernels = {name: s.algorithm.kernel for name, s in table.items()}
    rename = {name: f"placement.{name}" for name in DESCRIBED}
    counted = {n: full for n, full in rename.items() if n != "domain" and n not in SHARES}
    steps = []
    for name, function in _COUNTS:
        steps.append(
            Step(
                name, {"": kernel_of(function)}, "1", rename=rename if name == "domain" else counted
            )
        )
    for rate, share in SHARES.items():
        stated = {"rate": f"placement.{rate}", "share": f"placement.{share}"}
        steps.append(Step(rate, {"": kernel_of(hc.usable_rate)}, "byte/s", rename=stated))
    steps.append(Step("time", kernels, "s", choice="schedule", rename=counted))
    if operation.name != "barrier":
        steps += [
            Step("algorithm_bandwidth", {"": kernel_of(algorithm_bandwidth)}, "byte/s"),
            Step("factor", {"": operation.factor}, "1"),
            Step("bus_bandwidth", {"": kernel_of(bus_bandwidth)}, "byte/s"),
        ]
    parameters = [
        *(() if operation.name == "barrier" else (parse("size", "byte"),)),
        evolve(parse("reduction_rate", "byte/s > 0 optional"), default=math.inf),
        parse("schedule", f"choice {' '.join((*table, BEST))}"),
        *(_described(name) for name in DESCRIBED),
        *(
            evolve(parse(f"placement.{share}", "number > 0 <= 1 optional"), default=1.0)
            for share in SHARES.values()
        ),
    ]
    return Model(operation.name, tuple(parameters), tuple(steps), "time")


def _described(name: str) -> Parameter:
    unit = UNITS.get(name, "count")
    wanted = {"byte/s/dir": "byte/s/dir > 0", "s": "s", "count": "count >= 1"}[unit]
    return parse(f"placement.{name}", wanted)


def _for_model(values: Mapping[str, Any], schedule: str) -> dict[str, Any]:
    """Names as the model has them."""
    described = {f"placement.{name}": values[name] for name in DESCRIBED}
    others = {name: values[name] for name in ("size", "reduction_rate")}
    return {**others, "schedule": schedule, **described}
