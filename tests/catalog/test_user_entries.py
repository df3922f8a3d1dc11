"""Entries of the user's own, and mistakes answered with their line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError, ReadError
from scalemath.hardware.link import Link
from scalemath.records.lines import key_lines

GOOD = """
[sources.lab]
title = "our own measurement"
date = "2026-11"
tier = "T2"

[link.lab-link]
title = "Link of our lab"
aliases = ["our link"]
links = { value = 4, source = "lab" }
per_link = { value = "50 GB/s/dir", source = "lab", scope = "link" }
latency = { value = "1.2 us", latency_kind = "one-way", source = "lab", kind = "measured" }
"""


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    sm.catalog.forget()


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_adds_entries_for_the_session(tmp_path: Path) -> None:
    added = sm.catalog.load(written(tmp_path, GOOD))
    assert [record.name for record in added] == ["lab-link"]
    link = sm.catalog.link("our link")
    assert link.bandwidth.m_as("GB/s/dir") == 200
    assert "our own measurement" in str(sm.catalog.sources(link))
    assert "lab-link" in sm.catalog.search("lab").names
    sm.catalog.forget()
    with pytest.raises(ArgumentError):
        sm.catalog.link("our link")


def test_an_entry_may_use_built_in_sources_and_replace_when_asked(tmp_path: Path) -> None:
    text = """
[link.nvlink5]
title = "NVLink 5, derated"
bandwidth = { value = "700 GB/s/dir", scope = "GPU", source = "mle-network" }
"""
    path = written(tmp_path, text)
    with pytest.raises(ArgumentError, match="replace=True"):
        sm.catalog.load(path)
    sm.catalog.load(path, replace=True)
    assert sm.catalog.link("nvlink5").bandwidth.m_as("GB/s/dir") == 700


def test_an_object_is_found_by_its_name() -> None:
    mine = Link(name="my link", bandwidth="123 GB/s/dir")
    sm.catalog.add(mine)
    assert sm.catalog.link("my link") is mine
    with pytest.raises(ArgumentError, match="replace=True"):
        sm.catalog.add(mine)
    with pytest.raises(ArgumentError, match="name"):
        sm.catalog.add(Link(bandwidth="1 GB/s/dir"))
    with pytest.raises(ArgumentError, match="replace=True"):
        sm.catalog.add(Link(name="nvlink5", bandwidth="1 GB/s/dir"))


def test_what_an_entry_may_hold_is_listed() -> None:
    rows = {row["key"]: row for row in sm.catalog.fields("link")}
    assert rows["bandwidth"]["must say"] == "scope"
    assert rows["latency"]["must say"] == "latency_kind"
    assert rows["lane_rate"]["unit"] == "byte/s/dir or transfer/s"
    assert "peak_..." in sm.catalog.fields("accelerator").column("key")
    with pytest.raises(ArgumentError, match="there are"):
        sm.catalog.fields("cupboard")


MISTAKES = [
    ('per_link = { value = "50 GB/s", source = "lab", scope = "link" }', 11, "/dir"),
    ('per_link = { value = "50 GB/dir", source = "lab", scope = "link" }', 11, "byte/s/dir"),
    ('per_link = { value = 50, source = "lab", scope = "link" }', 11, "unit"),
    ('per_link = { value = "50 GB/s/dir", source = "lab" }', 11, "scope"),
    ('per_link = { value = "50 GB/s/dir", source = "lib", scope = "link" }', 11, "unknown source"),
    ('per_link = { value = "50 GB/s/dir", scope = "link" }', 11, "source"),
    ('per_link = { value = "50 GB/s/dir", source = "lab", scope = "desk" }', 11, "desk"),
    ('per_link = { value = "50 GB/s/dir", source = "lab", scoop = "link" }', 11, "scope"),
    ('per_lnk = { value = "50 GB/s/dir", source = "lab", scope = "link" }', 11, "per_link"),
    ('per_link = "50 GB/s/dir"', 11, "value"),
    ('per_link = { value = "50 GBs/dir", source = "lab", scope = "link" }', 11, "GBs"),
    ("per_link = { value = ", 11, "not TOML"),
]


@pytest.mark.parametrize(("line", "number", "word"), MISTAKES)
def test_mistakes_name_their_line(tmp_path: Path, line: str, number: int, word: str) -> None:
    lines = GOOD.splitlines()
    lines[number - 1] = line
    with pytest.raises(ReadError, match=f"line {number}") as error:
        sm.catalog.load(written(tmp_path, "\n".join(lines)))
    assert word in str(error.value)
    assert "mine.toml" in str(error.value)


def test_all_mistakes_come_at_once_in_order(tmp_path: Path) -> None:
    text = GOOD.replace("links =", "linkz =").replace('date = "2026-11"', 'dat = "2026"')
    text += "\n[lnik.x]\ntitle = 'x'\n"
    with pytest.raises(ReadError) as error:
        sm.catalog.load(written(tmp_path, text))
    found = str(error.value).splitlines()
    assert [line.split(":")[0].rpartition(" ")[2] for line in found] == ["2", "4", "10", "14"]
    assert "links" in found[2]
    assert "link" in found[3]


def test_alternatives_say_beside_what_they_stand_and_why(tmp_path: Path) -> None:
    other = """
[[link.lab-link.alternative]]
key = "per_link"
value = "40 GB/s/dir"
scope = "link"
source = "lab"
"""
    with pytest.raises(ReadError, match=r"line 14.*why"):
        sm.catalog.load(written(tmp_path, GOOD + other))
    with pytest.raises(ReadError, match="stands beside"):
        sm.catalog.load(written(tmp_path, GOOD + other.replace("per_link", "usable")))
    sm.catalog.load(written(tmp_path, GOOD + other + 'why = "older firmware"\n'))
    assert "older firmware" in str(sm.catalog.sources("lab-link"))


def test_lines_of_keys_survive_long_strings_and_arrays() -> None:
    text = '''a = """
[not.a.table]
b = 1
"""
[one.two]
list = [
  1,  # ] =
  2,
]
"quoted key" = 'x = [' # [
x.y = 3

[[one.many]]
k = 1
[[one.many]]
k = { a = 1, b = [2] }
[one.many.deep]
z = 1
'''
    lines = key_lines(text)
    assert lines["a",] == 1
    assert ("b",) not in lines
    assert lines["one", "two"] == 5
    assert lines["one", "two", "list"] == 6
    assert lines["one", "two", "quoted key"] == 10
    assert lines["one", "two", "x", "y"] == 11
    assert lines["one", "many", 0, "k"] == 14
    assert lines["one", "many", 1, "k"] == 16
    assert lines["one", "many", 1, "deep", "z"] == 18
