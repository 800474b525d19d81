"""What counting costs: an empty program run by a bare vfork+wait4 loop, by `assay stat` and by
`perf stat`, with the same four events.

    stat.py BUILD [ROUNDS]"""
import os
import shutil
import statistics
import sys

import side

RUNS = 100
EVENTS = "task-clock,context-switches,cpu-migrations,page-faults"


def table(title, times, per_run, base):
    print(f"\n{title}")
    print(f"{'way':<28}{'us per run':>26}{'added to bare, us':>30}{'of perf':>9}")
    added = {way: [(a - b) / per_run for a, b in zip(values, times[base])]
             for way, values in times.items()}
    perf = next((statistics.median(v) for way, v in added.items() if "perf" in way), None)
    for way, values in times.items():
        line = f"{way:<28}{side.spread([v / per_run for v in values]):>26}"
        if way != base:
            line += f"{side.spread(added[way]):>30}"
            line += f"{statistics.median(added[way]) / perf:>9.2f}" if perf else ""
        print(line)


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    assay, nop = os.path.join(build, "assay"), os.path.join(build, "tests/workloads/nop")
    bare = os.path.join(build, "bench/bare")
    many = {"bare vfork+wait4 loop": [bare, str(RUNS), nop],
            "assay stat -r": [assay, "stat", "-q", "-r", str(RUNS), "-e", EVENTS, "--", nop]}
    once = {"bare": [bare, "1", nop],
            "assay stat": [assay, "stat", "-q", "-e", EVENTS, "--", nop],
            "assay stat --json": [assay, "stat", "--json", "-e", EVENTS, "--", nop]}
    if shutil.which("perf"):
        many["perf stat -r"] = ["perf", "stat", "-r", str(RUNS), "-e", EVENTS, nop]
        once["perf stat"] = ["perf", "stat", "-e", EVENTS, nop]
    else:
        print("perf stat: not measured (perf is not installed)")
    print(f"stat: cost of counting an empty program, {rounds} interleaved rounds, {side.load()}")
    table(f"repeated, {RUNS} runs a call", side.rounds_of(many, rounds), RUNS,
          "bare vfork+wait4 loop")
    table("one call, the tool's own start included", side.rounds_of(once, rounds * 3), 1, "bare")


main()
