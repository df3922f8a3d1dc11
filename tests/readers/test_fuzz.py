"""Whatever is thrown at a reader, only a ReadError comes out, and soon."""

import os
import time

import numpy as np
import pytest
from helpers.reader_fixtures import (
    FIXTURES,
    IBSTATUS,
    NCCOM,
    NETDEV,
    OSU_ALLGATHER,
    PERFTEST_LATENCY,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import scalemath as sm

ALL = {
    **FIXTURES,
    "nccom": NCCOM,
    "latency": PERFTEST_LATENCY,
    "osu all-gather": OSU_ALLGATHER,
    "ibstatus": IBSTATUS,
    "ibdev2netdev": NETDEV,
}
KINDS = sorted(FIXTURES)
FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(
    max_examples=int(os.environ.get("SCALEMATH_FUZZ_EXAMPLES", "2000")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
BITS = st.sampled_from(
    ["\x00", "\n", "\t", " ", "-1", "9" * 400, "1e999", "nan", "N/A", "<", ">", "&amp;", "\ufeff",
     "<!DOCTYPE a>", "GPU0 GPU1", "]", "[", "{", "\u0661", "\ud7ff", "\x1b[", "float", ":", "inf",
     "1e308", '"', "'", "x" * 5000, "\r", "0", "-0", "#", "%s", "Link 0: 9999999 GB/s"]
)  # fmt: skip
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.one_of(BITS, st.text(max_size=8))),
    min_size=1,
    max_size=6,
)


def attempt(read, text):
    """Read and show; a ReadError is the only way to fail."""
    with np.errstate(all="raise", under="ignore"):
        try:
            found = read(text)
        except sm.ReadError:
            return
    assert str(found)
    assert found.explain() if hasattr(found, "explain") else True


def mutated(text, edits):
    for place, length, piece in edits:
        start = int(place * len(text))
        text = text[:start] + piece + text[start + length :]
    return text + "\n"


@pytest.mark.parametrize("name", sorted(ALL))
@FEW
@given(edits=EDITS)
def test_mutations(name, edits):
    attempt(sm.read, mutated(ALL[name], edits))


@pytest.mark.parametrize("name", sorted(ALL))
def test_truncations(name):
    text = ALL[name]
    for end in range(1, len(text), max(1, len(text) // 25)):
        attempt(sm.read, text[:end] + "\n")


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_kinds(kind):
    for text in ALL.values():
        attempt(getattr(sm.read, kind), text)


@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(text=st.text(max_size=300))
def test_junk(kind, text):
    attempt(getattr(sm.read, kind), text + "\n")


@FEW
@given(data=st.binary(max_size=500))
def test_binary_files(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(data)
    attempt(sm.read, path)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ALL))
@MANY
@given(edits=EDITS)
def test_mutations_in_depth(name, edits):
    attempt(sm.read, mutated(ALL[name], edits))


LONG = {
    "digits": "8 2 float " + "1" * 300_000,
    "spaces": "8" + " " * 300_000 + "2 float sum 1 2 3",
    "numbers": "1 " * 200_000,
    "words": "rank " * 60_000,
    "colons": "a:" * 150_000,
    "devices": "GPU0 " * 60_000,
    "open elements": "<system>" + "<pci>" * 60_000,
    "brackets": '{"model_type":' + "[" * 200_000,
    "escapes": "\x1b[" * 150_000,
    "carriage returns": "\r" * 300_000,
    "rank lines": "#  Rank  0 Group  0 Pid     1 on a device  0 [0x00] \n" * 6_000,
    "dashes": "-" * 300_000,
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("before", [True, False])
def test_long_lines_do_not_hang(name, before):
    text = LONG[name] + "\n" if before else FIXTURES["nccl_tests"] + LONG[name] + "\n"
    began = time.process_time()
    attempt(sm.read, text)
    assert time.process_time() - began < 5
