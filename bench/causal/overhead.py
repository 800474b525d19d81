#!/usr/bin/env python3
"""overhead.py [BUILD] [ROUNDS] [PERIOD_US] [ENGINE] - what the causal engine costs at speed-up 0.

Each round runs a shape plain and under the engine (all experiments at speed-up 0), in a turning
order, and compares the rounds they made in the same time."""
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from side import load  # noqa: E402  pylint: disable=wrong-import-position
from truth import place_of  # noqa: E402

BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
ENGINE = sys.argv[4] if len(sys.argv) > 4 else "auto"
SHAPES = os.path.join(BUILD, "tests/workloads/shapes")
FIFO = ["/usr/bin/chrt", "-f"] if os.geteuid() == 0 else None
PERIOD = sys.argv[3] if len(sys.argv) > 3 else "0"  # 0: the engine's own
SECONDS = "2"


def made(shape, engine):
    words = (FIFO + ["10"] if FIFO else []) + [SHAPES, shape, SECONDS]
    if engine:
        words = (FIFO + ["20"] if FIFO else []) + [
            os.path.join(BUILD, "tests/causal/causal-engine"), "--engine", ENGINE, "--levels", "0",
            "--period", PERIOD, "--target", place_of(SHAPES, "work_a"), "--"] + words
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return int(re.search(r"(\d+) rounds", done.stdout + done.stderr)[1])


def main():
    for shape in ("split", "fpipe", "fping", "barrier"):
        slower = []
        for number in range(ROUNDS):
            order = (False, True) if number % 2 else (True, False)
            rounds = {engine: made(shape, engine) for engine in order}
            slower.append(100 * (rounds[False] / rounds[True] - 1))
        print(f"{shape:8} {statistics.median(slower):+5.1f} % slower "
              f"[{min(slower):+.1f} .. {max(slower):+.1f}], {ROUNDS} rounds, {load()}", flush=True)


main()
