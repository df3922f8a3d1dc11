"""The scalar program of a sweep as a plain Python function, for a handful of points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from scalemath.sweeps.program import Wiring, scalar_text

_known: dict[Any, tuple[Callable[..., tuple[float, ...]], Wiring]] = {}


def _pick(condition: bool, first: float, other: float) -> float:
    return first if condition else other


def plain_function(wiring: Wiring) -> Callable[..., tuple[float, ...]]:
    """Return the program as a function.

    Parameters
    ----------
    wiring : Wiring
        Program.

    Returns
    -------
    callable
        Takes the inputs and the codes of the choices on axes, in order; gives the outputs. A
        division by zero, and rounding what is no number, gives nan.
    """
    found = _known.get(wiring.key())
    if found is not None:
        return found[0]
    kernels = list(dict.fromkeys(k.function for k in wiring.kernels()))
    names = {function: f"kernel_{i}" for i, function in enumerate(kernels)}
    space: dict[str, Any] = {name: function for function, name in names.items()}
    as_it_is = lambda function: function  # noqa: E731
    space.update(math=math, scalar=as_it_is, exact=as_it_is, pick=_pick)
    exec(scalar_text(wiring, names), space)
    count = len(wiring.inputs)
    sizes = [len(s.names) for s in wiring.selections if s.mode == "axis"]
    nothing = (math.nan,) * len(wiring.outputs)

    def function(*values: float) -> tuple[float, ...]:
        combination = 0
        for code, size in zip(values[count:], sizes, strict=True):
            combination = combination * size + int(code)
        try:
            given = [float(value) for value in values[:count]]
            result: tuple[float, ...] = space[f"point_{combination}"](*given)
        except (ZeroDivisionError, OverflowError):
            return nothing
        except ValueError as error:  # math.floor(nan): no whole number, as of a dependent count
            if "NaN to integer" in str(error):
                return nothing
            raise
        return result

    _known[wiring.key()] = (function, wiring)
    return function
