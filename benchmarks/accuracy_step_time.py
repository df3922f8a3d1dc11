"""Score predicted training step times and memories against published ones.

Families that the constants were fitted on are in sample here; every other family is
independent. Left out: the constants are fitted without the family, and either nothing of it is
seen, or three random rows of it set only the two rates of its devices, fifty times over.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from fit_step_time import anchored, left_out
from scoring import IN_SAMPLE, INDEPENDENT, LEFT_OUT, Score, score_of_errors
from step_time_cases import FITTED_ON, Case, cases, number

from scalemath.workloads.fitted import fitted_values

GIB = 2.0**30
DRAWS = 50
ANCHORS = "three rows set two rates, by draw"
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
    rows_of_fit = [case for case in cases(folder) if case.family in FITTED_ON]
    medians: list[float] = []
    balanced: dict[str, list[float]] = defaultdict(list)
    for name, rows in by_family(cases(folder)).items():
        kind = IN_SAMPLE if name in FITTED_ON else INDEPENDENT
        errors = [case.predict() / case.value - 1.0 for case in rows]
        scores.append(score_of_errors(f"{name}: step time", kind, errors))
        balanced[kind].append(float(np.mean(np.abs(errors))))
        if kind == INDEPENDENT and len(rows) >= 6:
            drawn = anchored(rows, fitted_values(), DRAWS)
            scores.append(score_of_errors(f"{name}: {ANCHORS}", kind, drawn))
        held = memory_errors(rows)
        if held:
            scores.append(score_of_errors(f"{name}: memory", kind, held))
    for name, strict, drawn in left_out(rows_of_fit, DRAWS):
        scores.append(score_of_errors(f"{name}: nothing of it seen", LEFT_OUT, strict))
        scores.append(score_of_errors(f"{name}: {ANCHORS}", LEFT_OUT, drawn))
        medians.append(float(np.median(drawn)))
    if medians:
        balanced_median = [float(np.mean(medians))]
        scores.append(score_of_errors("median of draws, each alike", LEFT_OUT, balanced_median))
    for kind, means in balanced.items():
        name = "mean of the families, each alike"
        scores.append(score_of_errors(name, kind, [float(np.mean(means))]))
    return scores


def main(folder: Path) -> None:
    """Print every row, predicted and published."""
    for name, rows in by_family(cases(folder)).items():
        print(f"\n{name}")
        for case in rows:
            print(
                f"  {label(case):62.62s} published {case.value:9.4g} s  predicted "
                f"{case.predict():9.4g} s  {error_of(case):+6.1f} %"
            )


def label(case: Case) -> str:
    """Name of an observation."""
    return case.name if case.part == "step" else f"{case.name} {case.part}"


def error_of(case: Case) -> float:
    """Signed error of a prediction [%]."""
    return 100.0 * (case.predict() / case.value - 1.0)


def page(folder: Path) -> str:
    """Text of the documentation page that shows every row, good and bad."""
    lines = [PAGE_HEAD, ""]
    families = by_family(cases(folder))
    lines += ["| publication | rows | bias | mean | worst |", "|---|---|---|---|---|"]
    means = []
    for name, rows in families.items():
        errors = [error_of(case) for case in rows]
        means.append(float(np.mean(np.abs(errors))))
        lines.append(
            f"| {name} | {len(rows)} | {np.mean(errors):+.1f} % | {means[-1]:.1f} % | "
            f"{max(errors, key=abs):+.1f} % |"
        )
    lines.append(f"| each publication alike | | | {np.mean(means):.1f} % | |")
    lines += ["", PAGE_LEFT_OUT, ""]
    for name, rows in families.items():
        lines += [f"## {name}", "", "| run | published | predicted | error |", "|---|---|---|---|"]
        lines += [
            f"| {label(case)} | {case.value:.4g} s | {case.predict():.4g} s | "
            f"{error_of(case):+.1f} % |"
            for case in rows
        ]
        lines.append("")
    lines += ["## Memory", "", "| run | published | predicted | error |", "|---|---|---|---|"]
    for case in (c for rows in families.values() for c in rows):
        published = number(case.row, "mem_GiB")
        if published and case.family in MEASURED_MEMORY:
            found = case.outputs(fitted_values())["memory"] / GIB
            change = 100.0 * (found / published - 1.0)
            lines.append(
                f"| {case.name} | {published:.1f} GiB | {found:.1f} GiB | {change:+.1f} % |"
            )
    return "\n".join(lines) + "\n"


PAGE_HEAD = """# How exact the step time is

Every published run that states enough to predict it, with the prediction beside it: the good
and the bad. One wiring serves all of them. What differs between publications is stated in
columns of the table or by a software profile; no constant belongs to a run. Fitted are eighteen
constants, each publication weighing alike; they stand in `scalemath/workloads/fitted.py` with
the round value that the fit starts from and is held near. Those starting values, and the choice
of terms, are not blind: they were informed by an earlier study of the same publications."""

PAGE_LEFT_OUT = """\
The table above is in sample. With a whole publication left out of the fit, and three of its
rows used only to set the shares of the peak that products and attention reach on its machines,
the median over 50 random draws of the three is

| publication left out | nothing of it seen | three rows set two rates: median | range |
|---|---|---|---|
| Narayanan 2021 | 5.4 % | 2.6 % | 1.9 to 4.2 % |
| Korthikanti 2022 | 5.6 % | 2.3 % | 1.7 to 4.4 % |
| SimuMax B200 | 23 % | 4.7 % | 3.9 to 12.6 % |
| llm-foundry | 10 % | 4.6 % | 3.5 to 18.3 % |
| torchtitan | 9.6 % | 7.0 % | 5.1 to 16.5 % |
| each alike | | 4.2 % | |

What stays in sample even here is the choice of terms, and the values the fit starts from where
only the publication left out could tell them (the least time of an eagerly launched layer is
one).

Llama 3 (3 rows) and DeepSeek-V3 (2 rows) are too few to leave out. The two rows of DeepSeek-V3
differ by 0.1 % and rest on inputs that the publication does not print; they are no evidence.
The 23 % say what a datasheet is worth: that B200 server reaches 44 % of its peak where the best
shapes of the device reach 78 %.

What the rows do not explain: llm-foundry runs close to the 80 GB of the device lose time in the
allocator (30B at 8192 tokens, -28 %); its smallest models on short sequences lose it in the
input pipeline; 8-bit products with row-wise factors do not follow one factor for 8B and 70B
models; torchtitan on H200 holds 15 GiB less than the same printed configuration on H100."""


if __name__ == "__main__":
    if "--page" in sys.argv:
        sys.stdout.write(page(Path(sys.argv[1])))
    else:
        main(Path(sys.argv[1]))
