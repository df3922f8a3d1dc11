"""The catalogue: published figures as ready objects, each number with its source.

``catalog.link("nvlink5")`` gives a `Link`, ``catalog.accelerator("H100 SXM")`` an
`Accelerator`; names are forgiving, and what is not clear is answered with a list.
``catalog.sources(x)`` says where each number is from and what other sources print.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from scalemath.catalog.build import Builder
from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError
from scalemath.hardware.accelerator import Accelerator
from scalemath.hardware.link import Link
from scalemath.hardware.nic import Nic
from scalemath.hardware.node import Node, Rack
from scalemath.hardware.optics import Transceiver
from scalemath.hardware.port import Port
from scalemath.hardware.switch import Switch
from scalemath.records.efficiency import measured_efficiency
from scalemath.records.library import Library, overview, sources_of
from scalemath.records.record import Record
from scalemath.records.schema import FAMILIES
from scalemath.records.table import Table

if TYPE_CHECKING:
    from scalemath.topology.cluster import Cluster
    from scalemath.workloads.transformer import Transformer

__all__ = [
    "Found",
    "accelerator",
    "add",
    "cluster",
    "efficiency",
    "families",
    "forget",
    "latency",
    "link",
    "load",
    "model",
    "module",
    "nic",
    "node",
    "port",
    "rack",
    "record",
    "search",
    "sources",
    "switch",
    "table",
    "usable",
]

_library = Library()
_objects: dict[tuple[str, str], Any] = {}
_build = Builder(_library, _objects)
_FAMILY_OF = {
    "Link": "link",
    "Accelerator": "accelerator",
    "Nic": "nic",
    "Switch": "switch",
    "Transceiver": "module",
    "Node": "node",
    "Rack": "rack",
    "Transformer": "model",
}
"""Family of an object by the name of its class."""


@frozen
class Found:
    """Entries that answer a search.

    Attributes
    ----------
    text : str
        What was searched for.
    records : tuple of Record
        The entries, the closest names first.
    """

    text: str
    records: tuple[Record, ...]

    @property
    def names(self) -> list[str]:
        """Names of the entries."""
        return [record.name for record in self.records]

    def table(self) -> Table:
        """Return the entries as a table."""
        return overview(self.records, f"entries with {self.text!r}")

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, place: int) -> Record:
        return self.records[place]

    def __str__(self) -> str:
        return str(self.table()) if self.records else f"nothing found for {self.text!r}"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def families() -> dict[str, str]:
    """Return the families of entries with their titles.

    Returns
    -------
    dict of str to str
        Family to title.
    """
    return {name: family.title for name, family in FAMILIES.items()}


def record(family: str, name: str) -> Record:
    """Return the record behind an entry: its data with sources and alternatives.

    Parameters
    ----------
    family : str
        "link", "accelerator", "switch" ...
    name : str
        Name, title or alias, in any spelling of case, spaces and hyphens.

    Returns
    -------
    Record
        The entry.
    """
    return _library.find(family, name)


def link(name: str) -> Link:
    """Return a link of the catalogue.

    Parameters
    ----------
    name : str
        Such as "nvlink5", "PCIe Gen5 x16", "NDR" or "400GbE".

    Returns
    -------
    Link
        All links of one port together, per direction.

    Examples
    --------
    >>> print(link("nvlink5").bandwidth)
    900 GB/s/dir
    """
    return _build.link(name)


def port(name: str) -> Port:
    """Return the port one device has of a link, with its wiring.

    Parameters
    ----------
    name : str
        Name of a link.

    Returns
    -------
    Port
        A port of one bundle.
    """
    return Port(link=link(name), name=name)


def accelerator(name: str) -> Accelerator:
    """Return an accelerator of the catalogue.

    Parameters
    ----------
    name : str
        Such as "H100 SXM" or "h100-sxm5-80gb"; "H100" alone fits three and is refused.

    Returns
    -------
    Accelerator
        The accelerator.

    Examples
    --------
    >>> print(accelerator("H100 SXM").peak("bf16"))
    989 TFLOP/s per GPU (bf16, dense)
    """
    return _build.accelerator(name)


def nic(name: str) -> Nic:
    """Return a network interface of the catalogue.

    Parameters
    ----------
    name : str
        Such as "ConnectX-7" or "CX-8".

    Returns
    -------
    Nic
        The interface.
    """
    return _build.nic(name)


def switch(name: str) -> Switch:
    """Return a switch of the catalogue.

    Parameters
    ----------
    name : str
        Such as "Quantum-X800" or "SN5600".

    Returns
    -------
    Switch
        The switch.
    """
    return _build.switch(name)


def module(name: str) -> Transceiver:
    """Return an optical module of the catalogue.

    Parameters
    ----------
    name : str
        Such as "800G DR8" or "800G LPO".

    Returns
    -------
    Transceiver
        The module.
    """
    return _build.module(name)


def node(name: str) -> Node:
    """Return a node of the catalogue.

    Parameters
    ----------
    name : str
        Such as "DGX H100" or "8x RTX PRO 6000".

    Returns
    -------
    Node
        The node.
    """
    return _build.node(name)


def rack(name: str) -> Rack:
    """Return a rack of the catalogue.

    Parameters
    ----------
    name : str
        Such as "GB200 NVL72".

    Returns
    -------
    Rack
        The rack.
    """
    return _build.rack(name)


def cluster(name: str, number: int = 1, *, fabric: Any = None) -> Cluster:
    """Return a cluster of nodes or racks of the catalogue.

    Parameters
    ----------
    name : str
        Name of a node or rack, such as "DGX H100" or "GB200 NVL72".
    number : int
        How many of them [count].
    fabric : Fabric, optional
        Scale-out network between them.

    Returns
    -------
    Cluster
        Whose `placement()` is what collectives take.

    Examples
    --------
    >>> cluster("GB200 NVL72", 8).accelerators
    576
    """
    return _build.cluster(name, number, fabric)


def model(name: str) -> Transformer:
    """Return a model architecture of the catalogue.

    Parameters
    ----------
    name : str
        Such as "Llama 3.1 70B" or "DeepSeek-V3".

    Returns
    -------
    Transformer
        The architecture.

    Examples
    --------
    >>> model("Llama 3.1 8B").parameters
    8030261248
    """
    return _build.model(name)


def latency(name: str) -> Datum:
    """Return a latency of the catalogue.

    Parameters
    ----------
    name : str
        Such as "infiniband-same-leaf".

    Returns
    -------
    Datum
        The time with its kind; formulas take it as it is.
    """
    return record("latency", name)["latency"]


def efficiency(
    fabric: str,
    collective: str = "allreduce",
    *,
    in_network: bool = False,
    leave_out: tuple[str, ...] = (),
) -> Datum:
    """Return the measured share of the payload rate that a collective reaches on a fabric.

    Parameters
    ----------
    fabric : str
        Name of a link.
    collective : str
        "allreduce", "all_gather", "reduce_scatter", "alltoall" or "p2p".
    in_network : bool
        Whether the switch reduces; such shares may exceed 1.
    leave_out : tuple of str
        Logs that must not inform the answer, by their names in the entries.

    Returns
    -------
    Datum
        Median with its spread [1], and the sources it rests on.
    """
    entry = record("link", fabric)
    rows = _library.family("measurement")
    return measured_efficiency(rows, entry.name, collective, in_network, leave_out)


def usable(
    fabric: str,
    collective: str = "allreduce",
    *,
    in_network: bool = False,
    leave_out: tuple[str, ...] = (),
) -> Datum:
    """Return the rate of a link that a collective was measured to reach, for use as bandwidth.

    Parameters
    ----------
    fabric, collective, in_network, leave_out
        As for `efficiency`.

    Returns
    -------
    Datum
        Payload rate times measured share [byte/s/dir], with spread and sources.

    Examples
    --------
    >>> print(usable("nvlink4"))
    367.2 GB/s/dir per rank (usable)
    """
    share = efficiency(fabric, collective, in_network=in_network, leave_out=leave_out)
    rate = link(fabric).bandwidth
    whole: Any = rate.m_as("GB/s/dir")
    return evolve(
        share,
        value=float(f"{whole * share.value:.6g}"),
        low=float(f"{whole * float(share.low or share.value):.6g}"),
        high=float(f"{whole * float(share.high or share.value):.6g}"),
        unit="GB/s/dir",
        scope="rank",
        rate_kind="usable",
        note=f"{share.note}; {share.value:.4g} of {rate:.6g~P}",
    )


def search(text: str, family: str = "") -> Found:
    """Return every entry in which all words of a text occur.

    Parameters
    ----------
    text : str
        Words to look for.
    family : str
        Family to look in; all of them when left out.

    Returns
    -------
    Found
        The entries, with `table()`.
    """
    return Found(text, tuple(_library.search(text, family)))


def table(family: str) -> Table:
    """Return all entries of a family as a table.

    Parameters
    ----------
    family : str
        "link", "accelerator", "switch" ...; `families` lists them.

    Returns
    -------
    Table
        One row for each entry; "~" marks an estimate.
    """
    return overview(_library.family(family), families().get(family, family))


def sources(entry: Any) -> Table:
    """Return where each number of an entry is from.

    Parameters
    ----------
    entry : str, Record, or an object of the catalogue
        What to look up; the name of a family gives all of its entries.

    Returns
    -------
    Table
        Value, text as printed, kind, source and tier; values not chosen say why.
    """
    if isinstance(entry, Record):
        return entry.sources()
    if isinstance(entry, str) and entry in FAMILIES:
        return sources_of(_library.family(entry), f"{FAMILIES[entry].title}: sources")
    if isinstance(entry, Datum):
        return Record(family="", name="", title=str(entry), data={"value": entry}).sources()
    name = entry if isinstance(entry, str) else getattr(entry, "name", "")
    family = _FAMILY_OF.get(type(entry).__name__, "")
    if not family:
        fitting = [r for r in _library.everything() if r.name == name]
        if len(fitting) != 1:
            found = _library.search(name)
            if len(found) != 1 and not fitting:
                listed = ", ".join(f"{r.family} {r.name}" for r in found[:6]) or "nothing"
                raise ArgumentError(f"{name!r} is no entry; found {listed}")
            fitting = fitting or found
        return fitting[0].sources()
    return record(family, name).sources()


def load(path: str | Path, *, replace: bool = False) -> list[Record]:
    """Add the entries of a TOML file for this session.

    Parameters
    ----------
    path : str or Path
        File with tables such as ``[link.my-link]``; its values may name built-in sources.
    replace : bool
        Whether its entries may take the place of others with the same name.

    Returns
    -------
    list of Record
        What was added.

    Raises
    ------
    ReadError
        Naming file and line of every mistake and what was expected.
    """
    return _library.load(path, replace=replace)


def add(entry: Any, *, replace: bool = False) -> None:
    """Add an object of your own for this session; it is found by its name.

    Parameters
    ----------
    entry : Record, Link, Accelerator, Nic, Switch, Transceiver, Node, Rack or Transformer
        What to add.
    replace : bool
        Whether it may take the place of an entry with the same name.
    """
    if isinstance(entry, Record):
        _library.add([entry], replace=replace)
        return
    family = _FAMILY_OF.get(type(entry).__name__)
    name = getattr(entry, "name", "")
    if family is None or not name:
        raise ArgumentError(
            f"{entry!r} cannot be added; wanted a named link, accelerator, node ..."
        )
    taken = {r.name for r in _library.family(family)} | {n for f, n in _objects if f == family}
    if name in taken and not replace:
        raise ArgumentError(f"there is a {family} {name!r} already; say replace=True")
    _objects[family, name] = entry


def forget() -> None:
    """Drop every entry that was added in this session."""
    _library.forget()
    _objects.clear()
