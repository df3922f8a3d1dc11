"""Shared by the tests of the sweep engine."""

from __future__ import annotations

import numba
import pytest

from scalemath.sweeps import _jit, drivers, execute


@pytest.fixture(scope="module")
def uncompiled():
    """Run the generated drivers as the Python they are, in many small blocks.

    Every drawn case has a driver of its own and compiling takes a second each; what these tests
    are about is the logic of walks, folds and searches. Compiled drivers are tested against plain
    evaluation in test_dense.py and test_every_model.py.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "BLOCK_POINTS", 1 << 10)
        patch.setattr(numba.config, "DISABLE_JIT", 1)
        patch.setattr(drivers, "_known", {})
        patch.setattr(_jit, "_drivers", {})
        patch.setattr(_jit, "cache_folder", lambda: None)
        yield
