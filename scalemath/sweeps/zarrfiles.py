"""Grids in folders of Zarr, as xarray and other tools read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from scalemath.core.errors import ReadError
from scalemath.sweeps.axes import Array, Coordinate
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.storage import FORMAT, attributes, grid_of, header, variable
from scalemath.sweeps.stored import Stored, zarr

OWN = "scalemath"
"""Group inside the group with what only `load` reads: SI values of the axes, and the header."""


def is_group(path: Path) -> bool:
    """Whether a folder is a Zarr group."""
    if (path / ".zgroup").is_file():
        return True
    try:
        told = json.loads((path / "zarr.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("node_type") == "group"


def create(grid: Grid, path: Path, chunk: tuple[int, ...]) -> list[Any]:
    """Write everything of a grid but its numbers.

    Parameters
    ----------
    grid : Grid
        Axes, units and types of what will be written.
    path : Path
        Folder, which must not exist yet.
    chunk : tuple of int
        Lengths of a chunk.

    Returns
    -------
    list of zarr.Array
        One per output, empty.

    Notes
    -----
    Dimension names are those of Zarr 3; units, flags and coordinates are told in the manner of
    the CF conventions, which is how `xarray.open_zarr` reads them.
    """
    names = {"coordinates": " ".join(grid.coordinates)} if grid.coordinates else {}
    group = zarr().open_group(
        path, mode="w-", zarr_format=3, attributes={**attributes(grid), **names}
    )
    own = group.create_group(OWN, attributes={"header": json.dumps(header(grid))})
    for i, (name, coordinate) in enumerate(grid.coordinates.items()):
        told = {"units": coordinate.shown} if coordinate.shown else {}
        _write(group, name, coordinate.magnitudes, coordinate, told)
        _write(own, f"coordinate_{i}", coordinate.values, coordinate, {})
    return [_output(group, grid, name, chunk) for name in grid.outputs]


def _write(
    group: Any, name: str, values: Array, coordinate: Coordinate, told: dict[str, str]
) -> None:
    """Write a coordinate whole."""
    array = group.create_array(
        name,
        shape=values.shape,
        dtype=str if coordinate.is_names else values.dtype,
        chunks=tuple(max(1, n) for n in values.shape),
        dimension_names=coordinate.axes,
        attributes=told,
    )
    array[...] = values


def _output(group: Any, grid: Grid, name: str, chunk: tuple[int, ...]) -> Any:
    """Make the array of an output."""
    from zarr.codecs import BloscCodec

    array = grid.outputs[name]
    told: dict[str, Any] = {"units": grid.units[name]}
    if name in grid.names:
        words = list(grid.names[name])
        meanings = " ".join(word.replace(" ", "_") for word in words)
        told = {
            "names": words, "flag_values": list(range(len(words))), "flag_meanings": meanings
        }  # fmt: skip
    return group.create_array(
        variable(grid.coordinates, name),
        shape=array.shape,
        dtype=array.dtype,
        chunks=chunk,
        dimension_names=grid.axes,
        attributes=told,
        fill_value=0 if name in grid.names else np.nan,
        compressors=BloscCodec(cname="zstd", clevel=1, shuffle="shuffle"),
    )


def load(path: Path) -> Grid:
    """Open a grid that a sweep wrote; its numbers stay on disk.

    Parameters
    ----------
    path : Path
        Folder.

    Returns
    -------
    Grid
        Axes, units, names and provenance as they were, outputs as `Stored`.

    Raises
    ------
    ReadError
        If the folder does not hold a grid.
    """
    library = zarr("loading a .zarr folder")
    if not is_group(path):
        raise ReadError(f"{path}: is a folder, and no Zarr group")
    try:
        group = library.open_group(path, mode="r")
        own = group[OWN]
        head = json.loads(own.attrs["header"])
        if head.get("format") != FORMAT:
            raise ReadError(f"{path}: holds {head.get('format')!r}, wanted {FORMAT!r}")
        values = {n: own[f"coordinate_{i}"][...] for i, n in enumerate(head["coordinates"])}
        outputs = {}
        for name in head["outputs"]:
            label = variable(head["coordinates"], name)
            array = group[label]
            outputs[name] = Stored.whole(path.resolve(), label, array.dtype, array.shape)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise ReadError(f"{path}: is no grid written by sweep(out=...) ({error})") from None
    return grid_of(head, values, outputs)
