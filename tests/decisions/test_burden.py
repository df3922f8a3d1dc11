"""Operational tax and money: worked numbers, limits, and a simulated job with failures."""

from __future__ import annotations

import math
import random

import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError
from scalemath.decisions import operational_tax, ownership_cost, run_cost, token_price
from scalemath.kernels.operations import (
    daly_interval,
    failure_probability,
    goodput_share,
    young_interval,
)


def test_failures_of_several_nodes() -> None:
    tax = operational_tax(8, daily_failure=0.01)
    assert 100 * tax.failure_probability == pytest.approx(7.72553, rel=1e-6)
    one = operational_tax(1, daily_failure=0.01)
    assert tax.failure_rate.m_as("1/s") == pytest.approx(8 * one.failure_rate.m_as("1/s"))
    assert failure_probability(8.0, 0.01) < 8 * 0.01
    assert failure_probability(8.0, 0.0) == 0.0
    assert failure_probability(8.0, 1.0) == 1.0


def test_checkpoint_stall() -> None:
    tax = operational_tax(2, state="1.12 TB", storage_bandwidth="10 GB/s")
    assert tax.checkpoint_stall.m_as("s") == pytest.approx(112)
    assert operational_tax(2, state="1.12 TB", storage_bandwidth="100 GB/s").checkpoint_stall.m_as(
        "s"
    ) == pytest.approx(11.2)


@pytest.mark.parametrize(
    ("rule", "effort", "factor"),
    [("additive", 4, 13), ("additive", 5, 16), ("multiplicative", 4, 64),
     ("multiplicative", 5, 125)],
)  # fmt: skip
def test_engineering_time_of_four_nodes(rule, effort, factor) -> None:
    assert operational_tax(4, effort=effort, effort_rule=rule).engineering == factor


def test_the_rule_of_engineering_time_must_be_chosen() -> None:
    with pytest.raises(ArgumentError, match="additive.*multiplicative"):
        operational_tax(4, effort=4.5)


def test_ramp_up() -> None:
    tax = operational_tax(2, ramp_share=0.5, ramp="6 month", period="12 month")
    assert tax.first_year == 0.75
    assert operational_tax(2, ramp_share=0.5, ramp="24 month", period="12 month").first_year == 0.5


def test_operating_units_double() -> None:
    one, two = (set(operational_tax(n).operated.values()) for n in (1, 2))
    assert (one, two) == ({1}, {2})


def test_items_are_switched_on_by_giving_them() -> None:
    bare = operational_tax(2).table()
    full = operational_tax(
        2, daily_failure=0.01, state="1 TB", storage_bandwidth="10 GB/s", effort=4.5,
        effort_rule="additive", ramp_share=0.5, ramp="6 month",
        people={"tuning": "40 h", "monitoring": "8 h"},
    )  # fmt: skip
    assert len(full.table()) == len(bare) + 7
    assert full.people.m_as("h") == pytest.approx(96)
    assert all(row["from"] for row in full.table())
    assert "tuning" in full.explain()
    assert "<table>" in full._repr_html_()


def test_daly_and_young_meet_for_short_stalls() -> None:
    rate = 1.0 / 86400
    assert daly_interval(1.0, rate) == pytest.approx(young_interval(1.0, rate), rel=5e-3)
    assert daly_interval(1e9, rate) == 86400  # longer than twice the time between failures
    assert math.isinf(young_interval(1.0, 0.0))
    assert math.isinf(daly_interval(1.0, 0.0))
    assert goodput_share(math.inf, 100.0, 0.0, 0.0) == 1.0
    assert goodput_share(100.0, 100.0, 0.0, 0.0) == 0.5
    assert goodput_share(1e9, 1.0, 1.0, 0.0) == 0.0


def test_dalys_interval_is_the_best_one() -> None:
    rate, stall, restart = 1.0 / 20000, 112.0, 300.0
    best = daly_interval(stall, rate)
    at_best = goodput_share(best, stall, rate, restart)
    for factor in (0.7, 0.9, 1.1, 1.4):
        assert goodput_share(factor * best, stall, rate, restart) < at_best


def test_goodput_against_a_simulated_job() -> None:
    rate, stall, restart, interval = 1.0 / 5000, 100.0, 200.0, 900.0
    draw = random.Random(7)
    clock = done = 0.0
    failure = draw.expovariate(rate)
    while done < 3e6:
        start, need = clock, interval + stall
        if failure >= start + need:
            clock, done = start + need, done + interval
            continue
        clock = failure
        while True:  # come back, which may fail too
            failure = clock + draw.expovariate(rate)
            if failure >= clock + restart:
                clock += restart
                break
            clock = failure
    assert goodput_share(interval, stall, rate, restart) == pytest.approx(done / clock, rel=0.02)


def test_rent() -> None:
    cost = run_cost(devices=128, time="90 day", price="2.5 USD/h")
    assert cost.amount.m_as("USD") == pytest.approx(128 * 90 * 24 * 2.5)
    assert run_cost(devices=1, time="1 h", price="3 EUR/h").currency == "EUR"
    with pytest.raises(sm.UnitsError, match="USD"):
        run_cost(devices=1, time="1 h", price="3 GB/h")


def test_price_of_tokens() -> None:
    found = token_price(price="2.5 USD/h", devices=8, token_rate="2000 token/s")
    assert found.per_million == pytest.approx(8 * 2.5 / 3600 / 2000 * 1e6)
    half = token_price(price="2.5 USD/h", devices=8, token_rate="4000 token/s")
    assert half.per_million == pytest.approx(found.per_million / 2)


def test_total_cost_of_one_node_and_of_two() -> None:
    given = {"node_price": "350000 USD", "power": "10 kW", "energy_price": "0.2 USD/kWh",
             "time": "3 year"}  # fmt: skip
    one = ownership_cost(nodes=1, **given)
    two = ownership_cost(nodes=2, network="60000 USD", upkeep="20000 USD/year", **given)
    energy = 10 * 3 * 8760 * 0.2
    assert one.amount.m_as("USD") == pytest.approx(350000 + energy)
    assert two.amount.m_as("USD") == pytest.approx(2 * (350000 + energy + 3 * 20000) + 60000)
    assert sum(q.m_as("USD") for q in two.terms.values()) == pytest.approx(two.amount.m_as("USD"))
    with pytest.raises(sm.UnitsError, match="one"):
        ownership_cost(nodes=1, **{**given, "energy_price": "0.2 EUR/kWh"})
