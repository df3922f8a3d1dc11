"""Names through which lower rooms reach what stands above them, at call time only.

A lower room never imports a higher one. Where it must call upward (make a quantity, run an
array call, draw), the higher room has put its function here when it was imported, or is
imported by name on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_PROVIDERS = {
    "quantity": ("scalemath.units", "quantity"),
    "display": ("scalemath.units", "display"),
    "array_call": ("scalemath.sweeps", "array_call"),
    "plot": ("scalemath.plots", "plot"),
}
_cache: dict[str, Callable[..., Any]] = {}


def hook(name: str) -> Callable[..., Any]:
    """Return the function that serves a hook, importing its room on first use."""
    found = _cache.get(name)
    if found is None:
        module, attribute = _PROVIDERS[name]
        found = _cache[name] = getattr(import_module(module), attribute)
    return found
