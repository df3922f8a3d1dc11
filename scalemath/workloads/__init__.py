"""What a training or serving job computes, stores and puts on the wire."""

from scalemath.workloads.config import transformer_from_config
from scalemath.workloads.plan import ParallelPlan, legal_layouts
from scalemath.workloads.tensors import gemm_flops, tensor_size
from scalemath.workloads.transformer import Gemm, Transformer

__all__ = [
    "Gemm",
    "ParallelPlan",
    "Transformer",
    "gemm_flops",
    "legal_layouts",
    "tensor_size",
    "transformer_from_config",
]
