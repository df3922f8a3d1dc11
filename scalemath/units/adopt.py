"""Taking in quantities of other registries, by the long names of their units."""

from __future__ import annotations

from typing import Any

import pint
from pint.util import UnitsContainer

from scalemath.core.errors import SpellingError, UnitsError
from scalemath.units.explain import foreign
from scalemath.units.registry import Q_, Quantity, ureg


def adopt(value: Any) -> Quantity:
    """Return a quantity of our registry equal to the one given.

    Parameters
    ----------
    value : Quantity or str
        A quantity of any pint registry, or its text.

    Returns
    -------
    Quantity
        The same amount in our registry; unchanged when it is ours already.

    Raises
    ------
    UnitsError
        If a unit has no meaning here; what another registry misread is explained.
    """
    if isinstance(value, Quantity):
        return value
    if isinstance(value, str):
        parsed = Q_(value)
        return parsed if hasattr(parsed, "_units") else Q_(parsed)
    if not isinstance(value, pint.Quantity):
        raise UnitsError(f"{value!r} is no quantity: write it with a unit, as in '400 Gb/s'")
    theirs: Any = value._REGISTRY
    units: dict[str, Any] = {}
    for name, power in value._units.items():
        units[_long_name(theirs, name)] = power
    return Q_(value._magnitude, ureg.Unit(UnitsContainer(units)))


_MISREAD = frozenset({"baud", "point", "gauss", "tesla", "barn", "gilbert", "bel"})


def _long_name(theirs: Any, name: str) -> str:
    long_name = str(theirs.get_name(name))
    _, unit, _ = theirs.parse_unit_name(long_name)[0]
    if unit in _MISREAD:
        raise UnitsError(foreign(long_name))
    try:
        return str(ureg.get_name(long_name))
    except SpellingError:
        raise UnitsError(foreign(long_name)) from None


def make_application_registry() -> None:
    """Make our registry the one that pint itself uses for new quantities and unpickling.

    Importing scalemath never does this; call it once at the start of a program whose other
    parts should speak the same units.
    """
    pint.set_application_registry(ureg)  # type: ignore[no-untyped-call]
