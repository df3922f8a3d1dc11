"""What a training or serving job computes, stores and puts on the wire."""

from scalemath.workloads.tensors import gemm_flops, tensor_size
from scalemath.workloads.transformer import Gemm, Transformer

__all__ = ["Gemm", "Transformer", "gemm_flops", "tensor_size"]
