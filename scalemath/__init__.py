"""The mathematics of AI clusters, with units that cannot lie.

``import scalemath as sm`` loads next to nothing; every public name is fetched from its room
when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ROOMS = {
    "core.errors": (
        "ArgumentError ContradictionError ConventionError RangeError ReadError ScalemathError "
        "SpellingError UnitsError"
    ),
    "core.datum": "Datum",
    "core.value_range": "Range",
    "units": "Q_ Quantity Unit ureg",
    "hardware.accelerator": "Accelerator",
    "hardware.link": "Link",
    "hardware.node": "Node Rack",
    "hardware.port": "Port",
    "hardware.comparison": "compare",
    "hardware.cable": "Cable medium_for",
    "hardware.fec": "ErrorRate ReedSolomon",
    "hardware.nic": "Nic",
    "hardware.optics": "Serdes Transceiver power_ratio",
    "hardware.switch": "Switch",
    "topology.bill": "check_bill_of_materials",
    "topology.cluster": "Cluster",
    "topology.design": "fat_tree_capacity fat_tree_design",
    "topology.dragonfly": "Dragonfly",
    "topology.fat_tree": "FatTree",
    "topology.full_mesh": "FullMesh",
    "topology.hyperx": "HyperX",
    "topology.latency": "latency_caution",
    "topology.placement": "Placement",
    "topology.slim_fly": "SlimFly",
    "topology.switched_domain": "SwitchedDomain",
    "topology.systems": "dgx_superpod hgx_domain nvl72 nvl72_domain",
    "topology.torus": "Torus",
    "collectives": (
        "LogGP all_gather all_to_all all_to_all_v allreduce balance_ranks balance_size barrier "
        "broadcast crossover from_bus_bandwidth gather message_time reduce reduce_scatter scatter "
        "send_receive"
    ),
    "collectives.envelope": "fit_envelope",
    "collectives.protocol_lines": "protocol_time",
    "collectives.envelope_defaults": "compact_form envelope_systems measured_envelope",
    "scaling": (
        "amdahl communication_share efficiency_elsewhere fit_universal_scaling "
        "gain_from_faster_network gustafson isoefficiency karp_flatt required_bandwidth "
        "scaling_limits share_from_slowdown strong_scaling universal_scaling weak_scaling"
    ),
    "claims": "Claim check_claim derate least_of ledger",
    "decisions": (
        "Workload decide fit fit_table largest_model network_penalty nodes_needed operational_tax "
        "ownership_cost replicas_or_wider run_cost split_or_whole token_price "
        "weights_share which_cards"
    ),
    "readers.detect": "read",
    "diagnosis": "calibrate diagnose expected_bus_bandwidth",
    "workloads": (
        "Machine ParallelPlan Stack cluster_machine cluster_tiers decode decode_arguments fleet "
        "legal_layouts machine_from_datasheet pair_reduction paired_products place "
        "placement_table prefill "
        "pretraining_cost reference_machine search_plans smallest_layout software_stack "
        "step_traffic training_step transformer_from_config two_tiers with_measured_rates "
        "LowRank Transformer cache_room gemm_flops kv_cache_size serving_memory tensor_size "
        "training_memory training_state_size weight_size"
    ),
    "sweeps": "geomspace linspace model sweep",
}
_MODULES = {"catalog": "catalog", "nccl": "collectives.nccl", "sweeps": "sweeps", "units": "units"}

_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted([*_HOME, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    room = _HOME.get(name)
    if room is not None:
        value = getattr(import_module(f"scalemath.{room}"), name)
    elif name in _MODULES:
        value = import_module(f"scalemath.{_MODULES[name]}")
    else:
        raise AttributeError(f"module 'scalemath' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
