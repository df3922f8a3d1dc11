"""Numbers that follow from the sizes of a parallel plan."""

from __future__ import annotations

from scalemath.core.kernel import kernel


@kernel(
    unit="1",
    rises="global_batch",
    falls="data micro_batch",
    source="definition",
    formula="micro_batches = global_batch / (data micro_batch)",
)
def micro_batch_count(global_batch: float, data: float, micro_batch: float) -> float:
    """Micro-batches [1] a data rank runs per step."""
    return global_batch / (data * micro_batch)


@kernel(
    unit="1",
    rises="ranks shared",
    source="definition",
    formula="sharers = ranks if shared, else 1",
)
def sharers(ranks: float, shared: float) -> float:
    """Ranks [1] over which something is split, when it is."""
    if shared > 0.5:
        return ranks
    return 1.0


@kernel(
    unit="byte",
    rises="size",
    falls="kept",
    free="micro_batches",
    free_because="what is kept is paid once and spread over the micro-batches",
    source="definition",
    formula="size, over micro_batches when it is kept through the step",
)
def size_per_micro_batch(size: float, kept: float, micro_batches: float) -> float:
    """Bytes [byte] that one micro-batch pays for."""
    if kept > 0.5:
        return size / max(1.0, micro_batches)
    return size


@kernel(
    unit="1",
    rises="context_loss context",
    source="fitted: blocks of a ring or of gathered keys are smaller than one attention",
    formula="1 + context_loss (1 - 1 / context)",
)
def context_slowdown(context_loss: float, context: float) -> float:
    """Factor [1] by which attention slows down when its keys come in blocks."""
    return 1.0 + context_loss * (1.0 - 1.0 / context)


@kernel(
    unit="1",
    rises="value",
    falls="pipeline",
    source="definition",
    formula="value on a single stage, else 0",
)
def only_alone(value: float, pipeline: float) -> float:
    """Parameters [1] a stage holds only when there is no other."""
    if pipeline <= 1.0:
        return value
    return 0.0


@kernel(
    unit="1",
    rises="recompute_products",
    falls="early_stop last_gemm_share",
    source="PyTorch non-reentrant checkpointing stops when the last saved tensor is there again",
    formula="recompute_products, less last_gemm_share when recomputation stops early",
)
def recomputed_products(
    recompute_products: float, early_stop: float, last_gemm_share: float
) -> float:
    """Share [1] of a layer's matrix products that the backward pass repeats."""
    return max(0.0, recompute_products - early_stop * last_gemm_share)
