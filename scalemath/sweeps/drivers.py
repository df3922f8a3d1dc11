"""Gets the compiled driver of a wiring; remembers it, and loads the compiler on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from scalemath.core.errors import ArgumentError, ScalemathError
from scalemath.sweeps.around import is_library, outside
from scalemath.sweeps.axes import Array
from scalemath.sweeps.generate import Fold, Text, driver_text
from scalemath.sweeps.layout import Layout
from scalemath.sweeps.program import Wiring

Arithmetic = Literal["fast", "strict"]

_known: dict[Any, tuple[Callable[..., None], Wiring]] = {}


def driver(
    wiring: Wiring, layout: Layout, fold: Fold, arithmetic: Arithmetic, extra: tuple[Any, ...]
) -> Callable[..., None]:
    """Return the compiled driver for a wiring, a layout and a fold.

    Parameters
    ----------
    wiring : Wiring
        Scalar program.
    layout : Layout
        Decides which inputs vary within a row.
    fold : Fold
        What happens to a row.
    arithmetic : str
        "fast" or "strict".
    extra : tuple
        Example of the fold's own arguments, for their types.

    Returns
    -------
    callable
        Called with first row, last row, shape, start, strides, tile, length, data, extra.
    """
    if arithmetic not in ("fast", "strict"):
        raise ArgumentError(f"arithmetic is {arithmetic!r}, wanted 'fast' or 'strict'")
    types = tuple(f"{a.dtype}{a.ndim}" if isinstance(a, np.ndarray) else type(a) for a in extra)
    key = (wiring.key(), _outside(wiring), layout.inner, fold, arithmetic, types)
    found = _known.get(key)
    if found is None:
        from scalemath.sweeps import _jit

        text = driver_text(wiring, layout.inner, fold, _jit.REPLACEMENTS)
        starts = np.zeros(layout.start.size + len(fold.cursors), dtype=np.int64)
        strides = np.zeros((starts.size, layout.shape.size), dtype=np.int64)
        example = (layout.shape, starts, strides, layout.tile, layout.length, layout.data, *extra)
        # the wiring is kept with its driver: the key holds the identity of its model
        found = _known[key] = (_jit.driver(text, arithmetic, example), wiring)
    return found[0]


def compile_text(
    key: tuple[Any, ...],
    wiring: Wiring,
    text: Callable[[], Text],
    arithmetic: Arithmetic,
    example: tuple[Any, ...],
) -> Callable[..., None]:
    """Return the compiled driver of a text made elsewhere; `key` says what it depends on."""
    key = (*key, _outside(wiring))
    found = _known.get(key)
    if found is None:
        from scalemath.sweeps import _jit

        found = _known[key] = (_jit.driver(text(), arithmetic, example), wiring)
    return found[0]


def _outside(wiring: Wiring) -> tuple[Any, ...]:
    """Values that users' functions take from around them, which may change between two sweeps."""
    own = (k.function for k in wiring.kernels() if not is_library(k.function))
    return tuple(outside(function) for function in own)


def replacements() -> dict[Callable[..., Any], str]:
    """Faster equal source of primitives, known to the compiler's file."""
    from scalemath.sweeps import _jit

    return _jit.REPLACEMENTS


def cursors(layout: Layout, starts: list[int], strides: list[Array]) -> tuple[Array, Array]:
    """Join the cursors of a layout with those of a fold."""
    return (
        np.concatenate([layout.start, np.array(starts, dtype=np.int64)]),
        np.vstack([layout.strides, *strides]) if strides else layout.strides,
    )


def guarded(wiring: Wiring, call: Callable[[], Any]) -> Any:
    """Run a driver; an exception out of a user's function becomes one clear error."""
    try:
        return call()
    except (ScalemathError, KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        raise ArgumentError(
            f"{wiring.model.name} failed inside the sweep: {type(error).__name__}: {error}; "
            "a model returns inf for what is impossible instead of raising"
        ) from error
