"""Every code block of the README and the documentation runs, and prints what is shown.

Blocks of one file run in order in one namespace. What is understood:

- ``python`` with ``>>>``: a doctest; without: run, and compared with an ``output`` block below it.
- ``{code-cell}``: run; the documentation build shows its result.
- ``console``: lines after ``$`` that start with ``python`` run here and are compared.
- ``sh``: the two commands and the tasks of the README, which ``.ci/run`` takes from there.

In expected text ``...`` stands for anything and runs of blanks count as one.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=fence)\s*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    """One fenced block: where it stands, what it is, its lines and the output shown below it."""

    line: int
    kind: str
    body: str
    expected: str | None = None
    options: list[str] = field(default_factory=list)


def pages() -> list[Path]:
    built = ROOT / "docs" / "_build"
    found = [p for p in sorted((ROOT / "docs").rglob("*.md")) if built not in p.parents]
    return [ROOT / "README.md", *found]


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found: list[Block] = []
    end_of_last = 0
    for match in FENCE.finditer(text):
        kind = (match["info"].split() or [""])[0]
        body = match["body"]
        between = text[end_of_last : match.start()]
        end_of_last = match.end()
        if kind == "output":
            assert found, f"{path.name}: an output block without a block above it"
            assert not between.strip(), f"{path.name}: text stands between a block and its output"
            found[-1].expected = body
            continue
        options = []
        if kind == "{code-cell}":
            lines = body.splitlines(keepends=True)
            while lines and (lines[0].startswith(":") or not lines[0].strip()):
                options.append(lines.pop(0).strip())
            body = "".join(lines)
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(line, kind, body, options=options))
    return found


def matches(expected: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(expected, got, FLAGS)


def run_python(path: Path, block: Block, namespace: dict[str, Any]) -> str:
    """Run a block of plain Python with its real line numbers; return what it printed."""
    source = "\n" * (block.line - 1) + block.body
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if any("raises-exception" in option for option in block.options):
            with pytest.raises(Exception):  # noqa: B017
                exec(compile(source, str(path), "exec"), namespace)
        else:
            exec(compile(source, str(path), "exec"), namespace)
    return printed.getvalue()


def run_doctest(path: Path, block: Block, namespace: dict[str, Any]) -> str:
    """Run a block of prompts; return the report of what differed."""
    test = doctest.DocTestParser().get_doctest(
        block.body, namespace, path.name, str(path), block.line - 1
    )
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.write, clear_globs=False)
    namespace.update(test.globs)
    return report.getvalue()


def run_console(block: Block) -> str:
    """Run the commands after each prompt; return the report of what differed."""
    problems = []
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        words = shlex.split(command)
        if words[0] not in {"python", "python3"}:
            problems.append(f"{command!r}: only python commands can be checked; use a sh block")
            continue
        done = subprocess.run(
            [sys.executable, *words[1:]],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        if done.returncode:
            problems.append(f"{command!r} failed:\n{done.stderr}")
        elif expected.strip() and not matches(expected, done.stdout):
            problems.append(f"{command!r} printed:\n{done.stdout}\nshown is:\n{expected}")
    return "\n".join(problems)


def readme_commands() -> set[str]:
    """Commands of the README that the checks take from there."""
    lines = (b.body.splitlines() for b in blocks(ROOT / "README.md") if b.kind == "sh")
    return {line.partition("  #")[0].strip() for body in lines for line in body if line.strip()}


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Figures stay open until told otherwise; the documentation build closes its own."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_code_blocks(path: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(path):
        where = f"{path.relative_to(ROOT)}, line {block.line}"
        if block.kind == "python" and ">>> " in block.body:
            report = run_doctest(path, block, namespace)
            assert not report, f"{where}:\n{report}"
        elif block.kind in {"python", "{code-cell}"}:
            printed = run_python(path, block, namespace)
            if block.expected is not None:
                assert matches(block.expected, printed), f"{where} printed:\n{printed}"
        elif block.kind == "console":
            report = run_console(block)
            assert not report, f"{where}:\n{report}"
        elif block.kind == "sh":
            shown = {line.partition("  #")[0].strip() for line in block.body.splitlines()}
            assert shown - {""} <= readme_commands(), f"{where}: not a command of the README"


def test_readme_commands_stand_alone() -> None:
    """The two commands are single lines that make their own environment."""
    commands = readme_commands()
    main_job = [c for c in commands if re.fullmatch(r"python3 -m venv .* -m scalemath", c)]
    tests = [c for c in commands if re.fullmatch(r"python3 -m venv .* -m pytest", c)]
    assert len(main_job) == 1
    assert len(tests) == 1


def test_checks_take_their_commands_from_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "README.md" in script
    assert "<!-- tasks -->" in script
    assert "<!-- tasks -->" in (ROOT / "README.md").read_text(encoding="utf-8")
