"""Finding entries, showing them, and saying where each number is from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from scalemath.catalog.session import FAMILY_OF
from scalemath.catalog.session import library as _library
from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError
from scalemath.records.library import overview, sources_of
from scalemath.records.record import Record
from scalemath.records.schema import FAMILIES
from scalemath.records.table import Table


@frozen
class Found:
    """Entries that answer a search.

    Attributes
    ----------
    text : str
        What was searched for.
    records : tuple of Record
        The entries, the closest names first.
    """

    text: str
    records: tuple[Record, ...]

    @property
    def names(self) -> list[str]:
        """Names of the entries."""
        return [record.name for record in self.records]

    def table(self) -> Table:
        """Return the entries as a table."""
        return overview(self.records, f"entries with {repr(self.text)[:80]}")

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, place: int) -> Record:
        return self.records[place]

    def __str__(self) -> str:
        return str(self.table()) if self.records else f"nothing found for {repr(self.text)[:80]}"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def families() -> dict[str, str]:
    """Return the families of entries with their titles.

    Returns
    -------
    dict of str to str
        Family to title.
    """
    return {name: family.title for name, family in FAMILIES.items()}


def fields(family: str) -> Table:
    """Return what an entry of a family may hold, for writing entries of your own.

    Parameters
    ----------
    family : str
        "link", "accelerator", "switch" ...; `families` lists them.

    Returns
    -------
    Table
        Key, unit, whether it is required, and the conventions each value must state.
    """
    if family not in tuple(FAMILIES):
        raise ArgumentError(f"no family {repr(family)[:80]}; there are {', '.join(FAMILIES)}")
    schema = FAMILIES[family]
    known = {**schema.fields, **{f"{p}...": f for p, f in schema.prefixes.items()}}
    rows = [
        (
            key,
            f"{field.unit} or {field.also}" if field.also else field.unit,
            "required" if field.required else "",
            ", ".join(field.said),
        )
        for key, field in known.items()
    ]
    rows += [(key, "word, number or list", "", "") for key in schema.facts]
    columns = ("key", "unit", "", "must say")
    return Table(title=f"{schema.title}: what an entry may hold", columns=columns, rows=tuple(rows))


def record(family: str, name: str) -> Record:
    """Return the record behind an entry: its data with sources and alternatives.

    Parameters
    ----------
    family : str
        "link", "accelerator", "switch" ...
    name : str
        Name, title or alias, in any spelling of case, spaces and hyphens.

    Returns
    -------
    Record
        The entry.
    """
    return _library.find(family, name)


def search(text: str, family: str = "") -> Found:
    """Return every entry in which all words of a text occur.

    Parameters
    ----------
    text : str
        Words to look for.
    family : str
        Family to look in; all of them when left out.

    Returns
    -------
    Found
        The entries, with `table()`.
    """
    return Found(text, tuple(_library.search(text, family)))


def table(family: str = "") -> Table:
    """Return all entries of a family as a table, or all entries of all of them.

    Parameters
    ----------
    family : str
        "link", "accelerator", "switch" ...; `families` lists them.

    Returns
    -------
    Table
        One row for each entry; "~" marks an estimate.
    """
    if not family:
        return overview(_library.everything(), "The catalogue")
    return overview(_library.family(family), families().get(family, family))


def sources(entry: Any) -> Table:
    """Return where each number of an entry is from.

    Parameters
    ----------
    entry : str, Record, or an object of the catalogue
        What to look up; the name of a family gives all of its entries.

    Returns
    -------
    Table
        Value, text as printed, kind, source and tier; values not chosen say why.
    """
    if isinstance(entry, Record):
        return entry.sources()
    if isinstance(entry, str) and entry in FAMILIES:
        return sources_of(_library.family(entry), f"{FAMILIES[entry].title}: sources")
    if isinstance(entry, Datum):
        return Record(family="", name="", title=str(entry), data={"value": entry}).sources()
    name = entry if isinstance(entry, str) else getattr(entry, "name", "")
    family = FAMILY_OF.get(type(entry).__name__, "")
    if not isinstance(entry, str) and not family and not name:
        raise ArgumentError(
            f"{repr(entry)[:80]} is no entry; give its name, as in catalog.sources('ConnectX-7'), "
            "or an object of the catalogue"
        )
    if not name:
        raise ArgumentError(
            f"a {type(entry).__name__} does not keep the name of its entry; give the name, as in "
            "catalog.sources('ConnectX-7')"
        )
    if not family:
        fitting = [r for r in _library.everything() if r.name == name]
        if len(fitting) != 1:
            found = _library.search(name)
            if len(found) != 1 and not fitting:
                listed = ", ".join(f"{r.family} {r.name}" for r in found[:6]) or "nothing"
                raise ArgumentError(f"{repr(name)[:80]} is no entry; found {listed}")
            fitting = fitting or found
        return fitting[0].sources()
    return record(family, name).sources()
