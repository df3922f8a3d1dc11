"""Large-message peaks of measured_collectives.csv by catalogue defaults, leave-one-log-out.

Hardware and link are read from the words of the table. The measurements of a log never inform its
own prediction. Systems that the table itself calls broken are scored apart, as honest failures.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

from scoring import LEFT_OUT, Score, score_of

from scalemath.core.errors import ScalemathError
from scalemath.diagnosis.expectation import expected_bus_bandwidth
from scalemath.diagnosis.hardware import device_named
from scalemath.diagnosis.setting import Setting, setting_of

TABLE = "measured_collectives.csv"
BROKEN = re.compile(r"fallback|not used|disabled|direct cable|misaligned|failed|VF", re.IGNORECASE)
PORTS = re.compile(r"(?P<ports>\d+)\s*x\s*(?:IB |RoCE )?(?:HDR |NDR |EDR )?(?P<rate>\d+)\s*G")
ONE = re.compile(r"(?P<rate>\d+)\s*Gb/s")
DOMAIN = re.compile(r"one rack|two trays|NVL72 in one|trays of one", re.IGNORECASE)
APART = re.compile(r"different NVLink domains|between racks|between NVLink domains", re.IGNORECASE)
NIC_FABRIC = {
    ("HDR", 200): "infiniband-hdr",
    ("NDR", 400): "infiniband-ndr",
    ("", 200): "ethernet-200g",
    ("", 400): "ethernet-400g",
    ("", 800): "ethernet-800g",
}


class Row:
    """What `setting_of` asks of a run."""

    def __init__(self, row: dict[str, str]) -> None:
        self.collective = {"all_reduce": "allreduce", "alltoall": "all_to_all"}.get(
            row["collective"], row["collective"]
        )
        self.ranks = int(row["ranks"] or 0)
        self.nodes = int(row["nodes"] or 1)
        self.hardware = row["hardware"]


def peaks(folder: Path) -> dict[str, tuple[dict[str, str], float]]:
    """Greatest bus bandwidth [byte/s] of every log, with its words."""
    found: dict[str, tuple[dict[str, str], float]] = {}
    with (folder / TABLE).open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            unit = 2.0**30 if row["bandwidth_unit"].startswith("2^30") else 1e9
            rate = float(row["busbw_GBps"] or 0.0) * unit
            if rate > found.get(row["log"], (row, 0.0))[1]:
                found[row["log"]] = (row, rate)
    return found


def setting(row: dict[str, str]) -> Setting | None:
    """Where a row was measured, None when its words do not tell."""
    if device_named(row["hardware"]) is None or not row["ranks"]:
        return None
    made = setting_of(Row(row))
    text = row["link"]
    domain = made.domain
    if made.nodes > 1 and not DOMAIN.search(text):
        each = -(-made.ranks // made.nodes)
        domain = min(72, made.ranks // 2) if "in 2 racks" in text else each
        domain = made.ranks // 20 if "20 racks" in row["hardware"] else domain
    ports, one = PORTS.search(text), ONE.search(text)
    number, rate = 1, 0.0
    if ports:
        number, rate = int(ports["ports"]), float(ports["rate"])
    elif one:
        rate = float(one["rate"])
    label = next((name for name in ("HDR", "NDR") if name in text), "")
    if made.ranks > domain and not rate:
        return None
    return Setting(
        operation=made.operation,
        ranks=made.ranks,
        nodes=made.nodes,
        domain=domain,
        domain_rate=made.domain_rate,
        nics=number,
        nic_rate=rate * 1e9 / 8.0,
        fabric=made.fabric,
        nic_fabric=NIC_FABRIC.get((label, int(rate)), ""),
        multicast=made.multicast,
        mesh=made.mesh,
        box=made.box,
    )


def predicted(folder: Path) -> list[tuple[str, bool, float, float]]:
    """Log, whether it is healthy, predicted and measured peak [byte/s]."""
    found = []
    for log, (row, rate) in peaks(folder).items():
        where = setting(row)
        if where is None:
            continue
        try:
            guess = expected_bus_bandwidth(where, leave_out=(log,)).likely
        except ScalemathError:
            continue
        words = " ".join((row["link"], row["hardware"], log))
        found.append((log, not BROKEN.search(words), guess, rate))
    return found


def score(folder: Path) -> list[Score]:
    """One line per log, then healthy systems and broken ones together."""
    pools: dict[str, list[tuple[float, float]]] = defaultdict(list)
    scores = []
    for log, healthy, guess, rate in predicted(folder):
        scores.append(score_of(log, LEFT_OUT, [guess], [rate]))
        pools["healthy systems" if healthy else "broken systems"].append((guess, rate))
    scores += [
        score_of(f"all {name}", LEFT_OUT, [g for g, _ in pairs], [m for _, m in pairs])
        for name, pairs in pools.items()
    ]
    return scores
