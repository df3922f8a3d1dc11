"""Turns a described collective into a public function with its model.

The wrapper here sees what is no single number: the sides of a torus and a placement. It lowers
them to the numbers that kernels take; everything else goes straight to the boundary.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from attrs import evolve

from scalemath.collectives.algorithms import (
    ALIASES,
    LEVELS,
    TABLE,
    TORUS,
    algorithm_named,
    candidates,
)
from scalemath.collectives.answer import BEST, ESTIMATORS, IN_NETWORK, answer
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.lowering import with_hierarchy, with_shape
from scalemath.collectives.operations import Operation
from scalemath.core.kernel import kernel_of
from scalemath.core.model import Model, Parameter, Step
from scalemath.kernels.alltoall import busiest_port
from scalemath.kernels.busbandwidth import algorithm_bandwidth, bus_bandwidth
from scalemath.units import PublicFunction, quantities
from scalemath.units.declaration import parse

DECLARED = {
    "size": "byte",
    "ranks": "count >= 1 unless placement",
    "bandwidth": "byte/s/dir > 0 unless placement",
    "latency": "s",
    "reduction_rate": "byte/s > 0 optional",
    "switch_latency": "s optional",
    "levels": "count >= 1",
    "bruck_radix": "count >= 2",
    "largest_send": "byte unless traffic",
    "largest_receive": "byte optional",
    "sum_of_steps": "byte optional",
    "in_network": f"choice {' '.join(IN_NETWORK)}",
    "estimator": f"choice {' '.join(ESTIMATORS)}",
}
SIDES = dict.fromkeys(("ring_hops", "half_hops", "dimensions", "longest"), "count optional")
"""Numbers that stand for the sides of a torus."""
TIERS = {
    f"{tier}_{name}": wanted
    for name, wanted in (
        ("ranks", "count >= 1 optional"),
        ("bandwidth", "byte/s/dir > 0 optional"),
        ("latency", "s optional"),
    )
    for tier in ("inner", "middle", "outer")
}
"""Numbers that stand for up to three networks inside one another."""


SPECIAL = frozenset(("placement", "schedule", "shape", "hierarchy", "in_network"))
"""Arguments that are no single number, or say what the network offers."""


def collective(
    operation: Operation, **declarations: str
) -> Callable[[Callable[..., CollectiveCost]], PublicFunction[CollectiveCost]]:
    """Make a public function of a described one.

    Parameters
    ----------
    operation : Operation
        What it answers for.
    **declarations : str
        Declarations that differ from the usual ones.

    Returns
    -------
    callable
        A decorator. The function it takes gives signature and docstring; its body receives
        the checked SI floats.
    """

    def decorate(function: Callable[..., CollectiveCost]) -> PublicFunction[CollectiveCost]:
        signature = inspect.signature(function)
        names = tuple(n for n in signature.parameters if n != "assumed")
        declared = {n: DECLARED[n] for n in names if n in DECLARED} | declarations
        declared["algorithm"] = f"choice {' '.join((*TABLE[operation.name], BEST))}"
        steps = _steps(operation)
        offered = frozenset(a.needs for a in TABLE[operation.name].values())
        plain = quantities(*steps, output="time", **declared)(function)
        lowered = (SIDES if "shape" in names else {}) | (TIERS if "hierarchy" in names else {})
        base = (
            _wide(operation, function, declared, lowered, steps).model if lowered else plain.model
        )

        @functools.cache
        def model_for(stated: frozenset[str]) -> Model:
            return _model(operation, base, stated)

        @functools.cache
        def wide(stated: frozenset[str]) -> PublicFunction[CollectiveCost]:
            made = _wide(operation, function, declared, lowered, steps)
            cast(Any, made).model = model_for(stated)
            return made

        @functools.wraps(function)
        def public(*args: Any, **kwargs: Any) -> Any:
            if "algorithm" in kwargs:
                _known(operation, kwargs)
            if SPECIAL.isdisjoint(kwargs):
                return plain(*args, **kwargs)
            kwargs = {k: v for k, v in kwargs.items() if v is not None or k not in SPECIAL}
            if "placement" in kwargs or "schedule" in kwargs:
                from scalemath.collectives.placed import answer_placed

                return answer_placed(operation, args, kwargs)
            stated = _stated(kwargs)
            if not stated or not stated <= offered:
                return plain(*args, **kwargs)
            return wide(stated)(*args, **_lowered(operation.name, kwargs))

        result = cast(Any, public)
        visible = [p for n, p in signature.parameters.items() if n != "assumed"]
        result.__signature__ = inspect.signature(plain).replace(
            parameters=[
                p.replace(annotation="QuantityLike") if p.name in declared else p for p in visible
            ]
        )
        result.parameters = plain.parameters
        result.kernels = {n: a.kernel.function for n, a in TABLE[operation.name].items()}
        result.kernel = result.kernels[operation.default]
        result.algorithms = TABLE[operation.name]
        result.operation = operation
        result.model = model_for(frozenset())
        if "placement" in names:
            result.placed_model = functools.partial(_placed_model, operation)
        result.prepared = functools.partial(_prepared, operation, model_for)
        cast(Any, plain).model = result.model
        return cast("PublicFunction[CollectiveCost]", result)

    return decorate


def _steps(operation: Operation) -> tuple[Step, ...]:
    """Time by algorithm, then the two bandwidths."""
    kernels = {name: a.kernel for name, a in TABLE[operation.name].items()}
    steps = [Step("time", kernels, "s", choice="algorithm")]
    if operation.name == "all_to_all_v":
        steps.append(Step("size", {"": kernel_of(busiest_port)}, "byte"))
    if operation.name != "barrier":
        steps += [
            Step("algorithm_bandwidth", {"": kernel_of(algorithm_bandwidth)}, "byte/s"),
            Step("factor", {"": operation.factor}, "1"),
            Step("bus_bandwidth", {"": kernel_of(bus_bandwidth)}, "byte/s"),
        ]
    return tuple(steps)


def _wide(
    operation: Operation,
    function: Callable[..., CollectiveCost],
    declared: Mapping[str, str],
    lowered: Mapping[str, str],
    steps: tuple[Step, ...],
) -> PublicFunction[CollectiveCost]:
    """The same function with the numbers that stand for what is no single number."""

    def endpoint(**values: Any) -> CollectiveCost:
        return answer(operation, values, values.pop("assumed"))

    signature = inspect.signature(function)
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=math.nan)
        for name in lowered
    ]
    taken = ("placement", "schedule", "shape", "hierarchy")
    kept = [p for p in signature.parameters.values() if p.name not in taken]
    cast(Any, endpoint).__signature__ = signature.replace(parameters=[*kept, *extra])
    endpoint.__name__ = function.__name__
    return quantities(*steps, output="time", **declared, **lowered)(endpoint)


def _stated(arguments: Mapping[str, Any]) -> frozenset[str]:
    """What the arguments of a call say the network offers."""
    stated = IN_NETWORK.get(str(arguments.get("in_network", "none")), frozenset())
    if arguments.get("shape") is not None:
        stated |= {TORUS}
    if arguments.get("hierarchy") is not None:
        stated |= {LEVELS}
    return stated


def _lowered(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with sides and levels replaced by the numbers kernels take."""
    found = dict(arguments)
    if found.get("shape") is not None:
        found = with_shape(name, found)
    if found.get("hierarchy") is not None:
        found = with_hierarchy(name, found)
    return found


def _model(operation: Operation, model: Model, stated: frozenset[str]) -> Model:
    """The model as sweeps see it: "best" among what is stated; ranks are required."""

    def settled(parameter: Parameter) -> Parameter:
        if parameter.name == "algorithm":
            names = tuple(a.name for a in candidates(operation.name, stated))
            return evolve(parameter, candidates=names)
        if parameter.name == "ranks" and parameter.default != parameter.default:
            return evolve(parameter, required=True, unless="", default=math.nan)
        return parameter

    extra: tuple[Parameter, ...] = ()
    if operation.name == "all_to_all_v":  # known from a traffic matrix only
        extra = (evolve(parse("sum_of_steps", "byte optional"), default=0.0),)
    kept = tuple(settled(p) for p in model.parameters if p.name not in ("estimator", "in_network"))
    return evolve(model, name=operation.name, parameters=kept + extra)


def _placed_model(operation: Operation) -> Model:
    """The model on a placement; its module is loaded when it is first asked for."""
    from scalemath.collectives.placed import placed_model

    return placed_model(operation)


def _prepared(
    operation: Operation,
    model_for: Callable[[frozenset[str]], Model],
    arguments: Mapping[str, Any],
) -> tuple[Model, dict[str, Any]]:
    """Model and arguments of a sweep once what is no single number has been lowered."""
    found = {k: v for k, v in arguments.items() if v is not None or k not in SPECIAL}
    if _on_placement(found):
        from scalemath.collectives.placement_axes import with_placement

        model = _placed_model(operation)
        return model, with_placement(model, found)
    model = model_for(_stated(found))
    found.pop("in_network", None)
    return model, _lowered(operation.name, found)


def _on_placement(arguments: Mapping[str, Any]) -> bool:
    """Whether a placement, or a field of one, is among the arguments or in what moves together."""
    from scalemath.sweeps.axes import Zipped

    names = {n for v in arguments.values() if isinstance(v, Zipped) for n in v.members}
    return any(name.partition(".")[0] == "placement" for name in (*arguments, *names))


def _known(operation: Operation, kwargs: dict[str, Any]) -> None:
    """Replace a usual other name of an algorithm by the name of the table."""
    name = kwargs["algorithm"]
    if isinstance(name, str) and name not in TABLE[operation.name] and name != BEST:
        plain = name.lower().replace("_", "-").replace(" ", "-")
        if plain in ALIASES or plain != name:
            kwargs["algorithm"] = algorithm_named(operation.name, name).name
