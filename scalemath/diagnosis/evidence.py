"""Causes that other outputs of the same machine give: topology, ports, PCIe, NVLink, perftest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scalemath.core.errors import ArgumentError
from scalemath.diagnosis.causes import Cause
from scalemath.readers.detect import read
from scalemath.readers.lspci import PcieListing
from scalemath.readers.machine import Machine
from scalemath.readers.nvlink_status import NvlinkStatus
from scalemath.readers.perftest import PerftestLog
from scalemath.readers.ports import PortListing
from scalemath.units import display


def causes_from(readings: Any, peak: float, nic_rate: float) -> tuple[Cause, ...]:
    """Return the causes that other readings speak for.

    Parameters
    ----------
    readings : reading, path, text, or an iterable of them
        What `read` returned or takes.
    peak : float
        Greatest bus bandwidth of the run [byte/s].
    nic_rate : float
        Rate of one interface per direction [byte/s]; nan when unknown.

    Returns
    -------
    tuple of Cause
        In the order of the readings.
    """
    found: list[Cause] = []
    for one in _all(readings):
        if isinstance(one, Machine):
            found += _machine(one)
        elif isinstance(one, PortListing):
            found += _ports(one)
        elif isinstance(one, PcieListing):
            found += _pcie(one)
        elif isinstance(one, NvlinkStatus):
            found += _nvlink(one)
        elif isinstance(one, PerftestLog):
            found += _perftest(one, peak, nic_rate)
        else:
            raise ArgumentError(
                f"evidence is a reading of a topology, ports, lspci, nvlink or perftest, not "
                f"{type(one).__name__}"
            )
    return tuple(found)


def _all(readings: Any) -> Iterator[Any]:
    if isinstance(readings, (Path, str)):
        yield read(readings)
    elif isinstance(readings, Iterable):
        for one in readings:
            yield from _all(one)
    else:
        yield readings


def _machine(machine: Machine) -> Iterator[Cause]:
    if machine.misaligned:
        yield Cause(
            "GPU and interface not aligned",
            0.8,
            f"{', '.join(machine.misaligned)} reach every interface only through the link "
            "between sockets (SYS)",
            "use interfaces at PIX or PXB, or another slot",
        )
    blind = [nic.device or nic.name for nic in machine.nics if nic.gpudirect is False]
    if blind:
        yield Cause(
            "no GPUDirect",
            0.8,
            f"the topology dump says that {', '.join(blind)} do not reach GPU memory",
            "load nvidia-peermem or use DMA-BUF",
        )


def _ports(ports: PortListing) -> Iterator[Cause]:
    down = [port.device or port.interface for port in ports.ports if port.up is False]
    if down:
        yield Cause(
            "ports down", 0.8, f"{', '.join(down)} are down", "look at cables and at ibstat"
        )
    shared = [port for port in ports.ports if port.left_out.startswith("shares")]
    if shared:
        yield Cause(
            "devices that share a port",
            0.6,
            f"{shared[0].device or shared[0].interface} {shared[0].left_out}",
            "count the rate of the port once",
        )


def _pcie(listing: PcieListing) -> Iterator[Cause]:
    slow = [d for d in listing.suspicious if d.accelerator or d.network]
    if slow:
        first = slow[0]
        yield Cause(
            "PCIe link slower than able",
            0.7,
            f"{len(slow)} device(s), first {first.bus}: {display(first.rate_bytes, 'byte/s/dir')} "
            f"of {display(first.able_bytes, 'byte/s/dir')}",
            "reseat it; look at the slot and its settings",
        )


def _nvlink(status: NvlinkStatus) -> Iterator[Cause]:
    counts = status.active()
    most = max(counts.values(), default=0)
    fewer = [gpu for gpu, number in counts.items() if number < most]
    off = [gpu for gpu, number in counts.items() if not number]
    if fewer or off:
        yield Cause(
            "scale-up links inactive",
            0.85,
            f"GPU {', '.join(map(str, fewer or off))} has fewer active links than the {most} of "
            "others",
            "look at the fabric manager and at NVLink errors",
        )


def _perftest(log: PerftestLog, peak: float, nic_rate: float) -> Iterator[Cause]:
    reached = log.main.si("peak")
    if reached < 0.8 * nic_rate:
        yield Cause(
            "the network itself is slow",
            0.85,
            f"{log.main.title} reaches {display(reached, 'byte/s/dir', 4)} of "
            f"{display(nic_rate, 'byte/s/dir')} on one interface",
            "mend this first: cable, FEC, MTU, PCIe slot, GPU memory registration",
        )
    elif peak < 0.6 * reached:
        yield Cause(
            "the network is fine, the way to the GPU is not",
            0.75,
            f"{log.main.title} reaches {display(reached, 'byte/s/dir', 4)} on one interface, the "
            f"collective {display(peak, 'byte/s', 4)} altogether",
            "look for ACS, GPUDirect and the interfaces NCCL uses",
        )
