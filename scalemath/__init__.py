"""The mathematics of AI clusters, with units that cannot lie."""

__version__ = "0.1.0"
