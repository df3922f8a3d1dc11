"""Short expressions over parameters and outputs: constraints and dependent axes.

The text ``"tensor * pipeline <= ranks and size <= '1 GiB'"`` names parameters (dotted names
included), numbers and quoted quantities. It is checked for dimensions once and then becomes
part of the compiled driver; nothing is ever evaluated from text by Python itself.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, frozen

from scalemath.core.errors import ArgumentError, ScalemathError, UnitsError
from scalemath.core.wording import offered
from scalemath.units import Q_, Quantity, Unit, ureg

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS = {"min": "min", "max": "max", "abs": "abs", "ceil": "math.ceil", "floor": "math.floor"}
_ALLOWED = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.Name,
    ast.Attribute, ast.Constant, ast.Load, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


@frozen
class Formula:
    """A checked expression.

    Attributes
    ----------
    text : str
        As the user wrote it.
    names : tuple of str
        Model names it reads, in alphabetical order.
    unit : str
        SI unit of the value; empty for a condition.
    tree : ast.Expression
        Parsed form with quoted quantities turned into SI floats.
    """

    text: str
    names: tuple[str, ...]
    unit: str
    tree: ast.Expression

    def python(self, variables: Mapping[str, str]) -> str:
        """Write the expression with the variable that holds each name."""
        return _write(self.tree.body, variables)


def parse_formula(text: str, units: Mapping[str, str], condition: bool, what: str) -> Formula:
    """Parse an expression and check names and dimensions.

    Parameters
    ----------
    text : str
        Expression over the names in `units`.
    units : mapping of str to str
        SI unit of every name that may occur.
    condition : bool
        Whether a true-or-false value is wanted rather than a number.
    what : str
        What the expression is for, for messages.

    Returns
    -------
    Formula
        Ready to be written into a driver.
    """
    if not isinstance(text, str):
        raise ArgumentError(f"{what} is {text!r}, wanted a text such as 'tensor <= ranks'")
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        single = condition and re.search(r"(?<![=<>!])=(?!=)", text)
        hint = "; equal is written ==" if single else ""
        raise ArgumentError(f"{what} {text!r} cannot be read: {error.msg}{hint}") from None
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise ArgumentError(
                f"{what} {text!r} uses {type(node).__name__}; allowed are names of parameters, "
                "numbers, quoted quantities, + - * / // % **, comparisons, and, or, not, "
                f"{', '.join(sorted(_FUNCTIONS))}"
            )
    checker = _Checker(text, units, what)
    value = checker.visit(tree.body)
    if condition and not isinstance(value, bool):
        raise ArgumentError(f"{what} {text!r} is a number, wanted a condition such as 'a <= b'")
    if not condition and isinstance(value, bool):
        raise ArgumentError(f"{what} {text!r} is a condition, wanted a number")
    unit = "" if condition else f"{Q_(1, '') * value.units:C}".partition(" ")[2] or "1"
    return Formula(text, tuple(sorted(checker.names)), unit, tree)


def in_unit(formula: Formula, unit: str, what: str) -> Formula:
    """Return a formula whose value is in a unit.

    Parameters
    ----------
    formula : Formula
        Number in its own unit.
    unit : str
        SI unit wanted, "1" for plain numbers.
    what : str
        What the formula is for, for messages.

    Returns
    -------
    Formula
        The same, multiplied where its unit is another multiple.

    Raises
    ------
    UnitsError
        If the dimension is another.
    """
    given, wanted = _unit(formula.unit), _unit(unit)
    if given.dimensionality != wanted.dimensionality:
        raise UnitsError(
            f"{what} {formula.text!r} is {_told(given, 'in ')}, wanted {_told(wanted)}; quote "
            "quantities, as in \"ranks * '1 GB'\""
        )
    tree = ast.Expression(_scaled(formula.tree.body, given, wanted))
    return evolve(formula, unit=unit, tree=tree)


def _unit(text: str) -> Unit:
    return ureg.Unit("" if text == "1" else text)


def _told(unit: Unit, before: str = "") -> str:
    shown = f"{unit:~P}"
    return f"{before}{shown} {unit.dimensionality}" if shown else "a plain number"


def _scaled(node: ast.expr, given: Unit, wanted: Unit) -> ast.expr:
    """Multiply a node so that its value is in another unit of its dimension."""
    factor = float(Q_(1.0, given).to(wanted).magnitude)
    return node if factor == 1.0 else ast.BinOp(node, ast.Mult(), ast.Constant(factor))


def literal(value: float) -> str:
    """Spell a float so that inf and nan survive."""
    return repr(value) if math.isfinite(value) else f"float({str(value)!r})"


def names_in(text: str) -> set[str]:
    """Return the names in an expression; none where it cannot be read."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, TypeError, ValueError):
        return set()
    return {dotted(node) for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute))}


def dotted(node: ast.AST) -> str:
    """Spell the name behind ``a`` or ``a.b.c``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    raise ArgumentError(f"cannot read {ast.unparse(node)!r} as a name")


class _Checker:
    """Evaluates an expression on quantities of magnitude one to find its dimension."""

    def __init__(self, text: str, units: Mapping[str, str], what: str) -> None:
        self.text, self.units, self.what = text, units, what
        self.names: set[str] = set()

    def visit(self, node: ast.AST) -> Any:
        """Value of a node: a Quantity, or True for a condition."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.name(dotted(node))
        if isinstance(node, ast.Constant):
            return self.constant(node)
        if isinstance(node, ast.UnaryOp):
            inner = self.visit(node.operand)
            return True if isinstance(node.op, ast.Not) else inner
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                if not isinstance(self.visit(value), bool):
                    raise self.wrong(f"{ast.unparse(value)!r} is not a condition")
            return True
        if isinstance(node, ast.Compare):
            first = self.visit(node.left)
            sides = [(side, self.visit(side)) for side in node.comparators]
            node.comparators = [self.alike(first, side, value, node) for side, value in sides]
            return True
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        raise self.wrong(f"{ast.unparse(node)!r} is not understood")

    def name(self, name: str) -> Quantity:
        """Unit of a name."""
        if name not in self.units:
            raise self.wrong(f"{name!r} is no name here, there are {offered(name, self.units)}")
        self.names.add(name)
        unit = self.units[name]
        return Q_(1.0, ureg.Unit("" if unit == "1" else unit))

    def constant(self, node: ast.Constant) -> Quantity:
        """Turn a quoted quantity into its SI float, in place."""
        if isinstance(node.value, str):
            given = Q_(node.value)
            if "[direction]" in given.dimensionality:
                given = given * Q_(1, "dir")
            base = given.to(_base_unit(given))
            node.value = float(base.magnitude)
            return Q_(1.0, base.units)
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise self.wrong(f"{node.value!r} is not a number")
        return Q_(1.0, "")

    def binary(self, node: ast.BinOp) -> Quantity:
        """Dimension of an arithmetic operation."""
        left, right = self.visit(node.left), self.visit(node.right)
        if type(node.op) not in _BINARY:
            raise self.wrong(
                f"{ast.unparse(node)!r} uses an operator that is not known here; conditions are "
                "joined by 'and' and 'or'"
            )
        for side in (left, right):
            if isinstance(side, bool):
                raise self.wrong(f"{ast.unparse(node)!r} mixes a condition with a number")
        if isinstance(node.op, ast.Pow):
            exponent = node.right.value if isinstance(node.right, ast.Constant) else None
            if not left.dimensionless and not isinstance(exponent, (int, float)):
                raise self.wrong("a power of a quantity needs a plain number as exponent")
            raised: Quantity = left if exponent is None else left**exponent
            return raised
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mod)):
            node.right = self.alike(left, node.right, right, node)
            return Quantity(1.0, left.units)
        if isinstance(node.op, ast.FloorDiv):
            ratio: Quantity = left / right
            return ratio
        result: Quantity = _BINARY[type(node.op)](left, right)
        return result

    def call(self, node: ast.Call) -> Quantity:
        """Dimension of min, max, abs, ceil, floor."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in _FUNCTIONS or node.keywords or not node.args:
            raise self.wrong(f"{ast.unparse(node)!r} is no function here")
        values: list[Quantity] = [self.visit(argument) for argument in node.args]
        rest = zip(node.args[1:], values[1:], strict=True)
        node.args[1:] = [self.alike(values[0], side, value, node) for side, value in rest]
        if name in ("ceil", "floor") and not values[0].dimensionless:
            raise self.wrong(f"{name} wants a plain number")
        return values[0]

    def alike(self, left: Any, side: ast.expr, right: Any, node: ast.AST) -> ast.expr:
        """Return the right side in the unit of the left one; refuse unlike dimensions."""
        if isinstance(left, bool) or isinstance(right, bool):
            raise self.wrong(f"{ast.unparse(node)!r} mixes a condition with a number")
        if left.dimensionality != right.dimensionality:
            mixed = " with ".join(f"{side.units:~P}" or "a plain number" for side in (left, right))
            raise UnitsError(
                f"{self.what} {self.text!r}: {ast.unparse(node)!r} mixes {mixed}; "
                "quote quantities, as in size <= '1 GiB'"
            )
        return _scaled(side, right.units, left.units)

    def wrong(self, text: str) -> ScalemathError:
        """Build the error for this expression."""
        return ArgumentError(f"{self.what} {self.text!r}: {text}")


def _base_unit(given: Quantity) -> Any:
    """Unit in which kernels hold a quantity of this dimension."""
    for unit in ("byte", "byte/s", "s", "flop", "flop/s", "W", "J", "m", "", "J/bit", "Hz"):
        if given.check(ureg.Unit(unit).dimensionality):
            return ureg.Unit(unit)
    return given.to_base_units().units


def _write(node: ast.AST, variables: Mapping[str, str]) -> str:
    """Write a checked node as Python over the driver's variables."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return variables[dotted(node)]
    if isinstance(node, ast.Constant):
        return literal(float(node.value))  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp):
        sign = _UNARY[type(node.op)]
        return f"({sign}{_write(node.operand, variables)})"
    if isinstance(node, ast.BoolOp):
        # bitwise on purpose: both sides are cheap, and branches would stop vectorisation
        word = " & " if isinstance(node.op, ast.And) else " | "
        return "(" + word.join(_write(value, variables) for value in node.values) + ")"
    if isinstance(node, ast.Compare):
        sides = [_write(side, variables) for side in (node.left, *node.comparators)]
        parts = [
            f"({left} {_COMPARE[type(op)]} {right})"
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return "(" + " & ".join(parts) + ")"
    if isinstance(node, ast.BinOp):
        left, right = _write(node.left, variables), _write(node.right, variables)
        return f"({left} {_SIGNS[type(node.op)]} {right})"
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    arguments = ", ".join(_write(argument, variables) for argument in node.args)
    return f"{_FUNCTIONS[node.func.id]}({arguments})"


_UNARY: dict[type[ast.AST], str] = {ast.Not: "not ", ast.USub: "-", ast.UAdd: "+"}
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**",
}  # fmt: skip
_COMPARE: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
