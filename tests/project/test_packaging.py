"""The wheel: what it holds, and that nothing of the tree around it is in it."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import scalemath as sm

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "scalemath").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == ours
    assert {"scalemath/py.typed", "scalemath/units/definitions.txt"} <= held
    assert any(name.endswith(".toml") for name in held)


def test_wheel_says_what_it_needs(wheel: zipfile.ZipFile) -> None:
    (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    lines = wheel.read(name).decode().splitlines()
    required = {
        line.removeprefix("Requires-Dist: ").split(">")[0]
        for line in lines
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    }
    assert required == {"attrs", "numba", "numpy", "pint"}
    assert "License-Expression: BSD-3-Clause" in lines
    assert "License-File: LICENSE" in lines
    assert f"Version: {sm.__version__}" in lines


def test_extra_all_is_the_sum_of_the_others() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = set(extras["all"][0].removeprefix("scalemath[").removesuffix("]").split(","))
    assert named == set(extras) - {"all"}


def test_installed_version_is_that_of_the_package() -> None:
    try:
        installed = importlib.metadata.version("scalemath")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("run from the tree, not installed")
    assert installed == sm.__version__
