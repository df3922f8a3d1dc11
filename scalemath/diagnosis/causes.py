"""Likely causes of an unusual figure, each with its evidence and a weight."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from scalemath.diagnosis.expectation import Expectation
from scalemath.diagnosis.regions import LARGE_ENOUGH, Curve, disorder
from scalemath.units import display

NEAR = 0.12
SLOW_START = 100e-6
"""Least time from which a small collective looks like TCP [s]."""
SMALL = 4.2e6
"""Sizes up to which a collective between nodes takes well below a millisecond [byte]."""
TCP_RATE = 8e9
"""Bus bandwidth below which a fast network looks like TCP [byte/s]."""
PCIE_RATE = 30e9


class Cause(NamedTuple):
    """One explanation.

    Attributes
    ----------
    name : str
        What may be the matter.
    weight : float
        How well the evidence fits, 0 to 1.
    evidence : str
        What speaks for it.
    remedy : str
        What to try or look at.
    """

    name: str
    weight: float
    evidence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.name} ({self.weight:.0%}): {self.evidence}; {self.remedy}"


class Case(NamedTuple):
    """What the causes look at."""

    run: Any
    curve: Curve
    peak: float
    expected: Expectation | None


def causes_of(case: Case) -> tuple[Cause, ...]:
    """Return the causes that fit, the likeliest first.

    Parameters
    ----------
    case : Case
        Run, curve, its peak, and the expectation.

    Returns
    -------
    tuple of Cause
        Empty where nothing is unusual.
    """
    found: dict[str, Cause] = {}
    for test in (_reading, _ranks, _transport, _network, _inside, _units, _sweep):
        for cause in test(case):
            known = found.get(cause.name)
            if known is None or cause.weight > known.weight:
                found[cause.name] = cause
    return tuple(sorted(found.values(), key=lambda cause: -cause.weight))


def _shown(rate: float) -> str:
    return str(display(rate, "byte/s", 4))


def _share(case: Case) -> float:
    """Measured over usual peak; nan without an expectation."""
    if case.expected is None or not case.peak > 0.0:
        return math.nan
    return case.peak / case.expected.likely


def _low(case: Case) -> bool:
    return case.expected is not None and case.peak < 0.9 * case.expected.low


def _reading(case: Case) -> Iterator[Cause]:
    """Failed runs, and averages read as peaks."""
    run = case.run
    for failure in run.failures[:3]:
        yield Cause("the run failed", 0.95, failure, "read the log above this line")
    if run.wrong_results:
        yield Cause(
            "wrong results", 0.95, f"{run.wrong_results} elements differ", "do not use this system"
        )
    average = run.average_printed
    if case.expected is not None and not _low(case) and average < 0.6 * case.peak:
        yield Cause(
            "an average read as a peak",
            0.3,
            f"the printed average {_shown(average)} is a mean over all sizes; the peak is "
            f"{_shown(case.peak)}",
            "quote the bus bandwidth of the largest sizes",
        )


def _ranks(case: Case) -> Iterator[Cause]:
    """Rank counts that do not agree."""
    for check in case.run.contradictions:
        if check.name.startswith("ranks"):
            yield Cause(
                "wrong rank count",
                0.8,
                check.text,
                "count the ranks by bus over algorithm bandwidth",
            )
    if case.run.ranks == 1:
        yield Cause(
            "every process ran alone",
            0.95,
            "bus bandwidth is nothing in every row",
            "build the tests with MPI=1",
        )


def _transport(case: Case) -> Iterator[Cause]:
    """What NCCL's own lines tell."""
    ways = set(case.run.transports)
    several = case.run.nodes is None or case.run.nodes > 1
    if "tcp" in ways and "infiniband or roce" not in ways and several:
        yield Cause(
            "TCP fallback",
            0.95,
            "NCCL says it uses sockets (NET/Socket)",
            "load the RDMA plugin; look at NCCL_IB_DISABLE and NCCL_NET",
        )
    if "ib off" in ways:
        yield Cause(
            "TCP fallback", 0.95, "NCCL_IB_DISABLE is set to 1", "remove it from the environment"
        )
    if "no gpudirect" in ways:
        yield Cause(
            "no GPUDirect",
            0.85,
            "NCCL says GPUDirect RDMA is disabled",
            "load nvidia-peermem or use DMA-BUF",
        )
    if "peer to peer off" in ways or ("shared memory" in ways and "peer to peer" not in ways):
        yield Cause(
            "peer access over PCIe off",
            0.85,
            "data goes through shared memory of the host",
            "look at NCCL_P2P_DISABLE, ACS and the IOMMU",
        )
    if "nvls off" in ways:
        yield Cause("NVLS off", 0.6, "NCCL_NVLS_ENABLE is set to 0", "remove it to reach more")


def _network(case: Case) -> Iterator[Cause]:
    """Fewer interfaces, TCP, detours, cables: between nodes."""
    expected = case.expected
    if expected is None or expected.setting.inside:
        return
    setting = expected.setting
    share = _share(case)
    sizes, start = case.curve.sizes, float(case.curve.times.min(initial=math.inf))
    if sizes.size and 3.0 * SLOW_START < start < math.inf and sizes[0] <= SMALL:
        yield Cause(
            "a host network stack on the way (TCP or an offload of it)",
            0.55,
            f"{display(float(sizes[0]), 'byte', 4)} take {display(start, 's', 3)}, where RDMA "
            "takes tens of microseconds",
            "look which network NCCL names with NCCL_DEBUG=INFO",
        )
    if not _low(case):
        yield from _above(case)
        return
    usable = expected.likely / max(expected.setting.nics, 1)
    if expected.limited_by != "interfaces":
        usable = setting.nic_rate * 0.94
    count = case.peak / usable
    if setting.nics > 1 and count < setting.nics - 0.5:
        whole = max(1, round(count))
        off = abs(count / whole - 1.0)
        if off < 2.0 * NEAR:
            yield Cause(
                f"{whole} of {setting.nics} interfaces used",
                0.75 * (1.0 - off) - 0.05 * (whole - 1),
                f"{_shown(case.peak)} is what {whole} interface(s) of "
                f"{_shown(setting.nic_rate)} carry",
                "look at NCCL_IB_HCA and at the interfaces NCCL lists",
            )
    if case.peak < TCP_RATE and setting.network_rate > 2.0 * TCP_RATE:
        yield Cause(
            "TCP fallback",
            0.8 if start > SLOW_START or share < 0.05 else 0.5,
            f"{_shown(case.peak)} at best, least time {display(start, 's', 3)}",
            "look for NET/Socket with NCCL_DEBUG=INFO",
        )
    if 0.15 < share < 0.7:
        yield Cause(
            "no GPUDirect",
            0.5,
            f"{share:.0%} of the usual peak, as detours through the host show",
            "look for GDRDMA with NCCL_DEBUG=INFO; check ACS and nvidia-peermem",
        )
        hosts = len(case.run.hostnames)
        shared = case.run.nodes is not None and hosts > case.run.nodes
        yield Cause(
            "GPU and interface not aligned",
            0.7 if shared else 0.4,
            f"{hosts} containers on {case.run.nodes} machines"
            if shared
            else f"{share:.0%} of the usual peak",
            "compare nvidia-smi topo -m: each GPU should have an interface at PIX or PXB",
        )
    if share < 0.2 and setting.ranks_per_node == 1 and setting.nodes == 2:
        yield Cause(
            "direct cable with a FEC or negotiation fault",
            0.55,
            f"two nodes with one rank each reach {share:.0%} of the usual peak",
            "compare with a switch in between; look at ethtool --show-fec and error counters",
        )


def _above(case: Case) -> Iterator[Cause]:
    """More than the interfaces carry, for a reason."""
    assert case.expected is not None
    setting = case.expected.setting
    if case.peak <= 1.02 * setting.network_rate:
        return
    if setting.operation == "allreduce" and setting.nodes == 2:
        yield Cause(
            "tree on two nodes",
            0.85,
            f"{_shown(case.peak)} is above the {_shown(setting.network_rate)} of the interfaces: "
            "the vector crosses once, the bus bandwidth counts it nearly twice",
            "nothing is broken; NCCL_ALGO=RING shows the rate on the wire",
        )
    elif setting.operation == "allreduce":
        yield Cause(
            "reduction in the network or in switches",
            0.6,
            f"{_shown(case.peak)} is above the interfaces' {_shown(setting.network_rate)}",
            "nothing is broken: compare with the ceiling of the switches",
        )


def _inside(case: Case) -> Iterator[Cause]:
    """Within one domain."""
    expected = case.expected
    if expected is None or not expected.setting.inside:
        return
    setting = expected.setting
    if _low(case) and case.peak < PCIE_RATE < setting.domain_rate / 3.0:
        yield Cause(
            "scale-up links not used",
            0.75,
            f"{_shown(case.peak)} is what PCIe or shared memory carries, not "
            f"{_shown(setting.domain_rate)}",
            "look at nvidia-smi nvlink -s, the fabric manager and NCCL_P2P_DISABLE",
        )
        yield Cause(
            "peer access over PCIe off",
            0.5,
            f"{_shown(case.peak)} at best",
            "look for via SHM with NCCL_DEBUG=INFO",
        )
    elif _low(case) and setting.fabric.startswith("pcie"):
        yield Cause(
            "peer access over PCIe off",
            0.6,
            f"{_share(case):.0%} of what peers on this PCIe generation reach",
            "look for via SHM with NCCL_DEBUG=INFO",
        )
    if expected.limited_by == "switch reduction" and _low(case):
        ring = setting.domain_rate * 0.82
        if abs(case.peak / ring - 1.0) < NEAR:
            yield Cause(
                "NVLS off",
                0.7,
                f"{_shown(case.peak)} is what a ring reaches without reduction in the switch",
                "look for NVLS multicast support with NCCL_DEBUG=INFO",
            )
    above = 1.02 * setting.domain_rate < case.peak <= expected.limit
    if setting.operation == "allreduce" and setting.multicast and above:
        yield Cause(
            "reduction in the switch (NVLS)",
            0.85,
            f"{_shown(case.peak)} is above the port's {_shown(setting.domain_rate)}: switches "
            "reduce, the bus bandwidth is no rate on a wire",
            "nothing is broken; compare with 2 (ranks - 1) / (ranks + 1) times the port",
        )
    network = setting.nics * setting.nic_rate
    if setting.nodes > 1 and _low(case) and 0.8 < case.peak / network < 1.02:
        yield Cause(
            "nodes in different scale-up domains",
            0.75,
            f"{_shown(case.peak)} is {case.peak / network:.0%} of the {setting.nics} interfaces "
            "of a node, not of the scale-up network",
            "look at the partition and clique of the nodes; compare with the interfaces instead",
        )


FACTORS = (
    (8.0, "bits read as bytes", "the figure is in Gb/s where GB/s is said"),
    (2.0, "both directions added", "the figure counts both directions of the link"),
)


def _units(case: Case) -> Iterator[Cause]:
    """Factors that only a unit explains."""
    expected = case.expected
    for check in case.run.contradictions:
        if check.name == "unit":
            yield Cause("wrong unit", 0.8, check.text, "recompute the rate from size and time")
        if check.name == "size over time":
            yield Cause(
                "edited or mixed table", 0.7, check.text, "recompute the rates from size and time"
            )
    if expected is None or not case.peak > 1.02 * expected.limit:
        return
    for factor, name, text in FACTORS:
        off = abs(case.peak / expected.likely / factor - 1.0)
        if off < 2.0 * NEAR:
            yield Cause(
                f"wrong unit: {name}",
                0.8 * (1.0 - off),
                f"{_shown(case.peak)} is {case.peak / expected.likely:.3g} times the usual peak",
                text,
            )
    yield Cause(
        "other hardware than stated",
        0.3,
        f"{_shown(case.peak)} is above the bound of {_shown(expected.limit)}",
        "check rates, ranks and the device list",
    )


def _sweep(case: Case) -> Iterator[Cause]:
    """Sweeps that end too early or jump."""
    if not case.curve.sizes.size:
        return
    if case.curve.sizes[-1] < LARGE_ENOUGH and _low(case):
        yield Cause(
            "sizes too small",
            0.7,
            f"the largest size is {display(float(case.curve.sizes[-1]), 'byte', 4)}",
            "run up to 1 GiB or more (-e 1G)",
        )
    drop = disorder(case.curve)
    if drop > math.log(1.8):
        yield Cause(
            "disturbed run",
            0.45,
            f"the time falls by a factor {math.exp(min(drop, 700.0)):.2g} while sizes rise",
            "repeat with more warm-up and iterations, alone on the network",
        )
