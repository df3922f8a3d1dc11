"""A user's own function behind the same boundary and in the same sweeps."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import Kernel, total
from scalemath.core.model import Step
from scalemath.units import PublicFunction, Quantity, quantities, quantity


def model(
    *,
    returns: str,
    output: str = "",
    rises: str = "",
    falls: str = "",
    source: str = "",
    **declared: str,
) -> Callable[[Callable[..., Any]], PublicFunction[Quantity]]:
    """Put your own function behind the units boundary and make it fit for sweeps.

    The function is written on plain floats in SI units, with `math`, ``min``, ``max``, if/else
    and other such functions, among them the kernels of scalemath
    (``ring = sm.allreduce.kernels["ring"]``). It returns a float, or a NamedTuple of terms whose
    sum is the total. What is impossible returns ``math.inf``.

    Parameters
    ----------
    returns : str
        SI unit of the result, "1" for a plain number.
    output : str
        Name of the result in a sweep; by default the name of the function.
    rises, falls : str
        Names of parameters with which the result never falls, or never rises; with them
        `top` answers over huge grids without evaluating every point. Test what you declare.
    source : str
        Where the formula comes from.
    **declared : str
        Unit and range of every parameter, such as ``size="byte"``, ``ranks="count >= 1"``,
        ``bandwidth="byte/s/dir > 0"``, ``share="number <= 1"``.

    Returns
    -------
    callable
        Decorator; the decorated function takes quantities and returns one.

    Raises
    ------
    ArgumentError
        If a parameter has no declaration, or a direction names none.

    Examples
    --------
    >>> import scalemath as sm
    >>> @sm.model(returns="s", size="byte", rate="byte/s > 0", rises="size", falls="rate")
    ... def reading_time(size, rate):
    ...     return 1e-4 + size / rate
    >>> print(f"{reading_time(size='1 GB', rate='5 GB/s').to('ms'):.1f~P}")
    200.1 ms
    >>> grid = sm.sweep(reading_time, size=["1 GB", "2 GB"], rate=["1 GB/s", "5 GB/s"])
    >>> grid.shape
    (2, 2)
    """

    def decorate(function: Callable[..., Any]) -> PublicFunction[Quantity]:
        name = getattr(function, "__name__", "function")
        parameters = tuple(inspect.signature(function).parameters)
        undeclared = [p for p in parameters if p not in declared]
        if undeclared:
            raise ArgumentError(
                f"{name}: declare the unit of {', '.join(undeclared)}, as in "
                f"@sm.model(returns='s', {undeclared[0]}='byte')"
            )
        directed = {*rises.split(), *falls.split()}
        unknown = sorted(directed - set(parameters))
        if unknown or set(rises.split()) & set(falls.split()):
            raise ArgumentError(
                f"{name}: rises and falls name {', '.join(sorted(directed))}; the parameters are "
                f"{', '.join(parameters)}, each in at most one of the two"
            )
        kernel = Kernel(
            name=name,
            function=function,
            parameters=parameters,
            terms=_terms(function),
            unit=returns,
            rises=frozenset(rises.split()),
            falls=frozenset(falls.split()),
            free=frozenset(parameters) - directed,
            free_because="no direction was declared",
            source=source,
            formula="",
        )

        @functools.wraps(function)
        def answer(**values: float) -> Quantity:
            return quantity(total(function(**values)), returns)

        step = Step(output or name, {"": kernel}, returns)
        return quantities(step, output=output or name, **declared)(answer)

    return decorate


def _terms(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the terms when the function is annotated to return a NamedTuple."""
    try:
        result = inspect.signature(function, eval_str=True).return_annotation
    except NameError:
        return ()
    return tuple(getattr(result, "_fields", ()))
