"""Laws of scaling and their limits: how far more devices help."""

from scalemath.scaling.inverse import (
    EfficiencyElsewhere,
    communication_share,
    efficiency_elsewhere,
    gain_from_faster_network,
    required_bandwidth,
    share_from_slowdown,
)
from scalemath.scaling.laws import KarpFlatt, LawResult, amdahl, gustafson, karp_flatt
from scalemath.scaling.limits import ScalingLimits, scaling_limits
from scalemath.scaling.strong import StrongScaling, strong_scaling
from scalemath.scaling.usl import (
    UniversalScaling,
    fit_universal_scaling,
    universal_scaling,
)
from scalemath.scaling.weak import WeakScaling, isoefficiency, weak_scaling

__all__ = [
    "EfficiencyElsewhere",
    "KarpFlatt",
    "LawResult",
    "ScalingLimits",
    "StrongScaling",
    "UniversalScaling",
    "WeakScaling",
    "amdahl",
    "communication_share",
    "efficiency_elsewhere",
    "fit_universal_scaling",
    "gain_from_faster_network",
    "gustafson",
    "isoefficiency",
    "karp_flatt",
    "required_bandwidth",
    "scaling_limits",
    "share_from_slowdown",
    "strong_scaling",
    "universal_scaling",
    "weak_scaling",
]
