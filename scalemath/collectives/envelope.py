"""Envelopes: times of collectives as the least of up to three lines, as protocols behave.

One latency and one bandwidth miss measured collectives by tens of percent. An envelope is fitted to
a log with `fit_envelope` or taken from the measured defaults with `measured_envelope`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import field, frozen

from scalemath.collectives.envelope_fit import Floats, fit_lines, least, medians
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.kernel import kernel_of, total
from scalemath.core.result import Result, measured
from scalemath.kernels.busbandwidth import algorithm_bandwidth
from scalemath.kernels.envelope import envelope_time
from scalemath.units import Quantity, display, quantity, to_si
from scalemath.units.checks import is_array

MOST_LINES = 3
NEEDED_FOR_CHECK = 6
"""Distinct sizes from which a fit is also tried on sizes left out."""


class EnvelopeParameters(NamedTuple):
    """Three lines as plain floats for kernels and sweeps: latency [s], bandwidth [byte/s]."""

    latency_1: float
    bandwidth_1: float
    latency_2: float
    bandwidth_2: float
    latency_3: float
    bandwidth_3: float


@frozen
class Line:
    """One line of an envelope: latency plus size over bandwidth.

    Attributes
    ----------
    latency_seconds : float
        Time of an empty buffer [s].
    bandwidth_bytes_per_second : float
        Algorithm bandwidth of a very large one [byte/s]; infinite for a level line.
    """

    latency_seconds: float
    bandwidth_bytes_per_second: float

    @property
    def latency(self) -> Quantity:
        """Time of an empty buffer."""
        return quantity(self.latency_seconds, "s")

    @property
    def bandwidth(self) -> Quantity:
        """Algorithm bandwidth of a very large buffer."""
        return quantity(self.bandwidth_bytes_per_second, "byte/s")

    def __str__(self) -> str:
        return f"{self.latency_seconds * 1e6:.4g} us + size / {_rate(self)}"


def _rate(line: Line) -> str:
    return f"({line.bandwidth_bytes_per_second / 1e9:.4g} GB/s)"


@frozen(kw_only=True, eq=False)
class EnvelopeCost(Result):
    """Time of one buffer on an envelope.

    Attributes
    ----------
    envelope : Envelope
        The lines.
    size_bytes : float
        Buffer [byte].
    split : EnvelopeTime
        Latency and bandwidth term [s].
    """

    envelope: Envelope = field(repr=False)
    size_bytes: float
    split: tuple[float, float]

    @measured("s")
    def time(self) -> float:
        """Time of the collective."""
        return total(self.split)

    @measured("byte/s")
    def algorithm_bandwidth(self) -> float:
        """Size over time."""
        return algorithm_bandwidth(self.size_bytes, total(self.split))

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.envelope.name} of {display(self.size_bytes, 'byte')}: "
            f"{display(self.si('time'), 's')}, algorithm bandwidth "
            f"{display(self.si('algorithm_bandwidth'), 'byte/s')}"
        )

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Size of the buffer."""
        return {"size": (self.size_bytes, "byte")}

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Latency and bandwidth term."""
        return {"latency": (self.split[0], "s"), "bandwidth": (self.split[1], "s")}

    def formula(self) -> tuple[str, str]:
        """Formula and where the lines are from."""
        return kernel_of(envelope_time).formula, self.envelope.source


@frozen(kw_only=True, eq=False)
class Envelope(Result):
    """The least of up to three lines, with how well it fits.

    Attributes
    ----------
    lines : tuple of Line
        By rising latency; every one is the least somewhere.
    smallest_bytes, largest_bytes : float
        Range of sizes it was fitted on [byte].
    points : int
        Measurements it was fitted on.
    error_mean, error_95, error_worst : float
        Mean, 95th percentile and greatest absolute relative error on those [1].
    left_out_mean, left_out_95 : float
        Mean and 95th percentile on sizes left out of the fit, every second one in turn; nan
        when there were too few sizes to try [1].
    name : str
        What it is the envelope of.
    source : str
        Where the measurements are from.
    """

    lines: tuple[Line, ...]
    smallest_bytes: float
    largest_bytes: float
    points: int
    error_mean: float
    error_95: float
    error_worst: float
    left_out_mean: float = math.nan
    left_out_95: float = math.nan
    name: str = "envelope"
    source: str = ""

    def lower(self) -> EnvelopeParameters:
        """Three lines as plain floats; missing ones have infinite latency."""
        given = [v for x in self.lines for v in (x.latency_seconds, x.bandwidth_bytes_per_second)]
        missing = MOST_LINES - len(self.lines)
        return EnvelopeParameters(*given, *([math.inf] * (2 * missing)))

    def parameters(self) -> dict[str, Quantity]:
        """The lines as arguments of `protocol_time`, for arrays and sweeps."""
        units = {"latency": "s", "bandwidth": "byte/s/dir"}
        return {
            name: quantity(value, units[name.partition("_")[0]])
            for name, value in self.lower()._asdict().items()
            if math.isfinite(value)
        }

    def seconds(self, size: float) -> float:
        """Time of a buffer of so many bytes, both as plain SI floats [s]."""
        return total(envelope_time(size, *self.lower()))

    def time(self, size: Any) -> EnvelopeCost:
        """Time of one buffer.

        Parameters
        ----------
        size : Quantity [byte]
            Buffer, counted as in the measurements.

        Returns
        -------
        EnvelopeCost
            Time with its terms; a caution where the size lies outside the fitted range.
        """
        if is_array(size):
            raise ArgumentError(
                f"size is {str(size)[:80]}; wanted one size: call time() for each of them"
            )
        size_bytes = float(to_si(size, "byte", "size"))
        if size_bytes < 0.0:
            raise RangeError(f'size {size!r} is negative; write for example "1 GiB"')
        return EnvelopeCost(
            envelope=self,
            size_bytes=size_bytes,
            split=envelope_time(size_bytes, *self.lower()),
            assumptions=(f"{self.name}, mean error of the fit {self.error_mean:.1%}",),
            cautions=self._outside(size_bytes),
        )

    def _outside(self, size: float) -> tuple[str, ...]:
        if self.smallest_bytes <= size <= self.largest_bytes:
            return ()
        return (
            f"the size lies outside the {self.smallest_bytes:.0f} to {self.largest_bytes:.0f} byte "
            "the envelope was fitted on",
        )

    @measured("s")
    def latency(self) -> float:
        """Time of an empty buffer."""
        return self.lines[0].latency_seconds

    @measured("byte/s")
    def bandwidth(self) -> float:
        """Algorithm bandwidth of a very large buffer."""
        return self.lines[-1].bandwidth_bytes_per_second

    @measured("byte")
    def half_bandwidth_size(self) -> float:
        """Size from which half of the greatest bandwidth is reached; nan for a level line."""
        rate = self.lines[-1].bandwidth_bytes_per_second / 2.0
        if not math.isfinite(rate):
            return math.nan
        reached = [
            x.latency_seconds / (1.0 / rate - 1.0 / x.bandwidth_bytes_per_second)
            for x in self.lines
            if x.bandwidth_bytes_per_second > rate
        ]
        return min(reached)

    def formula(self) -> tuple[str, str]:
        """Formula and where the measurements are from."""
        return kernel_of(envelope_time).formula, self.source

    def headline(self) -> str:
        """Name, lines and error."""
        shown = ", ".join(str(line) for line in self.lines)
        return f"{self.name}: least of {shown}; mean error {self.error_mean:.1%}"

    def remarks(self) -> list[str]:
        """How well it fits."""
        text = [
            f"{self.points} points from {self.smallest_bytes:.0f} to {self.largest_bytes:.0f} byte:"
            f" mean error {self.error_mean:.1%}, 95th percentile {self.error_95:.1%}, worst "
            f"{self.error_worst:.1%}"
        ]
        if math.isfinite(self.left_out_mean):
            text.append(
                f"on sizes left out of the fit: mean error {self.left_out_mean:.1%}, 95th "
                f"percentile {self.left_out_95:.1%}"
            )
        return text


def fit_envelope(sizes: Any, times: Any, lines: int = 3) -> Envelope:
    """Fit the least of up to three lines to measured times.

    Relative errors count, single outliers have little influence, and repeated sizes enter by
    their median. With six or more distinct sizes the fit is also tried on sizes left out.

    Parameters
    ----------
    sizes : Quantity [byte]
        Sizes: an array with a unit, or a sequence of quantities or texts.
    times : Quantity [s]
        Times, one for each size.
    lines : int
        Most lines, 1 to 3.

    Returns
    -------
    Envelope
        Lines, range and errors.

    Raises
    ------
    ArgumentError
        When lengths differ, there are fewer than two distinct sizes, or a time is not positive.

    Examples
    --------
    >>> log = {"8 KiB": "10 us", "64 KiB": "10.6 us", "1 MiB": "30 us", "64 MiB": "1300 us"}
    >>> fitted = fit_envelope(list(log), list(log.values()), lines=1)
    >>> print(f"{fitted.bandwidth.to('GB/s'):.3g~P}")
    51.9 GB/s
    """
    return envelope_of(_floats(sizes, "byte", "sizes"), _floats(times, "s", "times"), lines)


def envelope_of(
    sizes: Floats,
    times: Floats,
    lines: int = 3,
    *,
    check: bool = True,
    name: str = "envelope",
    source: str = "",
) -> Envelope:
    """As `fit_envelope`, on plain arrays of bytes and seconds.

    Parameters
    ----------
    sizes, times : numpy.ndarray
        Bytes and seconds.
    lines : int
        Most lines, 1 to 3.
    check : bool
        Whether to try the fit on sizes left out as well.
    name, source : str
        What it is the envelope of, and where the measurements are from.

    Returns
    -------
    Envelope
        Lines, range and errors.
    """
    _fit_for_use(sizes, times, lines)
    rows = fit_lines(sizes, times, lines)
    error = np.abs(least(rows, sizes) / times - 1.0)
    left_out = left_out_errors(sizes, times, lines) if check else np.array([])
    some = left_out.size > 0
    return Envelope(
        cautions=_falling(sizes, times),
        lines=tuple(Line(float(a), 1.0 / float(b) if b > 0.0 else math.inf) for a, b in rows),
        smallest_bytes=float(sizes.min()),
        largest_bytes=float(sizes.max()),
        points=len(sizes),
        error_mean=float(error.mean()),
        error_95=float(np.quantile(error, 0.95)),
        error_worst=float(error.max()),
        left_out_mean=float(np.abs(left_out).mean()) if some else math.nan,
        left_out_95=float(np.quantile(np.abs(left_out), 0.95)) if some else math.nan,
        name=name,
        source=source,
    )


def _falling(sizes: Floats, times: Floats) -> tuple[str, ...]:
    """Caution where the largest buffers took clearly less time than the smallest."""
    distinct, middle = medians(sizes, times)
    if middle[-1] >= 0.9 * middle[0]:
        return ()
    return (
        f"times fall with size: {middle[0]:.3g} s at {distinct[0]:.0f} byte, {middle[-1]:.3g} s at "
        f"{distinct[-1]:.0f} byte; no line with a rate fits, see whether the columns are swapped",
    )


def left_out_errors(sizes: Floats, times: Floats, lines: int = 3) -> Floats:
    """Relative errors on sizes that took no part in the fit, every second one in turn [1]."""
    distinct = np.unique(sizes)
    if len(distinct) < NEEDED_FOR_CHECK:
        return np.array([])
    errors = []
    for first in (0, 1):
        kept = np.isin(sizes, distinct[first::2])
        rows = fit_lines(sizes[kept], times[kept], lines)
        errors.append(least(rows, sizes[~kept]) / times[~kept] - 1.0)
    return np.concatenate(errors)


def _floats(values: Any, unit: str, name: str) -> Floats:
    """One array of SI floats from an array with a unit or a sequence of quantities."""
    if isinstance(values, Sequence) and not isinstance(values, str):
        return np.array([float(to_si(value, unit, name)) for value in values])
    return np.atleast_1d(np.asarray(to_si(values, unit, name), float))


def _fit_for_use(sizes: Floats, times: Floats, lines: int) -> None:
    """Refuse what no envelope can be fitted to."""
    if lines not in range(1, MOST_LINES + 1):
        raise RangeError(f"lines is {lines!r}, wanted 1, 2 or 3")
    if sizes.shape != times.shape:
        raise ArgumentError(f"there are {sizes.size} sizes and {times.size} times; give one each")
    if not (np.isfinite(sizes).all() and np.isfinite(times).all()):
        raise RangeError("sizes and times must be finite; leave missing measurements out")
    if (sizes < 0.0).any() or (times <= 0.0).any():
        raise RangeError("sizes must not be negative and times must be above zero")
    if len(np.unique(sizes)) < 2:
        raise ArgumentError("an envelope needs at least two distinct sizes")
