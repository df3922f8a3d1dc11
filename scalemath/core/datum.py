"""A number with its source: what every entry of the catalogue is made of."""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen

from scalemath.core.errors import ArgumentError
from scalemath.core.hooks import hook

Kind = Literal["spec", "measured", "vendor claim", "estimate", "roadmap", "derived"]
KINDS = ("spec", "measured", "vendor claim", "estimate", "roadmap", "derived")
SCOPES = (
    *("lane", "link", "port", "rank", "die", "GPU", "accelerator", "NIC", "module", "chip"),
    *("switch", "tray", "node", "rack", "fabric"),
)
_ALLOWED: dict[str, tuple[str, ...]] = {
    "scope": ("", *SCOPES),
    "latency_kind": ("", "one-way", "round-trip"),
    "sparsity": ("", "dense", "sparse"),
    "fec": ("", "pre-FEC", "post-FEC"),
}


def _one_of(_: object, attribute: Any, value: str) -> None:
    allowed = KINDS if attribute.name == "kind" else _ALLOWED[attribute.name]
    if value not in allowed:
        wanted = ", ".join(repr(text) for text in allowed if text)
        raise ArgumentError(f"Datum: {attribute.name} is {value!r}, wanted one of {wanted}")


def _said(_: object, attribute: Any, value: str) -> None:
    if not str(value or "").strip():
        raise ArgumentError(f"Datum: {attribute.name} is missing; every number has a source")


@frozen(kw_only=True)
class Datum:
    """One value with its unit, convention and source.

    Attributes
    ----------
    value : float or int
        Magnitude in `unit`, exactly as the data sheet gives it.
    unit : str
        Unit with its direction, such as "Gbit/s/dir"; "1" for a plain number.
    source, date : str
        Where the number is from and of when; both are required.
    kind : str
        "spec", "measured", "vendor claim", "estimate", "roadmap" or "derived".
    as_printed : str
        The text as the source prints it.
    locator : str
        Page, table, section or address inside the source.
    scope : str
        Of what: lane, link, port, GPU, node, rack ...
    latency_kind : str
        "one-way" or "round-trip", for times.
    precision, accumulate : str
        Number format of a peak, and of its accumulator.
    sparsity : str
        "dense" or "sparse", for peaks.
    fec : str
        "pre-FEC" or "post-FEC", for rates and error rates.
    rate_kind : str
        What kind of rate: "raw", "usable", "algorithm", "bus" ...
    low, high : float or None
        Ends of a range or spread, in `unit`.
    tier : str
        "T1" vendor, "T2" curated secondary, "T3" weak.
    note : str
        Why this value was chosen, or what to mind.
    """

    value: float | int
    unit: str = field(validator=_said)
    source: str = field(validator=_said)
    date: str = field(validator=_said)
    kind: str = field(default="spec", validator=_one_of)
    as_printed: str = ""
    locator: str = ""
    scope: str = field(default="", validator=_one_of)
    latency_kind: str = field(default="", validator=_one_of)
    precision: str = ""
    accumulate: str = ""
    sparsity: str = field(default="", validator=_one_of)
    fec: str = field(default="", validator=_one_of)
    rate_kind: str = ""
    low: float | None = None
    high: float | None = None
    tier: str = ""
    note: str = ""

    @property
    def quantity(self) -> Any:
        """The value as a quantity."""
        return hook("quantity")(self.value, self.unit)

    @property
    def direction(self) -> str:
        """Whether the unit says "per direction", "both directions" or nothing."""
        parts = self.unit.replace("*", "/").split("/")
        if "bidir" in parts:
            return "both directions"
        return "per direction" if "dir" in parts else ""

    def __str__(self) -> str:
        text = str(self.quantity) if self.unit != "1" else f"{self.value}"
        marks = [self.precision, self.sparsity, self.latency_kind, self.fec, self.rate_kind]
        said = ", ".join(mark for mark in marks if mark)
        per = f" per {self.scope}" if self.scope else ""
        flag = f" [{self.kind}]" if self.kind in ("estimate", "roadmap", "vendor claim") else ""
        return f"{text}{per}{f' ({said})' if said else ''}{flag}"

    def cite(self) -> str:
        """Source, place in it, and date, on one line."""
        place = f", {self.locator}" if self.locator else ""
        return f"{self.source}{place}, {self.date}"

    def _repr_html_(self) -> str:
        printed = f" title='{self.as_printed}'" if self.as_printed else ""
        return f"<span{printed}>{self} <small>({self.cite()})</small></span>"
