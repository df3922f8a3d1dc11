"""Time of the parts of a transformer layer on one device, before any communication."""

from __future__ import annotations

from typing import NamedTuple

from scalemath.core.kernel import kernel

_ROOFLINE = "Williams, Waterman & Patterson, CACM 52(4) (2009); additive form for partial overlap"


class ProductTerms(NamedTuple):
    """Terms of matrix products on one device [s]: arithmetic, exposed traffic, casting."""

    arithmetic: float
    traffic: float
    casting: float


class WorkTerms(NamedTuple):
    """Terms of work on one device [s]: arithmetic and memory traffic it does not hide."""

    arithmetic: float
    traffic: float


@kernel(
    unit="1",
    rises="micro_batch sequence",
    falls="context",
    source="definition",
    formula="tokens = micro_batch sequence / context",
)
def micro_batch_tokens(micro_batch: float, sequence: float, context: float) -> float:
    """Tokens [1] of one micro-batch on one device."""
    return micro_batch * sequence / context


@kernel(
    unit="s",
    rises="tokens weights width_sharded width_whole operand_bytes cast_bytes",
    falls="tensor matmul_rate memory_rate",
    source=_ROOFLINE,
    formula="time = 2 tokens weights / (tensor matmul_rate) + (operand_bytes "
    "(tokens (width_sharded / tensor + width_whole) + weights / tensor) + cast_bytes "
    "(tokens (width_sharded + width_whole) + weights) / tensor) / memory_rate",
)
def linear_layers(
    tokens: float,
    weights: float,
    width_sharded: float,
    width_whole: float,
    tensor: float,
    operand_bytes: float,
    cast_bytes: float,
    matmul_rate: float,
    memory_rate: float,
) -> ProductTerms:
    """Forward time [s] of matrix products: `weights` elements on rows of `tokens`.

    The widths are the sums of input and output columns that tensor parallelism splits and of
    those that it leaves whole; `operand_bytes` is the exposed traffic of one operand element,
    `cast_bytes` that of casting it to low precision, which happens before it is gathered.
    """
    shard = 1.0 / tensor
    elements = tokens * (width_sharded * shard + width_whole) + weights * shard
    cast = elements
    return ProductTerms(
        2.0 * tokens * weights * shard / matmul_rate,
        operand_bytes * elements / memory_rate,
        cast_bytes * cast / memory_rate,
    )


@kernel(
    unit="s",
    rises="tokens active_weights stored_weights width operand_bytes cast_bytes",
    falls="expert tensor expert_rate memory_rate",
    source=_ROOFLINE,
    formula="time = 2 tokens active_weights / (tensor expert_rate) + (operand_bytes "
    "+ cast_bytes) (tokens width + stored_weights / expert) / tensor / memory_rate",
)
def expert_layers(
    tokens: float,
    active_weights: float,
    stored_weights: float,
    width: float,
    expert: float,
    tensor: float,
    operand_bytes: float,
    cast_bytes: float,
    expert_rate: float,
    memory_rate: float,
) -> ProductTerms:
    """Forward time [s] of grouped products of routed experts under balanced routing.

    `active_weights` counts the experts one token uses, `stored_weights` all of them, spread
    over `expert` ranks.
    """
    shard = 1.0 / tensor
    elements = (tokens * width + stored_weights / expert) * shard
    return ProductTerms(
        2.0 * tokens * active_weights * shard / expert_rate,
        operand_bytes * elements / memory_rate,
        cast_bytes * elements / memory_rate,
    )


@kernel(
    unit="s",
    rises="tokens sequence heads head_width executed_share score_bytes slowdown",
    falls="tensor attention_rate memory_rate",
    source="Dao et al., FlashAttention, NeurIPS 2022; Korthikanti et al., MLSys 2023, "
    "for the score traffic of unfused attention",
    formula="time = slowdown 2 executed_share tokens sequence heads head_width / (tensor "
    "attention_rate) + score_bytes heads sequence tokens / (tensor memory_rate)",
)
def attention_core(
    tokens: float,
    sequence: float,
    heads: float,
    head_width: float,
    executed_share: float,
    score_bytes: float,
    slowdown: float,
    tensor: float,
    attention_rate: float,
    memory_rate: float,
) -> WorkTerms:
    """Time [s] of scores times values for `tokens` queries over `sequence` keys.

    `head_width` is the sum of the query-key and the value size of a head; `executed_share` is
    0.5 when the kernel skips the masked half; `score_bytes` is the traffic per score.
    """
    pairs = tokens * sequence * heads / tensor
    return WorkTerms(
        slowdown * 2.0 * executed_share * pairs * head_width / attention_rate,
        score_bytes * pairs / memory_rate,
    )


@kernel(
    unit="s",
    rises="tokens bytes_sharded bytes_sequence bytes_pairs",
    falls="tensor sequence_parallel memory_rate",
    source="Korthikanti et al., Reducing Activation Recomputation, MLSys 2023",
    formula="time = tokens (bytes_sharded / tensor + bytes_sequence (/ tensor with sequence "
    "parallelism) + bytes_pairs) / memory_rate",
)
def element_wise(
    tokens: float,
    bytes_sharded: float,
    bytes_sequence: float,
    bytes_pairs: float,
    tensor: float,
    sequence_parallel: float,
    memory_rate: float,
) -> float:
    """Time [s] of everything that is not a matrix product: bytes per token over memory rate."""
    shard = 1.0 / tensor
    spread = shard if sequence_parallel > 0.5 else 1.0
    moved = bytes_sharded * shard + bytes_sequence * spread + bytes_pairs
    return tokens * moved / memory_rate


@kernel(
    unit="s",
    rises="tokens hidden vocabulary operand_bytes loss_bytes",
    falls="tensor matmul_rate memory_rate",
    source=_ROOFLINE,
    formula="time = 3 products of tokens x hidden x vocabulary / tensor, operand traffic, and "
    "loss_bytes tokens vocabulary / (tensor memory_rate)",
)
def vocabulary_layer(
    tokens: float,
    hidden: float,
    vocabulary: float,
    tensor: float,
    operand_bytes: float,
    loss_bytes: float,
    matmul_rate: float,
    memory_rate: float,
) -> WorkTerms:
    """Time [s] of the output layer and its loss, forward and backward."""
    columns = vocabulary / tensor
    elements = tokens * (columns + hidden) + columns * hidden
    return WorkTerms(
        6.0 * tokens * columns * hidden / matmul_rate,
        (3.0 * operand_bytes * elements + loss_bytes * tokens * columns) / memory_rate,
    )
