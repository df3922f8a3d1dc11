"""Entries of the user's own, for this session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scalemath.catalog.session import FAMILY_OF
from scalemath.catalog.session import library as _library
from scalemath.catalog.session import objects as _objects
from scalemath.core.errors import ArgumentError
from scalemath.records.record import Record


def load(path: str | Path, *, replace: bool = False) -> list[Record]:
    """Add the entries of a TOML file for this session.

    Parameters
    ----------
    path : str or Path
        File with tables such as ``[link.my-link]``; its values may name built-in sources.
    replace : bool
        Whether its entries may take the place of others with the same name.

    Returns
    -------
    list of Record
        What was added.

    Raises
    ------
    ReadError
        Naming file and line of every mistake and what was expected.
    """
    return _library.load(path, replace=replace)


def add(entry: Any, *, replace: bool = False) -> None:
    """Add an object of your own for this session; it is found by its name.

    Parameters
    ----------
    entry : Record, Link, Accelerator, Nic, Switch, Transceiver, Node, Rack or Transformer
        What to add.
    replace : bool
        Whether it may take the place of an entry with the same name.
    """
    if isinstance(entry, Record):
        _library.add([entry], replace=replace)
        return
    family = FAMILY_OF.get(type(entry).__name__)
    name = getattr(entry, "name", "")
    if family is None or not name:
        raise ArgumentError(
            f"{repr(entry)[:80]} cannot be added; wanted a named link, accelerator, node ..."
        )
    taken = {r.name for r in _library.family(family)} | {n for f, n in _objects if f == family}
    if name in taken and not replace:
        raise ArgumentError(f"there is a {family} {name!r} already; say replace=True")
    _objects[family, name] = entry


def forget() -> None:
    """Drop every entry that was added in this session."""
    _library.forget()
    _objects.clear()
