"""Matrix multiplications: operation counts, compute time, bytes of a tensor."""

from __future__ import annotations

from scalemath.core.kernel import kernel


@kernel(
    unit="flop",
    rises="m n k products",
    source="Golub & Van Loan, Matrix Computations, 4th ed. (2013), section 1.1.15",
    formula="flops = 2 m n k products",
)
def gemm_operations(m: float, n: float, k: float, products: float) -> float:
    """Operations [flop] of `products` products of an m x k with a k x n matrix."""
    return 2.0 * m * n * k * products


@kernel(
    unit="byte",
    rises="elements bits",
    source="definition",
    formula="size = elements bits / 8",
)
def tensor_bytes(elements: float, bits: float) -> float:
    """Bytes [byte] of a tensor of `elements` values of `bits` bits each."""
    return elements * bits * 0.125


@kernel(
    unit="s",
    rises="flops",
    falls="peak utilisation",
    source="Williams, Waterman & Patterson, Roofline, CACM 52(4) (2009)",
    formula="time = flops / (peak utilisation)",
)
def compute_time(flops: float, peak: float, utilisation: float) -> float:
    """Time [s] of `flops` operations at a stated share of the peak rate [flop/s]."""
    return flops / (peak * utilisation)


@kernel(
    unit="s",
    rises="flops moved_bytes",
    falls="peak memory_bandwidth",
    source="Williams, Waterman & Patterson, Roofline, CACM 52(4) (2009)",
    formula="time = max(flops / peak, moved_bytes / memory_bandwidth)",
)
def roofline_time(flops: float, moved_bytes: float, peak: float, memory_bandwidth: float) -> float:
    """Time [s] of work bound by arithmetic [flop/s] or by memory traffic [byte/s]."""
    return max(flops / peak, moved_bytes / memory_bandwidth)
