"""Fit the measured defaults and write them to the package.

``python benchmarks/fit_envelopes.py --facts DIR`` reads nccl_measured.csv in DIR and writes
scalemath/collectives/data/envelopes.toml; the same table gives the same file.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from compact import compact_of, errors_of, ranks_left_out, sizes_left_out
from measured_tables import SYSTEMS, Measured, measured

from scalemath.collectives.envelope import Envelope, envelope_of

OUTPUT = Path(__file__).parents[1] / "scalemath" / "collectives" / "data" / "envelopes.toml"
ALIASES = {
    "A100 SXM": ["A100", "HGX A100", "DGX A100", "A100-SXM4-80GB"],
    "H100 SXM": ["H100", "HGX H100", "DGX H100", "H100-SXM5-80GB"],
    "B200 SXM": ["B200", "HGX B200", "DGX B200"],
    "GB300": ["GB300 NVL72"],
    "RTX PRO 6000 PCIe": ["RTX PRO 6000", "PCIe", "PCIe box"],
}
HEAD = """\
# Measured defaults, written by benchmarks/fit_envelopes.py. Latencies in us, rates in GB/s (10^9),
# sizes in bytes (the total over ranks for all-gather and reduce-scatter), errors relative.
# Sizes left out: every second size in turn took no part in the fit that predicts it.
source = "measurements in the package aiconfigurator-core 0.12.0, NCCL 2.23 to 2.29, out of place"
licence = "Apache-2.0"
date = "2026"

"""


def envelope_text(one: Measured, fitted: Envelope) -> str:
    """One table of the file."""
    lines = ", ".join(
        f"[{line.latency_seconds * 1e6:.6g}, {line.bandwidth_bytes_per_second / 1e9:.6g}]"
        for line in fitted.lines
    )
    versions = ", ".join(f'"{version}"' for version in one.versions)
    return (
        f'[[envelope]]\nsystem = "{one.system}"\noperation = "{one.operation}"\n'
        f"ranks = {one.ranks}\nlines = [{lines}]\nversions = [{versions}]\n"
        f"points = {fitted.points}\nsmallest = {fitted.smallest_bytes:.0f}\n"
        f"largest = {fitted.largest_bytes:.0f}\n"
        f"error_mean = {fitted.error_mean:.4f}\nerror_95 = {fitted.error_95:.4f}\n"
        f"error_worst = {fitted.error_worst:.4f}\nleft_out_mean = {fitted.left_out_mean:.4f}\n"
        f"left_out_95 = {fitted.left_out_95:.4f}\n"
    )


def compact_text(group: list[Measured]) -> str:
    """One table of the file."""
    form = compact_of(group)
    inside = np.abs(errors_of(form, group))
    sizes = np.abs(sizes_left_out(group))
    ranks = np.abs(ranks_left_out(group))
    errors = {
        "error_mean": inside.mean(),
        "error_95": np.quantile(inside, 0.95),
        "error_worst": inside.max(),
        "sizes_left_out_mean": sizes.mean(),
    }
    if ranks.size:
        errors["most_ranks_left_out_mean"] = ranks.mean()
    shown = ", ".join(f"{name} = {value:.4f}" for name, value in errors.items())
    return (
        f'[[compact]]\nsystem = "{group[0].system}"\noperation = "{group[0].operation}"\n'
        f"latency = {form.latency * 1e6:.6g}\n"
        f"latency_per_rank = {form.latency_per_rank * 1e6:.6g}\n"
        f"rate = {form.rate / 1e9:.6g}\npair_factor = {form.pair_factor:.6g}\n"
        f"ramp = {form.ramp * 1e9:.6g}\nmost_ranks = {max(one.ranks for one in group)}\n"
        f"errors = {{ {shown} }}\n"
    )


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description="Fit the measured defaults.")
    parser.add_argument("--facts", type=Path, required=True, help="folder with nccl_measured.csv")
    arguments = parser.parse_args()
    sets = [one for one in measured(arguments.facts) if one.system in SYSTEMS.values()]
    groups: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for one in sets:
        groups[one.system, one.operation].append(one)
    text = HEAD
    for system in SYSTEMS.values():
        names = ", ".join(f'"{name}"' for name in ALIASES[system])
        text += f'[systems."{system}"]\naliases = [{names}]\n\n'
    fits = [(one, envelope_of(one.sizes, one.times)) for one in sets]
    text += "\n".join(envelope_text(one, fitted) for one, fitted in fits)
    text += "\n" + "\n".join(compact_text(group) for group in groups.values())
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(text, encoding="utf-8")
    print(f"{len(fits)} envelopes, {len(groups)} compact forms written to {OUTPUT.name}")


if __name__ == "__main__":
    main()
