"""How long the short commands take, beside an empty program and their nearest peers.

    start.py BUILD [ROUNDS]"""
import os
import shutil
import sys

import side


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    assay = os.path.join(build, "assay")
    ways = {"empty program": [os.path.join(build, "tests/workloads/nop")],
            "assay --help": [assay, "--help"], "assay env": [assay, "env"],
            "assay env --json": [assay, "env", "--json"], "assay doctor": [assay, "doctor"],
            "assay doctor /bin/ls": [assay, "doctor", "/bin/ls"]}
    if shutil.which("perf"):
        ways["perf --help"] = ["perf", "--help"]
    if shutil.which("lscpu"):
        ways["lscpu"] = ["lscpu"]
    times = side.rounds_of(ways, rounds)
    print(f"start: short commands, {rounds} interleaved rounds, {side.load()}")
    print(f"{'command':<24}{'ms: median [p10 .. p90]':>28}")
    for way, values in times.items():
        print(f"{way:<24}{side.spread(values, 1e6):>28}")


main()
