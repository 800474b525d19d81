"""What timing costs: an empty program run by a bare vfork+wait4 loop, by `assay bench` and by
hyperfine without a shell.

    bench.py BUILD [ROUNDS]

Peak RSS: the median of a 1.4 MB program, alone in the bare loop and after a 100 MB one in assay.
Bias: the median that a tool reports less that of the bare loop in the same round.  Time per run:
the tool's whole wall time over its runs, its own start included."""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

import side

RUNS = 500


def children_cpu_ns():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1e9


def bare_median(bare, nop):
    done = subprocess.run([bare, str(RUNS), nop], capture_output=True, text=True, check=True)
    return float(done.stdout)


def peaks_mb(assay, bare, faults):
    """Medians: the bare loop's, and assay's."""
    done = subprocess.run([bare, "-m", "200", faults, "1"], capture_output=True, text=True,
                          check=True)
    truth = statistics.median(int(line) * 1024 for line in done.stdout.split())
    done = subprocess.run([assay, "bench", "--json", "-n", "60", f"{faults} 25600", f"{faults} 1"],
                          capture_output=True, text=True, check=True)
    runs = json.loads(done.stdout)["data"]["commands"][1]["runs"]
    return truth / 1e6, statistics.median(one["max_rss_bytes"] for one in runs) / 1e6


def tool_median(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["results"][0]["median"] * 1e9


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    assay, nop = os.path.join(build, "assay"), os.path.join(build, "tests/workloads/nop")
    bare = os.path.join(build, "bench/bare")
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out.json")
        ways = {"assay bench": [assay, "bench", "-n", str(RUNS), "--export-json", out, nop]}
        if shutil.which("hyperfine"):
            ways["hyperfine -N"] = ["hyperfine", "-N", "--style", "none", "--warmup", "0", "-r",
                                    str(RUNS), "--export-json", out, nop]
        else:
            print("hyperfine: not measured (hyperfine is not installed)")
        names = ["bare loop", *ways]
        bias = {way: [] for way in ways}
        wall = {way: [] for way in names}
        cpu = {way: [] for way in names}
        for number in range(rounds):
            turn, medians = number % len(names), {}
            for way in names[turn:] + names[:turn]:
                before = children_cpu_ns()
                if way == "bare loop":
                    wall[way].append(side.wall_ns([bare, str(RUNS), nop]) / RUNS)
                else:
                    wall[way].append(side.wall_ns(ways[way]) / RUNS)
                    medians[way] = tool_median(out)
                cpu[way].append((children_cpu_ns() - before) / RUNS)
            truth = bare_median(bare, nop)
            for way, median in medians.items():
                bias[way].append(median - truth)
    print(f"bench: an empty program, {RUNS} runs a call, {rounds} interleaved rounds, "
          f"{side.load()}")
    print(f"{'way':<16}{'bias, us':>26}{'us per run':>30}{'of bare':>9}{'own CPU, us':>28}")
    for way in names:
        line = f"{way:<16}{side.spread(bias[way]) if way in bias else '':>26}"
        line += f"{side.spread(wall[way]):>30}"
        ratio = [a / b for a, b in zip(wall[way], wall["bare loop"])]
        line += f"{statistics.median(ratio):>9.3f}"
        if way in bias:
            line += f"{side.spread([a - b for a, b in zip(cpu[way], cpu['bare loop'])]):>28}"
        print(line)
    truth, seen = peaks_mb(assay, bare, os.path.join(build, "tests/workloads/faults"))
    print(f"peak RSS of a small program: bare loop {truth:.3f} MB, assay after a 100 MB one "
          f"{seen:.3f} MB, ratio {seen / truth:.3f}")


main()
