"""Kernels stay plain: what their files import, and that nothing compiles them on definition."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import scalemath.kernels

FOLDER = Path(scalemath.kernels.__file__).parent
ALLOWED = {"__future__", "math", "typing", "scalemath.core.kernel"}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_kernel_files_import_only_math_and_each_other(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    strange = {m for m in imported - ALLOWED if not m.startswith("scalemath.kernels")}
    assert not strange


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_kernel_files_raise_and_allocate_nothing(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    forbidden = (ast.Raise, ast.Try, ast.ListComp, ast.DictComp, ast.List, ast.Dict, ast.JoinedStr)
    found = [
        f"{function.name}, line {node.lineno}: {type(node).__name__}"
        for function in functions
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, forbidden)
    ]
    assert not found
