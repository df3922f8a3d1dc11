"""What a training run costs: operations by 6 N D, device time, duration, energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scalemath.core.kernel import kernel_of
from scalemath.core.result import Result, measured
from scalemath.kernels.gemm import compute_time
from scalemath.kernels.training_cost import pretraining_operations
from scalemath.scaling.laws import step
from scalemath.units import display, quantities

MONTH = 730.0 * 3600.0


@frozen(kw_only=True, eq=False)
class PretrainingCost(Result):
    """Operations and device time of a training run."""

    parameters: float
    training_tokens: float
    peak: float
    utilisation: float
    ranks: int
    device_power: float

    @measured("flop")
    def flops(self) -> float:
        """Operations of the run."""
        return pretraining_operations(self.parameters, self.training_tokens)

    @measured("s")
    def device_time(self) -> float:
        """Time one device would take."""
        return compute_time(self.si("flops"), self.peak, self.utilisation)

    @measured("1")
    def device_months(self) -> float:
        """Months of 730 hours of one device."""
        return self.si("device_time") / MONTH

    @measured("s")
    def time(self) -> float:
        """Duration on the stated devices, losses of scaling left to `utilisation`."""
        return self.si("device_time") / self.ranks

    @measured("1")
    def months(self) -> float:
        """Duration in months of 730 hours."""
        return self.si("time") / MONTH

    @measured("J")
    def energy(self) -> float:
        """Energy, when a power per device is stated."""
        return self.si("device_time") * self.device_power

    def input_values(self) -> Mapping[str, tuple[Any, str]]:
        """Arguments as SI values and units."""
        return {
            "parameters": (self.parameters, "1"),
            "training_tokens": (self.training_tokens, "token"),
            "peak": (self.peak, "flop/s"),
            "utilisation": (self.utilisation, "1"),
            "ranks": (self.ranks, "1"),
        }

    def formula(self) -> tuple[str, str]:
        """Formula in words and its source."""
        record = kernel_of(pretraining_operations)
        return f"{record.formula}; device time = flops / (peak utilisation)", record.source

    def headline(self) -> str:
        """One readable line."""
        return (
            f"pretraining: {display(self.si('flops'), 'flop')}, {self.device_months:.6g} device "
            f"months, {self.months:.6g} months on {self.ranks} devices"
        )


@quantities(
    step("flops", pretraining_operations, "flop", tokens="training_tokens"),
    step("device_time", compute_time, "s"),
    output="device_time",
    parameters="number > 0",
    training_tokens="token > 0",
    peak="flop/s > 0",
    utilisation="number > 0 <= 1",
    ranks="count >= 1",
    device_power="W",
)
def pretraining_cost(
    parameters: float,
    training_tokens: float,
    *,
    peak: float,
    utilisation: float = 0.4,
    ranks: float = 1.0,
    device_power: float = 0.0,
    assumed: tuple[str, ...] = (),
) -> PretrainingCost:
    """Operations, device time, duration and energy of pretraining a model.

    Parameters
    ----------
    parameters : float
        Parameters a token uses [1].
    training_tokens : Quantity [token]
        Tokens the model is trained on.
    peak : Quantity [flop/s]
        Dense rate of one device.
    utilisation : float
        Share of the peak reached, model FLOPs counted [1].
    ranks : int
        Devices.
    device_power : Quantity [W]
        Power of a device with its share of the server.

    Returns
    -------
    PretrainingCost
        Operations, device months, duration, energy.

    Notes
    -----
    ``flops = 6 parameters tokens`` [Kaplan2020]_; attention scores are left out.

    Examples
    --------
    >>> from scalemath.workloads import pretraining_cost
    >>> cost = pretraining_cost(70e9, "1.5e12 token", peak="989.5 TFLOP/s", utilisation=0.4)
    >>> print(f"{cost.device_months:.6g} device months")
    605.675 device months
    """
    kept = tuple(text for text in assumed if not text.startswith("device_power"))
    return PretrainingCost(
        parameters=parameters,
        training_tokens=training_tokens,
        peak=peak,
        utilisation=utilisation,
        ranks=int(ranks),
        device_power=device_power,
        assumptions=(*kept, "attention scores are not counted", "a month has 730 hours"),
    )
