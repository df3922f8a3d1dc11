"""The ledger of three articles: each claim answered by the library, none by a copied number."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from oracles.tables import facts_folder, rows, shipped_rows

from scalemath.claims import VERDICTS, Ledger, ledger
from scalemath.claims.reading import _function
from scalemath.records.table import Table

HERE = Path(__file__).parent
FILES = {name: HERE / f"article_{name.lower()}.toml" for name in "ABC"}

ARGUED = {
    "A017": "no figure is printed for the fraction of a microsecond",
    "A023": "the formula is lost and no figure is printed",
    "A024": "KiB and kB differ by 2.4 %, which is no rounding of 512",
    "A026": "the formula is lost and no figure is printed",
    "A034": "2 GB is 2.147 GB rounded to one digit, as in A028",
    "A046": "84 % is right to its digits and half a percent off",
    "A047": "the formula is lost and no figure is printed",
    "A052": "a measurement of a paper; no calculation decides it",
    "A053": "a measurement of a paper; no calculation decides it",
    "A055": "twice is 1.97 rounded",
    "A067": "both ends lie inside the range of A066",
    "A087": "0.54 is right to its digits and 0.6 % off",
    "A093": "no step time is stated in which the sync could hide",
    "C043": "the power of one module; no calculation decides it",
}
"""Where the verdict differs from the table of claims, and why."""


@pytest.fixture(scope="module", params=["A", "B", "C"])
def article(request: pytest.FixtureRequest) -> str:
    return str(request.param)


_ledgers: dict[str, Ledger] = {}


def answered(article: str) -> Ledger:
    if article not in _ledgers:
        _ledgers[article] = ledger(FILES[article])
    return _ledgers[article]


def table(article: str) -> dict[str, dict[str, str]]:
    return {row["id"]: row for row in rows("claims.csv") if row["id"].startswith(article)}


def test_every_claim_of_the_article_is_there(article: str) -> None:
    assert {line.id for line in answered(article)} >= set(table(article))


def test_verdicts_are_the_listed_ones_or_argued(article: str) -> None:
    listed = table(article)
    differing = {}
    for line in answered(article):
        assert line.verdict in VERDICTS
        if line.id in listed:
            want = listed[line.id]["verdict"].replace(
                "inconsistent-with-another-claim", "inconsistent"
            )
            if line.verdict != want:
                differing[line.id] = (want, line.verdict)
    unargued = {mark: pair for mark, pair in differing.items() if mark not in ARGUED}
    assert not unargued
    assert {mark for mark in ARGUED if mark in listed} == set(differing)


def test_claims_that_arithmetic_decides_name_the_function_that_answers(article: str) -> None:
    for line in answered(article):
        if line.verdict == "unverifiable":
            assert line.needs, line.id
            continue
        assert line.functions, line.id
        for name in line.functions:
            assert callable(_function(name)), name


def plain(tree: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """Every number and text of a tree with its path."""
    if isinstance(tree, dict):
        return [found for key, value in tree.items() for found in plain(value, (*path, key))]
    if isinstance(tree, list):
        return [found for value in tree for found in plain(value, path)]
    return [(path, str(tree))] if not isinstance(tree, bool) else []


NUMBER = re.compile(r"(?<![A-Za-z\d.])\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?")
UNITS = re.compile(r"RS\(\d+,\d+\)")


def numbers(text: str) -> set[float]:
    return {float(found.replace(",", "")) for found in NUMBER.findall(text)}


ALWAYS = {0.0, 1.0, 2.0}
"""Counts that need no source."""


def stated(row: dict[str, str]) -> set[float]:
    """Numbers of a claim itself, with the powers of ten people write them in."""
    text = " ".join(row[column] for column in ("claim", "inputs", "formula", "printed"))
    text = text.replace("65536", "65536 65,536").replace("k ", "e3 ")
    found = numbers(text) | ALWAYS
    for low, high in re.findall(r"(\d[\d.]*)-(\d[\d.]*)", text):
        found |= {float(low), float(high)}
    found |= {float(f"1e{power}") for power in re.findall(r"10\^(\d+)", text)}
    for suffix, size in (("T", 1e12), ("B", 1e9), ("k", 1e3)):
        found |= {float(x) * size for x in re.findall(rf"(\d[\d.]*) ?{suffix}\b", text)}
        found |= {float(x) * size for x in re.findall(rf"(\d[\d.]*)-\d[\d.]*{suffix}\b", text)}
    return found | {x / 100 for x in found} | {x / 1000 for x in found} | {x * 1000 for x in found}


LEFT_OUT = {"id", "says", "name", "needs", "against", "erratum", "contradicts", "source", "call",
            "take"}  # fmt: skip
"""Keys whose text is prose, or names things."""


def test_the_ledger_holds_no_number_that_is_not_an_input(article: str) -> None:
    tree = tomllib.loads(FILES[article].read_text(encoding="utf-8"))
    every = [*shipped_rows("claims.csv"), *rows("claims.csv")]
    inputs = set().union(*(stated(row) for row in every))
    smuggled = []
    for name, value in tree.get("define", {}).items():
        for path, text in plain(value):
            if path[-1] not in LEFT_OUT and "source" not in value:
                smuggled += [(name, path, x) for x in numbers(text) - inputs]
    for claim in tree["claim"]:
        readings = claim.get("readings", [claim["reading"]] if "reading" in claim else [])
        parts = [(reading, bool(reading.get("source"))) for reading in readings]
        parts.append(({"printed": claim.get("printed", "")}, False))
        for part, sourced in parts:
            for path, text in plain(part):
                if path[-1] in LEFT_OUT or (sourced and path[0] != "printed"):
                    continue
                smuggled += [(claim["id"], path, x) for x in numbers(text) - inputs]
    assert not smuggled


def test_no_ledger_number_is_the_recomputed_one(article: str) -> None:
    listed = table(article)
    tree = tomllib.loads(FILES[article].read_text(encoding="utf-8"))
    for claim in tree["claim"]:
        row = listed.get(claim["id"])
        if row is None:
            continue
        answers = numbers(row["recomputed"]) - stated(row)
        precise = {x for x in answers if len(f"{x:.10g}".replace(".", "").strip("0")) >= 4}
        readings = claim.get("readings", [claim["reading"]] if "reading" in claim else [])
        for reading in readings:
            for path, text in plain(reading):
                if path[-1] not in LEFT_OUT and not reading.get("source"):
                    assert not numbers(text) & precise, (claim["id"], path, text)


ERRATA = {f"E{n:02}" for n in range(1, 49) if n != 35}
"""E35 is about two claims that are right each by itself: see test_errata.py."""


def test_every_erratum_is_caught_by_a_verdict() -> None:
    caught: dict[str, set[str]] = {}
    for name in FILES:
        for line in answered(name):
            if line.erratum:
                caught.setdefault(line.erratum, set()).add(line.verdict)
    assert set(caught) == ERRATA
    for erratum, verdicts in caught.items():
        assert verdicts <= {"wrong", "inconsistent", "convention-dependent"}, erratum


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("A001", ("1800 GB/s/dir", "900 GB/s/dir", "both directions")),
        ("A025", ("142",)),
        ("A027", ("0.00212", "0.30")),
        ("A033", ("10737",)),
        ("A036", ("3.51844",)),
        ("A058", ("1.945", "0.986")),
        ("A083", ("1.97222", "0.246528")),
        ("A084", ("42.3531 ms", "5.29414 ms")),
        ("A100", ("2.5 PB/s", "1.25 PB/s")),
        ("C028", ("288",)),
        ("C035", ("9",)),
        ("C048", ("120 ns", "240 ns")),
    ],
)
def test_computed_figures_are_those_of_the_table(claim: str, words: tuple[str, ...]) -> None:
    line = answered(claim[0])[claim]
    for word in words:
        assert word in line.computed
        assert word in str(line)


def test_counts_add_up_and_the_table_shows_every_claim() -> None:
    for name in FILES:
        found = answered(name)
        assert sum(found.counts().values()) == len(found) == len(found.table())
        assert found.table().columns[-1] == "answered by"
        assert "<table>" in found._repr_html_()


def test_the_table_of_claims_goes_round_and_has_its_counts() -> None:
    """K132: 211 claims, 20 of them wrong, 17 inconsistent with another one."""
    path = facts_folder() / "claims.csv"
    listed = Table.from_csv(path)
    again = list(csv.reader(io.StringIO(listed.to_csv())))
    assert [tuple(line) for line in again] == [listed.columns, *listed.rows]
    verdicts = Counter(listed.column("verdict"))
    assert len(listed) == sum(verdicts.values())
    if len(listed) == 211:
        assert verdicts["wrong"] == 20
        assert verdicts["inconsistent-with-another-claim"] == 17


def test_an_answered_ledger_is_written_as_a_table() -> None:
    found = answered("C").table()
    first = next(csv.DictReader(io.StringIO(found.to_csv())))
    assert first["claim"] == "C001"
    assert first["verdict"] == "ok"
