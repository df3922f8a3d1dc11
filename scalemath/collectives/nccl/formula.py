"""NCCL's time formula as a public function, for scalars, arrays and sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.kernel import kernel_of, total
from scalemath.core.model import Step
from scalemath.core.result import Result, measured
from scalemath.kernels.nccl import NcclTime, nccl_time
from scalemath.units import display, quantities

UNITS = {"size": "byte", "latency": "s", "bandwidth": "byte/s/dir"}


@frozen(kw_only=True, eq=False)
class RowTime(Result):
    """Time NCCL's formula gives for one row of its table.

    Attributes
    ----------
    given : mapping of str to float
        Arguments in SI units.
    split : NcclTime
        Latency and bandwidth term [s].
    """

    given: Mapping[str, float] = field(repr=False)
    split: NcclTime

    @measured("s")
    def time(self) -> float:
        """Estimated time."""
        return total(self.split)

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {name: (value, UNITS.get(name, "1")) for name, value in self.given.items()}

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Terms that sum to the time."""
        return {name: (value, "s") for name, value in self.split._asdict().items()}

    def formula(self) -> tuple[str, str]:
        """Formula in words of the glossary and its source."""
        record = kernel_of(nccl_time)
        return record.formula, record.source

    def headline(self) -> str:
        """One readable line."""
        return f"NCCL's formula for {display(self.given['size'], 'byte')}: " + display(
            self.si("time"), "s"
        )


@quantities(
    Step("time", {"": kernel_of(nccl_time)}, "s"),
    output="time",
    size="byte",
    latency="s",
    bandwidth="byte/s/dir > 0",
    latency_factor="number > 0",
    operations="count >= 1",
    correction="number > 0",
)
def row_time(
    *,
    size: float,
    latency: float,
    bandwidth: float,
    latency_factor: float = 1.0,
    operations: float = 1.0,
    correction: float = 1.0,
    assumed: tuple[str, ...] = (),
) -> RowTime:
    """Time NCCL's formula gives for one row of its table.

    Latency and bandwidth of a row do not depend on the size; the factors do: trees are corrected
    by size, and large rings between nodes have a greater latency. `estimate` gives them per
    size.

    Parameters
    ----------
    size : Quantity [byte]
        Total buffer.
    latency : Quantity [s]
        Latency of the row.
    bandwidth : Quantity [byte/s/dir]
        Algorithm bandwidth of the row.
    latency_factor : float
        1.4 or 1.9 for a large ring between nodes [1].
    operations : int
        Operations that share a channel.
    correction : float
        Share of the bandwidth a tree reaches at this size [1].

    Returns
    -------
    RowTime
        Time with its two terms.

    Examples
    --------
    >>> from scalemath.collectives import nccl
    >>> row = nccl.estimate("allreduce", "1 GiB", nccl.communicator("HGX H100")).row("NVLS")
    >>> time = row_time(size="1 GiB", latency=row.latency, bandwidth=row.bandwidth)
    >>> time.si("time") == row.si("time")
    True
    """
    given = {
        "size": size,
        "latency": latency,
        "bandwidth": bandwidth,
        "latency_factor": latency_factor,
        "operations": operations,
        "correction": correction,
    }
    return RowTime(given=given, split=nccl_time(**given), assumptions=assumed)
