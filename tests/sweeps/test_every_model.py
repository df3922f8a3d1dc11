"""Every public model: the compiled sweep equals the plain program on random points."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import scalemath as sm
from scalemath.core.model import Model
from scalemath.sweeps.axes import Axis, Coordinate
from scalemath.sweeps.dense import dense
from scalemath.sweeps.program import Output
from scalemath.sweeps.reading import state_si

POINTS = 48
TYPICAL = {
    "byte": (1.0, 1e11),
    "byte/s": (1e8, 1e13),
    "s": (1e-7, 1e-2),
    "flop": (1e9, 1e18),
    "flop/s": (1e11, 1e17),
    "W": (1.0, 1e5),
}


def models() -> dict[str, Model]:
    found = {}
    for name in sm.__all__:
        model = getattr(getattr(sm, name), "model", None)
        if isinstance(model, Model) and model.steps:
            found[name] = model
    return found


MODELS = models()


def drawn(parameter, dice):
    """A random value in the range of a parameter."""
    if parameter.kind == "choice":
        return dice.choice([n for n in parameter.choices if n != "best"])
    if parameter.kind == "count":
        low = max(1.0, parameter.low)
        high = min(parameter.high, 4096.0)
        if dice.random() < 0.5:
            power = float(2 ** dice.randint(0, 12))
            if low <= power <= high:
                return power
        return float(dice.randint(int(low), int(max(low, high))))
    if parameter.kind == "number":
        low = max(parameter.low, 1e-3)
        return dice.uniform(low, min(parameter.high, max(4.0, 2 * low)))
    low, high = TYPICAL.get(parameter.unit, (1e-3, 1e3))
    low, high = max(low, parameter.low), min(high, parameter.high)
    return math.exp(dice.uniform(math.log(low), math.log(high)))


def plain(model, values):
    """Every output by the plain program; None where Python refuses what arithmetic allows."""
    try:
        return model.evaluate(values)
    except (ZeroDivisionError, OverflowError, ValueError, KeyError):
        return None


@pytest.mark.parametrize("name", sorted(MODELS))
def test_compiled_equals_plain(name):
    """With the default choice: one driver each, quickly compiled."""
    model = MODELS[name]
    compare(name, {p.name: [str(p.default)] for p in model.parameters if p.kind == "choice"})


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODELS))
def test_compiled_equals_plain_for_every_choice(name):
    """With every name of every choice in one driver."""
    compare(name, {})


def compare(name, only):
    model = MODELS[name]
    dice = random.Random(name)
    points = [{p.name: drawn(p, dice) for p in model.parameters} for _ in range(POINTS)]
    choices = {s.choice for s in model.steps if s.choice}
    for point in points:
        for step in model.steps:
            names = [n for n in only.get(step.choice, []) if n in step.kernels]
            if step.choice and (names or point[step.choice] not in step.kernels):
                point[step.choice] = dice.choice(names or list(step.kernels))
    answers = [plain(model, point) for point in points]
    kept = [i for i, answer in enumerate(answers) if answer is not None]
    assert kept, "no point could be evaluated"
    coordinates = {}
    fixed = {}
    for parameter in model.parameters:
        if parameter.kind == "choice" and parameter.name not in choices:
            fixed[parameter.name] = parameter.default
            continue
        column = [points[i][parameter.name] for i in kept]
        kind = object if parameter.kind == "choice" else float
        values = np.array(column, dtype=kind)
        coordinates[parameter.name] = Coordinate(parameter.name, ("point",), values, parameter.unit)
    problem = state_si(model, fixed, coordinates, [Axis("point", len(kept), ())])
    outputs = [Output(o) for o in model.outputs()]
    arrays = dense(problem, outputs, None, np.dtype(float), 1, "fast", False)
    for output, array in zip(outputs, arrays, strict=True):
        for place, i in enumerate(kept):
            wanted, found = answers[i].get(output.name, 0.0), array[place]
            told = (output.name, points[i], found, wanted)
            if math.isnan(wanted):
                assert math.isnan(found), told
            elif math.isinf(wanted):
                assert found == wanted, told
            else:
                total = abs(answers[i][output.name.partition(".")[0]])
                assert abs(found - wanted) <= 1e-12 * max(abs(wanted), 1e-12 * total) + 1e-300, told
