"""Logs that are cut, mixed or absurd: a diagnosis or a scalemath error, nothing else."""

import numpy as np
import pytest
from helpers.reader_fixtures import collective
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import scalemath as sm

TEXT = collective().replace("Test GPU", "NVIDIA H100 80GB HBM3")
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}
PIECES = ["", "0", "-1", "9" * 18, "1e29", "nan", "N/A", "\n", "A100", "sum none", "1e-30"]
EDITS = st.lists(
    st.tuples(st.integers(0, len(TEXT)), st.integers(0, 20), st.sampled_from(PIECES)),
    min_size=1,
    max_size=8,
)


def attempt(edits):
    text = TEXT
    for start, length, piece in edits:
        text = text[:start] + piece + text[start + length :]
    with np.errstate(all="raise", under="ignore"):
        try:
            log = sm.read(text + "\n")
            found = sm.diagnose(log)
            assert found.paragraph
            assert str(found.table())
            assert found.explain()
            found.usual_rates()
        except sm.ScalemathError:
            pass


@settings(max_examples=60, **QUIET)
@given(edits=EDITS)
def test_diagnosis_of_mutations(edits):
    attempt(edits)


@pytest.mark.slow
@settings(max_examples=2000, **QUIET)
@given(edits=EDITS)
def test_diagnosis_of_mutations_in_depth(edits):
    attempt(edits)


@pytest.mark.parametrize(
    "times", [[1e-6] * 8, [1e-5, 1e-4] * 4, [1.0, *[1e-6] * 7], list(np.geomspace(1e-6, 1e3, 8))]
)
def test_calibration_of_absurd_times(times):
    table = {"operation": "allreduce", "ranks": 8, "sizes": sm.Q_(2.0 ** np.arange(8, 16), "byte"),
             "times": sm.Q_(np.array(times), "s")}  # fmt: skip
    found = sm.calibrate(table)
    assert str(found.parameters())
    assert found.time("allreduce", "1 KiB").si("time") > 0
    assert found.explain()
