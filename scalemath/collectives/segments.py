"""Into how many segments the pipelined algorithms cut a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scalemath.kernels.primitives import ceil_log2
from scalemath.kernels.tree import best_segments

_FILL: dict[str, tuple[Callable[[float], float], float]] = {
    "chain": (lambda ranks: ranks - 2.0, 1.0),
    "binary-tree": (lambda ranks: ceil_log2(ranks + 1.0) - 2.0, 1.0),
    "double-binary-tree": (lambda ranks: 2.0 * ceil_log2(ranks), 2.0),
}
"""Further stages of each pipeline, and the least number of segments it takes."""


def segments_of(algorithm: str, given: Mapping[str, float]) -> float:
    """Best number of segments, continuous, on the way down; infinite without latency.

    Parameters
    ----------
    algorithm : str
        Name of a pipelined algorithm.
    given : mapping of str to float
        `size`, `ranks`, `bandwidth` and `latency` in SI units.

    Returns
    -------
    float
        Number of segments the whole message is cut into [1].
    """
    ranks = given["ranks"]
    name = algorithm if ranks >= 3.0 else "chain"
    fill, least = _FILL[name]
    further = max(fill(ranks), 0.0)
    return best_segments(further, given["size"], given["bandwidth"], given["latency"], least)
