"""LogGP parameters of a network, and what they are in the alpha-beta model."""

from __future__ import annotations

from typing import Any

from scalemath.core.errors import ArgumentError, RangeError
from scalemath.hardware.fields import frozen, given, si
from scalemath.kernels import loggp as lo
from scalemath.units import Quantity, QuantityLike, quantity, to_si


@frozen
class LogGP:
    """LogGP parameters of a network.

    In LogGP the latency of a message does not hold its port; in the alpha-beta model it does.
    Both give a single message the same time; pipelines are shorter in LogGP.

    Parameters
    ----------
    latency : Quantity [s]
        Time on the wire of one message.
    overhead : Quantity [s]
        Time a rank is busy with one message, at either end.
    gap : Quantity [s]
        Least time between two messages of a rank.
    gap_per_byte : Quantity [s/byte]
        Time per further byte of a message: one over the bandwidth.

    Examples
    --------
    >>> from scalemath.collectives import LogGP
    >>> network = LogGP(latency="3.7 us", overhead="0.2 us", gap="5 ns", gap_per_byte="0.04 ns/B")
    >>> print(f"{network.alpha.to('us'):.6g~P}, {network.bandwidth.to('GB/s/dir'):.6g~P}")
    4.09996 µs, 25 GB/s/dir
    """

    latency: Any = given("s latency_kind: one-way")
    overhead: Any = given("s", "0 s")
    gap: Any = given("s", "0 s")
    gap_per_byte: Any = given("s/byte > 0")

    def __attrs_post_init__(self) -> None:
        if lo.loggp_alpha(*self._three()) < 0.0:
            raise RangeError(
                "LogGP: latency and overheads are shorter than the time of one byte; there is no "
                "alpha-beta model with the same times"
            )

    @classmethod
    def from_alpha_beta(
        cls, *, latency: QuantityLike, bandwidth: QuantityLike, overhead: QuantityLike = "0 s"
    ) -> LogGP:
        """LogGP parameters that give single messages the time of an alpha-beta model.

        Parameters
        ----------
        latency : Quantity [s]
            One-way time of an empty message (alpha).
        bandwidth : Quantity [byte/s/dir]
            Payload rate of one rank's port per direction (one over beta).
        overhead : Quantity [s]
            Part of the latency that holds a rank, at either end.

        Returns
        -------
        LogGP
            With a gap of the overhead.

        Raises
        ------
        RangeError
            When the overheads alone exceed the latency.
        """
        alpha = to_si(latency, "s", "latency")
        per_byte = 1.0 / to_si(bandwidth, "byte/s/dir", "bandwidth")
        busy = to_si(overhead, "s", "overhead")
        wire = alpha + per_byte - 2.0 * busy
        if wire < 0.0:
            raise RangeError(f"LogGP: two overheads of {overhead} exceed the latency of {latency}")
        return cls(
            latency=quantity(wire, "s"),
            overhead=quantity(busy, "s"),
            gap=quantity(busy, "s"),
            gap_per_byte=quantity(per_byte, "s/byte"),
        )

    def _three(self) -> tuple[float, float, float]:
        return si(self, "latency"), si(self, "overhead"), si(self, "gap_per_byte")

    def _four(self) -> tuple[float, float, float, float]:
        return (*self._three()[:2], si(self, "gap"), si(self, "gap_per_byte"))

    @property
    def alpha(self) -> Quantity:
        """Latency of the alpha-beta model: latency + 2 overhead - gap per byte."""
        return quantity(lo.loggp_alpha(*self._three()), "s")

    @property
    def bandwidth(self) -> Quantity:
        """Bandwidth of the alpha-beta model: one over the gap per byte."""
        return quantity(1.0 / si(self, "gap_per_byte"), "byte/s/dir")

    def alpha_beta(self) -> dict[str, Quantity]:
        """Return the arguments `latency` and `bandwidth` of the collective functions.

        Returns
        -------
        dict of str to Quantity
            To be used as in ``allreduce(size=..., ranks=..., **network.alpha_beta())``.
        """
        return {"latency": self.alpha, "bandwidth": self.bandwidth}

    def message_time(self, size: QuantityLike) -> Quantity:
        """Time of one message.

        Parameters
        ----------
        size : Quantity [byte]
            Size of the message.

        Returns
        -------
        Quantity [s]
            ``latency + 2 overhead + (size - 1 byte) gap_per_byte``.
        """
        return quantity(lo.loggp_message(to_si(size, "byte", "size"), *self._three()), "s")

    def time(self, operation: str, algorithm: str, *, size: QuantityLike, ranks: int) -> Quantity:
        """Time of a collective whose steps follow one another, in LogGP itself.

        Parameters
        ----------
        operation, algorithm : str
            "allreduce" by "ring", "recursive-doubling" or "rabenseifner"; "all_gather" by "ring";
            "all_to_all" by "pairwise"; "broadcast" by "binomial-tree". The logarithmic ones are
            exact for powers of two.
        size : Quantity [byte]
            Size by the convention of the operation.
        ranks : int
            Participants.

        Returns
        -------
        Quantity [s]
            Time without reductions.
        """
        bytes_, count = to_si(size, "byte", "size"), float(ranks)
        free = float("inf")
        four, three = self._four(), self._three()
        known = {
            ("allreduce", "ring"): lambda: lo.loggp_allreduce_ring(bytes_, count, *four, free),
            ("allreduce", "recursive-doubling"): lambda: lo.loggp_allreduce_doubling(
                bytes_, count, *four, free
            ),
            ("allreduce", "rabenseifner"): lambda: lo.loggp_allreduce_rabenseifner(
                bytes_, count, *three, free
            ),
            ("all_gather", "ring"): lambda: lo.loggp_exchange_ring(bytes_, count, *four),
            ("all_to_all", "pairwise"): lambda: lo.loggp_exchange_ring(bytes_, count, *four),
            ("broadcast", "binomial-tree"): lambda: lo.loggp_broadcast_binomial(
                bytes_, count, *three
            ),
        }
        if (operation, algorithm) not in known:
            listed = ", ".join(f"{o} by {a}" for o, a in known)
            raise ArgumentError(
                f"LogGP.time: no closed form of {operation!r} by {algorithm!r}; there are {listed}"
            )
        return quantity(known[operation, algorithm](), "s")
