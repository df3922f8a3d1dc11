"""In which direction an output moves with each parameter, put together from the kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scalemath.core.kernel import Kernel
from scalemath.core.model import Step
from scalemath.sweeps.program import Wiring

Directions = dict[str, int]
"""1 rises (never falls), -1 falls (never rises), 0 either way; absent: no influence."""
_known: dict[tuple[Any, ...], tuple[Wiring, Directions]] = {}
"""What was found before; the wiring is kept since its key holds the identity of its model."""


def directions(wiring: Wiring, output: str) -> Directions:
    """Direction of an output with every input of a program.

    Parameters
    ----------
    wiring : Wiring
        Program; where a choice is an axis, what holds for every name on it.
    output : str
        Output, term or parameter.

    Returns
    -------
    dict
        Direction by input. Terms have none declared and count as moving either way.
    """
    key = (*wiring.key(), output)
    if key not in _known:
        _known[key] = wiring, _directions(wiring, output)
    return _known[key][1]


def _directions(wiring: Wiring, output: str) -> Directions:
    known: dict[str, Directions] = {name: {name: 1} for name in wiring.inputs}
    for name, formula, _ in wiring.derived:
        moved: Directions = {}
        for read in formula.names:
            moved.update(dict.fromkeys(known.get(read, {}), 0))
        known[name] = moved
    chosen = {s.parameter: s for s in wiring.selections}
    deciding: dict[str, Step] = {}
    for step in wiring.needed:
        names = chosen[step.choice].names if step.choice else ("",)
        found: Directions = {}
        for name in names:
            kernel = step.kernels[name]
            for read, sign in _signs(step, kernel).items():
                for given, own in known.get(read, {}).items():
                    _combine(found, given, sign * own)
        if step.choice and chosen[step.choice].mode == "best":
            first = deciding.setdefault(step.choice, step)
            if first.kernels != step.kernels:  # follows a winner decided elsewhere
                found = dict.fromkeys({**found, **known[first.output]}, 0)
        known[step.output] = found
        for kernel in step.kernels.values():
            for term in kernel.terms:
                known[f"{step.output}.{term}"] = dict.fromkeys(found, 0)
    return known.get(output, dict.fromkeys(wiring.inputs, 0))


def _signs(step: Step, kernel: Kernel) -> Directions:
    """Declared direction of a kernel with each model name that feeds it."""
    found: Directions = {}
    for own, read in zip(kernel.parameters, step.arguments(kernel), strict=True):
        sign = 1 if own in kernel.rises else -1 if own in kernel.falls else 0
        _combine(found, read, sign)
    return found


def _combine(found: Directions, name: str, sign: int) -> None:
    """Join a direction with what is known; opposite ones cancel to none."""
    found[name] = sign if found.get(name, sign) == sign else 0


def monotone(found: Mapping[str, int], name: str) -> int:
    """Direction with an input; 1 where there is no influence, since any order then holds."""
    return found.get(name, 1)
