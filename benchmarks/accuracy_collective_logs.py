"""Published nccl-tests logs: shipped envelopes, envelopes fitted to half of a log, NCCL's estimate.

The logs took no part in any fit of the package. NCCL's estimate is scored to show what it is not:
it ranks algorithms and predicts times badly.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from scoring import INDEPENDENT, LEFT_OUT, Score, score_of_errors

from scalemath.collectives import nccl
from scalemath.collectives.envelope import left_out_errors
from scalemath.collectives.envelope_defaults import measured_envelope
from scalemath.collectives.operations import operation_named
from scalemath.core.errors import ScalemathError
from scalemath.units import Q_

TABLE = "measured_collectives.csv"
Row = dict[str, str]
SYSTEMS = (
    (r"\bA100\b", "A100"),
    (r"\bH100\b", "H100"),
    (r"\bB200\b", "B200"),
    (r"\bGB300\b", "GB300"),
)
FULL_NETWORK = (r"HDR", r"8x\s?400|3200 Gb/s|NDR")
"""Links of the machines whose graphs NCCL's estimate is given: one NIC per GPU."""


def logs(folder: Path) -> dict[str, list[Row]]:
    """Rows with a size and a time, by log."""
    found: dict[str, list[Row]] = defaultdict(list)
    with (folder / TABLE).open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if float(row["size_bytes"] or 0) > 0 and seconds(row) > 0:
                found[row["log"]].append(row)
    return dict(found)


def seconds(row: Row) -> float:
    """Printed time, else the one the algorithm bandwidth implies [s]."""
    if row["time_us"]:
        return float(row["time_us"]) * 1e-6
    rate = float(row["algbw_GBps"] or 0) * 1e9
    return float(row["size_bytes"]) / rate if rate else 0.0


def system(row: Row) -> str:
    """System of the measured defaults, empty where there is none."""
    return next((name for form, name in SYSTEMS if re.search(form, row["hardware"])), "")


def shipped(rows: list[Row]) -> list[float]:
    """Times by the shipped envelope; raises where there is none."""
    first = rows[0]
    if first["nodes"] != "1":
        raise LookupError("envelopes are for one node or domain")
    known = measured_envelope(system(first), first["collective"], ranks=int(first["ranks"]))
    return [known.seconds(float(row["size_bytes"])) for row in rows]


def estimated(rows: list[Row]) -> list[float]:
    """Times by NCCL's estimate; raises where no usual machine is known."""
    first = rows[0]
    nodes, ranks = int(first["nodes"]), int(first["ranks"])
    if nodes > 1 and not any(re.search(form, first["link"]) for form in FULL_NETWORK):
        raise LookupError("the network is not one full NIC per GPU")
    machine = nccl.communicator(system(first), nodes=nodes, ranks_per_node=ranks // nodes)
    name = operation_named(first["collective"]).name
    return [
        nccl.select(name, Q_(float(row["size_bytes"]), "byte"), machine).time_seconds
        for row in rows
    ]


def score(folder: Path) -> list[Score]:
    """Lines by log and method, then each method over all logs."""
    scores: list[Score] = []
    pooled: dict[tuple[str, str], list[np.ndarray]] = defaultdict(list)

    def keep(log: str, method: str, kind: str, errors: np.ndarray) -> None:
        scores.append(score_of_errors(f"{log}: {method}", kind, errors))
        pooled[method, kind].append(errors)

    for log, rows in logs(folder).items():
        sizes = np.array([float(row["size_bytes"]) for row in rows])
        times = np.array([seconds(row) for row in rows])
        for method, predict in (("shipped envelope", shipped), ("NCCL estimate", estimated)):
            try:
                predicted = np.array(predict(rows))
            except (LookupError, ScalemathError):
                continue
            keep(log, method, INDEPENDENT, predicted / times - 1.0)
        errors = left_out_errors(sizes, times)
        if errors.size:
            keep(log, "envelope of half the sizes", LEFT_OUT, errors)
    scores += [
        score_of_errors(f"all logs: {method}", kind, np.concatenate(errors))
        for (method, kind), errors in pooled.items()
    ]
    return scores
