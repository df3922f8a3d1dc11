"""Reader of nccl-tests, rccl-tests and nccom-test output, in every layout met so far."""

from __future__ import annotations

import math
from array import array as Flat
from typing import Any

import numpy as np
from attrs import define, evolve, field

from scalemath.readers import nccl_lines as forms
from scalemath.readers.columns import Array, Columns
from scalemath.readers.nccl_ranks import (
    collective_of,
    decided_ranks,
    sorted_out,
    time_check,
    unit_of_rates,
)
from scalemath.readers.nccl_run import SIDES, CollectiveLog, CollectiveRun
from scalemath.readers.reading import Check, Skipped, of_runs
from scalemath.readers.text import Text, text_of

KIND = "nccl-tests"
GIB = 2.0**30
_UNITS = {"time": "s", "algorithm_bandwidth": "byte/s", "bus_bandwidth": "byte/s", "wrong": "1"}
_NAN = math.nan
MOST = 1e30
"""Numbers from here on are none that a tool measures."""
_KEPT_TEXT = 120
_MOST_FAILURES = 100
_MOST_WAYS = 5000
_ROW_ENDS = frozenset("0123456789A")


@define
class _Rows:
    """Rows while they are being read, flat so that millions of numbers cost little."""

    heads: Flat[float] = field(factory=lambda: Flat("d"))
    halves: Flat[float] = field(factory=lambda: Flat("d"))
    kinds: list[str] = field(factory=list)
    operations: list[str] = field(factory=list)
    plain: list[tuple[str, str, str]] = field(factory=list)
    plain_lines: list[int] = field(factory=list)
    plain_width: int = 0

    def __len__(self) -> int:
        return len(self.kinds)

    def arrays(self) -> tuple[Array, Array]:
        """Heads (size, count, root, line) and halves of all rows, in the order of `kinds`."""
        heads = np.array(self.heads).reshape(-1, 4)
        halves = np.array(self.halves).reshape(-1, 8)
        if not self.plain_lines:
            return heads, halves
        width = self.plain_width + 2
        text = " ".join([f"{size} {count} {rest}" for size, count, rest in self.plain])
        numbers = np.fromstring(text, sep=" ").reshape(-1, width)
        root = numbers[:, 2] if width == 11 else np.full(len(numbers), _NAN)
        lines = np.array(self.plain_lines, float)
        more = np.stack([numbers[:, 0], numbers[:, 1], root, lines], axis=1)
        both = np.concatenate([heads, more])
        order = np.argsort(both[:, 3], kind="stable")
        return both[order], np.concatenate([halves, numbers[:, -8:]])[order]


@define
class _Run:
    """One run while it is being read."""

    first_line: int
    parameters: dict[str, str] = field(factory=dict)
    devices: list[forms.Device] = field(factory=list)
    layout: forms.Layout | None = None
    headed: bool = False
    rows: _Rows = field(factory=_Rows)
    header_name: str = ""
    average: float = _NAN
    failures: list[str] = field(factory=list)
    neuron: bool = False
    command: str = ""
    command_ranks: int = 0


@define
class _State:
    """Everything gathered while going through the lines."""

    text: Text
    runs: list[_Run] = field(factory=list)
    skipped: list[Skipped] = field(factory=list)
    command: str = ""
    command_ranks: int = 0
    library: str = ""
    version: str = ""
    transports: dict[str, None] = field(factory=dict)
    nics: dict[str, None] = field(factory=dict)
    ways: set[str] = field(factory=set)

    def run(self) -> _Run:
        """Return the run the current line belongs to."""
        if not self.runs:
            self.runs.append(_Run(first_line=1))
        return self.runs[-1]

    def begin(self, line: int, again: bool) -> _Run:
        """Return the current run, or a new one when what comes belongs to the next."""
        run = self.run()
        if len(run.rows) or again or not math.isnan(run.average):
            run = _Run(line, command=self.command, command_ranks=self.command_ranks)
            self.runs.append(run)
        return run

    def commanded(self, collective: str, ranks: int) -> None:
        """Keep what a command line says, for the current run when it has no rows yet."""
        self.command = collective or self.command
        self.command_ranks = ranks or self.command_ranks
        run = self.run()
        if not len(run.rows) and math.isnan(run.average):
            run.command, run.command_ranks = self.command, self.command_ranks


def looks_like(text: Text) -> bool:
    """Whether a text holds a table or a header of these tests."""
    content = text.content
    if "Avg bus bandwidth" in content or "Collective test starting" in content:
        return True
    headed = "size(B)" in content or "algbw" in content
    if headed and any(forms.HEADING.search(line) for line in text.lines):
        return True
    if "minBytes" in content and any(forms.PARAMETERS.search(line) for line in text.lines):
        return True
    return any(_row_of(line) for line in text.lines[:2000])


def _row_of(line: str) -> bool:
    match = forms.ROW.search(line)
    return match is not None and len(forms.numbers(match["rest"])) >= 3


def nccl_tests(source: Any) -> CollectiveLog:
    """Read the output of nccl-tests, rccl-tests or nccom-test.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    CollectiveLog
        One `CollectiveRun` for every table.

    Raises
    ------
    ReadError
        When there is neither a table nor a header of these tests.
    """
    text = text_of(source)
    state = _State(text)
    for number, line in enumerate(text.lines, 1):
        if not _plain(state, number, line):
            _take(state, number, line)
    runs = [run for run in state.runs if _something(run)]
    if not runs:
        text.refuse(
            min(len(text.lines), 1),
            "expected a table of nccl-tests (size, count, type, time, algbw, busbw), found none",
        )
    made = tuple(_finished(state, run) for run in runs)
    return CollectiveLog(
        source=text.name,
        kind=KIND,
        runs=made,
        skipped=tuple(state.skipped),
        **of_runs(made),
    )


def _something(run: _Run) -> bool:
    return bool(
        len(run.rows) or run.headed or run.devices or run.parameters or not math.isnan(run.average)
    )


def _plain(state: _State, number: int, line: str) -> bool:
    """Take a complete row without decoration; the numbers are converted all at once later."""
    if not state.runs or line[-1:] not in _ROW_ENDS:
        return False
    run = state.runs[-1]
    layout = run.layout
    if layout is None or not layout[1] or layout[2] != 2:
        return False
    width = 9 if layout[0] else 8
    match = forms.WHOLE_ROWS[width].match(line)
    if match is None:
        return False
    size, count, kind, what, rest = match.groups()
    rows = run.rows
    rows.plain_width = width
    rows.plain.append((size, count, rest))
    rows.plain_lines.append(number)
    rows.kinds.append(kind)
    rows.operations.append(what)
    return True


def _take(state: _State, number: int, line: str) -> None:
    """Sort one line."""
    if not line or line.isspace():
        return
    debug = "NCCL INFO" in line or "NCCL WARN" in line
    if not debug or line.rstrip()[-1:] in _ROW_ENDS:
        row = forms.ROW.search(line)
        if row is not None and _row(state, number, line, row):
            return
    if debug:
        _debug(state, line)
        _skip(state, number, "NCCL_DEBUG line", line)
        return
    taken = any(step(state, number, line) for step in (_header, _device, _end, _noise))
    if not taken and line.strip(" #\t"):
        _skip(state, number, "not part of the table", line)


def _skip(state: _State, number: int, reason: str, line: str) -> None:
    state.skipped.append(Skipped(number, reason, line.strip()[:_KEPT_TEXT]))


def _row(state: _State, number: int, line: str, match: Any) -> bool:
    """Take a row of data; false when the line only looks like one."""
    size, count, kind, what, rest = match.groups()
    found = forms.numbers(rest)
    if len(found) < 3:
        if kind in forms.ELEMENT_BYTES:
            _skip(state, number, "row cut off", line)
            return True
        return False
    run = state.run()
    layout = run.layout or forms.layout_of_numbers(len(found))
    if layout is None:
        _skip(state, number, "row with an unknown number of columns", line)
        return True
    start, width = int(layout[0]), 4 if layout[1] else 3
    root = found[0] if start else _NAN
    whole = start + (2 * width if layout.halves == 2 else width)
    if len(found) < whole:  # the last number may have lost digits
        found.pop()
    if len(found) < start + 3:
        _skip(state, number, "row cut off", line)
        return True
    rows = run.rows
    rows.heads.extend((float(size), float(count), root, number))
    rows.kinds.append(kind)
    rows.operations.append(what or "")
    if width == 4 and len(found) == start + 8:
        rows.halves.extend(found[start:] if start else found)
        return True
    halves = []
    for side in range(2):
        half = found[start + side * width :][:width]
        complete = len(half) >= 3
        halves += [*half[:3], half[3] if len(half) > 3 else _NAN] if complete else [_NAN] * 4
    if len(found) < whole:
        _skip(state, number, "second half of the row cut off", line)
    rows.halves.extend(halves)
    return True


def _header(state: _State, number: int, line: str) -> bool:
    """Parameters, heading and name of the test."""
    if "minBytes" in line and forms.PARAMETERS.search(line):
        run = state.begin(number, bool(state.run().parameters))
        run.parameters = {m["name"]: m["value"] for m in forms.PARAMETER.finditer(line)}
        return True
    heading = forms.HEADING.search(line)
    if heading is not None:
        run = state.begin(number, False)
        run.headed = True
        if "size(B)" in line:
            run.layout, run.neuron = forms.Layout(False, False, 1), True
        elif "algbw" in line:
            run.layout = forms.layout_of_heading(heading["rest"])
        return True
    starting = forms.STARTING.search(line)
    if starting is not None:
        run = state.begin(number, bool(state.run().header_name))
        run.header_name = forms.NAMES.get(starting[1].replace("_", ""), "")
        return True
    return False


def _device(state: _State, number: int, line: str) -> bool:
    """Device list."""
    if "Using devices" in line:
        state.begin(number, False)
        return True
    found = forms.DEVICE.search(line) if "Pid" in line else None
    if found is None:
        return False
    run = state.begin(number, False)
    run.devices.append(
        forms.Device(
            int(found["rank"]),
            found["host"],
            int(found["device"]),
            found["bus"].lower(),
            found["name"].strip()[:80],
        )
    )
    return True


def _end(state: _State, number: int, line: str) -> bool:
    """Footer."""
    average = forms.AVERAGE.search(line) if "bus bandwidth" in line else None
    if average is not None:
        try:
            state.run().average = float(average[1]) if average[1] != "N/A" else _NAN
        except ValueError:
            _skip(state, number, "average that is no number", line)
        return True
    wrong = forms.WRONG.search(line) if "Out of bounds" in line else None
    if wrong is not None:
        if wrong[2].upper() not in ("OK", "") or int(wrong[1]):
            _fail(state, wrong[0])
        return True
    return "Collective test concluded" in line


def _noise(state: _State, number: int, line: str) -> bool:
    """Failures, versions, commands and comments."""
    failure = forms.FAILURE.search(line)
    if failure is not None:
        _fail(state, failure[0])
        return True
    if _version(state, line):
        return True
    if forms.COMMAND.search(line):
        _command(state, line)
        return False
    if "reducing maxbytes" in line.lower():
        _skip(state, number, "sizes reduced to fit the memory", line)
        return True
    if line.lstrip().startswith("#") and forms.TRUNCATED.search(line):
        _skip(state, number, "table cut by whoever published it", line)
        return True
    return False


def _fail(state: _State, text: str) -> None:
    failures = state.run().failures
    if len(failures) < _MOST_FAILURES:
        failures.append(text.strip()[:_KEPT_TEXT])


def _version(state: _State, line: str) -> bool:
    if "version" not in line:
        return False
    found = forms.VERSION.search(line)
    if found is not None:
        state.library, state.version = found["library"], found["version"]
        return True
    return forms.TEST_VERSION.search(line) is not None


def _command(state: _State, line: str) -> None:
    """Collective and rank count of a command line."""
    test = forms.TEST.search(line)
    neuron = forms.NEURON.search(line)
    name = test["name"] if test else neuron[1] if neuron else ""
    if not name and "run_nccl_tests" in line:
        words = line.split()
        if "-t" in words[:-1]:
            name = words[words.index("-t") + 1]
    known = forms.NAMES.get(name.replace("_", ""), "")
    ranks = 0
    workers = forms.WORKERS.search(line)
    processes = forms.PROCESSES.search(line)
    if workers is not None:
        ranks = int(workers[1])
    elif processes is not None and test is not None:
        each = forms.DEVICES_EACH.search(line)
        ranks = int(processes[1]) * (int(each[1]) if each else 1)
    if known or ranks:
        state.commanded(known, ranks)


def _debug(state: _State, line: str) -> None:
    """What an NCCL_DEBUG line tells about transports, version and failures."""
    via = line.find(" via ")
    if via > 0:
        way = line[via : via + 28]
        if way in state.ways:
            return
        if len(state.ways) < _MOST_WAYS:
            state.ways.add(way)
    elif "NCCL WARN" in line:
        _fail(state, line[line.find("NCCL WARN") :])
        return
    elif not any(hint in line for hint in forms.HINTS):
        if "version" in line:
            _version(state, line)
        return
    for name, form in forms.TRANSPORTS:
        if name not in state.transports and form.search(line):
            state.transports[name] = None
    if not state.nics and "NET/IB : Using" in line:
        listed = forms.NICS.search(line)
        if listed is not None:
            state.nics = {m["name"]: None for m in forms.NIC.finditer(listed["list"])}


def _columns(run: _Run, unit: float) -> Columns:
    """Rows of a run as SI columns."""
    heads, halves = (part.T for part in run.rows.arrays())
    arrays: dict[str, Array] = dict(zip(("size", "count", "root", "line"), heads, strict=True))
    units = {"size": "byte", "count": "1", "root": "1", "line": "1", "type": "", "operation": ""}
    arrays["type"] = np.array(run.rows.kinds, dtype=np.str_)
    arrays["operation"] = np.array(run.rows.operations, dtype=np.str_)
    scales = {"s": 1e-6, "byte/s": unit, "1": 1.0}
    for place, side in enumerate(SIDES):
        for (name, unit_name), values in zip(_UNITS.items(), halves[4 * place :], strict=False):
            values[~(np.abs(values) < MOST)] = _NAN
            arrays[f"{side}_{name}"] = values * scales[unit_name]
            units[f"{side}_{name}"] = unit_name
    return Columns(arrays, units)


def _finished(state: _State, run: _Run) -> CollectiveRun:
    """Settle unit, collective and ranks, and check the log against itself."""
    rows = _columns(run, 1e9)
    cautions: list[str] = []
    checks: list[Check] = []
    bytes_per_unit = _settled_unit(run, rows, checks)
    if bytes_per_unit != 1e9:
        rows = _columns(run, bytes_per_unit)
        cautions.append('"GB/s" is 2^30 byte per second here, as nccom-test prints it')
    checks += time_check(rows)
    name, where, caution = _collective(run, rows)
    if caution:
        cautions.append(caution)
    stated = sorted_out({"device list": len(run.devices), "command": run.command_ranks})
    ranks, ranks_from, found = decided_ranks(name, rows, stated)
    checks += found
    made = CollectiveRun(
        source=state.text.name,
        kind=KIND,
        rows=rows,
        collective=name,
        collective_from=where,
        ranks=ranks,
        ranks_from=ranks_from,
        devices=tuple(run.devices),
        parameters=run.parameters,
        tool=_tool(state, run),
        library=state.library,
        version=state.version,
        average_printed=run.average * bytes_per_unit,
        failures=tuple(dict.fromkeys(run.failures)),
        transports=tuple(state.transports),
        nics=tuple(state.nics),
        bytes_per_unit=bytes_per_unit,
        checks=tuple(checks),
        cautions=tuple(cautions),
    )
    return evolve(made, cautions=(*made.cautions, *_further(made)))


def _tool(state: _State, run: _Run) -> str:
    """Which test printed the run."""
    if run.neuron:
        return "nccom-test"
    amd = any(device.name.startswith("AMD") for device in run.devices)
    rccl = state.library == "RCCL" or "rccl-tests" in state.text.content
    return "rccl-tests" if amd or rccl else KIND


def _settled_unit(run: _Run, rows: Columns, checks: list[Check]) -> float:
    """Bytes of the printed "GB": by the tool, checked by size over time."""
    ratio = unit_of_rates(rows)
    binary = run.neuron
    if ratio is not None:
        binary = abs(ratio / (GIB / 1e9) - 1.0) < abs(ratio - 1.0)
        if run.neuron and not binary:
            checks.append(
                Check("unit", False, 'nccom-test prints GiB/s as "GB/s", size over time says GB/s')
            )
    return GIB if binary else 1e9


def _collective(run: _Run, rows: Columns) -> tuple[str, str, str]:
    """Name of the collective, where it is from, and a caution."""
    shown, caution = collective_of(rows) if len(rows) else ("", "")
    for name, where in ((run.header_name, "header"), (run.command, "command")):
        if name and _compatible(name, shown, caution):
            return name, where, ""
        if name and shown:
            return shown, "columns", f"the {where} says {name}, the columns {shown}"
    return shown, "columns" if shown else "", caution


def _compatible(name: str, shown: str, caution: str) -> bool:
    """Whether a name goes with what the columns show."""
    groups = (
        {"allreduce", "reduce"},
        {"all_gather", "all_to_all", "all_to_all_v", "gather", "scatter", "hypercube"},
        {"broadcast", "send_receive", "all_gather", "all_to_all", "hypercube"},
    )
    return (
        not shown
        or name == shown
        or any(name in g and shown in g for g in groups)
        or (bool(caution) and shown == "")
    )


def _further(run: CollectiveRun) -> list[str]:
    """Cautions about a finished run."""
    found = []
    if run.empty:
        found.append("there is a header but no row: the run failed or was cut")
    names = len(run.hostnames)
    if run.nodes is not None and run.nodes < names:
        found.append(
            f"{names} host names show the devices of {run.nodes} machines: containers that share "
            "a machine do not reach each other over its scale-up network"
        )
    if run.ranks == 1 and not run.empty:
        found.append(
            "bus bandwidth is nothing: every process ran alone, the tests were built without MPI"
        )
    average = run.si("average")
    if math.isfinite(run.average_printed) and average > 0.0:
        off = abs(run.average_printed / average - 1.0)
        if off > 0.02:
            found.append("the printed average is not the mean of the rows: the table is not whole")
    if math.isfinite(run.average_printed):
        found.append("the printed average is a mean over all sizes, not a peak")
    return found
