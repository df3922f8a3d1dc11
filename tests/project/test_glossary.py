"""The glossary against the code: a name means the same, in the same unit, everywhere."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import scalemath as sm

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
SHOWN = {"count": "count", "number": "1", "choice": "name", "quantity": "", "rate": ""}


def glossary() -> dict[str, str]:
    rows = re.findall(r"^\| `(\w+)` \| .* \| ([^|]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a name stands twice in the glossary"
    return dict(rows)


def uses() -> dict[str, dict[str, str]]:
    """Unit of every argument, by argument and public function."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for name in sm.__all__:
        function: Any = getattr(sm, name)
        if not inspect.isfunction(function):
            continue
        for parameter in getattr(function, "parameters", ()):
            found[parameter.name][name] = SHOWN[parameter.kind] or parameter.unit
    return found


def test_an_argument_has_one_unit_everywhere() -> None:
    mixed = {name: where for name, where in uses().items() if len(set(where.values())) > 1}
    assert not mixed


def test_shared_arguments_stand_in_the_glossary_with_their_unit() -> None:
    known = glossary()
    shared = {n: set(w.values()).pop() for n, w in uses().items() if len(w) > 1}
    missing = {name: unit for name, unit in shared.items() if known.get(name) != unit}
    assert not missing, f"give these a line in {PAGE.name}, or another name: {missing}"


def test_terms_of_results_are_words_of_the_glossary() -> None:
    known = glossary()
    result = sm.allreduce(size="2 GiB", ranks=72, bandwidth="900 GB/s/dir", latency="1 us")
    for name in ("time", "algorithm_bandwidth", "bus_bandwidth"):
        assert name in known
        assert sm.Q_(f"1 {known[name]}").dimensionality == getattr(result, name).dimensionality
