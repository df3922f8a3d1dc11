"""A private folder for compiled drivers.

Compiled code is loaded from disk and run, so the folder must be one that nobody else can write
to: owned by this user, not a link, closed to group and others. If that cannot be had (read-only
home, shared folder, odd file system) drivers are compiled in memory and nothing is lost but time.
The environment variable SCALEMATH_CACHE names another folder, or turns the cache off with 0.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path

FIXED_TIME = 1_000_000_000
"""Time stamp given to every driver file, so that a race between two writers changes nothing."""


def cache_folder() -> Path | None:
    """Return the folder for compiled drivers, made if needed, or None when there is no safe one."""
    setting = os.environ.get("SCALEMATH_CACHE", "")
    if setting.lower() in ("0", "off", "no", "false"):
        return None
    folder = Path(setting) if setting not in ("", "1") else _default()
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if is_private(folder) and _is_private_tree(folder) else None
    except OSError:
        return None


def write_driver(folder: Path, name: str, text: str) -> Path | None:
    """Put a driver's text into the folder unless it is there; return its path.

    Parameters
    ----------
    folder : Path
        A folder from `cache_folder`.
    name : str
        Module name, which holds a hash of the text.
    text : str
        Source.

    Returns
    -------
    Path or None
        The file, or None when it could not be written or another text bears its name.
    """
    path = folder / f"{name}.py"
    try:
        if not path.exists():
            handle, temporary = tempfile.mkstemp(prefix=name, suffix=".part", dir=folder)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                os.utime(temporary, (FIXED_TIME, FIXED_TIME))
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        if not is_private(path) or path.read_text(encoding="utf-8") != text:
            return None
        return path
    except OSError:
        return None


def forget(folder: Path, name: str) -> None:
    """Remove what is stored of a driver, where that is possible."""
    for path in [folder / f"{name}.py", *(folder / "__pycache__").glob(f"{name}.*")]:
        with contextlib.suppress(OSError):
            path.unlink()


def _default() -> Path | None:
    """Usual place for caches on this system."""
    try:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA", "")
            return Path(base) / "scalemath" / "cache" if base else None
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "scalemath"
        base = os.environ.get("XDG_CACHE_HOME", "")
        return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "scalemath"
    except RuntimeError:  # no home folder
        return None


def is_private(path: Path) -> bool:
    """Whether only this user can write to a file or folder."""
    if not hasattr(os, "getuid"):
        return True  # on Windows the per-user folder is private by inheritance
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.getuid():
        return False
    return not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_private_tree(folder: Path) -> bool:
    """Whether the compiler's own folder below is private too, or can be made so."""
    inner = folder / "__pycache__"
    inner.mkdir(mode=0o700, exist_ok=True)
    return is_private(inner) and os.access(folder, os.W_OK) and os.access(inner, os.W_OK)
