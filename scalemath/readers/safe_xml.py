"""XML without what makes it dangerous: no document type, no entities, bounded size and depth."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from attrs import define, field

from scalemath.core.errors import ReadError
from scalemath.readers.text import Text

MOST_BYTES = 32 * 2**20
MOST_DEPTH = 64
MOST_ELEMENTS = 200_000
MOST_ATTRIBUTES = 64


@define(eq=False)
class Element:
    """One element: name, attributes, children, and the line it begins on."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(factory=list, repr=False)

    def get(self, name: str, default: str = "") -> str:
        """Attribute or a default."""
        return self.attributes.get(name, default)

    def all(self, name: str) -> list[Element]:
        """Every element of a name below this one, in document order."""
        found, waiting = [], list(reversed(self.children))
        while waiting:
            item = waiting.pop()
            if item.name == name:
                found.append(item)
            waiting.extend(reversed(item.children))
        return found


def parse(text: Text) -> Element:
    """Return the root element of a text.

    Parameters
    ----------
    text : Text
        The document.

    Returns
    -------
    Element
        Root.

    Raises
    ------
    ReadError
        For bad XML, a document type, entities, too much of anything.
    """
    if len(text.content) > MOST_BYTES:
        text.refuse(0, f"expected at most {MOST_BYTES} characters of XML")
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    roots: list[Element] = []
    open_elements: list[Element] = []
    seen = [0]

    def line() -> int:
        return int(parser.CurrentLineNumber)

    def refuse(*_: Any) -> Any:
        text.refuse(line(), "expected XML without a document type or entities")

    def start(name: str, attributes: dict[str, str]) -> None:
        seen[0] += 1
        if seen[0] > MOST_ELEMENTS or len(open_elements) >= MOST_DEPTH:
            text.refuse(
                line(), f"expected at most {MOST_ELEMENTS} elements, {MOST_DEPTH} of them nested"
            )
        if len(attributes) > MOST_ATTRIBUTES:
            text.refuse(line(), f"expected at most {MOST_ATTRIBUTES} attributes")
        element = Element(name, dict(attributes), line())
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def end(_name: str) -> None:
        open_elements.pop()

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.UnparsedEntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.SkippedEntityHandler = refuse
    try:
        content = text.content.lstrip("\ufeff \t\n")
        content = content.encode("utf-8", "replace").decode("utf-8")
        skipped = text.content[: len(text.content) - len(content)].count("\n")
        parser.Parse(content.encode("utf-8"), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise ReadError(
            f"{text.name}, line {error.lineno + skipped}: expected well-formed XML, {reason}"
        ) from None
    return roots[0]
