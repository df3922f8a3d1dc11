"""LogGP closed forms against recorded runs of LogGOPSim (github.com/spcl/LogGOPSim).

The recorded runs charge (size - 1) bytes per message, no time per byte to the processor (O = 0)
and no rendezvous. Gaps that are longer than a step change every step but the last.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.tables import has, rows

from scalemath.collectives import LogGP
from scalemath.kernels import loggp as lo

TABLE = "loggopsim_cases.csv"


def recorded(*algorithms: str, gaps: bool = False) -> list[dict[str, str]]:
    wanted = [r for r in (rows(TABLE) if has(TABLE) else []) if r["algorithm"] in algorithms]
    wanted = [r for r in wanted if int(r["O"]) == 0 and int(r["S"]) >= int(r["n_bytes_total"])]
    if not gaps:
        wanted = [r for r in wanted if r["param_set"] != "gap_gt_o"]
    return wanted


def machine(row: dict[str, str]) -> tuple[float, float, float, float]:
    return float(row["L"]), float(row["o"]), float(row["g"]), float(row["G"])


def case(row: dict[str, str]) -> tuple[float, float, float]:
    gamma = float(row["gamma_ns_per_byte"])
    rate = 1.0 / gamma if gamma else math.inf
    return float(row["n_bytes_total"]), float(row["p"]), rate


def whole_blocks(row: dict[str, str]) -> bool:
    return int(row["n_bytes_total"]) % int(row["p"]) == 0


def power_of_two(row: dict[str, str]) -> bool:
    return int(row["p"]) & (int(row["p"]) - 1) == 0


def check(row: dict[str, str], predicted: float) -> None:
    assert predicted == pytest.approx(float(row["makespan_ns"]), rel=1e-12)


def test_there_are_recorded_runs() -> None:
    assert len(recorded("ring_allreduce")) >= 20 or not has(TABLE)


def test_single_messages() -> None:
    for row in recorded("p2p"):
        latency, overhead, _, per_byte = machine(row)
        check(row, lo.loggp_message(case(row)[0], latency, overhead, per_byte))


def test_rings() -> None:
    for row in filter(whole_blocks, recorded("ring_allreduce")):
        size, ranks, rate = case(row)
        check(row, lo.loggp_allreduce_ring(size, ranks, *machine(row), rate))
    for row in filter(whole_blocks, recorded("ring_allgather", "pairwise_alltoall")):
        size, ranks, _ = case(row)
        check(row, lo.loggp_exchange_ring(size, ranks, *machine(row)))


def test_hypercubes() -> None:
    for row in filter(power_of_two, recorded("recursive_doubling_allreduce")):
        size, ranks, rate = case(row)
        check(row, lo.loggp_allreduce_doubling(size, ranks, *machine(row), rate))
    for row in filter(whole_blocks, filter(power_of_two, recorded("rabenseifner_allreduce"))):
        size, ranks, rate = case(row)
        latency, overhead, _, per_byte = machine(row)
        check(row, lo.loggp_allreduce_rabenseifner(size, ranks, latency, overhead, per_byte, rate))


def test_binomial_broadcast_without_overheads() -> None:
    found = [r for r in recorded("binomial_bcast") if r["param_set"] == "hockney"]
    for row in filter(power_of_two, found):
        latency, overhead, _, per_byte = machine(row)
        size, ranks, _ = case(row)
        check(row, lo.loggp_broadcast_binomial(size, ranks, latency, overhead, per_byte))


def test_long_gaps_pace_all_steps_but_the_last() -> None:
    rows_ = [r for r in recorded("ring_allreduce", gaps=True) if r["param_set"] == "gap_gt_o"]
    for row in filter(whole_blocks, rows_):
        size, ranks, rate = case(row)
        if rate == math.inf:
            check(row, lo.loggp_allreduce_ring(size, ranks, *machine(row), rate))


@given(
    latency=st.floats(1e-7, 1e-3),
    bandwidth=st.floats(1e8, 1e12),
    share=st.floats(0.0, 0.5),
    size=st.integers(1, 2**40),
)
def test_single_messages_take_the_same_time_in_both_models(
    latency: float, bandwidth: float, share: float, size: int
) -> None:
    network = LogGP.from_alpha_beta(
        latency=f"{latency!r} s",
        bandwidth=f"{bandwidth!r} byte/s/dir",
        overhead=f"{share * latency!r} s",
    )
    assert network.alpha.m_as("s") == pytest.approx(latency, rel=1e-9)
    assert network.bandwidth.m_as("byte/s/dir") == pytest.approx(bandwidth, rel=1e-9)
    expected = latency + size / bandwidth
    assert network.message_time(f"{size} byte").m_as("s") == pytest.approx(expected, rel=1e-9)


@given(
    segments=st.integers(1, 500),
    hops=st.integers(1, 60),
    size=st.floats(1, 1e7),
    latency=st.floats(1e-7, 1e-4),
    bandwidth=st.floats(1e8, 1e12),
)
def test_pipelines_are_shorter_where_latency_holds_no_port(
    segments: int, hops: int, size: float, latency: float, bandwidth: float
) -> None:
    """The same chain in both models: they agree for one segment and part with more."""
    stage = latency + size / bandwidth
    alpha_beta = (hops - 1 + segments) * stage
    chain = lo.loggp_chain(segments, size, hops, latency, 0.0, 0.0, 1.0 / bandwidth)
    assert chain <= alpha_beta * (1 + 1e-12)
    if segments == 1:
        assert chain == pytest.approx(alpha_beta)


def test_refuses_what_has_no_alpha() -> None:
    with pytest.raises(ValueError, match="time of one byte"):
        LogGP(latency="0 s", gap_per_byte="1 ns/byte")
    with pytest.raises(ValueError, match="overheads"):
        LogGP.from_alpha_beta(latency="1 us", bandwidth="1 GB/s/dir", overhead="1 us")
