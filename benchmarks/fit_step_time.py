"""Fit the constants of the step-time model, and say how well it does on what it never saw.

    python benchmarks/fit_step_time.py DIR          fit on every row
    python benchmarks/fit_step_time.py DIR --leave  leave one family out, three rows as anchors

The fit weighs every family alike. A weak prior holds a constant near a value known before any
row was looked at, so that one which the rows do not determine stays there.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares
from step_time_cases import Case, cases

from scalemath.workloads.fitted import FITTED

PRIOR = {name: (c.prior, c.spread) for name, c in FITTED.items()}
SPREAD = {**{name: c.spread for name, c in FITTED.items()}, "scale_e": 0.3, "scale_a": 0.3}
SMALL = 6
TIGHT = 5.0
SCALE = 0.03


def fit(
    rows: list[Case], free: list[str], start: dict[str, float], tightness: float = 1.0
) -> dict[str, float]:
    """Fit the named constants on the rows, all others staying at `start`."""
    size = Counter(case.family for case in rows)
    weight = np.array([size[case.family] ** -0.5 for case in rows])
    centre = np.log([start[name] for name in free])
    spread = np.array([SPREAD[name] for name in free])

    def constants(point: np.ndarray) -> dict[str, float]:
        return {**start, **dict(zip(free, np.exp(point).tolist(), strict=True))}

    def residuals(point: np.ndarray) -> np.ndarray:
        now = constants(point)
        errors = np.array([math.log(case.predict(now) / case.value) for case in rows])
        # beyond a tenth an error counts in proportion, so that no single row rules
        soft = np.sign(errors) * np.minimum(np.abs(errors), np.sqrt(0.1 * np.abs(errors)))
        return np.concatenate([weight * soft / SCALE, tightness * 0.2 * (point - centre) / spread])

    found = least_squares(residuals, centre, diff_step=1e-3, max_nfev=15)
    return constants(found.x)


def anchored(own: list[Case], constants: dict[str, float], draws: int) -> list[float]:
    """Mean absolute errors of a family, one per draw of three rows that set its rates."""
    start = {**constants, "scale_e": 1.0, "scale_a": 1.0}
    rng = random.Random(1)
    means = []
    for _ in range(draws):
        anchors = rng.sample(own, 3)
        tuned = fit(anchors, ["scale_e", "scale_a"], start, tightness=TIGHT)
        rest = [case for case in own if case not in anchors]
        means.append(float(np.mean([abs(case.predict(tuned) / case.value - 1) for case in rest])))
    return means


def left_out(rows: list[Case], draws: int) -> Iterator[tuple[str, list[float], list[float]]]:
    """Leave each family out of the fit; three of its rows set only the rates of its devices.

    Yields the family, the signed errors with nothing of it seen, and the mean absolute error of
    each draw. Families too small to leave rows over are passed by.
    """
    prior = {name: value for name, (value, _) in PRIOR.items()}
    for name in sorted({case.family for case in rows}):
        own = [case for case in rows if case.family == name]
        others = [case for case in rows if case.family != name]
        if len(own) < SMALL or not others:
            continue
        learnt = fit(others, list(PRIOR), prior)
        strict = [case.predict(learnt) / case.value - 1.0 for case in own]
        yield name, strict, anchored(own, learnt, draws)


def leave_one_out(rows: list[Case], draws: int = 50) -> None:
    """Print what is left of the exactness when a family is left out."""
    medians = []
    for name, strict, means in left_out(rows, draws):
        medians.append(float(np.median(means)))
        print(
            f"{name:20s} {len(strict):3d} rows: never seen {100 * np.mean(np.abs(strict)):5.1f} %,"
            f" three rows for two rates: median {100 * medians[-1]:5.2f} %, range"
            f" {100 * min(means):.1f} to {100 * max(means):.1f} % over {draws} draws",
            flush=True,
        )
    print(f"family-balanced median {100 * sum(medians) / len(medians):.2f} %")


def main() -> None:
    """Fit, or score families left out."""
    rows = cases(Path(sys.argv[1]))
    prior = {name: value for name, (value, _) in PRIOR.items()}
    if "--leave" in sys.argv:
        leave_one_out(rows)
        return
    best = fit(rows, list(PRIOR), prior)
    for name, value in best.items():
        print(f'    "{name}": {value:.4g},')
    errors: dict[str, list[float]] = {}
    for case in rows:
        errors.setdefault(case.family, []).append(case.predict(best) / case.value - 1)
    for name, found in errors.items():
        print(
            f"{name:20s} {len(found):4d} mean {100 * np.mean(np.abs(found)):5.2f} %"
            f" bias {100 * np.mean(found):+.2f} %  worst {100 * max(found, key=abs):+.1f} %"
        )
    print(
        f"family-balanced mean {100 * np.mean([np.mean(np.abs(e)) for e in errors.values()]):.2f} %"
    )


if __name__ == "__main__":
    main()
