"""How a message lists what there is, and what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST = 24
"""Names listed in one message; more are counted."""


def offered(given: object, names: Iterable[str], resembling: Iterable[str] = ()) -> str:
    """Return the names that may be written, and those that resemble what was written.

    Parameters
    ----------
    given : object
        What was written in place of a name.
    names : iterable of str
        What may be written.
    resembling : iterable of str
        Among what else to look for a resemblance, such as other spellings.

    Returns
    -------
    str
        Such as ``"a, b, ring and 30 more; did you mean ring?"``.
    """
    known = list(names)
    text = ", ".join(known[:MOST])
    if len(known) > MOST:
        text += f" and {len(known) - MOST} more"
    return text + resembles(given, [*known, *resembling])


def resembles(given: object, names: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the nearest names, or nothing."""
    found = difflib.get_close_matches(str(given)[:80], list(names), n=2, cutoff=0.45)
    return f"; did you mean {' or '.join(dict.fromkeys(found))}?" if found else ""
