"""The registry of kernels refuses declarations that are not complete."""

from __future__ import annotations

import pytest

from scalemath.core.kernel import KERNELS, kernel, kernel_of, total


def test_every_parameter_is_declared_once() -> None:
    with pytest.raises(TypeError, match="exactly once"):

        @kernel(unit="s", source="s", formula="f", rises="a")
        def undeclared(a: float, b: float) -> float:
            return a + b


def test_a_free_parameter_says_why() -> None:
    with pytest.raises(TypeError, match="free_because"):

        @kernel(unit="s", source="s", formula="f", free="a")
        def unexplained(a: float) -> float:
            return a


def test_only_registered_functions_have_a_record() -> None:
    with pytest.raises(TypeError, match="not a registered kernel"):
        kernel_of(len)
    assert "undeclared" not in KERNELS


def test_total_adds_in_order() -> None:
    assert total((1e16, 1.0, -1e16)) == (1e16 + 1.0) - 1e16
    assert total(3.0) == 3.0
