"""Is this number expected: measured collectives against bound, model and what others measured."""

from scalemath.diagnosis.calibration import Calibration, calibrate
from scalemath.diagnosis.diagnose import Diagnosis, Region, diagnose
from scalemath.diagnosis.expectation import Expectation, expected_bus_bandwidth
from scalemath.diagnosis.setting import Setting, setting_of

__all__ = [
    "Calibration",
    "Diagnosis",
    "Expectation",
    "Region",
    "Setting",
    "calibrate",
    "diagnose",
    "expected_bus_bandwidth",
    "setting_of",
]
