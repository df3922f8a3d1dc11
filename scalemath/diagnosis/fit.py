"""One fitted collective: lines, what they leave, intervals, and errors on sizes left out."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import field, frozen

from scalemath.collectives.envelope import Envelope, envelope_of
from scalemath.collectives.envelope_fit import fit_lines, least, medians
from scalemath.collectives.operations import operation_named
from scalemath.core.result import Result, measured
from scalemath.readers.columns import Array
from scalemath.units import display

KEPT = 0.75
"""Share of what the lines leave at measured sizes that is handed on between them [1]: what
repeats is kept, noise is damped. Chosen on sizes left out of the table of measured collectives."""
GROUPS = 5
QUANTILE = 2.776
"""Student's factor for 95 % with four degrees of freedom."""
NEEDED = 6


@frozen(kw_only=True, eq=False)
class CollectiveFit(Result):
    """Fit of one collective over so many ranks.

    Attributes
    ----------
    operation : str
        Public name.
    ranks, nodes : int
        Participants and machines.
    envelope : Envelope
        Least of a few lines.
    sizes, times : numpy.ndarray
        Distinct sizes [byte] and median times [s] it rests on.
    left : numpy.ndarray
        Logarithm of measured over fitted time at those sizes.
    errors : numpy.ndarray
        Relative errors on sizes left out, every second one in turn; empty with few sizes.
    intervals : mapping of str to tuple of float
        95 % intervals of latency [s] and bandwidth [byte/s] by leaving out groups of sizes.
    source : str
        What it was fitted on.
    """

    operation: str
    ranks: int
    nodes: int
    envelope: Envelope = field(repr=False)
    sizes: Array = field(repr=False)
    times: Array = field(repr=False)
    left: Array = field(repr=False)
    errors: Array = field(repr=False)
    intervals: dict[str, tuple[float, float]] = field(factory=dict, repr=False)
    source: str = ""

    @property
    def name(self) -> str:
        """Readable name."""
        where = f" on {self.nodes} nodes" if self.nodes > 1 else ""
        return f"{self.operation} over {self.ranks} ranks{where}"

    @property
    def factor(self) -> float:
        """Bus over algorithm bandwidth [1]."""
        return float(operation_named(self.operation).factor.function(float(self.ranks)))

    def correction(self, size: float) -> float:
        """Measured over fitted time near a size, damped [1]."""
        if size <= 0.0:
            return math.exp(KEPT * float(self.left[0]))
        between = np.interp(math.log(size), np.log(self.sizes), self.left)
        return math.exp(KEPT * float(between))

    def seconds(self, size: float) -> float:
        """Time of a buffer of so many bytes [s]."""
        return self.envelope.seconds(size) * self.correction(size)

    @measured("s")
    def latency(self) -> float:
        """Time of an empty buffer."""
        return self.envelope.lines[0].latency_seconds

    @measured("byte/s")
    def bus_bandwidth(self) -> float:
        """Bus bandwidth of a very large buffer."""
        return self.envelope.lines[-1].bandwidth_bytes_per_second * self.factor

    @measured("1")
    def error_left_out(self) -> float:
        """Mean error on sizes left out of the fit; nan with few sizes."""
        return float(np.abs(self.errors).mean()) if self.errors.size else math.nan

    @measured("1")
    def error_fitted(self) -> float:
        """Mean error on the sizes fitted."""
        shown = np.array([self.seconds(float(size)) for size in self.sizes])
        return float(np.abs(shown / self.times - 1.0).mean())

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Sizes at which one line hands over to the next, as protocols do [byte]."""
        lines = self.envelope.lines
        found = []
        for one, other in pairwise(lines):
            slope = 1.0 / one.bandwidth_bytes_per_second - 1.0 / other.bandwidth_bytes_per_second
            found.append((other.latency_seconds - one.latency_seconds) / slope)
        return tuple(found)

    def spread(self) -> tuple[float, float]:
        """Factors on a predicted time between which nine of ten measurements lie [1]."""
        if not self.errors.size:
            return 0.8, 1.25
        low, high = np.quantile(1.0 / (1.0 + self.errors), (0.05, 0.95))
        return float(low), float(high)

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.name}: latency {display(self.si('latency'), 's', 3)}, bus bandwidth up to "
            f"{display(self.si('bus_bandwidth'), 'byte/s', 4)}, mean error on sizes left out "
            f"{self.si('error_left_out'):.1%}"
        )


def fit_of(
    operation: str,
    ranks: int,
    nodes: int,
    sizes: Any,
    times: Any,
    *,
    lines: int = 3,
    source: str = "",
    check: bool = True,
) -> CollectiveFit:
    """Fit one collective.

    Parameters
    ----------
    operation : str
        Public name.
    ranks, nodes : int
        Participants and machines.
    sizes, times : numpy.ndarray
        Bytes and seconds.
    lines : int
        Most lines; 1 for a single latency and bandwidth.
    source : str
        What it is fitted on.
    check : bool
        Whether to try sizes left out and to form intervals.

    Returns
    -------
    CollectiveFit
        The fit.
    """
    size, time = np.asarray(sizes, float), np.asarray(times, float)
    envelope = envelope_of(size, time, lines, check=False, name=operation, source=source)
    distinct, middle = medians(size, time)
    rows = np.array([_row(line) for line in envelope.lines])
    left = np.log(middle / least(rows, distinct)) if lines > 1 else np.zeros(len(distinct))
    few = len(distinct) < NEEDED or not check
    return CollectiveFit(
        operation=operation_named(operation).name,
        ranks=ranks,
        nodes=nodes,
        envelope=envelope,
        sizes=distinct,
        times=middle,
        left=left,
        errors=np.array([]) if few else _left_out(size, time, lines),
        intervals={} if few else _intervals(size, time, lines, envelope),
        source=source,
    )


def _row(line: Any) -> tuple[float, float]:
    rate = line.bandwidth_bytes_per_second
    return line.latency_seconds, 1.0 / rate if math.isfinite(rate) else 0.0


def predicted(sizes: Array, times: Array, wanted: Array, lines: int = 3) -> Array:
    """Times at wanted sizes by a fit to others [s]."""
    distinct, middle = medians(sizes, times)
    rows = fit_lines(sizes, times, lines)
    found = least(rows, wanted)
    if lines > 1:
        left = np.log(middle / least(rows, distinct))
        found = found * np.exp(KEPT * np.interp(np.log(wanted), np.log(distinct), left))
    return found


def _left_out(sizes: Array, times: Array, lines: int) -> Array:
    distinct = np.unique(sizes)
    errors = []
    for first in (0, 1):
        kept = np.isin(sizes, distinct[first::2])
        errors.append(predicted(sizes[kept], times[kept], sizes[~kept], lines) / times[~kept] - 1)
    return np.concatenate(errors)


def _intervals(
    sizes: Array, times: Array, lines: int, envelope: Envelope
) -> dict[str, tuple[float, float]]:
    """Intervals of the logarithms by a jackknife over groups of sizes."""
    distinct = np.unique(sizes)
    found = []
    for group in range(GROUPS):
        kept = ~np.isin(sizes, distinct[group::GROUPS])
        rows = fit_lines(sizes[kept], times[kept], lines)
        found.append((max(rows[0, 0], 1e-12), 1.0 / max(rows[-1, 1], 1e-18)))
    logs = np.log(np.array(found))
    error = np.sqrt((GROUPS - 1) / GROUPS * ((logs - logs.mean(axis=0)) ** 2).sum(axis=0))
    middle = (
        envelope.lines[0].latency_seconds,
        envelope.lines[-1].bandwidth_bytes_per_second,
    )
    return {
        name: (value * math.exp(-QUANTILE * width), value * math.exp(QUANTILE * width))
        for name, value, width in zip(("latency", "bandwidth"), middle, error, strict=True)
    }
