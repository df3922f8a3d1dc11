"""One entry of the catalogue: values with sources, and what conflicting sources say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError
from scalemath.records.table import Table


@frozen(kw_only=True)
class Record:
    """A named table of data.

    Attributes
    ----------
    family : str
        "link", "accelerator", "switch" ...
    name : str
        Unique name inside its family, such as "h100-sxm5-80gb".
    title : str
        Name for people.
    aliases : tuple of str
        Other names by which it is found.
    data : mapping of str to Datum
        The values.
    alternatives : mapping of str to tuple of Datum
        What other sources say of a value; each says why it was not chosen.
    facts : mapping of str to object
        Words and plain numbers: vendor, technology, names of other entries, layers of a model.
    file, line : str, int
        Where the entry is written.
    """

    family: str
    name: str
    title: str
    aliases: tuple[str, ...] = ()
    data: Mapping[str, Datum] = field(factory=dict)
    alternatives: Mapping[str, tuple[Datum, ...]] = field(factory=dict)
    facts: Mapping[str, Any] = field(factory=dict)
    file: str = ""
    line: int = 0

    @property
    def status(self) -> str:
        """Return "shipped" or "roadmap"."""
        return str(self.facts.get("status", "shipped"))

    def __getitem__(self, key: str) -> Datum:
        found = self.data.get(key)
        if found is None:
            raise ArgumentError(
                f"{self.family} {self.name} has no value {key!r}; there are {', '.join(self.data)}"
            )
        return found

    def get(self, key: str) -> Datum | None:
        """Return a value, or None where it is not known."""
        return self.data.get(key)

    def words(self) -> str:
        """Everything a search looks at."""
        facts = (str(v) for v in self.facts.values() if isinstance(v, str))
        return " ".join([self.family, self.name, self.title, *self.aliases, *facts])

    def sources(self) -> Table:
        """Return where each number is from, the ones not chosen included."""
        rows = []
        for key, datum in self.data.items():
            rows.append(_row(key, datum))
            rows += [_row(f"{key} (not chosen)", other) for other in self.alternatives.get(key, ())]
        columns = ("value of", "value", "as printed", "kind", "source", "tier", "note")
        return Table(title=f"{self.title}: sources", columns=columns, rows=tuple(rows))

    def __str__(self) -> str:
        shown = ", ".join(f"{key} {datum}" for key, datum in self.data.items())
        flag = " [roadmap]" if self.status == "roadmap" else ""
        return f"{self.title}{flag}: {shown}"

    def _repr_html_(self) -> str:
        return self.sources()._repr_html_()


def _row(key: str, datum: Datum) -> tuple[str, ...]:
    return (
        key,
        str(datum),
        datum.as_printed,
        datum.kind,
        datum.cite(),
        datum.tier,
        datum.note,
    )
