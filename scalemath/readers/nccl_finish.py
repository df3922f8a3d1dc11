"""From gathered lines to a finished run: unit, collective, ranks, checks and cautions."""

from __future__ import annotations

import math

import numpy as np
from attrs import evolve

from scalemath.readers.columns import Array, Columns
from scalemath.readers.nccl_ranks import (
    collective_of,
    decided_ranks,
    sorted_out,
    time_check,
    unit_of_rates,
)
from scalemath.readers.nccl_run import SIDES, CollectiveRun
from scalemath.readers.nccl_state import RunState, State
from scalemath.readers.reading import Check

KIND = "nccl-tests"
GIB = 2.0**30
MOST = 1e30
"""Numbers from here on are none that a tool measures."""
_UNITS = {"time": "s", "algorithm_bandwidth": "byte/s", "bus_bandwidth": "byte/s", "wrong": "1"}
_NAN = math.nan


def _columns(run: RunState, unit: float) -> Columns:
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


def finished(state: State, run: RunState) -> CollectiveRun:
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


def _tool(state: State, run: RunState) -> str:
    """Which test printed the run."""
    if run.neuron:
        return "nccom-test"
    amd = any(device.name.startswith("AMD") for device in run.devices)
    rccl = state.library == "RCCL" or "rccl-tests" in state.text.content
    return "rccl-tests" if amd or rccl else KIND


def _settled_unit(run: RunState, rows: Columns, checks: list[Check]) -> float:
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


def _collective(run: RunState, rows: Columns) -> tuple[str, str, str]:
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
