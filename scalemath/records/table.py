"""A small table of text that shows itself in a terminal, a notebook and a document."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class Table:
    """Rows of text under headings.

    Attributes
    ----------
    title : str
        What the table shows.
    columns : tuple of str
        Headings.
    rows : tuple of tuple of str
        Cells, as many per row as there are headings.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, str]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def column(self, name: str) -> tuple[str, ...]:
        """Return the cells under one heading."""
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        text = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in lines]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([self.title, *(line.rstrip() for line in (text[0], rule, *text[1:]))])

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.columns, tuple("---" for _ in self.columns), *self.rows]
        cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
        return "\n".join("| " + " | ".join(line) + " |" for line in cells)

    def to_csv(self) -> str:
        """Return the table as comma-separated text with a line of headings."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()

    @classmethod
    def from_csv(cls, path: str | Path) -> Table:
        """Return the table of a comma-separated file whose first line holds the headings.

        Parameters
        ----------
        path : str or Path
            File to read.

        Returns
        -------
        Table
            Its cells as text.
        """
        with Path(path).open(newline="", encoding="utf-8") as stream:
            lines = [tuple(line) for line in csv.reader(stream)]
        return cls(title=Path(path).name, columns=lines[0], rows=tuple(lines[1:]))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>"
            for row in self.rows
        )
        return (
            f"<table><caption>{html.escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
