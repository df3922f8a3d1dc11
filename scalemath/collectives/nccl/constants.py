"""Versioned constants of NCCL's estimate, read from the TOML tables beside this file."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from attrs import field, frozen

from scalemath.core.errors import RangeError

LATEST = "2.30"
MICROSECOND = 1e-6
GIGABYTE = 1e9


@frozen
class Version:
    """One release of NCCL whose constants are known.

    Attributes
    ----------
    name : str
        Release, for example "2.30".
    verified : bool
        Whether the estimate was compared with recorded output of that release.
    checked : str
        How far it was compared.
    source, date : str
        Where the constants were read and when that source was current.
    """

    name: str
    verified: bool
    checked: str
    source: str
    date: str
    constants: dict[str, Any] = field(repr=False, eq=False, hash=False)


def _merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Tables of `base` with the entries of `change` put over them."""
    result = dict(base)
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result


@cache
def _table(name: str) -> dict[str, Any]:
    """Constants of one release with those it extends filled in."""
    text = (files(__package__) / "data" / f"{name}.toml").read_text(encoding="utf-8")
    own = tomllib.loads(text)
    parent = own.pop("extends", None)
    return _merged(_table(parent), own) if parent else own


@cache
def versions() -> tuple[Version, ...]:
    """Releases whose constants are known, oldest first.

    Returns
    -------
    tuple of Version
        Each says whether it was verified against recorded output.

    Examples
    --------
    >>> [v.name for v in versions() if v.verified]
    ['2.30']
    """
    names = [
        entry.name.removesuffix(".toml")
        for entry in (files(__package__) / "data").iterdir()
        if entry.name[0].isdigit() and entry.name.endswith(".toml")
    ]
    names.sort(key=lambda name: tuple(int(part) for part in name.split(".")))
    return tuple(_version(name) for name in names)


def _version(name: str) -> Version:
    table = _table(name)
    return Version(
        name=name,
        verified=table["verified"],
        checked=table["checked"],
        source=table["source"],
        date=table["date"],
        constants=table,
    )


@cache
def version(name: str = LATEST) -> Version:
    """One release by its name.

    A patch level is ignored: "2.30.7" is "2.30". A release between two known ones takes the
    constants of the next known one where nothing is known to differ: 2.24 to 2.26 are 2.27,
    2.19 and 2.20 are 2.21.

    Parameters
    ----------
    name : str
        Release such as "2.30" or "2.27.5".

    Returns
    -------
    Version
        Constants of that release.

    Raises
    ------
    RangeError
        When the release is not known.
    """
    known = [v.name for v in versions()]
    wanted = ".".join(name.split(".")[:2])
    stands = {"2.19": "2.21", "2.20": "2.21", "2.24": "2.27", "2.25": "2.27", "2.26": "2.27"}
    wanted = stands.get(wanted, wanted)
    if wanted not in known:
        raise RangeError(
            f"nccl version {name!r} is not known; write one of {', '.join(known)}, "
            f'for example version="{LATEST}"'
        )
    return _version(wanted)
