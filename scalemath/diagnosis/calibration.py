"""Calibration: constants fitted to a user's logs, and predictions that say so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextvars import Token
from typing import Any

import numpy as np
from attrs import field, frozen

from scalemath.collectives.algorithms import Algorithm
from scalemath.collectives.operations import Operation, operation_named
from scalemath.collectives.protocols import CALIBRATION
from scalemath.core.errors import ArgumentError
from scalemath.core.hooks import hook
from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.diagnosis.calibrated_cost import CalibratedCost
from scalemath.diagnosis.calibration_inputs import series_of
from scalemath.diagnosis.carrying import below_bound, carried, nodes_of, ring_steps
from scalemath.diagnosis.fit import CollectiveFit, fit_of
from scalemath.kernels.envelope import envelope_time
from scalemath.kernels.terms import CollectiveTerms
from scalemath.records.table import Table
from scalemath.topology.cluster import Cluster
from scalemath.topology.placement import Placement
from scalemath.units import display, quantity, to_si

MODELS = {"envelope": 3, "alpha-beta": 1}
"""Most lines of a fit by the name of the model."""


@frozen(kw_only=True, eq=False)
class Calibration(Result):
    """Fits of a user's logs by collective, ranks and nodes.

    Attributes
    ----------
    fits : tuple of CollectiveFit
        One for every collective, number of ranks and of nodes.
    source : str
        Names of the logs.
    model : str
        "envelope" or "alpha-beta".
    base : Cluster or None
        Cluster the logs were taken on.
    """

    fits: tuple[CollectiveFit, ...]
    source: str
    model: str = "envelope"
    base: Cluster | None = field(default=None, repr=False)
    tokens: list[Token[Any]] = field(factory=list, repr=False, init=False)

    def __enter__(self) -> Calibration:
        """Make ``estimator="calibrated"`` answer by these fits inside a with block."""
        self.tokens.append(CALIBRATION.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        CALIBRATION.reset(self.tokens.pop())

    def __iter__(self) -> Iterator[CollectiveFit]:
        return iter(self.fits)

    def time(
        self, operation: str, size: Any, *, ranks: int | None = None, nodes: int | None = None
    ) -> CalibratedCost:
        """Time of a collective by the fits.

        Parameters
        ----------
        operation : str
            Public name.
        size : Quantity [byte]
            Buffer by the nccl-tests convention.
        ranks, nodes : int, optional
            Participants and machines; those of the only fit when left out.

        Returns
        -------
        CalibratedCost
            Time with its spread; a caution where another collective or another number of ranks
            had to stand in.
        """
        record = operation_named(operation)
        if ranks is None:
            counts = {fit.ranks for fit in self.fits if fit.operation == record.name} or {
                fit.ranks for fit in self.fits
            }
            if len(counts) > 1:
                raise ArgumentError(f"ranks is missing; fits are there for {sorted(counts)}")
            ranks = counts.pop()
        size_bytes = float(to_si(size, "byte", "size"))
        values = {"size": size_bytes, "ranks": float(ranks)}
        return self.answer(record, values, (), nodes)

    def answer(
        self,
        operation: Operation,
        values: dict[str, Any],
        assumed: tuple[str, ...],
        nodes: int | None = None,
    ) -> CalibratedCost:
        """Answer of ``estimator="calibrated"``, on SI floats.

        Parameters
        ----------
        operation : Operation
            What is done.
        values : dict
            `size` and `ranks` at least.
        assumed : tuple of str
            Assumptions made at the boundary.
        nodes : int, optional
            Machines.

        Returns
        -------
        CalibratedCost
            Time with its spread.
        """
        ranks, size = int(values["ranks"]), float(values["size"])
        fit, cautions = self._fit(operation.name, ranks, nodes)
        time = fit.seconds(size)
        if not fit.sizes[0] <= size <= fit.sizes[-1]:
            cautions += (
                f"the size lies outside the {fit.sizes[0]:.0f} to {fit.sizes[-1]:.0f} byte fitted",
            )
        latency = min(fit.envelope.lines[0].latency_seconds, time)
        rate = values.get("bandwidth", math.inf)
        cautions += below_bound(operation, values, time) if rate < math.inf else ()
        return CalibratedCost(
            operation_record=operation,
            algorithm_record=Algorithm(operation.name, "as measured", kernel_of(envelope_time)),
            given={**values, "nodes": float(fit.nodes)},
            split=CollectiveTerms(latency, time - latency, 0.0),
            estimator="calibrated",
            fit=fit,
            spread=fit.spread(),
            assumptions=(*assumed, f"calibrated from {self.source}: {fit.name}"),
            cautions=cautions,
        )

    def _fit(
        self, operation: str, ranks: int, nodes: int | None
    ) -> tuple[CollectiveFit, tuple[str, ...]]:
        """The fit for a collective, or the nearest one carried over."""
        wanted = nodes

        def distance(fit: CollectiveFit) -> tuple[float, ...]:
            return (
                float(fit.operation != operation),
                float(wanted is not None and fit.nodes != wanted),
                abs(math.log(fit.ranks / ranks)),
            )

        best = min(self.fits, key=distance)
        same = best.ranks == ranks and wanted in (None, best.nodes)
        if best.operation == operation and same:
            return best, ()
        return carried(best, operation, ranks, wanted or nodes_of(best, ranks))

    @property
    def cluster(self) -> CalibratedCluster:
        """The cluster with the efficiencies and latencies of the fits."""
        if self.base is None:
            raise ArgumentError("calibrate(logs, cluster=...) with a Cluster gives a cluster back")
        shares = self.efficiencies()
        names = ("nodes", "node", "fabric", "scale_up", "name", "names", "trays_per_node")
        known = {name: getattr(self.base, name) for name in names}
        return CalibratedCluster(**known, calibration=self, efficiencies=shares)

    def efficiencies(self) -> dict[str, float]:
        """Reached share of the scale-up port and of the interfaces, and least latencies [s]."""
        assert self.base is not None
        low = self.base.lower()
        found: dict[str, float] = {}
        for fit in self.fits:
            if fit.operation not in ("allreduce", "all_gather", "reduce_scatter"):
                continue
            inside = fit.nodes == 1 or fit.ranks <= self.base.domain
            rate = low.domain_bandwidth if inside else low.nic_bandwidth * low.nics_per_node
            tier = "domain" if inside else "nic"
            steps = max(1.0, ring_steps(fit.operation, fit.ranks))
            if rate > 0.0:
                share = min(1.0, fit.si("bus_bandwidth") / rate)
                found[f"{tier}_efficiency"] = max(found.get(f"{tier}_efficiency", 0.0), share)
            each = fit.si("latency") / steps
            found[f"{tier}_latency"] = min(found.get(f"{tier}_latency", math.inf), each)
        return found

    def table(self) -> Table:
        """Return what was measured, fitted and left at every size."""
        rows = []
        for fit in self.fits:
            for size, time in zip(fit.sizes, fit.times, strict=True):
                guess = fit.seconds(float(size))
                rows.append(
                    (
                        fit.name,
                        str(display(float(size), "byte", 5)),
                        str(display(float(time), "s", 4)),
                        str(display(guess, "s", 4)),
                        f"{guess / time - 1.0:+.1%}",
                    )
                )
        return Table(
            title=f"residuals of the calibration from {self.source}",
            columns=("collective", "size", "measured", "fitted", "error"),
            rows=tuple(rows),
        )

    def parameters(self) -> Table:
        """Return latency, bandwidth and breakpoints of every fit with 95 % intervals."""
        return Table(
            title=f"constants calibrated from {self.source}",
            columns=("collective", "latency", "95 %", "bandwidth", "95 %", "breakpoints"),
            rows=tuple(_row(fit) for fit in self.fits),
        )

    def plot(self, *, ax: Any = None) -> Any:
        """Draw fitted and measured times.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure when left out.

        Returns
        -------
        matplotlib Axes
            The picture.
        """
        return hook("plot")(self, ax=ax)

    @measured("1")
    def error_left_out(self) -> float:
        """Mean error on sizes left out, over all fits; nan when none could be tried."""
        errors = [fit.errors for fit in self.fits if fit.errors.size]
        return float(np.abs(np.concatenate(errors)).mean()) if errors else math.nan

    def headline(self) -> str:
        """One readable line."""
        return (
            f"calibrated from {self.source}: {len(self.fits)} fit(s), mean error on sizes left "
            f"out {self.si('error_left_out'):.1%}"
        )

    def remarks(self) -> list[str]:
        """One line per fit."""
        return [fit.headline() for fit in self.fits]


@frozen(kw_only=True)
class CalibratedCluster(Cluster):
    """A cluster whose placements carry what the user's own logs reached.

    Attributes
    ----------
    calibration : Calibration
        The fits.
    efficiencies : mapping of str to float
        Shares of the rates [1] and latencies [s] that placements take by default.
    """

    calibration: Calibration = field(repr=False, eq=False)
    efficiencies: Mapping[str, float] = field(factory=dict, eq=False)

    def placement(self, **given: Any) -> Placement:
        """Place ranks with the efficiencies and latencies of the fits.

        Parameters
        ----------
        **given
            As for `Cluster.placement`; what is given stands.

        Returns
        -------
        Placement
            What collectives take as `placement=`.
        """
        fitted = {
            name: quantity(value, "s") if name.endswith("latency") else value
            for name, value in self.efficiencies.items()
            if math.isfinite(value)
        }
        return super().placement(**{**fitted, **given})

    def time(self, operation: str, size: Any, **given: Any) -> CalibratedCost:
        """Time of a collective by the fits; as `Calibration.time`."""
        return self.calibration.time(operation, size, **given)

    def __str__(self) -> str:
        return f"{super().__str__()}; calibrated from {self.calibration.source}"


def calibrate(
    logs: Any,
    *,
    model: str = "envelope",
    cluster: Cluster | None = None,
    name: str = "",
) -> Calibration:
    """Fit latencies, bandwidths and protocol breakpoints to a user's own logs.

    Parameters
    ----------
    logs : log, path, mapping, or an iterable of them
        Readings of collective tests or what `read` takes; a mapping gives `operation`, `ranks`,
        `sizes`, `times` and perhaps `nodes` of a table of one's own.
    model : str
        "envelope" (up to three lines, as protocols behave, and what they leave between sizes) or
        "alpha-beta" (one line).
    cluster : Cluster, optional
        What the logs were taken on; `Calibration.cluster` then gives it back calibrated.
    name : str
        What predictions say they are calibrated from; the names of the logs by default.

    Returns
    -------
    Calibration
        Fits with intervals, residuals and errors on sizes left out. Inside
        ``with calibration:`` the collectives answer ``estimator="calibrated"`` by it.

    Raises
    ------
    ArgumentError
        When there is nothing to fit.

    Notes
    -----
    Relative errors count and single outliers have little influence. Repeated sizes enter by
    their median. Of both sides of a test the out-of-place rows are taken.
    """
    if model not in MODELS:
        raise ArgumentError(f"model is {model!r}, wanted one of {', '.join(MODELS)}")
    groups: dict[tuple[str, int, int], list[tuple[Any, Any]]] = {}
    names: dict[str, None] = {}
    for source, operation, ranks, nodes, sizes, times in series_of(logs):
        names[source] = None
        groups.setdefault((operation, ranks, nodes), []).append((sizes, times))
    if not groups:
        raise ArgumentError("calibrate found no rows with a size, a time, a collective and ranks")
    label = name or ", ".join(names)
    fits = [
        fit_of(
            operation,
            ranks,
            nodes,
            np.concatenate([s for s, _ in parts]),
            np.concatenate([t for _, t in parts]),
            lines=MODELS[model],
            source=label,
        )
        for (operation, ranks, nodes), parts in sorted(groups.items())
    ]
    return Calibration(fits=tuple(fits), source=label, model=model, base=cluster)


def _row(fit: CollectiveFit) -> tuple[str, ...]:
    def interval(name: str, unit: str) -> str:
        if name not in fit.intervals:
            return ""
        low, high = fit.intervals[name]
        return f"{display(low, unit, 3)} to {display(high, unit, 3)}"

    rate = fit.envelope.lines[-1].bandwidth_bytes_per_second
    return (
        fit.name,
        str(display(fit.si("latency"), "s", 4)),
        interval("latency", "s"),
        str(display(rate, "byte/s", 4)),
        interval("bandwidth", "byte/s"),
        ", ".join(str(display(size, "byte", 3)) for size in fit.breakpoints),
    )
