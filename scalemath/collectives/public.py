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

from scalemath.collectives.algorithms import ALIASES, TABLE, algorithm_named
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


SPECIAL = frozenset(("placement", "schedule", "shape", "hierarchy"))
"""Arguments that are no single number."""


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
        plain = quantities(*steps, output="time", **declared)(function)
        lowered = (SIDES if "shape" in names else {}) | (TIERS if "hierarchy" in names else {})
        wide = _wide(operation, function, declared, lowered, steps) if lowered else plain

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
            if "shape" in kwargs and "shape" in names:
                return wide(*args, **with_shape(operation.name, kwargs))
            if "hierarchy" in kwargs and "hierarchy" in names:
                return wide(*args, **with_hierarchy(operation.name, kwargs))
            return plain(*args, **kwargs)

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
        result.model = _model(operation, wide.model)
        result.placed_model = _placed_model(operation) if "placement" in names else None
        cast(Any, plain).model = cast(Any, wide).model = result.model
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


def _model(operation: Operation, model: Model) -> Model:
    """The model as sweeps see it: kernels' own defaults, and a rank count that is required."""

    def settled(parameter: Parameter) -> Parameter:
        if parameter.name == "algorithm":
            free = tuple(n for n, a in TABLE[operation.name].items() if not a.needs)
            return evolve(parameter, candidates=free)
        if parameter.name == "ranks":
            return evolve(parameter, required=True, unless="", default=math.nan)
        return parameter

    extra: tuple[Parameter, ...] = ()
    if operation.name == "all_to_all_v":  # known from a traffic matrix only
        extra = (evolve(parse("sum_of_steps", "byte optional"), default=0.0),)
    kept = tuple(settled(p) for p in model.parameters if p.name not in ("estimator", "in_network"))
    return evolve(model, name=operation.name, parameters=kept + extra)


def _placed_model(operation: Operation) -> Callable[[], Model]:
    """The model on a placement, built when it is first asked for."""

    def model() -> Model:
        from scalemath.collectives.placed import placed_model

        return placed_model(operation)

    return model


def _known(operation: Operation, kwargs: dict[str, Any]) -> None:
    """Replace a usual other name of an algorithm by the name of the table."""
    name = kwargs["algorithm"]
    if isinstance(name, str) and name not in TABLE[operation.name] and name != BEST:
        plain = name.lower().replace("_", "-").replace(" ", "-")
        if plain in ALIASES or plain != name:
            kwargs["algorithm"] = algorithm_named(operation.name, name).name
