"""What a training or serving job computes, stores and puts on the wire."""

from scalemath.workloads.clusters import cluster_machine, cluster_tiers
from scalemath.workloads.config import transformer_from_config
from scalemath.workloads.costs import PretrainingCost, pretraining_cost
from scalemath.workloads.layouts import legal_layouts, smallest_layout
from scalemath.workloads.machine import Curve, Machine
from scalemath.workloads.machines import (
    machine_from_datasheet,
    reference_machine,
    with_measured_rates,
)
from scalemath.workloads.memory_budget import MemoryBudget, MemoryLine
from scalemath.workloads.memory_recipes import RECIPES, Recipe
from scalemath.workloads.memory_serving import (
    CacheRoom,
    cache_room,
    kv_cache_size,
    serving_memory,
    weight_size,
)
from scalemath.workloads.memory_training import LowRank, training_memory, training_state_size
from scalemath.workloads.pairing import Pairing, pair_reduction, paired_products
from scalemath.workloads.placing import (
    PlacementAdvice,
    Tier,
    place,
    placement_table,
    two_tiers,
)
from scalemath.workloads.plan import ParallelPlan
from scalemath.workloads.prompts import Prefill, prefill
from scalemath.workloads.search import PlanSearch, search_plans
from scalemath.workloads.serving import (
    Decode,
    Fleet,
    decode,
    decode_arguments,
    fleet,
)
from scalemath.workloads.stack import Stack
from scalemath.workloads.stacks import software_stack
from scalemath.workloads.tensors import gemm_flops, tensor_size
from scalemath.workloads.traffic import Traffic, step_traffic
from scalemath.workloads.training import TrainingStep, training_step
from scalemath.workloads.transformer import Gemm, Transformer

__all__ = [
    "RECIPES",
    "CacheRoom",
    "Curve",
    "Decode",
    "Fleet",
    "Gemm",
    "LowRank",
    "Machine",
    "MemoryBudget",
    "MemoryLine",
    "Pairing",
    "ParallelPlan",
    "PlacementAdvice",
    "PlanSearch",
    "Prefill",
    "PretrainingCost",
    "Recipe",
    "Stack",
    "Tier",
    "Traffic",
    "TrainingStep",
    "Transformer",
    "cache_room",
    "cluster_machine",
    "cluster_tiers",
    "decode",
    "decode_arguments",
    "fleet",
    "gemm_flops",
    "kv_cache_size",
    "legal_layouts",
    "machine_from_datasheet",
    "pair_reduction",
    "paired_products",
    "place",
    "placement_table",
    "prefill",
    "pretraining_cost",
    "reference_machine",
    "search_plans",
    "serving_memory",
    "smallest_layout",
    "software_stack",
    "step_traffic",
    "tensor_size",
    "training_memory",
    "training_state_size",
    "training_step",
    "transformer_from_config",
    "two_tiers",
    "weight_size",
    "with_measured_rates",
]
