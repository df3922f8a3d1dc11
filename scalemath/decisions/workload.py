"""What a machine is wanted for: the question that comes before any other."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from scalemath.core.dtypes import data_type
from scalemath.core.errors import ContradictionError, RangeError
from scalemath.decisions.subjects import Subject
from scalemath.hardware.accelerator import Accelerator
from scalemath.hardware.fields import frozen, given, si
from scalemath.units import Quantity
from scalemath.workloads.memory_recipes import recipe

KINDS = ("inference", "batch inference", "lora", "qlora", "full fine-tuning", "pretraining")
SERVING = ("inference", "batch inference")
ADAPTING = ("lora", "qlora")
TRAINING = ("full fine-tuning", "pretraining")
YEAR = 365.0 * 24 * 3600
_NATIVE = {"fp8": "fp8", "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "mxfp8": "fp8", "fp4": "fp4",
           "mxfp4": "fp4", "nvfp4": "fp4"}  # fmt: skip
_SMALL = ("fp8", "fp4", "int8")


@frozen(kw_only=True)
class Workload:
    """What is run, how much of it, and by when.

    Attributes
    ----------
    kind : str
        "inference", "batch inference", "lora", "qlora", "full fine-tuning" or "pretraining".
    model : str, Transformer, float or None
        What is run: a name in the catalogue, an architecture, or a number of parameters.
    precision : str or None
        Data type of the weights that stay in memory; by default fp8 (int8 where the card has no
        fp8) for inference, bf16 for lora, nf4 for qlora.
    weight_only : bool
        Weights are widened before they are multiplied, so that the card needs no such rate.
    cache : str
        Data type of the key-value cache.
    context_tokens, requests : int or None
        Tokens of a request, and requests at the same time [count].
    recipe : str
        What full training keeps for each parameter.
    request_rate, tokens_per_request : Quantity or None
        Requests that arrive [request/s], and output tokens of each [token/request].
    node_token_rate : Quantity or None
        Output tokens one node makes, measured or estimated [token/s].
    tokens : Quantity or None
        Tokens of a batch job, or of training [token].
    deadline : Quantity or None
        Time it may take [s].
    utilisation : float
        Share of the peak training reaches [1].
    token_latency : Quantity or None
        Longest time of an output token [s].
    production : bool
        Served to people who wait for each token.
    """

    kind: str = "inference"
    model: Any = None
    precision: str | None = None
    weight_only: bool = False
    cache: str = "bf16"
    context_tokens: int | None = given("count >= 1", None)
    requests: int | None = given("count >= 1", None)
    recipe: str = "adam-16"
    request_rate: Quantity | None = given("request/s > 0", None)
    tokens_per_request: Quantity | None = given("token/request > 0", None)
    node_token_rate: Quantity | None = given("token/s > 0", None)
    tokens: Quantity | None = given("token > 0", None)
    deadline: Quantity | None = given("s > 0", None)
    utilisation: float = given("number > 0 <= 1", 0.4)
    token_latency: Quantity | None = given("s > 0", None)
    production: bool = False

    def __attrs_post_init__(self) -> None:
        if self.kind not in KINDS:
            raise RangeError(f"workload: kind is {self.kind!r}; write one of {', '.join(KINDS)}")
        recipe(self.recipe)
        data_type(self.cache)
        if self.precision is None:
            return
        small = data_type(self.precision).bits_per_element < 6
        if self.kind in TRAINING and small:
            raise ContradictionError(
                f"workload: {self.precision} weights have too few steps for a gradient to change "
                f"them, so {self.kind} cannot keep them so; train in bf16, or keep a frozen "
                f"{self.precision} base under adapters with kind='qlora'"
            )

    @property
    def training(self) -> bool:
        """Whether all parameters are trained."""
        return self.kind in TRAINING

    @property
    def serving(self) -> bool:
        """Whether tokens are made for requests."""
        return self.kind in SERVING

    @property
    def token_demand(self) -> float:
        """Output tokens wanted per second; 0 when nothing is said."""
        if self.request_rate is not None and self.tokens_per_request is not None:
            return si(self, "request_rate") * si(self, "tokens_per_request")
        if self.kind == "batch inference" and self.tokens is not None and self.deadline is not None:
            return si(self, "tokens") / si(self, "deadline")
        return 0.0


def asked(workload: Any) -> Workload:
    """Return a workload from one, or from its kind."""
    if isinstance(workload, Workload):
        return workload
    if isinstance(workload, str):
        kind = "full fine-tuning" if workload in ("training", "fine-tuning") else workload
        return Workload(kind=kind)
    raise RangeError(
        f"workload is {workload!r}; write a kind ({', '.join(KINDS)}) or a Workload(kind=..., ...)"
    )


def settled(workload: Workload, card: Accelerator) -> tuple[Workload, tuple[str, ...]]:
    """Choose the precision of a workload on a card; refuse one that the card lacks.

    Parameters
    ----------
    workload : Workload
        What is wanted.
    card : Accelerator
        One accelerator of the node.

    Returns
    -------
    tuple
        The workload with its precision, and what was assumed.
    """
    known = {peak.precision for peak in card.peaks}
    if workload.precision is None:
        default = {"lora": "bf16", "qlora": "nf4"}.get(workload.kind, "fp8")
        if workload.training:
            default = "bf16"
        if default == "fp8" and known & set(_SMALL) and "fp8" not in known:
            return evolve(workload, precision="int8"), (
                f"weights in int8, since {card.name} has no fp8 rate",
            )
        return evolve(workload, precision=default), (f"weights in {default}",)
    wanted = _NATIVE.get(data_type(workload.precision).name)
    lacks = wanted is not None and bool(known & set(_SMALL)) and wanted not in known
    if lacks and not workload.weight_only:
        raise RangeError(
            f"{card.name} has no {wanted} rate (it has {', '.join(sorted(known))}); choose another "
            "precision, or say weight_only=True when the weights are widened before use"
        )
    return workload, ()


def check_context(workload: Workload, model: Subject) -> None:
    """Refuse a context beyond what the model was made for."""
    tokens = workload.context_tokens
    if tokens is not None and tokens > model.context:
        raise RangeError(
            f"context_tokens is {tokens}; {model.name} was made for {model.context:.0f} at most"
        )
