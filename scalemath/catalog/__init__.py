"""The catalogue: published figures as ready objects, each number with its source.

``catalog.link("nvlink5")`` gives a `Link`, ``catalog.accelerator("H100 SXM")`` an
`Accelerator`; names are forgiving, and what is not clear is answered with a list.
``catalog.sources(x)`` says where each number is from and what other sources print.
"""

from scalemath.catalog.finding import Found, families, fields, record, search, sources, table
from scalemath.catalog.measured import efficiency, usable
from scalemath.catalog.objects import (
    accelerator,
    cluster,
    latency,
    link,
    model,
    module,
    nic,
    node,
    port,
    rack,
    switch,
)
from scalemath.catalog.own import add, forget, load

__all__ = [
    "Found",
    "accelerator",
    "add",
    "cluster",
    "efficiency",
    "families",
    "fields",
    "forget",
    "latency",
    "link",
    "load",
    "model",
    "module",
    "nic",
    "node",
    "port",
    "rack",
    "record",
    "search",
    "sources",
    "switch",
    "table",
    "usable",
]
