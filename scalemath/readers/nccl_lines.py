"""Lines that nccl-tests, rccl-tests and nccom-test print, one pattern each."""

from __future__ import annotations

import re
from typing import NamedTuple

ROW = re.compile(
    r"(?<![\w.])(?P<size>\d{1,20})[ \t]+(?P<count>\d{1,20})[ \t]+(?P<type>[a-z][a-z0-9_]{1,15})"
    r"(?:[ \t]+(?P<operation>sum|prod|max|min|avg|none|mulsum|all))?(?P<rest>[ \t]+-?[\dN].*)$",
    re.ASCII,
)
_NUMBER = r"-?\d{1,15}+(?:\.\d{0,9}+)?+(?:e[+-]?\d{1,3})?+"
WHOLE_ROWS = {
    number: re.compile(
        r"[ \t]*+(\d{1,15})[ \t]++(\d{1,15})[ \t]++([a-z]\w{1,15})[ \t]++"
        r"(sum|prod|max|min|avg|none)[ \t]++"
        rf"({_NUMBER}(?:[ \t]++{_NUMBER}){{{number - 1}}})[ \t]*+$",
        re.ASCII,
    )
    for number in (8, 9)
}
"""Complete rows without any decoration, by how many numbers they hold: the fast way."""
DEVICE = re.compile(
    r"Rank[ \t]+(?P<rank>\d{1,9})[ \t]+(?:Group[ \t]+(?P<group>\d{1,9})[ \t]+)?Pid[ \t]+"
    r"(?P<process>\d{1,12})[ \t]+on[ \t]+(?P<host>\S+)[ \t]+device[ \t]+(?P<device>\d{1,9})[ \t]+"
    r"\[(?P<bus>[0-9a-fA-Fx:.]{1,20})\][ \t]*(?P<name>.*)$"
)
PARAMETERS = re.compile(r"nThreads?[ \t]+(\d{1,9})[ \t]+nGpus[ \t]+(\d{1,9})[ \t]+minBytes")
PARAMETER = re.compile(
    r"(?P<name>nThreads?|nGpus|minBytes|maxBytes|step|warmup iters|agg iters|iters|validation|"
    r"validate|graph|datacheck)[ \t]*:?[ \t]+(?P<value>\d{1,20}(?:\([a-z]+\))?)"
)
HEADING = re.compile(r"\bsize[ \t]+count[ \t]+type\b(?P<rest>.*)|size\(B\)[ \t]+count\(elems\)")
TEST = re.compile(
    r"(?<![a-z_])(?P<name>all_?reduce|all_?gatherv?|all_?to_?allv?|reduce_?scatter|broadcast|"
    r"reduce|send_?recv|scatter|gather|hypercube)_perf\b"
)
STARTING = re.compile(r"Collective test starting:[ \t]*(\w{1,40})_perf")
AVERAGE = re.compile(r"Avg bus bandwidth[ \t]*:[ \t]*([\d.]{1,20}|-?nan|N/A)")
WRONG = re.compile(r"Out of bounds values[ \t]*:[ \t]*(\d{1,12})[ \t]*(\w*)")
VERSION = re.compile(r"\b(?P<library>NCCL|RCCL) version[ \t:]+(?P<version>\d[\w.+\-]{1,40})")
TEST_VERSION = re.compile(r"\bnccl-tests version[ \t]+([\w.\-]{1,30})")
FAILURE = re.compile(
    r"Test (?:NCCL|CUDA|MPI|HIP) failure[^\n]{0,200}|Test failure common[^\n]{0,200}|"
    r"NCCL failure[^\n]{0,200}|unhandled (?:cuda|system|hip) error[^\n]{0,100}|"
    r"exited on signal \d+|Segmentation fault|NCCL WARN[^\n]{0,200}"
)
COMMAND = re.compile(r"(?:mpirun|srun|_perf|run_nccl_tests|nccom-test)")
PROCESSES = re.compile(r"(?<!\S)(?:-np|-n|--np|--ntasks(?:=|\s))[ \t]*(\d{1,7})(?!\S)")
DEVICES_EACH = re.compile(r"(?<!\S)(?:-g|--ngpus)[ \t=]*(\d{1,4})(?!\S)")
WORKERS = re.compile(r"nccom-test\b.*?(?<!\S)(?:-r|--nworkers)[ \t=]*(\d{1,6})(?!\S)")
NEURON = re.compile(
    r"nccom-test\b.*?(?<!\S)(allr|allg|redsct|alltoall|sendrecv|all_reduce|all_gather|"
    r"reduce_scatter)(?!\S)"
)
TRUNCATED = re.compile(r"truncat|\.\.\.|omitted|snip", re.IGNORECASE)

NAMES = {
    "allreduce": "allreduce",
    "allgather": "all_gather",
    "allgatherv": "all_gather",
    "alltoall": "all_to_all",
    "alltoallv": "all_to_all_v",
    "reducescatter": "reduce_scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "send_receive",
    "scatter": "scatter",
    "gather": "gather",
    "hypercube": "hypercube",
    "allr": "allreduce",
    "allg": "all_gather",
    "redsct": "reduce_scatter",
}
"""Collectives by the name of the test, without underscores."""

ELEMENT_BYTES = {
    "int8": 1, "uint8": 1, "char": 1, "int32": 4, "uint32": 4, "int": 4, "int64": 8, "uint64": 8,
    "half": 2, "fp16": 2, "float16": 2, "bfloat16": 2, "bf16": 2, "int16": 2, "uint16": 2,
    "float": 4, "fp32": 4, "float32": 4, "double": 8, "float64": 8,
    "fp8_e4m3": 1, "fp8_e5m2": 1, "float8e4m3": 1, "float8e5m2": 1, "f8e4m3": 1, "f8e5m2": 1,
}  # fmt: skip
"""Bytes of one element by the names the tools print."""

TRANSPORTS = (
    ("tcp", re.compile(r"NET/Socket|Using network Socket|via NET/Socket")),
    ("infiniband or roce", re.compile(r"NET/IB[ /:]|Using network IB\b")),
    ("libfabric", re.compile(r"NET/OFI|Using network (?:AWS )?Libfabric", re.IGNORECASE)),
    ("gpudirect", re.compile(r"GDRDMA|GPU Direct RDMA Enabled|GPUDirect RDMA.{0,20}enabled")),
    ("no gpudirect", re.compile(r"GPU Direct RDMA Disabled|GDR (?:is )?disabled|"
                                r"NCCL_NET_GDR_LEVEL set by environment to (?:0|LOC)\b")),
    ("shared memory", re.compile(r"via SHM")),
    ("peer to peer", re.compile(r"via P2P")),
    ("peer to peer off", re.compile(r"NCCL_P2P_DISABLE set by environment to 1|"
                                    r"P2P is disabled between")),
    ("nvls", re.compile(r"NVLS multicast support is available|NVLS Head|Connected NVLS")),
    ("nvls off", re.compile(r"NCCL_NVLS_ENABLE set by environment to 0")),
    ("ring forced", re.compile(r"NCCL_ALGO set by environment to \"?[Rr]ing\b")),
    ("tree forced", re.compile(r"NCCL_ALGO set by environment to \"?[Tt]ree\b")),
    ("proxied nics off", re.compile(r"NCCL_P2P_PXN_LEVEL set by environment to 0")),
    ("ib off", re.compile(r"NCCL_IB_DISABLE set by environment to 1")),
    ("fastrak", re.compile(r"FasTrak|TCPXO", re.IGNORECASE)),
    ("tcpx", re.compile(r"GPUDirectTCPX|TCPX(?!O)")),
)  # fmt: skip
"""What NCCL_DEBUG lines tell about the way the data went."""
HINTS = ("NET/", "network", "GDR", "GPU Direct", "GPUDirect", "NVLS", "set by environment",
         "P2P is disabled", "FasTrak", "TCPX")  # fmt: skip
"""One of these is in every line that a transport is told by, apart from "via"."""
NICS = re.compile(r"NET/IB : Using (?P<list>.{0,2000})")
NIC = re.compile(r"\[\d+\](?P<name>[\w.]+):(?P<port>\d+)/(?P<layer>\w+)")


class Device(NamedTuple):
    """One rank as the device list shows it."""

    rank: int
    host: str
    device: int
    bus: str
    name: str


class Layout(NamedTuple):
    """Numbers behind the reduction operator in one row."""

    root: bool
    wrong: bool
    halves: int

    @property
    def width(self) -> int:
        """Numbers for one half: time, two bandwidths, and the error count."""
        return 4 if self.wrong else 3


def layout_of_heading(rest: str) -> Layout:
    """Read which columns follow the type from the heading."""
    words = rest.split()
    return Layout("root" in words, "#wrong" in words or "error" in words, words.count("algbw") or 2)


def layout_of_numbers(number: int) -> Layout | None:
    """Guess the columns from how many numbers stand in a row."""
    return {
        9: Layout(True, True, 2),
        8: Layout(False, True, 2),
        7: Layout(True, False, 2),
        6: Layout(False, False, 2),
        5: Layout(True, True, 1),
        4: Layout(False, True, 1),
        3: Layout(False, False, 1),
    }.get(number)


def numbers(rest: str) -> list[float]:
    """Leading numbers of the rest of a row; N/A becomes nan, the first other word ends them."""
    tokens = (rest.replace("N/A", "nan") if "N" in rest else rest).split()
    try:
        return [*map(float, tokens)]
    except ValueError:
        pass
    found: list[float] = []
    for token in tokens:
        try:
            found.append(float(token))
        except ValueError:
            break
    return found
