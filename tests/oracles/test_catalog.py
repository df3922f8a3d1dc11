"""Every strong row of the table of published hardware facts is in the catalogue."""

from __future__ import annotations

import pytest
from oracles.tables import has, rows

import scalemath as sm
from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError
from scalemath.records.library import builtin
from scalemath.records.record import Record

SI = {
    "B": "byte", "B/s": "byte/s", "bit/s": "bit/s", "FLOP/s": "FLOP/s", "OP/s": "OPS", "W": "W",
    "s": "s", "J/bit": "J/bit", "s/m": "s/m", "transfer/s": "transfer/s", "1/s": "message/s",
}  # fmt: skip
NAMES = {
    "Rubin-VR200 (pre-release)": "rubin-vr200",
    "TPU7x-Ironwood": "tpu-v7",
    "DeepSeek-V3/R1": "deepseek-v3",
}


def strong(category: str) -> list[dict[str, str]]:
    if not has("catalog.csv"):
        return []
    return [
        row
        for row in rows("catalog.csv")
        if row["category"] == category
        and row["notes"][:2] in ("T1", "T2")
        and row["normalised_value"]
    ]


def entry(row: dict[str, str], family: str) -> Record | None:
    name = NAMES.get(row["name"], row["name"])
    try:
        return sm.catalog.record(family, name)
    except ArgumentError:
        return None


def magnitude(datum: Datum, unit: str) -> float:
    if datum.unit == "1":
        return float(datum.value)
    quantity = datum.quantity
    for wanted in (unit, f"{unit}/dir", unit.replace("bit/s", "byte/s/dir")):
        if quantity.is_compatible_with(wanted):
            scale = 8.0 if "byte" in wanted and "bit" in unit else 1.0
            return float(quantity.m_as(wanted)) * scale
    return float("nan")


def holds(record: Record, value: float, unit: str) -> bool:
    data = [*record.data.values(), *(d for many in record.alternatives.values() for d in many)]
    found = [magnitude(datum, SI.get(unit, unit)) for datum in data]
    both = [2 * x for x in found]  # totals of both directions are kept per direction
    return any(x == pytest.approx(value, rel=1e-3) for x in found + both)


KEYS = {
    "memory_capacity": ("memory", "memory_usable"),
    "memory_bandwidth": ("memory_bandwidth",),
    "tdp": ("power",),
    "scaleup_bw_per_dir": ("scale_up",),
    "host_pcie_bw_per_dir": ("host",),
    "ici_total_bidir": ("scale_up",),
    "ici_per_link_per_dir": ("link_bandwidth",),
    "xgmi_per_link_per_dir": ("link_bandwidth",),
    "neuronlink_total": ("neuronlink",),
}


def keys_of(field: str) -> tuple[str, ...]:
    return KEYS.get(field, (field.replace("_dense", ""), field))


def test_strong_rows_of_accelerators_are_values_or_alternatives() -> None:
    """A row about a value the catalogue has must be that value or stand beside it."""
    table = strong("accelerator")
    if not table:
        pytest.skip("catalog.csv is not here")
    missing, checked = [], 0
    for row in table:
        record = entry(row, "accelerator")
        if record is None or not any(key in record.data for key in keys_of(row["field"])):
            continue
        checked += 1
        if not holds(record, float(row["normalised_value"]), row["unit"]):
            missing.append(f"{row['name']} {row['field']} {row['value_as_printed']}")
    assert not missing, "\n".join(missing)
    assert checked >= 0.5 * len(table) - 5


@pytest.mark.parametrize("category", ["link", "switch", "nic", "optics"])
def test_strong_rates_of_the_other_families_are_somewhere(category: str) -> None:
    """The names differ there, so the value is looked for in the whole family."""
    table = strong(category)
    if not table:
        pytest.skip("catalog.csv is not here")
    families = {
        "link": ("link", "code"),
        "switch": ("switch",),
        "nic": ("nic", "link"),
        "optics": ("module", "cable", "serdes", "code"),
    }[category]
    records = [record for family in families for record in builtin(family)]
    missing = [
        f"{row['name']} {row['field']} {row['value_as_printed']}"
        for row in table
        if row["unit"] in SI
        and not any(holds(r, float(row["normalised_value"]), row["unit"]) for r in records)
    ]
    assert len(missing) <= 0.1 * len(table) + 2, "\n".join(missing)


def test_bus_bandwidth_is_algorithm_bandwidth_times_the_factor() -> None:
    """nccl-tests, PERFORMANCE.md: 2(n-1)/n, (n-1)/n or 1 by collective."""
    if not has("measured_collectives.csv"):
        pytest.skip("measured_collectives.csv is not here")
    factors = {
        "all_reduce": lambda n: 2 * (n - 1) / n,
        "all_gather": lambda n: (n - 1) / n,
        "reduce_scatter": lambda n: (n - 1) / n,
        "alltoall": lambda n: (n - 1) / n,
        "reduce": lambda n: n / n,
    }
    checked = 0
    for row in rows("measured_collectives.csv"):
        known = factors.get(row["collective"])
        if known is None or not row["algbw_GBps"] or not row["busbw_GBps"] or not row["ranks"]:
            continue
        if float(row["algbw_GBps"]) < 5:
            continue
        factor = known(float(row["ranks"]))
        assert float(row["busbw_GBps"]) == pytest.approx(
            float(row["algbw_GBps"]) * factor, rel=0.01
        )
        checked += 1
    if not checked:
        pytest.skip("no such rows")


def test_measured_rates_are_the_best_rows_of_their_logs() -> None:
    """No row of the log is faster than the stated rate."""
    if not has("measured_collectives.csv"):
        pytest.skip("measured_collectives.csv is not here")
    logs: dict[str, list[float]] = {}
    for row in rows("measured_collectives.csv"):
        if row["busbw_GBps"] and row["bandwidth_unit"] == "1e9 B/s":
            logs.setdefault(row["log"], []).append(float(row["busbw_GBps"]))
    checked = 0
    for record in builtin("measurement"):
        rates = logs.get(record.facts.get("log", ""), [])
        stated = record["bandwidth"].quantity.m_as("GB/s/dir")
        for rate in rates:
            assert rate <= stated * (1 + 1e-4), record.name
            checked += 1
    if not checked:
        pytest.skip("no such rows")
