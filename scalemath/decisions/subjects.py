"""What is asked about: a model by name or number, a node by name or by its cards."""

from __future__ import annotations

import math
import re
from typing import Any

from attrs import frozen

from scalemath import catalog
from scalemath.core.errors import ArgumentError, RangeError
from scalemath.hardware.accelerator import Accelerator
from scalemath.hardware.node import Node, Rack
from scalemath.units import Q_
from scalemath.workloads.memory_budget import bytes_of
from scalemath.workloads.memory_serving import request_cache
from scalemath.workloads.transformer import Transformer

_CARDS = re.compile(r"\s*(\d+)\s*x\s*([\d.]+\s*[KMGT]i?B)\s*", re.IGNORECASE)
_COUNT_OF = re.compile(r"\s*(\d+)\s*x\s+(.+?)\s*")


@frozen(kw_only=True)
class Subject:
    """A model, as far as memory needs it.

    Attributes
    ----------
    name : str
        How it is called.
    parameters, active : float
        Parameters in all, and used by a token [1].
    transformer : Transformer or None
        Its architecture, when known.
    kv_values : float
        Values a token leaves in the cache [1]; nan when the architecture is unknown.
    context : float
        Longest context it was made for [1]; infinite when unknown.
    """

    name: str
    parameters: float
    active: float
    transformer: Transformer | None = None
    kv_values: float = float("nan")
    context: float = float("inf")

    def cache(self, tokens: float, kind: str, bytes_per_value: float) -> float:
        """Return the bytes of a request's cache, stored once."""
        if self.transformer is not None:
            return request_cache(self.transformer, tokens, kind)
        return self.kv_values * bytes_per_value * tokens


def subject(model: Any, kv_per_token: float | None = None) -> Subject:
    """Return what is known of a model.

    Parameters
    ----------
    model : str, Transformer, float or int
        Name in the catalogue, an architecture, or a number of parameters.
    kv_per_token : float, optional
        Cache of a token at 16 bit, for a model given by its number [byte].

    Returns
    -------
    Subject
        Parameters, cache, context.
    """
    if isinstance(model, Subject):
        return model
    if isinstance(model, str):
        found = catalog.model(model)
        try:
            record = catalog.record("model", found.name)
        except ArgumentError:  # an architecture the user added
            return _of(found, math.inf, found.name)
        return _of(found, float(record.facts.get("context", math.inf)), record.title)
    if isinstance(model, Transformer):
        return _of(model, math.inf, model.name)
    try:
        parameters = float(model)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"model is {model!r}; wanted a name such as 'Llama 3.1 70B', a Transformer, or a "
            "number of parameters such as 70e9"
        ) from None
    if not 1e3 <= parameters < float("inf"):
        raise RangeError(f"model is {model!r}; a number of parameters is written 70e9")
    values = float("nan")
    if kv_per_token is not None:
        values = kv_per_token / 2.0
    name = f"{parameters / 1e9:g}B"
    return Subject(name=name, parameters=parameters, active=parameters, kv_values=values)


def _of(model: Transformer, context: float, name: str) -> Subject:
    return Subject(
        name=name,
        parameters=float(model.parameters),
        active=float(model.active_parameters),
        transformer=model,
        kv_values=float(model.kv_values_per_token),
        context=context,
    )


def box(node: Any) -> Node:
    """Return a node of equal accelerators.

    Parameters
    ----------
    node : str, Node, Rack or sequence
        Name of a node or rack of the catalogue, "8 x 96 GB", "4 x H100 SXM", or an object.

    Returns
    -------
    Node
        The node.

    Raises
    ------
    ArgumentError
        If it is unknown, or its accelerators are of several kinds.
    """
    if isinstance(node, Node):
        return node
    if isinstance(node, Rack):
        return Node(accelerators=node.accelerators, accelerator=node.accelerator, name=node.name,
                    link=node.link, power=node.power)  # fmt: skip
    if isinstance(node, (list, tuple)):
        return _of_parts(node)
    if not isinstance(node, str):
        raise ArgumentError(
            f"node is {node!r}; wanted a name such as 'DGX H100', '8 x 96 GB' or a Node"
        )
    cards = _CARDS.fullmatch(node)
    if cards:
        size = re.sub(r"(?<=[\d.])(?=[A-Z])", " ", cards[2].replace(" ", ""))
        one = Accelerator(name=f"{size} card", memory=Q_(size))
        return Node(accelerators=int(cards[1]), accelerator=one, name=f"{cards[1]} x {size}")
    if re.fullmatch(r"[\s\d.]+", node):
        bytes_of(node, "node")
    counted = _COUNT_OF.fullmatch(node)
    for family, build in (("node", catalog.node), ("rack", catalog.rack)):
        try:
            return box(build(node))
        except ArgumentError as error:
            if family == "rack" and counted is None:
                raise ArgumentError(_unknown(node, str(error))) from None
    assert counted is not None
    try:
        one = catalog.accelerator(counted[2])
    except ArgumentError as error:
        raise ArgumentError(_unknown(node, str(error))) from None
    return Node(accelerators=int(counted[1]), accelerator=one, name=f"{counted[1]} x {one.name}")


def _unknown(node: str, why: str) -> str:
    known = [*catalog.table("node").column("name"), *catalog.table("rack").column("name")]
    return f"no node or rack is called {node!r} ({why}); there are {', '.join(known)}"


def _of_parts(parts: Any) -> Node:
    """Join nodes to one; several kinds of accelerator are refused."""
    boxes = [box(part) for part in parts]
    names = {b.accelerator.name if b.accelerator else b.name for b in boxes}
    if len(names) > 1:
        raise ArgumentError(
            f"node mixes {', '.join(sorted(names))}: shards are equal, so the smallest card would "
            "set the size of all; ask for each kind alone"
        )
    total = sum(b.accelerators for b in boxes)
    return Node(accelerators=total, accelerator=boxes[0].accelerator, name=boxes[0].name)
