"""Where a full grid goes: arrays to reuse, or files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock
from typing import Any, TypeAlias

import numpy as np

from scalemath.core.errors import ArgumentError
from scalemath.sweeps import dense, slabs, zarrfiles
from scalemath.sweeps.axes import Array
from scalemath.sweeps.grid import Grid
from scalemath.sweeps.problem import Problem
from scalemath.sweeps.program import Output
from scalemath.sweeps.running import Run
from scalemath.sweeps.storage import variable
from scalemath.sweeps.stored import Stored, zarr

MAGIC = b"\x93NUMPY"
"""How a file of NumPy begins."""
Target: TypeAlias = str | os.PathLike[str] | Array | Mapping[str, Array] | Grid | None


def fill(
    problem: Problem,
    wanted: list[Output],
    out: Target,
    kind: np.dtype[Any],
    how: Run,
    label: Callable[[Sequence[Array | Stored]], Grid],
) -> Grid:
    """Evaluate a grid and put it where the user wants it.

    Parameters
    ----------
    problem : Problem
        Axes and values.
    wanted : list of Output
        What to store.
    out : array, mapping, Grid, str or path, optional
        Where to store it; new arrays when left out.
    kind : numpy.dtype
        Type of stored numbers.
    how : Run
        How to run.
    label : callable
        Makes the grid of the arrays.

    Returns
    -------
    Grid
        Its outputs are the arrays given, new ones, memory-mapped files, or stay on disk.
    """
    if isinstance(out, (str, os.PathLike)):
        path = Path(out)
        if path.suffix == ".zarr":
            return _to_zarr(problem, wanted, path, kind, how, label)
        return _to_files(problem, wanted, path, kind, how, label)
    buffers = None if out is None else _arrays(problem, wanted, out, kind)
    return label(
        dense.dense(
            problem, wanted, buffers, kind, how.threads, how.arithmetic, how.progress, how.client
        )
    )


def _arrays(
    problem: Problem,
    wanted: list[Output],
    out: Array | Mapping[str, Array] | Grid,
    kind: np.dtype[Any],
) -> list[Array]:
    """Check arrays that shall be reused, one per output."""
    given: Any = out.outputs if isinstance(out, Grid) else out
    if isinstance(given, np.ndarray):
        if len(wanted) != 1:
            names = ", ".join(o.label for o in wanted)
            raise ArgumentError(
                f"out is one array for {len(wanted)} outputs; give a mapping: {names}"
            )
        given = {wanted[0].label: given}
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"out is a {type(given).__name__}, wanted an array, a mapping or a file"
        )
    found: list[Array] = []
    for output in wanted:
        array = given.get(output.label)
        wants = dense.code_type(problem, output) or kind
        if not isinstance(array, np.ndarray):
            raise ArgumentError(f"out holds no array for {output.label}")
        if array.shape != problem.grid or array.dtype != wants or not array.flags.c_contiguous:
            raise ArgumentError(
                f"out for {output.label} is {array.dtype} {array.shape}, wanted a C-contiguous "
                f"{wants} array of shape {problem.grid}"
            )
        if not array.flags.writeable:
            raise ArgumentError(f"out for {output.label} is read-only")
        for other, earlier in zip(wanted, found, strict=False):
            if np.may_share_memory(array, earlier):
                raise ArgumentError(
                    f"out for {output.label} and out for {other.label} share memory, so one would "
                    "overwrite the other; give each an array of its own"
                )
        found.append(array)
    return found


# --- files -------------------------------------------------------------------------------


def _to_files(
    problem: Problem,
    wanted: list[Output],
    path: Path,
    kind: np.dtype[Any],
    how: Run,
    label: Callable[[Sequence[Array | Stored]], Grid],
) -> Grid:
    """Write memory-mapped files, one per output."""
    if path.suffix != ".npy":
        raise ArgumentError(f"out={str(path)!r}: wanted a file name ending in .npy or .zarr")
    _check_folder(path)
    names = [path.with_name(f"{path.stem}.{o.label}.npy") for o in wanted]
    finals = [p.resolve() for p in (names if len(wanted) > 1 else [path])]
    for final in finals:
        if final.is_dir():
            raise ArgumentError(f"out={str(path)!r}: {final.name!r} is a folder")
        if not _replaceable(final):
            raise ArgumentError(
                f"out={str(path)!r}: {final.name!r} exists and is no NumPy file; it is not "
                "replaced, choose another name or remove it"
            )
    kinds = [dense.code_type(problem, output) or kind for output in wanted]
    with _appearing(finals) as parts:
        arrays: list[Array] = [
            _new_file(part, wants, problem.grid) for part, wants in zip(parts, kinds, strict=True)
        ]
        dense.dense(
            problem, wanted, arrays, kind, how.threads, how.arithmetic, how.progress, how.client
        )
        del arrays  # closes the files, so that they can be renamed everywhere
    return label([np.lib.format.open_memmap(final, mode="r+") for final in finals])


def _replaceable(path: Path) -> bool:
    """Whether there is no file, an empty one, or one of NumPy."""
    if not path.exists():
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) in (b"", MAGIC)
    except OSError:
        return False


def _new_file(path: Path, kind: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Make a memory-mapped file, its room on the disk taken beforehand.

    A mapped file without room ends the process at the first write that finds none.
    """
    array: Array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                    raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from None
    return array


def _to_zarr(
    problem: Problem,
    wanted: list[Output],
    path: Path,
    kind: np.dtype[Any],
    how: Run,
    label: Callable[[Sequence[Array | Stored]], Grid],
) -> Grid:
    """Write a Zarr group slab by slab."""
    zarr(f"out={str(path)!r}")
    _check_folder(path)
    final = path.resolve()
    reason = zarrfiles.refusal(final)
    if reason:
        raise ArgumentError(
            f"out={str(path)!r}: {reason}; it is not replaced, choose another name or remove it"
        )
    identity = uuid.uuid4().hex
    plan = slabs.cut(problem.grid)
    kinds = [dense.code_type(problem, output) or kind for output in wanted]
    with _appearing([final]) as (part,):
        grid = label(
            [
                Stored.whole(
                    final, variable(problem.coordinates, o.label), wants, problem.grid, identity
                )
                for o, wants in zip(wanted, kinds, strict=True)
            ]
        )

        arrays: list[Any] = []
        writing, over = Lock(), Event()

        def write(region: slabs.Region | None, found: Sequence[Array]) -> None:
            with writing:
                if over.is_set():
                    return
                if region is None:
                    arrays.extend(zarrfiles.create(grid, part, plan.chunk, identity))
                else:
                    for array, values in zip(arrays, found, strict=True):
                        array[region] = values

        # One slab is written while the next is computed. Whatever happens, and wherever an
        # interruption strikes, no write is under way when the folder is renamed or removed.
        try:
            with ThreadPoolExecutor(1, thread_name_prefix="scalemath-write") as pool:
                written: Future[None] = pool.submit(write, None, ())
                written.result()
                for region, found in slabs.compute(problem, wanted, kind, how, plan):
                    written.result()
                    written = pool.submit(write, region, found)
                    del found
                written.result()
        finally:
            with writing:
                over.set()
    return grid


def _check_folder(path: Path) -> None:
    if not path.resolve().parent.is_dir():
        raise ArgumentError(f"out={str(path)!r}: the folder {str(path.parent)!r} does not exist")


@contextmanager
def _appearing(finals: Sequence[Path]) -> Iterator[list[Path]]:
    """Give names beside the final ones to write under; at the end all get theirs, or none.

    Whatever goes wrong, nothing half-written is left, and what stood there before stays.
    """
    mark = uuid.uuid4().hex[:12]
    parts = [final.with_name(f".{final.name}.{mark}.part") for final in finals]
    olds = [final.with_name(f".{final.name}.{mark}.old") for final in finals]
    try:
        yield parts
        if len(finals) == 1 and parts[0].is_file():
            parts[0].replace(finals[0])
            return
        moved = 0
        try:
            for part, final, old in zip(parts, finals, olds, strict=True):
                moved += 1
                if final.exists():
                    final.rename(old)
                part.rename(final)
        except BaseException:
            for part, final, old in list(zip(parts, finals, olds, strict=True))[:moved]:
                if not part.exists():
                    _remove(final)
                if old.exists():
                    old.rename(final)
            raise
        for old in olds:
            _remove(old)
    except OSError as error:
        for part, final in zip(parts, finals, strict=True):
            if str(error.filename).startswith(str(part)):
                raise OSError(error.errno, error.strerror, str(final)) from None
        raise
    finally:
        for part in parts:
            _remove(part)


def _remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
