"""Envelopes against measured collectives: fits, sizes left out, and the shipped defaults.

Source of the rows: see tests/oracles/data/SOURCES.md. Sizes are the totals over ranks for
all-gather, reduce-scatter and all-to-all; times are in ms, out of place.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from oracles.tables import has, rows

from scalemath.collectives.envelope import envelope_of, left_out_errors
from scalemath.collectives.envelope_defaults import measured_envelope
from scalemath.collectives.envelope_fit import fit_compact, fit_lines, least
from scalemath.collectives.operations import operation_named
from scalemath.core.errors import RangeError

TABLE = "nccl_measured.csv"
pytestmark = pytest.mark.skipif(not has(TABLE), reason=f"{TABLE} is not in the folder")
SHIPPED = {
    "a100_sxm": "A100",
    "h100_sxm": "H100",
    "b200_sxm": "B200",
    "gb300": "GB300",
    "rtx_pro_6000_server": "PCIe",
}
Key = tuple[str, str, int]
Series = tuple[np.ndarray, np.ndarray]


def measured() -> dict[Key, Series]:
    """Sizes [byte] and times [s] by system, operation and ranks."""
    groups: dict[Key, list[tuple[float, float]]] = defaultdict(list)
    for row in rows(TABLE):
        key = (row["system"], operation_named(row["operation"]).name, int(row["ranks"]))
        size = float(row["elements"]) * float(row["bytes_per_element"])
        groups[key].append((size, float(row["latency_ms"]) * 1e-3))
    return {
        key: (np.array([s for s, _ in pairs]), np.array([t for _, t in pairs]))
        for key, pairs in groups.items()
    }


def test_at_most_three_lines_follow_every_system() -> None:
    errors = []
    for sizes, times in measured().values():
        fitted = envelope_of(sizes, times, check=False)
        assert 1 <= len(fitted.lines) <= 3
        errors.append(np.abs([fitted.seconds(s) for s in sizes] / times - 1))
    pooled = np.concatenate(errors)
    assert pooled.mean() <= 0.05
    assert np.quantile(pooled, 0.95) <= 0.25


def test_sizes_left_out_are_predicted() -> None:
    pooled = np.abs(
        np.concatenate([left_out_errors(sizes, times) for sizes, times in measured().values()])
    )
    assert pooled.mean() <= 0.08


def test_three_lines_err_much_less_than_one() -> None:
    def pooled(lines: int) -> float:
        errors = [
            np.abs(least(fit_lines(sizes, times, lines), sizes) / times - 1)
            for sizes, times in measured().values()
        ]
        return float(np.concatenate(errors).mean())

    assert pooled(3) < 0.7 * pooled(1)


def test_shipped_envelopes_are_the_fits_of_these_rows() -> None:
    errors = []
    for (system, operation, ranks), (sizes, times) in measured().items():
        try:
            known = measured_envelope(SHIPPED[system], operation, ranks=ranks)
        except (KeyError, RangeError):
            continue
        errors.append(np.abs([known.seconds(s) for s in sizes] / times - 1))
    if not errors:
        pytest.skip("no shipped system in the table")
    pooled = np.concatenate(errors)
    assert pooled.mean() <= 0.05
    assert np.quantile(pooled, 0.95) <= 0.25


def test_the_root_term_earns_its_place() -> None:
    groups: dict[tuple[str, str], list[tuple[int, np.ndarray, np.ndarray]]] = defaultdict(list)
    for (system, operation, ranks), (sizes, times) in measured().items():
        factor = operation_named(operation).factor.function(float(ranks))
        groups[system, operation].append((ranks, sizes * factor, times))
    with_root, without = [], []
    for sets in groups.values():
        volumes = np.concatenate([v for _, v, _ in sets])
        ranks = np.concatenate([np.full(v.size, float(n)) for n, v, _ in sets])
        times = np.concatenate([t for _, _, t in sets])
        form = fit_compact(volumes, ranks, times)
        rate = np.where(ranks == 2, form.rate * form.pair_factor, form.rate)
        start = form.latency + form.latency_per_rank * (ranks - 1)
        with_root.append(np.abs((start + volumes / rate + form.ramp * volumes**0.5) / times - 1))
        one_line = fit_lines(volumes, times, 1)
        without.append(np.abs(least(one_line, volumes) / times - 1))
    assert np.concatenate(with_root).mean() < 0.7 * np.concatenate(without).mean()
