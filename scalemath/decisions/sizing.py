"""Sizes by the rule: the largest model, the nodes a state takes, the share weights take."""

from __future__ import annotations

from typing import Any

from scalemath.core.dtypes import data_type
from scalemath.decisions.subjects import box
from scalemath.kernels.memory import fill, largest_parameters, nodes_for_state, weight_bytes
from scalemath.scaling.laws import step
from scalemath.units import quantities, to_si


@quantities(share="number > 0 <= 1")
def largest_model(node: Any, weights: str = "fp8", *, share: float = 0.7) -> float:
    """Parameters of the largest model whose weights take a share of a node.

    Parameters
    ----------
    node : str, Node or Rack
        The node.
    weights : str
        Data type of the weights.
    share : float
        Share of the memory as sold [1].

    Returns
    -------
    float
        Parameters.

    Examples
    --------
    >>> from scalemath.decisions import largest_model
    >>> print(f"{largest_model('8 x 96 GB', 'int4') / 1e9:.1f}B")
    1075.2B
    """
    sold = float(to_si(box(node).memory, "byte"))
    return largest_parameters(sold, share, data_type(weights).bits_per_element)


@quantities(state="byte > 0", share="number > 0 <= 1")
def nodes_needed(state: float, node: Any, *, share: float = 0.7) -> int:
    """Whole nodes that hold a state.

    Parameters
    ----------
    state : Quantity [byte]
        What is held.
    node : str, Node or Rack
        The node.
    share : float
        Largest filling of a node [1].

    Returns
    -------
    int
        Nodes, rounded up.

    Examples
    --------
    >>> from scalemath.decisions import nodes_needed
    >>> [nodes_needed("1.5 TB", "8 x 96 GB", share=s) for s in (1.0, 0.7, 0.6)]
    [2, 3, 4]
    """
    return int(nodes_for_state(state, float(to_si(box(node).memory, "byte")), share))


@quantities(
    step("held", weight_bytes, "byte", ranks="devices"),
    step("share", fill, capacity="memory"),
    output="share",
    parameters="number > 0",
    bits="number > 0",
    devices="count >= 1",
    memory="byte > 0",
)
def weights_share(parameters: float, *, bits: float, devices: float, memory: float) -> float:
    """Share of the memory that weights take; what a sweep over models and machines asks.

    Parameters
    ----------
    parameters : float
        Parameters [1].
    bits : float
        Bits of a weight with its share of the scales [1].
    devices : int
        Devices that share the weights evenly [count].
    memory : Quantity [byte]
        Memory of one device.

    Returns
    -------
    float
        Share [1].

    Examples
    --------
    >>> from scalemath.decisions import weights_share
    >>> print(f"{weights_share(405e9, bits=8, devices=8, memory='96 GB'):.6f}")
    0.527344
    """
    return fill(weight_bytes(parameters, bits, devices), memory)
