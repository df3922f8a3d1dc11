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
import re
import textwrap
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from attrs import define, field

from scalemath.core.errors import ArgumentError
from scalemath.core.kernel import total
from scalemath.sweeps import consumers, fronts
from scalemath.sweeps.around import behind, enclosed, is_library, outside
from scalemath.sweeps.branchfree import branch_free
from scalemath.sweeps.expressions import literal
from scalemath.sweeps.floats import ROUNDED, check_code, floats_of, in_floats, unread_in_floats

PlainFunction = Callable[..., Any]

APART = (consumers.__name__, fronts.__name__)
"""Modules whose functions take whole rows: called, not inlined, and with their branches."""
_GENERATED = re.compile(
    r"(free_)?(values?|point)(_\d+)?|numba|np|math|namedtuple|pick|stream_row|settle|relink"
    r"|scalar|exact|helper|driver?|total|whole_\w+"
)
"""Names that the rest of a driver's text uses; a user's function of such a name gets another."""
KEPT = "_scalemath_text"
"""Attribute that holds the text of a user's function, which goes with it to another process."""
_MAY_NOT_RETURN = (
    ast.While, ast.For, ast.comprehension, ast.Raise, ast.Assert, ast.Subscript, ast.Starred,
)  # fmt: skip
_HARMLESS = (min, max, abs, float, bool, int, round, len, *vars(math).values())
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
        if owner is not total and not is_library(owner) and _is_reserved(wanted):
            name = f"{wanted}_own"
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


def _is_reserved(name: str) -> bool:
    """Whether the text has a meaning of its own for a name."""
    rows = any(hasattr(module, name) for module in (consumers, fronts))
    return rows or _GENERATED.fullmatch(name) is not None


def check(function: PlainFunction, met: set[PlainFunction] | None = None) -> None:
    """Refuse a function that a sweep could not compute as the single call does.

    Parameters
    ----------
    function : callable
        A user's function; its helpers are looked at too, as far as they are there yet.
    met : set, optional
        Functions looked at already.

    Raises
    ------
    ArgumentError
        If it works on text, on bits, or on whole numbers too large for a float.
    """
    met = set() if met is None else met
    if function in met or is_library(function) or hasattr(function, "model"):
        return
    met.add(function)
    definition = _definition(function, None)
    if definition is None:
        check_code(function)
        return
    around = _around(function)
    for used in sorted(_global_names(in_floats(definition, function, around))):
        if inspect.isfunction(around.get(used)):
            check(around[used], met)


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
        if isinstance(function, types.FunctionType) and not is_library(function):
            check_code(function)
            found.objects[name] = unread_in_floats(function)
        found.text.append(f"# {name} uses {hash(outside(function))}")
        return name
    around = _around(function)
    own = not replaced and not is_library(function)
    straight = not replaced
    if own:
        straight = _always_returns(function)
        definition = in_floats(definition, function, around)
    renames = {}
    for used in sorted(_global_names(definition)):
        if used == function_name:
            renames[used] = name
        elif used in around:
            value = floats_of(around[used]) if own else around[used]
            renames[used] = _add_value(found, used, value, replacements)
        elif used in ROUNDED.values():
            _add_line(found, f"{used} = np.{used.removeprefix('whole_')}")
    definition.name = name
    _Rename(renames).visit(definition)
    if straight:
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
    if inspect.isfunction(value):
        return _add_function(found, value, replacements)
    if _is_named_tuple(value):
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
    _add_line(found, line)
    return taken


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def _add_line(found: Collected, line: str) -> None:
    """Add a line that several functions may need."""
    if line not in found.text:
        found.text.append(line)


def _literal(value: Any) -> str:
    """Spell a constant so that inf and nan survive."""
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(item)}, " for item in value) + ")"
    return literal(value) if isinstance(value, float) else repr(value)


def _always_returns(function: PlainFunction, met: tuple[PlainFunction, ...] = ()) -> bool:
    """Whether a function ends for any numbers, so that it may be computed where it is not wanted.

    Loops may go on for ever with numbers that the user keeps from them, and indices, raise and
    assert end the sweep.
    """
    definition = None if function in met else _definition(function, None)
    if definition is None:
        return False
    around = _around(function)
    for node in ast.walk(definition):
        if isinstance(node, _MAY_NOT_RETURN):
            return False
        if isinstance(node, ast.Call):
            called = behind(node.func, around)
            if inspect.isfunction(called):
                if not _always_returns(called, (*met, function)):
                    return False
            elif not any(called is known for known in _HARMLESS) and not _is_named_tuple(called):
                return False
    return True


def _definition(function: PlainFunction, replacement: str | None) -> ast.FunctionDef | None:
    """Parse the source of a function, bare of decorators, annotations and docstring."""
    if not isinstance(function, types.FunctionType):
        return None
    defaults = function.__defaults__ or ()
    if function.__kwdefaults__ or ((function.__closure__ or defaults) and is_library(function)):
        return None
    plain = all(type(d) in (int, float) and not math.isnan(d) for d in defaults)
    if not plain or not _is_simple(function):
        return None
    node: ast.stmt | None
    text = replacement or getattr(function, KEPT, "")
    try:
        if function.__name__ == "<lambda>" and not text:
            node = _lambda(function)
        else:
            node = ast.parse(textwrap.dedent(text or inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    node.decorator_list = []
    if replacement is None:
        if not _is_of(node, function):
            return None
        if not is_library(function):
            setattr(function, KEPT, ast.unparse(node))
    node.returns = None
    node.args.defaults = [ast.Constant(float(d)) for d in defaults]
    for argument in [*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs]:
        argument.annotation = None
    if ast.get_docstring(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    given = node.args.args[len(node.args.args) - len(defaults) :]
    # a default is a type of its own to the compiler until it is made a float
    node.body = [ast.parse(f"{a.arg} = float({a.arg})").body[0] for a in given] + node.body
    return _StripAnnotations().visit(node)  # type: ignore[no-any-return]


def _lambda(function: types.FunctionType) -> ast.FunctionDef | None:
    """Write the lambda that a function is as a definition, if it can be told from others."""
    lines, _ = inspect.findsource(function)
    first = function.__code__.co_firstlineno
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.Lambda) and node.lineno == first:
            text = f"def function({ast.unparse(node.args)}): return {ast.unparse(node.body)}"
            made = ast.parse(text).body[0]
            assert isinstance(made, ast.FunctionDef)
            if _is_of(made, function):
                return made
    return None


def _around(function: PlainFunction) -> dict[str, Any]:
    """Values of the names around a function: its globals, and what it closes over."""
    if not isinstance(function, types.FunctionType):
        return {}
    return {**function.__globals__, **enclosed(function)}


def _is_simple(function: types.FunctionType) -> bool:
    """Whether all that a function closes over can be written down."""
    values = enclosed(function)
    return len(values) == len(function.__code__.co_freevars) and all(
        isinstance(value, (*_CONSTANT_TYPES, types.FunctionType)) for value in values.values()
    )


def _is_of(definition: ast.FunctionDef, function: types.FunctionType) -> bool:
    """Whether a text is that of a function: its file may have changed since it was read."""
    globals_ = function.__globals__
    modules = [n for n in function.__code__.co_names if inspect.ismodule(globals_.get(n))]
    # calls on an imported name are compiled in another way, and a module need not be imported here
    imports: list[ast.stmt] = [ast.Import([ast.alias(n)]) for n in modules]
    return any(_compiled_alike(definition, function, lines) for lines in (imports, []))


def _compiled_alike(
    definition: ast.FunctionDef, function: types.FunctionType, imports: list[ast.stmt]
) -> bool:
    """Whether a text, after some imports, compiles to the code of a function."""
    free = function.__code__.co_freevars
    body: list[ast.stmt] = [definition]
    if free:  # stands in a function whose variables it uses
        empty: list[ast.stmt] = [ast.parse(f"{name} = None").body[0] for name in free]
        maker = ast.parse("def maker(): pass").body[0]
        assert isinstance(maker, ast.FunctionDef)
        maker.body = [*empty, definition]
        body = [maker]
    module = ast.fix_missing_locations(ast.Module([*imports, *body], []))
    future = function.__code__.co_flags & __future__.annotations.compiler_flag
    code = compile(module, "<text>", "exec", flags=future, dont_inherit=True)
    for _ in range(2 if free else 1):
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    return _essence(code) == _essence(function.__code__)


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
