"""Calibration on half the sizes of every log, scored on the other half.

In nccl_measured.csv a log is one system, library version, data type, collective and number of
ranks. The same is done across collectives (fitted on allreduce, scored on all-gather) and across
ranks (fitted on the second greatest number, scored on the greatest), which a fit of half the sizes
cannot know. The published logs of measured_collectives.csv follow one by one, and a log of fewer
nodes predicts one of more nodes with the same devices and interfaces.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import permutations
from pathlib import Path
from zlib import crc32

import numpy as np
from accuracy_peaks import PORTS
from scoring import IN_SAMPLE, LEFT_OUT, Score, score_of_errors

from scalemath.collectives.envelope_fit import fit_lines, least
from scalemath.collectives.operations import OPERATIONS
from scalemath.diagnosis.calibration import Calibration
from scalemath.diagnosis.fit import CollectiveFit, fit_of, predicted
from scalemath.diagnosis.hardware import device_named
from scalemath.readers.nccl_lines import NAMES

TABLE = "nccl_measured.csv"
PUBLISHED = "measured_collectives.csv"
LEAST_SIZES = 6
Series = tuple[np.ndarray, np.ndarray]
Log = tuple[str, str, str, str, str, int]


def logs(folder: Path) -> dict[Log, Series]:
    """Sizes [byte] and times [s] of every log."""
    found: dict[Log, list[tuple[float, float]]] = defaultdict(list)
    with (folder / TABLE).open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            key = (row["system"], row["library"], row["version"], row["dtype"], row["operation"])
            size = float(row["elements"]) * float(row["bytes_per_element"])
            found[(*key, int(row["ranks"]))].append((size, float(row["latency_ms"]) * 1e-3))
    return {
        key: (np.array([s for s, _ in rows]), np.array([t for _, t in rows]))
        for key, rows in sorted(found.items())
    }


def halves(sizes: np.ndarray, times: np.ndarray, lines: int) -> np.ndarray:
    """Errors on every second size, both halves in turn."""
    distinct = np.unique(sizes)
    errors = []
    for first in (0, 1):
        kept = np.isin(sizes, distinct[first::2])
        if 2 <= len(np.unique(sizes[kept])) < len(distinct):
            guess = predicted(sizes[kept], times[kept], sizes[~kept], lines)
            errors.append(guess / times[~kept] - 1.0)
    return np.concatenate(errors) if errors else np.array([])


def random_half(key: Log, sizes: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Errors on a random half of the sizes, another one for every log."""
    distinct = np.unique(sizes)
    seed = crc32(repr(key).encode())
    chosen = np.random.default_rng(seed).permutation(distinct)[: len(distinct) // 2]
    kept = np.isin(sizes, chosen)
    return predicted(sizes[kept], times[kept], sizes[~kept]) / times[~kept] - 1.0


def carried(fit: CollectiveFit, operation: str, ranks: int, series: Series) -> np.ndarray:
    """Errors of a fit that is carried to another collective or number of ranks."""
    calibration = Calibration(fits=(fit,), source="another log")
    sizes, times = series
    guess = [calibration.time(operation, f"{s:.0f} byte", ranks=ranks).si("time") for s in sizes]
    return np.array(guess) / times - 1.0


def published(folder: Path) -> list[Score]:
    """Lines for the published logs; none where the table is missing."""
    if not (folder / PUBLISHED).exists():
        return []
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (folder / PUBLISHED).open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if float(row["size_bytes"] or 0) > 0 and float(row["time_us"] or 0) > 0:
                rows[row["log"]].append(row)
    series = {
        log: (
            np.array([float(row["size_bytes"]) for row in found]),
            np.array([float(row["time_us"]) * 1e-6 for row in found]),
        )
        for log, found in rows.items()
        if len({row["size_bytes"] for row in found}) >= LEAST_SIZES
    }
    scores = [
        score_of_errors(f"{log}: half the sizes", LEFT_OUT, halves(*pair, 3))
        for log, pair in series.items()
    ]
    for one, other in permutations(series, 2):
        fewer, more = rows[one][0], rows[other][0]
        counts = [row[name] for row in (fewer, more) for name in ("nodes", "ranks")]
        if alike(fewer) != alike(more) or not all(counts):
            continue
        name = NAMES.get(fewer["collective"].replace("_", ""), "")
        if int(fewer["nodes"]) >= int(more["nodes"]) or name not in OPERATIONS:
            continue
        fit = fit_of(name, int(fewer["ranks"]), int(fewer["nodes"]), *series[one], check=False)
        errors = carried(fit, name, int(more["ranks"]), series[other])
        what = f"{fewer['nodes']} nodes predict {more['nodes']}: {other}"
        scores.append(score_of_errors(what, LEFT_OUT, errors))
    return scores


def alike(row: dict[str, str]) -> tuple[str, ...]:
    """What two logs must share to differ in the number of nodes only."""
    device, ports = device_named(row["hardware"]), PORTS.search(row["link"])
    return (
        device.pattern if device else row["hardware"],
        ports[0] if ports else row["link"],
        row["gpus_per_node"],
        row["collective"],
    )


def score(folder: Path) -> list[Score]:
    """Lines by system, then all systems together."""
    table = logs(folder)
    pools: dict[tuple[str, str, str], list[np.ndarray]] = defaultdict(list)

    def keep(system: str, what: str, kind: str, errors: np.ndarray) -> None:
        if errors.size:
            pools[system, what, kind].append(errors)
            pools["all systems", what, kind].append(errors)

    for key, (sizes, times) in table.items():
        system, library, version, dtype, operation, ranks = key
        keep(system, "calibrated on half the sizes", LEFT_OUT, halves(sizes, times, 3))
        keep(system, "calibrated on a random half", LEFT_OUT, random_half(key, sizes, times))
        keep(system, "one line on half the sizes", LEFT_OUT, halves(sizes, times, 1))
        fitted = least(fit_lines(sizes, times), sizes) / times - 1.0
        keep(system, "lines fitted to all sizes", IN_SAMPLE, fitted)
        here = (system, library, version, dtype)
        if NAMES.get(operation.replace("_", "")) not in OPERATIONS:
            continue
        if operation == "all_reduce" and (*here, "all_gather", ranks) in table:
            fit = fit_of("allreduce", ranks, 1, sizes, times, check=False)
            other = table[(*here, "all_gather", ranks)]
            what = "fitted on allreduce, scored on all-gather"
            keep(system, what, LEFT_OUT, carried(fit, "all_gather", ranks, other))
        if (*here, operation, 2 * ranks) in table and (*here, operation, 4 * ranks) not in table:
            fit = fit_of(operation, ranks, 1, sizes, times, check=False)
            other = table[(*here, operation, 2 * ranks)]
            what = "fitted on half the ranks, scored on all"
            keep(system, what, LEFT_OUT, carried(fit, operation, 2 * ranks, other))
    names = [*dict.fromkeys(key[0] for key in table), "all systems"]
    return published(folder) + [
        score_of_errors(f"{name}: {what}", kind, np.concatenate(errors))
        for name in names
        for (system, what, kind), errors in pools.items()
        if system == name
    ]
