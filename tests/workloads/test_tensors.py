"""Bytes of tensors and operations of matrix products."""

import pytest

from scalemath.core.dtypes import data_type
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.workloads import gemm_flops, tensor_size


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [
        ((8, 8192, 16384), "bf16", 2147483648),
        ((64, 8192), "bf16", 1048576),
        ((65536, 4096), "torch.bfloat16", 536870912),
        ((), "fp32", 4),
        ((3,), "int4", 2),
        ((0, 7), "fp8", 0),
        (32, "mxfp4", 17),
        (16, "nvfp4", 9),
        (64, "mxfp8", 66),
        (128, "fp64", 1024),
    ],
)
def test_sizes(shape, dtype, size):
    assert tensor_size(shape, dtype).m_as("byte") == size


def test_normal_float_with_double_quantised_scales():
    # 0.127 bit per parameter are the scales, as published
    assert data_type("nf4").bits_per_element == pytest.approx(4.127, abs=5e-4)
    assert data_type("nf4").bytes_per_element * 8 == data_type("nf4").bits_per_element
    assert tensor_size(405_000_000_000, "nf4").m_as("GB") == pytest.approx(208.929, rel=2e-5)


def test_operations():
    assert gemm_flops(65536, 16384, 65536).m_as("flop") == 140737488355328
    assert gemm_flops(2, 3, 4, products=5).m_as("flop") == 240


def test_refusals():
    with pytest.raises(ArgumentError, match="bf16"):
        tensor_size((2,), "bfloat17")
    with pytest.raises(ArgumentError, match="shape"):
        tensor_size((2.5,), "bf16")
    with pytest.raises(RangeError, match="-1"):
        tensor_size((-1,), "bf16")
    with pytest.raises(RangeError):
        tensor_size((2**30, 2**30), "bf16")
    assert data_type(data_type("fp8")).name == "fp8"
