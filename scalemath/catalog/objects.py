"""Entries as ready objects: links, accelerators, switches, nodes, racks, clusters, models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scalemath.catalog.session import build as _build
from scalemath.catalog.session import library as _library
from scalemath.core.datum import Datum
from scalemath.hardware.accelerator import Accelerator
from scalemath.hardware.link import Link
from scalemath.hardware.nic import Nic
from scalemath.hardware.node import Node, Rack
from scalemath.hardware.optics import Transceiver
from scalemath.hardware.port import Port
from scalemath.hardware.switch import Switch

if TYPE_CHECKING:
    from scalemath.topology.cluster import Cluster
    from scalemath.workloads.transformer import Transformer


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
    return _library.find("latency", name)["latency"]
