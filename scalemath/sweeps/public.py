"""`sweep`: any model over any axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve

from scalemath.core.errors import ArgumentError
from scalemath.core.model import Model
from scalemath.sweeps import dense
from scalemath.sweeps.axes import Array, Axis, Coordinate
from scalemath.sweeps.distributed import find_client
from scalemath.sweeps.drivers import Arithmetic
from scalemath.sweeps.execute import Progress, thread_count
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.labels import check_elasticity
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output
from scalemath.sweeps.reading import state, state_si
from scalemath.sweeps.reducing import reduce as run_reduction
from scalemath.sweeps.reductions import read
from scalemath.sweeps.running import Run
from scalemath.sweeps.stored import Stored
from scalemath.sweeps.targets import Target, fill


def sweep(
    model: Any,
    /,
    *,
    out: Target = None,
    outputs: str | Output | Sequence[str | Output] | None = None,
    reduce: Any = None,
    where: str | None = None,
    threads: int | None = None,
    progress: Progress = False,
    dtype: str = "float64",
    arithmetic: Arithmetic = "fast",
    backend: Any = None,
    **axes: Any,
) -> Any:
    """Evaluate a model over the outer product of named axes.

    Parameters
    ----------
    model : callable or Model
        Public function (``sm.allreduce``), or your own under ``@sm.model``.
    out : str, path, numpy.ndarray or mapping, optional
        Where to put the grid: an array to reuse, a mapping of output name to array, or the name
        of a ``.npy`` file or ``.zarr`` folder, which may exceed the memory and appears when the
        sweep is done, whole or not at all.
    outputs : str or sequence of str, optional
        Outputs and terms wanted, such as ``["time", "time.latency"]``, or an `elasticity`; by
        default the model's main output, and the name of the winner where a choice is "best".
    reduce : str or reduction, optional
        What to keep instead of the full grid: "min", "max", or an object of `scalemath.sweeps`
        such as ``top(100)``, ``pareto("time", "ranks")`` or ``first("speedup", above=10,
        along="ranks")``.
    where : str, optional
        Constraint such as ``"tensor * pipeline <= ranks"``; other points are nan and never
        count in a reduction.
    threads : int, optional
        Blocks computed at once; by default one per processor.
    progress : bool or callable
        Show progress, or call a function with the points done and the points in all.
    dtype : str
        "float64", or "float32" for stored numbers of half the size (computed in float64).
    arithmetic : str
        "fast" (1e-12 of the scalar call) or "strict" (bit for bit).
    backend : str or Client, optional
        "dask", or a client of dask.distributed, to compute on its workers.
    **axes
        For each parameter a list of values (an axis), a single value, "best" for a
        choice, `zipped` or `dependent` values. Axes run in the order given, the last fastest.

    Returns
    -------
    Grid or reduction result
        Labelled numbers with units.

    Raises
    ------
    ScalemathError
        One error naming everything that is wrong with the arguments; nothing is computed.

    Examples
    --------
    >>> import scalemath as sm
    >>> grid = sm.sweep(sm.allreduce, ranks=[8, 72], size="2 GiB", latency="0 s",
    ...                 bandwidth=["900 GB/s/dir", "100 GB/s/dir"])
    >>> print(f"{grid.sel(ranks=72, bandwidth='900 GB/s/dir').to('ms').item():.6~P}")
    4.70591 ms
    """
    problem = state(model, axes, where)
    workers = thread_count(threads)
    client = find_client(backend)
    wanted = choose_outputs(problem, outputs)
    how = Run(workers, arithmetic, progress, client)
    if reduce is not None:
        if out is not None:
            raise ArgumentError("out goes with a full grid; a reduction returns its own answer")
        also = wanted if outputs is not None else wanted[1:]
        return run_reduction(problem, read(reduce), also, how)
    kind = stored_type(dtype)
    return fill(
        problem, wanted, out, kind, how, lambda found: make_grid(problem, wanted, found, arithmetic)
    )


def choose_outputs(
    problem: Problem, outputs: str | Output | Sequence[str | Output] | None
) -> list[Output]:
    """Outputs of a sweep: those named, or the main one and the winners."""
    given: list[str | Output]
    if outputs is None:
        given = [problem.model.default_output, *problem.best]
    elif isinstance(outputs, (str, Output)):
        given = [outputs]
    elif isinstance(outputs, (list, tuple)):
        given = list(outputs)
    else:
        raise ArgumentError(f"outputs is {outputs!r}, wanted a name or a list of names")
    if not given:
        raise ArgumentError("outputs is empty; name at least one, or leave it out")
    found = [o if isinstance(o, Output) else Output(o) for o in given]
    for output in found:
        problem.check_output(output.name)
        if output.along:
            check_elasticity(problem, output)
    labels = [o.label for o in found]
    if len(set(labels)) != len(labels):
        raise ArgumentError(f"outputs names one twice: {', '.join(labels)}")
    return found


def stored_type(dtype: Any) -> np.dtype[Any]:
    """Check the type of stored numbers."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = np.dtype(object)
    if found not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ArgumentError(f"dtype is {dtype!r}, wanted 'float64' or 'float32'")
    checked: np.dtype[Any] = found
    return checked


def make_grid(
    problem: Problem,
    wanted: list[Output],
    arrays: Sequence[Array | Stored],
    arithmetic: Arithmetic,
) -> Grid:
    """Label the arrays of a sweep."""
    units = problem.units()
    return Grid(
        model=problem.model.name,
        axes=problem.names,
        coordinates=problem.coordinates,
        outputs={o.label: a for o, a in zip(wanted, arrays, strict=True)},
        units={o.label: "1" if o.along else units.get(o.name, "") for o in wanted},
        names={n: s.names for n, s in problem.best.items() if n in {o.label for o in wanted}},
        fixed=problem.shown(),
        provenance={**problem.provenance(), "arithmetic": arithmetic},
    )


def array_call(model: Model, values: Mapping[str, Any], assumed: tuple[str, ...] = ()) -> Grid:
    """Evaluate a model on arrays that are broadcast against each other.

    Parameters
    ----------
    model : Model
        Model of a public function.
    values : mapping
        SI floats, names, and arrays of them, as they come from the units boundary.
    assumed : tuple of str
        What the boundary took for granted.

    Returns
    -------
    Grid
        With axes ``axis_0``, ``axis_1`` ... of the broadcast shape.

    Raises
    ------
    ArgumentError
        If the shapes do not fit.
    """
    arrays = {n: np.asarray(v) for n, v in values.items() if isinstance(v, np.ndarray)}
    try:
        shape = np.broadcast_shapes(*(a.shape for a in arrays.values()))
    except ValueError:
        told = ", ".join(f"{n} {a.shape}" for n, a in arrays.items())
        raise ArgumentError(f"{model.name}: shapes do not fit together: {told}") from None
    names = tuple(f"axis_{i}" for i in range(len(shape)))
    coordinates: dict[str, Coordinate] = {}
    units = {p.name: (p.kind, p.unit) for p in model.parameters}
    for name, array in arrays.items():
        if name not in units:
            raise ArgumentError(f"{model.name}: {name} cannot be an array")
        first = len(shape) - array.ndim
        varying = [i for i in range(array.ndim) if array.shape[i] > 1 or shape[first + i] == 1]
        own = tuple(names[first + i] for i in varying)
        kept = array.reshape([array.shape[i] for i in varying])
        kind, unit = units[name]
        shown = unit if kind in ("quantity", "rate") else ""
        coordinates[name] = Coordinate(name, own, kept, "" if kind == "choice" else unit, shown)
    axes = [Axis(n, k, ()) for n, k in zip(names, shape, strict=True)]
    scalars = {n: v for n, v in values.items() if n not in arrays}
    broadcast = evolve(state_si(model, scalars, coordinates, axes), assumed=assumed)
    wanted = choose_outputs(broadcast, None)
    found = dense.dense(broadcast, wanted, None, np.dtype(np.float64), 1, "fast", False)
    return make_grid(broadcast, wanted, found, "fast")
