"""Every error scalemath raises on purpose.

A message says what was given, what is wanted and how to write it. Errors about units are
also the pint errors a user of pint would catch.
"""

from __future__ import annotations

import pint


class ScalemathError(Exception):
    """Root of all errors raised by scalemath."""


class UnitsError(ScalemathError, pint.DimensionalityError):
    """Wrong dimension, wrong spelling or wrong registry; also a pint DimensionalityError."""

    def __init__(self, message: str) -> None:
        pint.DimensionalityError.__init__(self, "", "", "", "", message)
        self.message = message
        self.args = (message,)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[UnitsError], tuple[str]]:
        return type(self), (self.message,)


class SpellingError(UnitsError, pint.UndefinedUnitError):
    """A unit that is unknown or spelt in a way that could mean two things."""


class ConventionError(ScalemathError, ValueError):
    """Right unit, wrong convention: direction, scope, precision, latency kind, FEC side."""


class ContradictionError(ScalemathError, ValueError):
    """Over-determined input that does not close; the message shows both numbers."""


class RangeError(ScalemathError, ValueError):
    """A value outside the range in which a formula means something."""


class ArgumentError(ScalemathError, TypeError):
    """An argument that is missing, unknown, of the wrong type, or given twice."""


class ReadError(ScalemathError, ValueError):
    """A file that cannot be read: names file, line and what was expected."""
