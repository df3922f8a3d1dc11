"""Reader of the OSU micro-benchmarks."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from attrs import define, field, frozen

from scalemath.readers.columns import Array, Columns
from scalemath.readers.reading import Reading, Skipped, of_runs
from scalemath.readers.text import Text, text_of
from scalemath.units import display

KIND = "osu"
_TITLE = re.compile(r"#[ \t]*OSU[ \t]+(?P<title>.{1,100}?Test\b)[ \t]*(?P<version>v[\d.]+)?")
_HEADING = re.compile(r"#[ \t]*Size[ \t]+(?P<rest>.{1,400})|#[ \t]*(?P<only>Avg Latency.{0,300})")
_COLUMN = re.compile(
    r"(?P<name>(?:Avg |Min |Max |P50 |P90 |P99 |Pure Comm\. |Overall|Compute|Coll\. )?"
    r"(?:Bandwidth|Latency|MB/s|Messages/s|Iterations|Overlap))[ \t]*(?:\((?P<unit>[^)]{1,10})\))?"
)
_NAMES = {
    "Bandwidth": ("bandwidth", "byte/s/dir", 1e6),
    "MB/s": ("bandwidth", "byte/s/dir", 1e6),
    "Latency": ("time", "s", 1e-6),
    "Avg Latency": ("time", "s", 1e-6),
    "Min Latency": ("least_time", "s", 1e-6),
    "Max Latency": ("greatest_time", "s", 1e-6),
    "P50 Latency": ("time_50", "s", 1e-6),
    "P90 Latency": ("time_90", "s", 1e-6),
    "P99 Latency": ("time_99", "s", 1e-6),
    "Messages/s": ("message_rate", "1/s", 1.0),
    "Iterations": ("iterations", "1", 1.0),
}
_PER_RANK = re.compile(r"all-?gather|all-?to-?all|gather|scatter", re.IGNORECASE)
_UNIT = {"MB/s": 1e6, "GB/s": 1e9, "Gb/s": 1.25e8, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@frozen(kw_only=True, eq=False)
class OsuRun(Reading):
    """One table of an OSU micro-benchmark.

    Attributes
    ----------
    title : str
        Name of the benchmark.
    rows : Columns
        Size and bandwidth per direction, or times.
    bidirectional : bool
        Whether the printed rate was the sum of both directions; it has been split.
    """

    title: str
    rows: Columns = field(repr=False)
    bidirectional: bool = False

    def headline(self) -> str:
        """One readable line."""
        text = f"OSU {self.title}: {len(self.rows)} rows"
        if not len(self.rows):
            return text
        finite = {n: v[np.isfinite(v)] for n, v in self.rows.arrays.items()}
        if "bandwidth" in finite and finite["bandwidth"].size:
            most = float(finite["bandwidth"].max())
            return f"{text}, up to {display(most, 'byte/s/dir')}"
        if "time" in finite and finite["time"].size:
            least = float(finite["time"].min())
            return f"{text}, least time {display(least, 's')}"
        return text


@frozen(kw_only=True, eq=False)
class OsuLog(Reading):
    """A file of OSU output: one or more tables."""

    runs: tuple[OsuRun, ...]

    @property
    def main(self) -> OsuRun:
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
    title: str
    columns: list[tuple[str, str, float]] = field(factory=list)
    rows: list[list[float]] = field(factory=list)


def looks_like(text: Text) -> bool:
    """Whether the text holds a title of OSU."""
    return "OSU" in text.content and any(
        "OSU" in line and _TITLE.search(line) for line in text.lines
    )


def osu(source: Any) -> OsuLog:
    """Read the output of the OSU micro-benchmarks.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    OsuLog
        One `OsuRun` for every table.

    Raises
    ------
    ReadError
        When there is no table.

    Notes
    -----
    "MB/s" is 10^6 byte per second here. The bidirectional tests print the sum of both
    directions, which is split. All-gather, all-to-all, gather and scatter count the bytes of one
    rank's message, not the total.
    """
    text = text_of(source)
    runs: list[_Run] = []
    skipped = []
    for number, line in enumerate(text.lines, 1):
        title = _TITLE.search(line) if "OSU" in line else None
        if title is not None:
            runs.append(_Run(" ".join(title["title"].split())))
            continue
        heading = _HEADING.search(line)
        if heading is not None and runs:
            if runs[-1].rows:
                runs.append(_Run(runs[-1].title))
            _head(runs[-1], heading)
        elif runs and runs[-1].columns and _row(runs[-1], line):
            continue
        elif line.strip():
            skipped.append(Skipped(number, "not part of a table", line.strip()[:120]))
    made = tuple(_finished(text, run) for run in runs if run.columns)
    if not made:
        text.refuse(1, 'expected a table below a line "# Size  Bandwidth (MB/s)", found none')
    return OsuLog(
        source=text.name,
        kind=KIND,
        runs=made,
        skipped=tuple(skipped),
        **of_runs(made),
    )


def _head(run: _Run, heading: re.Match[str]) -> None:
    run.columns = [] if heading["only"] else [("size", "byte", 1.0)]
    for match in _COLUMN.finditer(heading["rest"] or heading["only"]):
        known = _NAMES.get(match["name"].strip())
        if known is None:
            known = (match["name"].strip().lower().replace(" ", "_"), "1", 1.0)
        name, unit, factor = known
        run.columns.append((name, unit, _UNIT.get(match["unit"] or "", factor)))


def _row(run: _Run, line: str) -> bool:
    tokens = line.split()
    if not tokens or len(tokens) > 20 or len(tokens) < min(2, len(run.columns)):
        return False
    try:
        values = [float(token) for token in tokens[: len(run.columns)]]
    except ValueError:
        return False
    if not all(abs(value) < 1e300 for value in values):
        return False
    run.rows.append(values + [math.nan] * (len(run.columns) - len(values)))
    return True


def _finished(text: Text, run: _Run) -> OsuRun:
    both = "bi-directional" in run.title.lower() or "bidirectional" in run.title.lower()
    cells = np.array(run.rows, float).reshape(len(run.rows), len(run.columns))
    arrays: dict[str, Array] = {}
    units: dict[str, str] = {}
    for (name, unit, factor), values in zip(run.columns, cells.T, strict=True):
        share = 0.5 if both and name == "bandwidth" else 1.0
        arrays[name], units[name] = values * factor * share, unit
    cautions = []
    if both:
        cautions.append("the printed rates are sums of both directions; one direction is given")
    if _PER_RANK.search(run.title):
        cautions.append("size is one rank's message here, not the total over ranks")
    return OsuRun(
        source=text.name,
        kind=KIND,
        title=run.title,
        rows=Columns(arrays, units),
        bidirectional=both,
        cautions=tuple(cautions),
    )
