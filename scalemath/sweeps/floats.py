"""Rewrites a user's function so that every number in it is a float, as the compiler needs it.

A whole number of Python has no bound, one of the processor has 64 bits and wraps around in
silence. So ``2 * x``, ``int(x)``, ``math.floor(x)`` and a counter of a loop become floats, which
are exact up to 2**53 and rounded beyond; they turn into integers again only where Python wants
one: in ``range``, in an index, and in a literal exponent. What cannot be the same in this way
(text, bits, remainders of huge powers) is refused.
"""

from __future__ import annotations

import ast
import dis
import math
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from scalemath.core.errors import ArgumentError
from scalemath.sweeps.around import behind, enclosed

ROUNDINGS: dict[Any, Any] = {
    int: np.trunc, math.trunc: np.trunc, math.floor: np.floor, math.ceil: np.ceil, round: np.rint,
}  # fmt: skip
"""Functions that give a whole number in Python, and their like on floats."""
ROUNDED = {like: f"whole_{like.__name__}" for like in ROUNDINGS.values()}
"""Names that these bear in the text."""
EXACT = 2.0**53
"""Up to here every whole number is a float."""

_ALL_WHOLE: tuple[Any, ...] = (range, math.gcd)
_TEXTUAL: tuple[Any, ...] = (str, repr, format, ascii, chr, bin, hex, oct)
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
_SHIFTS = (ast.LShift, ast.RShift)


def in_floats(
    definition: ast.FunctionDef, function: Callable[..., Any], around: Mapping[str, Any]
) -> ast.FunctionDef:
    """Return a function with its whole numbers as floats.

    Parameters
    ----------
    definition : ast.FunctionDef
        Parsed function, bare of decorators and docstring; it is changed.
    function : callable
        The function, for messages.
    around : mapping
        Values of the names from around it.

    Returns
    -------
    ast.FunctionDef
        The same function on floats.

    Raises
    ------
    ArgumentError
        If a sweep could not give what the single call gives.
    """
    result: ast.FunctionDef = _Floats(definition, function, around).visit(definition)
    return ast.fix_missing_locations(result)


def check_code(function: Callable[..., Any]) -> None:
    """Refuse what cannot be the same in a function of which only the object is at hand."""
    code = getattr(function, "__code__", None)
    if code is None:
        return
    refuse = _Refusal(function)
    for constant in code.co_consts:
        if isinstance(constant, int) and abs(constant) > EXACT:
            raise refuse(None, *_large(constant))
    for step in dis.get_instructions(code):
        if step.opname.startswith(("FORMAT_", "BUILD_STRING", "BUILD_TEMPLATE")):
            raise refuse(None, "makes text", _NO_TEXT)
        if "SHIFT" in step.opname or (step.opname == "BINARY_OP" and step.argrepr[:2] in _MARKS):
            raise refuse(None, "shifts bits", _NO_BITS)
    whole = sorted(_WHOLE_NAMES.intersection(code.co_names))
    if whole:
        raise refuse(None, f"uses {whole[0]} and its source cannot be read here", _NO_SOURCE)


def unread_in_floats(function: types.FunctionType) -> types.FunctionType:
    """Return a function of which only the object is at hand, with its whole numbers as floats."""
    code = function.__code__
    space, closed = function.__globals__, enclosed(function)
    around = {**space, **{n: floats_of(space[n]) for n in code.co_names if n in space}}
    cells = tuple(
        types.CellType(floats_of(closed[n])) if n in closed else types.CellType()
        for n in code.co_freevars
    )
    code = code.replace(co_consts=floats_of(code.co_consts))
    return types.FunctionType(code, around, function.__name__, function.__defaults__, cells)


_MARKS = ("<<", ">>")
_WHOLE_NAMES = frozenset({"int", "round", "floor", "ceil", "trunc", "gcd", "range"})
_NO_SOURCE = "write it in a file or a notebook, or with floats only: x // 1.0 for math.floor(x)"
_NO_TEXT = "compare numbers, or write one model for each case"
_NO_BITS = (
    "write 2.0**n for 1 << n, x * 2.0**n and math.floor(x / 2.0**n) for shifts, x % 2.0 for bits"
)


def _large(value: int) -> tuple[str, str]:
    shown = str(value) if abs(value) < 10**24 else "one of more than 24 digits"
    return f"has the whole number {shown}, beyond 2**53", f"write a float such as {_float(value)}"


def _float(value: int) -> str:
    try:
        return repr(float(value))
    except OverflowError:
        return "math.inf"


class _Refusal:
    """Makes the one error of this file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = getattr(function, "__name__", "function")
        code = getattr(function, "__code__", None)
        self.first = code.co_firstlineno if code is not None else 1

    def __call__(self, node: ast.AST | None, what: str, instead: str) -> ArgumentError:
        """Say where, what, and what to write."""
        line = getattr(node, "lineno", None)
        place = f" (line {self.first + line - 1})" if line else ""
        return ArgumentError(
            f"{self.name}{place} {what}, which cannot be compiled to give what the single call "
            f"gives; {instead}"
        )


class _Floats(ast.NodeTransformer):
    """Turns whole numbers into floats, and refuses."""

    def __init__(
        self, definition: ast.FunctionDef, function: Callable[..., Any], around: Mapping[str, Any]
    ) -> None:
        self.refuse = _Refusal(function)
        self.around = around
        self.local = {argument.arg for argument in ast.walk(definition.args)
                      if isinstance(argument, ast.arg)}  # fmt: skip
        nodes = list(ast.walk(definition))
        self.local |= {n.id for n in nodes if isinstance(n, ast.Name) and _stored(n)}
        self.tables = any(isinstance(n, (ast.Dict, ast.DictComp)) for n in nodes)
        self.counted: set[str] = set()
        self.whole: set[str] = set()
        for _ in range(3):  # a whole number may pass through a few names
            for node in nodes:
                self._note(node)

    def _note(self, node: ast.AST) -> None:
        """Note the variables that hold whole numbers."""
        if isinstance(node, ast.Assign) and self._is_whole(node.value):
            self.whole.update(t.id for t in node.targets if isinstance(t, ast.Name))
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            call = node.iter
            if isinstance(call, ast.Call) and self._value(call.func) is range:
                self.whole.add(node.target.id)
                if isinstance(node, ast.comprehension):
                    self.counted.add(node.target.id)

    def _value(self, node: ast.AST) -> Any:
        """Value of a name from around the function, or of an attribute of it."""
        hidden = any(isinstance(n, ast.Name) and n.id in self.local for n in ast.walk(node))
        return None if hidden else behind(node, self.around)

    def _is_whole(self, node: ast.AST) -> bool:
        """Whether an expression is a whole number in the single call."""
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        if isinstance(node, ast.Name):
            return node.id in self.whole or type(self._value(node)) is int
        if isinstance(node, ast.Call):
            called = self._value(node.func)
            one = called is not round or len(node.args) == 1
            return one and _among(called, (*ROUNDINGS, len, math.gcd))
        if isinstance(node, ast.UnaryOp):
            return self._is_whole(node.operand)
        if isinstance(node, ast.BinOp):
            whole = self._is_whole(node.left) and self._is_whole(node.right)
            return whole and not isinstance(node.op, ast.Div)
        return False

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Write a whole number as a float."""
        if isinstance(node.value, (str, bytes)):
            raise self.refuse(node, f"uses the text {node.value!r}", _NO_TEXT)
        return self._number(node, node.value) if type(node.value) is int else node

    def _number(self, node: ast.AST, value: int) -> ast.Constant:
        if abs(value) > EXACT and _float(value) != "math.inf" and int(float(value)) == value:
            return ast.Constant(float(value))
        if abs(value) > EXACT:
            raise self.refuse(node, *_large(value))
        return ast.Constant(float(value))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Write the value of a whole number from around the function."""
        if _stored(node):
            return node
        if node.id in self.counted:
            return _call("float", node)
        value = self._value(node)
        if isinstance(value, str):
            raise self.refuse(node, f"uses the text {node.id}", _NO_TEXT)
        return self._number(node, value) if type(value) is int else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Refuse f-strings."""
        raise self.refuse(node, "makes text (an f-string)", _NO_TEXT)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """Leave the text of an error alone."""
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Look at the condition only."""
        node.test = self.visit(node.test)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Drop a text that stands as a remark."""
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Keep literal exponents; refuse bits, and remainders of what may be rounded."""
        self._refuse_bits(node, node.op, node.left, node.right)
        if isinstance(node.op, ast.Pow):
            node.left, node.right = self.visit(node.left), self._exponent(node.right)
            return node
        if isinstance(node.op, (ast.Mod, ast.FloorDiv)):
            for part in ast.walk(node.left):
                power = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow)
                if power and self._is_whole(part):
                    what = "takes a remainder or quotient of a power of whole numbers"
                    raise self.refuse(node, what, "write the power as a float, 2.0**n")
        if isinstance(node.op, ast.Mult):
            sides = (node.left, node.right)
            if any(isinstance(side, (ast.List, ast.Tuple)) for side in sides):
                node.left, node.right = (
                    self.visit(s) if isinstance(s, (ast.List, ast.Tuple)) else self._integer(s)
                    for s in sides
                )
                return node
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Treat ``x **= 2`` and ``x <<= 1`` as the operations that they are."""
        self._refuse_bits(node, node.op, node.target, node.value)
        if isinstance(node.op, ast.Pow):
            node.value = self._exponent(node.value)
            return node
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Refuse the complement of bits."""
        if isinstance(node.op, ast.Invert):
            raise self.refuse(node, "works on bits", _NO_BITS)
        literal = isinstance(node.operand, ast.Constant)
        if isinstance(node.op, ast.USub) and not literal and self._is_whole(node.operand):
            # no whole number is -0.0
            return ast.BinOp(ast.Constant(0.0), ast.Sub(), self.visit(node.operand))
        return self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        """Refuse assignments inside expressions."""
        name = node.target.id
        raise self.refuse(node, f"assigns {name} inside an expression", "write it a line before")

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """Refuse to catch what a sweep does not raise."""
        raise self.refuse(node, "catches exceptions", "ask for the condition with if")

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """Write a generator as a list."""
        return self.generic_visit(ast.ListComp(node.elt, node.generators))

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Return a condition as a number."""
        given = node.value
        self.generic_visit(node)
        if node.value is not None and _is_condition(given):
            node.value = _product(node.value)
        return node

    def _refuse_bits(self, node: ast.AST, op: ast.operator, *sides: ast.AST) -> None:
        whole = any(self._is_whole(side) for side in sides)
        if isinstance(op, _SHIFTS) or (isinstance(op, _BITS) and whole):
            raise self.refuse(node, "works on bits", _NO_BITS)

    def _exponent(self, node: ast.expr) -> ast.expr:
        """Exponents that are whole literals stay so: multiplied out, and as quick as before."""
        value = node.value if isinstance(node, ast.Constant) else self._value(node)
        if type(value) is int and 0 <= value <= EXACT:
            return ast.Constant(value)
        return self.visit(node)  # type: ignore[no-any-return]

    def _integer(self, node: ast.expr) -> ast.expr:
        """An expression where Python wants an integer."""
        inner = node.operand if isinstance(node, ast.UnaryOp) else node
        if isinstance(inner, ast.Constant):
            return node
        return _call("int", self.visit(node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Index with integers."""
        node.value = self.visit(node.value)
        node.slice = self._index(node.slice)
        return node

    def _index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Slice):
            for end in ("lower", "upper", "step"):
                given = getattr(node, end)
                setattr(node, end, self._integer(given) if given is not None else None)
            return node
        if isinstance(node, ast.Tuple):
            node.elts = [self._index(element) for element in node.elts]
            return node
        if self.tables and not self._is_whole(node):
            return self.visit(node)  # type: ignore[no-any-return]
        return self._integer(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        """Count in integers, and hand the body a float."""
        self.generic_visit(node)
        counts = isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name)
        function = self._value(node.iter.func) if isinstance(node.iter, ast.Call) else None
        target: ast.expr | None = node.target
        if function is enumerate and isinstance(target, ast.Tuple):
            target = target.elts[0]
        elif function is not range:
            target = None
        if counts and isinstance(target, ast.Name):
            name = target.id
            target.id = f"{name}_whole_"
            value = _call("float", ast.Name(target.id, ast.Load()))
            node.body.insert(0, ast.Assign([ast.Name(name, ast.Store())], value))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Round to floats; give integers where a function wants them."""
        called = self._value(node.func)
        name = getattr(called, "__name__", "")
        if _among(called, _TEXTUAL) or (
            isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join")
        ):
            raise self.refuse(node, f"makes text ({name or ast.unparse(node.func)})", _NO_TEXT)
        if _among(called, _ALL_WHOLE):
            node.args = [self._integer(a) for a in node.args]
            return node if called is range else _call("float", node)
        if _among(called, ROUNDINGS) and len(node.args) == 1:
            rounded = _call(ROUNDED[ROUNDINGS[called]], _product(self.visit(node.args[0])))
            return ast.BinOp(rounded, ast.Add(), ast.Constant(0.0))  # no whole number is -0.0
        if _among(called, (any, all)):
            instead = f"join the conditions with {'or' if called is any else 'and'}"
            raise self.refuse(node, f"calls {name}", instead)
        if hasattr(called, "model") and hasattr(called, "kernels"):
            name = ast.unparse(node.func)
            instead = f"call its kernel, {name}.kernels[...], under a name of its own"
            raise self.refuse(node, f"calls {name} (of quantities)", instead)
        if called is round and len(node.args) + len(node.keywords) > 1:
            what = "rounds to a number of digits"
            raise self.refuse(node, what, "write round(100.0 * x) / 100.0 for two digits")
        if called is math.ldexp and len(node.args) == 2:
            node.args = [self.visit(node.args[0]), self._integer(node.args[1])]
            return node
        if called is len:
            self.generic_visit(node)
            return _call("float", node)
        if called is float and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            return node  # float("inf")
        keep = isinstance(node.func, ast.Attribute) and self._value(node.func.value) is np
        node.args = [a if keep and isinstance(a, ast.Constant) else self.visit(a)
                     for a in node.args]  # fmt: skip
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        node.func = node.func if isinstance(node.func, ast.Name) else self.visit(node.func)
        return node


def _among(called: Any, functions: Any) -> bool:
    """Whether a value is one of some functions (a value may not be hashable)."""
    return any(called is function for function in functions)


def _is_condition(node: ast.expr | None) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(_is_condition(value) for value in node.values)
    return isinstance(node, ast.Compare) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _call(name: str, argument: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(name, ast.Load()), args=[argument], keywords=[])


def _product(value: ast.expr) -> ast.BinOp:
    """A float of a condition, too."""
    return ast.BinOp(ast.Constant(1.0), ast.Mult(), value)


def floats_of(value: Any) -> Any:
    """Whole numbers of a constant tuple as floats."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(floats_of(item) for item in value)
    return float(value) if type(value) is int else value
