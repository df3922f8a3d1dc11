"""Recorded runs of the LogGOPS simulator, reproduced to the last unit of time.

Source of the recorded runs: LogGOPSim, github.com/spcl/LogGOPSim. The schedules are made here
from their data movement, checked for the right data, and run by a stepper of our own. Rows
under a name for which no schedule is known here are counted and reported as skipped.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache

import pytest
from helpers.loggops import Machine, simulate
from helpers.schedules import Built, deliver, replay
from helpers.schedules_recorded import NotRebuilt, recorded_movement, recorded_schedule
from oracles.tables import has, rows

TABLE = "loggopsim_cases.csv"
pytestmark = pytest.mark.skipif(not has(TABLE), reason=f"{TABLE} is not in the folder")


@cache
def _by_algorithm() -> dict[str, list[dict[str, str]]]:
    families: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows(TABLE) if has(TABLE) else []:
        families[row["algorithm"]].append(row)
    return dict(families)


@lru_cache(maxsize=8)
def _schedule(name: str, ranks: int, size: int, time_per_byte: int) -> Built:
    return recorded_schedule(name, ranks, size, time_per_byte)


def _machine(row: dict[str, str]) -> Machine:
    return Machine(*(int(row[name]) for name in ("L", "o", "g", "G", "O", "S")))


def _case(row: dict[str, str]) -> tuple[str, int, int, int]:
    numbers = (int(row[name]) for name in ("p", "n_bytes_total", "gamma_ns_per_byte"))
    return (row["algorithm"], *numbers)  # type: ignore[return-value]


def _difference(row: dict[str, str]) -> str:
    """What differs between a row and its simulation; empty when nothing does."""
    built = _schedule(*_case(row))
    operations = sum(map(len, built.schedule))
    if row.get("n_ops") and operations != int(row["n_ops"]):
        return f"{operations} operations, recorded {row['n_ops']}"
    run = simulate(built.schedule, _machine(row))
    if run.makespan != int(row["makespan_ns"]):
        return f"makespan {run.makespan}, recorded {row['makespan_ns']}"
    recorded = row["per_host_end_ns"]
    if recorded and run.host_end != [int(end) for end in recorded.split(";")]:
        return f"hosts end at {run.host_end}, recorded {recorded}"
    return ""


def test_there_are_recorded_runs() -> None:
    assert _by_algorithm(), f"{TABLE} is missing or empty"


@pytest.mark.parametrize("algorithm", sorted(_by_algorithm()))
def test_every_recorded_run_is_reproduced(algorithm: str) -> None:
    differing, left_out = [], []
    for row in _by_algorithm()[algorithm]:
        try:
            difference = _difference(row)
        except NotRebuilt as reason:
            left_out.append(f"p={row['p']} n={row['n_bytes_total']}: {reason}")
            continue
        if difference:
            differing.append(f"{_case(row)} {row['param_set']}: {difference}")
    count = len(_by_algorithm()[algorithm])
    assert not differing, f"{len(differing)} of {count} rows differ:\n" + "\n".join(differing[:20])
    if left_out:
        pytest.skip(f"{algorithm}: {len(left_out)} of {count} rows not rebuilt; {left_out[0]}")


@pytest.mark.parametrize("algorithm", sorted(_by_algorithm()))
def test_the_schedules_bring_the_right_data(algorithm: str) -> None:
    seen = set()
    for row in _by_algorithm()[algorithm]:
        case = _case(row)
        if (case[1], case[3] > 0) in seen or case[1] > 32:
            continue
        try:
            movement, _ = recorded_movement(*case[:3])
        except NotRebuilt as reason:
            pytest.skip(f"{algorithm}: {reason}")
        seen.add((case[1], case[3] > 0))
        deliver(movement)
        built = _schedule(*case)
        replay(movement, built, simulate(built.schedule, _machine(row)))


def test_an_unknown_name_is_reported_not_passed() -> None:
    with pytest.raises(NotRebuilt, match="no schedule is known under the name"):
        recorded_movement("telepathic_allreduce", 4, 256)
