"""Text to be read: where it is from, its lines, and the limits that keep reading safe."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NoReturn

from attrs import field, frozen

from scalemath.core.errors import ArgumentError, ReadError

MOST_BYTES = 256 * 2**20
"""Files above this are refused [byte]."""
MOST_LINE = 4096
"""Longer lines are no row of any tool; only their beginning is looked at [characters]."""
_SAMPLE = 65536
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]?)")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


@frozen(eq=False)
class Text:
    """Content of a file, cut into lines.

    Attributes
    ----------
    name : str
        File name, or "text".
    content : str
        Everything, without escape sequences and with plain line ends.
    lines : list of str
        The lines, each cut after `MOST_LINE` characters.
    """

    name: str
    content: str = field(repr=False)
    lines: list[str] = field(repr=False)

    def refuse(self, line: int, wanted: str) -> NoReturn:
        """Raise a `ReadError` for a line, counted from 1; 0 means the whole file."""
        where = f"{self.name}, line {line}" if line else self.name
        raise ReadError(f"{where}: {wanted}")

    def number(self, line: int, given: str, what: str) -> float:
        """Return a finite number from a token, or refuse the line."""
        try:
            value = float(given)
        except ValueError:
            value = float("nan")
        if not abs(value) < float("inf"):
            self.refuse(line, f"expected a number as {what}, found {given[:40]!r}")
        return value

    def count(self, line: int, given: Any, what: str, most: int = 10**9) -> int:
        """Return a whole number of at most `most`, or refuse the line."""
        text = str(given)
        if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) <= most):
            self.refuse(
                line, f"expected a whole number up to {most} as {what}, found {text[:40]!r}"
            )
        return int(text)


def text_of(source: Any) -> Text:
    """Return the text of a path, or of a string that holds a line end.

    Parameters
    ----------
    source : pathlib.Path or str
        A path, or the text itself with at least one line end.

    Returns
    -------
    Text
        Name and lines.

    Raises
    ------
    ArgumentError
        For anything else, a name of a file in a plain string included.
    ReadError
        When the file cannot be opened, is too large, empty or binary.
    """
    if isinstance(source, Text):
        return source
    if isinstance(source, Path):
        return _made(source.name, _content(source))
    if isinstance(source, str) and "\n" in source:
        if len(source) > MOST_BYTES:
            raise ReadError(f"text: expected at most {MOST_BYTES} characters, found {len(source)}")
        return _made("text", source)
    shown = repr(source)[:60]
    raise ArgumentError(
        f"read takes a pathlib.Path or text with a line end, not {shown}; write "
        'read(Path("log.txt")) for a file'
    )


def _content(path: Path) -> str:
    """Decode a file."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ReadError(f"{path.name}: expected at most {MOST_BYTES} bytes, found {size}")
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ReadError(f"{path.name}: cannot be opened ({reason})") from None
    if len(data) > MOST_BYTES:
        raise ReadError(f"{path.name}: expected at most {MOST_BYTES} bytes")
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    return data.decode(encoding, errors="replace")


def _made(name: str, content: str) -> Text:
    """Clean the content and cut it into lines."""
    head = content[:_SAMPLE]
    if not head.strip():
        raise ReadError(f"{name}, line 1: expected the output of a tool, found nothing")
    strange = len(_CONTROL.findall(head)) + head.count("\ufffd")
    if "\x00" in head or strange > max(3, len(head) // 20):
        raise ReadError(f"{name}, line 1: expected text, found binary data")
    if "\x1b" in content:
        content = _ESCAPES.sub("", content)
    if "\r" in content:
        content = content.replace("\r\n", "\n").replace("\r", "\n")
    lines = content.split("\n")
    if len(content) > MOST_LINE and max(map(len, lines)) > MOST_LINE:
        lines = [line[:MOST_LINE] for line in lines]
    return Text(name, content, lines)
