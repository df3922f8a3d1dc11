"""Compact forms and their errors from measured sets of one system and operation."""

from __future__ import annotations

import numpy as np
from measured_tables import Measured

from scalemath.collectives.envelope_fit import Compact, fit_compact
from scalemath.core.kernel import total
from scalemath.kernels.envelope import ramp_time


def compact_of(sets: list[Measured]) -> Compact:
    """Constants fitted to sets of several rank counts."""
    volumes = np.concatenate([s.volumes for s in sets])
    ranks = np.concatenate([np.full(len(s.sizes), float(s.ranks)) for s in sets])
    times = np.concatenate([s.times for s in sets])
    return fit_compact(volumes, ranks, times)


def errors_of(form: Compact, sets: list[Measured]) -> np.ndarray:
    """Signed relative errors of a form on sets."""
    errors = []
    for one in sets:
        rate = form.rate * (form.pair_factor if one.ranks == 2 else 1.0)
        predicted = [
            total(
                ramp_time(v, float(one.ranks), form.latency, form.latency_per_rank, rate, form.ramp)
            )
            for v in one.volumes
        ]
        errors.append(np.array(predicted) / one.times - 1.0)
    return np.concatenate(errors)


def halves(one: Measured, first: int) -> tuple[Measured, Measured]:
    """Every second size, and the others."""
    kept = np.isin(one.sizes, np.unique(one.sizes)[first::2])

    def part(mask: np.ndarray) -> Measured:
        return Measured(
            one.system, one.operation, one.ranks, one.sizes[mask], one.times[mask], one.versions
        )

    return part(kept), part(~kept)


def sizes_left_out(sets: list[Measured]) -> np.ndarray:
    """Errors on sizes that took no part in the fit."""
    errors = []
    for first in (0, 1):
        parts = [halves(one, first) for one in sets]
        form = compact_of([kept for kept, _ in parts])
        errors.append(errors_of(form, [other for _, other in parts]))
    return np.concatenate(errors)


def ranks_left_out(sets: list[Measured]) -> np.ndarray:
    """Errors on the greatest rank count when only the smaller ones were fitted."""
    if len(sets) < 3:
        return np.array([])
    ordered = sorted(sets, key=lambda one: one.ranks)
    return errors_of(compact_of(ordered[:-1]), ordered[-1:])
