"""HyperX: routers in a grid, fully joined along every dimension."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

from attrs import field

from scalemath.hardware.fields import frozen, given
from scalemath.kernels import direct_networks as kernels
from scalemath.topology.counts import Counts
from scalemath.topology.routers import RouterFabric
from scalemath.topology.torus import whole_shape


@frozen
class HyperX(RouterFabric):
    """Grid of routers with links to all others of the same row in every dimension.

    Parameters
    ----------
    shape : tuple of int
        Routers along every dimension; one dimension is a full mesh of routers, sizes of two
        make a hypercube.
    endpoints_per_router : int
        Endpoints of a router.
    links_per_pair : int
        Parallel links of two joined routers.
    port_rate : Quantity [byte/s/dir], optional
        Rate of every link; a bare rate counts per direction.
    radix : int, optional
        Ports of a router, if more than are used.

    References
    ----------
    Described in [Ahn2009]_.

    Examples
    --------
    >>> grid = HyperX(shape=(8, 8), endpoints_per_router=8)
    >>> grid.endpoints, grid.ports_per_router, grid.links["x0"]
    (512, 22, 224)
    """

    shape: tuple[int, ...] = field(converter=whole_shape, kw_only=True)
    endpoints_per_router: int = given("count >= 1")
    links_per_pair: int = given("count >= 1", 1)
    port_rate: Any = given("byte/s/dir > 0", None)
    radix: int | None = given("count >= 2", None)

    def __attrs_post_init__(self) -> None:
        self.check_radix()

    @property
    def routers(self) -> int:
        """Number of routers."""
        return math.prod(self.shape)

    @property
    def ports_per_router(self) -> int:
        """Ports a router uses."""
        between = sum(size - 1 for size in self.shape) * self.links_per_pair
        return self.endpoints_per_router + between

    @property
    def links(self) -> Counts:
        """Links by tier: endpoint, and one for every dimension."""
        found = {"endpoint": float(self.endpoints)}
        for i, size in enumerate(self.shape):
            rows = self.routers // size
            found[f"x{i}"] = rows * kernels.full_mesh_links(float(size), float(self.links_per_pair))
        return Counts(**found)

    @property
    def _load(self) -> float:
        return max(
            kernels.hyperx_dimension_load(
                float(size), float(self.links_per_pair), float(self.endpoints_per_router)
            )
            for size in self.shape
        )

    @property
    def uniform_load(self) -> float:
        """Flow on the busiest link when every endpoint sends 1 to all others [1]."""
        return self._load * self.endpoints / max(self.endpoints - 1, 1)

    @property
    def worst_load(self) -> float:
        """Flow on the busiest link that no permutation exceeds with two random phases [1]."""
        return 2.0 * self._load

    @property
    def cut_links(self) -> float:
        """Links over the thinnest straight cut [1]."""
        return min(
            kernels.hyperx_cut_links(float(self.routers), float(size), float(self.links_per_pair))
            for size in self.shape
        )

    @property
    def diameter(self) -> int:
        """Longest shortest path between two routers [links]."""
        return sum(size > 1 for size in self.shape)

    def _place(self, router: int) -> tuple[int, ...]:
        place: list[int] = []
        for size in reversed(self.shape):
            router, at = divmod(router, size)
            place.append(at)
        return tuple(reversed(place))

    def hops(self, a: int, b: int) -> int:
        """Routers a message passes: one more than the coordinates that differ.

        Parameters
        ----------
        a, b : int
            Numbers of two endpoints.

        Returns
        -------
        int
            0 for an endpoint and itself.
        """
        self.check_endpoint(a, b)
        if a == b:
            return 0
        one, other = self._place(self.router_of(a)), self._place(self.router_of(b))
        return 1 + sum(x != y for x, y in zip(one, other, strict=True))

    def router_links(self) -> Iterator[tuple[int, int, int, str]]:
        """Links between routers as two numbers, a count and a tier."""
        for number, place in enumerate(product(*(range(s) for s in self.shape))):
            for i, size in enumerate(self.shape):
                stride = math.prod(self.shape[i + 1 :])
                for step in range(1, size - place[i]):
                    yield number, number + step * stride, self.links_per_pair, f"x{i}"

    def __str__(self) -> str:
        return (
            f"{' x '.join(map(str, self.shape))} HyperX, {self.endpoints:,} endpoints, "
            f"{self.endpoints_per_router} per router"
        )
