"""Grids on disk: one file with arrays, units, axes and provenance; tables for other tools."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from scalemath.core.errors import ReadError
from scalemath.sweeps.axes import Array, Coordinate
from scalemath.sweeps.grid import Grid

FORMAT = "scalemath grid 1"


def save(grid: Grid, path: str | os.PathLike[str]) -> Path:
    """Write a grid to a ``.npz`` file.

    Parameters
    ----------
    grid : Grid
        What to write.
    path : str or path
        File name; ``.npz`` is added where it is missing.

    Returns
    -------
    Path
        The file. It appears whole or not at all.
    """
    target = Path(path)
    if target.suffix != ".npz":
        target = target.with_name(target.name + ".npz")
    head = {
        "format": FORMAT,
        "model": grid.model,
        "axes": list(grid.axes),
        "coordinates": {
            n: {"axes": list(c.axes), "unit": c.unit, "shown": c.shown, "scale": c.scale}
            for n, c in grid.coordinates.items()
        },
        "outputs": list(grid.outputs),
        "units": dict(grid.units),
        "names": {n: list(words) for n, words in grid.names.items()},
        "fixed": {n: [value, unit] for n, (value, unit) in grid.fixed.items()},
        "provenance": dict(grid.provenance),
    }
    arrays: dict[str, Array] = {"head": np.array(json.dumps(head))}
    for i, coordinate in enumerate(grid.coordinates.values()):
        values = coordinate.values
        arrays[f"coordinate_{i}"] = values.astype(str) if coordinate.is_names else values
    for i, array in enumerate(grid.outputs.values()):
        arrays[f"output_{i}"] = array
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def load(path: str | os.PathLike[str]) -> Grid:
    """Read a grid that `Grid.save` wrote.

    Parameters
    ----------
    path : str or path
        File name.

    Returns
    -------
    Grid
        As it was.

    Raises
    ------
    ReadError
        If the file does not hold a grid.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            if head.get("format") != FORMAT:
                raise ReadError(f"{path}: holds {head.get('format')!r}, wanted {FORMAT!r}")
            coordinates = {
                name: _coordinate(name, told, file[f"coordinate_{i}"])
                for i, (name, told) in enumerate(head["coordinates"].items())
            }
            outputs = {name: file[f"output_{i}"] for i, name in enumerate(head["outputs"])}
    except (KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise ReadError(f"{path}: is no grid written by Grid.save ({error})") from None
    return Grid(
        model=head["model"],
        axes=tuple(head["axes"]),
        coordinates=coordinates,
        outputs=outputs,
        units=head["units"],
        names={n: tuple(words) for n, words in head["names"].items()},
        fixed={n: (value, unit) for n, (value, unit) in head["fixed"].items()},
        provenance=head["provenance"],
    )


def _coordinate(name: str, told: dict[str, Any], values: Array) -> Coordinate:
    if values.dtype.kind == "U":
        values = values.astype(object)
    return Coordinate(name, tuple(told["axes"]), values, told["unit"], told["shown"], told["scale"])


def to_pandas(grid: Grid) -> Any:
    """Return a `pandas.DataFrame` with one row per point.

    Parameters
    ----------
    grid : Grid
        Grid or table.

    Returns
    -------
    pandas.DataFrame
        One column per coordinate and per output; ``attrs["units"]`` holds their units.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install 'scalemath[pandas]'") from None
    columns: dict[str, Any] = {}
    units: dict[str, str] = {}
    for name, coordinate in grid.coordinates.items():
        columns[name] = _spread(coordinate, grid)
        if coordinate.shown:
            units[name] = coordinate.shown
    for name in grid.outputs:
        label = f"{name} (result)" if name in columns else name
        if name in grid.names:
            columns[label] = np.asarray(grid[name]).ravel()
        else:
            columns[label] = grid.outputs[name].ravel()
            units[label] = grid.units[name]
    frame = pd.DataFrame(columns)
    frame.attrs["units"] = units
    frame.attrs["model"] = grid.model
    return frame


def _spread(coordinate: Coordinate, grid: Grid) -> Array:
    """Values of a coordinate at every point of its grid."""
    shape = [1] * len(grid.axes)
    for axis, length in zip(coordinate.axes, coordinate.values.shape, strict=True):
        shape[grid.axes.index(axis)] = length
    order = sorted(range(len(coordinate.axes)), key=lambda i: grid.axes.index(coordinate.axes[i]))
    values = coordinate.magnitudes.transpose(order).reshape(shape)
    return np.broadcast_to(values, grid.shape).ravel()


def to_parquet(grid: Grid, path: str | os.PathLike[str]) -> Path:
    """Write one row per point to a Parquet file, units in its metadata.

    Parameters
    ----------
    grid : Grid
        Grid or table.
    path : str or path
        File name.

    Returns
    -------
    Path
        The file.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ImportError("to_parquet needs pyarrow: pip install 'scalemath[pandas]'") from None
    frame = to_pandas(grid)
    units = json.dumps(frame.attrs["units"])
    about = {"units": units, "model": grid.model, "provenance": json.dumps(dict(grid.provenance))}
    columns = {
        name: pa.array(column.to_numpy().tolist() if column.dtype == object else column.to_numpy())
        for name, column in frame.items()
    }
    table = pa.table(columns).replace_schema_metadata(about)
    target = Path(path)
    parquet.write_table(table, target)
    return target
