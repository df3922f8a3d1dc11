"""Kernels written without branches give what the branches give; primitives equal their twins."""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import textwrap

import numba
import numpy as np
import pytest

from scalemath.kernels import primitives
from scalemath.sweeps import _jit
from scalemath.sweeps.branchfree import branch_free


def early(x, y):
    if x > y:
        return x - y
    z = x * 2.0
    if y > 3.0 and x < 1.0:
        z += 1.0
    elif y > 2.0:
        z = z - 1.0
    else:
        w = z * 0.5
        z = w + 0.25
    return z if z > 0.0 else -z


def tuples(x, y):
    a, b = x + 1.0, y
    a = min(a, b)
    if not x < 0.0:
        return (a, b)
    return (b, a + 1.0)


def nested(x, y):
    if x > 0.0:
        if y > 0.0:
            return 1.0
        y = -y
    else:
        x = -x
    return x * 10.0 + y


def looping(x, y):
    total = 0.0
    while total < x:
        total += 1.0
    return total if y > 0.0 else -total


@pytest.mark.parametrize("function", [early, tuples, nested, looping])
def test_same_answers_without_branches(function):
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    written = branch_free(tree)
    has_branch = any(isinstance(n, (ast.If, ast.IfExp, ast.BoolOp)) for n in ast.walk(written))
    assert has_branch == (function is looping or function is nested)
    space = {"pick": _jit.pick_plain, "math": math}
    exec(ast.unparse(ast.Module(body=[written], type_ignores=[])), space)
    for x, y in itertools.product([-2.0, -0.5, 0.0, 0.5, 1.0, 2.5, 7.0], repeat=2):
        assert space[function.__name__](x, y) == function(x, y), (x, y)


@pytest.mark.parametrize("name", ["ceil_log2", "floor_log2", "power_of_two_below"])
def test_fast_primitives_equal_the_plain_ones(name):
    plain = getattr(primitives, name)
    space = {"np": np, "math": math}
    exec(textwrap.dedent(_jit.REPLACEMENTS[plain]), space)
    fast = numba.njit(space[name])
    counts = {1.0, 3.0}
    for k in range(1, 53):
        counts.update((2.0**k - 1.0, 2.0**k, 2.0**k + 1.0))
    for count in sorted(counts):
        assert fast(count) == plain(count), count
