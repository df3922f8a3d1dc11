"""What the catalogue and ledgers answer to things that are no name, no file or no table."""

import pytest

import scalemath as sm
from scalemath.core.errors import ArgumentError, ReadError


@pytest.mark.parametrize("wrong", [None, 5, ["nvlink5"], {}], ids=str)
def test_names_are_text(wrong):
    gpu = sm.catalog.accelerator("H100 SXM")
    for ask in (
        sm.catalog.link,
        sm.catalog.node,
        sm.catalog.rack,
        sm.catalog.module,
        sm.catalog.cluster,
        sm.catalog.search,
        sm.catalog.fields,
        sm.catalog.sources,
        gpu.peak,
    ):
        with pytest.raises(ArgumentError):
            ask(wrong)


def test_messages_do_not_repeat_long_texts():
    gpu = sm.catalog.accelerator("H100 SXM")
    for ask in (sm.catalog.link, sm.catalog.sources, sm.catalog.fields, gpu.peak):
        with pytest.raises(ArgumentError) as caught:
            ask("x" * 1000)
        assert "x" * 81 not in str(caught.value)
    assert len(str(sm.catalog.search("x" * 1000))) < 120


@pytest.mark.parametrize("read", [sm.catalog.load, sm.ledger], ids=["load", "ledger"])
def test_files_that_cannot_be_read(read, tmp_path):
    other = tmp_path / "other.toml"
    other.write_bytes(b"title = '\xff'")
    for path in (tmp_path / "missing.toml", tmp_path, other):
        with pytest.raises(ReadError):
            read(path)
    with pytest.raises(ArgumentError):
        read(None)


@pytest.mark.parametrize(
    "text",
    [
        "claim = 3",
        "claim = [1, 2]",
        "define = 3\n[[claim]]\nid = 'A'\nsays = 'x'\nneeds = 'y'",
        "[[claim]]\nid = 'A'\nsays = 'x'\nreading = 3",
    ],
    ids=["claim", "claims", "define", "reading"],
)
def test_ledgers_of_another_shape_name_the_line(text, tmp_path):
    path = tmp_path / "odd.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReadError, match="line 1"):
        sm.ledger(path)
