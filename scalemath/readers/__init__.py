"""Readers of what real tools print: typed columns, what was skipped and why, and self-checks."""

from scalemath.readers.detect import Read, read
from scalemath.readers.reading import Check, Reading, Skipped

__all__ = ["Check", "Read", "Reading", "Skipped", "read"]
