"""The tour as text: plain lines that fit a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Figure = dict[str, Any]
WIDTH = 78


def page(data: Figure) -> str:
    """Write the tour.

    Parameters
    ----------
    data : dict
        What `figures` gives.

    Returns
    -------
    str
        The text, without a final line feed.
    """
    parts = [
        f"scalemath {data['scalemath']}: the mathematics of AI clusters",
        _unit_trap(data["unit_trap"]),
        _allreduce(data["allreduce"]),
        _strong_scaling(data["strong_scaling"]),
        _sweep(data["sweep"]),
    ]
    return "\n\n".join(parts)


def table(rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Align columns, the first `left` of them to the left, the others to the right."""
    rows = [list(row) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def _heading(number: int, text: str) -> str:
    return f"{number}  {text}\n{'-' * min(WIDTH, len(text) + 3)}"


def _number(figure: Figure) -> str:
    """Six significant digits at most."""
    return f"{figure['value']:.6g}"


def _column(figure: Figure) -> str:
    """Six significant digits, zeros at the end kept, so that columns line up."""
    return f"{figure['value']:#.6g}"


_AXES = {
    "ranks": "numbers of GPUs",
    "size": "sizes",
    "bandwidth": "bandwidths",
    "latency": "latencies",
}


def _percent(figure: Figure) -> str:
    return f"{100 * figure['value']:.1f} %"


def _unit_trap(data: Figure) -> str:
    rows = [
        (link["name"], link["printed"], "is", f"{_number(link['bandwidth'])} GB/s per direction")
        for link in data["links"]
    ]
    first, second = (link["name"] for link in data["links"])
    return "\n".join(
        [
            _heading(1, "The unit trap"),
            *table(rows, left=3),
            "",
            f"  By the digits {first} is {_number(data['ratio_of_the_digits'])} times {second};",
            f"  like for like it is {_number(data['ratio'])} times.",
        ]
    )


def _allreduce(data: Figure) -> str:
    shape = " x ".join(map(str, data["shape"]))
    gib = data["size"]["value"] / 2**30
    head = ("GPUs", *data["networks"])
    rates = ("", *(f"{b['value']:g} {b['unit']}" for b in data["bandwidths"]))
    rows = [(str(row["ranks"]), *map(_column, row["time"])) for row in data["rows"]]
    return "\n".join(
        [
            _heading(2, f"Allreduce of an activation, {shape} in {data['dtype']}: {gib:g} GiB"),
            *table([head, rates, *rows]),
            "  Milliseconds; ring, latency left out here (section 4 counts it).",
        ]
    )


def _strong_scaling(data: Figure) -> str:
    head = ("network", "GPUs", "compute", "transfer", "step", "share", "speedup", "efficiency")
    rows: list[Sequence[str]] = [head]
    notes = []
    for network in data["networks"]:
        names = [network["network"], *[""] * len(network["rows"])]
        rows += [_step(name, row) for name, row in zip(names, network["rows"], strict=False)]
        slow = "; one GPU is fastest" if network["ceiling"]["value"] < 1 else ""
        notes.append(
            (
                network["network"],
                f"ceiling {_number(network['ceiling'])} x",
                f"wall at {_number(network['wall'])} GPUs{slow}",
            )
        )
    work = data["flops"]["value"] / 1e12
    peak = data["peak"]["value"] / 1e15
    one = data["time_one"]["value"] * 1e3
    return "\n".join(
        [
            _heading(3, "Strong scaling of the matrix product that makes it"),
            f"  {work:.6g} TFLOP at {peak:g} PFLOP/s: {one:.4g} ms on one GPU. Milliseconds:",
            "",
            *table(rows),
            "",
            *table(notes, left=3),
            "  Ceiling: the speedup that no number of GPUs exceeds. Wall: where the transfer",
            "  takes as long as the computation.",
        ]
    )


def _step(network: str, row: Figure) -> tuple[str, ...]:
    times = (row["communication"], row["time"])
    return (
        network,
        str(row["ranks"]),
        _number(row["computation"]),
        *map(_column, times),
        _percent(row["communication_share"]),
        _column(row["speedup"]),
        _percent(row["scaling_efficiency"]),
    )


def _sweep(data: Figure) -> str:
    sizes = [f"{size['value'] / 2**20:g} MiB" for size in data["sizes"]]
    rows: list[Sequence[str]] = [("network", "latency", *sizes)]
    for row in data["answers"]:
        latency = f"{row['latency']['value'] * 1e6:g} us"
        rows.append((row["network"], latency, *map(_ranks, row["largest_ranks"])))
    above = f"{100 * data['efficiency']['value']:g} %"
    axes = " x ".join(f"{count} {_AXES[name]}" for name, count in data["axes"].items())
    return "\n".join(
        [
            _heading(4, f"How many GPUs at an efficiency above {above}?"),
            f"  {axes}",
            f"  = {data['points']:,} steps, compiled in {data['preparation']['value']:.2f} s, "
            f"computed in {data['time']['value']:.2f} s:",
            f"  {data['rate']['value'] / 1e6:,.0f} million steps per second.",
            "",
            "  The largest number for the same work, by network and by the size to reduce:",
            *table(rows),
        ]
    )


def _ranks(answer: Figure) -> str:
    shown = str(answer["ranks"])
    return f"{shown}+" if answer["at_end_of_axis"] else shown
