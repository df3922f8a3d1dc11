"""Figures that a text works out in its own words: "72 * 12 W", "71/72", "1 - 0.99**8"."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from scalemath.core.errors import ArgumentError, RangeError, UnitsError
from scalemath.units import Q_, Quantity, adopt

_NUMBER = r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_UNIT = r"[^\W\d_][^\W\d]*(?:/[^\W\d_][^\W\d]*)*|%"
_TERM = re.compile(rf"{_NUMBER}(?:\s*(?:{_UNIT}))?")
_WORKED = re.compile(r"[-+*/(]\s*[\d.(]")
_LONGEST = 200
_MOST_POWER = 64
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def worked(text: Any) -> Quantity:
    """Return what a figure with its arithmetic comes to.

    Parameters
    ----------
    text : str, Quantity or number
        Numbers and quantities joined by + - * / ** and brackets.

    Returns
    -------
    Quantity
        The figure.

    Examples
    --------
    >>> print(worked("0.6 * 768 GB + 0.4 * 768 GB"), worked("142/71"))
    768 GB 2
    """
    try:
        return adopt(text)
    except UnitsError:
        if not isinstance(text, str) or not _WORKED.search(text):
            raise
    terms: list[Quantity] = []
    shown = f"{text[:80]!r}"
    wanted = f"{shown} is no figure; write numbers with units, + - * / ** and brackets"

    def named(found: re.Match[str]) -> str:
        terms.append(adopt(found[0]))
        return f"q{len(terms) - 1}"

    if len(text) > _LONGEST or re.search(r"\bq\d", text):
        raise ArgumentError(wanted)
    try:
        tree = ast.parse(_TERM.sub(named, text).strip(), mode="eval")
    except (SyntaxError, ValueError):
        raise ArgumentError(wanted) from None
    try:
        found = _result(tree.body, terms, wanted)
    except (ZeroDivisionError, OverflowError):
        raise RangeError(f"{shown} divides by zero or grows beyond a float") from None
    return Q_(found) if isinstance(found, (int, float)) else found


def _result(node: ast.expr, terms: list[Quantity], wanted: str) -> Any:
    """Value of one part of the expression."""
    if isinstance(node, ast.Name) and re.fullmatch(r"q\d+", node.id):
        return terms[int(node.id[1:])]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_result(node.operand, terms, wanted)
    if isinstance(node, ast.BinOp):
        left, right = (_result(side, terms, wanted) for side in (node.left, node.right))
        if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](left, right)
        if isinstance(node.op, ast.Pow) and right.unitless and abs(right.magnitude) <= _MOST_POWER:
            return left**right.magnitude
    raise ArgumentError(wanted)
