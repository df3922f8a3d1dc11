"""What a user's function takes from around it: values that may change between two sweeps."""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def behind(node: ast.AST, around: Mapping[str, Any]) -> Any:
    """Value of a name from around a function, or of an attribute of a module there; else None."""
    if isinstance(node, ast.Name):
        return around.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        owner = behind(node.value, around)
        return getattr(owner, node.attr, None) if inspect.ismodule(owner) else None
    return None


def enclosed(function: types.FunctionType) -> dict[str, Any]:
    """Values of the variables over which a function closes, as far as they are set."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def outside(function: Any, met: set[Any] | None = None) -> tuple[Any, ...]:
    """What a function takes from around it, down to its helpers, as something to compare.

    Parameters
    ----------
    function : callable
        Plain function; what belongs to the library itself never changes and is left out.
    met : set, optional
        Functions looked at already.

    Returns
    -------
    tuple
        Equal as long as the function and all that it uses are the same.
    """
    met = set() if met is None else met
    if not isinstance(function, types.FunctionType) or function in met or is_library(function):
        return (function,)
    met.add(function)
    given = (function.__defaults__, sorted((function.__kwdefaults__ or {}).items()))
    values: list[Any] = [function, function.__code__, repr(given)]
    space = function.__globals__
    names = set(function.__code__.co_names)
    for constant in function.__code__.co_consts:
        names.update(getattr(constant, "co_names", ()))
    values += [(n, *_mark(space[n], met)) for n in sorted(names) if n in space]
    values += [_mark(value, met) for value in enclosed(function).values()]
    return tuple(values)


def is_library(function: Callable[..., Any]) -> bool:
    """Whether a function is one of the library, written for the compiler."""
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "scalemath"


def _mark(value: Any, met: set[Any]) -> tuple[Any, ...]:
    """A value from around a function, as something to compare."""
    if isinstance(value, types.FunctionType):
        return outside(value, met)
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, (bool, int, float, str, tuple, list, type(None))):
        return (type(value), repr(value))
    return (id(value),)
