"""What is gathered while the lines of a collective test are read."""

from __future__ import annotations

import math
from array import array as Flat

import numpy as np
from attrs import define, field

from scalemath.readers import nccl_lines as forms
from scalemath.readers.columns import Array
from scalemath.readers.reading import Skipped
from scalemath.readers.text import Text

_NAN = math.nan


@define
class Rows:
    """Rows while they are being read, flat so that millions of numbers cost little."""

    heads: Flat[float] = field(factory=lambda: Flat("d"))
    halves: Flat[float] = field(factory=lambda: Flat("d"))
    kinds: list[str] = field(factory=list)
    operations: list[str] = field(factory=list)
    plain: list[tuple[str, str, str]] = field(factory=list)
    plain_lines: list[int] = field(factory=list)
    plain_width: int = 0

    def __len__(self) -> int:
        return len(self.kinds)

    def arrays(self) -> tuple[Array, Array]:
        """Heads (size, count, root, line) and halves of all rows, in the order of `kinds`."""
        heads = np.array(self.heads).reshape(-1, 4)
        halves = np.array(self.halves).reshape(-1, 8)
        if not self.plain_lines:
            return heads, halves
        width = self.plain_width + 2
        text = " ".join([f"{size} {count} {rest}" for size, count, rest in self.plain])
        numbers = np.fromstring(text, sep=" ").reshape(-1, width)
        root = numbers[:, 2] if width == 11 else np.full(len(numbers), _NAN)
        lines = np.array(self.plain_lines, float)
        more = np.stack([numbers[:, 0], numbers[:, 1], root, lines], axis=1)
        both = np.concatenate([heads, more])
        order = np.argsort(both[:, 3], kind="stable")
        return both[order], np.concatenate([halves, numbers[:, -8:]])[order]


@define
class RunState:
    """One run while it is being read."""

    first_line: int
    parameters: dict[str, str] = field(factory=dict)
    devices: list[forms.Device] = field(factory=list)
    layout: forms.Layout | None = None
    headed: bool = False
    rows: Rows = field(factory=Rows)
    header_name: str = ""
    average: float = _NAN
    failures: list[str] = field(factory=list)
    neuron: bool = False
    command: str = ""
    command_ranks: int = 0


@define
class State:
    """Everything gathered while going through the lines."""

    text: Text
    runs: list[RunState] = field(factory=list)
    skipped: list[Skipped] = field(factory=list)
    command: str = ""
    command_ranks: int = 0
    library: str = ""
    version: str = ""
    transports: dict[str, None] = field(factory=dict)
    nics: dict[str, None] = field(factory=dict)
    ways: set[str] = field(factory=set)

    def run(self) -> RunState:
        """Return the run the current line belongs to."""
        if not self.runs:
            self.runs.append(RunState(first_line=1))
        return self.runs[-1]

    def begin(self, line: int, again: bool) -> RunState:
        """Return the current run, or a new one when what comes belongs to the next."""
        run = self.run()
        if len(run.rows) or again or not math.isnan(run.average):
            run = RunState(line, command=self.command, command_ranks=self.command_ranks)
            self.runs.append(run)
        return run

    def commanded(self, collective: str, ranks: int) -> None:
        """Keep what a command line says, for the current run when it has no rows yet."""
        self.command = collective or self.command
        self.command_ranks = ranks or self.command_ranks
        run = self.run()
        if not len(run.rows) and math.isnan(run.average):
            run.command, run.command_ranks = self.command, self.command_ranks
