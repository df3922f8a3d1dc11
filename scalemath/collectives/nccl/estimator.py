"""The estimate itself: a table over algorithms and protocols, and the choice NCCL makes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from scalemath.collectives.nccl.availability import (
    ALGORITHMS,
    OPERATIONS,
    PROTOCOLS,
    algorithm_obstacle,
    protocol_obstacle,
)
from scalemath.collectives.nccl.bounds import bound
from scalemath.collectives.nccl.constants import LATEST, Version
from scalemath.collectives.nccl.constants import version as release_of
from scalemath.collectives.nccl.graphs import Communicator, one_of, whole
from scalemath.collectives.nccl.result import Estimate, Row, cautions_of
from scalemath.collectives.nccl.tables import bandwidth, latency
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.kernel import total
from scalemath.kernels.nccl import nccl_time
from scalemath.units import to_si

FP8 = ("fp8", "float8_e4m3", "float8_e5m2", "f8e4m3", "f8e5m2")


def operation_name(name: str) -> str:
    """One of the operations NCCL estimates, from its name with any separators."""
    if not isinstance(name, str):
        raise ArgumentError(f"operation is {repr(name)[:80]}; wanted text, as in 'allreduce'")
    plain = name.lower().replace("-", "").replace("_", "").replace(" ", "")
    for known in OPERATIONS:
        if plain == known.replace("_", ""):
            return known
    wanted = ", ".join(OPERATIONS)
    raise RangeError(
        f"NCCL's estimator knows {wanted}; {repr(name)[:80]} has no cost model in it "
        "(all-to-all and send-receive have none)"
    )


def estimate(
    operation: str,
    size: Any,
    communicator: Communicator,
    *,
    version: str = LATEST,
    operations: int = 1,
    datatype: str = "",
    algorithms: Iterable[str] | None = None,
    protocols: Iterable[str] | None = None,
) -> Estimate:
    """What NCCL's own cost model says of one collective call.

    The model is a selector: NCCL compares these numbers to pick an algorithm and a
    protocol. It is not a predictor; against measurements it errs by tens of percent, and it is
    given unclamped, so that a row may lie below what the wires allow (its cautions say so).

    Parameters
    ----------
    operation : str
        "allreduce", "all_gather", "reduce_scatter", "broadcast" or "reduce".
    size : Quantity [byte]
        Buffer by the nccl-tests convention: the total over ranks for all-gather and
        reduce-scatter.
    communicator : Communicator
        Machine and graphs; `scalemath.nccl.communicator` gives the usual ones.
    version : str
        NCCL release whose constants are used.
    operations : int
        Operations that share a channel in one group; 1 for a lone call.
    datatype : str
        "fp8" where that matters: NCCL avoids rings for it above 8 ranks.
    algorithms, protocols : iterable of str, optional
        Only these, as NCCL_ALGO and NCCL_PROTO would say; naming LL128 forces it on.

    Returns
    -------
    Estimate
        Rows with latency, bandwidth and time, and the selected one.

    Raises
    ------
    RangeError
        When the operation has no cost model, or nothing is available.

    Examples
    --------
    >>> from scalemath.collectives.nccl import communicator
    >>> table = estimate("allreduce", "256 MiB", communicator("HGX H100"))
    >>> table.selected.algorithm, table.selected.protocol
    ('NVLS', 'Simple')
    """
    if not isinstance(communicator, Communicator):
        raise ArgumentError(
            f"communicator is {repr(communicator)[:80]}; wanted a Communicator, as "
            "nccl.communicator('HGX H100') gives"
        )
    release = release_of(version)
    name = operation_name(operation)
    size_bytes = whole_bytes(size)
    wanted = (
        None
        if algorithms is None
        else tuple(one_of(a, "algorithm", ALGORITHMS) for a in algorithms)
    )
    forced = (
        None if protocols is None else tuple(one_of(p, "protocol", PROTOCOLS) for p in protocols)
    )
    pairs, obstacles = _candidates(name, communicator, release, wanted, forced)
    together = whole(operations, "operations", 1)
    fp8 = datatype.lower() in FP8
    rows = [_row(name, a, p, size_bytes, communicator, release, together, fp8) for a, p in pairs]
    offered = [row for row in rows if row.bandwidth_bytes_per_second > 0.0]
    idle = [row for row in rows if row.bandwidth_bytes_per_second <= 0.0]
    obstacles += [(f"{r.algorithm}/{r.protocol}", "its bandwidth is zero") for r in idle]
    if not offered:
        why = "; ".join(f"{what}: {reason}" for what, reason in obstacles)
        raise RangeError(f"NCCL offers no algorithm for {name} here: {why}")
    best = min(range(len(offered)), key=lambda i: offered[i].time_seconds)
    compared = tuple(evolve(row, selected=i == best) for i, row in enumerate(offered))
    return Estimate(
        operation=name,
        size_bytes=size_bytes,
        communicator=communicator,
        release=release,
        rows=compared,
        obstacles=tuple(obstacles),
        assumptions=(f'estimator "nccl", constants of NCCL {release.name} ({release.checked})',),
        cautions=cautions_of(compared, release),
    )


def select(operation: str, size: Any, communicator: Communicator, **options: Any) -> Row:
    """The algorithm and protocol NCCL would choose.

    Parameters
    ----------
    operation, size, communicator, **options
        As for `estimate`.

    Returns
    -------
    Row
        The row with the least estimated time; the first wins ties.

    Examples
    --------
    >>> from scalemath.collectives.nccl import communicator
    >>> select("allreduce", "64 KiB", communicator("HGX H100", nodes=4)).algorithm
    'Tree'
    """
    return estimate(operation, size, communicator, **options).selected


def whole_bytes(size: Any) -> float:
    """A buffer size as a whole number of bytes [byte]."""
    value = to_si(size, "byte", "size")
    if value < 0.0:
        raise RangeError(f'size {size!r} is negative; write for example "1 GiB"')
    return float(round(value))


def _candidates(
    operation: str,
    machine: Communicator,
    release: Version,
    wanted: tuple[str, ...] | None,
    forced: tuple[str, ...] | None,
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Pairs NCCL compares, in its order, and what it leaves out with the reason."""
    pairs: list[tuple[str, str]] = []
    obstacles: list[tuple[str, str]] = []
    for algorithm in ALGORITHMS:
        if wanted is not None and algorithm not in wanted:
            continue
        reason = algorithm_obstacle(operation, algorithm, machine, release)
        graph = machine.graph(algorithm)
        if reason or graph is None:
            obstacles.append((algorithm, reason))
            continue
        for protocol in PROTOCOLS:
            if forced is not None and protocol not in forced:
                continue
            reason = protocol_obstacle(algorithm, protocol, machine, graph)
            if reason and not (protocol == "LL128" and forced and algorithm in ("Tree", "Ring")):
                obstacles.append((f"{algorithm}/{protocol}", reason))
            else:
                pairs.append((algorithm, protocol))
    return pairs, obstacles


def _row(
    operation: str,
    algorithm: str,
    protocol: str,
    size: float,
    machine: Communicator,
    release: Version,
    operations: int,
    fp8: bool,
) -> Row:
    factors = release.constants["time_factors"]
    lat = latency(operation, algorithm, protocol, machine, release)
    rate = bandwidth(operation, algorithm, protocol, machine, release)
    stretch = ring_plateau(operation, algorithm, protocol, size, machine, release)
    slots = -(-operations // factors["operations_per_slot"])
    repeats = float(operations if algorithm == "Ring" else slots)
    correction = tree_correction(operation, algorithm, protocol, size, machine, release)
    time = total(nccl_time(size, lat, rate, stretch, repeats, correction))
    if fp8 and algorithm == "Ring" and machine.ranks > factors["fp8_ring_ranks"]:
        time *= factors["fp8_ring"]
    limit = bound(operation, algorithm, size, machine)
    return Row(
        algorithm=algorithm,
        protocol=protocol,
        latency_seconds=lat,
        bandwidth_bytes_per_second=rate,
        latency_factor=stretch,
        operations=repeats,
        correction=correction,
        time_seconds=time,
        bound_seconds=limit,
    )


def ring_plateau(
    operation: str,
    algorithm: str,
    protocol: str,
    size: float,
    machine: Communicator,
    release: Version,
) -> float:
    """Factor on the latency of a large Simple ring allreduce between nodes [1]."""
    factors = release.constants["time_factors"]
    if (algorithm, protocol, operation) != ("Ring", "Simple", "allreduce") or machine.nodes == 1:
        return 1.0
    share = int(size) // (machine.running_channels * machine.ranks)
    if share < factors["ring_plateau_bytes"]:
        return 1.0
    old = machine.generation == "Volta"
    return float(factors["ring_plateau_volta" if old else "ring_plateau"])


def tree_correction(
    operation: str,
    algorithm: str,
    protocol: str,
    size: float,
    machine: Communicator,
    release: Version,
) -> float:
    """Factor on the bandwidth of a tree allreduce of medium size [1]."""
    lengths = release.constants["tree_correction_length"]
    if operation != "allreduce" or algorithm not in lengths:
        return 1.0
    new = machine.compute_capability >= 100 and machine.cpu_architecture == "x86_64"
    if algorithm == "NVLSTree" and not new:
        return 1.0
    index = (int(size) // 64).bit_length() - 1
    if not 0 <= index < lengths[algorithm]:
        return 1.0
    return float(release.constants["tree_correction"][protocol][index])
