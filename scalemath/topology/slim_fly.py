"""Slim fly: routers joined by the MMS graph, which has diameter two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from attrs import field

from scalemath.core.errors import RangeError
from scalemath.hardware.fields import frozen, given
from scalemath.kernels import direct_networks as kernels
from scalemath.topology.counts import Counts
from scalemath.topology.finite_field import Field, prime_power
from scalemath.topology.routers import RouterFabric


@frozen
class SlimFly(RouterFabric):
    """Network on the graph of McKay, Miller and Siran of order q: 2 q^2 routers, diameter two.

    Parameters
    ----------
    order : int
        q, a prime power that is not 2 more than a multiple of 4.
    endpoints_per_router : int, optional
        Endpoints of a router; half the ports between routers, rounded up, by default.
    port_rate : Quantity [byte/s/dir], optional
        Rate of every link; a bare rate counts per direction.
    radix : int, optional
        Ports of a router, if more than are used.

    References
    ----------
    Described in [Besta2014]_.

    Examples
    --------
    >>> graph = SlimFly(order=5, endpoints_per_router=4)
    >>> graph.routers, graph.degree, graph.endpoints
    (50, 7, 200)
    """

    order: int = given("count >= 3")
    endpoints_per_router: int | None = given("count >= 1", None)
    port_rate: Any = given("byte/s/dir > 0", None)
    radix: int | None = given("count >= 2", None)
    _columns: list[_Columns] = field(init=False, eq=False, repr=False, factory=list)

    def __attrs_post_init__(self) -> None:
        if prime_power(self.order) is None or self.order % 4 == 2:
            near = [
                next(q for q in range(self.order, self.order + step * 99, step) if _usable(q))
                for step in (-1, 1)
            ]
            raise RangeError(
                f"SlimFly: there is no such graph of order {self.order}, which is no prime power; "
                f"the nearest are {near[0]} ({2 * near[0] ** 2:,} routers) and {near[1]} "
                f"({2 * near[1] ** 2:,} routers)"
            )
        self.check_radix()

    @property
    def degree(self) -> int:
        """Ports of a router to other routers."""
        return int(kernels.slim_fly_degree(float(self.order)))

    @property
    def attached(self) -> int:
        """Endpoints of one router."""
        return self.endpoints_per_router or math.ceil(self.degree / 2)

    @property
    def routers(self) -> int:
        """Number of routers."""
        return int(kernels.slim_fly_switches(float(self.order)))

    @property
    def ports_per_router(self) -> int:
        """Ports a router uses."""
        return self.degree + self.attached

    @property
    def links(self) -> Counts:
        """Links by tier: endpoint, and between routers."""
        between = kernels.regular_links(float(self.routers), float(self.degree))
        return Counts(endpoint=self.endpoints, router=between)

    @property
    def uniform_load(self) -> float:
        """Mean flow on a link when every endpoint sends 1 to all others [1]."""
        return kernels.diameter_two_load(
            float(self.routers), float(self.degree), float(self.attached)
        )

    @property
    def worst_load(self) -> float:
        """Flow on a link that no permutation exceeds with two random phases [1]."""
        return 2.0 * self.uniform_load

    @property
    def cut_links(self) -> float:
        """Links over the even cut: exact for an even order, else at least [1]."""
        return kernels.slim_fly_bisection_links(float(self.order))

    @property
    def diameter(self) -> int:
        """Longest shortest path between two routers [links]."""
        return 2

    def _made(self) -> _Columns:
        """Field and generators, made at first use."""
        if not self._columns:
            self._columns.append(_columns(self.order))
        return self._columns[0]

    def joined(self, one: int, other: int) -> bool:
        """Whether two routers have a link.

        Parameters
        ----------
        one, other : int
            Numbers of two routers.

        Returns
        -------
        bool
            By the rule of the graph, without building it.
        """
        made = self._made()
        (side, column, row), (far, slope, shift) = self._place(one), self._place(other)
        if side == far:
            step = made.field.subtract(row, shift)
            return column == slope and step in (made.second if side else made.first)
        if side:
            column, row, slope, shift = slope, shift, column, row
        return made.field.add(made.field.multiply(slope, column), shift) == row

    def _place(self, router: int) -> tuple[int, int, int]:
        side, place = divmod(router, self.order**2)
        return side, *divmod(place, self.order)

    def hops(self, a: int, b: int) -> int:
        """Routers a message passes.

        Parameters
        ----------
        a, b : int
            Numbers of two endpoints.

        Returns
        -------
        int
            0 for an endpoint and itself, up to 3.
        """
        self.check_endpoint(a, b)
        one, other = self.router_of(a), self.router_of(b)
        if a == b or one == other:
            return int(a != b)
        return 2 if self.joined(one, other) else 3

    def router_links(self) -> Iterator[tuple[int, int, int, str]]:
        """Links between routers as two numbers, a count and a tier."""
        made, q = self._made(), self.order
        numbers = made.field
        for column in range(q):
            for row in range(q):
                here = column * q + row
                for side, steps in ((0, made.first), (1, made.second)):
                    for step in steps:
                        there = column * q + numbers.add(row, step)
                        if there > here:
                            yield side * q * q + here, side * q * q + there, 1, "router"
                for slope in range(q):
                    shift = numbers.subtract(row, numbers.multiply(slope, column))
                    yield here, q * q + slope * q + shift, 1, "router"

    def __str__(self) -> str:
        return (
            f"slim fly of order {self.order}, {self.endpoints:,} endpoints, {self.routers:,} "
            f"routers with {self.degree} + {self.attached} ports"
        )


def _usable(order: int) -> bool:
    return order >= 3 and order % 4 != 2 and prime_power(order) is not None


class _Columns(NamedTuple):
    """Field of the graph, and the steps within a column of either side."""

    field: Field
    first: frozenset[int]
    second: frozenset[int]


def _columns(order: int) -> _Columns:
    """Rules of the graph of order q; Besta and Hoefler (2014), section 2.2."""
    numbers = Field(order)
    first, second = _generators(order, numbers.powers())
    return _Columns(numbers, frozenset(first), frozenset(second))


def _generators(order: int, powers: list[int]) -> tuple[list[int], list[int]]:
    """Return the two symmetric generator sets of the columns."""
    rest = order % 4
    if rest == 1:
        return powers[0::2], powers[1::2]
    if rest == 0:
        return powers[0::2], [powers[i % len(powers)] for i in range(1, order, 2)]
    half = (order + 1) // 4
    first = [powers[i] for i in range(0, 2 * half - 1, 2)]
    first += [powers[i] for i in range(2 * half - 1, 4 * half - 2, 2)]
    second = [powers[i] for i in range(1, 2 * half, 2)]
    second += [powers[i % len(powers)] for i in range(2 * half, 4 * half - 1, 2)]
    return first, second
