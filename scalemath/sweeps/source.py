"""Collects the source of kernels, and of all they use, into one flat text.

A compiled driver is one generated module that holds everything it needs: the functions it
calls, the NamedTuples they return and the constants they read. `collect` follows names from
a set of functions through their globals; where a function has no readable source
(defined at a prompt, by exec, or closing over variables) the function object itself is handed
over and the module is not cached on disk.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import math
import textwrap
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from attrs import define, field

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import total
from scalemath.sweeps import consumers, fronts
from scalemath.sweeps.branchfree import branch_free

PlainFunction = Callable[..., Any]

APART = (consumers.__name__, fronts.__name__)
"""Modules whose functions take whole rows: called, not inlined, and with their branches."""
_CONSTANT_TYPES = (bool, int, float, str, type(None))


@define
class Collected:
    """Flat source of several functions.

    Attributes
    ----------
    names : dict
        Function to the name it bears in the text.
    text : list of str
        Definitions in an order in which each can be executed.
    objects : dict
        Functions for which no source could be read, by name; they are injected.
    """

    names: dict[PlainFunction, str] = field(factory=dict)
    text: list[str] = field(factory=list)
    objects: dict[str, PlainFunction] = field(factory=dict)
    _taken: dict[str, Any] = field(factory=dict)

    def claim(self, wanted: str, owner: Any) -> str:
        """Reserve a name; a second owner of the same name gets a numbered one."""
        name, number = wanted, 2
        while name in self._taken and self._taken[name] is not owner:
            name, number = f"{wanted}_{number}", number + 1
        self._taken[name] = owner
        return name


def collect(
    functions: Iterable[PlainFunction], replacements: dict[PlainFunction, str] | None = None
) -> Collected:
    """Gather the definitions of functions and of everything they refer to.

    Parameters
    ----------
    functions : iterable of callable
        Plain functions that the driver calls.
    replacements : dict, optional
        Source to use instead of a function's own, for example a faster equal primitive.

    Returns
    -------
    Collected
        Text and names.
    """
    found = Collected()
    for function in functions:
        _add_function(found, function, replacements or {})
    return found


def _add_function(
    found: Collected, function: PlainFunction, replacements: dict[PlainFunction, str]
) -> str:
    """Add one function with what it needs and return its name in the text."""
    if function in found.names:
        return found.names[function]
    function_name = getattr(function, "__name__", "function")
    if not function_name.isidentifier():
        function_name = "function"
    name = found.names[function] = found.claim(function_name, function)
    if function is total:
        found.text.append("from scalemath.core.kernel import total")
        return name
    replaced = function in replacements or function.__module__ in APART
    definition = _definition(function, replacements.get(function))
    if definition is None:
        found.objects[name] = function
        return name
    renames = {}
    for used in sorted(_global_names(definition)):
        if used == function_name:
            renames[used] = name
        elif used in getattr(function, "__globals__", {}):
            value = function.__globals__[used]
            renames[used] = _add_value(found, used, value, replacements)
    definition.name = name
    _Rename(renames).visit(definition)
    if not replaced:
        definition = branch_free(definition)
    found.text.append(ast.unparse(definition))
    return name


def _add_value(
    found: Collected, name: str, value: Any, replacements: dict[PlainFunction, str]
) -> str:
    """Add a global that a function refers to: function, NamedTuple, constant or `math`."""
    if value is math:
        return "math"
    if value is np:
        return "np"
    if hasattr(value, "model") and hasattr(value, "kernels"):
        raise ArgumentError(
            f"a model function calls {name}, which takes quantities; call its kernel instead: "
            f"{name}.kernels[...] under a name of its own"
        )
    if inspect.isfunction(value):
        return _add_function(found, value, replacements)
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        taken = found.claim(name, value)
        line = f"{taken} = namedtuple({taken!r}, {tuple(value._fields)!r})"
    elif isinstance(value, _CONSTANT_TYPES) or (
        isinstance(value, tuple) and all(isinstance(item, _CONSTANT_TYPES) for item in value)
    ):
        taken = found.claim(name, (type(value), repr(value)))
        line = f"{taken} = {_literal(value)}"
    elif inspect.isbuiltin(value) and value in vars(math).values():
        taken = found.claim(name, value)
        line = f"{taken} = math.{value.__name__}"
    else:
        raise ArgumentError(
            f"a model function uses the global {name!r} of type {type(value).__name__}, which "
            "cannot be compiled; use numbers, math and other plain functions, or pass it in "
            "as a parameter"
        )
    if line not in found.text:
        found.text.append(line)
    return taken


def _literal(value: Any) -> str:
    """Spell a constant so that inf and nan survive."""
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(item)}, " for item in value) + ")"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def _definition(function: PlainFunction, replacement: str | None) -> ast.FunctionDef | None:
    """Parse the source of a function, bare of decorators, annotations and docstring."""
    if not isinstance(function, types.FunctionType):
        return None
    if function.__closure__ or function.__defaults__ or function.__kwdefaults__:
        return None
    try:
        text = replacement or inspect.getsource(function)
        tree = ast.parse(textwrap.dedent(text))
    except (OSError, TypeError, SyntaxError):
        return None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        return None
    node.decorator_list = []
    if replacement is None and not _is_of(node, function):
        return None
    node.returns = None
    for argument in [*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs]:
        argument.annotation = None
    if ast.get_docstring(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    return _StripAnnotations().visit(node)  # type: ignore[no-any-return]


def _is_of(definition: ast.FunctionDef, function: types.FunctionType) -> bool:
    """Whether a text is that of a function: its file may have changed since it was read."""
    globals_ = function.__globals__
    modules = [n for n in function.__code__.co_names if inspect.ismodule(globals_.get(n))]
    # calls on an imported name are compiled in another way
    imports: list[ast.stmt] = [ast.Import([ast.alias(n)]) for n in modules]
    module = ast.fix_missing_locations(ast.Module([*imports, definition], []))
    future = function.__code__.co_flags & __future__.annotations.compiler_flag
    code = compile(module, "<text>", "exec", flags=future, dont_inherit=True)
    made = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    return _essence(made) == _essence(function.__code__)


def _essence(code: types.CodeType) -> tuple[Any, ...]:
    """What a piece of code does, wherever it stands; texts in it are left out of account."""
    constants = [_essence(c) if isinstance(c, types.CodeType) else (type(c), repr(c))
                 for c in code.co_consts if not isinstance(c, str)]  # fmt: skip
    return code.co_code, code.co_names, code.co_varnames, tuple(constants)


def _global_names(definition: ast.FunctionDef) -> set[str]:
    """Names read in a function that are not its parameters or local variables."""
    local = {argument.arg for argument in definition.args.args}
    read: set[str] = set()
    for node in ast.walk(definition):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else local).add(node.id)
    return read - local


class _StripAnnotations(ast.NodeTransformer):
    """Turns `x: float = 1.0` into `x = 1.0`."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


class _Rename(ast.NodeTransformer):
    """Renames global names to those they bear in the flat text."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        new = self.names.get(node.id, node.id)
        return ast.copy_location(ast.Name(id=new, ctx=node.ctx), node) if new != node.id else node
