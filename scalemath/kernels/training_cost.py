"""Operations of a whole training run."""

from __future__ import annotations

from scalemath.core.kernel import kernel


@kernel(
    unit="flop",
    rises="parameters tokens",
    source="Kaplan et al., Scaling Laws for Neural Language Models, arXiv 2001.08361, table 1",
    formula="flops = 6 parameters tokens",
)
def pretraining_operations(parameters: float, tokens: float) -> float:
    """Operations [flop] of training: two per parameter and token forward, four backward."""
    return 6.0 * parameters * tokens
