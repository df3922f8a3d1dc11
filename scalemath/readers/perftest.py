"""Reader of perftest: ib_write_bw, ib_send_bw, ib_read_bw, raw_ethernet and the latency tests."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import define, field, frozen

from scalemath.core.result import measured
from scalemath.readers.columns import Array, Columns
from scalemath.readers.reading import Check, Reading, Skipped, of_runs
from scalemath.readers.text import Text, text_of
from scalemath.units import display

KIND = "perftest"
MIB = 2.0**20
RATE_UNITS = {
    "gb/sec": 1e9 / 8.0,
    "gbits/sec": 1e9 / 8.0,
    "mb/sec": MIB,
    "mib/sec": MIB,
    "gib/sec": 2.0**30,
}
"""Bytes per second of the units perftest prints; its MB is 2^20 byte."""
UNIT_TOLERANCE = 0.02
_TITLE = re.compile(r"(?P<verb>[A-Za-z][\w ]{1,30}?)[ \t]+(?P<both>Bidirectional[ \t]+)?"
                    r"(?P<what>BW|Latency)[ \t]+Test")  # fmt: skip
_COLUMN = re.compile(
    r"#bytes|#iterations|(?:BW (?:peak|average)|MsgRate|t_\w+|99(?:\.9+)?% percentile|CPU_Util|"
    r"tps average)[ \t]*(?:\[(?P<unit>[^\]]{1,12})\])?"
)
_PARAMETER = re.compile(
    r"(?P<name>[A-Za-z*][\w .*]{1,24}?)[ \t]*:[ \t]*(?P<value>[\w.\-]+(?:\[B\])?)"
)
_NUMBERS = re.compile(r"[ \t]*\d[\d.eE+\- \t]*$")
_MOST = 1e30


@frozen(kw_only=True, eq=False)
class PerftestRun(Reading):
    """One table of perftest.

    Attributes
    ----------
    title : str
        Title of the test.
    rows : Columns
        Size, iterations, and bandwidths per direction with the message rate, or times.
    bidirectional : bool
        Whether both directions ran; the printed sum has been split.
    unit : str
        Unit as printed.
    parameters : mapping of str to str
        Device, Mtu, Link type ...
    """

    title: str
    rows: Columns = field(repr=False)
    bidirectional: bool
    unit: str
    parameters: Mapping[str, str] = field(factory=dict, repr=False)

    @property
    def latency_test(self) -> bool:
        """Whether times were measured instead of bandwidths."""
        return "bandwidth" not in self.rows.names

    @measured("byte/s/dir")
    def peak(self) -> float:
        """Greatest average bandwidth over all sizes, one direction; nan in a latency test."""
        return self._greatest("bandwidth")

    @measured("s")
    def least_time(self) -> float:
        """Least typical time over all sizes; nan in a bandwidth test."""
        values = self._column("time")
        return float(values.min()) if values.size else math.nan

    def _column(self, name: str) -> Array:
        if name not in self.rows.names:
            return np.array([])
        values = self.rows.si(name)
        return values[np.isfinite(values)]

    def _greatest(self, name: str) -> float:
        values = self._column(name)
        return float(values.max()) if values.size else math.nan

    @property
    def device(self) -> str:
        """Device the test ran on."""
        return self.parameters.get("Device", "")

    def headline(self) -> str:
        """One readable line."""
        text = f"{self.title or 'perftest'}: {len(self.rows)} rows"
        if self.latency_test:
            return f"{text}, least time {display(self.si('least_time'), 's')}"
        both = " (both directions ran, one shown)" if self.bidirectional else ""
        return f"{text}, up to {display(self.si('peak'), 'byte/s/dir')}{both}"


@frozen(kw_only=True, eq=False)
class PerftestLog(Reading):
    """A file of perftest output: one or more tables."""

    runs: tuple[PerftestRun, ...]

    @property
    def main(self) -> PerftestRun:
        """The run with most rows."""
        return max(self.runs, key=lambda run: len(run.rows))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "runs":
            raise AttributeError(name)
        return getattr(self.main, name)

    def headline(self) -> str:
        """One readable line for every run."""
        return "\n".join(f"{self.source}: {run.headline()}" for run in self.runs)


@define
class _Run:
    """One table while it is being read."""

    title: str = ""
    both: bool = False
    parameters: dict[str, str] = field(factory=dict)
    columns: list[tuple[str, str]] = field(factory=list)
    rows: list[list[float]] = field(factory=list)


def looks_like(text: Text) -> bool:
    """Whether the text holds a table of perftest."""
    return "#iterations" in text.content and any(
        "#bytes" in line and "#iterations" in line for line in text.lines
    )


def perftest(source: Any) -> PerftestLog:
    """Read the output of a bandwidth or latency test of perftest.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    PerftestLog
        One `PerftestRun` for every table; bandwidths are per direction.

    Raises
    ------
    ReadError
        When there is no table, or its unit is unknown.

    Notes
    -----
    "MB/sec" and "MiB/sec" are both 2^20 byte per second, "Gb/sec" is 10^9 bit. The unit is
    checked by bytes times message rate. With ``-b`` the printed sum is split in two. In runs
    without a peak (``--run_infinitely`` prints 0.00) the average stands.
    """
    text = text_of(source)
    runs, skipped = [_Run()], []
    for number, line in enumerate(text.lines, 1):
        run = runs[-1]
        if run.columns and _row(run, line):
            continue
        title = _TITLE.search(line) if "Test" in line else None
        if title is not None:
            run = _next(runs)
            run.title, run.both = " ".join(line.split())[:80], bool(title["both"])
        elif "#bytes" in line and "#iterations" in line:
            run = _next(runs) if run.rows else run
            run.columns = [_column(match) for match in _COLUMN.finditer(line)]
        elif ":" in line:
            run.parameters |= _parameters(line)
        elif line.strip(" -*\t"):
            skipped.append(Skipped(number, "not part of a table", line.strip()[:120]))
    made = tuple(_finished(text, run) for run in runs if run.columns)
    if not made:
        text.refuse(1, "expected a table of perftest (#bytes #iterations ...), found none")
    return PerftestLog(
        source=text.name,
        kind=KIND,
        runs=made,
        skipped=tuple(skipped),
        **of_runs(made),
    )


def _next(runs: list[_Run]) -> _Run:
    """Return the last run when nothing of a table was seen yet, else a new one."""
    if runs[-1].columns or runs[-1].title:
        runs.append(_Run())
    return runs[-1]


def _column(match: re.Match[str]) -> tuple[str, str]:
    name = match[0].partition("[")[0].strip()
    return name, (match["unit"] or "").strip()


def _parameters(line: str) -> dict[str, str]:
    return {m["name"].strip(" *"): m["value"] for m in _PARAMETER.finditer(line)}


def _row(run: _Run, line: str) -> bool:
    """Take a row of numbers; false for anything else."""
    if not _NUMBERS.match(line):
        return False
    try:
        values = [*map(float, line.split())]
    except ValueError:
        return False
    missing = len(run.columns) - len(values)
    if len(values) < 3 or missing < 0:
        return False
    run.rows.append(values + [math.nan] * missing if missing else values)
    return True


def _finished(text: Text, run: _Run) -> PerftestRun:
    names = [name for name, _ in run.columns]
    cells = np.array(run.rows, float).reshape(len(run.rows), len(names))
    cells[~(np.abs(cells) < _MOST)] = math.nan
    found = dict(zip(names, cells.T, strict=True))
    arrays = {"size": found["#bytes"], "iterations": found["#iterations"]}
    units = {"size": "byte", "iterations": "1"}
    checks: list[Check] = []
    cautions: list[str] = []
    unit = next((u for name, u in run.columns if name.startswith("BW")), "")
    if unit:
        _bandwidths(text, run, found, arrays, units, checks, cautions)
    else:
        _times(run, found, arrays, units)
    return PerftestRun(
        source=text.name,
        kind=KIND,
        title=run.title,
        rows=Columns(arrays, units),
        bidirectional=run.both,
        unit=unit or "usec",
        parameters=run.parameters,
        checks=tuple(checks),
        cautions=tuple(cautions),
    )


def _bandwidths(
    text: Text,
    run: _Run,
    found: dict[str, Array],
    arrays: dict[str, Array],
    units: dict[str, str],
    checks: list[Check],
    cautions: list[str],
) -> None:
    """Rates in bytes per second and direction, the unit checked by the message rate."""
    printed = next(u for name, u in run.columns if name.startswith("BW"))
    factor = RATE_UNITS.get(printed.lower())
    if factor is None:
        text.refuse(1, f"expected a rate in Gb/sec, MB/sec or MiB/sec, found [{printed}]")
    average = found.get("BW average", np.full(len(run.rows), math.nan))
    messages = found.get("MsgRate")
    if messages is not None:
        arrays["message_rate"] = messages * 1e6
        units["message_rate"] = "1/s"
        factor = _checked(factor, printed, average, arrays, checks)
    directions = 2.0 if run.both else 1.0
    arrays["bandwidth"] = average * factor / directions
    peak = found.get("BW peak", np.full(len(run.rows), math.nan)) * factor / directions
    if (peak == 0.0).any():
        cautions.append("the tool measured no peak in this mode; 0.00 is left out")
    arrays["peak_bandwidth"] = np.where(peak > 0.0, peak, math.nan)
    units["bandwidth"] = units["peak_bandwidth"] = "byte/s/dir"
    if run.both:
        cautions.append("the printed rates are sums of both directions; one direction is given")
    if run.parameters.get("Dual-port") == "ON":
        cautions.append("two ports ran together; the rates are sums of both")


def _checked(
    factor: float, printed: str, average: Array, arrays: dict[str, Array], checks: list[Check]
) -> float:
    """Compare the unit with bytes times message rate; the message rate is believed."""
    implied = arrays["size"] * arrays["message_rate"]
    clear = (implied > 1e8) & (average > 0.0) & (arrays["message_rate"] > 1000.0)
    if not clear.any():
        return factor
    seen = float(np.median(implied[clear] / average[clear]))
    known = {
        "10^9 bit/s": 1e9 / 8.0,
        "2^20 byte/s": MIB,
        "10^6 byte/s": 1e6,
        "2^30 byte/s": 2.0**30,
    }
    name, best = min(known.items(), key=lambda item: abs(seen / item[1] - 1.0))
    agrees = abs(seen / factor - 1.0) < UNIT_TOLERANCE
    text = f"bytes times message rate give {name} for the printed [{printed}]"
    checks.append(Check("unit", agrees, text))
    return best if not agrees and abs(seen / best - 1.0) < UNIT_TOLERANCE else factor


def _times(
    run: _Run, found: dict[str, Array], arrays: dict[str, Array], units: dict[str, str]
) -> None:
    """Times of a latency test in seconds."""
    names = {"t_min": "least_time", "t_max": "greatest_time", "t_typical": "time",
             "t_avg": "average_time", "t_stdev": "deviation",
             "99% percentile": "time_99", "99.9% percentile": "time_999"}  # fmt: skip
    for printed, name in names.items():
        if printed in found:
            arrays[name] = found[printed] * 1e-6
            units[name] = "s"
    if "time" not in arrays:
        arrays["time"] = arrays.get("average_time", np.full(len(run.rows), math.nan))
        units["time"] = "s"
