"""NCCL's second model: kernels on buffers registered in symmetric memory windows.

Transcribed from the source of NCCL 2.30.7 and not compared with recorded output.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.collectives.nccl.availability import GATHERS
from scalemath.collectives.nccl.constants import LATEST, MICROSECOND, version
from scalemath.collectives.nccl.estimator import operation_name, whole_bytes
from scalemath.collectives.nccl.graphs import one_of, whole
from scalemath.collectives.nccl.result import SELECTOR
from scalemath.core.errors import RangeError
from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.kernels.nccl import nccl_soft_minimum, nccl_symmetric_time

METHODS = ("multicast", "direct", "low-latency")
RATE_UNIT = float(2**30)


@frozen(kw_only=True, eq=False)
class SymmetricEstimate(Result):
    """NCCL's estimate of one kernel on symmetric memory.

    Attributes
    ----------
    operation, method : str
        Collective and kind of kernel.
    base_seconds, traffic_bytes, bandwidth_bytes_per_second, time_seconds : float
        Base latency [s], bytes moved [byte], their rate [byte/s], and the time [s].
    """

    operation: str
    method: str
    base_seconds: float
    traffic_bytes: float
    bandwidth_bytes_per_second: float
    time_seconds: float
    given: Mapping[str, tuple[Any, str]] = field(repr=False)

    @measured("s")
    def time(self) -> float:
        """Estimated time."""
        return self.time_seconds

    @measured("byte")
    def traffic(self) -> float:
        """Bytes the kernel moves."""
        return self.traffic_bytes

    @measured("byte/s")
    def bandwidth(self) -> float:
        """Rate at which it moves them."""
        return self.bandwidth_bytes_per_second

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments of the call."""
        return self.given

    def formula(self) -> tuple[str, str]:
        """The time formula and its source."""
        record = kernel_of(nccl_symmetric_time)
        return record.formula, record.source


def symmetric_estimate(
    operation: str,
    size: Any,
    *,
    ranks: int,
    compute_capability: int,
    multiprocessors: int,
    method: str = "multicast",
) -> SymmetricEstimate:
    """NCCL's estimate for a kernel on symmetric memory windows, inside one NVLink domain.

    It is a selector, not a predictor, and it is unverified here: the constants were read in the
    source, no recorded output was compared.

    Parameters
    ----------
    operation : str
        "allreduce", "all_gather" or "reduce_scatter".
    size : Quantity [byte]
        Buffer by the nccl-tests convention: the total over ranks for the gathers.
    ranks : int
        Ranks of the domain.
    compute_capability : int
        90 for Hopper, 100 for Blackwell.
    multiprocessors : int
        Streaming multiprocessors (blocks) the kernel may use.
    method : str
        "multicast" (through the switch), "direct" (loads and stores), or "low-latency".

    Returns
    -------
    SymmetricEstimate
        Time, traffic and rate.

    Raises
    ------
    RangeError
        When the operation has no such kernel.
    """
    name = operation_name(operation)
    if name not in ("allreduce", *GATHERS):
        raise RangeError(
            f"{name} has no kernel on symmetric memory; write allreduce, all_gather "
            "or reduce_scatter"
        )
    ranks = whole(ranks, "ranks", 2)
    kind = one_of(method, "method", METHODS)
    blocks = whole(multiprocessors, "multiprocessors", 1)
    capability = whole(compute_capability, "compute_capability", 60)
    table = version(LATEST).constants["symmetric"]
    row = table["blackwell" if capability >= 100 else "before_blackwell"]
    buffer = whole_bytes(size)
    rate = RATE_UNIT * row["multiprocessor_rate" + ("_allreduce" if name == "allreduce" else "")]
    peak = (
        RATE_UNIT
        * row["peak_multicast_allreduce" if (name, kind) == ("allreduce", "multicast") else "peak"]
    )
    factor = _multicast_factor(name, kind, ranks, table)
    bandwidth = nccl_soft_minimum(blocks * rate * factor, peak, rate)
    traffic = _traffic(name, kind, buffer, ranks, table)
    base = row[_latency_name(name, kind)] * MICROSECOND
    return SymmetricEstimate(
        operation=name,
        method=kind,
        base_seconds=base,
        traffic_bytes=traffic,
        bandwidth_bytes_per_second=bandwidth,
        time_seconds=nccl_symmetric_time(base, traffic, bandwidth, MICROSECOND),
        given={
            "size": (buffer, "byte"),
            "ranks": (ranks, "1"),
            "multiprocessors": (blocks, "1"),
            "compute_capability": (capability, "1"),
        },
        assumptions=("buffers registered in symmetric memory windows of one NVLink domain",),
        cautions=(SELECTOR, "the constants of this model are unverified"),
    )


def _latency_name(operation: str, kind: str) -> str:
    if kind == "low-latency":
        ending = "_all_gather" if operation == "all_gather" else ""
        return f"latency_low_latency{ending}"
    return "latency_allreduce" if operation == "allreduce" else "latency"


def _multicast_factor(operation: str, kind: str, ranks: int, table: dict[str, Any]) -> float:
    """How much faster a multiprocessor's rate counts when the switch copies or adds [1]."""
    if kind != "multicast":
        return 1.0
    share = 1.0 if operation == "allreduce" else float(table["multicast_gather_factor"])
    return share * ranks


def _traffic(operation: str, kind: str, size: float, ranks: int, table: dict[str, Any]) -> float:
    """Bytes the kernel moves [byte]."""
    own = size if operation == "allreduce" else size / ranks
    if kind == "low-latency":
        return float(table["low_latency_traffic"]) * ranks * own
    if operation != "allreduce":
        return (ranks - 1) * own
    return size + size / ranks if kind == "multicast" else 2.0 * size * (ranks - 1) / ranks
