"""Shared by the tests of the sweep engine."""

from __future__ import annotations

import gc
import signal
import time

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


@pytest.fixture
def interrupt_in():
    """Give a function that sends Ctrl-C to this process after some seconds (0: never mind).

    An exception in a callback of the garbage collector is swallowed by Python, and test tools hang
    such callbacks in; so the collector waits, and the interruption is sent again.
    """
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs interval timers")
    sent = []

    def ring(signum, frame):
        sent.append(time.perf_counter())
        raise KeyboardInterrupt

    def interrupt(seconds):
        sent.clear()
        signal.setitimer(signal.ITIMER_REAL, seconds, 3.0 if seconds else 0.0)
        return sent

    old = signal.signal(signal.SIGALRM, ring)
    gc.disable()
    try:
        yield interrupt
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
        gc.enable()
