"""Reader of NCCL and RCCL topology XML (NCCL_TOPO_FILE and NCCL_TOPO_DUMP_FILE)."""

from __future__ import annotations

import math
import re
from typing import Any

from attrs import define, field

from scalemath.readers.machine import Machine, MachineGpu, MachineNic
from scalemath.readers.pcie import pcie_rate
from scalemath.readers.safe_xml import Element, parse
from scalemath.readers.text import Text, text_of

KIND = "nccl_topology"
BRIDGE, GPU_CLASSES = "0x0604", ("0x0302", "0x0300", "0x0380", "0x1200")
NIC_CLASSES = ("0x0200", "0x0207")
SWITCH_CLASS = "0x0680"
MEGABIT = 1e6 / 8.0
MOST_MEGABITS = 1e8
_SPEED = re.compile(r"(?P<rate>\d{1,3}(?:\.\d)?)[ \t]*GT/s")
_BUS = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]")


@define
class _Found:
    """Devices gathered while walking down the tree."""

    gpus: list[MachineGpu] = field(factory=list)
    nics: list[MachineNic] = field(factory=list)
    routes: dict[str, tuple[str, ...]] = field(factory=dict)
    links: dict[str, list[tuple[str, int, str, str]]] = field(factory=dict)
    switches: int = 0
    processors: list[str] = field(factory=list)
    classless: list[tuple[str, int | None, tuple[str, ...]]] = field(factory=list)
    cautions: list[str] = field(factory=list)


def looks_like(text: Text) -> bool:
    """Whether the text is XML with a system element."""
    head = text.content[:20000]
    return head.lstrip("\ufeff \t\n").startswith("<") and "<system" in text.content


def nccl_topology(source: Any) -> Machine:
    """Read a topology file of NCCL or RCCL.

    Parameters
    ----------
    source : pathlib.Path or str
        A file, or its text.

    Returns
    -------
    Machine
        Accelerators, interfaces, scale-up links, NUMA nodes and affinity.

    Raises
    ------
    ReadError
        For XML that is malformed, hostile or of another kind.

    Notes
    -----
    Input files often hold the PCI tree only, without links or rates; what the file does not say
    stays open. Virtual machines print a PCIe rate of the hypervisor, not of the slot.
    """
    text = text_of(source)
    root = parse(text)
    if root.name != "system":
        text.refuse(root.line, f"expected the element <system>, found <{root.name[:40]}>")
    found = _Found()
    for processor in root.children:
        if processor.name == "cpu":
            _processor(text, processor, found)
        elif processor.name == "nic":
            _nic(text, processor, "", None, (), found)
    if not found.gpus and found.classless:
        _unclassed(found)
    if not (found.gpus or found.nics):
        text.refuse(root.line, "expected GPUs or network interfaces below <cpu>, found none")
    return _machine(text, found)


def _processor(text: Text, element: Element, found: _Found) -> None:
    numa = _integer(text, element, "numaid")
    vendor = element.get("vendor")[:40]
    host = f"{element.get('host_hash')[:40]} cpu{numa}"
    found.processors.append(f"{element.get('arch')[:20]} {vendor}".strip())
    waiting: list[tuple[Element, tuple[str, ...]]] = [
        (child, (host,)) for child in reversed(element.children)
    ]
    while waiting:
        item, route = waiting.pop()
        if item.name == "pci":
            bus = _bus(text, item)
            route = (*route, bus)
            below = [child for child in item.children if child.name == "pci"]
            if len(below) > 1:
                found.switches += 1
            _device(text, item, bus, numa, route, found)
            waiting += [(child, route) for child in reversed(below)]
        elif item.name == "nic":
            _nic(text, item, "", numa, route, found)


def _device(
    text: Text, item: Element, bus: str, numa: int | None, route: tuple[str, ...], found: _Found
) -> None:
    """Take a PCI function for what it is."""
    kind = item.get("class")[:6]
    gpus = [child for child in item.children if child.name == "gpu"]
    inner = [child for child in item.children if child.name == "nic"]
    name = f"GPU{len(found.gpus)}"
    if gpus or (kind in GPU_CLASSES and not inner):
        element = gpus[0] if gpus else None
        if element is not None:
            device = element.get("dev") or element.get("rank")
            if device.isdigit() and len(device) < 5 and f"GPU{device}" not in found.routes:
                name = f"GPU{int(device)}"
            found.links[name] = [
                (
                    link.get("target").lower(),
                    _integer(text, link, "count") or 1,
                    link.name,
                    link.get("tclass"),
                )
                for link in element.children
                if link.name in ("nvlink", "xgmi")
            ]
        found.gpus.append(
            MachineGpu(
                name=name,
                bus=bus,
                numa=numa,
                pcie=_pcie(item),
                rank=_integer(text, element, "rank") if element is not None else None,
            )
        )
        found.routes[name] = route
    elif inner:
        for child in inner:
            _nic(text, child, bus, numa, route, found)
    elif kind in NIC_CLASSES:
        name = f"NIC{len(found.nics)}"
        found.nics.append(MachineNic(name=name, bus=bus, numa=numa))
        found.routes[name] = route
    elif not kind and not any(child.name == "pci" for child in item.children):
        found.classless.append((bus, numa, route))


def _nic(
    text: Text,
    element: Element,
    bus: str,
    numa: int | None,
    route: tuple[str, ...],
    found: _Found,
) -> None:
    """Take the network devices of one interface."""
    nets = [child for child in element.children if child.name == "net"]
    for net in nets:
        device = net.get("name")[:60]
        if device.lower().startswith(("lo", "docker", "virbr")):
            continue
        speed = net.get("speed")
        rate = _megabits(text, net, speed) if speed else math.nan
        name = f"NIC{len(found.nics)}"
        gdr = net.get("gdr")
        found.nics.append(
            MachineNic(
                name=name,
                device=device,
                bus=bus,
                numa=numa,
                rate_bytes=rate * MEGABIT,
                gpudirect=gdr == "1" if gdr else None,
            )
        )
        found.routes[name] = route
    if not nets and bus:
        name = f"NIC{len(found.nics)}"
        found.nics.append(MachineNic(name=name, bus=bus, numa=numa))
        found.routes[name] = route


def _megabits(text: Text, net: Element, given: str) -> float:
    rate = text.number(net.line, given[:20], "speed in Mbit/s")
    if not 0.0 <= rate <= MOST_MEGABITS or len(given) > 20:
        text.refuse(net.line, f"expected a speed in Mbit/s, found {given[:40]!r}")
    return rate


def _unclassed(found: _Found) -> None:
    """Tell accelerators from interfaces where the file gives no classes.

    Accelerators of a virtual machine sit on consecutive PCI devices; what lies outside the
    longest such sequence is taken for an interface.
    """
    ordered = sorted(found.classless)
    groups: list[list[str]] = []
    for bus, _, _ in ordered:
        follows = (
            groups and groups[-1][-1][:-4] == bus[:-4] and _slot(bus) - 1 == _slot(groups[-1][-1])
        )
        if follows:
            groups[-1].append(bus)
        else:
            groups.append([bus])
    longest = max(groups, key=len)
    halved = _power_of_two(len(longest))
    chosen = set(longest[len(longest) - halved :])
    for bus, numa, route in ordered:
        if bus in chosen:
            name = f"GPU{len(found.gpus)}"
            found.gpus.append(MachineGpu(name=name, bus=bus, numa=numa))
        else:
            name = f"NIC{len(found.nics)}"
            found.nics.append(MachineNic(name=name, bus=bus, numa=numa))
        found.routes[name] = route
    found.cautions.append(
        "the file gives no PCI classes: the longest sequence of devices is taken for the "
        "accelerators, the rest for interfaces"
    )


def _slot(bus: str) -> int:
    """Device number of a PCI address."""
    return int(bus[-4:-2], 16)


def _power_of_two(number: int) -> int:
    """Greatest power of two up to a number, as machines hold accelerators."""
    return 1 << (number.bit_length() - 1)


def _machine(text: Text, found: _Found) -> Machine:
    by_bus = {gpu.bus: gpu.name for gpu in found.gpus}
    paths: dict[tuple[str, str], str] = {}
    gpus = []
    for gpu in found.gpus:
        links: dict[str, int] = {}
        kind = ""
        for target, count, kind_name, target_class in found.links.get(gpu.name, []):
            other = by_bus.get(target, "switch" if target_class[:6] == SWITCH_CLASS else target)
            if other == gpu.name:
                found.cautions.append(f"{gpu.name} names itself as the end of its links")
                continue
            links[other] = links.get(other, 0) + count
            kind = kind_name
            if other in found.routes:
                paths[gpu.name, other] = f"NV{count}" if kind == "nvlink" else "XGMI"
        gpus.append(
            MachineGpu(
                name=gpu.name,
                bus=gpu.bus,
                numa=gpu.numa,
                links=links,
                link_kind=kind,
                pcie=gpu.pcie,
                rank=gpu.rank,
            )
        )
    _switched(gpus, paths)
    names = list(found.routes)
    if len(names) <= 512:
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                label = _path(found.routes[one], found.routes[other])
                if (one, other) not in paths and (other, one) not in paths:
                    paths[one, other] = label
    cautions = list(dict.fromkeys(found.cautions))
    if not any(gpu.links for gpu in gpus) and len(gpus) > 1:
        cautions.append("the file lists no scale-up links: it may be an input file without them")
    return Machine(
        source=text.name,
        kind=KIND,
        gpus=tuple(gpus),
        nics=tuple(found.nics),
        paths=paths,
        pcie_switches=found.switches,
        processors=tuple(found.processors),
        cautions=tuple(cautions),
    )


def _switched(gpus: list[MachineGpu], paths: dict[tuple[str, str], str]) -> None:
    """Label the paths between accelerators that meet in switches."""
    behind = [gpu for gpu in gpus if gpu.links.get("switch")]
    for i, one in enumerate(behind):
        for other in behind[i + 1 :]:
            least = min(one.links["switch"], other.links["switch"])
            paths[one.name, other.name] = f"NV{least}"


def _path(one: tuple[str, ...], other: tuple[str, ...]) -> str:
    """Label of a path through the PCI tree, as nvidia-smi would name it."""
    if not one or not other or one[0] != other[0]:
        return "SYS"
    shared = 0
    for a, b in zip(one[:-1], other[:-1], strict=False):
        if a != b:
            break
        shared += 1
    if shared <= 1:
        return "PHB"
    bridges = len(one) + len(other) - 2 * shared - 2
    return "PIX" if bridges <= 0 else "PXB"


def _pcie(item: Element) -> float:
    """Rate of a PCIe port per direction [byte/s], nan when the file gives none."""
    speed, width = _SPEED.search(item.get("link_speed")), item.get("link_width")
    if speed is None or not width.isdigit() or not 0 < int(width[:4]) <= 32:
        return math.nan
    return pcie_rate(float(speed["rate"]), int(width[:4]))


def _bus(text: Text, item: Element) -> str:
    bus = item.get("busid")
    if not _BUS.fullmatch(bus):
        text.refuse(item.line, f"expected a PCI address like 0000:1a:00.0, found {bus[:40]!r}")
    return bus.lower()


def _integer(text: Text, element: Element, name: str) -> int | None:
    given = element.get(name)
    if given in ("", "-1"):
        return None
    return text.count(element.line, given, name, 10**6)
