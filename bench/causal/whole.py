#!/usr/bin/env python3
"""whole.py [BUILD] - how exact whole runs are, on a program whose truth is known.

tests/workloads/causal/once.c does each thing once, in two threads.  `assay causal --progress end`
is asked ROUNDS times what its three parts would gain; printed is each answer beside the truth, the
mean error, and how many bounds hold the truth.

    -r ROUNDS  5        --budget SECONDS  20      --engine auto|bpf|preload
    --unit N   1000000  iterations of one of the 100 units on the longest path"""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE)]
from side import load  # noqa: E402  pylint: disable=wrong-import-position

# in percent, by speed-up: the longer of branch (60) and other (40), then tail (40)
TRUTH = {"branch+": {.5: 20, 1: 20}, "other+": {.5: 0, 1: 0}, "tail+": {.5: 20, 1: 40}}


def asked(options):
    """(target, speed-up) -> gain and its bounds in percent; None: not known."""
    argv = [os.path.join(options.build, "assay"), "causal", "--json", "--progress", "end",
            "--engine", options.engine, "--budget", f"{options.budget}s", "--speedup", "50",
            "--speedup", "100"]
    for target in TRUTH:
        argv += ["-f", target]
    argv += ["--", os.path.join(options.build, "tests/workloads/once"), str(options.unit)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")
    data = json.loads(done.stdout)["data"]
    return data["pairs"], {
        (target["location"], point["speedup"]): [
            None if point[key] is None else 100 * point[key] for key in ("gain", "lo", "hi")]
        for target in data["targets"] + data["flat"] for point in target["points"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("-r", dest="rounds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=20)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--unit", type=int, default=1000000)
    options = parser.parse_args()
    errors, held, known = [], 0, 0
    for number in range(options.rounds):
        pairs, said = asked(options)
        print(f"round {number + 1}, {pairs} pairs, {load()}")
        for target, levels in TRUTH.items():
            for level, truth in levels.items():
                gain, low, high = said.get((target, level), (None, None, None))
                if low is None:
                    print(f"  {target:8} {level:4.0%}  truth {truth:3}  not known")
                    continue
                errors.append(abs(gain - truth))
                held += low <= truth <= high
                known += 1
                print(f"  {target:8} {level:4.0%}  truth {truth:3}  said {gain:5.1f} "
                      f"({low:.1f} to {high:.1f}){'' if low <= truth <= high else '  *'}",
                      flush=True)
    print(f"mean error {statistics.mean(errors):.1f} points, {held} of {known} bounds hold")


if __name__ == "__main__":
    main()
