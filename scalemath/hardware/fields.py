"""Fields of frozen classes whose values cross the units boundary when they are set."""

from __future__ import annotations

from copy import copy
from typing import Any

import attrs
from attrs import frozen

from scalemath.core.errors import ConventionError, ScalemathError
from scalemath.core.model import Parameter
from scalemath.units import Quantity, convert, to_si
from scalemath.units.declaration import parse
from scalemath.units.registry import ureg
from scalemath.units.values import quantity_of

__all__ = ["changed", "frozen", "given", "si"]

DECLARED = "declared"
_DIRECTED = "[direction]"


def given(declaration: str, default: Any = attrs.NOTHING, *, directed: bool = False) -> Any:
    """Make an attrs field for a quantity, count, number or choice.

    Parameters
    ----------
    declaration : str
        In the grammar of the boundary, as in "byte/s/dir > 0" or "count >= 1".
    default : object
        Value when left out; None passes unchecked and stays None.
    directed : bool
        Whether a rate without a direction is refused; otherwise it counts per direction.

    Returns
    -------
    object
        The attrs field. It keeps quantities in the unit given; `si` gives their SI float.
    """
    parameter = parse("value", declaration)

    def take(value: Any, field: attrs.Attribute[Any]) -> Any:
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
    if value is None:
        return None
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
