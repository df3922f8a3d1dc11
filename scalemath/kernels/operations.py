"""What running several machines costs: failures, checkpoints, people, money."""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel

_DALY = "Daly, A higher order estimate of the optimum checkpoint interval, FGCS 22(3), 2006"
_YOUNG = "Young, A first order approximation to the optimum checkpoint interval, CACM 17(9), 1974"


@kernel(
    unit="1/s",
    rises="units rate",
    source="independent failures: rates add",
    formula="units rate",
)
def failure_rate_of(units: float, rate: float) -> float:
    """Failures per time [1/s] of units that fail independently."""
    return units * rate


@kernel(
    unit="1",
    rises="units probability",
    source="independent failures",
    formula="1 - (1 - probability)^units",
)
def failure_probability(units: float, probability: float) -> float:
    """Probability [1] that at least one of the units fails in a period."""
    if probability >= 1.0:
        return 1.0
    return -math.expm1(units * math.log1p(-probability))


@kernel(
    unit="s",
    rises="state",
    falls="bandwidth",
    source="definition",
    formula="state / bandwidth",
)
def checkpoint_stall(state: float, bandwidth: float) -> float:
    """Time [s] a job stands still while its state is written."""
    return state / bandwidth


@kernel(
    unit="s",
    rises="stall",
    falls="failure_rate",
    source=_YOUNG,
    formula="sqrt(2 stall / failure_rate)",
)
def young_interval(stall: float, failure_rate: float) -> float:
    """Work [s] between checkpoints that loses least, to first order."""
    if failure_rate <= 0.0:
        return math.inf
    return math.sqrt(2.0 * stall / failure_rate)


@kernel(
    unit="s",
    free="stall failure_rate",
    free_because="the branches do not meet where a stall is twice the time between failures",
    source=_DALY + ", equation 37",
    formula="sqrt(2 stall M) (1 + sqrt(x) / 3 + x / 9) - stall with M = 1 / failure_rate and "
    "x = stall / (2 M); M when stall >= 2 M",
)
def daly_interval(stall: float, failure_rate: float) -> float:
    """Work [s] between checkpoints that loses least, to higher order."""
    if failure_rate <= 0.0:
        return math.inf
    between = 1.0 / failure_rate
    x = 0.5 * stall * failure_rate
    if x >= 1.0:
        return between
    return math.sqrt(2.0 * stall * between) * (1.0 + math.sqrt(x) / 3.0 + x / 9.0) - stall


@kernel(
    unit="1",
    falls="stall failure_rate restart",
    free="interval",
    free_because="short intervals write often, long ones lose much at a failure",
    source=_DALY + ", equation 20",
    formula="interval failure_rate / (exp(restart failure_rate) (exp((interval + stall) "
    "failure_rate) - 1))",
)
def goodput_share(interval: float, stall: float, failure_rate: float, restart: float) -> float:
    """Share [1] of the time that makes progress, failures and checkpoints taken off."""
    if failure_rate <= 0.0:
        return 1.0 if math.isinf(interval) else interval / (interval + stall)
    lost = (interval + stall) * failure_rate
    if lost > 700.0 or restart * failure_rate > 700.0:
        return 0.0
    return interval * failure_rate / (math.exp(restart * failure_rate) * math.expm1(lost))


@kernel(
    unit="1",
    rises="nodes effort",
    source="each further node adds the effort of the first times a factor",
    formula="1 + effort (nodes - 1)",
)
def engineering_additive(nodes: float, effort: float) -> float:
    """Engineering time [1] in units of the first node's, when efforts add."""
    return 1.0 + effort * (nodes - 1.0)


@kernel(
    unit="1",
    rises="effort",
    free="nodes",
    free_because="a factor below one would make more nodes cheaper",
    source="each further node multiplies the effort",
    formula="effort^(nodes - 1)",
)
def engineering_multiplicative(nodes: float, effort: float) -> float:
    """Engineering time [1] in units of the first node's, when efforts multiply."""
    return math.pow(effort, nodes - 1.0)


@kernel(
    unit="1",
    rises="share",
    free="ramp period",
    free_because="a longer ramp lowers the mean only while it is shorter than the period",
    source="definition",
    formula="(share min(ramp, period) + period - min(ramp, period)) / period",
)
def ramp_up_mean(share: float, ramp: float, period: float) -> float:
    """Mean performance [1] over a period that begins with a ramp at a lower share."""
    slow = min(ramp, period)
    return (share * slow + period - slow) / period


@kernel(
    unit="USD",
    rises="devices time price",
    source="definition",
    formula="devices time price",
)
def rented_cost(devices: float, time: float, price: float) -> float:
    """Cost [USD, or the currency of the price] of devices rented by time."""
    return devices * time * price


@kernel(
    unit="USD",
    rises="nodes node_price power energy_price time upkeep",
    source="definition",
    formula="nodes (node_price + (power energy_price + upkeep) time)",
)
def owned_cost(
    nodes: float, node_price: float, power: float, energy_price: float, time: float, upkeep: float
) -> float:
    """Cost [USD, or the currency of the prices] of nodes bought and run for some time."""
    return nodes * (node_price + (power * energy_price + upkeep) * time)


@kernel(
    unit="USD/token",
    rises="price",
    falls="token_rate",
    source="definition",
    formula="price / token_rate",
)
def token_cost(price: float, token_rate: float) -> float:
    """Cost [USD/token, or the currency of the price] of a token at a price per time."""
    if token_rate <= 0.0:
        return math.inf
    return price / token_rate
