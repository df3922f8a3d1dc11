"""What several nodes cost beside their price: failures, checkpoints, people, a slow start."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.result import Result, measured
from scalemath.decisions.comparing import UNITS_OF_A_NODE
from scalemath.kernels.operations import (
    checkpoint_stall,
    daly_interval,
    engineering_additive,
    engineering_multiplicative,
    failure_probability,
    failure_rate_of,
    goodput_share,
    ramp_up_mean,
    young_interval,
)
from scalemath.records.table import Table
from scalemath.units import display, quantities, to_si

EFFORT = {"additive": engineering_additive, "multiplicative": engineering_multiplicative}
_DAILY = "rate of one node a day, given by the user"


@frozen(kw_only=True, eq=False)
class OperationalTax(Result):
    """Numbers of running nodes; what was not given is switched off.

    Attributes
    ----------
    count : int
        Nodes.
    daily : float
        Probability that one node fails in a day [1].
    stall, restart : float
        Time to write a checkpoint, and to come back after a failure [s].
    effort : float
        Engineering time in units of one node's [1]; nan when off.
    first_period : float
        Mean performance over the first period [1].
    hours : mapping of str to float
        One-off time of people by item, all nodes together [s].
    """

    count: int
    daily: float
    stall: float
    restart: float
    effort: float
    first_period: float
    hours: Mapping[str, float] = field(factory=dict)

    @measured("1")
    def failure_probability(self) -> float:
        """Probability that at least one node fails in a day."""
        return failure_probability(self.count, self.daily)

    @measured("1/s")
    def failure_rate(self) -> float:
        """Failures of all nodes together per time."""
        return failure_rate_of(self.count, -math.log1p(-self.daily) / 86400.0)

    @measured("s")
    def time_between_failures(self) -> float:
        """Mean time between failures of all nodes together."""
        rate = self.si("failure_rate")
        return 1.0 / rate if rate else math.inf

    @measured("s")
    def checkpoint_stall(self) -> float:
        """Time the job stands still for one checkpoint."""
        return self.stall

    @measured("s")
    def checkpoint_interval(self) -> float:
        """Work between checkpoints that loses least (Daly)."""
        return daly_interval(self.stall, self.si("failure_rate"))

    @measured("s")
    def first_order_interval(self) -> float:
        """The same to first order (Young)."""
        return young_interval(self.stall, self.si("failure_rate"))

    @measured("1")
    def goodput(self) -> float:
        """Share of the time that makes progress at that interval."""
        rate = self.si("failure_rate")
        return goodput_share(self.si("checkpoint_interval"), self.stall, rate, self.restart)

    @measured("1")
    def engineering(self) -> float:
        """Engineering time in units of one node's; nan when no effort was given."""
        return self.effort

    @measured("1")
    def first_year(self) -> float:
        """Mean performance over the first period."""
        return self.first_period

    @measured("s")
    def people(self) -> float:
        """One-off time of people."""
        return sum(self.hours.values())

    @property
    def operated(self) -> dict[str, int]:
        """What is operated once for each node, in all."""
        return {name: count * self.count for name, count in UNITS_OF_A_NODE.items()}

    def table(self) -> Table:
        """Return every item that is switched on, with where its number is from."""
        rows = [
            ("failure in a day", f"{100 * self.failure_probability:.6g} %", _DAILY),
            ("time between failures", _time(self.si("time_between_failures")), "rates add"),
        ]
        if self.stall:
            rows += [
                ("checkpoint stall", _time(self.stall), "state over storage rate"),
                ("checkpoint interval", _time(self.si("checkpoint_interval")), "Daly 2006"),
                ("goodput", f"{100 * self.goodput:.6g} %", "Daly 2006, equation 20"),
            ]
        if not math.isnan(self.effort):
            rows.append(("engineering time", f"{self.effort:.6g} x one node", "factor as given"))
        if self.first_period < 1.0:
            rows.append(("first period", f"{100 * self.first_period:.6g} %", "ramp as given"))
        rows += [(name, _time(size), "as given") for name, size in self.hours.items()]
        rows += [(name, str(count), "one for each node") for name, count in self.operated.items()]
        title = f"running {self.count} node{'s' * (self.count > 1)}"
        return Table(title=title, columns=("item", "amount", "from"), rows=tuple(rows))

    def remarks(self) -> list[str]:
        """Items that are switched on."""
        return [f"{row['item']}: {row['amount']} ({row['from']})" for row in self.table()]

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.count} nodes: a failure a day with {100 * self.failure_probability:.6g} %, "
            f"goodput {100 * self.goodput:.5g} %"
        )

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _time(seconds: float) -> str:
    return str(display(seconds, "s"))


@quantities(
    nodes="count >= 1",
    daily_failure="number >= 0 < 1",
    state="byte >= 0",
    storage_bandwidth="byte/s > 0 optional",
    restart="s >= 0",
    effort="number > 0 optional",
    ramp_share="number >= 0 <= 1",
    ramp="s >= 0",
    period="s > 0",
)
def operational_tax(
    nodes: float,
    *,
    daily_failure: float = 0.0,
    state: float = 0.0,
    storage_bandwidth: float = math.inf,
    restart: float = 0.0,
    effort: float = math.nan,
    effort_rule: str | None = None,
    ramp_share: float = 1.0,
    ramp: float = 0.0,
    period: float = 365.0 * 86400.0,
    people: Mapping[str, Any] | None = None,
) -> OperationalTax:
    """Numbers of running several nodes, each of which can be switched on.

    Parameters
    ----------
    nodes : int
        Nodes [count].
    daily_failure : float
        Probability that one node fails in a day [1].
    state : Quantity [byte]
        What a checkpoint writes.
    storage_bandwidth : Quantity [byte/s]
        Rate of the storage for all nodes together.
    restart : Quantity [s]
        Time to come back after a failure.
    effort : float
        Factor of engineering time for each further node [1].
    effort_rule : str
        "additive" or "multiplicative"; must be chosen when an effort is given, since at four
        nodes they differ by a factor of five and more.
    ramp_share : float
        Performance during the first time [1].
    ramp : Quantity [s]
        How long that lasts.
    period : Quantity [s]
        Over which the mean is taken.
    people : mapping of str to Quantity [s]
        One-off time of people per node, such as {"tuning": "40 h", "monitoring": "8 h"}.

    Returns
    -------
    OperationalTax
        Failures, checkpoint interval, goodput, engineering time, mean of the first period.

    Examples
    --------
    >>> from scalemath.decisions import operational_tax
    >>> tax = operational_tax(8, daily_failure=0.01, state="1.12 TB", storage_bandwidth="10 GB/s")
    >>> print(f"{100 * tax.failure_probability:.5f} % {tax.checkpoint_stall:.0f~P}")
    7.72553 % 112 s
    """
    if not math.isnan(effort) and effort_rule not in EFFORT:
        raise ArgumentError(
            f"operational_tax: effort_rule is {effort_rule!r}; an effort of {effort:g} is "
            "'additive' (1 + effort (nodes - 1)) or 'multiplicative' (effort^(nodes - 1)): choose"
        )
    made = math.nan if math.isnan(effort) else EFFORT[str(effort_rule)](nodes, effort)
    hours = {
        name: nodes * float(to_si(time, "s", name)) for name, time in dict(people or {}).items()
    }
    return OperationalTax(
        count=int(nodes),
        daily=daily_failure,
        stall=checkpoint_stall(state, storage_bandwidth),
        restart=restart,
        effort=made,
        first_period=ramp_up_mean(ramp_share, ramp, period),
        hours=hours,
        assumptions=_assumed(state, storage_bandwidth, effort_rule),
    )


def _assumed(state: float, bandwidth: float, rule: str | None) -> tuple[str, ...]:
    found = ["nodes fail independently"]
    if state and math.isfinite(bandwidth):
        found.append("the job stands still while a checkpoint is written")
    if rule:
        found.append(f"engineering time is {rule}")
    return tuple(found)
