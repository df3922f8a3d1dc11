"""Reductions equal the brute force on the stored grid, however the grid is cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.sweep_models import TOY
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from scalemath import sweeps
from scalemath.core.errors import ArgumentError, RangeError, ScalemathError
from scalemath.sweeps import scanning, sweep
from scalemath.units import Q_

AXES = {
    "size": Q_(np.geomspace(1e3, 1e9, 9), "B"),
    "ranks": [1, 2, 3, 4, 8, 9, 64],
    "bandwidth": Q_(np.geomspace(1.0, 100.0, 23), "GB/s/dir"),
    "latency": Q_(np.linspace(0.0, 10.0, 6), "us"),
    "algorithm": ["direct", "ring", "tree"],
}
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.usefixtures("uncompiled"),
]
FEW = settings(max_examples=20, deadline=None, phases=(Phase.generate,))


def stored(**more):
    return sweep(TOY, threads=1, **{**AXES, **more})


@st.composite
def some_axes(draw):
    """Axes in a drawn order, with drawn lengths."""
    order = draw(st.permutations(list(AXES)))
    return {n: AXES[n][: draw(st.integers(1, min(6, len(AXES[n]))))] for n in order}


@FEW
@given(
    axes=some_axes(),
    over=st.sets(st.sampled_from(list(AXES)), min_size=0),
    largest=st.booleans(),
    threads=st.integers(1, 3),
    constrained=st.booleans(),
)
def test_extremes(axes, over, largest, threads, constrained):
    where = "ranks * size <= '10 GB'" if constrained else None
    full = sweep(TOY, threads=1, where=where, **axes)
    reduction = (sweeps.maximum if largest else sweeps.minimum)(over=sorted(over))
    found = sweep(TOY, threads=threads, where=where, reduce=reduction, **axes)
    names = [n for n in axes if n in over] or list(axes)
    kept = [n for n in axes if n not in names]
    moved = full.values.transpose([list(axes).index(n) for n in [*kept, *names]])
    flat = moved.reshape(*moved.shape[: len(kept)], -1) * (-1 if largest else 1)
    filled = np.where(np.isnan(flat), np.inf, flat)
    place = filled.argmin(axis=-1)
    least = np.take_along_axis(filled, np.asarray(place)[..., None], -1)[..., 0]
    wanted = least * (-1 if largest else 1)
    possible = np.isfinite(least) | (least == -np.inf)
    got = found.values
    assert np.allclose(got[possible], wanted[possible], rtol=1e-14, atol=0)
    lengths = [len(axes[n]) for n in names]
    for i, name in enumerate(names):
        index = np.unravel_index(place, lengths)[i]
        values = full.coordinates[name].values[index]
        seen = found[name] if name == "algorithm" else found.outputs[name]
        assert np.array_equal(np.asarray(seen)[possible], np.asarray(values)[possible]), name


@FEW
@given(axes=some_axes(), count=st.integers(1, 40), largest=st.booleans(), threads=st.integers(1, 3))
def test_ranking(axes, count, largest, threads):
    full = sweep(TOY, threads=1, **axes)
    found = sweep(TOY, threads=threads, reduce=sweeps.top(count, largest=largest), **axes)
    flat = full.values.ravel() * (-1 if largest else 1)
    order = np.lexsort((np.arange(flat.size), flat))
    order = order[np.isfinite(flat[order])][:count]
    assert np.allclose(found.values, full.values.ravel()[order], rtol=1e-14, atol=0)
    # places agree wherever neighbours are not equal to rounding
    values = flat[order]
    apart = np.r_[True, np.diff(values) > 1e-13 * np.abs(values[1:])]
    clear = apart & np.r_[apart[1:], False]
    for name in axes:
        index = np.unravel_index(order, full.shape)[list(axes).index(name)]
        wanted = full.coordinates[name].values[index]
        assert np.array_equal(found.coordinates[name].values[clear], wanted[clear])


def test_ties_go_to_the_first_point():
    found = sweep(
        TOY, ranks=1, reduce=sweeps.top(7), **{n: v for n, v in AXES.items() if n != "ranks"}
    )
    full = sweep(TOY, ranks=1, threads=1, **{n: v for n, v in AXES.items() if n != "ranks"})
    order = np.argsort(full.values.ravel(), kind="stable")[:7]
    assert (full.values.ravel()[order] == 0.0).all()
    for i, name in enumerate(full.axes):
        wanted = full.coordinates[name].values[np.unravel_index(order, full.shape)[i]]
        assert np.array_equal(found.coordinates[name].values, wanted)


def brute_front(columns):
    """Points that no other beats; of equal points the first."""
    points = np.stack(columns, axis=1)
    kept = []
    for i, p in enumerate(points):
        if not np.isfinite(p).all():
            continue
        worse = (points <= p).all(axis=1) & (points < p).any(axis=1)
        twin = (points[:i] == p).all(axis=1)
        if not worse.any() and not twin.any():
            kept.append(i)
    return kept


@FEW
@given(
    axes=some_axes(),
    objectives=st.sampled_from(
        [
            (("time", "size"), "size"),
            (("time", "bandwidth"), ""),
            (("time", "bandwidth", "size"), "size"),
            (("efficiency", "bandwidth"), "efficiency"),
            (("time", "ranks", "bandwidth", "latency"), "ranks"),
        ]
    ),
    threads=st.integers(1, 3),
)
def test_pareto_front(axes, objectives, threads):
    axes = {n: v[:4] for n, v in axes.items()}
    names, large = objectives
    small = [n for n in names if n != large]
    reduction = sweeps.pareto(*small, maximize=large or ())
    found = sweep(TOY, reduce=reduction, threads=threads, **axes)
    order = [*small, *([large] if large else [])]
    full = sweep(TOY, outputs=order, threads=1, **axes)
    signs = [-1.0 if n == large else 1.0 for n in order]
    columns = [full.outputs[n].ravel() * s for n, s in zip(order, signs, strict=True)]
    wanted = brute_front(columns)
    seen = {tuple(round(math.log(abs(v) + 1e-300), 9) for v in row)
            for row in zip(*(found.outputs[n] for n in order), strict=True)}  # fmt: skip
    expected = {tuple(round(math.log(abs(full.outputs[n].ravel()[i]) + 1e-300), 9) for n in order)
                for i in wanted}  # fmt: skip
    assert seen == expected


def test_large_fronts_grow_their_room(monkeypatch):
    monkeypatch.setattr(scanning, "ROOM", 16)
    ranks = list(range(1, 301))
    found = sweep(
        TOY, ranks=ranks, size="1 MB", bandwidth="1 GB/s/dir", latency="1 us",
        reduce=sweeps.pareto("time", maximize="ranks"),
    )  # fmt: skip
    assert found.size == 300
    three = sweep(
        TOY, ranks=ranks, size=["1 MB", "2 MB"], bandwidth="1 GB/s/dir", latency="1 us",
        reduce=sweeps.pareto("time", maximize=("ranks", "size")),
    )  # fmt: skip
    assert three.size == 600


@FEW
@given(
    axes=some_axes(),
    along=st.sampled_from(["size", "ranks", "bandwidth", "latency", "algorithm"]),
    is_last=st.booleans(),
    above=st.booleans(),
    threads=st.integers(1, 3),
)
def test_crossings(axes, along, is_last, above, threads):
    limit = 1.0000001e-3
    reduction = (sweeps.last if is_last else sweeps.first)(
        "time", along=along, **{"above" if above else "below": Q_(limit, "s")}
    )
    found = sweep(TOY, reduce=reduction, threads=threads, **axes)
    full = sweep(TOY, threads=1, **axes)
    number = list(axes).index(along)
    hit = full.values > limit if above else full.values < limit
    moved = np.moveaxis(hit, number, -1)
    n = moved.shape[-1]
    place = n - 1 - moved[..., ::-1].argmax(axis=-1) if is_last else moved.argmax(axis=-1)
    some = moved.any(axis=-1)
    values = full.coordinates[along].values[place]
    if along == "algorithm":
        assert np.array_equal(np.asarray(found[along]), np.where(some, values, ""))
    else:
        wanted = np.where(some, values, np.nan)
        assert np.array_equal(found.values, wanted, equal_nan=True)


@FEW
@given(axes=some_axes(), over=st.sets(st.sampled_from(list(AXES))), threads=st.integers(1, 3))
def test_mean_and_count(axes, over, threads):
    where = "time < '1 s'"
    full = sweep(TOY, threads=1, where=where, **axes)
    numbers = tuple(i for i, n in enumerate(axes) if n in over) or tuple(range(len(axes)))
    mean = sweep(TOY, reduce=sweeps.mean(over=sorted(over)), threads=threads, where=where, **axes)
    valid = ~np.isnan(full.values)
    with np.errstate(invalid="ignore"):
        wanted = np.nansum(full.values, axis=numbers) / valid.sum(axis=numbers)
    assert np.allclose(mean.values, wanted, rtol=1e-12, atol=0, equal_nan=True)
    count = sweep(
        TOY,
        reduce=sweeps.count("time", below="1.0001 ms", over=sorted(over)),
        threads=threads,
        **axes,
    )
    every = sweep(TOY, threads=1, **axes)
    assert np.array_equal(count.values, (every.values < 1.0001e-3).sum(axis=numbers))


def test_sums_do_not_depend_on_threads():
    answers = {
        sweep(TOY, reduce="mean", where="time < '1 s'", threads=k, **AXES).values.item()
        for k in (1, 2, 3)
    }
    assert len(answers) == 1


@pytest.mark.parametrize("log", [False, True])
def test_histogram(log):
    full = stored(where="ranks > 1 and size > '2 kB'")
    values = full.values[np.isfinite(full.values)]
    found = sweep(
        TOY, where="ranks > 1 and size > '2 kB'",
        reduce=sweeps.histogram(bins=17, log=log), **AXES,
    )  # fmt: skip
    edges = np.r_[found.coordinates["time_low"].values, found.coordinates["time_high"].values[-1]]
    wanted, _ = np.histogram(values, edges)
    assert np.array_equal(found.values, wanted)
    assert found.values.sum() == values.size
    part = sweep(
        TOY, where="latency > '1 us'",
        reduce=sweeps.histogram(bins=5, log=log, low="10 us", high="1 ms"), **AXES,
    )  # fmt: skip
    full = stored(where="latency > '1 us'")
    assert part.fixed["points below"][0] == (full.values < 1e-5).sum()
    assert part.fixed["points above"][0] == (full.values > 1e-3).sum()
    assert part.fixed["points excluded"][0] == np.isnan(full.values).sum()


def test_quantiles_are_exact():
    full = stored()
    values = np.sort(full.values[np.isfinite(full.values)])
    shares = (0.0, 0.001, 0.25, 0.5, 0.9, 1.0)
    found = sweep(TOY, reduce=sweeps.quantiles(*shares), **AXES)
    wanted = np.quantile(values, shares, method="inverted_cdf")
    assert np.allclose(found.values, wanted, rtol=1e-14, atol=0)


def test_best_algorithm_by_a_reduction():
    found = sweep(TOY, reduce=sweeps.best("algorithm"), **AXES)
    full = stored()
    assert np.allclose(found.values, full.values.min(axis=-1), rtol=1e-14, atol=0)
    assert found.axes == ("size", "ranks", "bandwidth", "latency")
    assert set(np.unique(found["algorithm"])) <= {"direct", "ring", "tree"}


def test_further_outputs_are_reported_at_the_points_found():
    rest = {n: v for n, v in AXES.items() if n != "algorithm"}
    found = sweep(
        TOY, algorithm="best", reduce=sweeps.top(5), outputs=["efficiency", "algorithm"], **rest
    )
    for i in range(5):
        values = {n: float(c.values[i]) for n, c in found.coordinates.items()}
        name = found["algorithm"][i]
        wanted = TOY.evaluate({**values, "algorithm": name})
        assert found.outputs["time"][i] == pytest.approx(wanted["time"], rel=1e-12)
        assert found.outputs["efficiency"][i] == pytest.approx(wanted["efficiency"], rel=1e-12)


def test_further_outputs_at_the_one_best_point_with_fixed_parameters():
    found = sweep(
        TOY, ranks=[2, 8], size="1 GB", bandwidth=["1 GB/s/dir", "2 GB/s/dir"], latency="1 us",
        reduce="min", outputs=["efficiency", "time.latency"],
    )  # fmt: skip
    values = {"ranks": 2.0, "size": 1e9, "bandwidth": 2e9, "latency": 1e-6, "algorithm": "ring"}
    assert found.outputs["efficiency"] == pytest.approx(TOY.evaluate(values)["efficiency"])
    assert found.outputs["ranks"] == 2


def test_elasticity_is_the_logarithmic_derivative():
    grid = sweep(
        TOY, size=AXES["size"], ranks=[2, 64], bandwidth=AXES["bandwidth"], latency="5 us",
        outputs=[sweeps.elasticity("time", "bandwidth"), sweeps.elasticity("time", "size")],
    )  # fmt: skip
    size = AXES["size"].magnitude[:, None, None]
    rate = 1e9 * AXES["bandwidth"].magnitude[None, None, :]
    ranks = np.array([2.0, 64.0])[None, :, None]
    share = (size / rate) / (size / rate + 2 * (ranks - 1) * 5e-6)
    assert np.allclose(grid["elasticity(time, bandwidth)"], -share, rtol=1e-7, atol=1e-9)
    assert np.allclose(grid["elasticity(time, size)"], share, rtol=1e-7, atol=1e-9)
    worst = sweep(
        TOY, size=AXES["size"], ranks=[2, 64], bandwidth=AXES["bandwidth"], latency="5 us",
        reduce=sweeps.maximum(sweeps.elasticity("time", "size")),
    )  # fmt: skip
    assert worst.values == pytest.approx(share.max(), rel=1e-7)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: "least", "reduce is 'least'"),
        (lambda: sweeps.minimum(over="sice"), "no axis 'sice'"),
        (lambda: sweeps.minimum("tme"), "did you mean time"),
        (lambda: sweeps.top(0), "at least 1"),
        (lambda: sweeps.pareto("time"), "two to four"),
        (lambda: sweeps.first("time", along="size"), "one of below= and above="),
        (lambda: sweeps.first("time", along="size", below="1 GB"), "threshold"),
        (lambda: sweeps.first("time", along="size", below=1.0), "without a unit"),
        (lambda: sweeps.quantiles(1.5), "no share"),
        (lambda: sweeps.histogram(bins=0), "bins"),
        (lambda: sweeps.histogram(low="2 s", high="1 s"), "must lie below"),
        (lambda: sweeps.minimum(sweeps.elasticity("time", "ranks")), "is a count"),
    ],
)
def test_bad_reductions_are_one_clear_error(make, words):
    with pytest.raises(ScalemathError, match=words):
        sweep(TOY, reduce=make(), **AXES)


def test_a_buffer_does_not_go_with_a_reduction():
    with pytest.raises(ArgumentError, match="full grid"):
        sweep(TOY, reduce="min", out=np.zeros(3), **AXES)


def test_nothing_possible_is_said():
    with pytest.raises(RangeError, match="no finite value"):
        sweep(TOY, reduce=sweeps.quantiles(0.5), where="ranks > 100", **AXES)
    found = sweep(TOY, reduce="min", where="ranks > 100", **AXES)
    assert math.isnan(found.values)
    assert sweep(TOY, reduce=sweeps.top(3), where="ranks > 100", **AXES).size == 0
