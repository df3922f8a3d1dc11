"""The registry of kernels: where each formula is declared once.

A kernel is a plain scalar Python function on SI floats. `kernel` registers it and returns it
untouched, so that a scalar call, a debugger and coverage see the very function that
the sweeps compile.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from attrs import frozen

KernelFunction = Callable[..., Any]
F = TypeVar("F", bound=KernelFunction)


@frozen
class Kernel:
    """What is known of one kernel.

    Attributes
    ----------
    name : str
        Name of the function, unique in the registry.
    function : callable
        The function itself: floats in, a float or a NamedTuple of terms out.
    parameters : tuple of str
        Names of the parameters, in order.
    terms : tuple of str
        Names of the terms; empty when the kernel returns a single float.
    unit : str
        SI unit of the result (of every term).
    rises, falls, free : frozenset of str
        Parameters with which the total never falls, never rises, or moves either way.
    free_because : str
        Why the free parameters have no declared direction.
    source : str
        Where the formula comes from.
    formula : str
        The formula in words of the glossary, shown by `explain()`.
    """

    name: str
    function: KernelFunction
    parameters: tuple[str, ...]
    terms: tuple[str, ...]
    unit: str
    rises: frozenset[str]
    falls: frozenset[str]
    free: frozenset[str]
    free_because: str
    source: str
    formula: str

    def __call__(self, *args: float) -> Any:
        """Call the bare function."""
        return self.function(*args)


KERNELS: dict[str, Kernel] = {}


def kernel(
    *,
    unit: str,
    source: str,
    formula: str,
    rises: str = "",
    falls: str = "",
    free: str = "",
    free_because: str = "",
) -> Callable[[F], F]:
    """Register a scalar function as a kernel and return it unchanged.

    Parameters
    ----------
    unit : str
        SI unit of the result; "1" for a plain number.
    source, formula : str
        Citation and the formula in words of the glossary.
    rises, falls, free : str
        Parameter names separated by spaces; together they name every parameter once.
    free_because : str
        Why the free parameters have no declared direction; required when there are any.

    Returns
    -------
    callable
        A decorator that registers the function and hands it back.
    """
    directions = tuple(frozenset(text.split()) for text in (rises, falls, free))

    def register(function: F) -> F:
        name = function.__name__
        parameters = tuple(inspect.signature(function).parameters)
        declared = [p for group in (rises, falls, free) for p in group.split()]
        if sorted(declared) != sorted(parameters):
            raise TypeError(
                f"kernel {name}: rises, falls and free name {sorted(declared)}, "
                f"the parameters are {sorted(parameters)}; name each exactly once"
            )
        if directions[2] and not free_because:
            raise TypeError(f"kernel {name}: say in free_because why {free} has no direction")
        if name in KERNELS and KERNELS[name].function.__module__ != function.__module__:
            raise TypeError(f"kernel {name} is registered twice; names are unique")
        KERNELS[name] = Kernel(
            name=name,
            function=function,
            parameters=parameters,
            terms=_term_names(function),
            unit=unit,
            rises=directions[0],
            falls=directions[1],
            free=directions[2],
            free_because=free_because,
            source=source,
            formula=formula,
        )
        return function

    return register


def _term_names(function: KernelFunction) -> tuple[str, ...]:
    """Names of the fields when the function is annotated to return a NamedTuple."""
    result = inspect.signature(function, eval_str=True).return_annotation
    return tuple(getattr(result, "_fields", ()))


def kernel_of(function: KernelFunction) -> Kernel:
    """Return the registered record of a kernel function."""
    record = KERNELS.get(getattr(function, "__name__", ""))
    if record is None or record.function is not function:
        raise TypeError(f"{function!r} is not a registered kernel; decorate it with @kernel")
    return record


def total(terms: Any) -> float:
    """Sum of the terms of a kernel in their order: the one place where a total is formed."""
    if isinstance(terms, tuple):
        result: float = terms[0]
        for term in terms[1:]:
            result = result + term
        return result
    return float(terms)
