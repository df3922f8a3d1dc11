"""Kinds are found out; what is no path and no text with a line end is refused."""

from pathlib import Path

import pytest
from helpers.reader_fixtures import FIXTURES

import scalemath as sm
from scalemath.readers.detect import KINDS, kind_of
from scalemath.readers.text import text_of


@pytest.mark.parametrize("kind", FIXTURES)
def test_kind_is_found_out(kind):
    assert kind_of(text_of(FIXTURES[kind])) == kind


def test_every_kind_has_a_fixture_and_a_named_reader():
    assert set(FIXTURES) == set(KINDS)
    for kind, content in FIXTURES.items():
        assert type(getattr(sm.read, kind)(content)) is type(sm.read(content))
    assert set(KINDS) <= set(dir(sm.read))


@pytest.mark.parametrize("given", ["log.txt", "", 3, None, b"a\nb", ["a\n"]])
def test_only_paths_and_text_with_a_line_end(given):
    with pytest.raises(sm.ScalemathError, match=r"pathlib.Path or text"):
        sm.read(given)


def test_unknown_text_lists_what_is_read():
    with pytest.raises(sm.ReadError, match=r"text, line 1: expected .*nccl-tests"):
        sm.read("hello\nworld\n")


def test_files(tmp_path: Path):
    path = tmp_path / "topo.txt"
    path.write_text(FIXTURES["nvidia_topology"].replace("\n", "\r\n"), newline="")
    assert len(sm.read(path).gpus) == 4
    with pytest.raises(sm.ReadError, match="cannot be opened"):
        sm.read(tmp_path / "missing")
    with pytest.raises(sm.ReadError, match="cannot be opened"):
        sm.read(tmp_path)
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 8)
    with pytest.raises(sm.ReadError, match="binary"):
        sm.read(tmp_path / "binary")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(sm.ReadError, match="found nothing"):
        sm.read(tmp_path / "empty")
    (tmp_path / "wide").write_text(FIXTURES["nvlink"], encoding="utf-16")
    assert sm.read(tmp_path / "wide").active() == {0: 2, 1: 3}


def test_unknown_reader_is_named():
    with pytest.raises(AttributeError, match="there are"):
        _ = sm.read.nccl_test
