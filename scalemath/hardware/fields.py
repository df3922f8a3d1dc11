"""Fields of frozen classes whose values cross the units boundary when they are set."""

from __future__ import annotations

import functools
import inspect
import re
from copy import copy
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from scalemath.core.errors import ArgumentError, ConventionError, ScalemathError
from scalemath.core.model import Parameter
from scalemath.core.wording import offered
from scalemath.units import Quantity, convert, to_si
from scalemath.units.checks import is_array
from scalemath.units.declaration import parse
from scalemath.units.registry import ureg
from scalemath.units.values import quantity_of

__all__ = ["changed", "checked_call", "frozen", "given", "si"]

DECLARED = "declared"
_DIRECTED = "[direction]"
_RATIO = re.compile(r"\d{1,12}\s*/\s*[1-9]\d{0,11}")
_EXAMPLES = {"count": "a whole number, as in 8", "number": "a plain number, as in 0.5"}


def checked_call(function: Any, name: str) -> Any:
    """Return a function whose misspelt and missing arguments are answered with a sentence.

    Parameters
    ----------
    function : callable
        Function, or ``__init__`` of a class.
    name : str
        What the user calls.

    Returns
    -------
    callable
        The same function; calls that do not fit its signature raise ArgumentError.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            signature = inspect.signature(function)
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ArgumentError(_misfit(name, signature, kwargs, error)) from None
            raise

    return call


def _misfit(
    name: str, signature: inspect.Signature, kwargs: dict[str, Any], error: TypeError
) -> str:
    """Say which argument a call has wrong, and what it may be."""
    known = [n for n in signature.parameters if n != "self" and not n.startswith("_")]
    for word in kwargs:
        if word not in known:
            return f"{name}: {word[:80]} is no argument; there are {offered(word, known)}"
    return f"{name}: {error}; {name} takes {', '.join(known)}"


if TYPE_CHECKING:
    from attrs import frozen
else:

    def frozen(cls: type | None = None, **options: Any) -> Any:
        """Make a frozen attrs class whose misfit calls are answered with a sentence."""
        if cls is None:
            return functools.partial(frozen, **options)
        made = attrs.frozen(cls, **options)
        made.__init__ = checked_call(made.__init__, made.__name__)
        return made


def given(declaration: str, default: Any = attrs.NOTHING, *, directed: bool = False) -> Any:
    """Make an attrs field for a quantity, count, number or choice.

    Parameters
    ----------
    declaration : str
        In the grammar of the boundary, as in "byte/s/dir > 0" or "count >= 1".
    default : object
        Value when left out; where that is None, None may be given too.
    directed : bool
        Whether a rate without a direction is refused; otherwise it counts per direction.

    Returns
    -------
    object
        The attrs field. It keeps quantities in the unit given; `si` gives their SI float.
    """
    parameter = parse("value", declaration)

    def take(value: Any, field: attrs.Attribute[Any]) -> Any:
        if value is None and default is None:
            return None
        wanted = _EXAMPLES.get(parameter.kind, f"a value in {parameter.unit}")
        if value is None:
            raise ArgumentError(f"{field.name} is None; wanted {wanted}")
        if is_array(value) or isinstance(value, (list, tuple, set, dict)):
            raise ArgumentError(
                f"{field.name} is {str(value)[:80]}; wanted one value here, {wanted}; "
                "build one object for each value"
            )
        try:
            return _stored(parameter, value, directed)
        except ScalemathError as error:
            raise type(error)(f"{field.name} {error}") from None

    return attrs.field(
        default=default,
        converter=attrs.Converter(take, takes_field=True),
        metadata={DECLARED: parameter},
        kw_only=True,
    )


def _stored(parameter: Parameter, value: Any, directed: bool) -> Any:
    """Check a value; return a count as int, a number as float, a quantity as ours."""
    if parameter.kind == "number" and isinstance(value, str) and _RATIO.fullmatch(value):
        value = float(Fraction(value.replace(" ", "")))
    checked = convert(parameter, value)
    if parameter.kind == "choice":
        return checked
    if parameter.kind == "count":
        return int(checked)
    if parameter.kind == "number":
        return float(checked)
    # a copy: the parsed text is shared, and a quantity can be changed in place
    quantity: Quantity = copy(quantity_of(getattr(value, "quantity", value)))
    if parameter.kind == "rate" and _DIRECTED not in quantity.dimensionality:
        if directed:
            raise ConventionError(
                f"is {quantity} without a direction; write '{quantity}/dir' for the rate each way "
                f"or '{quantity}/bidir' for the sum of both ways"
            )
        quantity = quantity / (1 * ureg.Unit("dir"))
    return quantity


def si(instance: Any, name: str, missing: float = 0.0) -> float:
    """Return the SI float of one field; `missing` when it was left out."""
    value = getattr(instance, name)
    if value is None:
        return missing
    parameter: Parameter = getattr(attrs.fields(type(instance)), name).metadata[DECLARED]
    if parameter.kind in ("count", "number"):
        return float(value)
    unit = "byte/s/dir" if parameter.kind == "rate" else parameter.unit
    return float(to_si(value, unit))


def changed(instance: Any, **changes: Any) -> Any:
    """Return a copy of a frozen object with some fields replaced, all checks repeated."""
    return attrs.evolve(instance, **changes)
