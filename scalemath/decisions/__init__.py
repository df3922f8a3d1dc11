"""Does it fit, and what should be bought: one node, replicas, or a cluster."""

from scalemath.decisions.deciding import Decision, decide
from scalemath.decisions.fitting import Fit, fit, largest_model, nodes_needed
from scalemath.decisions.workload import Workload

__all__ = ["Decision", "Fit", "Workload", "decide", "fit", "largest_model", "nodes_needed"]
