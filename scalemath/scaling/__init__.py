"""Laws of scaling and their limits: how far more devices help."""

from scalemath.scaling.laws import KarpFlatt, LawResult, amdahl, gustafson, karp_flatt
from scalemath.scaling.limits import ScalingLimits, scaling_limits
from scalemath.scaling.strong import StrongScaling, strong_scaling

__all__ = [
    "KarpFlatt",
    "LawResult",
    "ScalingLimits",
    "StrongScaling",
    "amdahl",
    "gustafson",
    "karp_flatt",
    "scaling_limits",
    "strong_scaling",
]
