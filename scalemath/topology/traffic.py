"""Names of traffic patterns, and what a pattern asks of a fabric."""

from __future__ import annotations

import re
from typing import NamedTuple

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.wording import offered

PATTERNS = {
    "leaf-contiguous ring": "every endpoint sends to the next one in the order of the cabling",
    "random permutation": "every endpoint sends to a partner drawn at random",
    "worst permutation": "every endpoint sends to one as far away as possible",
    "uniform all-to-all": "every endpoint sends the same to every other one at once",
    "incast": "several endpoints send to one receiver ('incast 8:1')",
    "rail-aligned all-to-all": "all-to-all among the endpoints of each rail",
}

_OTHER_NAMES = {
    "ring": "leaf-contiguous ring",
    "leaf ring": "leaf-contiguous ring",
    "leaf-ordered ring": "leaf-contiguous ring",
    "permutation": "worst permutation",
    "uniform": "uniform all-to-all",
    "all-to-all": "uniform all-to-all",
    "alltoall": "uniform all-to-all",
    "rail-aligned": "rail-aligned all-to-all",
}


class Traffic(NamedTuple):
    """A pattern and, for an incast, how many send."""

    pattern: str
    senders: int


def traffic(name: str, senders: int | None = None) -> Traffic:
    """Read the name of a traffic pattern.

    Parameters
    ----------
    name : str
        One of `PATTERNS`; "incast 8:1" has eight senders.
    senders : int, optional
        Senders of an incast, in place of the ratio in the name.

    Returns
    -------
    Traffic
        Pattern and senders (1 where there is no incast).

    Raises
    ------
    ArgumentError
        If the name is unknown.
    """
    text = " ".join(str(name).lower().replace("_", " ").split())
    ratio = re.fullmatch(r"incast (\d+)\s*:\s*1", text)
    if ratio:
        text, senders = "incast", int(ratio[1])
    text = _OTHER_NAMES.get(text, text)
    if text not in PATTERNS:
        wanted = offered(text, PATTERNS, _OTHER_NAMES)
        raise ArgumentError(f"traffic is {name!r}; wanted one of {wanted}")
    if text != "incast":
        return Traffic(text, 1)
    if senders is None:
        raise ArgumentError("traffic 'incast' needs the number of senders, as in 'incast 8:1'")
    if senders < 1:
        raise RangeError(f"traffic: {senders} senders; wanted at least 1")
    return Traffic(text, int(senders))
