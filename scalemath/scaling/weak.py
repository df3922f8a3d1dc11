"""Weak scaling: every rank keeps its work, and all of them communicate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import kernel_of, total
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels.laws import isoefficiency_work
from scalemath.kernels.scaling import (
    share_of,
    speedup_ratio,
    weak_scaling_step,
    work_on_one,
)
from scalemath.scaling.laws import step
from scalemath.scaling.steps import ALGORITHMS
from scalemath.units import display, quantities, quantity


@frozen(kw_only=True, eq=False)
class WeakScaling(Result):
    """One step in which every rank does the work of one.

    Attributes
    ----------
    given : mapping of str to float
        Arguments in SI units.
    outputs : mapping of str to float
        Everything the model computed, in SI units.
    """

    given: Mapping[str, Any] = field(repr=False)
    outputs: Mapping[str, float] = field(repr=False)

    @property
    def ranks(self) -> int:
        """Devices."""
        return int(self.given["ranks"])

    @measured("s")
    def time(self) -> float:
        """Duration of the step."""
        return self.outputs["time"]

    @measured("s")
    def communication(self) -> float:
        """Duration of the collective, hidden or not."""
        return self.outputs["communication"]

    @measured("1")
    def scaling_efficiency(self) -> float:
        """Time of the work alone over the time of the step."""
        return self.outputs["scaling_efficiency"]

    @measured("1")
    def speedup(self) -> float:
        """Work done per time against one rank."""
        return self.outputs["scaling_efficiency"] * self.ranks

    @measured("1")
    def communication_share(self) -> float:
        """Exposed communication as a share of the step."""
        return self.outputs["communication_share"]

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {p.name: (self.given[p.name], p.unit) for p in weak_scaling.parameters}

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Computation and exposed communication."""
        return {
            "compute": (self.outputs["time.compute"], "s"),
            "exposed communication": (self.outputs["time.exposed_communication"], "s"),
        }

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        collective = ALGORITHMS[self.given["algorithm"]]
        own = kernel_of(weak_scaling_step)
        return f"{own.formula}; communication = {collective.formula}", collective.source

    def headline(self) -> str:
        """One readable line."""
        out = self.outputs
        return (
            f"weak scaling: {display(out['time'], 's')} on {self.ranks} ranks, efficiency "
            f"{100 * out['scaling_efficiency']:.6g} %, communication "
            f"{100 * out['communication_share']:.6g} %"
        )


@quantities(
    step("work", work_on_one, "s"),
    Step("communication", ALGORITHMS, "s", choice="algorithm"),
    step("time", weak_scaling_step, "s", time_one="work"),
    step("scaling_efficiency", speedup_ratio, time_one="work"),
    step("communication_share", share_of, part="time.exposed_communication", whole="time"),
    output="time",
    time_one="s > 0 unless flops",
    flops="flop > 0 optional",
    peak="flop/s > 0 optional",
    utilisation="number > 0 <= 1",
    ranks="count >= 1",
    size="byte",
    bandwidth="byte/s/dir > 0",
    latency="s",
    reduction_rate="byte/s > 0 optional",
    overlap="number <= 1",
    algorithm=f"choice {' '.join(ALGORITHMS)}",
)
def weak_scaling(
    *,
    ranks: float,
    size: float,
    bandwidth: float,
    time_one: float = 0.0,
    flops: float = 0.0,
    peak: float = math.inf,
    utilisation: float = 1.0,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
    overlap: float = 0.0,
    algorithm: str = "ring",
    assumed: tuple[str, ...] = (),
) -> WeakScaling:
    """Time and efficiency when every rank keeps the work of one and all of them communicate.

    Parameters
    ----------
    ranks : int
        Devices.
    size : Quantity [byte]
        Buffer of the collective; it does not grow with the ranks.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    time_one : Quantity [s]
        Time of the work of one rank; or give `flops` and `peak`.
    flops : Quantity [flop]
        Operations of one rank.
    peak : Quantity [flop/s]
        Dense rate of one device.
    utilisation : float
        Share of `peak` that is reached [1].
    latency : Quantity [s]
        One-way time of an empty message.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank.
    overlap : float
        Share of the communication that computation may hide [1].
    algorithm : str
        Allreduce algorithm, or another operation as in "all_to_all/pairwise".

    Returns
    -------
    WeakScaling
        Time with its terms, efficiency, communication share.

    Raises
    ------
    ArgumentError
        When neither `time_one` nor both `flops` and `peak` are given.

    Examples
    --------
    >>> from scalemath.scaling import weak_scaling
    >>> print(weak_scaling(time_one="100 ms", ranks=64, size="2 GiB", bandwidth="100 GB/s/dir"))
    weak scaling: 142.279 ms on 64 ranks, efficiency 70.2846 %, communication 29.7154 %
    """
    if not time_one and not (flops and math.isfinite(peak)):
        raise ArgumentError(
            "weak_scaling: peak is missing beside flops; write peak='2.25 PFLOP/s', or give "
            "time_one='62.55 ms'"
        )
    given: dict[str, float | str] = {
        "time_one": time_one,
        "flops": flops,
        "peak": peak,
        "utilisation": utilisation,
        "ranks": ranks,
        "size": size,
        "bandwidth": bandwidth,
        "latency": latency,
        "reduction_rate": reduction_rate,
        "overlap": overlap,
        "algorithm": algorithm,
    }
    kept = tuple(text for text in assumed if not text.startswith(("flops", "time_one")))
    return WeakScaling(given=given, outputs=weak_scaling.model.evaluate(given), assumptions=kept)


@quantities(
    Step("communication", ALGORITHMS, "s", choice="algorithm"),
    step("work", isoefficiency_work, "s"),
    output="work",
    efficiency="number > 0 < 1",
    ranks="count >= 1",
    size="byte",
    bandwidth="byte/s/dir > 0",
    latency="s",
    reduction_rate="byte/s > 0 optional",
    algorithm=f"choice {' '.join(ALGORITHMS)}",
)
def isoefficiency(
    *,
    efficiency: float,
    ranks: float,
    size: float,
    bandwidth: float,
    latency: float = 0.0,
    reduction_rate: float = math.inf,
    algorithm: str = "ring",
) -> Any:
    """Work that keeps a scaling efficiency on a number of ranks.

    Parameters
    ----------
    efficiency : float
        Scaling efficiency wanted [1].
    ranks : int
        Devices.
    size : Quantity [byte]
        Buffer of the collective.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of one rank's port per direction.
    latency : Quantity [s]
        One-way time of an empty message.
    reduction_rate : Quantity [byte/s]
        Bytes reduced per second by one rank.
    algorithm : str
        Allreduce algorithm, or another operation as in "all_to_all/pairwise".

    Returns
    -------
    Quantity [s]
        Time of the work on one device: ``efficiency / (1 - efficiency)`` times ranks times
        communication [GramaGuptaKumar1993]_.

    Examples
    --------
    >>> from scalemath.scaling import isoefficiency
    >>> work = isoefficiency(efficiency=0.6, ranks=64, size="2 GiB", bandwidth="900 GB/s/dir")
    >>> print(f"{work.to('ms'):.6g~P}")
    450.972 ms
    """
    kernel = ALGORITHMS[algorithm]
    known = {
        "size": size,
        "ranks": ranks,
        "bandwidth": bandwidth,
        "latency": latency,
        "reduction_rate": reduction_rate,
    }
    communication = total(kernel.function(*(known[name] for name in kernel.parameters)))
    return quantity(isoefficiency_work(efficiency, ranks, communication), "s")
