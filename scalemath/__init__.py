"""The mathematics of AI clusters, with units that cannot lie.

``import scalemath as sm`` loads next to nothing; every public name is fetched from its room
when it is first used. The names stand in ``__init__.pyi``, one a line.
"""

from __future__ import annotations

import re as _re
from importlib import import_module as _import_module
from pkgutil import get_data as _get_data
from typing import Any as _Any

__version__ = "0.1.0"

_stub = (_get_data(__name__, "__init__.pyi") or b"").decode()
_home = {
    name: room
    for room, name in _re.findall(r"^from (\S+) import (\w+) as \2$", _stub, _re.MULTILINE)
}
__all__ = sorted([*_home, "__version__"])


def __getattr__(name: str) -> _Any:
    room = _home.get(name)
    if room is None:
        raise AttributeError(f"module 'scalemath' has no attribute {name!r}")
    value = None if room == __name__ else getattr(_import_module(room), name, None)
    if value is None:  # the name of a module
        value = _import_module(f"{room}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__name__"]
