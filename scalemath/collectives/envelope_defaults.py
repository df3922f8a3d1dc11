"""Measured defaults: envelopes by system, operation and ranks, and the compact form.

The numbers are fitted by ``benchmarks/fit_envelopes.py`` and kept with their errors in
``data/envelopes.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from numbers import Real
from typing import Any

from attrs import frozen

from scalemath.collectives.envelope import Envelope, Line
from scalemath.collectives.operations import operation_named
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.core.kernel import kernel_of, total
from scalemath.core.result import Result, measured
from scalemath.kernels.envelope import ramp_time
from scalemath.units import display, to_si

MICROSECOND = 1e-6
GIGABYTE = 1e9
RAMP_UNIT = 1e-9
"""One microsecond per root of a megabyte [s/byte^0.5]."""


@cache
def _table() -> dict[str, Any]:
    text = (files("scalemath.collectives") / "data" / "envelopes.toml").read_text("utf-8")
    return tomllib.loads(text)


def envelope_systems() -> dict[str, tuple[str, ...]]:
    """Systems with measured defaults, and by which other names they go.

    Returns
    -------
    dict
        Name to other names.

    Examples
    --------
    >>> list(envelope_systems())
    ['A100 SXM', 'H100 SXM', 'B200 SXM', 'GB300', 'RTX PRO 6000 PCIe']
    """
    return {name: tuple(entry["aliases"]) for name, entry in _table()["systems"].items()}


def system_named(name: str) -> str:
    """Name of a system from any of its names, in any case."""
    if not isinstance(name, str):
        raise ArgumentError(f"the system is {repr(name)[:80]}; wanted its name, as in 'H100'")
    plain = _plain(name)
    for known, others in envelope_systems().items():
        if plain in (_plain(known), *(_plain(other) for other in others)):
            return known
    raise RangeError(
        f"no measured times are known for {name!r}; write one of {', '.join(envelope_systems())}, "
        "or fit your own with fit_envelope(sizes, times)"
    )


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


@cache
def _envelopes() -> dict[tuple[str, str, int], Envelope]:
    table = _table()
    source = f"{table['source']}, {table['licence']}; {table['date']}"
    found = {}
    for row in table["envelope"]:
        lines = tuple(
            Line(latency * MICROSECOND, rate * GIGABYTE) for latency, rate in row["lines"]
        )
        key = (row["system"], row["operation"], row["ranks"])
        found[key] = Envelope(
            lines=lines,
            smallest_bytes=float(row["smallest"]),
            largest_bytes=float(row["largest"]),
            points=row["points"],
            error_mean=row["error_mean"],
            error_95=row["error_95"],
            error_worst=row["error_worst"],
            left_out_mean=row["left_out_mean"],
            left_out_95=row["left_out_95"],
            name=f"{row['operation']} over {row['ranks']} ranks of {row['system']}",
            source=source,
            assumptions=(
                "all ranks in one node or NVLink domain, buffers out of place",
                f"library versions {', '.join(row['versions'])} taken together",
            ),
        )
    return found


def measured_envelopes() -> tuple[Envelope, ...]:
    """All measured defaults with their errors, as the documentation lists them."""
    return tuple(_envelopes().values())


def measured_envelope(system: str, operation: str, *, ranks: int) -> Envelope:
    """Measured default for a collective inside one node or NVLink domain.

    Parameters
    ----------
    system : str
        "A100", "H100", "B200", "GB300" or "PCIe" (RTX PRO 6000 on PCIe).
    operation : str
        "allreduce", "all_gather", "reduce_scatter" or "all_to_all".
    ranks : int
        2, 4 or 8 (GB300: 2 or 4).

    Returns
    -------
    Envelope
        Up to three lines with their errors; `time(size)` gives the prediction.

    Raises
    ------
    RangeError
        When nothing was measured for these.

    Examples
    --------
    >>> cost = measured_envelope("H100", "allreduce", ranks=8).time("1 MiB")
    >>> print(f"{cost.time.m_as('us'):.0f} us")
    26 us
    """
    name = system_named(system)
    what = operation_named(operation).name
    counted: Any = ranks
    if isinstance(counted, bool) or not isinstance(counted, Real):
        raise ArgumentError(f"ranks is {repr(ranks)[:80]}; wanted a whole number, as in 8")
    found = _envelopes().get((name, what, ranks))
    if found is None:
        known = sorted((o, n) for s, o, n in _envelopes() if s == name)
        text = ", ".join(f"{o} over {n}" for o, n in known)
        raise RangeError(
            f"no measured times of {what} over {ranks!r} ranks of {name}; there are {text}; the "
            "compact form covers other rank counts"
        )
    return found


@frozen(kw_only=True, eq=False)
class CompactForm(Result):
    """Latency, rate and a root term shared by all rank counts of a system.

    Attributes
    ----------
    system, operation : str
        What it was fitted on.
    latency_seconds, latency_per_rank_seconds : float
        Start of two ranks less one share, and what each further rank adds [s].
    rate : float
        Rate of one port for the bytes it carries in one direction [byte/s].
    pair_factor : float
        Rate of two ranks over that of more [1].
    ramp : float
        Coefficient of the root of the bytes [s/byte^0.5].
    most_ranks : int
        Greatest number of ranks it was fitted on.
    errors : dict
        Mean, 95th percentile and worst error, and both on sizes and on rank counts left out.
    source : str
        Where the measurements are from.
    """

    system: str
    operation: str
    latency_seconds: float
    latency_per_rank_seconds: float
    rate: float
    pair_factor: float
    ramp: float
    most_ranks: int
    errors: Mapping[str, float]
    source: str

    def seconds(self, size: float, ranks: int) -> float:
        """Time for a buffer of so many bytes, both as plain SI floats [s]."""
        volume = size * operation_named(self.operation).factor.function(float(ranks))
        rate = self.rate * (self.pair_factor if ranks == 2 else 1.0)
        terms = ramp_time(
            volume,
            float(ranks),
            self.latency_seconds,
            self.latency_per_rank_seconds,
            rate,
            self.ramp,
        )
        return total(terms)

    def time(self, size: Any, *, ranks: int) -> CompactCost:
        """Time of one collective.

        Parameters
        ----------
        size : Quantity [byte]
            Buffer by the nccl-tests convention.
        ranks : int
            Participants, at least 2.

        Returns
        -------
        CompactCost
            Time; a caution beyond the rank counts that were measured.
        """
        size_bytes = float(to_si(size, "byte", "size"))
        if size_bytes < 0.0:
            raise RangeError(f'size {size!r} is negative; write for example "1 GiB"')
        if ranks != int(ranks) or ranks < 2:
            raise ArgumentError(f"ranks is {ranks!r}, wanted a whole number of at least 2")
        beyond = (
            (f"measured up to {self.most_ranks} ranks only",) if ranks > self.most_ranks else ()
        )
        return CompactCost(
            form=self,
            size_bytes=size_bytes,
            ranks=ranks,
            seconds=self.seconds(size_bytes, ranks),
            assumptions=(f"compact form, mean error of the fit {self.errors['error_mean']:.1%}",),
            cautions=beyond,
        )

    def formula(self) -> tuple[str, str]:
        """Formula and where the measurements are from."""
        return kernel_of(ramp_time).formula, self.source

    def headline(self) -> str:
        """The constants on one line."""
        return (
            f"{self.operation} on {self.system}: {self.latency_seconds * 1e6:.3g} us + "
            f"{self.latency_per_rank_seconds * 1e6:.3g} us * (ranks - 1) + bytes / "
            f"({self.rate / 1e9:.4g} GB/s) + {self.ramp / RAMP_UNIT:.3g} us * sqrt(bytes / 1 MB)"
        )

    def remarks(self) -> list[str]:
        """Factor of two ranks, and the errors."""
        shown = ", ".join(f"{name} {value:.1%}" for name, value in self.errors.items())
        return [f"two ranks reach {self.pair_factor:.3g} times the rate", f"errors: {shown}"]


@frozen(kw_only=True, eq=False)
class CompactCost(Result):
    """Time of one collective by the compact form."""

    form: CompactForm
    size_bytes: float
    ranks: int
    seconds: float

    @measured("s")
    def time(self) -> float:
        """Predicted duration."""
        return self.seconds

    def headline(self) -> str:
        """One readable line."""
        return (
            f"{self.form.operation} of {display(self.size_bytes, 'byte')} over {self.ranks} ranks "
            f"of {self.form.system}: {display(self.si('time'), 's')}"
        )

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Size and ranks."""
        return {"size": (self.size_bytes, "byte"), "ranks": (self.ranks, "1")}

    def formula(self) -> tuple[str, str]:
        """Formula and where the constants are from."""
        return self.form.formula()


@cache
def _compact_forms() -> dict[tuple[str, str], CompactForm]:
    table = _table()
    source = f"{table['source']}, {table['licence']}; {table['date']}"
    return {
        (row["system"], row["operation"]): CompactForm(
            system=row["system"],
            operation=row["operation"],
            latency_seconds=row["latency"] * MICROSECOND,
            latency_per_rank_seconds=row["latency_per_rank"] * MICROSECOND,
            rate=row["rate"] * GIGABYTE,
            pair_factor=row["pair_factor"],
            ramp=row["ramp"] * RAMP_UNIT,
            most_ranks=row["most_ranks"],
            errors=row["errors"],
            source=source,
        )
        for row in table["compact"]
    }


def compact_form(system: str, operation: str) -> CompactForm:
    """Measured default with constants shared by all rank counts.

    Parameters
    ----------
    system : str
        As for `measured_envelope`.
    operation : str
        "allreduce", "all_gather", "reduce_scatter" or "all_to_all".

    Returns
    -------
    CompactForm
        `time(size, ranks=...)` gives the prediction.

    Raises
    ------
    RangeError
        When nothing was measured for these.
    """
    name = system_named(system)
    what = operation_named(operation).name
    found = _compact_forms().get((name, what))
    if found is None:
        raise RangeError(f"no measured times of {what} on {name}")
    return found
