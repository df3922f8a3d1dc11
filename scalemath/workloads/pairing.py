"""Which matrix product an activation collective belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.result import Result, measured
from scalemath.kernels.gemm import compute_time, gemm_operations
from scalemath.kernels.placing import reduction_on_tier
from scalemath.kernels.scaling import share_of
from scalemath.units import QuantityLike, display, to_si
from scalemath.workloads.transformer import Transformer


@frozen(kw_only=True, eq=False)
class Pairing(Result):
    """A reduction and the products whose output it reduces.

    Attributes
    ----------
    product : str
        Name of the product.
    operations : float
        Operations between two reductions, over all ranks [flop].
    ranks : int
        Ranks of the tensor group.
    computation_time, communication_time : float
        Both, on one rank [s].
    """

    product: str
    operations: float
    ranks: int
    computation_time: float
    communication_time: float

    @measured("flop")
    def flops(self) -> float:
        """Operations of the product, over all ranks."""
        return self.operations

    @measured("s")
    def computation(self) -> float:
        """Time of the product on one rank."""
        return self.computation_time

    @measured("s")
    def communication(self) -> float:
        """Time of the reduction."""
        return self.communication_time

    @measured("1")
    def communication_share(self) -> float:
        """Reduction as a share of both."""
        return share_of(self.communication_time, self.computation_time + self.communication_time)

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Product and reduction."""
        return {
            "computation": (self.computation_time, "s"),
            "communication": (self.communication_time, "s"),
        }

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.product}: {display(self.operations, 'flop')}, reduction takes "
            f"{100 * self.communication_share:.6g} % on {self.ranks} ranks"
        )


def pair_reduction(
    transformer: Transformer,
    *,
    product: str,
    tokens: int,
    ranks: int,
    peak: QuantityLike,
    bandwidth: QuantityLike,
    latency: QuantityLike = "0 s",
    activation_bytes: int = 2,
) -> Pairing:
    """Set a tensor-parallel reduction beside the product whose output it reduces.

    Parameters
    ----------
    transformer : Transformer
        The architecture.
    product : str
        A product whose inner side is split, so that its output must be reduced: "attention
        output" or "feed-forward down".
    tokens : int
        Rows of the product.
    ranks : int
        Ranks of the tensor group.
    peak : Quantity [flop/s]
        Dense rate of one device.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of a device's port per direction.
    latency : Quantity [s]
        One-way time of an empty message.
    activation_bytes : int
        Bytes of one value [byte].

    Returns
    -------
    Pairing
        Operations, both times, and the share of the reduction.

    Raises
    ------
    ArgumentError
        When the output of the product is not reduced: it is split, and the next product takes
        it as it is.

    Examples
    --------
    >>> from scalemath.workloads import Transformer, pair_reduction
    >>> model = Transformer(layers=1, hidden=16384, heads=128, ffn=65536, vocabulary=32000,
    ...                     gated=False)
    >>> print(pair_reduction(model, product="attention output", tokens=65536, ranks=8,
    ...                      peak="2.25 PFLOP/s", bandwidth="900 GB/s/dir"))
    attention output: 35.1844 TFLOP, reduction takes 68.1146 % on 8 ranks
    """
    known = {gemm.name: gemm for gemm in transformer.gemms()}
    reduced = [name for name, gemm in known.items() if gemm.split == "inner"]
    gemm = known.get(product)
    if gemm is None or gemm.split != "inner":
        state = "is not a product of a layer" if gemm is None else "is not reduced: it is split"
        raise ArgumentError(f"{product!r} {state}; reduced are {', '.join(reduced)}")
    operations = gemm_operations(float(tokens), gemm.columns, gemm.inner, float(gemm.used))
    return Pairing(
        product=product,
        operations=operations,
        ranks=ranks,
        computation_time=compute_time(operations / ranks, to_si(peak, "flop/s"), 1.0),
        communication_time=reduction_on_tier(
            float(activation_bytes * tokens * transformer.hidden),
            float(ranks),
            to_si(bandwidth, "byte/s/dir"),
            to_si(latency, "s"),
            1.0,
        ),
        assumptions=("products at the full peak rate", "ring allreduce, not overlapped"),
    )


def paired_products(transformer: Transformer) -> dict[str, tuple[str, ...]]:
    """Products between one reduction and the next, by the product that is reduced.

    Parameters
    ----------
    transformer : Transformer
        The architecture.

    Returns
    -------
    dict
        For each reduced product, the products since the last reduction, itself included.
    """
    found: dict[str, tuple[str, ...]] = {}
    open_products: list[Any] = []
    for gemm in transformer.gemms():
        open_products.append(gemm.name)
        if gemm.split == "inner":
            found[gemm.name] = tuple(open_products)
            open_products = []
    return found
