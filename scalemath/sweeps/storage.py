"""Grids on disk: one file with arrays, units, axes and provenance; tables for other tools."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scalemath.core.errors import ArgumentError, ReadError
from scalemath.sweeps.axes import Array, Coordinate
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.showing import shown
from scalemath.sweeps.stored import Stored

FORMAT = "scalemath grid 1"
BROKEN = (KeyError, ValueError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error)
"""What comes of reading a file that is no grid, or a damaged one."""


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
    _check_target(target)
    arrays: dict[str, Array] = {"head": np.array(json.dumps(header(grid)))}
    for i, coordinate in enumerate(grid.coordinates.values()):
        values = coordinate.values
        arrays[f"coordinate_{i}"] = values.astype(str) if coordinate.is_names else values
    for i, array in enumerate(grid.outputs.values()):
        arrays[f"output_{i}"] = np.asarray(array)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        temporary.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _check_target(target: Path) -> None:
    """Refuse a name under which no file can be."""
    if not target.parent.is_dir():
        raise ArgumentError(f"{target}: the folder {str(target.parent)!r} does not exist")
    if target.is_dir():
        raise ArgumentError(f"{target}: is a folder; give the name of a file")


def header(grid: Grid) -> dict[str, Any]:
    """Everything about a grid but its numbers, ready for JSON."""
    return {
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


def grid_of(
    head: dict[str, Any], values: Mapping[str, Array], outputs: Mapping[str, Array | Stored]
) -> Grid:
    """Put a grid together from its header, the values of its coordinates, and its numbers."""
    return Grid(
        model=head["model"],
        axes=tuple(head["axes"]),
        coordinates={n: _coordinate(n, t, values[n]) for n, t in head["coordinates"].items()},
        outputs=outputs,
        units=head["units"],
        names={n: tuple(words) for n, words in head["names"].items()},
        fixed={n: (value, unit) for n, (value, unit) in head["fixed"].items()},
        provenance=head["provenance"],
    )


def load(path: str | os.PathLike[str]) -> Grid:
    """Read a grid that `Grid.save` wrote, or open one that a sweep wrote to a ``.zarr`` folder.

    Parameters
    ----------
    path : str or path
        Name of the file or folder.

    Returns
    -------
    Grid
        As it was; the numbers of a ``.zarr`` folder stay on disk.

    Raises
    ------
    ReadError
        If the file is not there, cannot be read or does not hold a grid.
    """
    if not Path(path).exists():
        raise ReadError(f"{path}: there is no such file or folder")
    if Path(path).is_dir():
        from scalemath.sweeps import zarrfiles

        return zarrfiles.load(Path(path))
    try:
        with Path(path).open("rb") as file:
            return _from_archive(np.load(file, allow_pickle=False), path)
    except ReadError:
        raise
    except OSError as error:
        raise ReadError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (*BROKEN, EOFError) as error:
        raise ReadError(f"{path}: is no grid written by Grid.save ({error})") from None


def _from_archive(file: Any, path: str | os.PathLike[str]) -> Grid:
    """Grid in a ``.npz`` file that is open."""
    if isinstance(file, np.ndarray):
        raise ReadError(
            f"{path}: holds one array without axes and units; read it with numpy.load, and keep "
            "a whole grid with Grid.save or sweep(out='name.zarr')"
        )
    head = json.loads(str(file["head"]))
    if head.get("format") != FORMAT:
        raise ReadError(f"{path}: holds {head.get('format')!r}, wanted {FORMAT!r}")
    values = {n: file[f"coordinate_{i}"] for i, n in enumerate(head["coordinates"])}
    outputs = {name: file[f"output_{i}"] for i, name in enumerate(head["outputs"])}
    return grid_of(head, values, outputs)


def _coordinate(name: str, told: dict[str, Any], values: Array) -> Coordinate:
    if values.dtype.kind in "UT":
        values = values.astype(object)
    return Coordinate(name, tuple(told["axes"]), values, told["unit"], told["shown"], told["scale"])


def to_xarray(grid: Grid) -> Any:
    """Return an `xarray.Dataset` with units as attributes.

    Parameters
    ----------
    grid : Grid
        Grid or table.

    Returns
    -------
    xarray.Dataset
        One variable per output; model, provenance and what is fixed as attributes.
    """
    try:
        import xarray
    except ImportError:
        raise ImportError("to_xarray needs xarray: pip install 'scalemath[xarray]'") from None
    coords = {
        n: (c.axes, c.magnitudes, {"units": c.shown} if c.shown else {})
        for n, c in grid.coordinates.items()
    }
    data = {}
    for name, array in grid.outputs.items():
        named = name in grid.names
        values = grid[name] if named else np.asarray(array)
        told = {} if named else {"units": grid.units[name]}
        data[variable(coords, name)] = (grid.axes, values, told)
    return xarray.Dataset(data, coords=coords, attrs=attributes(grid))


def variable(coordinates: Container[str], output: str) -> str:
    """Name of an output beside coordinates, of which one may be called the same."""
    return f"best_{output}" if output in coordinates else output


def attributes(grid: Grid) -> dict[str, str]:
    """Model, provenance and what is fixed, as text."""
    found = {"model": grid.model, **{k: str(v) for k, v in grid.provenance.items()}}
    return {**found, **{n: shown(v, u) for n, (v, u) in grid.fixed.items()}}


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
            columns[label] = np.asarray(grid.outputs[name]).ravel()
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
    target = Path(path)
    _check_target(target)
    frame = to_pandas(grid)
    units = json.dumps(frame.attrs["units"])
    about = {"units": units, "model": grid.model, "provenance": json.dumps(dict(grid.provenance))}
    columns = {
        name: pa.array(column.to_numpy().tolist() if column.dtype == object else column.to_numpy())
        for name, column in frame.items()
    }
    table = pa.table(columns).replace_schema_metadata(about)
    parquet.write_table(table, target)
    return target
