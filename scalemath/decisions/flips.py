"""What would change an answer: which input flips it, and at which value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from scalemath.decisions.path import Case, Outcome, outcome
from scalemath.units import display

INPUTS: Mapping[str, tuple[str, str]] = {
    "parameters": ("parameters of the model", "1"),
    "state": ("bytes per parameter", "1"),
    "capacity": ("memory of the node", "byte"),
    "headroom": ("headroom", "1"),
    "cache": ("cache of the wanted requests", "byte"),
    "demand": ("token rate wanted", "token/s"),
    "node_rate": ("token rate of one node", "token/s"),
    "tokens": ("training tokens", "token"),
    "deadline": ("deadline", "s"),
}
_REACH = 64.0
_GRID = 2.0**0.125


@frozen(kw_only=True)
class Flip:
    """An input at which the answer changes.

    Attributes
    ----------
    field, name, unit : str
        The input, for people, and its SI unit.
    now, at : float
        Its value, and the value where the answer changes.
    becomes : str
        The answer beyond.
    """

    field: str
    name: str
    unit: str
    now: float
    at: float
    becomes: str

    def __str__(self) -> str:
        way = "above" if self.at > self.now else "below"
        at, now = shown(self.at, self.unit), shown(self.now, self.unit)
        return f"{self.name} {way} {at} (now {now}): {self.becomes}"


def shown(value: float, unit: str) -> str:
    """Return a value of an input as text; an infinite one was not given."""
    if math.isinf(value):
        return "not given"
    if unit != "1":
        return str(display(value, unit))
    return f"{value / 1e9:.6g}B" if value >= 1e6 else f"{value:.6g}"


def named(end: Outcome) -> str:
    """Return an outcome as a word that two outcomes can be compared by."""
    return end.choice + (" with 4-bit weights" if end.small else "")


def flips(case: Case, decide: Callable[[Case], Outcome] = outcome) -> tuple[Flip, ...]:
    """Return the nearest change of every input in each direction, at most a factor of 64 away.

    Parameters
    ----------
    case : Case
        The numbers.
    decide : callable
        Walk that gives an outcome.

    Returns
    -------
    tuple of Flip
        The nearest first.
    """
    found = []
    for field, (name, unit) in INPUTS.items():
        now = float(getattr(case, field))
        if not 0.0 < now < math.inf:
            continue
        for grid in (_GRID, 1.0 / _GRID):
            at = _turn(case, field, now, grid, decide)
            if at is not None:
                beyond = decide(_with(case, field, at * (1 + 1e-9 if grid > 1 else 1 - 1e-9)))
                found.append(
                    Flip(field=field, name=name, unit=unit, now=now, at=at, becomes=named(beyond))
                )
    return tuple(sorted(found, key=lambda one: abs(math.log(one.at / one.now))))


def _with(case: Case, field: str, value: float) -> Case:
    """Change one input; usable memory follows the memory as sold."""
    changed: dict[str, Any] = {field: value}
    if field == "capacity":
        changed["usable"] = case.usable * value / case.capacity
    return case._replace(**changed)


def _turn(
    case: Case, field: str, now: float, grid: float, decide: Callable[[Case], Outcome]
) -> float | None:
    """Value nearest to now in one direction at which the outcome changes, by bisection."""
    here = named(decide(case))
    near = now
    while 1.0 / _REACH <= near / now <= _REACH:
        far = near * grid
        if field == "headroom" and far >= 1.0:
            return None
        if named(decide(_with(case, field, far))) != here:
            for _ in range(60):
                middle = math.sqrt(near * far)
                if named(decide(_with(case, field, middle))) == here:
                    near = middle
                else:
                    far = middle
            return far
        near = far
    return None
