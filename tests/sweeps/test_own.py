"""A user's own function: same boundary, same sweeps, one clear error when it is unsuited."""

from __future__ import annotations

import importlib
import inspect
import itertools
import linecache
import math
from typing import NamedTuple

import numpy as np
import pytest

import scalemath as sm
from scalemath import sweeps
from scalemath.core.errors import ArgumentError, ScalemathError

ring = sm.allreduce.kernels["ring"]
STRIPES = 4.0


class Parts(NamedTuple):
    seek: float
    transfer: float


@sm.model(returns="s", size="byte", rate="byte/s > 0", rises="size", falls="rate")
def reading_time(size: float, rate: float) -> Parts:
    """Seek and transfer."""
    if size <= 0.0:
        return Parts(0.0, 0.0)
    return Parts(1e-3, size / (rate * STRIPES))


@sm.model(
    returns="s", output="step", work="s", size="byte", ranks="count >= 1",
    bandwidth="byte/s/dir > 0", latency="s", overlap="number <= 1",
)  # fmt: skip
def training_step(work, size, ranks, bandwidth, latency, overlap):
    """A composition that calls a kernel of the library."""
    terms = ring(size, ranks, bandwidth, latency, math.inf)
    communication = terms.latency + terms.bandwidth
    return work / ranks + communication - min(overlap * communication, work / ranks)


def test_scalar_call_crosses_the_boundary():
    assert f"{reading_time(size='4 GB', rate='1 GB/s'):.4f~P}" == "1.0010 s"
    with pytest.raises(ScalemathError, match="size"):
        reading_time(size="4 s", rate="1 GB/s")


def test_sweep_of_terms_and_total_equals_the_function():
    sizes, rates = [0.0, 1e9, 7e9], [1e9, 3e9]
    grid = sm.sweep(
        reading_time, size=[f"{s} byte" for s in sizes], rate=[f"{r} byte/s" for r in rates],
        outputs=["reading_time", "reading_time.seek"],
    )  # fmt: skip
    for i, size in enumerate(sizes):
        for j, rate in enumerate(rates):
            wanted = reading_time.kernel(size, rate)
            assert grid.values[i, j] == pytest.approx(sum(wanted), rel=1e-12)
            assert grid.outputs["reading_time.seek"][i, j] == wanted.seek


def test_composition_with_a_kernel_of_the_library():
    grid = sm.sweep(
        training_step, work="1 s", size="1 GB", ranks=[1, 8, 64], bandwidth="100 GB/s/dir",
        latency="2 us", overlap=[0.0, 0.5, 1.0],
    )  # fmt: skip
    assert grid.unit == "s"
    assert grid.output == "step"
    for i, ranks in enumerate([1.0, 8.0, 64.0]):
        for j, overlap in enumerate([0.0, 0.5, 1.0]):
            wanted = training_step.kernel(1.0, 1e9, ranks, 1e11, 2e-6, overlap)
            assert grid.values[i, j] == pytest.approx(wanted, rel=1e-12)


def test_declared_directions_serve_branch_and_bound(monkeypatch):
    monkeypatch.setattr("scalemath.sweeps.bounds.WORTH_IT", 1)
    found = sm.sweep(
        reading_time, reduce=sweeps.top(3),
        size=sm.geomspace("1 MB", "1 TB", 3000), rate=sm.geomspace("1 MB/s", "1 GB/s", 3000),
    )  # fmt: skip
    assert found.provenance["method"] == "bounds"
    assert found.provenance["evaluated"] < 10_000
    assert found.values[0] == sum(reading_time.kernel(1e6, 1e9))


def test_function_without_source_is_compiled_in_memory():
    space = {"math": math}
    exec("def hidden(x):\n    return math.sqrt(x) + 1.0", space)
    hidden = sm.model(returns="1", x="number")(space["hidden"])
    grid = sm.sweep(hidden, x=np.array([0.0, 4.0, 9.0]))
    assert grid.values.tolist() == [1.0, 3.0, 4.0]


@pytest.mark.parametrize("body", [
    "x * COUNT * COUNT", "COUNT * COUNT * COUNT + x", "sum(POWERS) * sum(POWERS) * x",
])  # fmt: skip
def test_whole_numbers_of_a_function_without_source_do_not_wrap_around(body):
    space = {"COUNT": 10**15, "POWERS": (1, 10**15)}
    loop = "    k = 1\n    while k < x * 1e25:\n        k *= 2"
    exec(f"def hidden(x):\n{loop}\n    return k + {body}", space)
    model = sm.model(returns="1", x="number")(space["hidden"])
    wanted = float(space["hidden"](3.0))
    assert sm.sweep(model, x=[3.0]).values[0] == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("body", ["int(x)", "math.ceil(x)", "sum(x for _ in range(3))"])
def test_a_function_without_source_refuses_what_makes_whole_numbers(body):
    space = {"math": math}
    exec(f"def hidden(x):\n    return {body}", space)
    with pytest.raises(ArgumentError, match="its source cannot be read here"):
        sm.model(returns="1", x="number")(space["hidden"])


def collatz(n):
    k = 0
    while n != 1:
        n = n / 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k


def doubled_if_positive(v):
    if v < 0:
        raise ValueError("negative")
    return v * 2


STEPS = (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: collatz(x) if x >= 1 else 0.0,
        lambda x: doubled_if_positive(x) if x >= 0 else -1.0,
        lambda x: STEPS[int(x)] if 0 <= x < 3 else 9.0,
        lambda x: x**-1 if x != 0 else 0.0,
        lambda x, y: x > 1 or not y,
        lambda x: sum(x * i for i in range(3)) + max(abs(v) for v in (x, 1)),
    ],
    ids=["loop", "raise", "index", "power", "condition", "generators"],
)
def test_a_branch_not_taken_is_not_computed(function):
    check_everywhere(function, [-2.0, 0.0, 1.0, 2.0, 8.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: 1.0 if x * x - y * y == 0 else 0.0,
        lambda x, y: math.sqrt(abs(x * x * y - y * x * x)),
        lambda x, y: x * x * x / y - x * x * (x / y),
        lambda x, y: x / y - x * (1 / y),
        lambda x, y: math.atan2(int(x - 1), -1.0) + math.copysign(1, round(-y)),
        lambda x: math.copysign(1, -int(x)),
    ],
    ids=["equal", "fused", "quotients", "reciprocal", "whole zero", "negated zero"],
)
def test_the_last_digit_is_that_of_the_single_call(function):
    check_everywhere(function, [0.1, 0.2, 0.3, 0.7, 1.9, 7.0])


def check_everywhere(function, values):
    """Compare a sweep in default arithmetic with plain calls."""
    names = inspect.signature(function).parameters
    model = sm.model(returns="1", **dict.fromkeys(names, "number any"))(function)
    grid = sm.sweep(model, **dict.fromkeys(names, values))
    every = itertools.product(values, repeat=len(names))
    assert grid.values.ravel().tolist() == [float(function(*point)) for point in every]


def test_a_negative_power_of_zero_is_infinite():
    power = sm.model(returns="1", x="number")(lambda x: x**-1)
    assert sm.sweep(power, x=[0.0, 2.0]).values.tolist() == [math.inf, 0.5]


MATHEMATICS = math


def test_a_module_under_another_name_is_read():
    model = sm.model(returns="1", x="number")(lambda x: MATHEMATICS.floor(x) + 1)
    assert sm.sweep(model, x=[1.5]).values.tolist() == [2.0]


def assigning(x):
    return (y := x) + y


def catching(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0.0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (assigning, "assigns y inside an expression"),
        (catching, "catches exceptions"),
        (lambda x: any([x > 1, x < 0]), "join the conditions with or"),
    ],
)
def test_what_the_compiler_does_not_know_is_told_at_once(function, said):
    with pytest.raises(ArgumentError, match=said):
        sm.model(returns="1", x="number")(function)


def test_constraints_are_decided_as_they_are_written():
    model = sm.model(returns="1", x="number", y="number")(lambda x, y: x + y)
    values = [0.1, 0.2, 0.3, 0.7]
    grid = sm.sweep(model, x=values, y=values, where="x * x - y * y == 0")
    assert np.isfinite(grid.values).tolist() == np.eye(4, dtype=bool).tolist()


def test_closure_keeps_its_values():
    def make(factor):
        @sm.model(returns="1", x="number")
        def scaled(x):
            return factor * x

        return scaled

    two, three = make(2.0), make(3.0)
    assert sm.sweep(two, x=[1.0, 2.0]).values.tolist() == [2.0, 4.0]
    assert sm.sweep(three, x=[1.0, 2.0]).values.tolist() == [3.0, 6.0]


def test_exception_inside_is_one_clear_error():
    @sm.model(returns="1", x="number")
    def picky(x):
        if x > 2.0:
            raise ValueError("too much")
        return x

    out = np.zeros(3)
    with pytest.raises(ArgumentError, match=r"picky failed inside the sweep: ValueError: too much"):
        sm.sweep(picky, x=[1.0, 2.0, 3.0], out=out)


def test_unsuited_function_is_one_clear_error():
    def textual(x):
        return float(f"{x}")

    with pytest.raises(ArgumentError, match="cannot be compiled"):
        sm.model(returns="1", x="number")(textual)

    def rounding(x):
        return round(x, 2)  # Python looks at the decimals of 2.675, no multiplication does

    with pytest.raises(ArgumentError, match="rounds to a number of digits"):
        sm.model(returns="1", x="number")(rounding)

    with pytest.raises(ArgumentError, match="returns='1 s' is no unit"):
        sm.model(returns="1 s", x="number")(lambda x: x)

    @sm.model(returns="1", x="number")
    def choosing(x):
        return math.comb(x, 2.0)

    with pytest.raises(ArgumentError, match=r"math\.comb is not among"):
        sm.sweep(choosing, x=[3.0])

    table = {1.0: 2.0}

    @sm.model(returns="1", x="number")
    def looking_up(x):
        return LOOKUP[x]

    with pytest.raises(ArgumentError, match="LOOKUP"):
        sm.sweep(looking_up, x=[1.0, 2.0])
    assert table


LOOKUP = {1.0: 2.0}


def test_public_function_inside_points_to_its_kernel():
    def wrong(x):
        return allreduce(x)

    def wrong_too(x):
        return sm.allreduce(x)

    for function, name in ((wrong, "allreduce"), (wrong_too, r"sm\.allreduce")):
        with pytest.raises(ArgumentError, match=rf"calls {name} .*call its kernel, {name}\.k"):
            sm.model(returns="s", x="number")(function)


allreduce = sm.allreduce


def test_missing_declarations_are_named():
    with pytest.raises(ArgumentError, match="declare the unit of rate"):
        sm.model(returns="s", size="byte")(lambda size, rate: size / rate)
    with pytest.raises(ArgumentError, match="rises and falls"):
        sm.model(returns="s", size="byte", rises="sise")(lambda size: size)


def test_a_file_that_changed_since_it_was_read(tmp_path, monkeypatch):
    text = "def cost(x):\n    return {} * x + math.sqrt(x)\n"
    file = tmp_path / "changing_costs.py"
    file.write_text("import math\n\n\n" + text.format("2.0"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("changing_costs")
    model = sm.model(returns="1", x="number")(module.cost)
    file.write_text("import math\n\n\n" + text.format("3.0"), encoding="utf-8")
    linecache.checkcache(str(file))
    grid = sm.sweep(model, arithmetic="strict", x=[1.0, 4.0, 9.0])
    assert grid.values.tolist() == [module.cost(x) for x in (1.0, 4.0, 9.0)]
    file.write_text("import math\n\n\ndef other(y):\n    return y\n", encoding="utf-8")
    linecache.checkcache(str(file))
    again = sm.model(returns="1", x="number")(module.cost)
    assert sm.sweep(again, x=[16.0, 25.0]).values.tolist() == [36.0, 55.0]


COUNT = 3
WEIGHTS = (1, 2, 4)


def tripled(x):
    return x * COUNT


def whole_numbers(a, b):
    total = 0
    for i in range(int(b) + 1):
        total += i * i * WEIGHTS[i % 3]
    return 2**70 * a + int(a * 1e20) + int(a) ** 60 + int(a * 1e18) * int(b * 1e18) + total


def small_numbers(a, b):
    k = 1
    while k < a * 100:
        k *= 2
    rounded = round(10.0 * a) / 10.0 + round(a) + math.floor(a) // 2 + math.ceil(b) + (a > b) * 2
    picked = [1, 2, 3][int(b)] + len([a, b]) + math.gcd(int(a * 10), 4) + math.ldexp(a, 2)
    return (
        rounded + picked + a**2 + a**-1 + b**COUNT + tripled(a) + k + sum([i**2 for i in range(3)])
    )


def defaulted(a, b=2):
    return int(a * 1e19) * b


@pytest.mark.parametrize("function", [whole_numbers, small_numbers, defaulted])
def test_whole_numbers_do_not_wrap_around(function):
    model = sm.model(returns="1", a="number", b="number")(function)
    for a in (0.5, 1.0, 3.25):
        for b in (0.0, 1.0, 2.0):
            swept = sm.sweep(model, arithmetic="strict", a=[a], b=[b]).values[0, 0]
            assert swept == pytest.approx(function(a, b), rel=1e-15)


def test_lambdas_and_closures_are_swept():
    doubled = sm.model(returns="1", a="number")(lambda a: 2**70 * a)
    assert sm.sweep(doubled, a=[1.0]).values.tolist() == [2.0**70]

    def make(power):
        def raised(a):
            return a * 7**power

        return sm.model(returns="1", a="number")(raised)

    for power in (2, 60):
        found = sm.sweep(make(power), a=[1.0]).values[0]
        assert found == pytest.approx(float(7**power), rel=1e-14)


def fstring(a, b):
    return a if f"{a}" == "1.0" else b


def calls_fstring(a, b):
    return fstring(a, b)


def shifting(a, b):
    return 1 << int(a * 30)


def masking(a, b):
    return int(a) & 1


def comparing_text(a, b):
    return a if max("x", "y") else b


def remainder(a, b):
    return int(a) ** 60 % 7


def large(a, b):
    return 9007199254740993 * a


@pytest.mark.parametrize(
    ("function", "said"),
    [(fstring, "f-string"), (calls_fstring, "f-string"), (shifting, "bits"), (masking, "bits"),
     (comparing_text, "text"), (remainder, "remainder"), (large, r"2\*\*53")],
)  # fmt: skip
def test_what_cannot_be_the_same_is_refused_at_once(function, said):
    with pytest.raises(ArgumentError, match=rf"{said}.*cannot be compiled"):
        sm.model(returns="1", a="number", b="number")(function)


@pytest.mark.parametrize(
    "name",
    ["where", "out", "outputs", "reduce", "progress", "threads", "dtype", "arithmetic", "backend"],
)
def test_a_parameter_named_like_an_argument_of_sweep(name):
    space = {}
    exec(f"def cost({name}):\n    return {name}", space)
    with pytest.raises(ArgumentError, match=f"{name} has the name of an argument of sm.sweep"):
        sm.model(returns="1", **{name: "number"})(space["cost"])


def single(a):
    return a


def many(*a):
    return a[0]


@pytest.mark.parametrize("text", ["number > x", "1 <= number <= 2", "number > 0 and <= 1",
                                  "", "foo", "number >", "number > 3 < 2"])  # fmt: skip
def test_a_declaration_that_cannot_be_read_shows_the_grammar(text):
    with pytest.raises(ArgumentError, match="cannot read a=.*>= LOW.*as in"):
        sm.model(returns="1", a=text)(single)


def test_results_need_a_unit_and_a_name():
    with pytest.raises(ArgumentError, match="returns='foo' is no unit"):
        sm.model(returns="foo", a="number")(single)
    with pytest.raises(ArgumentError, match="needs the unit of the result"):
        sm.model(a="number")(single)
    with pytest.raises(ArgumentError, match=r"output='a b\.c' is no name"):
        sm.model(returns="1", output="a b.c", a="number")(single)


@pytest.mark.parametrize("function", [math.sqrt, max, float, many, Parts])
def test_what_is_no_plain_function_is_refused(function):
    with pytest.raises(ArgumentError, match=r"plain function|without \*"):
        sm.model(returns="1", a="number")(function)


def test_the_decorator_without_parentheses():
    with pytest.raises(ArgumentError, match="write @sm.model"):
        sm.model(single)


@pytest.mark.parametrize("readable", [True, False])
def test_every_sweep_follows_the_values_around_a_model(monkeypatch, readable):
    if readable:
        space = globals()
        model = sm.model(returns="1", x="number")(tripled)
    else:
        space = {"COUNT": 3}
        exec("def hidden(x):\n    return x * COUNT", space)
        model = sm.model(returns="1", x="number")(space["hidden"])
    for count in (3, 50, 3):
        monkeypatch.setitem(space, "COUNT", count)
        assert sm.sweep(model, x=[1.0, 2.0]).values.tolist() == [count, 2 * count]
        assert float(sm.sweep(model, x=[1.0, 2.0], reduce="max").values) == 2 * count
        assert model(x=1.0).magnitude == count


def calls_helper(x):
    return tripled(x)


def test_a_helper_defined_again_is_followed(monkeypatch):
    model = sm.model(returns="1", x="number")(calls_helper)
    assert sm.sweep(model, x=[2.0]).values.tolist() == [6.0]
    monkeypatch.setitem(globals(), "tripled", single)
    assert sm.sweep(model, x=[2.0]).values.tolist() == [2.0] == [model(x=2.0).magnitude]


def helper(x):
    return x + 1


def pick(x):
    return helper(x) * 2


def test_functions_named_like_parts_of_the_driver():
    model = sm.model(returns="1", x="number")(pick)
    assert sm.sweep(model, x=[1.0]).values.tolist() == [4.0]


def rooted(a):
    return math.sqrt(a - 1.0) + 1.0 / a


@pytest.mark.parametrize(("a", "error", "swept"), [
    (0.5, ValueError, math.nan), (0.0, (ValueError, ZeroDivisionError), math.nan)])  # fmt: skip
def test_domain_errors_raise_alone_and_are_nan_in_a_sweep(a, error, swept):
    model = sm.model(returns="1", a="number")(rooted)
    with pytest.raises(error):
        model(a=a)
    found = sm.sweep(model, a=[a, 1.0]).values
    np.testing.assert_array_equal(found, [swept, 1.0])
