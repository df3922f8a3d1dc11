"""Score predicted training step times and memories against published ones.

Families that the constants were fitted on are in sample here; every other family is
independent. With three random rows of a family setting only the two rates of its devices, the
median over draws is added. `fit_step_time.py --leave` fits with each family left out.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from fit_step_time import anchored
from scoring import IN_SAMPLE, INDEPENDENT, Score, score_of_errors
from step_time_cases import FITTED_ON, Case, cases, number

from scalemath.workloads.fitted import fitted_values

GIB = 2.0**30
MEASURED_MEMORY = ("SimuMax B200", "torchtitan")


def by_family(rows: list[Case]) -> dict[str, list[Case]]:
    """Cases by publication."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in rows:
        found[case.family].append(case)
    return dict(found)


def memory_errors(rows: list[Case]) -> list[float]:
    """Signed relative errors of the memory, where it was measured whole."""
    found = []
    for case in rows:
        published = number(case.row, "mem_GiB")
        if published and case.family in MEASURED_MEMORY:
            found.append(case.outputs(fitted_values())["memory"] / GIB / published - 1.0)
    return found


def score(folder: Path) -> list[Score]:
    """Scores by family: time, time with three anchors, memory."""
    scores: list[Score] = []
    balanced: dict[str, list[float]] = defaultdict(list)
    for name, rows in by_family(cases(folder)).items():
        kind = IN_SAMPLE if name in FITTED_ON else INDEPENDENT
        errors = [case.predict() / case.value - 1.0 for case in rows]
        scores.append(score_of_errors(f"{name}: step time", kind, errors))
        balanced[kind].append(float(np.mean(np.abs(errors))))
        if kind == INDEPENDENT and len(rows) >= 6:
            drawn = anchored(rows, fitted_values(), draws=50)
            scores.append(score_of_errors(f"{name}: three rows set two rates", kind, drawn))
        held = memory_errors(rows)
        if held:
            scores.append(score_of_errors(f"{name}: memory", kind, held))
    for kind, means in balanced.items():
        name = "mean of the families, each alike"
        scores.append(score_of_errors(name, kind, [float(np.mean(means))]))
    return scores


def main(folder: Path) -> None:
    """Print every row, predicted and published."""
    for name, rows in by_family(cases(folder)).items():
        print(f"\n{name}")
        for case in rows:
            part = "" if case.part == "step" else f" {case.part}"
            error = 100 * (case.predict() / case.value - 1)
            print(
                f"  {case.name + part:62.62s} published {case.value:9.4g} s  predicted "
                f"{case.predict():9.4g} s  {error:+6.1f} %"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
