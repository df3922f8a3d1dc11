"""A cluster as training steps and placement rules see it."""

from __future__ import annotations

from attrs import evolve

from scalemath.core.errors import ArgumentError
from scalemath.topology.cluster import Cluster
from scalemath.units import QuantityLike, to_si
from scalemath.workloads.fitted import FITTED
from scalemath.workloads.machine import MEASURED_CURVES, Machine, curves_from_rate
from scalemath.workloads.machines import RATE_NAMES
from scalemath.workloads.placing import Tier


def cluster_tiers(
    cluster: Cluster,
    *,
    scale_up_latency: QuantityLike = "0 s",
    scale_out_latency: QuantityLike = "0 s",
) -> tuple[Tier, Tier]:
    """Both networks of a cluster for `place`.

    Parameters
    ----------
    cluster : Cluster
        Nodes or racks and their fabric.
    scale_up_latency, scale_out_latency : Quantity [s]
        One-way time of an empty message.

    Returns
    -------
    tuple of Tier
        Scale-up and scale-out network as one accelerator sees them.
    """
    low = cluster.lower()
    over = float(getattr(cluster.fabric, "oversubscription", None) or 1.0)
    return (
        Tier(
            name="scale-up",
            bandwidth=low.domain_bandwidth,
            latency=to_si(scale_up_latency, "s"),
            ranks=low.domain,
            memory_semantics=True,
        ),
        Tier(
            name="scale-out",
            bandwidth=_out(cluster),
            latency=to_si(scale_out_latency, "s"),
            ranks=low.accelerators,
            oversubscription=over,
        ),
    )


def _out(cluster: Cluster) -> float:
    """Scale-out rate per accelerator and direction [byte/s]."""
    low = cluster.lower()
    return low.nic_bandwidth * low.nics_per_node / low.accelerators_per_node


def cluster_machine(
    cluster: Cluster,
    *,
    precision: str = "bf16",
    matmul_share: float | None = None,
    attention_share: float | None = None,
    measured: bool = False,
) -> Machine:
    """Machine of a cluster for `training_step`.

    Parameters
    ----------
    cluster : Cluster
        Nodes that state their accelerator, or racks.
    precision : str
        16-bit precision whose dense peak counts.
    matmul_share, attention_share : float, optional
        Shares of the peak that products and fused attention reach [1]; those fitted to
        published steps of the device where there are any.
    measured : bool
        Whether both shares were measured on this cluster.

    Returns
    -------
    Machine
        Its band says where the shares come from.

    Raises
    ------
    ArgumentError
        When the node does not say which accelerator it holds.
    """
    device = cluster.node.accelerator
    if device is None or device.memory_bandwidth is None:
        raise ArgumentError(
            f"{cluster.name or 'the cluster'} does not state its accelerator with memory and "
            "peaks; give accelerator= to its node, for example from the catalogue"
        )
    low = cluster.lower()
    key = next((k for word, k in RATE_NAMES.items() if word in device.name.upper()), "")
    curves = MEASURED_CURVES.get(key) or curves_from_rate(low.domain_bandwidth)
    stated = matmul_share is not None and attention_share is not None
    fitted = f"e_{key}" in FITTED and key != "B200"
    machine = Machine(
        name=device.name or "accelerator",
        peak=to_si(device.peak(precision), "flop/s"),
        memory_bandwidth=to_si(device.memory_bandwidth, "byte/s"),
        memory=to_si(device.capacity, "byte"),
        matmul_share=FITTED[f"e_{key}"].value if fitted else 0.6,
        attention_share=FITTED[f"a_{key}"].value if fitted else 0.4,
        rates_from="measured"
        if stated and measured
        else "best shapes"
        if stated or fitted
        else "datasheet",
        node_ranks=int(low.domain),
        allreduce=curves[0],
        gather=curves[1],
        exchange=curves[2],
        nic_bandwidth=min(_out(cluster), low.fabric_bandwidth),
        power=0.0 if device.power is None else to_si(device.power, "W"),
    )
    if matmul_share is not None:
        machine = evolve(machine, matmul_share=matmul_share)
    if attention_share is not None:
        machine = evolve(machine, attention_share=attention_share)
    return machine


def as_machine(given: Machine | Cluster) -> Machine:
    """Return the machine itself, or that of a cluster."""
    return cluster_machine(given) if isinstance(given, Cluster) else given
