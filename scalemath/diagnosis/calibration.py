"""Calibration: constants fitted to a user's logs, and predictions that say so."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextvars import Token
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from scalemath.collectives.algorithms import Algorithm
from scalemath.collectives.cost import CollectiveCost
from scalemath.collectives.operations import Operation, operation_named
from scalemath.collectives.protocols import CALIBRATION
from scalemath.core.errors import ArgumentError
from scalemath.core.hooks import hook
from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.diagnosis.fit import CollectiveFit, fit_of
from scalemath.diagnosis.regions import curve_of
from scalemath.kernels.envelope import envelope_time
from scalemath.kernels.terms import CollectiveTerms
from scalemath.readers.detect import read
from scalemath.readers.nccl_run import CollectiveLog, CollectiveRun
from scalemath.records.table import Table
from scalemath.topology.cluster import Cluster
from scalemath.topology.placement import Placement
from scalemath.units import display, quantity, to_si

MODELS = {"envelope": 3, "alpha-beta": 1}
"""Most lines of a fit by the name of the model."""
LAUNCH = 0.5
"""Share of the least time that does not grow with the number of steps [1]: starting a kernel and
synchronising; by what measured all-gathers take of measured allreduces."""


@frozen(kw_only=True)
class CalibratedCost(CollectiveCost):
    """Time of a collective by constants of the user's own logs.

    Attributes
    ----------
    fit : CollectiveFit
        The fit that was used.
    spread : tuple of float
        Factors on the time between which nine of ten measurements lie [1].
    """

    fit: CollectiveFit = field(repr=False)
    spread: tuple[float, float] = (1.0, 1.0)

    @property
    def steps(self) -> float:
        """Not known: a fit counts no steps."""
        return math.nan

    @measured("byte")
    def bytes_per_rank(self) -> float:
        """Not known: a fit counts no bytes."""
        return math.nan

    @measured("s")
    def low(self) -> float:
        """Time that one of twenty measurements undercuts."""
        return self.si("time") * self.spread[0]

    @measured("s")
    def high(self) -> float:
        """Time that one of twenty measurements exceeds."""
        return self.si("time") * self.spread[1]

    def remarks(self) -> list[str]:
        """Spread and what it was fitted on."""
        low, high = (display(self.si(name), "s", 4) for name in ("low", "high"))
        return [f"nine of ten measurements lie between {low} and {high}", self.fit.headline()]

    def formula(self) -> tuple[str, str]:
        """Least of fitted lines, corrected by what they leave."""
        return f"({kernel_of(envelope_time).formula}) * what the lines leave", self.fit.source


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
        cautions += _below(operation, values, time) if rate < math.inf else ()
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
        return _carried(best, operation, ranks, wanted or _nodes(best, ranks))

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
            steps = max(1.0, _steps(fit.operation, fit.ranks))
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
    for source, operation, ranks, nodes, sizes, times in _series(logs):
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


Series = tuple[str, str, int, int, Any, Any]


def _series(logs: Any) -> Iterator[Series]:
    """Every series of sizes and times in what was given."""
    if isinstance(logs, (Path, str)):
        logs = read(logs)
    if isinstance(logs, Mapping):
        yield _own(logs)
    elif isinstance(logs, CollectiveLog):
        for run in logs.runs:
            yield from _series(run)
    elif isinstance(logs, CollectiveRun):
        curve = curve_of(logs)
        if logs.collective and logs.ranks and logs.ranks > 1 and len(curve.sizes) > 1:
            nodes = logs.nodes or 1
            yield logs.source, logs.collective, logs.ranks, nodes, curve.sizes, curve.times
    elif isinstance(logs, Iterable):
        for one in logs:
            yield from _series(one)
    else:
        raise ArgumentError(
            f"calibrate takes logs of collective tests, not {type(logs).__name__}; write "
            'calibrate(Path("log.txt"))'
        )


def _own(given: Mapping[str, Any]) -> Series:
    missing = {"operation", "ranks", "sizes", "times"} - set(given)
    if missing:
        raise ArgumentError(f"calibrate: a table of one's own needs {', '.join(sorted(missing))}")
    sizes = np.atleast_1d(np.asarray(_si(given["sizes"], "byte"), float))
    times = np.atleast_1d(np.asarray(_si(given["times"], "s"), float))
    if sizes.shape != times.shape:
        raise ArgumentError(f"calibrate: {sizes.size} sizes and {times.size} times; give one each")
    return (
        str(given.get("name", "a table")),
        operation_named(given["operation"]).name,
        int(given["ranks"]),
        int(given.get("nodes", 1)),
        sizes,
        times,
    )


def _si(values: Any, unit: str) -> Any:
    if isinstance(values, (list, tuple)):
        return [float(to_si(value, unit, unit)) for value in values]
    return to_si(values, unit, unit)


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


def _steps(operation: str, ranks: int) -> float:
    """Steps of a ring."""
    return (2.0 if operation == "allreduce" else 1.0) * (ranks - 1)


def _nodes(fit: CollectiveFit, ranks: int) -> int:
    """Machines for another number of ranks, with as many ranks each."""
    each = max(1, fit.ranks // fit.nodes)
    return max(1, -(-ranks // each))


def _carried(
    fit: CollectiveFit, operation: str, ranks: int, nodes: int
) -> tuple[CollectiveFit, tuple[str, ...]]:
    """Carry a fit to another collective or number of ranks.

    Bandwidths keep their bus bandwidth. Half of a latency stays, as launching does; the other
    half goes with the depth of the tree and, between collectives, with the passes of a ring.
    """
    here, there = fit.factor, float(operation_named(operation).factor.function(float(ranks)))
    passes = _steps(operation, 2) / _steps(fit.operation, 2)
    depth = math.log2(max(ranks, 2)) / math.log2(max(fit.ranks, 2))
    slower = LAUNCH + (1.0 - LAUNCH) * passes * depth
    shift = there / here
    lines = tuple(
        evolve(
            line,
            latency_seconds=line.latency_seconds * slower,
            bandwidth_bytes_per_second=line.bandwidth_bytes_per_second / shift,
        )
        for line in fit.envelope.lines
    )
    made = evolve(
        fit,
        operation=operation,
        ranks=ranks,
        nodes=nodes,
        envelope=evolve(fit.envelope, lines=lines),
        sizes=fit.sizes / shift,
        errors=np.array([]),
    )
    return made, (
        f"carried over from {fit.name}: bus bandwidth kept, latencies times {slower:.3g}; no "
        "log of its own",
    )


def _below(operation: Operation, values: dict[str, Any], time: float) -> tuple[str, ...]:
    """Say by how much a calibrated time lies below the bound of the stated network."""
    full = {"reduction_rate": math.inf, "switch_latency": 0.0, "levels": 1.0, "latency": 0.0}
    full |= {"ports": 1.0, **{k: v for k, v in values.items() if isinstance(v, float)}}
    record = operation.bound
    try:
        bound = sum(record.kernel.function(*record.pick(full)))
    except KeyError:
        return ()
    if not time < bound:
        return ()
    return (
        f"{1.0 - time / bound:.0%} below the bound between endpoints at the stated bandwidth: "
        "switches reduce, or the port is faster",
    )
