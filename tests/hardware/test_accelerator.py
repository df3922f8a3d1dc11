"""Accelerators: peaks by convention, memory as sold and as found."""

from __future__ import annotations

import pytest

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, ConventionError
from scalemath.hardware.accelerator import Accelerator


def peak(value: float, precision: str, sparsity: str, accumulate: str = "") -> Datum:
    return Datum(
        value=value,
        unit="TFLOP/s",
        source="test",
        date="2026",
        precision=precision,
        sparsity=sparsity,
        accumulate=accumulate,
        scope="GPU",
    )


def gpu() -> Accelerator:
    return Accelerator(
        name="test",
        memory="80 GB",
        memory_usable="80 GiB",
        peaks=(
            peak(989, "bf16", "dense"),
            peak(1979, "bf16", "sparse"),
            peak(330.3, "fp16", "dense", "fp16"),
            peak(165.2, "fp16", "dense", "fp32"),
        ),
        scale_up="900 GB/s/bidir",
    )


def test_a_peak_is_found_by_all_of_its_conventions() -> None:
    assert gpu().peak("bf16").value == 989
    assert gpu().peak("BF16", sparsity="sparse").value == 1979
    assert gpu().peak("fp16", accumulate="fp32").value == 165.2


def test_an_unknown_peak_is_not_halved_or_doubled() -> None:
    with pytest.raises(ArgumentError, match="known: 989 TFLOP/s"):
        gpu().peak("fp8")
    with pytest.raises(ArgumentError):
        gpu().peak("fp16", sparsity="sparse")


def test_a_mapping_is_taken_as_dense() -> None:
    own = Accelerator(peaks={"bf16": "400 TFLOP/s"})
    assert own.peak("bf16").sparsity == "dense"
    assert own.peak("bf16").precision == "bf16"


def test_memory_as_sold_and_as_found_are_two_numbers() -> None:
    one = gpu()
    assert one.memory.m_as("byte") == 80e9
    assert one.capacity.m_as("byte") == 80 * 2**30
    assert Accelerator(memory="96 GB").capacity.m_as("byte") == 96e9
    with pytest.raises(ArgumentError, match="memory"):
        Accelerator().capacity


def test_scale_up_keeps_its_direction_and_a_bare_rate_is_refused() -> None:
    assert gpu().scale_up.m_as("GB/s/dir") == 450
    with pytest.raises(ConventionError, match="direction"):
        Accelerator(scale_up="900 GB/s")
    assert Accelerator(memory_bandwidth="3.35 TB/s").memory_bandwidth.m_as("GB/s") == 3350


def test_it_shows_itself() -> None:
    assert "450" in str(gpu()) or "900" in str(gpu())
    assert "bf16, dense" in gpu()._repr_html_()
