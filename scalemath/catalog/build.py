"""From records to objects: what an entry says becomes a link, an accelerator, a rack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError
from scalemath.hardware.accelerator import Accelerator
from scalemath.hardware.link import Link
from scalemath.hardware.nic import Nic
from scalemath.hardware.node import Node, Rack
from scalemath.hardware.optics import Transceiver
from scalemath.hardware.switch import Switch
from scalemath.records import names
from scalemath.records.library import Library
from scalemath.records.record import Record

if TYPE_CHECKING:
    from scalemath.topology.cluster import Cluster
    from scalemath.workloads.transformer import Transformer

T = TypeVar("T")


class Builder:
    """Makes objects of entries; objects a user added come first."""

    def __init__(self, library: Library, objects: Mapping[tuple[str, str], Any]) -> None:
        self._library = library
        self._objects = objects

    def _made(self, family: str, name: str, owner: type[T], **more: Any) -> T:
        """Return the user's object of that name, or one made of the record."""
        names.must_be_text(name, family)
        own = self._objects.get((family, name))
        if own is not None:
            return own  # type: ignore[no-any-return]
        entry = self._library.find(family, name)
        try:
            return owner(**{**_values(entry, owner), **more})
        except (ArgumentError, TypeError) as error:
            raise ArgumentError(
                f"too little is known of {entry.name} to make a {owner.__name__} of it ({error}); "
                f"what is known is in catalog.record({family!r}, {entry.name!r}): "
                f"{', '.join(entry.data)}"
            ) from None

    def _parts(self, family: str, name: str) -> dict[str, Any]:
        """Return the objects that an entry names as its parts."""
        names.must_be_text(name, family)
        if (family, name) in self._objects:
            return {}
        facts = self._library.find(family, name).facts
        makers = {"accelerator": self.accelerator, "link": self.link, "host_link": self.link}
        return {key: make(facts[key]) for key, make in makers.items() if key in facts}

    def link(self, name: str) -> Link:
        """Return a link."""
        return self._made("link", name, Link)

    def accelerator(self, name: str) -> Accelerator:
        """Return an accelerator with all its peaks."""
        names.must_be_text(name, "accelerator")
        if ("accelerator", name) in self._objects:
            return self._made("accelerator", name, Accelerator)
        entry = self._library.find("accelerator", name)
        peaks = tuple(d for key, d in entry.data.items() if key.startswith("peak_"))
        wiring = {}
        if "scale_up_link" in entry.facts:
            wiring = {"wiring": self.link(entry.facts["scale_up_link"]).wiring}
        return self._made("accelerator", name, Accelerator, peaks=peaks, **wiring)

    def nic(self, name: str) -> Nic:
        """Return a network interface."""
        return self._made("nic", name, Nic)

    def switch(self, name: str) -> Switch:
        """Return a switch."""
        return self._made("switch", name, Switch)

    def module(self, name: str) -> Transceiver:
        """Return an optical module."""
        names.must_be_text(name, "module")
        if ("module", name) in self._objects:
            return self._made("module", name, Transceiver)
        entry = self._library.find("module", name)
        energy = entry.get("energy")
        more: dict[str, Any] = {"roadmap": entry.status == "roadmap"}
        if energy is not None:
            more["energy_per_bit"] = energy.quantity
        if "form" in entry.facts:
            more["kind"] = entry.facts["form"]
        return self._made("module", name, Transceiver, **more)

    def node(self, name: str) -> Node:
        """Return a node with its accelerator and links."""
        names.must_be_text(name, "node")
        parts = self._parts("node", name)
        if ("node", name) not in self._objects:
            facts = self._library.find("node", name).facts
            if "nic_link" in facts:
                parts["nic_rate"] = self.link(facts["nic_link"]).bandwidth
        return self._made("node", name, Node, **parts)

    def rack(self, name: str) -> Rack:
        """Return a rack with its accelerator, link, memory tiers and peaks."""
        names.must_be_text(name, "rack")
        parts = self._parts("rack", name)
        parts.pop("host_link", None)
        if ("rack", name) not in self._objects:
            entry = self._library.find("rack", name)
            if "unit" in entry.facts:
                parts.pop("link", None)  # it joins one of its units only
            tiers = {"HBM": entry.get("memory_hbm"), "LPDDR5X": entry.get("memory_lpddr")}
            parts["memory"] = {t: d.quantity for t, d in tiers.items() if d is not None}
            parts["peaks"] = tuple(d for k, d in entry.data.items() if k.startswith("peak_"))
        return self._made("rack", name, Rack, **parts)

    def cluster(self, name: str, number: int, fabric: Any) -> Cluster:
        """Return a number of nodes or racks with a fabric between them."""
        names.must_be_text(name, "node or rack")
        from scalemath.topology.cluster import Cluster

        own = [f for f in ("node", "rack") if (f, name) in self._objects]
        if own:
            family = own[0]
        else:
            both = (*self._library.family("node"), *self._library.family("rack"))
            entry = names.find(both, name, "node or rack")
            family = entry.family
            if "unit" in entry.facts:
                units = number * entry.facts["units"]
                return self.cluster(entry.facts["unit"], units, fabric)
        unit: Any = self.rack(name) if family == "rack" else self.node(name)
        trays = unit.trays if isinstance(unit, Rack) and unit.trays else 1
        label = f"{number} x {unit.name}"
        return Cluster(nodes=number, node=unit, fabric=fabric, name=label, trays_per_node=trays)

    def model(self, name: str) -> Transformer:
        """Return a model architecture."""
        from scalemath.workloads.transformer import Transformer

        return self._made("model", name, Transformer)


_PARTS = ("accelerator", "link", "host_link")


def _values(entry: Record, owner: type) -> dict[str, Any]:
    """Return the values and words of a record that a class has attributes for."""
    names = {attribute.name for attribute in attrs.fields(owner)} - set(_PARTS)
    found = {key: _bare(datum) for key, datum in entry.data.items() if key in names}
    found.update({k: v for k, v in entry.facts.items() if k in names and k not in found})
    if "data" in names:
        found["data"] = entry.data
    if "name" in names:
        found["name"] = entry.name
    if "latency_kind" in names and "latency" in entry.data:
        found["latency_kind"] = entry.data["latency"].latency_kind
    return found


def _bare(datum: Datum) -> Any:
    """Return the number or quantity of a datum; its conventions stay with the record."""
    return datum.value if datum.unit == "1" else datum.quantity
