"""Reader of ``nvidia-smi topo -m``."""

from __future__ import annotations

import re
from typing import Any

from scalemath.readers.machine import Machine, MachineGpu, MachineNic
from scalemath.readers.reading import Skipped
from scalemath.readers.text import Text, text_of

KIND = "nvidia_topology"
MOST_DEVICES = 512
_NAME = re.compile(r"(?:GPU|NIC)\d{1,4}|(?:mlx\d|bnxt|irdma|efa|rdma|roce|ib|hfi|qedr)\w{0,20}")
_CELL = re.compile(r"X|SYS|NODE|PHB|PXB|PIX|PXN|P2C|NV\d{1,3}|N/A|LOC|NVL|BAR|C2C")
_LEGEND = re.compile(r"^(?P<label>NIC\d{1,4})[ \t]*:[ \t]*(?P<device>[\w.\-]{1,40})$")
_NVLINKS = re.compile(r"NV(\d{1,3})")


def _heading(line: str) -> list[str]:
    """Device names at the head of a matrix, empty for any other line."""
    names = []
    for token in line.split():
        if not _NAME.fullmatch(token):
            break
        names.append(token)
    return names if names and names[0].startswith("GPU") else []


def looks_like(text: Text) -> bool:
    """Whether the text holds a matrix with paths such as SYS, PIX or NV18."""
    if "GPU" not in text.content:
        return False
    heads = {tuple(names) for line in text.lines if (names := _heading(line))}
    if not heads:
        return False
    return any(
        line.split()[1:2] and _NAME.fullmatch(line.split()[0]) and _cells(line, 1)
        for line in text.lines
    )


def _cells(line: str, number: int) -> list[str]:
    """Labels behind the name of a row; at least so many, else empty."""
    found = []
    for token in line.split()[1:]:
        if not _CELL.fullmatch(token):
            break
        found.append(token)
    return found if len(found) >= number else []


def nvidia_topology(source: Any) -> Machine:
    """Read the matrix of ``nvidia-smi topo -m``.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    Machine
        Accelerators, interfaces, links, NUMA nodes and affinity.

    Raises
    ------
    ReadError
        When the matrix is missing, cut off, or not symmetric in size.

    Notes
    -----
    NODE and SYS say where the path runs, not how fast it is: NODE on one switch chip measures
    like PIX, and SYS inside one socket appears on machines with several NUMA nodes per socket.
    """
    text = text_of(source)
    names: list[str] = []
    rows: dict[str, list[str]] = {}
    tails: dict[str, list[str]] = {}
    devices: dict[str, str] = {}
    skipped = []
    for number, line in enumerate(text.lines, 1):
        tokens = line.split()
        legend = _LEGEND.match(line.strip())
        if legend is not None:
            devices[legend["label"]] = legend["device"]
        elif not names and (found := _heading(line)):
            names = _checked_names(text, number, found)
        elif names and tokens and tokens[0] in names and tokens[0] not in rows:
            cells = _cells(line, 1)[: len(names)]
            if len(cells) < len(names):
                text.refuse(
                    number,
                    f"expected {len(names)} paths for {tokens[0]}, found {len(cells)}: cut off",
                )
            rows[tokens[0]] = cells
            tails[tokens[0]] = tokens[1 + len(names) :]
        elif tokens and " = " not in line and not line.strip().startswith("Legend"):
            skipped.append(Skipped(number, "not part of the matrix", line.strip()[:120]))
    if not names:
        text.refuse(1, "expected a heading GPU0 GPU1 ..., found none")
    missing = [name for name in names if name not in rows]
    if any(name.startswith("GPU") for name in missing):
        text.refuse(len(text.lines), f"expected a row for {missing[0]}, found none: cut off")
    return _machine(text, names, rows, tails, devices, skipped)


def _checked_names(text: Text, number: int, names: list[str]) -> list[str]:
    if len(names) > MOST_DEVICES:
        text.refuse(number, f"expected at most {MOST_DEVICES} devices, found {len(names)}")
    if len(set(names)) < len(names):
        text.refuse(number, "expected every device once in the heading")
    return names


def _machine(
    text: Text,
    names: list[str],
    rows: dict[str, list[str]],
    tails: dict[str, list[str]],
    devices: dict[str, str],
    skipped: list[Skipped],
) -> Machine:
    paths = {
        (one, other): cell
        for one, cells in rows.items()
        for other, cell in zip(names, cells, strict=True)
        if one != other and cell != "X"
    }
    gpu_names = [name for name in names if name.startswith("GPU")]
    numa = {name: _numa(tails.get(name, [])) for name in gpu_names}
    if all(value is None for value in numa.values()):
        numa = _numa_of_processors(gpu_names, tails)
    gpus = tuple(
        MachineGpu(
            name=name,
            numa=numa[name],
            links=_links(name, gpu_names, paths),
            link_kind="nvlink" if _links(name, gpu_names, paths) else "",
        )
        for name in gpu_names
    )
    cautions = []
    labels = {paths[pair] for pair in paths}
    if "SYS" in labels and len({n for n in numa.values() if n is not None}) == 1:
        cautions.append("SYS within one NUMA node: the label does not prove a second socket")
    if any(_bonded(devices.get(name, name)) for name in names if name not in gpu_names):
        cautions.append("a bond is listed among the interfaces; its ports are not counted again")
    return Machine(
        source=text.name,
        kind=KIND,
        gpus=gpus,
        nics=tuple(
            MachineNic(name=name, device=devices.get(name, "" if name[:3] == "NIC" else name))
            for name in names
            if name not in gpu_names
        ),
        paths=paths,
        skipped=tuple(skipped),
        cautions=tuple(cautions),
    )


def _bonded(name: str) -> bool:
    return "bond" in name


def _links(name: str, gpus: list[str], paths: dict[tuple[str, str], str]) -> dict[str, int]:
    """NVLinks by other end; one switch where every path shows the same number.

    Behind switches each pair shows all links of a GPU; in a mesh the numbers of the pairs add up.
    """
    found = {}
    for other in gpus:
        match = _NVLINKS.fullmatch(paths.get((name, other), ""))
        if match is not None:
            found[other] = int(match[1])
    whole = len(found) == len(gpus) - 1 and len(set(found.values())) == 1
    if whole and len(found) > 1 and next(iter(found.values())) * len(found) > 18:
        return {"switch": next(iter(found.values()))}
    return found


def _numa(tail: list[str]) -> int | None:
    """NUMA node behind the processor list."""
    if len(tail) >= 2 and re.fullmatch(r"\d{1,4}(?:-\d{1,4})?", tail[1]):
        return int(tail[1].partition("-")[0])
    return None


def _numa_of_processors(names: list[str], tails: dict[str, list[str]]) -> dict[str, int | None]:
    """Number the processor lists where no NUMA column is printed."""
    seen: dict[str, int] = {}
    found: dict[str, int | None] = {}
    for name in names:
        tail = tails.get(name, [])
        listed = tail[0] if tail and re.fullmatch(r"[\d,\-]{1,200}", tail[0]) else ""
        found[name] = seen.setdefault(listed, len(seen)) if listed else None
    return found
