"""Does a model fit a node: by the rule on weights, and by what it really needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scalemath.core.dtypes import data_type
from scalemath.core.errors import ArgumentError
from scalemath.core.result import Result, measured
from scalemath.decisions.subjects import Subject, box, subject
from scalemath.decisions.workload import Workload, asked, check_context, settled
from scalemath.hardware.accelerator import Accelerator
from scalemath.hardware.node import Node
from scalemath.kernels.memory import (
    fill,
    nodes_for_state,
    weight_bytes,
    whole_units_that_fit,
)
from scalemath.units import display, quantities, to_si
from scalemath.workloads.memory_overhead import SERVING_OVERHEAD, TRAINING_OVERHEAD
from scalemath.workloads.memory_recipes import recipe, state_bytes_per_parameter
from scalemath.workloads.memory_training import LowRank, training_memory
from scalemath.workloads.plan import ParallelPlan

RULE = (0.60, 0.70)
"""Share of the memory that weights may take: comfortable, and the edge."""
CLASSES = (
    (RULE[0], "A", "fits with 40 % and more in reserve"),
    (RULE[1], "B", "fits at the edge of the rule"),
    (0.95, "C", "fits without headroom"),
    (1.00, "D", "fits, but evicts requests"),
    (math.inf, "X", "does not fit"),
)


def class_of(share: float) -> tuple[str, str]:
    """Return letter and meaning of the class of a filling."""
    return next((letter, said) for limit, letter, said in CLASSES if share <= limit)


@frozen(kw_only=True, eq=False)
class Fit(Result):
    """How a model stands to a node.

    Attributes
    ----------
    model : Subject
        The model.
    node : Node
        The node.
    workload : Workload
        What it is wanted for, its precision settled.
    headroom : float
        Share of the memory to keep free of weights or state [1].
    held_bytes : float
        Weights, or the state of training [byte].
    sold, usable : float
        Memory of the node as sold, and as programs find it [byte].
    overhead : float
        What runtimes take on all devices together [byte].
    activations : float
        What training needs beyond its state on all devices: activations, gathered weights,
        adapters [byte]; 0 when no context or no architecture is given.
    """

    model: Subject = field(repr=False)
    node: Node = field(repr=False)
    workload: Workload
    headroom: float
    held_bytes: float
    sold: float
    usable: float
    overhead: float
    activations: float = 0.0

    @measured("byte")
    def held(self) -> float:
        """Weights, or the state of training."""
        return self.held_bytes

    @measured("byte")
    def capacity(self) -> float:
        """Memory of the node as sold."""
        return self.sold

    @measured("byte")
    def usable_capacity(self) -> float:
        """Memory of the node that programs find."""
        return self.usable

    @measured("1")
    def share(self) -> float:
        """What is held over the memory as sold."""
        return fill(self.held_bytes, self.sold)

    @measured("1")
    def reserve(self) -> float:
        """Share of the memory that is left."""
        return 1.0 - fill(self.held_bytes, self.sold)

    @measured("byte")
    def room(self) -> float:
        """Memory left beside what is held, by the figures as sold; 0 when it does not fit."""
        return max(0.0, self.sold - self.held_bytes)

    @measured("byte")
    def cache(self) -> float:
        """Cache of the wanted requests at the wanted context; 0 when not asked."""
        asked_for = self.workload.context_tokens
        if not self.workload.serving or asked_for is None:
            return 0.0
        return (self.workload.requests or 1) * self._request(asked_for)

    @measured("byte")
    def need(self) -> float:
        """What is really needed: held, cache or activations, and what runtimes take."""
        return self.held_bytes + self.si("cache") + self.activations + self.overhead

    @measured("1")
    def need_share(self) -> float:
        """Real need over the memory that programs find."""
        return fill(self.si("need"), self.usable)

    @property
    def letter(self) -> str:
        """Class by the rule: A, B, C, D or X."""
        return class_of(self.share)[0]

    @property
    def fits(self) -> bool:
        """Whether it fits with the headroom, by the rule on what is held."""
        return bool(self.share <= 1.0 - self.headroom)

    @property
    def really_fits(self) -> bool:
        """Whether the real need is within what programs find."""
        return self.si("need") <= self.usable

    @property
    def room_tokens(self) -> float:
        """Whole tokens of cache that the room holds."""
        return whole_units_that_fit(self.si("room"), 0.0, 0.0, self._token())

    def contexts(self, tokens: int) -> float:
        """Return how many contexts of that many tokens the room holds, continuous.

        Parameters
        ----------
        tokens : int
            Tokens of a context [count].

        Returns
        -------
        float
            Contexts.
        """
        return self.si("room") / self._request(float(tokens))

    @property
    def largest_requests(self) -> float:
        """Requests at the wanted context that fit beside what is held and the runtimes."""
        tokens = float(self.workload.context_tokens or 1)
        held = self.held_bytes + self.overhead
        return whole_units_that_fit(self.usable, held, 0.0, self._request(tokens))

    @property
    def largest_context(self) -> float:
        """Tokens that each wanted request may have, at most what the model was made for."""
        each = self._token() * (self.workload.requests or 1)
        held = self.held_bytes + self.overhead
        found = whole_units_that_fit(self.usable, held, 0.0, each)
        return min(found, self.model.context)

    def nodes(self, share: float | None = None) -> int:
        """Return the whole nodes that hold the state when filled to a share at most.

        Parameters
        ----------
        share : float, optional
            Largest filling [1]; what the headroom leaves by default.

        Returns
        -------
        int
            Nodes.
        """
        filled = 1.0 - self.headroom if share is None else share
        return int(nodes_for_state(self.held_bytes, self.sold, filled))

    def _token(self) -> float:
        kind = self.workload.cache
        if self.model.transformer is not None:
            return self.model.kv_values * data_type(kind).bytes_per_element
        return self.model.cache(1.0, kind, data_type(kind).bytes_per_element)

    def _request(self, tokens: float) -> float:
        kind = self.workload.cache
        return self.model.cache(tokens, kind, data_type(kind).bytes_per_element)

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Parts of the real need."""
        name = "state" if self.workload.training else "weights"
        found = {name: (self.held_bytes, "byte"), "runtime": (self.overhead, "byte")}
        if self.si("cache"):
            found["key-value cache"] = (self.si("cache"), "byte")
        if self.activations:
            found["activations and the like"] = (self.activations, "byte")
        return found

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Model, node, workload."""
        return {
            "model": (self.model.name, ""),
            "parameters": (self.model.parameters, "1"),
            "node": (self.node.name, ""),
            "workload": (self.workload.kind, ""),
            "precision": (self.workload.precision or "", ""),
            "headroom": (self.headroom, "1"),
        }

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        return (
            "share = held / (devices x memory as sold), at most 1 - headroom; need = held + "
            "cache + runtime, at most what programs find",
            "rule of 60 to 70 % for weights; see the page on buying",
        )

    def headline(self) -> str:
        """One readable line."""
        letter, said = class_of(self.share)
        what = "state" if self.workload.training else f"{self.workload.precision} weights"
        text = (
            f"{self.model.name}, {self.workload.kind}: {what} {display(self.held_bytes, 'byte')} = "
            f"{100 * self.share:.6g} % of {self.node.name} ({display(self.sold, 'byte')}): "
            f"{letter}, {said}"
        )
        if self.si("cache") or self.activations:
            verb = "fits" if self.really_fits else "does not fit"
            text += f"; real need {display(self.si('need'), 'byte')} {verb}"
        return text


def held_bytes(model: Subject, workload: Workload) -> float:
    """Return the bytes that stay in memory: weights, or the whole state of training."""
    if not workload.training:
        bits = data_type(workload.precision or "bf16").bits_per_element
        return weight_bytes(model.parameters, bits, 1.0)
    kept = recipe(workload.recipe)
    each = kept.weights + kept.gradients + kept.master
    if model.transformer is not None:
        each += state_bytes_per_parameter(model.transformer, kept)
    else:
        each += kept.matrix_states
    return model.parameters * each


@quantities(headroom="number >= 0 < 1", kv_per_token="byte > 0 optional")
def fit(
    model: Any,
    node: Any,
    workload: Any = "inference",
    *,
    headroom: float = 0.3,
    kv_per_token: float | None = None,
) -> Fit:
    """Does a model fit a node, by the rule on weights and by what it really needs.

    Parameters
    ----------
    model : str, Transformer or float
        Name in the catalogue, architecture, or number of parameters.
    node : str, Node or Rack
        Name in the catalogue, "8 x 96 GB", "4 x H100 SXM", or an object.
    workload : str or Workload
        Kind, or a `Workload` with context, requests and precision.
    headroom : float
        Share of the memory to keep free of weights or state [1].
    kv_per_token : Quantity [byte]
        Cache of a token at 16 bit, for a model given by its number.

    Returns
    -------
    Fit
        Class, shares, room for the cache, nodes needed, largest context and concurrency.

    Examples
    --------
    >>> from scalemath.decisions import fit
    >>> found = fit(405e9, "8 x 96 GB", "inference", kv_per_token="516096 byte")
    >>> print(f"{100 * found.share:.6g} %", found.letter, found.room_tokens)
    52.7344 % A 703357.0
    """
    found, machine = subject(model, kv_per_token), box(node)
    card = machine.accelerator
    if card is None:
        raise ArgumentError(f"{machine.name or 'this node'}: say which accelerator it holds")
    job, assumed = settled(asked(workload), card)
    check_context(job, found)
    if job.serving and job.context_tokens is not None and math.isnan(found.kv_values):
        raise ArgumentError(
            f"fit: the cache of {found.name} is not known; give kv_per_token='327680 byte', or a "
            "model with its architecture"
        )
    parts = TRAINING_OVERHEAD if job.training else SERVING_OVERHEAD
    each = sum(
        float(to_si(part, "byte"))
        for name, part in parts.items()
        if machine.accelerators > 1 or "collective" not in name
    )
    return Fit(
        model=found,
        node=machine,
        workload=job,
        headroom=headroom,
        held_bytes=held_bytes(found, job),
        sold=float(to_si(machine.memory, "byte")),
        usable=float(to_si(machine.capacity, "byte")),
        overhead=each * machine.accelerators,
        activations=_activations(found, machine, job),
        assumptions=(*assumed, *_assumed(job, card)),
    )


def _activations(model: Subject, machine: Node, job: Workload) -> float:
    """Bytes on all devices beyond what is held, weights sharded and all recomputed; 0 if unknown.

    One sequence of the wanted context is on every device.
    """
    if job.serving or model.transformer is None or job.context_tokens is None:
        return 0.0
    devices = machine.accelerators
    plan = ParallelPlan(data=devices, global_batch=devices, sharding="weights", recompute="full")
    adapters = None if job.training else LowRank(base=job.precision or "bf16")
    budget = training_memory(
        model.transformer,
        plan,
        sequence=job.context_tokens,
        recipe=job.recipe,
        adapters=adapters,
        overhead={},
    )
    beyond = (
        ("activations", "workspace") if job.training else ("activations", "workspace", "optimizer")
    )
    return devices * sum(budget.size_of(kind) for kind in beyond)


def _assumed(job: Workload, card: Accelerator) -> tuple[str, ...]:
    found = ["weights spread evenly over the devices"]
    if card.memory_usable is None:
        found.append("programs find the memory as sold; nothing was measured on this card")
    if job.serving:
        found.append("cache stored once: tensor groups no wider than the key-value heads")
    if job.training:
        kept = recipe(job.recipe)
        found.append(f"{kept.name}: {kept.source}")
    if not job.serving:
        given = job.context_tokens is not None
        found.append(
            "weights sharded over the node, everything recomputed, one sequence on each device"
            if given
            else "activations are left out; give context_tokens to count them"
        )
    return tuple(found)
