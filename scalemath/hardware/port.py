"""A port: the links of one device that serve one network, and whom they reach."""

from __future__ import annotations

from typing import Any

from attrs import field

from scalemath.core.errors import ContradictionError, RangeError
from scalemath.hardware.closure import must_close
from scalemath.hardware.fields import frozen, given
from scalemath.hardware.link import Link
from scalemath.units import Quantity


@frozen(kw_only=True)
class Port:
    """A group of equal links of one device.

    What a device can send in all (injection) is not what it can send to one peer: behind a
    switch both are the same, in a mesh each peer is reached by its own links only.

    Attributes
    ----------
    link : Link
        One of the links, or a bundle of them.
    links : int
        How many of them the port has [count].
    name : str
        What it is called.
    wiring : str
        "switched", "mesh" or "torus"; taken from the link when left out.
    bandwidth : Quantity
        Payload rate of the whole port [byte/s/dir]; checked when it is given.
    """

    link: Link
    links: int = given("count >= 1", 1)
    name: str = ""
    wiring: str = field(default="")
    bandwidth: Any = given("byte/s/dir > 0", None, directed=True)

    def __attrs_post_init__(self) -> None:
        if not self.wiring:
            object.__setattr__(self, "wiring", self.link.wiring)
        total = self.links * self.link.bandwidth
        if self.bandwidth is not None:
            each = f"{self.link.bandwidth:.6g~P}"
            slip = {f"{each} is the figure of both directions; write /bidir": 2.0}
            must_close(
                f"{self.name or 'port'}: total",
                total,
                f"{self.links} links at {each}",
                self.bandwidth,
                slip,
            )
        object.__setattr__(self, "bandwidth", total)

    @property
    def count(self) -> int:
        """Links of the port, those inside a bundle counted one by one [count]."""
        return self.links * self.link.links

    def to_one_peer(self, peers: int) -> Quantity:
        """Return the most that one peer can be sent while the others are idle.

        Parameters
        ----------
        peers : int
            Devices the port reaches [count].

        Returns
        -------
        Quantity
            Rate [byte/s/dir]: all links behind a switch, the peer's own links in a mesh.

        Raises
        ------
        ContradictionError
            If a mesh has fewer links than peers.
        """
        self._check(peers)
        if self.wiring == "switched":
            rate: Quantity = self.bandwidth
        else:
            rate = self.bandwidth * (self.count // peers) / self.count
        return rate

    def per_peer(self, peers: int) -> Quantity:
        """Return the share of each peer while all are sent to at once.

        Parameters
        ----------
        peers : int
            Devices the port reaches [count].

        Returns
        -------
        Quantity
            Rate [byte/s/dir].

        Examples
        --------
        >>> nvlink5 = Link(links=18, per_link="50 GB/s/dir")
        >>> print(f"{Port(link=nvlink5).per_peer(71):.6g~P}")
        12.6761 GB/s/dir
        """
        self._check(peers)
        if self.wiring == "switched":
            rate: Quantity = self.bandwidth / peers
            return rate
        return self.to_one_peer(peers)

    def _check(self, peers: int) -> None:
        if peers < 1:
            raise RangeError(f"peers is {peers}, wanted at least 1")
        if self.wiring != "switched" and self.count < peers:
            raise ContradictionError(
                f"{self.name or 'port'}: a {self.wiring} with {self.count} links does not reach "
                f"{peers} peers directly"
            )

    def __str__(self) -> str:
        label = self.name or self.link.name or "port"
        return f"{label}: {self.links} x {self.link.bandwidth:.6g~P} = {self.bandwidth:.6g~P}"
