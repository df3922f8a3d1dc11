"""How long the readers take for files of ten megabytes.

``python benchmarks/readers.py [--megabytes N]``; the target is one second for each.
"""

from __future__ import annotations

import argparse
import random
import time

import scalemath as sm

HALF = "    {time:7.2f}  {alg:6.2f}  {bus:6.2f}      0"
ROW = "  {size:12d}  {count:12d}     float     sum      -1" + 2 * HALF + "\n"
HEAD = (
    "# nThread 1 nGpus 8 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 "
    "agg iters: 1 validation: 1 graph: 0\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time"
    "   algbw   busbw #wrong\n"
)
DEBUG = "node0:1234:5678 [3] NCCL INFO Channel 03/0 : 3[3] -> 4[4] via P2P/CUMEM/read of a rank\n"
PERFTEST = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
PERFTEST_ROW = " 65536      5000             140.90             140.88               0.268711\n"


def rows(wanted: int) -> str:
    """A table of so many bytes."""
    draw, parts, length = random.Random(1), [HEAD], 0
    while length < wanted:
        size = 2 ** draw.randint(3, 33)
        took = 10.0 + size / 250e3
        rate = size / took / 1e3
        parts.append(ROW.format(size=size, count=size // 4, time=took, alg=rate, bus=1.75 * rate))
        length += len(parts[-1])
    return "".join(parts)


def files(wanted: int) -> dict[str, str]:
    """Texts of so many bytes by what they hold."""
    return {
        "rows of nccl-tests": rows(wanted),
        "debug lines of NCCL": HEAD + DEBUG * (wanted // len(DEBUG)),
        "rows of perftest": PERFTEST + PERFTEST_ROW * (wanted // len(PERFTEST_ROW)),
    }


def main() -> None:
    """Print seconds of processor time for each."""
    parser = argparse.ArgumentParser(description="Time the readers.")
    parser.add_argument("--megabytes", type=float, default=10.0)
    wanted = int(parser.parse_args().megabytes * 1e6)
    for name, text in files(wanted).items():
        sm.read(text[:20000])
        began = time.process_time()
        sm.read(text)
        print(f"{name:22s} {len(text) / 1e6:5.1f} MB  {time.process_time() - began:6.3f} s")


if __name__ == "__main__":
    main()
