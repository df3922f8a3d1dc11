"""Score training memory against measured devices, and against what open tools compute.

SimuMax publishes `max_allocated` of the worst rank, torchtitan reserved memory. The two H200 rows
of torchtitan hold 15 GiB less than the H100 rows of the same printed configuration, which no input
explains: they are a set of their own. Two constants of the torchtitan profile (recomputed layers
alive at once, reserve of the allocator) were chosen on its rows; the line "left out" chooses them
anew for every table of the publication on the rows of the others. Rows of Korthikanti et al. are
the paper's own formula and count nowhere.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from attrs import evolve
from scoring import IN_SAMPLE, INDEPENDENT, LEFT_OUT, Score, score_of, score_of_errors
from step_time_cases import Case, cases, number, stack

import scalemath as sm
from scalemath.core.errors import ArgumentError
from scalemath.workloads.fitted import fitted_values

GIB = 2.0**30
LIVE, RESERVE = (1.0, 2.0, 3.0, 4.0), (1.0, 1.02, 1.03, 1.037, 1.05)


def error(case: Case, **changes: float) -> float:
    """Signed relative error of one measured row."""
    software = evolve(stack(case.row, fitted_values()), **changes)
    found = sm.training_memory(
        case.model, case.plan, sequence=case.sequence, stack=software, overhead={}, strict=False
    )
    return float(found.total.m_as("byte")) / GIB / number(case.row, "mem_GiB") - 1.0


def measured_rows(folder: Path) -> dict[str, list[Case]]:
    """Rows with a measured memory, by set."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases(folder):
        if case.part != "step" or not number(case.row, "mem_GiB"):
            continue
        if case.family == "SimuMax B200":
            kind = "context parallel" if case.plan.context > 1 else "dense"
            kind = "experts" if case.model.experts else kind
            found[f"SimuMax B200, {kind}"].append(case)
        elif case.family == "torchtitan":
            newer = "H200" in case.row["hardware"]
            found["torchtitan, H200" if newer else "torchtitan"].append(case)
    return dict(found)


def left_out(rows: list[Case]) -> list[float]:
    """Errors of each published table with the two constants chosen on the others."""
    pairs = list(itertools.product(LIVE, RESERVE))
    every = np.array(
        [[error(c, live_layers=live, memory_reserve=kept) for live, kept in pairs] for c in rows]
    )
    tables = [case.name.split("_")[1] for case in rows]
    found = []
    for place, table in enumerate(tables):
        others = [i for i, name in enumerate(tables) if name != table]
        chosen = int(np.abs(every[others]).mean(axis=0).argmin())
        found.append(float(every[place, chosen]))
    return found


def counts(folder: Path) -> list[Score]:
    """Parameter counts and caches per token as tools that count them right print them."""
    sets: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with (folder / "memory_cases.csv").open(newline="", encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    for row in table:
        try:
            model = sm.catalog.model(row["model"].split(" (")[0].replace("Qwen-", "Qwen"))
        except ArgumentError:
            continue
        if row["tool_version"].startswith("closed form"):
            ours, theirs = sets["parameters, closed form"]
            ours.append(float(model.parameters))
        elif row["metric"].startswith("kv_bytes_per_token"):
            ours, theirs = sets["cache of a token, all tools"]
            ranks = int(row["tp"])
            one = sm.serving_memory(model, context_tokens=1, page_tokens=1, tensor=ranks)
            ours.append(one.size_of("cache"))
        else:
            continue
        theirs.append(float(row["value"]))
    return [score_of(name, INDEPENDENT, *pair) for name, pair in sets.items()]


def score(folder: Path) -> list[Score]:
    """Memory by set, and counts."""
    scores = []
    for name, rows in measured_rows(folder).items():
        kind = INDEPENDENT if "H200" in name else IN_SAMPLE
        scores.append(score_of_errors(name, kind, [error(case) for case in rows]))
        if name == "torchtitan":
            scores.append(score_of_errors(name, LEFT_OUT, left_out(rows)))
    return scores + counts(folder)


def main(folder: Path) -> None:
    """Print every row."""
    for name, rows in measured_rows(folder).items():
        print(name)
        for case in rows:
            held = number(case.row, "mem_GiB")
            print(f"  {case.name:64.64s} measured {held:6.1f} GiB  {100 * error(case):+6.1f} %")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
