"""Grids in folders of Zarr, as xarray and other tools read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from scalemath.core.errors import ReadError
from scalemath.sweeps import intact
from scalemath.sweeps.axes import Array, Coordinate
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.intact import OWN
from scalemath.sweeps.storage import FORMAT, attributes, grid_of, header, variable
from scalemath.sweeps.stored import Stored, zarr

EVERY_CHUNK = {"write_empty_chunks": True}


def is_group(path: Path) -> bool:
    """Whether a folder is a Zarr group."""
    return (path / ".zgroup").is_file() or intact.metadata(path).get("node_type") == "group"


def refusal(path: Path) -> str:
    """Why a sweep may not take the place of what is there; empty where it may.

    Parameters
    ----------
    path : Path
        Folder that the user named.

    Returns
    -------
    str
        The reason: only an empty folder, and a group that a sweep wrote and to which nothing
        was added, are replaced.
    """
    if not path.exists() or (path.is_dir() and next(path.iterdir(), None) is None):
        return ""
    if not path.is_dir() or not is_group(path):
        return "exists and is no Zarr group"
    own = intact.own_attributes(path)
    try:
        head = json.loads(own["header"])
        names = [variable(head["coordinates"], name) for name in head["outputs"]]
        names += [*head["coordinates"], *(f"{OWN}/{n}" for n in _numbered(head))]
        written = head["format"] == FORMAT and isinstance(own["id"], str)
    except (KeyError, ValueError, TypeError):
        written = False
    if not written:
        return "exists and is a Zarr group that no sweep wrote"
    other = intact.foreign(path, names)
    return f"exists and holds {other!r}, which no sweep wrote" if other else ""


def _numbered(head: dict[str, Any]) -> list[str]:
    """Names under which the SI values of coordinates are kept."""
    return [f"coordinate_{i}" for i in range(len(head["coordinates"]))]


def create(grid: Grid, path: Path, chunk: tuple[int, ...], identity: str) -> list[Any]:
    """Write everything of a grid but its numbers.

    Parameters
    ----------
    grid : Grid
        Axes, units and types of what will be written.
    path : Path
        Folder, which must not exist yet.
    chunk : tuple of int
        Lengths of a chunk.
    identity : str
        What tells this grid from any other.

    Returns
    -------
    list of zarr.Array
        One per output, empty.

    Notes
    -----
    Dimension names are those of Zarr 3; units, flags and coordinates are told in the manner of
    the CF conventions, which is how `xarray.open_zarr` reads them. Each chunk carries a checksum,
    and each is written, so that a missing one is known to be lost.
    """
    names = {"coordinates": " ".join(grid.coordinates)} if grid.coordinates else {}
    group = zarr().open_group(
        path, mode="w-", zarr_format=3, attributes={**attributes(grid), **names}
    )
    told_by = json.dumps(header(grid))
    own = group.create_group(
        OWN,
        attributes={"id": identity, "header": told_by, "checksum": intact.checksum(told_by)},
    )
    for i, (name, coordinate) in enumerate(grid.coordinates.items()):
        told = {"units": coordinate.shown} if coordinate.shown else {}
        _write(group, name, coordinate.magnitudes, coordinate, told)
        _write(own, f"coordinate_{i}", coordinate.values, coordinate, {})
    return [_output(group, grid, name, chunk) for name in grid.outputs]


def _write(
    group: Any, name: str, values: Array, coordinate: Coordinate, told: dict[str, str]
) -> None:
    """Write a coordinate whole."""
    from zarr.codecs import Crc32cCodec, ZstdCodec

    array = group.create_array(
        name,
        shape=values.shape,
        dtype=str if coordinate.is_names else values.dtype,
        chunks=tuple(max(1, n) for n in values.shape),
        dimension_names=coordinate.axes,
        attributes=told,
        compressors=(ZstdCodec(level=1), Crc32cCodec()),
        config=EVERY_CHUNK,
    )
    array[...] = values


def _output(group: Any, grid: Grid, name: str, chunk: tuple[int, ...]) -> Any:
    """Make the array of an output."""
    from zarr.codecs import BloscCodec, Crc32cCodec

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
        compressors=(BloscCodec(cname="zstd", clevel=1, shuffle="shuffle"), Crc32cCodec()),
        config=EVERY_CHUNK,
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
        own = intact.own_attributes(path)
        head = json.loads(own["header"])
        if head.get("format") != FORMAT:
            raise ReadError(f"{path}: holds {head.get('format')!r}, wanted {FORMAT!r}")
        if own["checksum"] != intact.checksum(own["header"]):
            raise ReadError(f"{path / OWN}: its header is damaged; sweep again")
        values = {
            name: _whole(path, f"{OWN}/{kept}", group)
            for name, kept in zip(head["coordinates"], _numbered(head), strict=True)
        }
        outputs = {}
        for name in head["outputs"]:
            label = variable(head["coordinates"], name)
            array = group[label]
            outputs[name] = Stored.whole(
                path.resolve(), label, array.dtype, array.shape, own["id"]
            )  # fmt: skip
        grid = grid_of(head, values, outputs)
    except ReadError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, OSError) as error:
        why = "" if isinstance(error, KeyError) else f" ({error})"
        raise ReadError(f"{path}: is no grid written by sweep(out=...){why}") from None
    lengths: dict[str, int] = {}
    for c in grid.coordinates.values():
        lengths.update(zip(c.axes, c.values.shape, strict=False))
    for name, kept in outputs.items():
        if kept.shape != tuple(lengths.get(axis) for axis in grid.axes):
            raise ReadError(f"{path}: is damaged, {name} has the shape {kept.shape}; sweep again")
    return grid


def _whole(path: Path, name: str, group: Any) -> Array:
    """Values of a coordinate."""
    array = group[name]
    return np.asarray(intact.read(path, name, array, [range(n) for n in array.shape]))
