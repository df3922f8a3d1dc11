"""Reader of nccl-tests, rccl-tests and nccom-test output, in every layout met so far."""

from __future__ import annotations

import math
from typing import Any

from scalemath.readers import nccl_lines as forms
from scalemath.readers.nccl_finish import KIND, finished
from scalemath.readers.nccl_run import CollectiveLog
from scalemath.readers.nccl_state import RunState, State
from scalemath.readers.reading import Skipped, of_runs
from scalemath.readers.text import Text, text_of

_NAN = math.nan
_KEPT_TEXT = 120
_MOST_FAILURES = 100
_MOST_WAYS = 5000
_ROW_ENDS = frozenset("0123456789A")


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
    state = State(text)
    for number, line in enumerate(text.lines, 1):
        if not _plain(state, number, line):
            _take(state, number, line)
    runs = [run for run in state.runs if _something(run)]
    if not runs:
        text.refuse(
            min(len(text.lines), 1),
            "expected a table of nccl-tests (size, count, type, time, algbw, busbw), found none",
        )
    made = tuple(finished(state, run) for run in runs)
    return CollectiveLog(
        source=text.name,
        kind=KIND,
        runs=made,
        skipped=tuple(state.skipped),
        **of_runs(made),
    )


def _something(run: RunState) -> bool:
    return bool(
        len(run.rows) or run.headed or run.devices or run.parameters or not math.isnan(run.average)
    )


def _plain(state: State, number: int, line: str) -> bool:
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


def _take(state: State, number: int, line: str) -> None:
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


def _skip(state: State, number: int, reason: str, line: str) -> None:
    state.skipped.append(Skipped(number, reason, line.strip()[:_KEPT_TEXT]))


def _row(state: State, number: int, line: str, match: Any) -> bool:
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


def _header(state: State, number: int, line: str) -> bool:
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


def _device(state: State, number: int, line: str) -> bool:
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


def _end(state: State, number: int, line: str) -> bool:
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


def _noise(state: State, number: int, line: str) -> bool:
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


def _fail(state: State, text: str) -> None:
    failures = state.run().failures
    if len(failures) < _MOST_FAILURES:
        failures.append(text.strip()[:_KEPT_TEXT])


def _version(state: State, line: str) -> bool:
    if "version" not in line:
        return False
    found = forms.VERSION.search(line)
    if found is not None:
        state.library, state.version = found["library"], found["version"]
        return True
    return forms.TEST_VERSION.search(line) is not None


def _command(state: State, line: str) -> None:
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


def _debug(state: State, line: str) -> None:
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
