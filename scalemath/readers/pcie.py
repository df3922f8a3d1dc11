"""Rates of PCIe ports by their transfer rate and width."""

from __future__ import annotations

_PAYLOAD = {2.5: 0.8, 5.0: 0.8, 8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130}
_FLIT = 242 / 256


def pcie_rate(transfers: float, width: int) -> float:
    """Return the rate of a port per direction after line coding [byte/s].

    Parameters
    ----------
    transfers : float
        Transfer rate of a lane [GT/s].
    width : int
        Lanes.

    Returns
    -------
    float
        Bytes per second and direction; packet headers are not taken off.

    Examples
    --------
    >>> round(pcie_rate(16.0, 16) / 1e9, 1)
    31.5
    """
    return transfers * 1e9 * width * _PAYLOAD.get(transfers, _FLIT) / 8.0
