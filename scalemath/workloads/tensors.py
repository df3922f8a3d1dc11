"""Operations of a matrix product and bytes of a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalemath.core.dtypes import DataType, data_type
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.kernels.gemm import gemm_operations, tensor_bytes
from scalemath.scaling.laws import step
from scalemath.units import Quantity, quantities, quantity


@quantities(
    step("flops", gemm_operations, "flop"),
    m="count >= 1",
    n="count >= 1",
    k="count >= 1",
    products="count >= 1",
)
def gemm_flops(m: float, n: float, k: float, *, products: float = 1.0) -> Quantity:
    """Operations of a matrix product, a multiplication and an addition per element pair.

    Parameters
    ----------
    m, n, k : int
        Rows and columns of the result, and the inner dimension.
    products : int
        Number of such products.

    Returns
    -------
    Quantity [flop]
        ``2 m n k products`` [GolubVanLoan2013]_.

    Examples
    --------
    >>> from scalemath.workloads import gemm_flops
    >>> print(f"{gemm_flops(65536, 16384, 65536).to('TFLOP'):.6g~P}")
    140.737 TFLOP
    """
    return quantity(gemm_operations(m, n, k, products), "flop")


def tensor_size(shape: Sequence[int] | int, dtype: str | DataType) -> Quantity:
    """Bytes of a tensor.

    Parameters
    ----------
    shape : sequence of int
        Extents; an empty one is a single element.
    dtype : str or DataType
        Data type such as "bf16", "fp8", "int4", "mxfp4"; block scales are counted.

    Returns
    -------
    Quantity [byte]
        Elements times bits over 8, rounded up to whole bytes.

    Raises
    ------
    RangeError
        When an extent is not a whole number of at least 0.

    Examples
    --------
    >>> from scalemath.workloads import tensor_size
    >>> print(tensor_size((8, 8192, 16384), "bf16").to("GiB"))
    2 GiB
    """
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    for extent in extents:
        if not _is_whole(extent):
            raise ArgumentError(
                f"tensor_size: shape holds {extent!r}; extents are whole numbers, "
                "as in (8, 8192, 16384)"
            )
        if extent < 0:
            raise RangeError(f"tensor_size: shape holds {extent}; an extent is at least 0")
    elements = math.prod(int(extent) for extent in extents)
    if elements > 2**53:
        raise RangeError(f"tensor_size: {elements} elements; counts go up to 2**53")
    bits = data_type(dtype).bits_per_element
    return quantity(float(math.ceil(tensor_bytes(float(elements), bits))), "byte")


def _is_whole(extent: object) -> bool:
    """Whether something counts elements: an integer, or a float without a fraction."""
    if isinstance(extent, float):
        return extent.is_integer()
    return hasattr(extent, "__index__") and not isinstance(extent, bool)
