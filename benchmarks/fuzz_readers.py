"""Coverage-guided fuzzing of every reader with atheris, run by hand.

``python benchmarks/fuzz_readers.py -runs=200000 [-max_len=4096]`` in an environment that has
atheris. Only a ReadError may come out. The fixtures of the tests are the first inputs; give a
folder as the last argument to keep what is found.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
with atheris.instrument_imports(include=["scalemath.readers"]):
    from helpers.reader_fixtures import FIXTURES

    import scalemath as sm
    from scalemath.readers.detect import KINDS

    READERS = [sm.read, *(getattr(sm.read, kind) for kind in KINDS)]


def one_input(data: bytes) -> None:
    """Read one input by the reader that its first byte names, and show the result."""
    if not data:
        return
    reader = READERS[data[0] % len(READERS)]
    try:
        found = reader(data[1:].decode("utf-8", errors="replace") + "\n")
    except sm.ReadError:
        return
    str(found)
    if hasattr(found, "explain"):
        found.explain()


def main() -> None:
    """Begin with the fixtures."""
    with tempfile.TemporaryDirectory() as folder:
        for place, kind in enumerate(KINDS):
            seed = bytes([place + 1]) + FIXTURES[kind].encode()
            Path(folder, kind).write_bytes(seed)
            Path(folder, f"{kind}-any").write_bytes(bytes([0]) + FIXTURES[kind].encode())
        atheris.Setup([*sys.argv, folder], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
