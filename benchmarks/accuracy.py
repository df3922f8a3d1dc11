"""Score predictions against measured tables in any folder.

``python benchmarks/accuracy.py --facts DIR [--only NAME ...]``

Every module ``accuracy_NAME.py`` beside this file holds ``score(folder) -> list of Score`` (or a
dict of set name to pairs of label and signed relative error, then taken as in sample unless the
module names another ``KIND``) and raises FileNotFoundError when its table is not in the folder.
No row informs its own prediction in a line marked "left out" or "independent"; lines marked "in
sample" are printed beside them.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

from scoring import IN_SAMPLE, Score, score_of_errors, table_of


def modules() -> list[str]:
    """Names of the scores that can be computed."""
    here = Path(__file__).parent
    return sorted(p.stem.removeprefix("accuracy_") for p in here.glob("accuracy_*.py"))


def scores_of(module: Any, folder: Path) -> list[Score]:
    """Scores of one module in the common form."""
    found = module.score(folder)
    if isinstance(found, dict):
        kind = getattr(module, "KIND", IN_SAMPLE)
        return [score_of_errors(n, kind, [e for _, e in pairs]) for n, pairs in found.items()]
    return list(found)


def main() -> None:
    """Print one table per score."""
    parser = argparse.ArgumentParser(description="Score predictions against measured tables.")
    parser.add_argument("--facts", type=Path, required=True, help="folder with the tables")
    parser.add_argument("--only", nargs="+", choices=modules(), default=modules())
    arguments = parser.parse_args()
    for name in arguments.only:
        module = importlib.import_module(f"accuracy_{name}")
        print(f"\n== {name}: {(module.__doc__ or '').strip().splitlines()[0]}")
        try:
            scores = scores_of(module, arguments.facts)
        except FileNotFoundError as missing:
            print(f"   no table: {missing.filename}")
            continue
        print(table_of(scores))


if __name__ == "__main__":
    main()
