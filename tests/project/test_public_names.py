"""The public face: every name is there, and no room hides behind the name of a function."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import scalemath as sm

OPTIONAL = {"dask", "distributed", "matplotlib", "pandas", "pyarrow", "scipy", "tqdm", "xarray"}


def modules() -> list[str]:
    found = pkgutil.walk_packages(sm.__path__, "scalemath.")
    return sorted(m.name for m in found if not m.name.endswith("__main__"))


@pytest.mark.parametrize("name", modules())
def test_every_module_imports(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").split(".")[0] in OPTIONAL:
            pytest.skip(f"needs {error.name}")
        raise


def test_public_names_survive_the_import_of_every_room() -> None:
    for name in modules():
        try:
            importlib.import_module(name)
        except ImportError as error:
            assert (error.name or "").split(".")[0] in OPTIONAL  # noqa: PT017
    for name in sm.__all__:
        assert getattr(sm, name) is not None


def test_public_names_are_listed_once_and_in_dir() -> None:
    assert len(sm.__all__) == len(set(sm.__all__))
    assert set(sm.__all__) <= set(dir(sm))


def test_no_room_or_module_bears_the_name_of_a_public_function() -> None:
    functions = {n for n in sm.__all__ if callable(getattr(sm, n)) and not n.startswith("__")}
    bearing = {m for m in modules() if m.count(".") == 1 and m.rpartition(".")[2] in functions}
    assert not bearing


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        sm.no_such_name


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LATE = "print(*sorted({'numba', 'llvmlite', 'matplotlib'} & set(sys.modules)))"


def test_import_leaves_numba_unloaded() -> None:
    assert run(f"import sys, scalemath; {LATE}") == ""


def test_scalar_calls_leave_numba_unloaded() -> None:
    calls = (
        "import sys, scalemath as sm;"
        "r = sm.allreduce(size='2 GiB', ranks=72, bandwidth='900 GB/s/dir', latency='1 us');"
        "str(r); r.explain(); r.time.to('ms'); r.to_dict();"
        "sm.message_time(size='1 MB', bandwidth='100 GB/s', latency='2 us');"
        "sm.amdahl(serial_fraction=0.1, ranks=8);"
    )
    assert run(calls + LATE) == ""
