"""Files a user names: their text, or a sentence on why there is none."""

from __future__ import annotations

import os
from pathlib import Path

from scalemath.core.errors import ArgumentError, ReadError


def text_of(path: str | Path) -> str:
    """Return the text of a TOML file.

    Parameters
    ----------
    path : str or Path
        File in UTF-8.

    Returns
    -------
    str
        Its text.

    Raises
    ------
    ReadError
        If there is no such file, or it is no text in UTF-8.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"the file is {repr(path)[:80]}; wanted its path, as in 'mine.toml'")
    shown = str(path)[-80:]
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ReadError(f"{shown}: not TOML: byte {error.start} is no text in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ReadError(f"{shown} cannot be read: {reason}") from None
