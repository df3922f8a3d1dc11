"""A traffic matrix as the few numbers that an uneven exchange depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.units import to_si


def lowered_traffic(traffic: Any) -> dict[str, float]:
    """Lower a traffic matrix.

    Parameters
    ----------
    traffic : array of Quantity
        Square matrix; row i, column j holds what rank i sends to rank j [byte].

    Returns
    -------
    dict of str to float
        `ranks`; `size`, the largest buffer of any rank, own block included; `largest_send` and
        `largest_receive`, what the busiest ranks exchange with others; `sum_of_steps`, the sum
        over the exchanges of rank i with rank i + k of their largest block [byte].
    """
    bytes_to = np.asarray(to_si(traffic, "byte", "all_to_all_v: traffic"), float)
    if bytes_to.ndim != 2 or bytes_to.shape[0] != bytes_to.shape[1] or not bytes_to.size:
        raise ArgumentError(
            f"all_to_all_v: traffic has shape {bytes_to.shape}; wanted a square matrix whose row "
            "i, column j holds what rank i sends to rank j"
        )
    if not np.isfinite(bytes_to).all() or (bytes_to < 0.0).any():
        raise RangeError("all_to_all_v: traffic holds sizes that are negative or not finite")
    ranks = bytes_to.shape[0]
    buffers = max(bytes_to.sum(axis=1).max(), bytes_to.sum(axis=0).max())
    others = bytes_to * (1.0 - np.eye(ranks))
    rank = np.arange(ranks)
    steps = sum(float(others[rank, (rank + k) % ranks].max()) for k in range(1, ranks))
    return {
        "ranks": float(ranks),
        "size": float(buffers),
        "largest_send": float(others.sum(axis=1).max()),
        "largest_receive": float(others.sum(axis=0).max()),
        "sum_of_steps": float(steps),
    }
