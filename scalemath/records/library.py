"""The entries that come with the library, read family by family when first asked for."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from scalemath.core.errors import ArgumentError
from scalemath.records import names
from scalemath.records.loader import Source, read_records
from scalemath.records.reading import text_of
from scalemath.records.record import Record
from scalemath.records.schema import FAMILIES
from scalemath.records.table import Table

FILES: dict[str, tuple[str, ...]] = {
    "link": ("nvlink", "pcie", "infiniband", "ethernet", "scale_up_links"),
    "accelerator": tuple(
        f"accelerators_{vendor}" for vendor in ("nvidia", "amd", "google", "aws", "intel", "huawei")
    ),
    "nic": ("nics",),
    "switch": ("switches",),
    "module": ("modules",),
    "cable": ("cables",),
    "serdes": ("serdes",),
    "code": ("codes",),
    "node": ("nodes",),
    "rack": ("racks",),
    "latency": ("latencies",),
    "measurement": ("measurements",),
    "model": ("models",),
}
"""Data files of each family, without their ending."""


class Library:
    """The built-in entries and those a user adds on top of them."""

    def __init__(self) -> None:
        self._added: dict[tuple[str, str], Record] = {}
        self._sources: dict[str, Source] = {}

    def family(self, family: str) -> tuple[Record, ...]:
        """Return all entries of a family, added ones first.

        Parameters
        ----------
        family : str
            "link", "accelerator", "switch" ...

        Returns
        -------
        tuple of Record
            The entries.
        """
        if family not in tuple(FAMILIES):
            raise ArgumentError(f"no family {repr(family)[:80]}; there are {', '.join(FAMILIES)}")
        added = [r for (of, _), r in self._added.items() if of == family]
        taken = {record.name for record in added}
        return (*added, *(r for r in builtin(family) if r.name not in taken))

    def everything(self) -> tuple[Record, ...]:
        """Return all entries of all families."""
        return tuple(record for family in FAMILIES for record in self.family(family))

    def find(self, family: str, name: str) -> Record:
        """Return the one entry a name means; near matches are listed when none fits.

        Parameters
        ----------
        family : str
            Family to look in.
        name : str
            Name, title or alias, in any spelling of case, spaces and hyphens.

        Returns
        -------
        Record
            The entry.
        """
        return names.find(self.family(family), name, family)

    def search(self, text: str, family: str = "") -> list[Record]:
        """Return entries in which all words of a text occur.

        Parameters
        ----------
        text : str
            Words to look for.
        family : str
            Family to look in; all of them when left out.

        Returns
        -------
        list of Record
            The closest names first.
        """
        return names.search(self.family(family) if family else self.everything(), text)

    def add(self, records: Iterable[Record], *, replace: bool = False) -> None:
        """Add entries of the user's own.

        Parameters
        ----------
        records : iterable of Record
            Entries to add.
        replace : bool
            Whether an entry may take the place of one with the same name.
        """
        new = list(records)
        for record in new:
            there = {r.name for r in self.family(record.family)}
            if record.name in there and not replace:
                raise ArgumentError(
                    f"there is a {record.family} {record.name!r} already; "
                    "choose another name or say replace=True"
                )
        self._added.update({(record.family, record.name): record for record in new})

    def load(self, path: str | Path, *, replace: bool = False) -> list[Record]:
        """Add the entries of a TOML file.

        Parameters
        ----------
        path : str or Path
            File with ``[FAMILY.NAME]`` tables; its values may name built-in sources.
        replace : bool
            Whether its entries may take the place of others with the same name.

        Returns
        -------
        list of Record
            What was added.

        Raises
        ------
        ReadError
            Naming file and line of every mistake.
        """
        text = text_of(path)
        known = {**builtin_sources(), **self._sources}
        records, sources = read_records(text, str(path), known)
        self.add(records, replace=replace)
        self._sources.update(sources)
        return records

    def forget(self) -> None:
        """Drop everything that was added."""
        self._added.clear()
        self._sources.clear()


def _text(name: str) -> str:
    return (files("scalemath.records") / "data" / f"{name}.toml").read_text(encoding="utf-8")


@functools.cache
def builtin_sources() -> Mapping[str, Source]:
    """Return the sources of the built-in entries by short name."""
    return read_records(_text("sources"), "sources.toml")[1]


@functools.cache
def builtin(family: str) -> tuple[Record, ...]:
    """Return the built-in entries of a family.

    Parameters
    ----------
    family : str
        "link", "accelerator", "switch" ...

    Returns
    -------
    tuple of Record
        In the order of the files.
    """
    found: list[Record] = []
    for name in FILES[family]:
        found += read_records(_text(name), f"{name}.toml", builtin_sources())[0]
    return tuple(found)


def overview(records: Iterable[Record], title: str) -> Table:
    """Return a table of entries with their values.

    Parameters
    ----------
    records : iterable of Record
        Entries of one family, or of several.
    title : str
        Heading.

    Returns
    -------
    Table
        One row for each entry, one column for each kind of value any of them has.
    """
    listed = list(records)
    several = len({record.family for record in listed}) > 1
    if several:
        rows: tuple[tuple[str, ...], ...] = tuple(
            (r.family, r.name, r.title, "; ".join(f"{k} {d}" for k, d in list(r.data.items())[:3]))
            for r in listed
        )
        return Table(title=title, columns=("family", "name", "title", "values"), rows=rows)
    keys = list(dict.fromkeys(key for record in listed for key in record.data))
    rows = tuple((r.name, r.status, *(_cell(r, key) for key in keys)) for r in listed)
    return Table(title=title, columns=("name", "status", *keys), rows=rows)


def sources_of(records: Iterable[Record], title: str) -> Table:
    """Return where each number of several entries is from.

    Parameters
    ----------
    records : iterable of Record
        The entries.
    title : str
        Heading.

    Returns
    -------
    Table
        As `Record.sources`, with the entry in front.
    """
    tables = [(record.name, record.sources()) for record in records]
    columns = ("entry", *tables[0][1].columns) if tables else ("entry",)
    rows = tuple((name, *row) for name, table in tables for row in table.rows)
    return Table(title=title, columns=columns, rows=rows)


def _cell(record: Record, key: str) -> str:
    datum = record.data.get(key)
    if datum is None:
        return ""
    mark = "~" if datum.kind == "estimate" else ""
    return f"{mark}{datum.quantity:.6g~P}" if datum.unit != "1" else f"{mark}{datum.value:.6g}"
