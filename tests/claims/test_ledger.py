"""Ledger files: what follows from readings, and mistakes answered with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalemath.claims import ledger
from scalemath.core.errors import ArgumentError, ReadError

RING = 'call = "allreduce", take = "time"'
WITH = 'with = { size = "2147483648 byte", ranks = 72, bandwidth = "%s" }'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "claims.toml"
    path.write_text(text, encoding="utf-8")
    return path


def claim(*readings: str, printed: str = "4.71 ms", more: str = "") -> str:
    return (
        f'[[claim]]\nid = "X1"\nsays = "a ring"\nprinted = "{printed}"\n{more}\n'
        f"readings = [ {', '.join('{ ' + r + ' }' for r in readings)} ]\n"
    )


FAST = f"{RING}, {WITH % '900 GB/s/dir'}"
SLOW = f"{RING}, {WITH % '100 GB/s/dir'}"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (claim(FAST), "ok"),
        (claim(FAST, printed="4.7 ms"), "ok"),
        (claim(FAST, printed="5 ms"), "rounding"),
        (claim(SLOW), "wrong"),
        (claim(FAST, SLOW), "convention-dependent"),
        (claim(SLOW, FAST + ', contradicts = "X0"'), "inconsistent"),
        (claim(SLOW, more='against = "X0"'), "inconsistent"),
        (claim(f"{RING}, {WITH % '900 GB'}"), "wrong"),
    ],
)
def test_verdicts_follow_from_the_readings(tmp_path: Path, text: str, verdict: str) -> None:
    found = ledger(written(tmp_path, text))
    assert found["X1"].verdict == verdict
    assert found["X1"].functions == ("allreduce",)
    assert "X1" in str(found)


def test_without_a_reading_a_claim_says_what_it_needs(tmp_path: Path) -> None:
    bare = '[[claim]]\nid = "X1"\nsays = "a latency"\nprinted = "1 us"\nneeds = "a measurement"\n'
    line = ledger(written(tmp_path, bare))["X1"]
    assert line.verdict == "unverifiable"
    assert line.computed == "a measurement"
    with pytest.raises(ArgumentError, match="X2"):
        ledger(written(tmp_path, bare))["X2"]


def test_named_values_and_ranges(tmp_path: Path) -> None:
    text = '[define]\nrate = "100 GB/s/dir"\n' + claim(
        'call = "claims.derate", take = "bandwidth", with = { rate = "$rate", '
        'steps = { protocol = [{ low = 0.6, high = 0.9 }, "a test"] } }'
    ).replace('"4.71 ms"', '["60 GB/s/dir", "90 GB/s/dir"]')
    line = ledger(written(tmp_path, text))["X1"]
    assert line.verdict == "ok"
    assert line.computed == "60 GB/s/dir to 90 GB/s/dir"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (claim(FAST).replace("says", "sayz"), r"line 1.*says"),
        (claim(FAST).replace("take", "tike"), "a reading has"),
        (claim(FAST).replace("allreduce", "allreduse"), "allreduse"),
        (claim(FAST).replace("ranks", "rank"), "rank"),
        ('[[claim]]\nid = "X1"\nsays = "x"\n', "needs a reading"),
        (claim(FAST).replace("900 GB/s/dir", "$rate"), "not defined"),
        ("[[claim", "not TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ReadError, match=message):
        ledger(path)
