"""One run of a collective test: its rows, its header, and what it says about itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from scalemath.collectives.operations import operation_named
from scalemath.core.result import measured
from scalemath.readers.columns import Columns
from scalemath.readers.nccl_lines import Device
from scalemath.readers.reading import Reading
from scalemath.units import display

SIDES = ("out", "in")
FULL_BOARD = 8
"""GPUs of a usual server."""


@frozen(kw_only=True, eq=False)
class CollectiveRun(Reading):
    """One table of a collective test.

    Attributes
    ----------
    rows : Columns
        Size, count, type and, for both sides, time, algorithm and bus bandwidth and errors.
    collective : str
        Public name of the operation; "" when the log does not tell.
    collective_from : str
        Where the name is from: "header", "command" or "columns".
    ranks : int or None
        Participants.
    ranks_from : str
        Where the number is from.
    devices : tuple of Device
        The device list.
    parameters : mapping of str to str
        Header parameters as printed.
    tool, library, version : str
        Which test, and the library with its version.
    average_printed : float
        "Avg bus bandwidth" as printed, in byte/s; nan when there is none. It is the mean over
        all sizes, never a peak.
    failures : tuple of str
        Messages of failure.
    transports : tuple of str
        What NCCL's own lines tell about the way the data went.
    nics : tuple of str
        Network interfaces that NCCL's own lines list.
    bytes_per_unit : float
        Bytes of the "GB" in the bandwidth columns: 1e9, or 2^30 in nccom-test.
    """

    rows: Columns = field(repr=False)
    collective: str = ""
    collective_from: str = ""
    ranks: int | None = None
    ranks_from: str = ""
    devices: tuple[Device, ...] = field(default=(), repr=False)
    parameters: Mapping[str, str] = field(factory=dict, repr=False)
    tool: str = "nccl-tests"
    library: str = ""
    version: str = ""
    average_printed: float = math.nan
    failures: tuple[str, ...] = ()
    transports: tuple[str, ...] = ()
    nics: tuple[str, ...] = ()
    bytes_per_unit: float = 1e9

    def side(self, name: str) -> Columns:
        """Rows of one side, "out" or "in", without rows that lack it."""
        arrays = {"size": self.rows.si("size"), "count": self.rows.si("count")}
        units = {"size": "byte", "count": "1"}
        for column in ("time", "algorithm_bandwidth", "bus_bandwidth", "wrong"):
            arrays[column] = self.rows.si(f"{name}_{column}")
            units[column] = self.rows.units[f"{name}_{column}"]
        found = Columns(arrays, units)
        return found.where(np.isfinite(arrays["time"]))

    @property
    def out_of_place(self) -> Columns:
        """Rows with separate send and receive buffers."""
        return self.side("out")

    @property
    def in_place(self) -> Columns:
        """Rows with one buffer."""
        return self.side("in")

    @property
    def empty(self) -> bool:
        """Whether there is no row."""
        return len(self.rows) == 0

    @property
    def failed(self) -> bool:
        """Whether the run failed: no row, wrong results, or a message of failure."""
        nothing = self.empty and math.isnan(self.average_printed)
        return nothing or bool(self.failures) or self.wrong_results > 0

    @property
    def wrong_results(self) -> int:
        """Wrong elements over all rows of a validated run."""
        total = 0.0
        for name in SIDES:
            wrong = self.rows.si(f"{name}_wrong")
            whole = wrong[np.isfinite(wrong) & (wrong >= 1.0)]
            total += float(whole.sum())
        return int(min(total, 1e15))

    def peak_of(self, name: str) -> float:
        """Greatest bus bandwidth of one side [byte/s]; nan without rows."""
        values = self.rows.si(f"{name}_bus_bandwidth")
        values = values[np.isfinite(values)]
        return float(values.max()) if values.size else math.nan

    @measured("byte/s")
    def peak(self) -> float:
        """Greatest bus bandwidth of both sides."""
        found = [v for v in map(self.peak_of, SIDES) if math.isfinite(v)]
        return max(found) if found else math.nan

    @measured("byte/s")
    def average(self) -> float:
        """Mean of all bus bandwidths, small sizes included, as "Avg bus bandwidth" means it."""
        both = [self.rows.si(f"{name}_bus_bandwidth") for name in SIDES]
        values = np.concatenate(both)
        values = values[np.isfinite(values)]
        return float(values.mean()) if values.size else math.nan

    @property
    def hostnames(self) -> tuple[str, ...]:
        """Names of the hosts in the device list, in order."""
        return tuple(dict.fromkeys(device.host for device in self.devices))

    @property
    def nodes(self) -> int | None:
        """Machines: host names, or fewer where several containers share a machine's devices.

        Containers that together show every device of a full board exactly as often as there are
        machines are counted by the devices.
        """
        names = len(self.hostnames)
        if not names:
            return None
        seen = Counter(device.bus for device in self.devices)
        times = set(seen.values())
        if len(seen) >= FULL_BOARD and len(times) == 1 and times.pop() < names:
            return next(iter(seen.values()))
        return names

    @property
    def gpus_per_node(self) -> int | None:
        """Devices of one machine, where all have the same number."""
        nodes, ranks = self.nodes, self.ranks
        if not nodes or not ranks or ranks % nodes:
            return None
        return ranks // nodes

    @property
    def hardware(self) -> str:
        """Name of the devices, "" when no list is printed."""
        names = Counter(device.name for device in self.devices if device.name)
        return names.most_common(1)[0][0] if names else ""

    @property
    def factor(self) -> float:
        """Bus over algorithm bandwidth for this collective and number of ranks; nan if unknown."""
        if not self.collective or not self.ranks or self.collective == "hypercube":
            return 1.0 if self.collective == "hypercube" else math.nan
        return float(operation_named(self.collective).factor.function(float(self.ranks)))

    def headline(self) -> str:
        """One readable line."""
        what = self.collective or "a collective"
        who = f"{self.ranks} ranks" if self.ranks else "an unknown number of ranks"
        where = f" on {self.nodes} node(s)" if self.nodes else ""
        text = f"{what} over {who}{where}"
        if self.hardware:
            text += f" of {self.hardware}"
        if self.empty:
            return f"{text}: no rows" + ("; the run failed" if self.failures else "")
        peak = display(self.si("peak"), "byte/s")
        return f"{text}: {len(self.rows)} rows, peak bus bandwidth {peak}"

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Header parameters."""
        return {name: (value, "1") for name, value in self.parameters.items()}


@frozen(kw_only=True, eq=False)
class CollectiveLog(Reading):
    """A file of collective tests: one or more runs.

    Attributes
    ----------
    runs : tuple of CollectiveRun
        In the order of the file. What one run has, `log.rows`, `log.ranks` ..., can be asked of
        the log as well and is answered by its only run, or by the one with most rows.
    """

    runs: tuple[CollectiveRun, ...]

    @property
    def main(self) -> CollectiveRun:
        """The run with most rows."""
        return max(self.runs, key=lambda run: len(run.rows))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "runs":
            raise AttributeError(name)
        return getattr(self.main, name)

    def __iter__(self) -> Any:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def headline(self) -> str:
        """One readable line for every run."""
        return "\n".join(f"{self.source}: {run.headline()}" for run in self.runs)
