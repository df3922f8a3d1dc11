"""An accelerator: memory, peaks by precision, its scale-up port and its way to the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field

from scalemath.core.datum import Datum
from scalemath.core.errors import ArgumentError, ConventionError
from scalemath.hardware.fields import frozen, given
from scalemath.units import Quantity, adopt


def _peaks(value: Any) -> tuple[Datum, ...]:
    """Return peaks as data; a mapping of precision to rate is taken as dense."""
    if not isinstance(value, Mapping):
        return tuple(value)
    found = []
    for precision, rate in value.items():
        if isinstance(rate, Datum):
            found.append(rate)
            continue
        peak = adopt(rate)
        magnitude: Any = peak.magnitude
        found.append(
            Datum(
                value=magnitude,
                unit=f"{peak.units:~P}",
                source="given by the user",
                date="undated",
                precision=precision,
                sparsity="dense",
                scope="accelerator",
            )
        )
    return tuple(found)


@frozen(kw_only=True)
class Accelerator:
    """A GPU, TPU or NPU as one rank sees it.

    Attributes
    ----------
    name, vendor, status : str
        Name, maker, and "shipped" or "roadmap".
    memory : Quantity or None
        Memory as sold [GB].
    memory_usable : Quantity or None
        Memory a program finds [GiB], where it is known.
    memory_bandwidth : Quantity or None
        Rate of the memory [GB/s]; it has no direction.
    peaks : tuple of Datum
        Peak rates, each with precision, sparsity and, where it matters, accumulator; a mapping
        such as ``{"bf16": "989 TFLOP/s"}`` is taken as dense.
    scale_up : Quantity or None
        Rate of the scale-up port [GB/s/dir].
    wiring : str
        Whether all of it reaches any one peer ("switched") or not ("mesh", "torus").
    host : Quantity or None
        Rate to the host [GB/s/dir].
    power : Quantity or None
        Largest power [W].
    data : mapping of str to Datum
        Where each value is from, for entries of the catalogue.
    """

    name: str = ""
    vendor: str = ""
    status: str = given("choice shipped roadmap", "shipped")
    memory: Quantity | None = given("byte > 0", None)
    memory_usable: Quantity | None = given("byte > 0", None)
    memory_bandwidth: Quantity | None = given("byte/s > 0", None)
    peaks: tuple[Datum, ...] = field(default=(), converter=_peaks)
    scale_up: Quantity | None = given("byte/s/dir > 0", None, directed=True)
    wiring: str = given("choice switched mesh torus", "switched")
    host: Quantity | None = given("byte/s/dir > 0", None, directed=True)
    power: Quantity | None = given("W > 0", None)
    data: Mapping[str, Datum] = field(factory=dict, repr=False, eq=False)

    @property
    def capacity(self) -> Quantity:
        """Memory a program can count on [byte]: usable where known, else as sold."""
        found = self.memory_usable if self.memory_usable is not None else self.memory
        if found is None:
            raise ArgumentError(f"the memory of {self.name or 'this accelerator'} is not known")
        return found

    def peak(self, precision: str, *, sparsity: str = "dense", accumulate: str = "") -> Datum:
        """Return the peak rate at a precision.

        Parameters
        ----------
        precision : str
            "bf16", "fp8", "fp4", "int8" ...
        sparsity : str
            "dense", or "sparse" for the figure with structured sparsity.
        accumulate : str
            Number format of the accumulator; needed where the rates differ.

        Returns
        -------
        Datum
            The peak [FLOP/s] with its conventions; formulas take it as it is.

        Raises
        ------
        ArgumentError
            If it is not known: nothing is halved or doubled on the quiet.

        Examples
        --------
        >>> gpu = Accelerator(peaks={"bf16": "989 TFLOP/s", "fp8": "1978 TFLOP/s"})
        >>> print(gpu.peak("fp8"))
        1978 TFLOP/s per accelerator (fp8, dense)
        """
        if not isinstance(precision, str):
            raise ArgumentError(f"precision is {repr(precision)[:80]}; wanted text, as in 'bf16'")
        wanted = precision.lower()
        fitting = [
            peak
            for peak in self.peaks
            if peak.precision == wanted
            and peak.sparsity == sparsity
            and (not accumulate or peak.accumulate == accumulate)
        ]
        if fitting:
            return fitting[0]
        known = "; ".join(str(peak) for peak in self.peaks) or "none"
        raise ArgumentError(
            f"{self.name or 'this accelerator'} has no {str(sparsity)[:20]} {precision[:60]} peak; "
            f"known: {known}"
        )

    def matmul_efficiency(self) -> float:
        """Return the largest measured share of the dense BF16 peak [1].

        Returns
        -------
        float
            Best matrix product measured over the peak.
        """
        measured = self.data.get("matmul_bf16")
        if measured is None:
            raise ArgumentError(f"no measured matrix product of {self.name} is known")
        peak = self.peak("bf16")
        if peak.unit != measured.unit:
            raise ConventionError(f"{measured} and {peak} are not in one unit")
        return measured.value / peak.value

    def __str__(self) -> str:
        parts = [
            f"{self.memory:~P}" if self.memory is not None else "",
            f"{self.memory_bandwidth:.6g~P}" if self.memory_bandwidth is not None else "",
            f"scale-up {self.scale_up:.6g~P}" if self.scale_up is not None else "",
            f"{self.power:~P}" if self.power is not None else "",
        ]
        flag = " [roadmap]" if self.status == "roadmap" else ""
        return f"{self.name or 'accelerator'}{flag}: {', '.join(part for part in parts if part)}"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{peak}</td></tr>" for peak in self.peaks)
        return f"<table><caption>{self}</caption><tbody>{rows}</tbody></table>"
