"""A user's own function behind the same boundary and in the same sweeps."""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Any

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import Kernel, total
from scalemath.core.model import Step
from scalemath.sweeps.public import sweep
from scalemath.sweeps.source import check
from scalemath.units import PublicFunction, Quantity, quantities, quantity
from scalemath.units.declaration import parse

_HOW = "write @sm.model(returns='s', size='byte', rate='byte/s > 0') above def cost(size, rate)"


def model(
    undecorated: object = None,
    /,
    *,
    returns: str = "",
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
    undecorated : object
        Not to be given: the decorator is written with its parentheses.
    returns : str
        SI unit of the result, "1" for a plain number; always to be given.
    output : str
        Name of the result in a sweep; by default the name of the function ("result" for a
        lambda).
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
        If a parameter has no declaration or one that cannot be read, a direction names no
        parameter, a name is one that `sweep` needs itself, or the function does what a compiled
        sweep would answer differently: it works on text, on bits, or on whole numbers that are
        too large for a float.

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
    if undecorated is not None or not returns:
        raise ArgumentError(f"sm.model needs the unit of the result and of every parameter; {_HOW}")

    def decorate(function: Callable[..., Any]) -> PublicFunction[Quantity]:
        parameters = _parameters(function)
        name = function.__name__ if _is_name(function.__name__) else "result"
        _check_names(name, output, parameters)
        _check_unit(name, returns)
        _check_declarations(name, parameters, declared)
        directed = {*rises.split(), *falls.split()}
        unknown = sorted(directed - set(parameters))
        if unknown or set(rises.split()) & set(falls.split()):
            raise ArgumentError(
                f"{name}: rises and falls name {', '.join(sorted(directed))}; the parameters are "
                f"{', '.join(parameters)}, each in at most one of the two"
            )
        check(function)
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

        answer.__name__ = name
        step = Step(output or name, {"": kernel}, returns)
        return quantities(step, output=output or name, **declared)(answer)

    return decorate


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters of a plain function; refuse everything else."""
    if not inspect.isfunction(function) or inspect.isgeneratorfunction(function):
        shown = getattr(function, "__name__", type(function).__name__)
        raise ArgumentError(
            f"sm.model wants a plain function written with def, {shown} is a "
            f"{'generator' if inspect.isfunction(function) else type(function).__name__}; {_HOW}"
        )
    name = function.__name__
    if inspect.iscoroutinefunction(function) or hasattr(function, "model"):
        kind = "a model already" if hasattr(function, "model") else "a coroutine"
        raise ArgumentError(f"sm.model wants a plain function, {name} is {kind}; {_HOW}")
    found = inspect.signature(function).parameters
    odd = [str(p) for p in found.values() if p.kind is not p.POSITIONAL_OR_KEYWORD]
    if odd:
        raise ArgumentError(
            f"{name}: {', '.join(odd)} cannot be swept; write every parameter by name, without "
            f"*, ** or /, as in def {name if _is_name(name) else 'cost'}(size, rate)"
        )
    return tuple(found)


def _check_names(name: str, output: str, parameters: tuple[str, ...]) -> None:
    """Refuse names that a sweep could not tell apart or spell."""
    if output and not _is_name(output):
        raise ArgumentError(
            f"{name}: output={output!r} is no name; write letters, digits and _, as in "
            "output='step_time'"
        )
    swept = inspect.signature(sweep).parameters.values()
    taken = {p.name for p in swept if p.kind is p.KEYWORD_ONLY} | {"assumed"}
    own = {p.name for p in inspect.signature(model).parameters.values() if p.kind is p.KEYWORD_ONLY}
    for parameter in parameters:
        if parameter in taken | own:
            whose = "sm.model" if parameter in own else "sm.sweep"
            if parameter == "assumed":
                whose = "the units boundary"
            raise ArgumentError(
                f"{name}: the parameter {parameter} has the name of an argument of {whose}, so "
                f"it could not be told from it; call it otherwise, as in {parameter}_value"
            )
        if parameter == (output or name):
            raise ArgumentError(
                f"{name}: {parameter} is both a parameter and the result; give the result a name "
                f"with output='{parameter}_result'"
            )


def _check_unit(name: str, returns: str) -> None:
    """Refuse a result in what is no unit."""
    try:
        quantity(1.0, returns)
        if returns != "1" and not returns[:1].isalpha():
            raise ValueError(f"{returns!r} begins with a number")
    except Exception as error:
        raise ArgumentError(
            f"{name}: returns={returns!r} is no unit; write an SI unit such as 's', 'byte', "
            "'byte/s', 'W', or '1' for a plain number"
        ) from error


def _check_declarations(
    name: str, parameters: tuple[str, ...], declared: Mapping[str, str]
) -> None:
    """Refuse parameters without a declaration, and declarations that cannot be read."""
    undeclared = [p for p in parameters if p not in declared]
    if undeclared:
        raise ArgumentError(
            f"{name}: declare the unit of {', '.join(undeclared)}, as in "
            f"@sm.model(returns='s', {undeclared[0]}='byte')"
        )
    unknown = [p for p in declared if p not in parameters]
    if unknown:
        raise ArgumentError(
            f"{name} has no parameter {', '.join(unknown)}; the parameters are "
            f"{', '.join(parameters)}"
        )
    for parameter, text in declared.items():
        try:
            read = parse(parameter, text)
            readable = read.low <= read.high and read.kind != "choice"
        except Exception as error:
            raise ArgumentError(_unreadable(name, parameter, text)) from error
        if not readable:
            raise ArgumentError(_unreadable(name, parameter, text))


def _unreadable(name: str, parameter: str, text: object) -> str:
    return (
        f"{name}: cannot read {parameter}={text!r}; write UNIT, then if wanted > LOW or >= LOW, "
        "then < HIGH or <= HIGH, where UNIT is an SI unit, 'count' or 'number' and the limits are "
        "plain numbers ('any' instead of > LOW lets negative values in), as in 'byte/s > 0', "
        "'count >= 1' or 'number >= 0 <= 1'"
    )


def _is_name(text: str) -> bool:
    """Whether a text can stand in a program."""
    return text.isidentifier() and not keyword.iskeyword(text)


def _terms(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the terms when the function is annotated to return a NamedTuple."""
    try:
        result = inspect.signature(function, eval_str=True).return_annotation
    except NameError:
        return ()
    return tuple(getattr(result, "_fields", ()))
