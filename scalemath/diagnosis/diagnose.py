"""Is a measured collective as expected: regions, verdicts, causes, and one paragraph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from scalemath.collectives.envelope_defaults import measured_envelope
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.hooks import hook
from scalemath.core.result import Result, measured
from scalemath.diagnosis.causes import Case, Cause, causes_of
from scalemath.diagnosis.evidence import causes_from
from scalemath.diagnosis.expectation import Expectation, expected_bus_bandwidth
from scalemath.diagnosis.regions import Curve, curve_of, cut
from scalemath.diagnosis.setting import Setting, setting_of
from scalemath.readers.columns import Array
from scalemath.readers.detect import read
from scalemath.readers.nccl_run import CollectiveLog, CollectiveRun
from scalemath.records.table import Table
from scalemath.units import display

HEALTHY, LOW, IMPOSSIBLE, UNKNOWN = "healthy", "low", "impossible", "not comparable"
OVER = 1.02
"""Excess over a bound that is taken for rounding [1]."""
UNDER = 0.9
"""Share of the least usual figure down to which a run passes [1]."""
PLAIN = 0.5
"""Weight from which the explanation of a healthy run is worth a sentence."""
SLOW_TIMES = 2.0
"""How many times the usual time a small collective may take."""


@frozen(kw_only=True, eq=False)
class Region:
    """One region of sizes with what was expected and what was measured.

    Attributes
    ----------
    regime : str
        "latency", "transition" or "bandwidth".
    smallest, largest : float
        Sizes [byte].
    found : float
        Bus bandwidth [byte/s], or time in the latency region [s].
    low, high : float
        Usual range of the same; nan when nothing is known.
    limit, model : float
        Bound of the same, and the closed form at nominal rates; nan when nothing is known.
    unit : str
        "byte/s" or "s".
    efficiency : float
        Measured over the rate that counts [1]; nan in the latency region.
    verdict : str
        "healthy", "low", "impossible" or "not comparable".
    why : str
        What the verdict rests on.
    """

    regime: str
    smallest: float
    largest: float
    found: float
    low: float = math.nan
    high: float = math.nan
    limit: float = math.nan
    model: float = math.nan
    unit: str = "byte/s"
    efficiency: float = math.nan
    verdict: str = UNKNOWN
    why: str = ""


@frozen(kw_only=True, eq=False)
class Diagnosis(Result):
    """What a log says about a system.

    Attributes
    ----------
    run : CollectiveRun
        The reading.
    setting : Setting
        Where it ran, as far as known.
    expected : Expectation or None
        What large buffers should reach.
    regions : tuple of Region
        Latency, transition and bandwidth.
    causes : tuple of Cause
        Likely causes of what is unusual, the likeliest first.
    verdict : str
        "healthy", "low", "impossible" or "not comparable".
    curve : Curve
        Measured sizes, times and bus bandwidths.
    """

    run: CollectiveRun = field(repr=False)
    setting: Setting = field(repr=False)
    expected: Expectation | None = field(repr=False)
    regions: tuple[Region, ...]
    causes: tuple[Cause, ...]
    verdict: str
    curve: Curve = field(repr=False)

    @measured("byte/s")
    def peak(self) -> float:
        """Greatest bus bandwidth of the run."""
        return self.run.si("peak")

    @measured("1")
    def efficiency(self) -> float:
        """Peak over the rate that it is rightly compared with; nan when unknown."""
        return self.si("peak") / self.expected.denominator if self.expected else math.nan

    @measured("1")
    def of_usual(self) -> float:
        """Peak over what healthy systems of this kind reach; nan when unknown."""
        return self.si("peak") / self.expected.likely if self.expected else math.nan

    def headline(self) -> str:
        """One readable line."""
        who = f"{self.setting.operation or 'collective'} over {self.setting.ranks} ranks"
        if self.run.empty:
            return f"{who}: {self.verdict}, there are no rows"
        text = f"{who}: {self.verdict}, peak bus bandwidth {_rate(self.si('peak'))}"
        if self.expected is not None:
            text += f", usually {_rate(self.expected.low)} to {_rate(self.expected.high)}"
        return text

    def usual_rates(self) -> Array:
        """Usual bus bandwidth at every size of the run [byte/s]; nan when nothing is known.

        By measured defaults where there are any; else a line with the latency of this very run
        and the usual bandwidth of large buffers.
        """
        if self.expected is None or not self.curve.sizes.size:
            return np.full(self.curve.sizes.shape, math.nan)
        sizes = self.curve.sizes
        factor = self.curve.rates * self.curve.times / sizes
        known = np.array([_known_times(self.setting, float(size)) for size in sizes])
        line = self.curve.times.min() + sizes * factor / self.expected.likely
        return factor * sizes / np.where(np.isfinite(known), known, line)

    @property
    def paragraph(self) -> str:
        """The answer for a human, in a few sentences."""
        lines = [self.headline() + "."]
        if self.expected is not None and not self.run.empty:
            lines.append(
                f"That is {self.si('efficiency'):.0%} of {self.expected.counted} "
                f"({_rate(self.expected.denominator)}); no schedule beats "
                f"{_rate(self.expected.limit)}."
            )
        small = next((r for r in self.regions if r.regime == "latency"), None)
        if small is not None:
            text = f"Small buffers take {display(small.found, 's', 3)}"
            if math.isfinite(small.high):
                text += f", usually {display(small.low, 's', 3)} to {display(small.high, 's', 3)}"
            lines.append(text + ".")
        if self.causes and (self.verdict != HEALTHY or self.causes[0].weight > PLAIN):
            lines.append(f"Likeliest explanation: {self.causes[0]}.")
        elif self.verdict == UNKNOWN:
            lines.append(
                "To compare, say what it ran on: diagnose(log, cluster=Placement(...)) or "
                'cluster="H100".'
            )
        return " ".join(lines)

    def table(self) -> Table:
        """Return one row per region."""
        return Table(
            title=self.headline(),
            columns=(
                "regime",
                "sizes",
                "measured",
                "usual",
                "model",
                "bound",
                "efficiency",
                "verdict",
            ),
            rows=tuple(
                (
                    r.regime,
                    f"{display(r.smallest, 'byte', 4)} to {display(r.largest, 'byte', 4)}",
                    str(display(r.found, r.unit, 4)),
                    f"{display(r.low, r.unit, 4)} to {display(r.high, r.unit, 4)}"
                    if math.isfinite(r.low)
                    else "unknown",
                    _shown(r.model, r.unit),
                    _shown(r.limit, r.unit),
                    f"{r.efficiency:.0%}" if math.isfinite(r.efficiency) else "",
                    r.verdict,
                )
                for r in self.regions
            ),
        )

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the measured curve against what is expected.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure when left out.

        Returns
        -------
        matplotlib Axes
            The picture.
        """
        return hook("plot")(self, ax=ax)

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Where it ran."""
        return self.expected.input_values() if self.expected else {}

    def remarks(self) -> list[str]:
        """Regions and causes."""
        lines = [f"{r.regime}: {r.verdict}, {r.why}" for r in self.regions]
        return lines + [f"cause: {cause}" for cause in self.causes]


def _shown(value: float, unit: str) -> str:
    return str(display(value, unit, 4)) if math.isfinite(value) else "unknown"


def _rate(value: float) -> str:
    return str(display(value, "byte/s", 4))


def diagnose(
    log: Any, cluster: Any = None, *, evidence: Any = (), leave_out: tuple[str, ...] = ()
) -> Diagnosis:
    """Tell whether a measured collective is as expected, and if not, why.

    Parameters
    ----------
    log : CollectiveLog, CollectiveRun, pathlib.Path or str
        A reading of a collective test, or what `read` takes.
    cluster : Cluster, Placement, Node or str, optional
        What it ran on; a text is a device such as "H100". Left out, the device list counts and
        the usual box of that device is assumed.
    evidence : reading, path or an iterable of them
        Other outputs of the machine: topology, ports, lspci, nvlink, perftest.
    leave_out : tuple of str
        Logs whose measurements must not inform the expectation.

    Returns
    -------
    Diagnosis
        Regions with verdicts, causes with evidence; `paragraph`, `table()` and `plot()`.

    Raises
    ------
    ArgumentError
        When `log` is no collective test.
    """
    if isinstance(log, (Path, str)):
        log = read(log)
    run = log.main if isinstance(log, CollectiveLog) else log
    if not isinstance(run, CollectiveRun):
        raise ArgumentError(
            f"diagnose takes a log of nccl-tests or its like, not {type(log).__name__}"
        )
    setting = setting_of(run, cluster)
    curve = curve_of(run)
    expected, reason = None, ""
    try:
        expected = expected_bus_bandwidth(setting, leave_out=leave_out)
    except ArgumentError as error:
        reason = str(error)
    regions = tuple(_region(name, part, setting, expected, reason) for name, part in cut(curve))
    peak = run.si("peak")
    causes = causes_of(Case(run, curve, peak, expected))
    causes += causes_from(evidence, peak, setting.nic_rate)
    verdict = _overall(run, regions, curve)
    return Diagnosis(
        run=run,
        setting=setting,
        expected=expected,
        regions=regions,
        causes=tuple(sorted(causes, key=lambda cause: -cause.weight)),
        verdict=verdict,
        curve=curve,
        assumptions=setting.assumptions,
        cautions=(*run.cautions, *(expected.cautions if expected else ())),
    )


def _overall(run: CollectiveRun, regions: tuple[Region, ...], curve: Curve) -> str:
    """The verdict of the bandwidth region, unless another one is worse."""
    if run.failed and not run.empty:
        return LOW
    if not curve.sizes.size:
        return UNKNOWN
    verdicts = [region.verdict for region in regions]
    if IMPOSSIBLE in verdicts:
        return IMPOSSIBLE
    large = [region.verdict for region in regions if region.regime == "bandwidth"]
    return large[0] if large else UNKNOWN


def _region(
    name: str, part: Curve, setting: Setting, expected: Expectation | None, reason: str
) -> Region:
    if name == "latency":
        return _latency(part, setting, expected)
    rate = float(part.rates.max())
    given: dict[str, Any] = {
        "regime": name,
        "smallest": float(part.sizes[0]),
        "largest": float(part.sizes[-1]),
        "found": rate,
    }
    if expected is None:
        return Region(**given, why=reason)
    given |= {"limit": expected.limit, "efficiency": rate / expected.denominator}
    if rate > OVER * expected.limit:
        return Region(**given, verdict=IMPOSSIBLE, why="more than any schedule can reach")
    if name == "transition":
        return _transition(part, setting, expected, given)
    given["model"] = expected.modelled
    verdict = HEALTHY if rate >= UNDER * expected.low else LOW
    why = f"{rate / expected.likely:.0%} of the usual peak, from: {expected.source}"
    return Region(**given, low=expected.low, high=expected.high, verdict=verdict, why=why)


def _known_times(setting: Setting, size: float) -> float:
    """Usual time by the measured defaults [s]; nan where nothing was measured."""
    if not setting.system or not setting.inside:
        return math.nan
    try:
        known = measured_envelope(setting.system, setting.operation, ranks=setting.ranks)
    except (RangeError, ArgumentError):
        return math.nan
    return known.seconds(size)


def _latency(part: Curve, setting: Setting, expected: Expectation | None) -> Region:
    size, time = float(part.sizes[0]), float(min(part.times))
    usual = _known_times(setting, size)
    least = size / expected.limit if expected else math.nan
    given: dict[str, Any] = {
        "regime": "latency",
        "smallest": size,
        "largest": float(part.sizes[-1]),
        "found": time,
        "unit": "s",
        "limit": least,
    }
    if not math.isfinite(usual):
        return Region(**given, why="no small collectives of this kind were measured")
    verdict = HEALTHY if time <= SLOW_TIMES * usual else LOW
    why = f"{time / usual:.2g} times the usual time of measured defaults"
    return Region(**given, low=0.6 * usual, high=SLOW_TIMES * usual, verdict=verdict, why=why)


def _transition(
    part: Curve, setting: Setting, expected: Expectation, given: dict[str, Any]
) -> Region:
    times = [_known_times(setting, float(size)) for size in part.sizes]
    if not all(map(math.isfinite, times)):
        return Region(**given, why="between latency and bandwidth; nothing measured to compare")
    ratio = float((part.times / times).mean())
    usual = (
        float(part.sizes[-1])
        / times[-1]
        * float(part.rates[-1])
        * float(part.times[-1])
        / float(part.sizes[-1])
    )
    verdict = HEALTHY if ratio <= SLOW_TIMES else LOW
    return Region(
        **given,
        low=0.5 * usual,
        high=min(1.4 * usual, expected.limit),
        verdict=verdict,
        why=f"{ratio:.2g} times the usual time of measured defaults",
    )
