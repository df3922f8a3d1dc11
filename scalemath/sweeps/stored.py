"""Arrays that stay on disk: a part is picked without reading, and read when it is needed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Self

import numpy as np
from attrs import evolve, frozen
from numpy.lib.mixins import NDArrayOperatorsMixin

from scalemath.core.errors import RangeError, ReadError
from scalemath.sweeps import intact
from scalemath.sweeps.axes import Array
from scalemath.sweeps.dense import free_memory
from scalemath.sweeps.intact import Places


@frozen(eq=False, repr=False)
class Stored(NDArrayOperatorsMixin):
    """Part of an array in a Zarr group.

    Picking with integers, slices and lists is per axis and reads nothing. Anything that wants
    numbers, as ``numpy.asarray`` or arithmetic, reads what has been picked and no more.

    Attributes
    ----------
    path : Path
        Folder of the group.
    name : str
        Name of the array in it.
    dtype : numpy.dtype
        Type of the numbers.
    places : tuple
        For each axis of the stored array the place, or places, that are picked.
    order : tuple of int
        Stored axes behind the axes of this part.
    factors : tuple of float
        What the stored numbers are multiplied by when they are read.
    identity : str
        What the group must bear, so that a later sweep's numbers are never taken for these.
    """

    path: Path
    name: str
    dtype: np.dtype[Any]
    places: tuple[Places, ...]
    order: tuple[int, ...]
    factors: tuple[float, ...] = ()
    identity: str = ""

    @classmethod
    def whole(
        cls, path: Path, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], identity: str
    ) -> Self:
        """Return all of an array, its axes in the stored order."""
        places, order = tuple(range(n) for n in shape), tuple(range(len(shape)))
        return cls(path, name, dtype, places, order, identity=identity)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(_length(self.places[axis]) for axis in self.order)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.order)

    @property
    def size(self) -> int:
        """Number of points."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes that the part takes when it is read."""
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> tuple[int, ...]:
        """Lengths of the chunks of the stored array along the axes of this part."""
        stored = self._open().chunks
        return tuple(stored[axis] for axis in self.order)

    def __len__(self) -> int:
        if not self.order:
            raise TypeError("len() of a single stored number")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Stored:
        items = list(index) if isinstance(index, tuple) else [index]
        if sum(item is Ellipsis for item in items) > 1:
            raise IndexError("an index has one ellipsis at the most")
        for at, item in enumerate(items):
            if item is Ellipsis:
                items[at : at + 1] = [slice(None)] * (self.ndim - len(items) + 1)
                break
        if len(items) > self.ndim:
            raise IndexError(f"{len(items)} indices for an array of {self.ndim} axes")
        places, order = list(self.places), list(self.order)
        for axis, item in zip(self.order, items, strict=False):
            places[axis] = _picked(self.places[axis], item)
            if isinstance(places[axis], int):
                order.remove(axis)
        return evolve(self, places=tuple(places), order=tuple(order))

    def transpose(self, axes: Any = None) -> Stored:
        """Reorder the axes; without an order in reverse."""
        order = range(self.ndim)[::-1] if axes is None else axes
        return evolve(self, order=tuple(self.order[axis] for axis in order))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a stored array is read into a new one; it cannot be had uncopied")
        if self.nbytes > 0.9 * free_memory():
            raise RangeError(
                f"{self.name} of {self.path.name}: the part of shape {self.shape} takes "
                f"{self.nbytes / 1e9:.3g} GB, more than the memory that is free; pick less of it "
                "with sel() or isel()"
            )
        found = self._read()
        for factor in self.factors:
            found *= factor
        return found.astype(dtype, copy=False) if dtype is not None else found

    def _open(self) -> Any:
        library = zarr()
        intact.check_identity(self.path, self.identity)
        try:
            return library.open_array(self.path / self.name, mode="r")
        except (ValueError, TypeError, LookupError, OSError) as error:
            raise ReadError(
                f"{self.path / self.name}: is damaged and cannot be opened ({error}); sweep again"
            ) from None

    def _read(self) -> Array:
        array = self._open()
        forward: list[Places] = []
        flips: list[int] = []
        for axis, place in enumerate(self.places):
            if isinstance(place, range) and place.step < 0:
                forward.append(place[::-1])
                if axis in self.order:
                    flips.append(axis)
            else:
                forward.append(place)
        found = np.asarray(intact.read(self.path, self.name, array, forward))
        intact.check_identity(self.path, self.identity)  # it may have been replaced meanwhile
        found = np.flip(found, tuple(flips)) if flips else found
        found = found[tuple(0 if isinstance(p, int) else slice(None) for p in self.places)]
        kept = sorted(self.order)
        ordered = found.transpose([kept.index(axis) for axis in self.order])
        return np.array(ordered, dtype=self.dtype, order="C")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **given: Any) -> Any:
        read = [np.asarray(i) if isinstance(i, Stored) else i for i in inputs]
        return getattr(ufunc, method)(*read, **given)

    def __float__(self) -> float:
        return float(np.asarray(self))

    def __repr__(self) -> str:
        return f"<{self.name} of {self.path.name} on disk: {self.dtype} {self.shape}>"


def _length(place: Places) -> int:
    return 1 if isinstance(place, int) else len(place)


def _picked(place: Places, item: Any) -> Places:
    """Places that are left when an axis is indexed once more."""
    if isinstance(place, int):
        raise IndexError("this axis is gone")  # pragma: no cover - never among the axes
    if isinstance(item, slice):
        return place[item]
    listed = np.asarray(item)
    if listed.dtype.kind == "b" and listed.shape == (len(place),):
        listed = np.flatnonzero(listed)
    if listed.ndim > 1 or (listed.size and listed.dtype.kind not in "iu"):
        raise IndexError(f"{item!r}: an axis of a stored array takes a place, a slice or a list")
    if listed.ndim == 0:
        return int(place[int(listed)])
    return np.asarray(place, dtype=np.int64)[listed.astype(np.int64)]


def picked(array: Array | Stored, index: Any) -> Array | Stored:
    """Part of an array; of a stored one without reading it."""
    return array[index] if isinstance(array, Stored) else np.asarray(array[index])


def scaled(array: Array | Stored, factor: float) -> Array | Stored:
    """Array in another unit; a stored one is multiplied when it is read."""
    if isinstance(array, Stored):
        return evolve(array, factors=(*array.factors, factor))
    return np.asarray(array * factor)


def zarr(what: str = "reading a stored grid") -> Any:
    """Return the library zarr, or say how to get it."""
    try:
        import zarr as found
    except ImportError:
        raise ImportError(f"{what} needs zarr: pip install 'scalemath[zarr]'") from None
    return found
