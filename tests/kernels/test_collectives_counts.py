"""Counts inside kernels against counting: digits, blocks, distances, exact logarithms."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from scalemath.collectives import all_to_all, allreduce, broadcast
from scalemath.kernels import primitives as pr
from scalemath.kernels.alltoall import all_to_all_bruck, all_to_all_bruck_binary
from scalemath.kernels.gather import all_gather_bruck, halving_bytes
from scalemath.kernels.torus import all_to_all_torus
from scalemath.kernels.tree import pipeline, pipeline_reduced


@pytest.mark.parametrize("power", [*range(1, 54), 100, 1000])
def test_logarithms_are_exact_around_powers_of_two(power: int) -> None:
    count = 2.0**power
    assert pr.ceil_log2(count) == power
    assert pr.floor_log2(count) == power
    assert pr.power_of_two_below(count) == count
    if power < 53:
        assert pr.ceil_log2(count + 1.0) == power + 1
        assert pr.floor_log2(count + 1.0) == power
        assert pr.floor_log2(count - 1.0) == power - 1
        assert pr.power_of_two_below(count - 1.0) == count / 2
        assert pr.ceil_log2(count - 1.0) == (power if power > 1 else 0)


@pytest.mark.parametrize("radix", [2, 3, 4, 5, 7, 10, 16, 64])
def test_logarithms_to_other_bases_are_exact(radix: int) -> None:
    for power in range(1, 30):
        count = radix**power
        if count >= 2**53:
            break
        assert pr.ceil_log(float(count), float(radix)) == power
        assert pr.ceil_log(float(count + 1), float(radix)) == power + 1
        assert pr.ceil_log(float(count - 1), float(radix)) == power - (count == 2)
    for count in range(1, 2000):
        exact = next(k for k in range(12) if radix**k >= count)
        assert pr.ceil_log(float(count), float(radix)) == exact


def digits(number: int, radix: int) -> list[int]:
    found = []
    while number:
        number, digit = divmod(number, radix)
        found.append(digit)
    return found


@pytest.mark.parametrize("radix", [2, 3, 4, 5, 8, 10, 33])
@pytest.mark.parametrize("ranks", [*range(2, 70), 128, 243, 1000])
def test_bruck_sends_every_block_once_per_digit(ranks: int, radix: int) -> None:
    """A block at distance d moves once for every digit of d that is not zero."""
    moves = [
        (place, digit)
        for distance in range(ranks)
        for place, digit in enumerate(digits(distance, radix))
        if digit
    ]
    size = 7.0 * ranks
    terms = all_to_all_bruck(size, float(ranks), 1.0, 1.0, float(radix))
    assert terms.latency == len(set(moves))
    assert terms.bandwidth == pytest.approx(7.0 * len(moves), rel=1e-14)
    if radix == 2:
        assert all_to_all_bruck_binary(size, float(ranks), 1.0, 1.0) == terms
        assert terms.latency == math.ceil(math.log2(ranks))


@pytest.mark.parametrize("ranks", range(2, 130))
def test_all_gather_by_bruck_counts_its_rounds(ranks: int) -> None:
    held, rounds, blocks = 1, 0, 0
    while held < ranks:
        sent = min(held, ranks - held)
        blocks += sent
        held += sent
        rounds += 1
    terms = all_gather_bruck(float(ranks), float(ranks), 1.0, 1.0)
    assert (terms.latency, terms.bandwidth) == (rounds, pytest.approx(blocks))


@pytest.mark.parametrize("ranks", range(2, 100))
def test_halving_sends_little_more_than_an_even_split(ranks: int) -> None:
    """Each of the rounds rounds the share of folded ranks up by less than one block."""
    core = 1 << (ranks.bit_length() - 1)
    even = (core - 1) / core * ranks
    blocks = halving_bytes(float(ranks), float(ranks))
    assert even - 1e-9 <= blocks < even + math.log2(core) + 1e-9
    if core == ranks:
        assert blocks == even


@pytest.mark.parametrize("side", range(2, 40))
def test_all_to_all_on_a_ring_counts_links(side: int) -> None:
    """Every link in each direction carries the same bytes when ties go both ways evenly."""
    load = Fraction(0)
    for distance in range(side):
        shorter = min(distance, side - distance)
        load += Fraction(shorter, 2)
    terms = all_to_all_torus(float(side), 1.0, 1.0, side // 2, float(side))
    assert terms.bandwidth == pytest.approx(float(load))
    assert terms.latency == side // 2


@pytest.mark.parametrize("fill", [0, 1, 2, 5, 70, 1000])
@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 0.1, 1.0, 17.0, 1e4, 1e8])
def test_pipelines_take_the_best_number_of_segments(fill: int, least: int, ratio: float) -> None:
    """The closed form is the least over all continuous numbers of segments, tried on a grid."""
    latency, work = 1.0, ratio
    found = sum(pipeline(float(fill), work, 1.0, latency, float(least)))
    grid = [least * 1.002**k for k in range(15000)]
    best = min((fill + m) * (latency + work / m) for m in grid)
    assert found == pytest.approx(best, rel=2e-6)
    assert found <= best * (1 + 1e-12)
    reduced = sum(pipeline_reduced(float(fill), work / 3, 1.0, latency, 1.5 / 1.0, float(least)))
    wire, arithmetic = work / 3, work / 3 / 1.5
    best = min((fill + m) * (latency + (wire + arithmetic) / m) for m in grid)
    assert reduced == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("ranks", [2, 3, 8, 72])
@pytest.mark.parametrize("algorithm", ["chain", "binary-tree", "double-binary-tree"])
def test_segments_that_are_told_give_the_time_that_is_told(algorithm: str, ranks: int) -> None:
    """A broadcast of whole stages: (fill + segments) times (latency + one segment)."""
    cost = broadcast(
        size="64 MB", ranks=ranks, bandwidth="100 GB/s/dir", latency="2 us", algorithm=algorithm
    )
    stages = cost.steps / (2 if algorithm == "binary-tree" and ranks > 2 else 1)
    stage = 2e-6 + cost.segment_size.m_as("byte") / 100e9
    whole = stages * stage * (2 if algorithm == "binary-tree" and ranks > 2 else 1)
    assert cost.time.m_as("s") == pytest.approx(whole, rel=1e-12)
    assert f"{cost.segments:.4g} segments" in cost.explain()


def test_whole_segments_cost_less_than_one_stage_more() -> None:
    for ranks in (8, 72, 500):
        latency, work = 2e-6, 1e-3
        continuous = sum(pipeline(ranks - 2.0, work, 1.0, latency, 1.0))
        whole = min((ranks - 2 + m) * (latency + work / m) for m in range(1, 40000))
        assert continuous <= whole * (1 + 1e-12)
        assert whole - continuous < latency + work / 100


def test_best_radix_lies_between_the_two_extremes() -> None:
    """Small blocks want few rounds, large ones few bytes; radix = ranks is pairwise exchange."""

    def cost(radix: int) -> float:
        found = all_to_all(
            size="64 kB",
            ranks=64,
            bandwidth="100 GB/s/dir",
            latency="0.1 us",
            algorithm="radix-bruck",
            bruck_radix=radix,
        )
        return float(found.time.m_as("s"))

    pairwise = all_to_all(size="64 kB", ranks=64, bandwidth="100 GB/s/dir", latency="0.1 us")
    assert cost(64) == pytest.approx(pairwise.time.m_as("s"), rel=1e-12)
    assert min(cost(4), cost(8)) < min(cost(2), cost(64))


@pytest.mark.parametrize("shape", [(4,), (4, 4), (2, 3, 5), (16, 1), (8, 8, 8)])
def test_torus_shapes_are_lowered_to_hops(shape: tuple[int, ...]) -> None:
    def steps(algorithm: str) -> float:
        cost = allreduce(size="1 GB", shape=shape, bandwidth="50 GB/s/dir", algorithm=algorithm)
        assert cost.ranks == math.prod(shape)
        return float(cost.steps)

    assert steps("torus") == 2 * sum(side - 1 for side in shape)
    assert steps("torus-both-ways") == 2 * sum(math.ceil((side - 1) / 2) for side in shape)
    one, both, every = (
        allreduce(size="1 GB", shape=shape, bandwidth="50 GB/s/dir", algorithm=name).time
        for name in ("torus", "torus-both-ways", "torus-all-ports")
    )
    wide = sum(side > 1 for side in shape)
    assert (one / both).m_as("") == pytest.approx(2)
    assert (one / every).m_as("") == pytest.approx(2 * wide)
    flat = allreduce(size="1 GB", ranks=math.prod(shape), bandwidth="50 GB/s/dir")
    assert one.m_as("s") == pytest.approx(flat.time.m_as("s"), rel=1e-12)
