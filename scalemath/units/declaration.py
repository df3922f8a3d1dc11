"""The grammar in which a public function declares its parameters."""

from __future__ import annotations

import math
from typing import Any

from scalemath.core.model import Parameter
from scalemath.units.values import target


def parse(name: str, text: str) -> Parameter:
    """Parse one declaration of the grammar above.

    Raises
    ------
    ValueError
        If the text is not in the grammar or names a unit that does not exist.
    """
    words = text.split()
    if not words:
        raise ValueError(f"{name}: empty declaration")
    unit, rest = words[0], words[1:]
    found: dict[str, Any] = {"low": 0.0, "high": math.inf, "required": True}
    choices: list[str] = []
    conventions: dict[str, str] = {}
    if unit == "choice":
        while rest and rest[0] not in ("optional", "unless"):
            choices.append(rest.pop(0))
    while rest:
        word = rest.pop(0)
        if word in (">", ">="):
            found["low"], found["low_open"] = float(rest.pop(0)), word == ">"
        elif word in ("<", "<="):
            found["high"], found["high_open"] = float(rest.pop(0)), word == "<"
        elif word == "any":
            found["low"] = -math.inf
        elif word == "optional":
            found["required"] = False
        elif word == "unless":
            found["unless"] = rest.pop(0)
        elif word.endswith(":"):
            conventions[word[:-1]] = rest.pop(0)
        else:
            raise ValueError(f"{name}: cannot read {word!r} in {text!r}")
    if unit == "choice":
        return Parameter(name, "choice", "1", choices=tuple(choices), **found)
    if unit == "count":
        return Parameter(name, "count", "1", **found)
    if unit in ("number", "1"):
        return Parameter(name, "number", "1", conventions=conventions, **found)
    target(unit)
    if unit == "byte/s/dir":
        return Parameter(name, "rate", "byte/s", conventions=conventions, **found)
    if unit == "s" and not conventions:
        conventions = {"latency_kind": "one-way"} if "latency" in name else {}
    return Parameter(name, "quantity", unit, conventions=conventions, **found)
