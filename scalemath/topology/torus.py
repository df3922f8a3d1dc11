"""Torus and mesh of any dimension: endpoints forward for each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
from attrs import field

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.hardware.fields import frozen, given, si
from scalemath.kernels import direct_networks as kernels
from scalemath.topology.counts import Counts
from scalemath.topology.fabric import Fabric
from scalemath.topology.graph import Edge

_BOOLEANS = (bool, np.bool_)


def whole_shape(value: Any) -> tuple[int, ...]:
    """Read a shape: whole numbers of at least one."""
    shown = str(value)[:80]
    listed = isinstance(value, Iterable) and not isinstance(value, (str, Mapping))
    sizes = list(value) if listed else []
    numbers = all(isinstance(size, Real) and not isinstance(size, _BOOLEANS) for size in sizes)
    if not listed or not numbers:
        raise ArgumentError(f"shape is {shown}; wanted sizes, as in (4, 4, 8)")
    if not sizes or not all(1 <= size < math.inf and size == int(size) for size in sizes):
        raise RangeError(f"shape is {shown}; wanted whole sizes of at least 1, as in (4, 4, 8)")
    return tuple(int(size) for size in sizes)


def wrapped(value: Any) -> bool:
    """Read whether the ends are joined."""
    if not isinstance(value, _BOOLEANS):
        raise ArgumentError(f"wrap is {repr(value)[:80]}; wanted True or False")
    return bool(value)


@frozen
class Torus(Fabric):
    """Grid of endpoints with links to the next in every dimension.

    Parameters
    ----------
    shape : tuple of int
        Endpoints along every dimension.
    link_rate : Quantity [byte/s/dir], optional
        Rate of one link per direction; a bare rate counts per direction.
    wrap : bool
        Whether the ends are joined (torus) or not (mesh); a dimension of two has one link.

    Examples
    --------
    >>> cube = Torus(shape=(4, 4, 4), link_rate="50 GB/s/dir")
    >>> cube.endpoints, cube.links.total, cube.diameter
    (64, 192, 6)
    """

    shape: tuple[int, ...] = field(converter=whole_shape, kw_only=True)
    link_rate: Any = given("byte/s/dir > 0", None)
    wrap: bool = field(default=True, converter=wrapped, kw_only=True)

    forwarding_endpoints = True

    @property
    def endpoints(self) -> int:  # type: ignore[override]
        """Number of endpoints."""
        return math.prod(self.shape)

    def _lines(self, size: int) -> int:
        """Links of one line of endpoints."""
        return size if self.wrap and size > 2 else size - 1

    @property
    def switches(self) -> Counts:
        """No switches."""
        return Counts()

    @property
    def links(self) -> Counts:
        """Links by dimension: x0, x1, ..."""
        n = self.endpoints
        return Counts(**{f"x{i}": n // s * self._lines(s) for i, s in enumerate(self.shape)})

    @property
    def ports(self) -> dict[str, tuple[int, int]]:
        """No switch ports."""
        return {}

    @property
    def degree(self) -> int:
        """Links of an endpoint (of an inner one in a mesh)."""
        return sum(min(size - 1, 2) for size in self.shape)

    @property
    def port_rate(self) -> Any:
        """Rate of all links of one endpoint."""
        return None if self.link_rate is None else self.link_rate * self.degree

    @property
    def diameter(self) -> int:
        """Longest shortest path between two endpoints [links]."""
        wrap = float(self.wrap)
        return int(sum(kernels.torus_dimension_diameter(float(s), wrap) for s in self.shape))

    @property
    def mean_hops(self) -> float:
        """Mean links between two different endpoints [1]."""
        wrap, n = float(self.wrap), self.endpoints
        hops = sum(kernels.torus_dimension_hops(float(s), wrap) for s in self.shape)
        return hops * n / max(n - 1, 1)

    def coordinates(self, endpoint: int) -> tuple[int, ...]:
        """Place of an endpoint in the grid.

        Parameters
        ----------
        endpoint : int
            Number of the endpoint; the last dimension runs fastest.

        Returns
        -------
        tuple of int
            One coordinate per dimension.
        """
        place: list[int] = []
        for size in reversed(self.shape):
            endpoint, at = divmod(endpoint, size)
            place.append(at)
        return tuple(reversed(place))

    def hops(self, a: int, b: int) -> int:
        """Links on a shortest path between two endpoints.

        Parameters
        ----------
        a, b : int
            Numbers of two endpoints.

        Returns
        -------
        int
            Sum over the dimensions.
        """
        self.check_endpoint(a, b)
        found = 0
        for one, other, size in zip(
            self.coordinates(a), self.coordinates(b), self.shape, strict=True
        ):
            gap = abs(one - other)
            found += min(gap, size - gap) if self.wrap else gap
        return found

    def _link(self) -> float:
        if self.link_rate is None:
            raise ArgumentError("Torus: link_rate is missing; write link_rate='50 GB/s/dir'")
        return si(self, "link_rate")

    def lower_port(self) -> float:
        """Rate of all links of one endpoint per direction [byte/s]."""
        return self._link() * self.degree

    @property
    def load(self) -> float:
        """Flow on the busiest link when every endpoint sends 1 to all, self included [1]."""
        wrap = float(self.wrap)
        return max(kernels.torus_dimension_load(float(s), wrap) for s in self.shape)

    def lower_traffic(self, pattern: str, senders: int) -> float:
        """Bandwidth per endpoint [byte/s] with routing that balances links.

        A worst permutation is sure of what two uniform phases leave (Valiant), which is the
        cut for even sizes; a ring uses one link per neighbour.
        """
        link, degree, n = self._link(), float(self.degree), self.endpoints
        if n == 1:
            return link * degree
        if pattern == "leaf-contiguous ring":
            return link
        if pattern == "incast":
            return link * degree / max(senders, int(degree))
        if pattern == "random permutation":
            raise ArgumentError(
                "traffic 'random permutation' has no closed form in a torus; it lies between "
                "'worst permutation' and 'uniform all-to-all'"
            )
        load = self.load * n / (n - 1)
        if pattern == "worst permutation":
            load = 2.0 * self.load
        return kernels.load_bandwidth(link, load, degree)

    def lower_bisection(self) -> float:
        """One-way bisection [byte/s]: the thinnest straight cut."""
        n, wrap = float(self.endpoints), float(self.wrap)
        cut = min(kernels.torus_cut_links(n, float(s), wrap) for s in self.shape)
        return self._link() * (cut if cut < math.inf else 0.0)

    def edges(self) -> Iterator[Edge]:
        """Edges of the graph, in units of one endpoint's links together."""
        share = 1.0 / max(self.degree, 1)
        for number, place in enumerate(product(*(range(s) for s in self.shape))):
            for i, size in enumerate(self.shape):
                at = place[i] + 1
                if size == 1 or (at == size and not (self.wrap and size > 2)):
                    continue
                stride = math.prod(self.shape[i + 1 :])
                yield Edge(
                    f"e{number}", f"e{number + (at % size - place[i]) * stride}", 1, share, f"x{i}"
                )

    def __str__(self) -> str:
        kind = "torus" if self.wrap else "mesh"
        if len(self.shape) == 1:
            return f"{'ring' if self.wrap else 'line'} of {self.endpoints:,} endpoints"
        return f"{' x '.join(map(str, self.shape))} {kind}, {self.endpoints:,} endpoints"
