"""Reader of ``rocm-smi --showtopo``."""

from __future__ import annotations

import re
from typing import Any

from scalemath.readers.machine import Machine, MachineGpu
from scalemath.readers.reading import Skipped
from scalemath.readers.text import Text, text_of

KIND = "rocm_topology"
MOST_DEVICES = 256
_SECTION = re.compile(r"(?P<name>Weight|Hops|Link Type|Min/Max BW|Link accessibility)\b.{0,10}"
                      r"(?:between|of)[ \t]+(?:two[ \t]+)?GPUs", re.IGNORECASE)  # fmt: skip
_NUMA = re.compile(r"GPU[ \t]*\[?(?P<gpu>\d{1,4})\]?[ \t]*:[ \t]*\(Topology\)[ \t]*Numa "
                   r"Node:[ \t]*(?P<numa>-?\d{1,4})", re.IGNORECASE)  # fmt: skip
_GPU = re.compile(r"GPU\d{1,4}")


def looks_like(text: Text) -> bool:
    """Whether the text has a section of link types or weights."""
    return "GPUs" in text.content and any(
        "GPUs" in line and _SECTION.search(line) for line in text.lines
    )


def rocm_topology(source: Any) -> Machine:
    """Read the sections of ``rocm-smi --showtopo``.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    Machine
        Accelerators with the type of the link between each two, and NUMA nodes.

    Raises
    ------
    ReadError
        When no matrix of link types is there, or a row is cut off.

    Notes
    -----
    Two accelerators joined by XGMI share one link of the mesh; all of them together use one link
    to each other one, so the bandwidth of a pair says little about that of all.
    """
    text = text_of(source)
    section, names = "", [""]
    tables: dict[str, dict[str, list[str]]] = {}
    numa: dict[str, int] = {}
    skipped = []
    for number, line in enumerate(text.lines, 1):
        found = _SECTION.search(line) if "GPUs" in line else None
        tokens = line.split()
        if found is not None:
            section, names = found["name"].lower(), []
            tables[section] = {}
        elif match := _NUMA.search(line):
            numa[f"GPU{match['gpu']}"] = int(match["numa"])
        elif section and not names and tokens and all(_GPU.fullmatch(t) for t in tokens):
            if len(tokens) > MOST_DEVICES or len(set(tokens)) < len(tokens):
                text.refuse(number, f"expected up to {MOST_DEVICES} different GPUs")
            names = tokens
        elif section and tokens and tokens[0] in names:
            if len(tokens) != len(names) + 1:
                text.refuse(number, f"expected {len(names)} cells, found {len(tokens) - 1}")
            tables[section][tokens[0]] = tokens[1:]
        elif tokens and "=====" not in line and "Numa Affinity" not in line:
            skipped.append(Skipped(number, "not part of a matrix", line.strip()[:120]))
    kinds = tables.get("link type", {})
    if not kinds:
        text.refuse(1, "expected a section with the link type between two GPUs, found none")
    order = list(kinds)
    if names and len(kinds) < len(next(iter(kinds.values()))):
        text.refuse(len(text.lines), "expected one row per GPU: the matrix is cut off")
    return _machine(text, order, kinds, numa, tuple(skipped))


def _machine(
    text: Text,
    order: list[str],
    kinds: dict[str, list[str]],
    numa: dict[str, int],
    skipped: tuple[Skipped, ...],
) -> Machine:
    paths = {
        (one, other): cell.upper()
        for one, cells in kinds.items()
        for other, cell in zip(order, cells, strict=False)
        if one != other
    }
    cautions = []
    if any(label == "PCIE" for label in paths.values()):
        cautions.append("some pairs are joined by PCIe only")
    return Machine(
        source=text.name,
        kind=KIND,
        gpus=tuple(
            MachineGpu(
                name=name,
                numa=numa.get(name),
                links={o: 1 for o in order if paths.get((name, o), "") == "XGMI"},
                link_kind="xgmi" if "XGMI" in kinds[name] else "",
            )
            for name in order
        ),
        paths=paths,
        skipped=skipped,
        cautions=tuple(cautions),
    )
