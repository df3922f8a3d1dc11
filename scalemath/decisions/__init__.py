"""Does it fit, and what should be bought: one node, replicas, or a cluster."""

from scalemath.decisions.burden import OperationalTax, operational_tax
from scalemath.decisions.cards import fit_table, which_cards
from scalemath.decisions.comparing import network_penalty, split_or_whole
from scalemath.decisions.deciding import Decision, decide
from scalemath.decisions.fitting import Fit, fit
from scalemath.decisions.sizing import largest_model, nodes_needed, weights_share
from scalemath.decisions.spending import Cost, ownership_cost, run_cost, token_price
from scalemath.decisions.spreading import LayoutComparison, replicas_or_wider
from scalemath.decisions.workload import Workload

__all__ = [
    "Cost",
    "Decision",
    "Fit",
    "LayoutComparison",
    "OperationalTax",
    "Workload",
    "decide",
    "fit",
    "fit_table",
    "largest_model",
    "network_penalty",
    "nodes_needed",
    "operational_tax",
    "ownership_cost",
    "replicas_or_wider",
    "run_cost",
    "split_or_whole",
    "token_price",
    "weights_share",
    "which_cards",
]
