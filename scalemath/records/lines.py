"""At which line of a TOML text each key stands; tomllib does not tell."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[A-Za-z0-9_\-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_\-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[A-Za-z0-9_\-]+|"[^"]*"|'[^']*'""")

Path = tuple[str | int, ...]


def key_lines(text: str) -> dict[Path, int]:
    """Return the line of every table and key.

    Parameters
    ----------
    text : str
        Valid TOML.

    Returns
    -------
    dict
        Path of keys (and places in arrays of tables) to line number, counted from 1.
    """
    found: dict[Path, int] = {(): 1}
    places: dict[Path, int] = {}
    table: Path = ()
    open_until = ""
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        rest = line
        if not open_until and depth == 0:
            header, key = _HEADER.match(line), _KEY.match(line)
            if header:
                table = _path(_parts(header[2]), places, header[1] == "[[")
                found.setdefault(table, number)
                continue
            if key:
                found.setdefault((*table, *_parts(key[1])), number)
                rest = line[key.end() :]
        open_until, depth = _after(rest, open_until, depth)
    return found


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _path(parts: tuple[str, ...], places: dict[Path, int], array: bool) -> Path:
    """Path of a header, with the place in each array of tables on the way."""
    path: Path = ()
    for index, part in enumerate(parts):
        path = (*path, part)
        if array and index == len(parts) - 1:
            places[path] = places.get(path, -1) + 1
        if path in places:
            path = (*path, places[path])
    return path


def _after(line: str, open_until: str, depth: int) -> tuple[str, int]:
    """State after a line: the quotes a long string waits for, and the depth of brackets."""
    place = 0
    while place < len(line):
        if open_until:
            end = line.find(open_until, place)
            if end < 0:
                return open_until, depth
            place, open_until = end + 3, ""
            continue
        char = line[place]
        if char == "#":
            break
        if line.startswith(('"""', "'''"), place):
            open_until, place = line[place : place + 3], place + 3
            continue
        if char in "\"'":
            place = _string_end(line, place)
            continue
        depth += (char in "[{") - (char in "]}")
        place += 1
    return open_until, depth


def _string_end(line: str, place: int) -> int:
    """Place after a string on one line."""
    quote = line[place]
    place += 1
    while place < len(line) and line[place] != quote:
        place += 2 if line[place] == "\\" and quote == '"' else 1
    return place + 1
