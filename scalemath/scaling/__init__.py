"""Laws of scaling and their limits: how far more devices help."""

from scalemath.scaling.laws import KarpFlatt, LawResult, amdahl, gustafson, karp_flatt
from scalemath.scaling.strong import StrongScaling, strong_scaling

__all__ = [
    "KarpFlatt",
    "LawResult",
    "StrongScaling",
    "amdahl",
    "gustafson",
    "karp_flatt",
    "strong_scaling",
]
