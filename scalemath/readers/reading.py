"""What every reader returns: what was found, what was skipped and why, and its own checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from attrs import frozen

from scalemath.core.result import Result
from scalemath.records.table import Table


class Skipped(NamedTuple):
    """A line that gave no data."""

    line: int
    reason: str
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}: {self.text}"


class Check(NamedTuple):
    """One thing a log says twice, and whether both agree."""

    name: str
    passed: bool
    text: str

    def __str__(self) -> str:
        return f"{'agrees' if self.passed else 'DISAGREES'}: {self.text}"


@frozen(kw_only=True, eq=False)
class Reading(Result):
    """Base of all readings.

    Attributes
    ----------
    source : str
        File name, or "text".
    kind : str
        Which reader read it.
    skipped : tuple of Skipped
        Lines that gave no data, with the reason.
    checks : tuple of Check
        What the file says twice.
    """

    source: str
    kind: str
    skipped: tuple[Skipped, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def contradictions(self) -> tuple[Check, ...]:
        """Checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    def remarks(self) -> list[str]:
        """Checks, and how much was skipped for which reason."""
        lines = [str(check) for check in self.checks]
        reasons: dict[str, int] = {}
        for item in self.skipped:
            reasons[item.reason] = reasons.get(item.reason, 0) + 1
        return lines + [f"skipped {n} line(s): {reason}" for reason, n in reasons.items()]


def of_runs(runs: Iterable[Reading]) -> dict[str, Any]:
    """Checks and cautions of all runs of a log, each once."""
    every = tuple(runs)
    return {
        "checks": tuple(dict.fromkeys(check for run in every for check in run.checks)),
        "cautions": tuple(dict.fromkeys(text for run in every for text in run.cautions)),
    }


def table(title: str, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Table:
    """Return a table of text."""
    cells = tuple(tuple(str(cell) for cell in row) for row in rows)
    return Table(title=title, columns=tuple(columns), rows=cells)
