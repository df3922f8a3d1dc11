"""Measured collectives of nccl_measured.csv as arrays, grouped."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
from attrs import frozen

from scalemath.collectives.operations import operation_named

TABLE = "nccl_measured.csv"
SYSTEMS = {
    "a100_sxm": "A100 SXM",
    "h100_sxm": "H100 SXM",
    "b200_sxm": "B200 SXM",
    "gb300": "GB300",
    "rtx_pro_6000_server": "RTX PRO 6000 PCIe",
}


@frozen(eq=False)
class Measured:
    """Times of one operation over so many ranks of one system.

    Attributes
    ----------
    system, operation : str
        Names as the library writes them.
    ranks : int
        Participants.
    sizes, times : numpy.ndarray
        Bytes (total over ranks for the gathers) and seconds.
    versions : tuple of str
        Library versions among the rows.
    """

    system: str
    operation: str
    ranks: int
    sizes: np.ndarray
    times: np.ndarray
    versions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Readable name of the set."""
        return f"{self.system} {self.operation} over {self.ranks}"

    @property
    def volumes(self) -> np.ndarray:
        """Bytes each port carries in one direction."""
        factor = operation_named(self.operation).factor.function(float(self.ranks))
        return self.sizes * factor


def measured(folder: Path) -> list[Measured]:
    """All sets of the table in a folder, systems and operations in alphabetical order."""
    groups: dict[tuple[str, str, int], list[tuple[float, float, str]]] = defaultdict(list)
    with (folder / TABLE).open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            system = SYSTEMS.get(row["system"], row["system"])
            if row["library"] != "nccl":
                system = f"{system} {row['library']}"
            operation = operation_named(row["operation"]).name
            size = float(row["elements"]) * float(row["bytes_per_element"])
            seconds = float(row["latency_ms"]) * 1e-3
            groups[system, operation, int(row["ranks"])].append((size, seconds, row["version"]))
    return [
        Measured(
            system=system,
            operation=operation,
            ranks=ranks,
            sizes=np.array([size for size, _, _ in rows]),
            times=np.array([seconds for _, seconds, _ in rows]),
            versions=tuple(sorted({version for _, _, version in rows})),
        )
        for (system, operation, ranks), rows in sorted(groups.items())
    ]
