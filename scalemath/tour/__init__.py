"""The tour that `python -m scalemath` prints: the library's main job on real numbers."""

from scalemath.tour.figures import figures
from scalemath.tour.page import page

__all__ = ["figures", "page"]
