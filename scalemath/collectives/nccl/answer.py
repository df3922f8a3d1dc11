"""NCCL's estimate behind the collective functions: ``estimator="nccl"``."""

from __future__ import annotations

import math
from typing import Any

from attrs import field, frozen

from scalemath.collectives.algorithms import Algorithm
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.nccl.availability import OPERATIONS
from scalemath.collectives.nccl.estimator import estimate
from scalemath.collectives.nccl.result import Estimate
from scalemath.collectives.nccl.usual_machines import communicator
from scalemath.collectives.operations import Operation
from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import kernel_of
from scalemath.core.result import measured
from scalemath.kernels.nccl import nccl_time
from scalemath.kernels.terms import CollectiveTerms
from scalemath.units import display, quantity

NVLINK = {"HGX V100": 150e9, "HGX A100": 300e9, "HGX H100": 450e9, "HGX B200": 900e9}
"""Datasheet NVLink rate of one GPU per direction [byte/s]."""
NEAR = 0.02
GPUS = 8


@frozen(kw_only=True, eq=False)
class NcclCost(CollectiveCost):
    """What NCCL's own estimate says of a collective, with the whole table behind it.

    Attributes
    ----------
    table : Estimate
        All algorithms and protocols NCCL compares.
    """

    table: Estimate = field(repr=False)

    @property
    def steps(self) -> float:
        """Not known: NCCL's estimate counts no steps."""
        return math.nan

    @measured("byte")
    def bytes_per_rank(self) -> float:
        """Not known: NCCL's estimate counts no bytes."""
        return math.nan

    def remarks(self) -> list[str]:
        """The rows NCCL compares."""
        return self.table.remarks()


def answer_nccl(operation: Operation, values: dict[str, Any], assumed: tuple[str, ...]) -> NcclCost:
    """Estimate for the usual machine whose NVLink rate is the stated bandwidth.

    Parameters
    ----------
    operation : Operation
        One of the five NCCL has a model for.
    values : dict
        SI floats by name.
    assumed : tuple of str
        Assumptions made at the boundary.

    Returns
    -------
    NcclCost
        Time of the row NCCL would choose.

    Raises
    ------
    ArgumentError
        When the stated numbers do not name a usual machine.
    """
    name = operation.name
    if name not in OPERATIONS:
        raise ArgumentError(
            f'{name}: estimator="nccl" knows {", ".join(OPERATIONS)}; NCCL has no cost model '
            f"for {name}"
        )
    system, nodes, local = _machine(name, values)
    machine = communicator(system, nodes=nodes, ranks_per_node=local)
    table = estimate(name, quantity(values["size"], "byte"), machine)
    row = table.selected
    first = row.latency_seconds * row.latency_factor * row.operations
    given = {
        **values,
        "latency": row.latency_seconds,
        "bandwidth": row.bandwidth_bytes_per_second,
        "latency_factor": row.latency_factor,
        "operations": row.operations,
        "correction": row.correction,
    }
    return NcclCost(
        operation_record=operation,
        algorithm_record=Algorithm(name, f"{row.algorithm}/{row.protocol}", kernel_of(nccl_time)),
        given=given,
        split=CollectiveTerms(first, row.time_seconds - first, 0.0),
        estimator="nccl",
        table=table,
        assumptions=(
            *assumed,
            f"{machine.name}, the machine whose NVLink rate is the stated bandwidth",
            *table.assumptions,
        ),
        cautions=table.cautions,
    )


def _machine(name: str, values: dict[str, Any]) -> tuple[str, int, int]:
    """Usual machine, nodes and ranks per node for a rate and a number of ranks."""
    rate, ranks = values["bandwidth"], int(values["ranks"])
    near = [s for s, known in NVLINK.items() if abs(rate / known - 1.0) <= NEAR]
    help_text = (
        "write scalemath.nccl.estimate with a communicator of your machine, for example "
        'nccl.communicator("HGX H100", nodes=4)'
    )
    if not near:
        raise ArgumentError(
            f'{name}: estimator="nccl" needs a machine; {display(rate, "byte/s/dir")} is no NVLink '
            f"rate of V100, A100, H100 or B200; {help_text}"
        )
    if 2 <= ranks <= GPUS:
        return near[0], 1, ranks
    if ranks >= GPUS and ranks % GPUS == 0:
        return near[0], ranks // GPUS, GPUS
    raise ArgumentError(
        f'{name}: estimator="nccl" takes 2 to {GPUS} ranks or whole nodes of {GPUS}, not {ranks}; '
        f"{help_text}"
    )
