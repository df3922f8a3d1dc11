"""NCCL's own cost model: which algorithm and protocol it would choose, and why.

It is a selector, not a predictor: the numbers rank alternatives inside NCCL. For predictions use
an envelope fitted to measurements.
"""

from scalemath.collectives.nccl.constants import Version, version, versions
from scalemath.collectives.nccl.estimator import estimate, select
from scalemath.collectives.nccl.formula import RowTime, row_time
from scalemath.collectives.nccl.graphs import Communicator, Graph
from scalemath.collectives.nccl.log import graphs_from_log
from scalemath.collectives.nccl.result import Estimate, Row
from scalemath.collectives.nccl.symmetric import SymmetricEstimate, symmetric_estimate
from scalemath.collectives.nccl.usual_machines import communicator, systems

__all__ = [
    "Communicator",
    "Estimate",
    "Graph",
    "Row",
    "RowTime",
    "SymmetricEstimate",
    "Version",
    "communicator",
    "estimate",
    "graphs_from_log",
    "row_time",
    "select",
    "symmetric_estimate",
    "systems",
    "version",
    "versions",
]
