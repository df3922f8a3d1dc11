"""Movements that are drawn against the closed forms: bytes of the busiest rank, rounds, order."""

from __future__ import annotations

from collections import Counter

import pytest

import scalemath as sm
from scalemath.collectives.algorithms import TABLE
from scalemath.collectives.movement import _MOVEMENTS, SEGMENTS, rounds, split

CASES = sorted(key for key in _MOVEMENTS if key[1] not in ("chain", "nvls", "sharp"))
ANY = [c for c in CASES if c[1] in ("ring", "pairwise", "bruck", "binomial-tree", "dissemination")]


def closed(operation: str, algorithm: str, ranks: int) -> tuple[float, float]:
    """Messages in a row and bytes of the busiest port for a size of one byte."""
    record = TABLE[operation][algorithm]
    longer, shorter = split(ranks)
    values = {"size": 1.0, "bandwidth": 1.0, "latency": 1.0, "reduction_rate": float("inf")}
    values |= {"ring_hops": longer + shorter - 2.0}
    values |= {"inner_ranks": float(longer), "middle_ranks": 1.0, "outer_ranks": float(shorter)}
    for tier in ("inner", "middle", "outer"):
        values |= {f"{tier}_bandwidth": 1.0, f"{tier}_latency": 1.0}
    terms = record.kernel.function(*record.pick(values | {"ranks": float(ranks)}))
    return terms.latency, terms.bandwidth


@pytest.mark.parametrize(("operation", "algorithm"), CASES)
@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_rounds_and_bytes_are_those_of_the_closed_form(
    operation: str, algorithm: str, ranks: int
) -> None:
    found = rounds(operation, algorithm, ranks)
    steps, moved = closed(operation, algorithm, ranks)
    assert len(found) == steps
    assert sum(max(m.share for m in one) for one in found) == pytest.approx(moved)


@pytest.mark.parametrize(("operation", "algorithm"), ANY)
@pytest.mark.parametrize("ranks", [3, 5, 6, 7, 9, 13])
def test_other_rank_counts(operation: str, algorithm: str, ranks: int) -> None:
    found = rounds(operation, algorithm, ranks)
    steps, moved = closed(operation, algorithm, ranks)
    assert len(found) == steps
    assert sum(max(m.share for m in one) for one in found) <= moved * (1 + 1e-12) or (
        operation in ("scatter", "gather")
    )


@pytest.mark.parametrize(("operation", "algorithm"), CASES)
def test_a_rank_sends_and_receives_once_a_round(operation: str, algorithm: str) -> None:
    for one in rounds(operation, algorithm, 8):
        assert max(Counter(m.source for m in one).values()) == 1
        assert max(Counter(m.target for m in one).values()) == 1


def test_news_of_every_rank_reaches_all() -> None:
    for operation, algorithm in CASES:
        if operation not in ("allreduce", "all_gather", "barrier"):
            continue
        knows = [{rank} for rank in range(8)]
        for one in rounds(operation, algorithm, 8):
            before = [set(known) for known in knows]
            for message in one:
                knows[message.target] |= before[message.source]
        assert all(known == set(range(8)) for known in knows), (operation, algorithm)


def test_a_chain_is_a_pipeline() -> None:
    found = rounds("broadcast", "chain", 8)
    assert len(found) == 8 - 2 + SEGMENTS
    assert sum(m.share for one in found for m in one if m.source == 0) == pytest.approx(1)


def test_a_multicast_switch_carries_n_plus_one_nths() -> None:
    found = rounds("allreduce", "nvls", 8)
    sent = sum(m.share for one in found for m in one if m.source == 3)
    received = sum(m.share for one in found for m in one if m.target == 3)
    assert sent == received == pytest.approx(9 / 8)


def test_what_is_not_drawn_is_said() -> None:
    with pytest.raises(sm.ArgumentError, match="there are"):
        rounds("allreduce", "double-binary-tree", 8)
    with pytest.raises(sm.ArgumentError, match="powers of two"):
        rounds("allreduce", "rabenseifner", 6)


def test_pictures_are_drawn() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    from scalemath.plots.exchanges import fastest, movement

    for operation, algorithm in (("allreduce", "ring"), ("allreduce", "nvls")):
        ax = movement(operation, algorithm, ranks=4)
        assert len(ax.texts) == sum(len(one) for one in rounds(operation, algorithm, 4))
    ax = fastest("allreduce", ranks=8, bandwidth="900 GB/s/dir", latency="1 us")
    assert len(ax.get_legend().get_texts()) == 7
    plt.close("all")
