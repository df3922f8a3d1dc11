"""Schedules bring the right data; their bytes are counted message by message.

Nothing here uses a formula of the package: the schedules are the independent side against
which the closed forms are held in the neighbouring files.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from helpers import schedules_alltoall as alltoall
from helpers import schedules_doubling as doubling
from helpers import schedules_rings as rings
from helpers import schedules_trees as trees
from helpers.loggops import Deadlock, Machine, Operation, simulate
from helpers.schedules import (
    Movement,
    WrongData,
    build,
    bytes_merged,
    bytes_received,
    bytes_sent,
    checked_run,
    deliver,
    replay,
)

Maker = Callable[[int, int], Movement]

ANY_RANKS: dict[str, Maker] = {
    "allreduce ring": rings.ring_allreduce,
    "allreduce recursive doubling": doubling.recursive_doubling_allreduce,
    "allreduce halving and doubling": doubling.rabenseifner_allreduce,
    "allreduce binomial": trees.binomial_allreduce,
    "allreduce binary tree": lambda p, n: trees.binary_tree_allreduce(p, n, 5),
    "allreduce double tree": lambda p, n: trees.double_tree_allreduce(p, n, 6),
    "reduce-scatter ring": rings.ring_reduce_scatter,
    "reduce-scatter pairwise": doubling.pairwise_reduce_scatter,
    "reduce-scatter halving": doubling.recursive_halving_reduce_scatter,
    "reduce-scatter PAT": doubling.pat_reduce_scatter,
    "reduce-scatter PAT, 2 blocks a message": lambda p, n: doubling.pat_reduce_scatter(p, n, 2),
    "all-gather ring": rings.ring_allgather,
    "all-gather doubling": doubling.recursive_doubling_allgather,
    "all-gather Bruck": doubling.bruck_allgather,
    "all-gather PAT": doubling.pat_allgather,
    "all-gather PAT, 2 blocks a message": lambda p, n: doubling.pat_allgather(p, n, 2),
    "broadcast binomial": trees.binomial_broadcast,
    "broadcast scatter and ring": trees.scatter_gather_broadcast,
    "broadcast scatter and Bruck": lambda p, n: trees.scatter_gather_broadcast(p, n, "Bruck"),
    "broadcast chain": lambda p, n: trees.chain_broadcast(p, n, 7),
    "broadcast binary tree": lambda p, n: trees.binary_tree_broadcast(p, n, 5),
    "broadcast double tree": lambda p, n: trees.double_tree_broadcast(p, n, 6),
    "reduce binomial": trees.binomial_reduce,
    "reduce halving and gather": trees.scatter_gather_reduce,
    "reduce chain": lambda p, n: trees.chain_reduce(p, n, 7),
    "reduce double tree": lambda p, n: trees.double_tree_reduce(p, n, 6),
    "reduce binary tree": lambda p, n: trees.binary_tree_reduce(p, n, 5),
    "scatter binomial": trees.binomial_scatter,
    "gather binomial": trees.binomial_gather,
    "all-to-all pairwise": alltoall.pairwise_alltoall,
    "all-to-all Bruck": alltoall.bruck_alltoall,
    "all-to-all Bruck radix 3": lambda p, n: alltoall.bruck_alltoall(p, n, 3),
    "all-to-all Bruck radix 5": lambda p, n: alltoall.bruck_alltoall(p, n, 5),
    "barrier dissemination": lambda p, _: doubling.dissemination(p),
    "barrier token": lambda p, _: doubling.token_barrier(p),
}
POWERS_ONLY: dict[str, Maker] = {
    "broadcast scatter and doubling": lambda p, n: trees.scatter_gather_broadcast(p, n, "doubling"),
}
SHAPED: dict[str, Movement] = {
    f"{name} {shape} {ways} {slices}": make(shape, 5000, ways, slices)
    for name, make in (("ag", rings.torus_allgather), ("ar", rings.torus_allreduce))
    for shape in ((4,), (2, 2), (4, 3), (3, 3, 2), (2, 3, 4), (2, 5))
    for ways in (1, 2)
    for slices in {1, len(shape)}
}
SHAPED |= {
    f"hierarchy {levels}": rings.hierarchical_allreduce(levels, 5000)
    for levels in ((4, 3), (8, 9), (1, 4), (4, 1), (2, 3, 4), (4, 2, 3))
}
SHAPED["hierarchy with halving and doubling across"] = rings.hierarchical_allreduce(
    (3, 8),
    5000,
    lambda g, parts: doubling.halving_rounds(g, parts) + doubling.doubling_rounds(g, parts),
)
SHAPED |= {
    f"{rails}-rail ring {nodes}x{per_node}": rings.rail_ring_allreduce(nodes, per_node, 5000, rails)
    for nodes, per_node, rails in ((3, 4, 4), (3, 4, 1), (2, 2, 2), (5, 3, 3), (1, 4, 4))
}
SHAPED |= {
    f"rail all-to-all {nodes}x{per_node}": alltoall.rail_alltoall(nodes, per_node, 5000)
    for nodes, per_node in ((3, 4), (4, 3), (1, 4), (5, 1), (2, 2))
}

MACHINES = (
    Machine(1000, 0, 0, 1),
    Machine(2500, 1500, 1000, 6, 0, 100),
    Machine(1000, 200, 3000, 1),
    Machine(2000, 300, 400, 3, 1),
)


@pytest.mark.parametrize("name", ANY_RANKS)
def test_right_data_for_every_number_of_ranks(name: str) -> None:
    for ranks in range(1, 34):
        for size in (ranks * 64, ranks * 48 + 5):
            deliver(ANY_RANKS[name](ranks, size))


@pytest.mark.parametrize("name", POWERS_ONLY)
def test_right_data_for_powers_of_two(name: str) -> None:
    for ranks in (1, 2, 4, 8, 16, 32):
        deliver(POWERS_ONLY[name](ranks, 1003))
    with pytest.raises(ValueError, match="power of two"):
        POWERS_ONLY[name](6, 1000)


@pytest.mark.parametrize("name", SHAPED)
def test_right_data_on_shaped_machines(name: str) -> None:
    checked_run(SHAPED[name], MACHINES[1], 1)


@pytest.mark.parametrize("name", ANY_RANKS)
def test_right_data_in_simulated_order(name: str) -> None:
    for ranks in (2, 3, 6, 8, 13):
        for gamma, machine in ((0, MACHINES[1]), (1, MACHINES[2]), (2, MACHINES[0])):
            checked_run(ANY_RANKS[name](ranks, ranks * 48 + 5), machine, gamma)


def test_fewer_bytes_than_ranks_still_arrive() -> None:
    for name, maker in ANY_RANKS.items():
        movement = maker(11, 3)
        if "barrier" not in name:
            checked_run(movement, MACHINES[0])


# The all-gather also brings blocks to ranks that kept them from the scatter on their way down.
WITH_SPARE_TRANSFERS = {"broadcast scatter and ring", "broadcast scatter and Bruck"}


@pytest.mark.parametrize("name", sorted(set(ANY_RANKS) - WITH_SPARE_TRANSFERS))
def test_leaving_out_any_transfer_is_noticed(name: str) -> None:
    movement = ANY_RANKS[name](6, 600)
    picked = random.Random(7)
    for _ in range(12):
        rounds = [list(transfers) for transfers in movement.rounds]
        where = picked.choice([k for k, transfers in enumerate(rounds) if transfers])
        rounds[where].pop(picked.randrange(len(rounds[where])))
        with pytest.raises(WrongData):
            deliver(replace(movement, rounds=rounds))


@pytest.mark.parametrize("name", ["allreduce ring", "reduce binomial", "broadcast chain"])
def test_leaving_out_a_dependency_is_noticed(name: str) -> None:
    movement = ANY_RANKS[name](8, 800)
    built = build(movement)
    for operations in built.schedule:
        for index, op in enumerate(operations):
            if op.requires:
                operations[index] = op._replace(requires=())
                run = simulate(built.schedule, MACHINES[0])
                with pytest.raises(WrongData):
                    replay(movement, built, run)
                operations[index] = op
                break
        else:
            continue
        break


def test_a_receive_without_its_send_is_a_deadlock() -> None:
    with pytest.raises(Deadlock):
        simulate([[Operation(2, 1, 8, 0)], []], MACHINES[0])


def test_operations_wait_for_started_ones_when_told_so() -> None:
    calculation = Operation(3, -1, 10, -1)
    after_start = calculation._replace(irequires=(0,))
    run = simulate([[calculation, after_start]], MACHINES[0])
    assert run.makespan == 20
    # a send above the rendezvous size has started long before it is done
    waits = [Operation(1, 1, 200, 0), calculation._replace(irequires=(0,))]
    late = [Operation(3, -1, 50_000, -1), Operation(2, 0, 200, 0, (0,))]
    machine = Machine(1000, 0, 0, 1, 0, 100)
    assert simulate([waits, late], machine).host_end[0] < 50_000 + 10 + 200
    waits[1] = calculation._replace(requires=(0,))
    assert simulate([waits, late], machine).host_end[0] >= 50_000


def _bytes(movement: Movement) -> tuple[int, int, int]:
    schedule = build(movement).schedule
    return max(bytes_sent(schedule)), max(bytes_received(schedule)), max(bytes_merged(movement))


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 12, 16, 33])
def test_no_schedule_moves_less_than_the_bounds(ranks: int) -> None:
    size = ranks * 960
    share = size // ranks * (ranks - 1)
    for name, maker in ANY_RANKS.items():
        sent, received, merged = _bytes(maker(ranks, size))
        if name.startswith("allreduce"):
            assert sent >= 2 * share
            assert received >= 2 * share
            assert merged >= share
        elif name.startswith(("reduce-scatter", "reduce ")):
            assert received >= share
            assert merged >= share
        elif not name.startswith("barrier"):  # of a scatter the root sends them all
            assert max(sent, received) >= share


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 12, 16, 33])
def test_ring_and_its_kind_move_exactly_the_bound(ranks: int) -> None:
    size = ranks * 960
    share = size // ranks * (ranks - 1)
    assert _bytes(rings.ring_allreduce(ranks, size)) == (2 * share, 2 * share, share)
    for name in ("ring", "PAT", "PAT, 2 blocks a message"):
        assert _bytes(ANY_RANKS[f"all-gather {name}"](ranks, size)) == (share, share, 0)
        assert _bytes(ANY_RANKS[f"reduce-scatter {name}"](ranks, size)) == (share, share, share)
    assert _bytes(doubling.bruck_allgather(ranks, size)) == (share, share, 0)
    assert _bytes(alltoall.pairwise_alltoall(ranks, size)) == (share, share, 0)


def test_bytes_on_nics_of_nine_servers() -> None:
    """Nine servers of eight ranks: bytes that cross between servers, by rank and by server."""
    size = 72 * 72 * 8 * 10
    node = 8

    def crossing(movement: Movement) -> list[int]:
        out = [0] * movement.ranks
        for transfers in movement.rounds:
            for transfer in transfers:
                if transfer.source // node != transfer.target // node:
                    out[transfer.source] += movement.message_bytes(transfer)
        return out

    flat = crossing(rings.rail_ring_allreduce(9, node, size, 1))
    assert max(flat) / size == pytest.approx(1.97222, rel=1e-5)
    assert sum(count > 0 for count in flat[:node]) == 1
    rails = crossing(rings.rail_ring_allreduce(9, node, size, 8))
    assert set(rails) == {max(rails)}
    assert max(rails) / size == pytest.approx(0.246528, rel=1e-5)
    assert sum(rails[:node]) / size == pytest.approx(1.97222, rel=1e-5)
    two_level = crossing(rings.hierarchical_allreduce((node, 9), size))
    assert set(two_level) == {2 * 8 * (size // 8 // 9)}


def test_alltoall_between_nodes_by_rails_needs_one_message_for_each_node() -> None:
    nodes, per_node, size = 5, 4, 20 * 32
    built = build(alltoall.rail_alltoall(nodes, per_node, size)).schedule
    for rank in range(nodes * per_node):
        out = [op for op in built[rank] if op.kind == 1 and op.peer // per_node != rank // per_node]
        assert len(out) == nodes - 1
        assert sum(op.amount for op in out) == size * (nodes - 1) // nodes
        assert {op.peer % per_node for op in out} == {rank % per_node}


@pytest.mark.parametrize("ranks", range(2, 34))
def test_inner_ranks_of_one_tree_are_leaves_of_the_other(ranks: int) -> None:
    first, second = trees.two_trees(ranks)
    inner = [{parent for parent in tree if parent > 0} for tree in (first, second)]
    assert len(inner[0] & inner[1]) == 0
    for tree in (first, second):
        assert tree[0] == -1
        assert tree.count(-1) == 1
        assert tree.count(0) == 1
        assert max(tree.count(rank) for rank in range(ranks)) <= 2
        assert max(trees.depths(tree)) <= (ranks - 1).bit_length()


def test_unequal_blocks_go_where_they_belong() -> None:
    picked = random.Random(3)
    matrix = [[picked.choice((0, 7, 100, 900)) for _ in range(6)] for _ in range(6)]
    movement = alltoall.pairwise_alltoall_v(matrix)
    checked_run(movement, MACHINES[0])
    sent = bytes_sent(build(movement).schedule)
    assert sent == [sum(row) - row[rank] for rank, row in enumerate(matrix)]
