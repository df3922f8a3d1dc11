"""What is known of each operation whatever the algorithm: factor, bounds, size convention."""

from __future__ import annotations

from attrs import frozen

from scalemath.collectives.algorithms import TABLE, Algorithm
from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import Kernel, KernelFunction, kernel_of
from scalemath.kernels import bounds as bo
from scalemath.kernels import busbandwidth as bus

LOWER_BOUND = "lower bound"


@frozen(eq=False)
class Operation:
    """One collective operation.

    Attributes
    ----------
    name : str
        Public name.
    factor : Kernel
        Bus over algorithm bandwidth by the number of ranks.
    bound, in_network_bound : Algorithm
        What no algorithm can beat, between endpoints and with the help of switches.
    size_is : str
        What `size` counts.
    reduces : bool
        Whether ranks do arithmetic.
    default : str
        Algorithm taken when none is named.
    """

    name: str
    factor: Kernel
    bound: Algorithm
    in_network_bound: Algorithm
    size_is: str
    reduces: bool
    default: str


def _operation(
    name: str,
    factor: KernelFunction,
    bound: KernelFunction,
    in_network: KernelFunction,
    size_is: str,
    reduces: bool = False,
) -> Operation:
    default = "ring" if "ring" in TABLE[name] and name != "barrier" else next(iter(TABLE[name]))
    return Operation(
        name=name,
        factor=kernel_of(factor),
        bound=Algorithm(name, LOWER_BOUND, kernel_of(bound)),
        in_network_bound=Algorithm(name, LOWER_BOUND, kernel_of(in_network)),
        size_is=size_is,
        reduces=reduces,
        default=default,
    )


_VECTOR = "the vector"
_TOTAL = "the total over ranks"
_BOTH = bus.reduced_everywhere_factor
_OWN = bus.own_block_stays_factor
_ONE = bus.whole_vector_factor
_EXCHANGE = (bo.exchange_bound, bo.in_network_exchange_bound)
_WHOLE = bo.in_network_bound

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        _operation("allreduce", _BOTH, bo.allreduce_bound, _WHOLE, _VECTOR, True),
        _operation(
            "reduce_scatter",
            _OWN,
            bo.reduce_scatter_bound,
            bo.in_network_exchange_bound,
            _TOTAL,
            True,
        ),
        _operation("all_gather", _OWN, *_EXCHANGE, _TOTAL),
        _operation("broadcast", _ONE, bo.broadcast_bound, _WHOLE, _VECTOR),
        _operation("reduce", _ONE, bo.reduce_bound, _WHOLE, _VECTOR, True),
        _operation("scatter", _OWN, *_EXCHANGE, _TOTAL),
        _operation("gather", _OWN, *_EXCHANGE, _TOTAL),
        _operation("all_to_all", _OWN, *_EXCHANGE, "one rank's send buffer, own block included"),
        _operation(
            "all_to_all_v",
            _OWN,
            bo.uneven_exchange_bound,
            bo.uneven_exchange_bound,
            "the largest buffer of any rank, own block included",
        ),
        _operation("send_receive", _ONE, bo.message_bound, bo.message_bound, "the message"),
        _operation("barrier", _ONE, bo.barrier_bound, bo.in_network_barrier_bound, "nothing"),
    )
}


def operation_named(name: str) -> Operation:
    """Look up an operation by its public name, with hyphens or underscores."""
    plain = str(name).lower().replace("-", "_").replace(" ", "_")
    plain = {"all_reduce": "allreduce", "allgather": "all_gather", "alltoall": "all_to_all"}.get(
        plain, plain
    )
    found = OPERATIONS.get(plain)
    if found is None:
        raise ArgumentError(f"operation is {name!r}, wanted one of {', '.join(OPERATIONS)}")
    return found
