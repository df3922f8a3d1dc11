"""What training needs beyond its state, and shares in sweeps."""

from __future__ import annotations

import numpy as np
import pytest

import scalemath as sm
from scalemath.decisions import Workload, decide, fit, weights_share


def test_activations_are_counted_when_a_context_is_given() -> None:
    bare = fit("Llama 3.1 8B", "DGX H100", "full fine-tuning")
    long = fit("Llama 3.1 8B", "DGX H100", Workload(kind="full fine-tuning", context_tokens=8192))
    assert bare.activations == 0
    assert any("give context_tokens" in text for text in bare.assumptions)
    assert long.held_bytes == bare.held_bytes
    longer = fit(
        "Llama 3.1 8B", "DGX H100", Workload(kind="full fine-tuning", context_tokens=16384)
    )
    # saved activations and logits grow with the sequence, gathered weights do not
    assert long.activations < longer.activations < 2 * long.activations
    assert sum(q.m_as("byte") for q in long.terms.values()) == pytest.approx(long.need.m_as("byte"))


def test_a_long_sequence_sends_a_job_that_fits_by_its_state_to_more_nodes() -> None:
    short, long = (
        decide(
            Workload(kind="full fine-tuning", context_tokens=tokens), "DGX H100",
            model="Llama 3.1 8B",
        )
        for tokens in (8192, 131072)
    )  # fmt: skip
    assert short.choice == "one node"
    assert long.share == short.share
    assert long.choice == "cluster"
    assert "activations" in long.trace[1].numbers


def test_adapters_need_room_for_activations() -> None:
    four = fit("Llama 3.1 70B", "4 x RTX 5090", Workload(kind="qlora", context_tokens=4096))
    assert four.fits
    assert four.really_fits
    longer = fit("Llama 3.1 70B", "4 x RTX 5090", Workload(kind="qlora", context_tokens=16384))
    assert longer.fits
    assert not longer.really_fits


def test_shares_over_models_and_cards_at_once() -> None:
    grid = sm.sweep(
        sm.weights_share, parameters=[70e9, 405e9], bits=[4, 8, 16], devices=[8],
        memory=sm.Q_([32, 96], "GB"),
    )  # fmt: skip
    shares = np.asarray(grid.values).reshape(2, 3, 2)
    for i, parameters in enumerate((70e9, 405e9)):
        for j, bits in enumerate((4, 8, 16)):
            for k, memory in enumerate((32, 96)):
                one = weights_share(parameters, bits=bits, devices=8, memory=f"{memory} GB")
                assert shares[i, j, k] == pytest.approx(one, rel=1e-15)
                assert one == pytest.approx(parameters * bits / 8 / (8 * memory * 1e9))
