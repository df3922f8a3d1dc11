"""Finding an entry by a name people write: forgiving where it is safe, a list where it is not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from scalemath.core.errors import ArgumentError
from scalemath.records.record import Record


def plain(name: str) -> str:
    """Reduce a name to small letters and digits."""
    return re.sub(r"[^a-z0-9.]+", "", name.lower().replace("gen ", "gen"))


def tokens(name: str) -> list[str]:
    """Split a name into its words, in small letters."""
    return re.findall(r"[a-z0-9.]+", name.lower())


def must_be_text(name: object, what: str) -> None:
    """Refuse a name that is no text.

    Parameters
    ----------
    name : object
        What was given.
    what : str
        What it should name, for the message.
    """
    if not isinstance(name, str):
        raise ArgumentError(f"the {what} is {repr(name)[:80]}; wanted text")


def find(records: Iterable[Record], name: str, family: str) -> Record:
    """Return the one entry a name means.

    Parameters
    ----------
    records : iterable of Record
        Where to look.
    name : str
        Exact name, title or alias in any spelling of case, spaces and hyphens; or enough words
        of it to leave one entry. Words with a number are never completed: "L40" is no "L40S".
    family : str
        What is looked for, for the message.

    Returns
    -------
    Record
        The entry.

    Raises
    ------
    ArgumentError
        If nothing fits, or several do: with a list of near matches.
    """
    every = list(records)
    must_be_text(name, family)
    shown = repr(name)[:80]
    wanted = plain(name)
    exact = [r for r in every if wanted in {plain(n) for n in (r.name, r.title, *r.aliases)}]
    if len(exact) == 1:
        return exact[0]
    fitting = exact or [r for r in every if _fits(name, r)]
    begun = [r for r in fitting if plain(r.name).startswith(wanted)]
    for found in (fitting, begun):
        if len(found) == 1:
            return found[0]
    if fitting:
        raise ArgumentError(
            f"{shown} fits several entries of {family}: {', '.join(r.name for r in fitting)}; "
            "name one of them"
        )
    close = near(every, name)
    listed = (
        f"near it: {', '.join(close)}" if close else f"list them with catalog.table({family!r})"
    )
    raise ArgumentError(f"no {family} is called {shown}; {listed}")


_FORMS = ("sxm", "pcie", "gen")
"""Form factors, whose own number may be left out."""

_SHORTEST = 3
"""Letters of the shortest beginning of a word that is completed."""


def _fits(name: str, record: Record) -> bool:
    """Whether every word of a name is a word of the entry's names, or safely begins one.

    A word with a number names a model and must be whole. A word of letters may begin another
    word of letters, and one with a number where the name gives no number at all.
    """
    version = re.sub(r"(\d)-(\d+)(?=-|$)", r"\1.\2", record.name)  # llama-3-1 is 3.1
    vendor = str(record.facts.get("vendor", ""))
    words = set(tokens(" ".join((version, record.title, *record.aliases, vendor))))
    wanted = tokens(name)
    numbered = any(re.search(r"\d", token) for token in wanted)

    def begins(token: str, word: str) -> bool:
        if len(token) < _SHORTEST or not token.isalpha() or not word.startswith(token):
            return False
        return word.isalpha() or not numbered or token in _FORMS

    return all(t in words or any(begins(t, word) for word in words) for t in wanted)


def near(records: Iterable[Record], name: str, most: int = 5) -> list[str]:
    """Return names of entries that resemble a name, the nearest first."""
    spelled: dict[str, str] = {}
    for record in records:
        for text in (record.name, record.title, *record.aliases):
            spelled.setdefault(plain(text), record.name)
    close = difflib.get_close_matches(plain(name)[:80], spelled, n=3 * most, cutoff=0.5)
    first = tokens(name)[:1]
    shared = [r for key, r in spelled.items() if first and len(first[0]) > 1 and first[0] in key]
    return list(dict.fromkeys([*(spelled[key] for key in close), *shared]))[:most]


def search(records: Iterable[Record], text: str) -> list[Record]:
    """Return every entry in which all words of a text occur, the closest names first."""
    must_be_text(text, "search text")
    wanted = tokens(text)
    found = []
    for record in records:
        words = record.words().lower()
        squeezed = plain(words)
        if all(token in words or token in squeezed for token in wanted):
            likeness = difflib.SequenceMatcher(None, plain(text), plain(record.name)).ratio()
            found.append((-likeness, record.family, record.name, record))
    return [record for *_, record in sorted(found, key=lambda item: item[:3])]
