"""Forward error correction on a link, and error rates that know which side they are on."""

from __future__ import annotations

from typing import Any

from scalemath.core.errors import ConventionError, RangeError
from scalemath.hardware.counts import figure
from scalemath.hardware.fields import frozen, given
from scalemath.kernels import fec as kernels
from scalemath.units import QuantityLike, to_si

TRANSCODING = 256 / 257
"""Share that the 256b/257b transcoding of Ethernet leaves."""


@frozen
class ErrorRate:
    """A bit error rate with its side of the error correction.

    Parameters
    ----------
    value : float
        Wrong bits per bit [1].
    fec : str
        "pre-FEC" or "post-FEC": on the wire, or as the receiver hands it on.

    Examples
    --------
    >>> rate = ErrorRate(value=1e-15, fec="post-FEC")
    >>> print(f"{rate.mean_time_between_errors('800 Gb/s').to('min'):.4f~P}")
    20.8333 min
    """

    value: float = given("number >= 0 <= 1")
    fec: str = given("choice pre-FEC post-FEC")

    def per_second(self, rate: QuantityLike) -> Any:
        """Errors per second at a rate.

        Parameters
        ----------
        rate : Quantity [byte/s/dir]
            Rate per direction.

        Returns
        -------
        Quantity [1/s]
            Wrong bits per second.
        """
        return figure(kernels.errors_per_second(self.value, to_si(rate, "byte/s/dir")), "Hz", "1/s")

    def mean_time_between_errors(self, rate: QuantityLike) -> Any:
        """Mean time between two errors at a rate.

        Parameters
        ----------
        rate : Quantity [byte/s/dir]
            Rate per direction.

        Returns
        -------
        Quantity [s]
            The inverse of `per_second`.
        """
        errors = kernels.errors_per_second(self.value, to_si(rate, "byte/s/dir"))
        return figure(1.0 / errors if errors > 0 else float("inf"), "s", "s")

    def ratio(self, other: ErrorRate) -> float:
        """Return how many times this rate is the other one.

        Parameters
        ----------
        other : ErrorRate
            On the same side of the error correction.

        Returns
        -------
        float
            The ratio [1].

        Raises
        ------
        ConventionError
            If one is before and the other after the correction.
        """
        if self.fec != other.fec:
            raise ConventionError(
                f"{self.value:g} ({self.fec}) against {other.value:g} ({other.fec}): error rates "
                "before and after correction do not compare; convert with ReedSolomon.after()"
            )
        return self.value / other.value

    def __str__(self) -> str:
        return f"{self.value:g} ({self.fec})"


@frozen
class ReedSolomon:
    """A Reed-Solomon code on a link; RS(544,514), the "KP4" code of Ethernet, by default.

    Parameters
    ----------
    codeword, message : int
        Symbols per block, with and without parity.
    symbol_bits : int
        Bits per symbol.

    Examples
    --------
    >>> code = ReedSolomon()
    >>> code.corrected_symbols, round(code.rate, 6), round(code.overhead, 7)
    (15, 0.944853, 0.0583658)
    """

    codeword: int = given("count >= 2", 544)
    message: int = given("count >= 1", 514)
    symbol_bits: int = given("count >= 1 <= 16", 10)

    def __attrs_post_init__(self) -> None:
        if not self.message < self.codeword:
            raise RangeError(
                f"ReedSolomon: message {self.message} is not below codeword {self.codeword}"
            )
        if self.codeword > 2**self.symbol_bits:
            raise RangeError(
                f"ReedSolomon: a codeword of {self.codeword} symbols needs more than "
                f"{self.symbol_bits} bits per symbol (at most {2**self.symbol_bits})"
            )

    @property
    def corrected_symbols(self) -> int:
        """Wrong symbols per block that are corrected, t."""
        return int(kernels.corrected_symbols(self.codeword, self.message))

    @property
    def rate(self) -> float:
        """Share of the line rate that carries the message [1]."""
        return kernels.code_rate(self.codeword, self.message)

    @property
    def overhead(self) -> float:
        """Extra line rate over the message [1]."""
        return kernels.code_overhead(self.codeword, self.message)

    @property
    def block_bits(self) -> int:
        """Bits of one block."""
        return self.codeword * self.symbol_bits

    def block_latency(self, line_rate: QuantityLike) -> Any:
        """Time for one block to arrive; decoding comes on top.

        Parameters
        ----------
        line_rate : Quantity [byte/s/dir]
            Line rate over which one block is sent.

        Returns
        -------
        Quantity [s]
            Accumulation time.
        """
        return figure(
            kernels.block_latency(self.codeword, self.symbol_bits, to_si(line_rate, "byte/s/dir")),
            "s",
            "ns",
        )

    def net_rate(self, line_rate: QuantityLike, transcoding: float = TRANSCODING) -> Any:
        """Rate of data that a line rate carries.

        Parameters
        ----------
        line_rate : Quantity [byte/s/dir]
            Rate on the wire.
        transcoding : float
            Share left by the line code [1].

        Returns
        -------
        Quantity [byte/s/dir]
            100 Gbit/s for 106.25.
        """
        net = kernels.net_rate(
            to_si(line_rate, "byte/s/dir"), self.codeword, self.message, transcoding
        )
        return figure(net, "byte/s/dir", "Gbit/s/dir")

    def line_rate(self, net_rate: QuantityLike, transcoding: float = TRANSCODING) -> Any:
        """Line rate that a rate of data needs.

        Parameters
        ----------
        net_rate : Quantity [byte/s/dir]
            Rate of data.
        transcoding : float
            Share left by the line code [1].

        Returns
        -------
        Quantity [byte/s/dir]
            106.25 Gbit/s for 100.
        """
        line = kernels.required_line_rate(
            to_si(net_rate, "byte/s/dir"), self.codeword, self.message, transcoding
        )
        return figure(line, "byte/s/dir", "Gbit/s/dir")

    def block_failure_rate(self, before: ErrorRate) -> float:
        """Share of blocks that cannot be corrected, with independent bit errors.

        Parameters
        ----------
        before : ErrorRate
            Pre-FEC error rate.

        Returns
        -------
        float
            Share of blocks [1].
        """
        if before.fec != "pre-FEC":
            raise ConventionError(f"{before}: the code works on the pre-FEC error rate")
        return kernels.block_failure_rate(
            before.value, float(self.codeword), float(self.message), float(self.symbol_bits)
        )

    def after(self, before: ErrorRate) -> ErrorRate:
        """Post-FEC error rate: failed blocks keep a little more than t wrong symbols.

        Parameters
        ----------
        before : ErrorRate
            Pre-FEC error rate.

        Returns
        -------
        ErrorRate
            Post-FEC, with one wrong bit per wrong symbol.
        """
        failed = self.block_failure_rate(before)
        return ErrorRate(
            value=failed * (self.corrected_symbols + 1) / self.block_bits, fec="post-FEC"
        )

    def __str__(self) -> str:
        return f"RS({self.codeword},{self.message})"
