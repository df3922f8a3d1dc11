"""Every work that a docstring cites stands in the bibliography, once."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "bibliography.rst"


def test_cited_works_are_listed_once() -> None:
    listed = re.findall(r"^\.\. \[(\w+)\] ", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed))
    files = [*(ROOT / "scalemath").rglob("*.py"), *(ROOT / "docs").glob("*.md")]
    cited = {
        key for path in files for key in re.findall(r"\[([A-Z]\w+)\]_", path.read_text("utf-8"))
    }
    assert cited <= set(listed)
