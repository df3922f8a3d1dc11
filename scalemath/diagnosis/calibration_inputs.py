"""Series of sizes and times from logs, paths and tables of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scalemath.collectives.operations import operation_named
from scalemath.core.errors import ArgumentError
from scalemath.diagnosis.regions import curve_of
from scalemath.readers.detect import read
from scalemath.readers.nccl_run import CollectiveLog, CollectiveRun
from scalemath.units import to_si

Series = tuple[str, str, int, int, Any, Any]


def series_of(logs: Any) -> Iterator[Series]:
    """Every series of sizes and times in what was given."""
    if isinstance(logs, (Path, str)):
        logs = read(logs)
    if isinstance(logs, Mapping):
        yield _own(logs)
    elif isinstance(logs, CollectiveLog):
        for run in logs.runs:
            yield from series_of(run)
    elif isinstance(logs, CollectiveRun):
        curve = curve_of(logs)
        if logs.collective and logs.ranks and logs.ranks > 1 and len(curve.sizes) > 1:
            nodes = logs.nodes or 1
            yield logs.source, logs.collective, logs.ranks, nodes, curve.sizes, curve.times
    elif isinstance(logs, Iterable):
        for one in logs:
            yield from series_of(one)
    else:
        raise ArgumentError(
            f"calibrate takes logs of collective tests, not {type(logs).__name__}; write "
            'calibrate(Path("log.txt"))'
        )


def _own(given: Mapping[str, Any]) -> Series:
    missing = {"operation", "ranks", "sizes", "times"} - set(given)
    if missing:
        raise ArgumentError(f"calibrate: a table of one's own needs {', '.join(sorted(missing))}")
    sizes = np.atleast_1d(np.asarray(_si(given["sizes"], "byte"), float))
    times = np.atleast_1d(np.asarray(_si(given["times"], "s"), float))
    if sizes.shape != times.shape:
        raise ArgumentError(f"calibrate: {sizes.size} sizes and {times.size} times; give one each")
    return (
        str(given.get("name", "a table")),
        operation_named(given["operation"]).name,
        int(given["ranks"]),
        int(given.get("nodes", 1)),
        sizes,
        times,
    )


def _si(values: Any, unit: str) -> Any:
    if isinstance(values, (list, tuple)):
        return [float(to_si(value, unit, unit)) for value in values]
    return to_si(values, unit, unit)
