"""Which kernel claims the time of which schedule: name -> (kernel, movement, reduces).

Kernels take size, ranks, bandwidth, latency, and a reduction rate where they reduce.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from helpers.schedules import Movement
from helpers.schedules_alltoall import bruck_alltoall, pairwise_alltoall
from helpers.schedules_doubling import (
    bruck_allgather,
    pairwise_reduce_scatter,
    pat_allgather,
    pat_reduce_scatter,
    power_below,
    rabenseifner_allreduce,
    recursive_doubling_allgather,
    recursive_doubling_allreduce,
    recursive_halving_reduce_scatter,
)
from helpers.schedules_recorded import linear_gather, linear_scatter
from helpers.schedules_rings import ring_allgather, ring_allreduce, ring_reduce_scatter
from helpers.schedules_trees import (
    binomial_allreduce,
    binomial_broadcast,
    binomial_gather,
    binomial_reduce,
    binomial_scatter,
    scatter_gather_broadcast,
    scatter_gather_reduce,
)

from scalemath.kernels import allreduce, alltoall, broadcast, gather


class Claim(NamedTuple):
    """A closed form and the schedule whose time it states."""

    kernel: Callable[..., Any]
    movement: Callable[[int, int], Movement]
    reduces: bool = False
    extra: tuple[float, ...] = ()

    def terms(self, size: int, ranks: int, latency: int, time_per_byte: int, reduction: int) -> Any:
        """Terms of the closed form in the units of the steppers."""
        arguments = [float(size), float(ranks), 1.0 / time_per_byte, float(latency)]
        if self.reduces:
            arguments.append(1.0 / reduction if reduction else math.inf)
        return self.kernel(*arguments, *self.extra)


def radix_bruck(radix: int) -> Claim:
    """Claim of Bruck's all-to-all with a given radix."""
    return Claim(
        alltoall.all_to_all_bruck,
        lambda ranks, size: bruck_alltoall(ranks, size, radix),
        extra=(float(radix),),
    )


CLAIMS: dict[str, Claim] = {
    "allreduce ring": Claim(allreduce.allreduce_ring, ring_allreduce, True),
    "allreduce recursive doubling": Claim(
        allreduce.allreduce_recursive_doubling, recursive_doubling_allreduce, True
    ),
    "allreduce rabenseifner": Claim(allreduce.allreduce_rabenseifner, rabenseifner_allreduce, True),
    "allreduce binomial": Claim(allreduce.allreduce_binomial, binomial_allreduce, True),
    "reduce-scatter ring": Claim(gather.reduce_scatter_ring, ring_reduce_scatter, True),
    "reduce-scatter pairwise": Claim(gather.reduce_scatter_pairwise, pairwise_reduce_scatter, True),
    "reduce-scatter halving": Claim(
        gather.reduce_scatter_halving, recursive_halving_reduce_scatter, True
    ),
    "reduce-scatter PAT": Claim(gather.reduce_scatter_pat, pat_reduce_scatter, True),
    "all-gather ring": Claim(gather.all_gather_ring, ring_allgather),
    "all-gather doubling": Claim(gather.all_gather_doubling, recursive_doubling_allgather),
    "all-gather Bruck": Claim(gather.all_gather_bruck, bruck_allgather),
    "all-gather PAT": Claim(gather.all_gather_pat, pat_allgather),
    "broadcast binomial": Claim(broadcast.broadcast_binomial, binomial_broadcast),
    "broadcast scatter ring": Claim(broadcast.broadcast_scatter_ring, scatter_gather_broadcast),
    "broadcast scatter doubling": Claim(
        broadcast.broadcast_scatter_doubling,
        lambda ranks, size: scatter_gather_broadcast(ranks, size, "Bruck"),
    ),
    "reduce binomial": Claim(broadcast.reduce_binomial, binomial_reduce, True),
    "reduce rabenseifner": Claim(broadcast.reduce_rabenseifner, scatter_gather_reduce, True),
    "scatter binomial": Claim(gather.scatter_binomial, binomial_scatter),
    "scatter direct": Claim(
        gather.scatter_direct, lambda ranks, size: linear_scatter(ranks, size // ranks)
    ),
    "gather binomial": Claim(gather.gather_binomial, binomial_gather),
    "gather direct": Claim(
        gather.gather_direct, lambda ranks, size: linear_gather(ranks, size // ranks)
    ),
    "all-to-all pairwise": Claim(alltoall.all_to_all_pairwise, pairwise_alltoall),
    "all-to-all Bruck": Claim(alltoall.all_to_all_bruck_binary, bruck_alltoall),
    "all-to-all Bruck radix 3": radix_bruck(3),
    "all-to-all Bruck radix 4": radix_bruck(4),
    "all-to-all Bruck radix 7": radix_bruck(7),
}


def even_size(ranks: int, unit: int) -> int:
    """A size that every algorithm can cut into equal blocks."""
    return ranks * power_below(ranks) * unit
