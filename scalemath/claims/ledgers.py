"""A file of claims, each answered by calls of the library."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from scalemath.claims.reading import Outcome, Reading, outcome
from scalemath.core.errors import ArgumentError, ReadError
from scalemath.records.lines import key_lines
from scalemath.records.reading import text_of
from scalemath.records.table import Table

_CLAIM_KEYS = {"id", "says", "printed", "reading", "readings", "needs", "against", "erratum"}
_READING_KEYS = {"name", "call", "take", "with", "contradicts", "as", "source"}


@frozen(kw_only=True)
class LedgerLine:
    """One claim with its verdict.

    Attributes
    ----------
    id, says : str
        Mark and content of the claim, in the ledger's words.
    printed : tuple of str
        Figure as printed, or both ends of a range.
    outcomes : tuple of Outcome
        What each reading came to.
    needs : str
        What would be needed to verify a claim that no calculation decides.
    against : tuple of str
        Claims elsewhere that the figure is set against.
    erratum : str
        Mark of the erratum it stands for.
    """

    id: str
    says: str
    printed: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    needs: str = ""
    against: tuple[str, ...] = ()
    erratum: str = ""

    @property
    def verdict(self) -> str:
        """The verdict that follows from the outcomes.

        All readings agree: "ok", or "rounding". Some do: "convention-dependent", or
        "inconsistent" when those that agree contradict another claim of the text. None does:
        "wrong", or "inconsistent" when the figure is set against another one. No reading:
        "unverifiable".
        """
        if not self.outcomes:
            return "unverifiable"
        agreeing = [o for o in self.outcomes if o.agrees in ("ok", "rounding")]
        if not agreeing:
            return "inconsistent" if self.against else "wrong"
        if all(o.reading.contradicts for o in agreeing):
            return "inconsistent"
        if len(agreeing) < len(self.outcomes):
            return "convention-dependent"
        return "rounding" if any(o.agrees == "rounding" for o in agreeing) else "ok"

    @property
    def functions(self) -> tuple[str, ...]:
        """Public functions that answer the claim."""
        names = [name for o in self.outcomes for name in o.reading.functions]
        return tuple(dict.fromkeys(names))

    @property
    def computed(self) -> str:
        """What the library answers, by reading."""
        if not self.outcomes:
            return self.needs
        return "; ".join(
            f"{o.reading.name}: {o.computed}" if o.reading.name else o.computed
            for o in self.outcomes
        )

    def __str__(self) -> str:
        return f"{self.id} {self.verdict}: {self.says}, printed {' to '.join(self.printed)}; " + (
            self.computed
        )


@frozen
class Ledger:
    """Claims with their verdicts.

    Attributes
    ----------
    title : str
        Of the file.
    lines : tuple of LedgerLine
        One for each claim.
    """

    title: str
    lines: tuple[LedgerLine, ...]

    def __iter__(self) -> Iterator[LedgerLine]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, mark: str) -> LedgerLine:
        for line in self.lines:
            if line.id == mark:
                return line
        raise ArgumentError(f"the ledger has no claim {mark!r}")

    def counts(self) -> dict[str, int]:
        """Return how many claims got each verdict.

        Returns
        -------
        dict of str to int
            Verdict to number of claims.
        """
        return dict(Counter(line.verdict for line in self.lines))

    def table(self) -> Table:
        """Return the claims as a table."""
        rows = tuple(
            (
                line.id,
                line.says,
                " to ".join(line.printed),
                line.computed,
                line.verdict,
                ", ".join(line.functions),
            )
            for line in self.lines
        )
        columns = ("claim", "says", "printed", "computed", "verdict", "answered by")
        return Table(title=self.title, columns=columns, rows=rows)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def ledger(path: str | Path) -> Ledger:
    """Read a file of claims and answer each by calling the library.

    Parameters
    ----------
    path : str or Path
        TOML with ``[[claim]]`` tables: id, says, printed, and reading or readings, each with
        call, with (the arguments) and take (the attribute compared). A table ``[define]``
        names values that arguments use as "$name".

    Returns
    -------
    Ledger
        Verdict of each claim.

    Raises
    ------
    ReadError
        Naming the line of a mistake.
    """
    text = text_of(path)
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ReadError(f"{path}: not TOML: {error}") from None
    where = key_lines(text)
    lines = []
    named, claims = tree.get("define", {}), tree.get("claim", [])
    if not isinstance(named, Mapping):
        at = f"{path}, line {where.get(('define',), 0)}"
        raise ReadError(f"{at}: define is {str(named)[:80]}; wanted a table [define]")
    if not isinstance(claims, list) or not all(isinstance(each, Mapping) for each in claims):
        at = f"{path}, line {where.get(('claim',), 0)}"
        raise ReadError(f"{at}: claim is {str(claims)[:80]}; wanted tables [[claim]]")
    for place, given in enumerate(claims):
        entry = _defined(given, named)
        at = f"{path}, line {where.get(('claim', place), 0)}"
        lines.append(_line(entry, at))
    return Ledger(title=str(tree.get("title", Path(path).name)), lines=tuple(lines))


def _defined(given: Any, named: Mapping[str, Any]) -> Any:
    """Put the values of ``[define]`` in the place of "$name"."""
    if isinstance(given, str) and given.startswith("$"):
        if given[1:] not in named:
            raise ReadError(f"{given} is not defined; there are {', '.join(named)}")
        return _defined(named[given[1:]], named)
    if isinstance(given, Mapping):
        return {key: _defined(value, named) for key, value in given.items()}
    return [_defined(v, named) for v in given] if isinstance(given, list) else given


def _line(entry: Mapping[str, Any], at: str) -> LedgerLine:
    unknown = set(entry) - _CLAIM_KEYS
    if unknown or "id" not in entry or "says" not in entry:
        raise ReadError(
            f"{at}: a claim has id, says, printed, reading or readings, needs, against and "
            f"erratum; found {', '.join(sorted(entry))}"
        )
    readings = entry.get("readings", [entry["reading"]] if "reading" in entry else [])
    if not readings and "needs" not in entry:
        raise ReadError(f"{at}: {entry['id']} needs a reading, or needs= with what would decide it")
    if not isinstance(readings, list) or not all(isinstance(r, Mapping) for r in readings):
        raise ReadError(f"{at}: {entry['id']}: wanted readings as tables, as in {{ call = ... }}")
    printed = entry.get("printed", "")
    figures = tuple(map(str, printed)) if isinstance(printed, list) else (str(printed),)
    against = entry.get("against", [])
    return LedgerLine(
        id=entry["id"],
        says=entry["says"],
        printed=figures,
        outcomes=tuple(_outcome(r, figures, f"{at}: {entry['id']}") for r in readings),
        needs=entry.get("needs", ""),
        against=tuple([against] if isinstance(against, str) else against),
        erratum=entry.get("erratum", ""),
    )


def _outcome(entry: Mapping[str, Any], figures: tuple[str, ...], at: str) -> Outcome:
    """Answer a reading; a call that cannot be made is a mistake of the ledger."""
    try:
        return outcome(_reading(entry, at), figures)
    except (ArgumentError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ReadError(f"{at}: {entry.get('call')} cannot be called so: {error}") from None


def _reading(entry: Mapping[str, Any], at: str) -> Reading:
    unknown = set(entry) - _READING_KEYS
    if unknown or "call" not in entry:
        raise ReadError(
            f"{at}: a reading has name, call, take, with, as, source and contradicts; "
            f"found {', '.join(sorted(entry))}"
        )
    given = dict(entry)
    printed = given.pop("as", [])
    return Reading(
        given=given.pop("with", {}),
        printed=tuple([printed] if isinstance(printed, str) else printed),
        **given,
    )
