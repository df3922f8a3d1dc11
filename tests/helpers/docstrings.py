"""Reads the sections of a numpydoc docstring, as far as the contract tests need them."""

from __future__ import annotations

import inspect
import re
from typing import Any


def sections(thing: Any) -> dict[str, list[str]]:
    """Lines below each underlined heading."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for position, line in enumerate(lines):
        below = lines[position + 1] if position + 1 < len(lines) else ""
        if line.strip() and re.fullmatch(r"-{3,}", below):
            current = found[line.strip()] = []
        elif not re.fullmatch(r"-{3,}", line):
            current.append(line)
    return found


def parameters(thing: Any) -> dict[str, str]:
    """Text of every documented parameter, its type line included, in order."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in sections(thing).get("Parameters", []):
        if line and not line.startswith(" "):
            names = [n.strip().lstrip("*") for n in line.partition(" :")[0].split(",")]
            found.update(dict.fromkeys(names, line.partition(" :")[2].strip()))
        elif line.strip():
            for name in names:
                found[name] = f"{found[name]} {line.strip()}"
    return found


def units(text: str) -> list[str]:
    """What stands in square brackets, ends of links excluded."""
    return re.findall(r"(?<!\w)\[([^\]]+)\](?!_)", text)
