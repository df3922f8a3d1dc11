"""Where oracle tables come from: a folder named by SCALEMATH_FACTS, else tests/oracles/data."""

from __future__ import annotations

import csv
import os
from pathlib import Path

DATA = Path(__file__).parent / "data"


def facts_folder() -> Path:
    """Folder the tables are read from."""
    named = os.environ.get("SCALEMATH_FACTS")
    return Path(named) if named else DATA


def rows(name: str) -> list[dict[str, str]]:
    """Rows of one table as dictionaries of text."""
    with (facts_folder() / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def shipped_rows(name: str) -> list[dict[str, str]]:
    """Rows of the whole table that is kept beside the tests, whatever folder is named."""
    with (DATA / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def has(name: str) -> bool:
    """Whether the table is there (tables under a share-alike licence are not shipped)."""
    return (facts_folder() / name).exists()
