"""Whether a Zarr folder is still what a sweep wrote: its identity, its chunks, its members."""

from __future__ import annotations

import itertools
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from scalemath.core.errors import ReadError

OWN = "scalemath"
"""Group inside the group with what only `load` reads: SI values of the axes, and the header."""
META = "zarr.json"
Places: TypeAlias = "int | range | np.ndarray[Any, Any]"


def metadata(path: Path) -> dict[str, Any]:
    """What is told of a group or an array; empty where that cannot be read."""
    try:
        told = json.loads((path / META).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def own_attributes(path: Path) -> dict[str, Any]:
    """Identity, header and its checksum as a sweep wrote them; empty where one did not."""
    told = metadata(path / OWN).get("attributes")
    return told if isinstance(told, dict) else {}


def checksum(text: str) -> int:
    """Checksum of a header."""
    return zlib.crc32(text.encode())


def check_identity(path: Path, identity: str) -> None:
    """Refuse a folder that is gone, or that another sweep has written anew.

    Raises
    ------
    ReadError
        If the folder does not bear the identity.
    """
    found = own_attributes(path).get("id")
    if found == identity:
        return
    if not path.exists():
        raise ReadError(f"{path}: is no longer there, so the numbers of its grid cannot be read")
    if found is None:
        raise ReadError(f"{path}: no longer holds the grid that was opened, or is damaged")
    raise ReadError(
        f"{path}: holds another grid now, because a later sweep has been written to it; open that "
        "one with scalemath.sweeps.load, and give each sweep a folder of its own"
    )


def chunk_files(folder: Path, chunks: Sequence[int], places: Sequence[Places]) -> Iterator[Path]:
    """Files in which the picked places of an array lie.

    Parameters
    ----------
    folder : Path
        The array.
    chunks : sequence of int
        Lengths of a chunk.
    places : sequence
        For each axis the places picked.
    """
    lines = [_touched(p, c) for p, c in zip(places, chunks, strict=True)]
    for at in itertools.product(*lines):
        yield folder.joinpath("c", *map(str, at))


def _touched(places: Places, chunk: int) -> Sequence[int]:
    """Numbers of the chunks along an axis."""
    if isinstance(places, int):
        return [places // chunk]
    if len(places) == 0:
        return []
    if isinstance(places, range) and abs(places.step) <= chunk:
        ends = places[0] // chunk, places[-1] // chunk
        return range(min(ends), max(ends) + 1)
    found: list[int] = np.unique(np.asarray(places) // chunk).tolist()
    return found


def read(path: Path, name: str, array: Any, places: Sequence[Places]) -> Any:
    """Read picked places of an array, and refuse what is damaged.

    Parameters
    ----------
    path : Path
        Folder of the group.
    name : str
        Name of the array in it.
    array : zarr.Array
        The array.
    places : sequence
        For each axis the places, or the place, which is kept as an axis of length one.

    Returns
    -------
    numpy.ndarray
        What is stored there.

    Raises
    ------
    ReadError
        If a chunk is missing or damaged, naming its file.
    """
    for file in chunk_files(path / name, array.chunks, places):
        if not file.is_file():
            raise ReadError(f"{file}: is missing, so {path.name} is damaged; sweep again")
    wanted: list[Any] = []
    for place in places:
        if isinstance(place, range):
            wanted.append(slice(place.start, place.stop, place.step))
        else:
            wanted.append(slice(place, place + 1) if isinstance(place, int) else place)
    try:
        return array.oindex[tuple(wanted)] if wanted else array[()]
    except (ValueError, RuntimeError, TypeError, LookupError, OSError) as error:
        file = _damaged(path / name, array, places)
        raise ReadError(
            f"{file}: is damaged, so that {name} of {path.name} cannot be read ({error}); sweep "
            "again"
        ) from None


def _damaged(folder: Path, array: Any, places: Sequence[Places]) -> Path:
    """First chunk that cannot be read, or the whole array."""
    for file in chunk_files(folder, array.chunks, places):
        at = tuple(int(n) for n in file.relative_to(folder / "c").parts)
        try:
            _ = array.blocks[at] if at else array[()]
        except (ValueError, RuntimeError, TypeError, LookupError, OSError):
            return file
    return folder


def foreign(path: Path, arrays: Sequence[str]) -> str:
    """First file or folder in a group that a sweep did not write; empty where there is none.

    Parameters
    ----------
    path : Path
        Folder of the group.
    arrays : sequence of str
        Paths of the arrays in it.
    """
    folders = {"", OWN, *arrays}
    for where, inside, files in os.walk(path):
        own = Path(where).relative_to(path)
        spot = own.as_posix() if own.parts else ""
        owner = next((a for a in arrays if spot == a or spot.startswith(f"{a}/c")), "")
        chunks = bool(owner) and spot != owner
        for name in (*inside, *files):
            full = f"{spot}/{name}".lstrip("/")
            link = (Path(where) / name).is_symlink()
            if chunks:
                known = name.isdecimal()
            elif name in inside:
                known = full in folders or (bool(owner) and name == "c")
            else:
                known = name == META or (bool(owner) and name == "c")
            if link or not known:
                return full
    return ""
