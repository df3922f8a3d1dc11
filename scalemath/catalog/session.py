"""What the catalogue knows in this session: the library of records, and the user's objects."""

from __future__ import annotations

from typing import Any

from scalemath.catalog.build import Builder
from scalemath.records.library import Library

library = Library()
objects: dict[tuple[str, str], Any] = {}
build = Builder(library, objects)

FAMILY_OF = {
    "Link": "link",
    "Accelerator": "accelerator",
    "Nic": "nic",
    "Switch": "switch",
    "Transceiver": "module",
    "Node": "node",
    "Rack": "rack",
    "Transformer": "model",
}
"""Family of an object by the name of its class."""
