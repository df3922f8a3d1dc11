"""Published training steps: the error of each publication, and of its memory."""

import sys
from pathlib import Path

import numpy as np
import pytest
from oracles import tables

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cases():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import step_time_cases
    finally:
        sys.path.pop(0)
    if not tables.has("accuracy_cases.csv"):
        pytest.skip("no table of published steps")
    return step_time_cases.cases(tables.facts_folder())


def by_family(cases):
    found = {}
    for case in cases:
        found.setdefault(case.family, []).append(case)
    return found


FITTED_ON = {
    "Narayanan 2021", "Korthikanti 2022", "Llama 3", "torchtitan", "llm-foundry", "SimuMax B200",
    "DeepSeek-V3",
}  # fmt: skip


def test_step_times_of_the_publications_fitted_on(cases):
    means = {
        name: np.mean([abs(c.predict() / c.value - 1) for c in rows])
        for name, rows in by_family(cases).items()
        if name in FITTED_ON
    }
    if not means:
        pytest.skip("none of them in this folder")
    assert max(means.values()) <= 0.08, means
    assert np.mean(list(means.values())) <= 0.04, means


def test_measured_memory(cases):
    errors = [
        abs(c.outputs(fitted())["memory"] / 2**30 / float(c.row["mem_GiB"]) - 1)
        for c in cases
        if c.family == "SimuMax B200" and c.row["mem_GiB"]
    ]
    if not errors:
        pytest.skip("no measured memory in this folder")
    assert np.mean(errors) <= 0.014


def fitted():
    from scalemath.workloads.fitted import fitted_values

    return fitted_values()


def test_every_family_is_predicted_within_reason(cases):
    # rows of any other publication: no factor of two on average
    for name, rows in by_family(cases).items():
        assert np.mean([abs(c.predict() / c.value - 1) for c in rows]) < 1.0, name
