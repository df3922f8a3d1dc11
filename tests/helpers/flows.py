"""What a fabric's explicit graph carries: flows routed by hand, and the best there is (LP)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import networkx as nx
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

Demands = list[tuple[str, str, float]]


def rotation(order: list[str], shift: int) -> Demands:
    """Everyone sends to the endpoint `shift` places on."""
    n = len(order)
    return [(order[i], order[(i + shift) % n], 1.0) for i in range(n)]


def uniform(order: list[str]) -> Demands:
    """Everyone sends one unit, spread over all others."""
    n = len(order)
    return [(a, b, 1.0 / (n - 1)) for a in order for b in order if a != b]


def groups_uniform(groups: Iterable[list[str]]) -> Demands:
    return [flow for group in groups for flow in uniform(group)]


def routed_rate(graph: nx.Graph, demands: Demands) -> float:
    """Rate at which all demands fit when flows split over shortest paths by link rate."""
    load: dict[tuple[str, str], float] = defaultdict(float)
    by_target: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for source, target, amount in demands:
        if source != target:
            by_target[target].append((source, amount))
    for target, sources in by_target.items():
        away = nx.single_source_shortest_path_length(graph, target)
        waiting: dict[str, float] = defaultdict(float)
        for source, amount in sources:
            waiting[source] += amount
        for node in sorted(away, key=lambda n: -away[n]):
            flow = waiting.get(node, 0.0)
            if not flow or node == target:
                continue
            onward = {m: graph[node][m]["rate"] for m in graph[node] if away[m] == away[node] - 1}
            whole = sum(onward.values())
            for neighbour, rate in onward.items():
                load[node, neighbour] += flow * rate / whole
                waiting[neighbour] += flow * rate / whole
    return min(
        (graph[a][b]["rate"] / amount for (a, b), amount in load.items() if amount > 0),
        default=float("inf"),
    )


def best_rate(graph: nx.Graph, demands: Demands) -> float:
    """Largest rate at which all demands fit with any splitting at all (linear program)."""
    nodes = {node: i for i, node in enumerate(graph)}
    arcs = [(a, b, d["rate"]) for x, y, d in graph.edges(data=True) for a, b in ((x, y), (y, x))]
    sources = sorted({s for s, t, _ in demands if s != t})
    rows, columns, values = [], [], []
    size = len(sources) * len(arcs) + 1
    for k, _ in enumerate(sources):
        for j, (a, b, _) in enumerate(arcs):
            for node, sign in ((a, 1.0), (b, -1.0)):
                rows.append(k * len(nodes) + nodes[node])
                columns.append(k * len(arcs) + j)
                values.append(sign)
    place = {s: k for k, s in enumerate(sources)}
    for source, target, amount in demands:
        if source == target:
            continue
        for node, sign in ((source, -amount), (target, amount)):
            rows.append(place[source] * len(nodes) + nodes[node])
            columns.append(size - 1)
            values.append(sign)
    equal = coo_matrix((values, (rows, columns)), shape=(len(sources) * len(nodes), size))
    capacity = coo_matrix(
        (
            np.ones(len(sources) * len(arcs)),
            (
                np.tile(np.arange(len(arcs)), len(sources)),
                np.arange(len(sources) * len(arcs)),
            ),
        ),
        shape=(len(arcs), size),
    )
    goal = np.zeros(size)
    goal[-1] = -1.0
    answer = linprog(
        goal,
        A_ub=capacity.tocsr(),
        b_ub=[rate for _, _, rate in arcs],
        A_eq=equal.tocsr(),
        b_eq=np.zeros(equal.shape[0]),
        method="highs",
    )
    assert answer.status == 0, answer.message
    return float(-answer.fun)


def cut_rate(graph: nx.Graph, inside: set[str], endpoints: Iterable[str]) -> float:
    """Least capacity that separates some endpoints from the others (max-flow min-cut)."""
    network = nx.DiGraph()
    for a, b, data in graph.edges(data=True):
        network.add_edge(a, b, capacity=data["rate"])
        network.add_edge(b, a, capacity=data["rate"])
    for endpoint in endpoints:
        if endpoint in inside:
            network.add_edge("from", endpoint)
        else:
            network.add_edge(endpoint, "to")
    return float(nx.maximum_flow_value(network, "from", "to"))


def in_leaf_order(endpoints: int, leaf_of: Callable[[int], int]) -> list[str]:
    """Names of the endpoints in the order of the leaves."""
    return [f"e{i}" for i in sorted(range(endpoints), key=lambda i: (leaf_of(i), i))]
