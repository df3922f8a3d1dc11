"""Turns a kernel's if/else into straight-line code that picks among computed values.

A processor handles eight points at once only if all eight take the same path. Kernels are cheap
and free of side effects, so both sides of every condition can be computed and the right one
picked; in strict arithmetic the picked value is bit for bit the one that the branch would give.
Functions with loops, or with a return hidden in only a part of a branch, stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

PICK = "pick"
"""Name of the function ``pick(condition, if_true, if_false)`` that the driver module defines."""


class _Unsuited(Exception):
    """The function cannot be written without branches."""


def branch_free(function: ast.FunctionDef) -> ast.FunctionDef:
    """Return the function without branches, or as it is where that is not possible.

    Parameters
    ----------
    function : ast.FunctionDef
        Parsed function, bare of decorators and docstring.

    Returns
    -------
    ast.FunctionDef
        Straight-line function.
    """
    if not any(isinstance(node, (ast.If, ast.IfExp, ast.BoolOp)) for node in ast.walk(function)):
        return function
    writer = _Writer()
    try:
        result = writer.run(function.body, {})
    except _Unsuited:
        return function
    if result is None:
        return function
    new = ast.parse("def name(): pass").body[0]
    assert isinstance(new, ast.FunctionDef)
    new.name, new.args = function.name, function.args
    new.body = [*writer.lines, ast.Return(value=result)]
    return ast.fix_missing_locations(new)


class _Writer:
    """Writes statements one after another, each variable under a fresh name."""

    def __init__(self) -> None:
        self.lines: list[ast.stmt] = []
        self.count = 0

    def fresh(self, name: str) -> str:
        """Return a name that no other statement assigns."""
        self.count += 1
        return f"{name}_{self.count}_"

    def run(self, body: Sequence[ast.stmt], names: dict[str, str]) -> ast.expr | None:
        """Write statements; return the value returned, or None when they run through."""
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            if isinstance(statement, ast.Return):
                if statement.value is None:
                    raise _Unsuited
                return self.value(statement.value, names)
            if isinstance(statement, ast.If):
                return self.branch(statement, rest, names)
            self.assign(statement, names)
        return None

    def branch(
        self, statement: ast.If, rest: Sequence[ast.stmt], names: dict[str, str]
    ) -> ast.expr | None:
        """Write both sides of a condition and pick."""
        test = self.keep("test", self.value(statement.test, names))
        first_leaves, other_leaves = _leaves(statement.body), _leaves(statement.orelse)
        if first_leaves or other_leaves:
            # what follows belongs to the side that runs through
            first = statement.body if first_leaves else [*statement.body, *rest]
            other = statement.orelse if other_leaves else [*statement.orelse, *rest]
            chosen = self.run(first, dict(names))
            if chosen is not None:
                chosen = self.keep("result", chosen)
            left = self.run(other, dict(names))
            if chosen is None or left is None:
                raise _Unsuited
            return _pick(test, chosen, left)
        inner, outer = dict(names), dict(names)
        if self.run(statement.body, inner) or self.run(statement.orelse, outer):
            raise _Unsuited
        for name in sorted({*inner, *outer}):
            if inner.get(name) == outer.get(name):
                continue
            if name not in inner or name not in outer:
                continue  # assigned on one side only: not read afterwards
            new = self.fresh(name)
            picked = _pick(test, _name(inner[name]), _name(outer[name]))
            self.write(new, picked)
            names[name] = new
        return self.run(rest, names)

    def assign(self, statement: ast.stmt, names: dict[str, str]) -> None:
        """Write an assignment under a fresh name."""
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            old = ast.Name(id=statement.target.id, ctx=ast.Load())
            value: ast.expr = ast.BinOp(left=old, op=statement.op, right=statement.value)
            targets: list[ast.expr] = [statement.target]
        elif isinstance(statement, ast.Assign):
            value, targets = statement.value, statement.targets
        elif isinstance(statement, ast.Pass):
            return
        else:
            raise _Unsuited
        written = self.value(value, names)
        if len(targets) != 1:
            raise _Unsuited
        target = targets[0]
        if isinstance(target, ast.Name):
            names[target.id] = self.fresh(target.id)
            self.write(names[target.id], written)
        elif isinstance(target, ast.Tuple):
            whole = self.keep("parts", written)
            for i, part in enumerate(target.elts):
                if not isinstance(part, ast.Name):
                    raise _Unsuited
                names[part.id] = self.fresh(part.id)
                item = ast.Subscript(value=whole, slice=ast.Constant(value=i), ctx=ast.Load())
                self.write(names[part.id], item)
        else:
            raise _Unsuited

    def value(self, node: ast.expr, names: dict[str, str]) -> ast.expr:
        """Return an expression over the fresh names, its conditions turned into picks."""
        return _Expression(names).visit(_copy(node))  # type: ignore[no-any-return]

    def keep(self, name: str, value: ast.expr) -> ast.expr:
        """Give a value a name, so that it is computed once."""
        new = self.fresh(name)
        self.write(new, value)
        return _name(new)

    def write(self, name: str, value: ast.expr) -> None:
        """Write one assignment."""
        target = ast.Name(id=name, ctx=ast.Store())
        self.lines.append(ast.Assign(targets=[target], value=value))


class _Expression(ast.NodeTransformer):
    """Renames variables and replaces conditional expressions."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Use the present name of a variable."""
        return ast.Name(id=self.names.get(node.id, node.id), ctx=ast.Load())

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Pick instead of branching."""
        return _pick(self.visit(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Join comparisons bitwise."""
        if not all(_is_condition(value) for value in node.values):
            raise _Unsuited
        operator: ast.operator = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        joined: ast.expr = self.visit(node.values[0])
        for value in node.values[1:]:
            joined = ast.BinOp(left=joined, op=operator, right=self.visit(value))
        return joined

    def visit_NamedExpr(self, _: ast.NamedExpr) -> ast.AST:
        """Refuse assignments inside expressions."""
        raise _Unsuited

    def visit_Lambda(self, _: ast.Lambda) -> ast.AST:
        """Refuse functions inside functions."""
        raise _Unsuited


def _is_condition(node: ast.expr) -> bool:
    """Whether an expression is true or false for certain."""
    if isinstance(node, ast.BoolOp):
        return all(_is_condition(value) for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _is_condition(node.operand)
    return isinstance(node, ast.Compare) and len(node.ops) == 1


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether statements return on every path."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    return isinstance(last, ast.If) and _leaves(last.body) and _leaves(last.orelse)


def _pick(test: ast.expr, first: ast.expr, other: ast.expr) -> ast.Call:
    return ast.Call(func=_name(PICK), args=[test, first, other], keywords=[])


def _name(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _copy(node: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(node), mode="eval").body
