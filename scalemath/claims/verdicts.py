"""The six verdicts, and how near a printed figure must be to the computed one."""

from __future__ import annotations

VERDICTS = ("ok", "rounding", "convention-dependent", "inconsistent", "wrong", "unverifiable")
"""From the best to the worst, and last what no calculation can decide."""

NEAR = 0.0025
"""Up to this relative difference a correctly rounded figure is as good as the exact one."""

HEDGED = 0.01
"""Relative difference that "about" or "~" in front of a figure excuses."""
