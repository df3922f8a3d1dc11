"""`python -m scalemath`: the library's main job on real numbers, in the terminal."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from scalemath import __version__
from scalemath.tour import figures, page


def main(arguments: list[str] | None = None) -> int:
    """Print the tour as text, or as data with ``--json``.

    Parameters
    ----------
    arguments : list of str, optional
        Command line after the program's name.

    Returns
    -------
    int
        Exit code.
    """
    parser = argparse.ArgumentParser(
        prog="python -m scalemath",
        description="Links, collectives and limits of scaling on real numbers, and a sweep.",
    )
    parser.add_argument("--json", action="store_true", help="print the same as data")
    parser.add_argument("--version", action="version", version=f"scalemath {__version__}")
    chosen = parser.parse_args(arguments)
    line = ProgressLine()
    data = figures(line.show)
    line.clear()
    print(json.dumps(data, indent=2) if chosen.json else page(data))
    return 0


class ProgressLine:
    """A line on a terminal that says how far the sweep is; silent anywhere else."""

    def __init__(self) -> None:
        self.seen = sys.stderr.isatty()
        self.begin = 0.0
        self.last = 0.0

    def show(self, done: int, points: int) -> None:
        """Draw the state anew, at most twenty times a second."""
        now = time.perf_counter()
        if not self.begin:
            self.begin = now
        if not self.seen or (now - self.last < 0.05 and done < points):
            return
        self.last = now
        spent = now - self.begin
        rate = f", {done / spent / 1e6:.0f} million per second" if spent > 0 else ""
        filled = 30 * done // max(1, points)
        bar = "#" * filled + "." * (30 - filled)
        sys.stderr.write(f"\rsweep [{bar}] {done / 1e6:.1f} of {points / 1e6:.1f} million{rate} ")
        sys.stderr.flush()

    def clear(self) -> None:
        """Wipe the line."""
        if self.seen and self.begin:
            sys.stderr.write("\r" + " " * 79 + "\r")
            sys.stderr.flush()


def run() -> int:
    """Run `main`; a closed pipe or an interruption ends it without a traceback."""
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        # the reader has gone, or there is no room: nothing more can be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"scalemath: cannot write the report: {error.strerror}\n")
        return 1
    return code


if __name__ == "__main__":
    sys.exit(run())
