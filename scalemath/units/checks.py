"""Converting and checking one argument against its declared parameter."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import pint

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, ConventionError, RangeError, UnitsError
from scalemath.core.model import Parameter
from scalemath.core.wording import offered
from scalemath.units.registry import Quantity
from scalemath.units.values import ARRAYS, bare, quantity_of, raw_si, target


def _spelling(parameter: Parameter) -> str:
    """Unit text of the boundary for a parameter."""
    return "byte/s/dir" if parameter.kind == "rate" else parameter.unit


def convert(parameter: Parameter, value: Any) -> Any:
    """Convert and check a scalar or an array for one parameter.

    Parameters
    ----------
    parameter : Parameter
        What is wanted.
    value : object
        Quantity, text, number, `Datum`, or an array or list of these.

    Returns
    -------
    float, str or numpy.ndarray
        SI float, the name of a choice, or an array of floats.

    Raises
    ------
    ScalemathError
        The matching subclass; the message begins with what was given, without the name.
    """
    if is_array(value):
        return _convert_array(parameter, value)
    return convert_scalar(parameter, value)[0]


def taken_per_direction(name: str) -> str:
    """Assumption made for a rate without a direction."""
    return f"{name} taken per direction (given without a direction)"


def taken_as_zero(name: str) -> str:
    """Assumption made for a quantity that was left out."""
    return f"{name} taken as 0 (not given)"


def undirected(parameter: Parameter, value: Any) -> bool:
    """Whether a rate, or one of several, was given without a direction."""
    if parameter.kind != "rate":
        return False
    if isinstance(value, (list, tuple)):
        return any(undirected(parameter, item) for item in value)
    held = quantity_of(value.quantity if isinstance(value, Datum) else value)
    return target(_spelling(parameter)).conversion(held._units).bare_rate


def is_array(value: Any) -> bool:
    """Whether a value stands for many: an array, a list, or a quantity that holds an array."""
    held = getattr(value, "_magnitude", value)
    return held.ndim > 0 if isinstance(held, np.ndarray) else isinstance(held, ARRAYS)


def fast_path(parameter: Parameter) -> Callable[[Any], Any]:
    """Return a function for the plain case: a valid scalar in a unit that was met before.

    It answers None for everything else, which then takes the way that can explain itself.
    """
    low, high = parameter.low, parameter.high
    if parameter.kind == "count":

        def count(value: Any) -> float | None:
            if value.__class__ is int and low <= value <= high and value <= 2**53:
                return float(value)
            return None

        return count
    if parameter.kind == "choice":
        names = frozenset(parameter.choices)

        def choice(value: Any) -> str | None:
            return value if value.__class__ is str and value in names else None

        return choice
    if parameter.kind not in ("quantity", "rate"):
        return _never
    known = target(_spelling(parameter)).known

    def plain(value: Any) -> float | None:
        if value.__class__ is not Quantity:
            return None
        conversion = known.get(value._units)
        if conversion is None or conversion.bare_rate:
            return None
        magnitude = value._magnitude
        if magnitude.__class__ is not float and magnitude.__class__ is not int:
            return None
        try:
            result: float = conversion.value(magnitude)
        except OverflowError:
            return None
        return result if low < result < high else None

    return plain


def _never(_: Any) -> float | None:
    return None


def convert_scalar(parameter: Parameter, value: Any) -> tuple[Any, bool]:
    """Return the checked SI value, and whether it was a rate without a direction."""
    kind = parameter.kind
    undirected = False
    if isinstance(value, np.ndarray):
        value = value.item()
    if kind == "choice":
        return _choice(parameter, value), False
    if kind == "count":
        return _count(parameter, value), False
    if isinstance(value, Datum):
        _check_conventions(parameter, value)
        value = value.quantity
    if kind == "number":
        result = _number(value)
    else:
        if value.__class__ is not Quantity:
            if isinstance(value, (numbers.Number, bool)) or value is None:
                raise UnitsError(bare(value, _spelling(parameter)))
            value = quantity_of(value)
        conversion = target(_spelling(parameter)).conversion(value._units)
        undirected = conversion.bare_rate
        try:
            result = conversion.value(value._magnitude)
        except OverflowError:
            raise RangeError(f"is {value}, too large for a float") from None
        except TypeError:
            raise UnitsError(f"is {value!r}, wanted one number with a unit") from None
    if not parameter.low <= result <= parameter.high or result - result != 0:
        raise RangeError(_outside(parameter, value))
    if (parameter.low_open and result == parameter.low) or (
        parameter.high_open and result == parameter.high
    ):
        raise RangeError(_outside(parameter, value))
    return result, undirected


def _choice(parameter: Parameter, value: Any) -> str:
    if isinstance(value, str) and value in parameter.choices:
        return value
    raise ArgumentError(f"is {value!r}, wanted one of {offered(value, parameter.choices)}")


def _count(parameter: Parameter, value: Any) -> float:
    if isinstance(value, (bool, np.bool_, str)) or not isinstance(value, numbers.Real):
        if isinstance(value, pint.Quantity):
            raise UnitsError(f"is {value}, a quantity; a count is a plain integer, as in 72")
        raise ArgumentError(f"is {value!r}; a count is a plain integer, as in 72")
    size: Any = abs(value)
    if size > 2**53 and not math.isinf(size):
        raise RangeError("is beyond 2**53, where floats skip integers; counts go up to there")
    number = float(value)
    if not math.isfinite(number) or not number.is_integer():
        raise RangeError(f"is {value!r}; a count is a whole number, as in 72")
    if not parameter.low <= number <= parameter.high:
        raise RangeError(_outside(parameter, value))
    return number


def _number(value: Any) -> float:
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"is {value!r}; wanted a plain number")
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, (str, pint.Quantity)):
        return float(raw_si(value, "1"))
    raise ArgumentError(f"is {value!r}; wanted a plain number")


def _outside(parameter: Parameter, value: Any) -> str:
    unit = "" if parameter.unit == "1" else f" {parameter.unit}"
    low = f"{'above' if parameter.low_open else 'at least'} {parameter.low:g}{unit}"
    if math.isinf(parameter.low):
        low = "finite"
    high = f"{'below' if parameter.high_open else 'at most'} {parameter.high:g}{unit}"
    wanted = low if math.isinf(parameter.high) else f"{low} and {high}"
    if parameter.kind != "count" and math.isinf(parameter.high) and low != "finite":
        wanted += " and finite"
    return f"is {value}; wanted {wanted}"


def _check_conventions(parameter: Parameter, value: Datum) -> None:
    for name, wanted in parameter.conventions.items():
        given = getattr(value, name, "")
        if given and given != wanted:
            raise ConventionError(
                f"is {value.as_printed or value.value} with {name} {given!r}, wanted {wanted!r}: "
                + _CURES.get((name, given), f"give the {wanted} figure")
            )
    if parameter.kind == "rate" and value.scope and value.scope not in _PORT_SCOPES:
        raise ConventionError(
            f"is {value.as_printed or value.value} per {value.scope}, wanted the rate of one "
            "rank's port: divide by the number of ports it sums, or take the entry per GPU"
        )
    if value.sparsity == "sparse" and "sparsity" not in parameter.conventions:
        raise ConventionError(
            f"is {value.as_printed or value.value} with sparsity, wanted the dense figure: "
            "give the dense peak"
        )


_PORT_SCOPES = ("GPU", "port", "rank", "link", "NIC", "accelerator")
_CURES = {
    ("latency_kind", "round-trip"): "a round trip is two one-way times: give half of it",
}


def _convert_array(parameter: Parameter, value: Any) -> np.ndarray[Any, Any]:
    held = getattr(value, "_magnitude", value)
    if isinstance(held, np.ma.MaskedArray):
        raise ArgumentError("is a masked array; leave out what is masked, as in a.compressed()")
    if isinstance(held, np.ndarray) and held.dtype.kind == "c":
        raise ArgumentError("holds complex numbers, wanted real ones")
    if parameter.kind == "choice":
        return np.array([_choice(parameter, item) for item in value], dtype=object)
    if parameter.kind == "count":
        result = _count_array(value)
    elif parameter.kind == "number" and isinstance(value, (list, tuple)):
        result = np.array([_number(item) for item in value], dtype=float)
    else:
        result = np.asarray(raw_si(_listed(value), _spelling(parameter)), dtype=float)
    if not result.size:
        raise RangeError("is empty; give at least one value")
    bad = ~np.isfinite(result) | (result < parameter.low) | (result > parameter.high)
    if parameter.low_open:
        bad |= result == parameter.low
    if parameter.high_open:
        bad |= result == parameter.high
    if bad.any():
        first = int(np.argmax(bad.ravel()))
        shown = f"{result.ravel()[first]:g} at position {first}"
        raise RangeError(_outside(parameter, shown).replace("is ", "holds ", 1))
    return result


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, range) else value


def _count_array(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, pint.Quantity):
        raise UnitsError("is a quantity; counts are plain integers, as in [2, 8, 72]")
    try:
        given = np.asarray(_listed(value))
    except ValueError:
        raise ArgumentError("is ragged; give rows of equal length") from None
    if given.size == 0:
        raise RangeError("is empty; give at least one value")
    if given.dtype.kind not in "iuf":
        kinds = ", ".join(sorted({type(item).__name__ for item in given.ravel().tolist()}))
        if kinds == "int":
            raise RangeError("holds whole numbers beyond 2**53, where floats skip integers")
        raise ArgumentError(f"holds values of type {kinds}; counts are plain integers")
    result = given.astype(float)
    if (result != np.floor(result)).any() or ((given > 2**53) | (given < -(2**53))).any():
        raise RangeError("holds values that are not whole numbers up to 2**53")
    return result
