"""Finding out what a text is, and one reader per kind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from scalemath.core.errors import ReadError
from scalemath.readers.text import Text, text_of

KINDS = {
    "nccl_topology": "nccl_xml",
    "nccl_graph": "nccl_graph_xml",
    "model_config": "model_config",
    "nccl_tests": "nccl_tests",
    "perftest": "perftest",
    "osu": "osu",
    "nvidia_topology": "topology_matrix",
    "rocm_topology": "rocm_topology",
    "nvlink": "nvlink_status",
    "lspci": "lspci",
    "ibstat": "ibstat",
    "ethtool": "ethtool",
    "sysfs": "sysfs",
}
"""Reader by the module that holds it, in the order in which a text is tried."""


def reader_named(name: str) -> Callable[[Any], Any]:
    """Return the reader of one kind."""
    found: Callable[[Any], Any] = getattr(import_module(f"scalemath.readers.{KINDS[name]}"), name)
    return found


def kind_of(text: Text) -> str:
    """Return the kind of a text, or refuse it."""
    for name, module in KINDS.items():
        if import_module(f"scalemath.readers.{module}").looks_like(text):
            return name
    shown = next((line.strip()[:80] for line in text.lines if line.strip()), "")
    raise ReadError(
        f"{text.name}, line 1: "
        "expected the output of nccl-tests, nccom-test, perftest, OSU micro-benchmarks, "
        "nvidia-smi topo -m, rocm-smi --showtopo, nvidia-smi nvlink -s, NCCL topology or graph "
        "XML, lspci -vv, ibstat, ibdev2netdev, ethtool, sysfs rates or a config.json; the text "
        f"begins {shown!r}",
    )


class Read:
    r"""Read what real tools print: call it and it finds out the kind, or name the kind.

    ``read(source)`` takes a `pathlib.Path`, or text that holds a line end; anything else is
    refused. ``read.nccl_tests(source)`` and its like read one kind only.

    Examples
    --------
    >>> from scalemath.readers import read
    >>> print(read("Settings for eth0:\n\tSpeed: 200000Mb/s\n").ports[0].rate)
    25 GB/s/dir
    """

    def __call__(self, source: Any) -> Any:
        """Find out the kind of a file or text and read it.

        Parameters
        ----------
        source : pathlib.Path or str
            A file, or its text.

        Returns
        -------
        Reading
            What the reader of that kind returns.
        """
        text = text_of(source)
        return reader_named(kind_of(text))(text)

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        if name not in KINDS:
            raise AttributeError(f"no reader {name!r}; there are {', '.join(KINDS)}")
        return reader_named(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *KINDS]

    def __repr__(self) -> str:
        return f"<read: {', '.join(KINDS)}>"


read = Read()
