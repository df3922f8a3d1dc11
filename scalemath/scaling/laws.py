"""Laws of scaling: Amdahl, Gustafson, and the serial fraction a measurement implies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.core.kernel import kernel_of
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels.laws import (
    amdahl_ranks_at_efficiency,
    amdahl_ranks_at_share,
    gustafson_speedup,
)
from scalemath.kernels.scaling import (
    amdahl_ceiling,
    amdahl_speedup,
    karp_flatt_fraction,
    speedup_per_rank,
)
from scalemath.units import convert, quantities
from scalemath.units.checks import is_array
from scalemath.units.declaration import parse

_SHARE = parse("share", "number > 0 <= 1")


def step(output: str, function: Any, unit: str = "1", **rename: str) -> Step:
    """Make the step of a model that runs one kernel."""
    return Step(output, {"": kernel_of(function)}, unit, rename=rename)


def _share(name: str, value: Any) -> float:
    """Read a share above 0 and at most 1."""
    if is_array(value) or isinstance(value, (list, tuple, set, dict)):
        raise ArgumentError(f"{name} is {str(value)[:80]}; wanted one share, as in 0.8")
    try:
        return float(convert(_SHARE, value))
    except ScalemathError as error:
        raise type(error)(f"{name} {error}") from None


@frozen(kw_only=True, eq=False)
class LawResult(Result):
    """Speedup by a law with one parameter, the serial fraction.

    Attributes
    ----------
    law : str
        "Amdahl" or "Gustafson".
    serial_fraction : float
        Share of the work that does not become shorter with more ranks [1].
    ranks : int
        Devices.
    speedup : float
        Time on one over time on all [1].
    """

    law: str
    serial_fraction: float
    ranks: int
    speedup: float

    @measured("1")
    def scaling_efficiency(self) -> float:
        """Speedup per rank."""
        return speedup_per_rank(self.speedup, self.ranks, 1.0)

    @measured("1")
    def ceiling(self) -> float:
        """Speedup in the limit of infinitely many ranks."""
        return amdahl_ceiling(self.serial_fraction) if self.law == "Amdahl" else math.inf

    def ranks_at_efficiency(self, efficiency: float) -> float:
        """Largest number of ranks, continuous, that keeps a scaling efficiency (Amdahl)."""
        wanted = _share("efficiency", efficiency)
        return amdahl_ranks_at_efficiency(self.serial_fraction, wanted)

    def ranks_at_share(self, share: float = 0.9) -> float:
        """Number of ranks, continuous, that reach a share of the ceiling (Amdahl)."""
        return amdahl_ranks_at_share(self.serial_fraction, _share("share", share))

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {"serial_fraction": (self.serial_fraction, "1"), "ranks": (self.ranks, "1")}

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        law = amdahl_speedup if self.law == "Amdahl" else gustafson_speedup
        record = kernel_of(law)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        limit = f", ceiling {self.ceiling:.6g}" if self.law == "Amdahl" else ""
        return (
            f"{self.law}: speedup {self.speedup:.6g} on {self.ranks} ranks, "
            f"efficiency {100 * self.scaling_efficiency:.6g} %{limit}"
        )


@quantities(
    step("speedup", amdahl_speedup),
    step("ceiling", amdahl_ceiling),
    output="speedup",
    serial_fraction="number <= 1",
    ranks="count >= 1",
)
def amdahl(serial_fraction: float, ranks: float) -> LawResult:
    """Speedup of a fixed amount of work by Amdahl's law.

    Parameters
    ----------
    serial_fraction : float
        Share of the work on one rank that stays serial [1], 0 to 1.
    ranks : int
        Devices that share the rest.

    Returns
    -------
    LawResult
        Speedup, scaling efficiency and ceiling.

    Notes
    -----
    ``speedup = ranks / (1 + (ranks - 1) serial_fraction)`` [Amdahl1967]_. A ring allreduce
    without latency is the same law with ``serial_fraction = 2 size / (bandwidth time_one)``.

    Examples
    --------
    >>> from scalemath.scaling import amdahl
    >>> print(amdahl(0.05, ranks=8))
    Amdahl: speedup 5.92593 on 8 ranks, efficiency 74.0741 %, ceiling 20
    """
    return LawResult(
        law="Amdahl",
        serial_fraction=serial_fraction,
        ranks=int(ranks),
        speedup=amdahl_speedup(serial_fraction, ranks),
    )


@quantities(step("speedup", gustafson_speedup), serial_fraction="number <= 1", ranks="count >= 1")
def gustafson(serial_fraction: float, ranks: float) -> LawResult:
    """Speedup of work that grows with the number of ranks, by Gustafson's law.

    Parameters
    ----------
    serial_fraction : float
        Share of the time on all ranks that is serial [1], 0 to 1.
    ranks : int
        Devices.

    Returns
    -------
    LawResult
        Scaled speedup and efficiency.

    Notes
    -----
    ``speedup = ranks - serial_fraction (ranks - 1)`` [Gustafson1988]_.

    Examples
    --------
    >>> from scalemath.scaling import gustafson
    >>> print(gustafson(0.05, ranks=8))
    Gustafson: speedup 7.65 on 8 ranks, efficiency 95.625 %
    """
    return LawResult(
        law="Gustafson",
        serial_fraction=serial_fraction,
        ranks=int(ranks),
        speedup=gustafson_speedup(serial_fraction, ranks),
    )


@frozen(kw_only=True, eq=False)
class KarpFlatt(Result):
    """Serial fraction that a measured speedup implies.

    Attributes
    ----------
    ranks : int
        Devices of the measurement.
    speedup : float
        Measured speedup [1].
    serial_fraction : float
        Experimentally determined serial fraction [1]; above 1 the job slows down.
    """

    ranks: int
    speedup: float
    serial_fraction: float

    @measured("1")
    def scaling_efficiency(self) -> float:
        """Measured speedup per rank."""
        return speedup_per_rank(self.speedup, self.ranks, 1.0)

    @measured("1")
    def ceiling(self) -> float:
        """Speedup that more ranks approach if the fraction stays what it is."""
        return amdahl_ceiling(self.serial_fraction)

    @property
    def slows_down(self) -> bool:
        """Whether the job is slower than on one rank."""
        return self.speedup < 1.0

    def ranks_at_efficiency(self, efficiency: float) -> float:
        """Number of ranks, continuous, down to which this scaling efficiency holds."""
        wanted = _share("efficiency", efficiency)
        return amdahl_ranks_at_efficiency(self.serial_fraction, wanted)

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {"speedup": (self.speedup, "1"), "ranks": (self.ranks, "1")}

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(karp_flatt_fraction)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        text = (
            f"Karp-Flatt: serial fraction {self.serial_fraction:.6g} from speedup "
            f"{self.speedup:.6g} on {self.ranks} ranks, ceiling {self.ceiling:.6g}"
        )
        return text + "; the job slows down" if self.slows_down else text


@quantities(
    step("serial_fraction", karp_flatt_fraction),
    speedup="number > 0 unless efficiency",
    efficiency="number > 0 optional",
    ranks="count >= 2",
)
def karp_flatt(
    speedup: float = math.nan, *, ranks: float, efficiency: float = math.nan
) -> KarpFlatt:
    """Serial fraction that a measured speedup or scaling efficiency implies.

    Parameters
    ----------
    speedup : float
        Measured speedup against one rank [1]; or give `efficiency`.
    ranks : int
        Devices of the measurement, at least two.
    efficiency : float
        Measured scaling efficiency [1].

    Returns
    -------
    KarpFlatt
        Serial fraction, the ceiling it implies, and whether the job slows down.

    Notes
    -----
    ``serial_fraction = (ranks / speedup - 1) / (ranks - 1)`` [KarpFlatt1990]_. It exceeds 1
    when the job is slower than on one rank, and is below 0 when the speedup exceeds `ranks`.

    Examples
    --------
    >>> from scalemath.scaling import karp_flatt
    >>> print(f"{karp_flatt(efficiency=0.73, ranks=8).serial_fraction:.6g}")
    0.0528376
    """
    if not math.isnan(efficiency):
        speedup = efficiency * ranks
    if math.isnan(speedup):
        raise ArgumentError("karp_flatt: give speedup=5.84 or efficiency=0.73")
    fraction = karp_flatt_fraction(speedup, ranks)
    cautions: tuple[str, ...] = ()
    if fraction > 1.0:
        cautions = (f"serial fraction {fraction:.4g} above 1: the job slows down",)
    elif fraction < 0.0:
        cautions = ("speedup above the number of ranks: superlinear, look for a cache effect",)
    return KarpFlatt(ranks=int(ranks), speedup=speedup, serial_fraction=fraction, cautions=cautions)


__all__ = [
    "KarpFlatt",
    "LawResult",
    "amdahl",
    "gustafson",
    "karp_flatt",
    "step",
]
