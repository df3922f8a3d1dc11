"""Units that cannot lie: our registry, direction as a unit, and the boundary of formulas."""

from scalemath.units.adopt import adopt, make_application_registry
from scalemath.units.boundary import PublicFunction, quantities
from scalemath.units.checks import convert
from scalemath.units.format import display
from scalemath.units.registry import Q_, Quantity, Unit, ureg
from scalemath.units.values import QuantityLike, quantity, to_si

__all__ = [
    "Q_",
    "PublicFunction",
    "Quantity",
    "QuantityLike",
    "Unit",
    "adopt",
    "convert",
    "display",
    "make_application_registry",
    "quantities",
    "quantity",
    "to_si",
    "ureg",
]
