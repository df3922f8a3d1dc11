"""Envelopes and compact forms against measured collectives inside one NVLink domain or box.

"shipped" lines predict with the defaults of the package; "fitted" lines fit every second size of
the very table and predict the others, so they also score systems the package never saw.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
from compact import compact_of, errors_of, ranks_left_out, sizes_left_out
from measured_tables import Measured, measured
from scoring import IN_SAMPLE, LEFT_OUT, Score, score_of_errors

from scalemath.collectives.envelope import left_out_errors
from scalemath.collectives.envelope_defaults import envelope_systems, measured_envelope
from scalemath.collectives.envelope_fit import fit_lines, least


def score(folder: Path) -> list[Score]:
    """One group of lines per system, then all systems together."""
    sets = measured(folder)
    pools: dict[tuple[str, str, str], list[np.ndarray]] = defaultdict(list)
    by_form: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for one in sets:
        by_form[one.system, one.operation].append(one)
        for what, kind, errors in _envelope_errors(one):
            pools[one.system, what, kind].append(errors)
            pools["all systems", what, kind].append(errors)
    for (system, _), group in by_form.items():
        for what, kind, errors in _compact_errors(group):
            if errors.size:
                pools[system, what, kind].append(errors)
                pools["all systems", what, kind].append(errors)
    names = [*dict.fromkeys(one.system for one in sets), "all systems"]
    return [
        score_of_errors(f"{name}: {what}", kind, np.concatenate(errors))
        for name in names
        for (system, what, kind), errors in pools.items()
        if system == name
    ]


def _envelope_errors(one: Measured) -> list[tuple[str, str, np.ndarray]]:
    fitted = least(fit_lines(one.sizes, one.times), one.sizes) / one.times - 1.0
    found = [
        ("envelope fitted to all sizes", IN_SAMPLE, fitted),
        ("envelope fitted to every second size", LEFT_OUT, left_out_errors(one.sizes, one.times)),
    ]
    if one.system in envelope_systems():
        shipped = measured_envelope(one.system, one.operation, ranks=one.ranks)
        times = np.array([shipped.seconds(size) for size in one.sizes])
        found.insert(0, ("shipped envelope", IN_SAMPLE, times / one.times - 1.0))
    return found


def _compact_errors(group: list[Measured]) -> list[tuple[str, str, np.ndarray]]:
    return [
        ("compact form fitted to all", IN_SAMPLE, errors_of(compact_of(group), group)),
        ("compact form fitted to every second size", LEFT_OUT, sizes_left_out(group)),
        ("compact form fitted without the most ranks", LEFT_OUT, ranks_left_out(group)),
    ]
