"""Reading a prompt: time to the first token."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, cast

from attrs import field, frozen

from scalemath.core.errors import ScalemathError
from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.kernels.serving import DecodeTerms, prefill_time
from scalemath.units import QuantityLike, convert
from scalemath.workloads.sweeping import prepared
from scalemath.workloads.swept_prefill import PREFILL, lowered
from scalemath.workloads.transformer import Transformer


@frozen(kw_only=True, eq=False)
class Prefill(Result):
    """Time to read a prompt.

    Attributes
    ----------
    outputs : mapping of str to float
        Terms in seconds.
    prompt_tokens : int
        Tokens read.
    """

    outputs: Mapping[str, float] = field(repr=False)
    prompt_tokens: int

    @measured("s")
    def time(self) -> float:
        """Time to the first token, waiting left out."""
        return self.outputs["device"] + self.outputs["communication"]

    @measured("token/s")
    def token_rate(self) -> float:
        """Prompt tokens per second."""
        return self.prompt_tokens / self.si("time")

    def term_values(self) -> Mapping[str, tuple[float, str]]:
        """Devices and collectives."""
        return {name: (value, "s") for name, value in self.outputs.items()}

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(prefill_time)
        return record.formula, record.source


def prefill(
    transformer: Transformer,
    *,
    prompt_tokens: int,
    devices: int,
    peak: QuantityLike,
    memory_bandwidth: QuantityLike,
    bandwidth: QuantityLike,
    latency: QuantityLike = "0 s",
    utilisation: float = 0.5,
    batch: int = 1,
    weights: str = "bf16",
) -> Prefill:
    """Time to read the prompts of a batch.

    In `sweep` every argument may be an axis, and so may fields of the transformer.

    Parameters
    ----------
    transformer : Transformer
        What is served.
    prompt_tokens : int
        Tokens of a prompt.
    devices : int
        Devices of the tensor group.
    peak : Quantity [flop/s]
        Dense rate of one device.
    memory_bandwidth : Quantity [byte/s]
        Memory rate of one device.
    bandwidth : Quantity [byte/s/dir]
        Payload rate of a device's port per direction.
    latency : Quantity [s]
        One-way time of an empty message.
    utilisation : float
        Share of the peak that prefill reaches [1].
    batch : int
        Prompts read together.
    weights : str
        Data type of the weights.

    Returns
    -------
    Prefill
        Time with its terms; causal attention is executed by half.

    Raises
    ------
    ScalemathError
        If a value has the wrong unit or lies out of range, naming it.
    """
    given = {
        "prompt_tokens": prompt_tokens,
        "devices": devices,
        "peak": peak,
        "memory_bandwidth": memory_bandwidth,
        "bandwidth": bandwidth,
        "latency": latency,
        "utilisation": utilisation,
        "batch": batch,
    }
    numbers: dict[str, float] = {**lowered(transformer, weights), "possible": 1.0}
    for name, value in given.items():
        try:
            numbers[name] = convert(PREFILL.fields[name], value)
        except ScalemathError as error:
            raise type(error)(f"prefill: {name} {error}") from None
    outputs = PREFILL.model.evaluate(numbers)
    return Prefill(
        outputs={term: outputs[f"time.{term}"] for term in DecodeTerms._fields},
        prompt_tokens=prompt_tokens * batch,
        assumptions=(
            f"{100 * utilisation:.3g} % of the peak",
            "activations of 2 byte cross the tensor group twice a layer in a ring",
        ),
    )


cast(Any, prefill).prepared = functools.partial(prepared, PREFILL)
