"""Money: what a run, a token and a machine cost at prices the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.errors import UnitsError
from scalemath.core.result import Result, measured
from scalemath.kernels.operations import owned_cost, rented_cost, token_cost
from scalemath.units import Quantity, quantities, quantity, to_si

CURRENCIES = ("USD", "EUR")


def currency_of(price: Any, per: str, name: str) -> tuple[float, str]:
    """Return a price in SI and its currency.

    Parameters
    ----------
    price : Quantity
        Such as "2.5 USD/h".
    per : str
        What it is per, such as "/s"; empty for a sum.
    name : str
        What it is called in an error.

    Returns
    -------
    tuple of float and str
        Amount per SI unit, and the currency.
    """
    for currency in CURRENCIES:
        try:
            return float(to_si(price, currency + per)), currency
        except UnitsError:
            continue
    shown = {"": "300000 USD", "/s": "2.5 USD/h", "/J": "0.2 EUR/kWh"}[per]
    raise UnitsError(f"{name} is {price!r}; wanted a price in USD or EUR, such as '{shown}'")


@frozen(kw_only=True, eq=False)
class Cost(Result):
    """A sum of money with its parts.

    Attributes
    ----------
    what : str
        What it pays for.
    parts : mapping of str to float
        Parts in the currency.
    currency : str
        "USD" or "EUR".
    """

    what: str
    parts: Mapping[str, float] = field(factory=dict)
    currency: str = "USD"

    @property
    def amount(self) -> Quantity:
        """The whole sum."""
        return quantity(sum(self.parts.values()), self.currency)

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Parts of the sum."""
        return {name: (value, self.currency) for name, value in self.parts.items()}

    def headline(self) -> str:
        """One readable line."""
        return f"{self.what}: {sum(self.parts.values()):,.2f} {self.currency}"


@quantities(devices="count >= 1", time="s > 0")
def run_cost(*, devices: float, time: float, price: Any) -> Cost:
    """Cost of a run on rented devices.

    Parameters
    ----------
    devices : int
        Devices [count].
    time : Quantity [s]
        Duration.
    price : Quantity
        Of one device per time, such as "2.5 USD/h".

    Returns
    -------
    Cost
        The sum.

    Examples
    --------
    >>> from scalemath.decisions import run_cost
    >>> print(run_cost(devices=128, time="90 day", price="2.5 USD/h"))
    128 devices for 90 day: 691,200.00 USD
    """
    each, currency = currency_of(price, "/s", "price")
    what = f"{devices:.0f} devices for {time / 86400:g} day"
    return Cost(what=what, parts={"rent": rented_cost(devices, time, each)}, currency=currency)


@frozen(kw_only=True, eq=False)
class TokenPrice(Result):
    """Price of tokens.

    Attributes
    ----------
    each : float
        Price of one token in the currency.
    currency : str
        "USD" or "EUR".
    """

    each: float
    currency: str

    @measured("1")
    def per_million(self) -> float:
        """Price of a million tokens, in the currency."""
        return 1e6 * self.each

    def headline(self) -> str:
        """One readable line."""
        return f"{self.per_million:.6g} {self.currency} per million tokens"


@quantities(token_rate="token/s > 0", devices="count >= 1")
def token_price(*, price: Any, token_rate: float, devices: float = 1.0) -> TokenPrice:
    """Price of tokens made on rented devices.

    Parameters
    ----------
    price : Quantity
        Of one device per time, such as "2.5 USD/h".
    token_rate : Quantity [token/s]
        Tokens that all devices make together.
    devices : int
        Devices [count].

    Returns
    -------
    TokenPrice
        Price of a million tokens.

    Examples
    --------
    >>> from scalemath.decisions import token_price
    >>> print(token_price(price="2.5 USD/h", devices=8, token_rate="2000 token/s"))
    2.77778 USD per million tokens
    """
    each, currency = currency_of(price, "/s", "price")
    return TokenPrice(each=token_cost(devices * each, token_rate), currency=currency)


@quantities(nodes="count >= 1", power="W >= 0", time="s > 0", cooling="number >= 1")
def ownership_cost(
    *,
    nodes: float,
    node_price: Any,
    power: float,
    energy_price: Any,
    time: float,
    upkeep: Any = None,
    network: Any = None,
    cooling: float = 1.0,
) -> Cost:
    """Total cost of nodes bought and run.

    Parameters
    ----------
    nodes : int
        Nodes [count].
    node_price : Quantity
        Of one node, such as "350000 USD".
    power : Quantity [W]
        Mean power of one node.
    energy_price : Quantity
        Such as "0.15 USD/kWh".
    time : Quantity [s]
        How long they run.
    upkeep : Quantity
        People and space of one node per time, such as "20000 USD/year".
    network : Quantity
        Fabric between the nodes, in all; none for a single node.
    cooling : float
        Power of the site over power of the nodes [1].

    Returns
    -------
    Cost
        The sum with its parts.
    """
    bought, currency = currency_of(node_price, "", "node_price")
    energy, other = currency_of(energy_price, "/J", "energy_price")
    found = {
        "nodes": owned_cost(nodes, bought, 0.0, 0.0, time, 0.0),
        "energy": owned_cost(nodes, 0.0, power * cooling, energy, time, 0.0),
    }
    used = {currency, other}
    if upkeep is not None:
        kept, third = currency_of(upkeep, "/s", "upkeep")
        found["upkeep"] = owned_cost(nodes, 0.0, 0.0, 0.0, time, kept)
        used.add(third)
    if network is not None:
        found["network"], fourth = currency_of(network, "", "network")
        used.add(fourth)
    if len(used) > 1:
        raise UnitsError(
            f"ownership_cost: prices in {' and '.join(sorted(used))}; use one currency"
        )
    count = int(nodes)
    what = f"{count} node{'s' * (count > 1)} for {time / (365 * 86400):.3g} year"
    return Cost(what=what, parts=found, currency=currency)
