"""Pipelined broadcast, reduce and allreduce along chains and trees, with the best segments.

A pipeline of `fill` extra stages that moves `work` seconds of payload in m segments takes
(fill + m) * (latency + work / m). The best m is sqrt(fill * work / latency), which gives
(sqrt(fill * latency) + sqrt(work))**2; where that m lies below the least number of segments,
the least is taken. The best m is kept continuous: rounding it to a whole number costs at most
a part of one stage. The root of each factor is taken apart, so that a sweep over one of them
takes one root a point however many trees it compares.
"""

from __future__ import annotations

import math

from scalemath.core.kernel import kernel
from scalemath.kernels.primitives import ceil_log2
from scalemath.kernels.terms import CollectiveTerms

SANDERS = (
    "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and "
    "scan, Parallel Computing 35(12) 2009, 581-594"
)
PIPELINE = "minimum over the number of segments of (fill + segments) * (latency + work / segments)"


@kernel(
    unit="s",
    rises="fill size latency least_segments",
    falls="bandwidth",
    source=PIPELINE,
    formula=(
        "(sqrt(fill * latency) + sqrt(size / bandwidth))**2, or"
        " (fill + least_segments) * (latency + size / (least_segments * bandwidth)) where the"
        " best number of segments would lie below the least"
    ),
)
def pipeline(
    fill: float, size: float, bandwidth: float, latency: float, least_segments: float
) -> CollectiveTerms:
    """Pipeline of a copied message with the best number of segments."""
    work = size / bandwidth
    if fill * work > least_segments * least_segments * latency:
        wait = math.sqrt(fill) * math.sqrt(latency) * math.sqrt(work)
        longer = wait
    else:
        wait = least_segments * latency
        longer = fill * work / least_segments
    return CollectiveTerms(fill * latency + wait, work + longer, 0.0)


@kernel(
    unit="1",
    rises="fill size least_segments",
    falls="bandwidth latency",
    source=PIPELINE,
    formula="max(least_segments, sqrt(fill * size / (bandwidth * latency)))",
)
def best_segments(
    fill: float, size: float, bandwidth: float, latency: float, least_segments: float
) -> float:
    """Number of segments, continuous, that makes a pipeline of copies shortest."""
    work = fill * size / bandwidth
    if work > least_segments * least_segments * latency:
        if latency <= 0.0:
            return math.inf
        return math.sqrt(work / latency)
    return least_segments


@kernel(
    unit="s",
    rises="fill size latency least_segments",
    falls="bandwidth reduction_rate",
    source=PIPELINE,
    formula=(
        "(sqrt(fill * latency) + sqrt(size / bandwidth + size / reduction_rate))**2, or with the"
        " least number of segments where the best one lies below it"
    ),
)
def pipeline_reduced(
    fill: float,
    size: float,
    bandwidth: float,
    latency: float,
    reduction_rate: float,
    least_segments: float,
) -> CollectiveTerms:
    """Pipeline whose every stage also reduces the segment it has received."""
    wire = size / bandwidth
    arithmetic = size / reduction_rate
    work = wire + arithmetic
    if fill * work > least_segments * least_segments * latency:
        start = math.sqrt(fill) * math.sqrt(latency)
        wait = start * math.sqrt(work)
        stretch = start * (1.0 / math.sqrt(work))
    else:
        wait = least_segments * latency
        stretch = fill / least_segments
    return CollectiveTerms(
        fill * latency + wait, wire + wire * stretch, arithmetic + arithmetic * stretch
    )


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=PIPELINE + "; a chain of ranks - 1 hops",
    formula="(sqrt((ranks - 2) * latency) + sqrt(size / bandwidth))**2 with the best segments",
)
def broadcast_chain(size: float, ranks: float, bandwidth: float, latency: float) -> CollectiveTerms:
    """Broadcast along a chain in the best number of segments."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return pipeline(ranks - 2.0, size, bandwidth, latency, 1.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=PIPELINE + "; the broadcast run backwards, reducing at every hop",
    formula=(
        "(sqrt((ranks - 2) * latency) + sqrt(size / bandwidth + size / reduction_rate))**2"
        " with the best segments"
    ),
)
def reduce_chain(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduction along a chain in the best number of segments."""
    if ranks < 2.0:
        return CollectiveTerms(0.0, 0.0, 0.0)
    return pipeline_reduced(ranks - 2.0, size, bandwidth, latency, reduction_rate, 1.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=PIPELINE + "; one-port ranks serve their two children in turn",
    formula=(
        "2 * (sqrt((h - 1) * latency) + sqrt(size / bandwidth))**2 with the best segments and"
        " height h = ceil(log2(ranks + 1)) - 1"
    ),
)
def broadcast_binary_tree(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """Broadcast down a binary tree in the best number of segments."""
    if ranks < 3.0:
        return broadcast_chain(size, ranks, bandwidth, latency)
    once = pipeline(ceil_log2(ranks + 1.0) - 2.0, size, bandwidth, latency, 1.0)
    return CollectiveTerms(2.0 * once.latency, 2.0 * once.bandwidth, 0.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=PIPELINE + "; one-port ranks hear their two children in turn",
    formula=(
        "2 * (sqrt((h - 1) * latency) + sqrt(size / bandwidth + size / reduction_rate))**2 with"
        " the best segments and height h = ceil(log2(ranks + 1)) - 1"
    ),
)
def reduce_binary_tree(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduction up a binary tree in the best number of segments."""
    if ranks < 3.0:
        return reduce_chain(size, ranks, bandwidth, latency, reduction_rate)
    fill = ceil_log2(ranks + 1.0) - 2.0
    once = pipeline_reduced(fill, size, bandwidth, latency, reduction_rate, 1.0)
    return CollectiveTerms(2.0 * once.latency, 2.0 * once.bandwidth, 2.0 * once.reduction)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth",
    source=SANDERS,
    formula=(
        "(sqrt(2 * ceil(log2(ranks)) * latency) + sqrt(size / bandwidth))**2 with the best"
        " segments, at least two"
    ),
)
def broadcast_double_tree(
    size: float, ranks: float, bandwidth: float, latency: float
) -> CollectiveTerms:
    """Broadcast down two trees at once, each carrying half; inner here is leaf there."""
    if ranks < 3.0:
        return broadcast_chain(size, ranks, bandwidth, latency)
    return pipeline(2.0 * ceil_log2(ranks), size, bandwidth, latency, 2.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=SANDERS,
    formula=(
        "(sqrt(2 * ceil(log2(ranks)) * latency) + sqrt(size / bandwidth"
        " + size / reduction_rate))**2 with the best segments, at least two"
    ),
)
def reduce_double_tree(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Reduction up two trees at once, each carrying half."""
    if ranks < 3.0:
        return reduce_chain(size, ranks, bandwidth, latency, reduction_rate)
    fill = 2.0 * ceil_log2(ranks)
    return pipeline_reduced(fill, size, bandwidth, latency, reduction_rate, 2.0)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=PIPELINE + "; a reduction along the chain and a broadcast back",
    formula="reduction along a chain + broadcast along it, each with its best segments",
)
def allreduce_chain(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Allreduce to the end of a chain and back."""
    up = reduce_chain(size, ranks, bandwidth, latency, reduction_rate)
    down = broadcast_chain(size, ranks, bandwidth, latency)
    return CollectiveTerms(up.latency + down.latency, up.bandwidth + down.bandwidth, up.reduction)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=PIPELINE + "; a reduction up the tree and a broadcast down",
    formula="reduction up a binary tree + broadcast down it, each with its best segments",
)
def allreduce_binary_tree(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Allreduce up and down one binary tree."""
    up = reduce_binary_tree(size, ranks, bandwidth, latency, reduction_rate)
    down = broadcast_binary_tree(size, ranks, bandwidth, latency)
    return CollectiveTerms(up.latency + down.latency, up.bandwidth + down.bandwidth, up.reduction)


@kernel(
    unit="s",
    rises="size ranks latency",
    falls="bandwidth reduction_rate",
    source=SANDERS + "; a reduction up both trees and a broadcast down, each with its best "
    "segments",
    formula=(
        "(sqrt(h * latency) + sqrt(size / bandwidth + size / reduction_rate))**2"
        " + (sqrt(h * latency) + sqrt(size / bandwidth))**2, h = 2 * ceil(log2(ranks))"
    ),
)
def allreduce_double_tree(
    size: float, ranks: float, bandwidth: float, latency: float, reduction_rate: float
) -> CollectiveTerms:
    """Allreduce up and down two binary trees; 2 * size / bandwidth without latency."""
    up = reduce_double_tree(size, ranks, bandwidth, latency, reduction_rate)
    down = broadcast_double_tree(size, ranks, bandwidth, latency)
    return CollectiveTerms(up.latency + down.latency, up.bandwidth + down.bandwidth, up.reduction)
